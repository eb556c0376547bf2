"""Looking at a server that runs: in the terminal, as a text that grows, as figures for Prometheus."""

import re

import servers
from memlog import Beside, Under, all_whole, comes_near, expect, log_of, mib, run
from screen import Screen

FILLED = {"redis": 10000, "nginx": 600, "postgres": 2000}
# Who asks for most of it, as far as stripped programs have names, and who is above it.
TAKER = {"redis": "_sdsnewlen", "nginx": "ngx_memalign", "postgres": r"postgres\+0x\w+"}
CALLER = {"redis": "setCommand", "nginx": "ngx_create_pool", "postgres": "PrepareQuery"}
UP = "\x1b[A"
UNITS = {"B": 1, "KiB": 1024, "MiB": 1 << 20, "GiB": 1 << 30}


def heap(text):
    """The figure behind `heap` of a screen, of three digits."""
    found = re.search(r"^heap +([\d.,]+) (B|[KMG]iB)", text, re.M)
    return found and float(found[1].replace(",", "")) * UNITS[found[2]]


def top(name, kind):
    with Under(kind, []) as under:
        server = under.server
        server.fill(50)
        pid = server.target()
        log_of(pid)
        with Screen("top", "-d", "0.3", pid) as screen:
            text = screen.shows(lambda text: heap(text) and f"pid {pid}" in text and "running" in text and "*live" in text)
            first, before = heap(text), server.held()
            what = server.fill(FILLED[name], at=10000)
            grown = server.held() - before
            # Its figures have one digit behind the point.
            ours = comes_near("the heap of memlog top", lambda: int(heap(screen.text()) or 0) - int(first), grown, server, least_bytes=160000)
            screen.shows(lambda text: re.search(rf"[\d.]+ MiB .*{TAKER[name]}$", text, re.M))
            screen.press(10 * UP + "\r")
            screen.shows(CALLER[name])
            screen.press("\x1b")
            screen.shows("*live")
            screen.press("\t")
            screen.shows("thread")
            screen.press("q")
            screen.ends()
        under.stop()
        all_whole(under.logs)
        return f"top: {what}: {mib(ours)} more, {mib(grown)} by the server; the stacks have {CALLER[name]}"


def prometheus(path):
    """The figures without the names of functions; each line must be one of that form."""
    figures = {}
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            found = re.fullmatch(r'(\w+)\{(?:\w+="(?:[^"\\\n]|\\.)*",?)*\} (-?[\d.e+]+)', line)
            expect(found, f"Prometheus cannot read {line!r}")
            figures[found[1]] = float(found[2])
    return figures


def follow(name, kind):
    """Three at once; each ends when the server does."""
    with Under(kind, []) as under:
        server = under.server
        server.fill(50)
        pid = server.target()
        log = log_of(pid)
        churn, most, figures = under.folder / "churn.txt", under.folder / "top.txt", under.folder / "it.prom"
        with Beside("follow", "--every-churn", "1MiB", "-o", churn, pid) as one, Beside("follow", "--every", "1s", "--top", "10", "-o", most, pid) as two, \
                Beside("follow", "--prometheus", figures, pid) as three:
            servers.until("there are figures", figures.exists)
            first, before = prometheus(figures), server.held()
            what = server.fill(FILLED[name], at=10000)
            grown = server.held() - before
            live = "memlog_heap_live_bytes"
            ours = comes_near(live, lambda: int(prometheus(figures)[live] - first[live]), grown, server)
            servers.until("three seconds of the largest stacks", lambda: most.exists() and most.read_text().count("\n\n") > 3 and CALLER[name] in most.read_text())
            under.stop()
            for process in (one, two, three):
                process.ends()
        last = prometheus(figures)
        expect(last["memlog_up"] == 0, f"the last figures say that it runs: {last}")
        stats = all_whole(under.logs)[log]
        expect(last["memlog_allocations_total"] == stats["allocations"], f"{last['memlog_allocations_total']} allocations for Prometheus, {stats['allocations']} in the log")
        grew, whole_text = churn.read_text(), run("report", "--as", "pmem", "--every", "1MiB", log)
        count = grew.count("========\n")
        if stats["threads"] == 1:
            expect(grew == whole_text, f"follow and report of {log.name} differ")
        expect(abs(count - whole_text.count("========\n")) <= 1 and count > 3, f"{count} snapshots by follow, {whole_text.count('========')} by report")
        return (f"follow: {what}: {mib(ours)} for Prometheus, {mib(grown)} by the server; {count} snapshots as of the finished log"
                f"{', each byte' if stats['threads'] == 1 else ''}; ended with it")


ROWS, ONLY = [("top", top), ("follow", follow)], {}
