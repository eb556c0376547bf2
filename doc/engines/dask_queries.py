"""The queries of this folder in the words of Dask's data frames; the files *.sql say what they are."""


def ranks_of(tables, job):
    processes = tables["processes"]
    chosen = processes[(processes.job_id == job) & processes["rank"].notnull() & processes.rank_parent_pid.isnull()]
    return chosen[["process", "rank", "node", "rss_peak_bytes"]].compute()


def askers(tables):
    stacks = tables["stacks"]
    first = stacks[stacks.place == 0][["stack_id", "function", "file", "line"]]
    return first.drop_duplicates().compute()


def job_peak(tables, job, _before):
    processes = tables["processes"]
    peaks = processes[processes.job_id == job][["node", "rss_peak_bytes"]].compute()
    by_node = peaks.groupby("node").rss_peak_bytes.agg(["count", "sum", "max"]).reset_index()
    return by_node.sort_values(["sum", "node"], ascending=[False, True])


def peak_by_site(tables, job, _before):
    ranks = ranks_of(tables, job)
    sites = tables["sites"][["process", "stack_id", "rss_peak_bytes"]]
    held = sites[sites.rss_peak_bytes > 0].merge(ranks[["process", "rank"]], on="process").compute()
    held = held.sort_values(["rss_peak_bytes", "rank"], ascending=[False, True])
    found = held.groupby("stack_id").agg(
        ranks=("rank", "count"), least=("rss_peak_bytes", "min"), bytes=("rss_peak_bytes", "sum"),
        most=("rss_peak_bytes", "max"), most_rank=("rank", "first")).reset_index()
    found["least"] = found["least"].where(found["ranks"] == len(ranks), 0)
    found["mean"] = found["bytes"] // len(ranks)
    found = found.merge(askers(tables), on="stack_id").sort_values(["bytes", "stack_id"], ascending=[False, True])
    return found[["function", "file", "line", "stack_id", "ranks", "least", "mean", "most", "most_rank"]].head(20)


def outliers(tables, job, _before):
    ranks = ranks_of(tables, job)
    mean = float(ranks.rss_peak_bytes.sum()) / ranks.rss_peak_bytes.count()
    far = ranks[ranks.rss_peak_bytes > 1.2 * mean].copy()
    far["percent"] = (100 * far.rss_peak_bytes.astype("float64") / mean).astype("int64")
    far = far.sort_values(["rss_peak_bytes", "rank"], ascending=[False, True])
    return far[["rank", "node", "rss_peak_bytes", "percent"]].head(100)


def growth(tables, job, before):
    processes = tables["processes"]
    own = processes["rank"].notnull() & processes.rank_parent_pid.isnull()
    jobs = processes[processes.job_id.isin([before, job]) & own][["process", "job_id"]].compute()
    sites = tables["sites"][["process", "stack_id", "rss_peak_bytes"]].merge(jobs, on="process")
    sums = sites.groupby(["job_id", "stack_id"]).rss_peak_bytes.sum().compute().reset_index()
    table = sums.pivot(index="stack_id", columns="job_id", values="rss_peak_bytes")
    table = table.reindex(columns=[before, job]).fillna(0).astype("int64")
    table["grown"] = table[job] - table[before]
    found = table[table.grown != 0].reset_index().merge(askers(tables), on="stack_id")
    found = found.sort_values(["grown", "stack_id"], ascending=[False, True])
    return found[["function", "file", "line", "stack_id", before, job, "grown"]].head(20)
