#!/usr/bin/env python3
# What: a query of this folder, asked of a data set by DuckDB, DataFusion, Spark or Dask; its rows, separated by tabs.
# Why:  the data set is there for the engine that you have; each says the same.
# Run:  run.py duckdb|datafusion|spark|dask QUERY DATASET JOB [BEFORE]     QUERY: job_peak, peak_by_site, outliers, growth
import os
import sys

TABLES = ("processes", "sites", "stacks", "timeline")


def duckdb(dataset, sql):
    import duckdb
    engine = duckdb.connect()
    for table in TABLES:
        engine.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{dataset}/{table}/**/*.parquet', hive_partitioning = false)")
    return engine.execute(sql).fetchall()


def datafusion(dataset, sql):
    import pyarrow
    from datafusion import SessionContext
    engine = SessionContext()
    for table in TABLES:
        parts = ["job"] if table == "stacks" else ["job", "host"]
        engine.register_parquet(table, f"{dataset}/{table}/", table_partition_cols=[(part, pyarrow.string()) for part in parts])
    found = engine.sql(sql).to_pydict()
    return list(zip(*found.values()))


def spark(dataset, sql):
    from pyspark.sql import SparkSession
    master = os.environ.get("SPARK_MASTER", "local[2]")
    engine = (SparkSession.builder.master(master).appName("memlog")
              .config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
              .config("spark.ui.enabled", "false").config("spark.log.level", "ERROR").getOrCreate())
    for table in TABLES:
        engine.read.parquet(f"{dataset}/{table}").createOrReplaceTempView(table)
    rows = [tuple(row) for row in engine.sql(sql).collect()]
    engine.stop()
    return rows


def dask(dataset, query, job, before):
    """Dask has no SQL: the same questions in its own words."""
    import dask.dataframe as dd
    read = {table: dd.read_parquet(f"{dataset}/{table}", dtype_backend="pyarrow") for table in TABLES}
    import dask_queries
    found = getattr(dask_queries, query)(read, job, before)
    return list(found.astype(object).where(found.notna(), None).itertuples(index=False, name=None))


def main():
    if len(sys.argv) not in (5, 6):
        sys.exit("run.py duckdb|datafusion|spark|dask QUERY DATASET JOB [BEFORE]")
    engine, query, dataset, job = sys.argv[1:5]
    before = sys.argv[5] if len(sys.argv) > 5 else ""
    here = os.path.dirname(os.path.abspath(__file__))
    dataset = os.path.abspath(dataset)
    if engine == "dask":
        sys.path.insert(0, here)
        rows = dask(dataset, query, job, before)
    else:
        with open(os.path.join(here, f"{query}.sql")) as file:
            sql = file.read().replace(":job", job.replace("'", "''")).replace(":before", before.replace("'", "''"))
        rows = {"duckdb": duckdb, "datafusion": datafusion, "spark": spark}[engine](dataset, sql)
    for row in rows:
        print("\t".join("" if value is None else str(value) for value in row))


if __name__ == "__main__":
    main()
