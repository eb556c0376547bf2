"""Logs that go to another machine while they grow: here over the loopback."""

import json
import re
import signal
import urllib.request
from pathlib import Path

import servers
from memlog import Beside, Under, all_whole, comes_near, expect, live, log_of, mib, run, whole

FILLED = {"redis": 10000, "nginx": 600, "postgres": 2000}


class Page:
    """memlog server, and its answers."""

    def __init__(self, process):
        found = re.search(r"(http://127\.0\.0\.1:\d+)/\?token=(\S+)", process.says("token="))
        self.address, self.token = found[1], found[2]

    def asked(self, path):
        request = urllib.request.Request(f"{self.address}/api/1/{path}", headers={"Authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request, timeout=servers.LONGEST_SECONDS) as answer:
            return json.load(answer)


def gathering(under):
    """A receiver, and where it listens."""
    gather = Beside("gather", "-o", under.folder / "gathered")
    return gather, re.search(r"listens at (127\.0\.0\.1:\d+)", gather.says("Ctrl-C ends it"))[1]


def same_bytes(ours, theirs):
    expect(ours.read_bytes() == theirs.read_bytes(), f"{ours} and {theirs} differ")


def stream(name, kind):
    """One process, or with nginx the folder of all."""
    with Under(kind, []) as under:
        server = under.server
        server.fill(50)
        pid = server.target()
        log = log_of(pid)
        gather, address = gathering(under)
        with gather, Beside("stream", under.logs if name == "nginx" else pid, address) as sender:
            there = under.folder / "gathered" / log.name
            servers.until("the log is there", there.exists)
            with Beside("server", under.folder / "gathered") as serving:
                page = Page(serving)
                numbers = {Path(one["file"]).name: one["id"] for one in servers.until("the page has logs", lambda: page.asked("logs")["logs"])}
                servers.until("all of before is there", lambda: live(there) >= live(log) - 65536)
                first, before = live(there), server.held()
                blocks = page.asked(f"logs/{numbers[log.name]}/table?top=1")["blocks"]
                what = server.fill(FILLED[name], at=10000)
                grown = server.held() - before
                ours = comes_near("the gathered log", lambda: live(there) - first, grown, server)
                summary = run("summary", there)
                expect("still running" in summary and "none lost" in summary, f"memlog summary: {summary[:500]}")
                servers.until("the page grows", lambda: page.asked(f"logs/{numbers[log.name]}/table?top=1")["blocks"] > blocks + 50)
            under.stop()
            # A folder may get more logs: it is told that there are none.
            sender.ends(signal.SIGTERM if name == "nginx" else None)
            gather.ends(signal.SIGINT)
        every = all_whole(under.logs)
        sent = sorted((under.folder / "gathered").glob("*.memlog"))
        expect(len(sent) == (len(every) if name == "nginx" else 1), f"{len(sent)} logs were gathered of {len(every)}")
        for one in sent:
            same_bytes(one, under.logs / one.name)
            whole(one)
        bytes_there = sum(one.stat().st_size for one in sent)
        return (f"stream {'FOLDER' if name == 'nginx' else 'PID'} to gather: {what}: {mib(ours)} there while it grows, {mib(grown)} by the server; "
                f"summary and server follow it; {len(sent)} logs of {mib(bytes_there)} are the same to the byte")


ROWS, ONLY = [("stream", stream)], {}
