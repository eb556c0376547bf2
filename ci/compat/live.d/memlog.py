"""memlog's commands: run to their end, or beside a program; and what a log must say."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import servers

COMMAND = None


class Wrong(Exception):
    """What memlog says is not so."""


def expect(is_so, what):
    if not is_so:
        raise Wrong(what)


def run(*words, **more):
    """Its output; what it says on standard error is of interest if it fails."""
    done = subprocess.run([COMMAND, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", timeout=10 * servers.LONGEST_SECONDS, **more)
    expect(done.returncode == 0, f"memlog {' '.join(map(str, words))}: exit {done.returncode}: {done.stdout[-300:]} {done.stderr[-600:]}")
    return done.stdout


def asked(question, log, *words):
    return json.loads(run(question, "--json", *words, log))


def ctl(target, *words, says):
    """A request, and what the answer must have. It is waited for: a server of a busy machine may be slow."""
    said = run("ctl", "--wait", "60s", target, *words)
    expect(says in said, f"memlog ctl {' '.join(map(str, words))} says {said.strip()!r}, not {says!r}")
    return said


def log_of(pid):
    """The log that a process writes."""
    def found():
        said = subprocess.run([COMMAND, "ctl", "--json", str(pid), "status"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return said.returncode == 0 and json.loads(said.stdout)[0]["log"]
    return Path(servers.until(f"process {pid} has a log", found))


def whole(log):
    """The figures of a log of which nothing is missing, and which holds what limits say."""
    stats = asked("stats", log)
    for name in ("lost_events", "findings_count", "order_breaks", "order_gaps", "allocations_of_live_addresses"):
        expect(stats[name] == 0, f"{log.name}: {name} is {stats[name]}")
    expect(stats["unknown_releases"]["twice"] == 0, f"{log.name}: releases of what was released: {stats['unknown_releases']}")
    expect(stats["cut_stacks"] == 0, f"{log.name}: stacks are cut: {stats['cut_stacks_by_reason']}")
    # An event that is missing would fail this, whatever the limit; of nothing it proves nothing.
    if stats["allocations"]:
        run("check", "--max-peak", stats["heap_peak_bytes"], "--max-total", stats["total_bytes"], log)
    return stats


def all_whole(folder):
    """Of each process of a run."""
    logs = sorted(Path(folder).glob("*.memlog"))
    expect(logs, f"there is no log in {folder}")
    return {log: whole(log) for log in logs}


def live(log, *words, at="end", usable=False):
    """Bytes that were live, as asked for or as the allocator rounded them."""
    table = asked("table", log, "--top", "100000", "--at", at, *words)
    return table["bytes"] + (sum(row["waste_bytes"] for row in table["rows"]) if usable else 0)


def marks(log):
    return [mark["name"] for mark in asked("timeline", log)["marks"]]


def switches(stats, by, *expected):
    """Whether recording went on and off as it should, and by whom."""
    there = [(switch["on"], switch["by"]) for switch in stats["switches"]]
    expect(there == [(on, by) for on in expected], f"recording went on and off like this: {there}")


def is_near(ours, theirs, server=None, least_bytes=65536):
    """Three hundredths are what a server does beside: blocks from before go, and a client's buffer comes.

    With a server: as asked for, while the server may count what the allocator made of it.
    """
    least = theirs * (0.9 if server and server.is_usable else 0.97) - least_bytes
    return least <= ours <= theirs * 1.03 + least_bytes


def near(what, ours, theirs):
    expect(is_near(ours, theirs), f"{what}: {ours:,} bytes by memlog, {theirs:,} by the server")


def comes_near(what, ours, theirs, server, least_bytes=65536):
    """The bytes that `ours` gives at last: what is looked at may lag behind."""
    last = 0

    def is_there():
        nonlocal last
        last = ours()
        return is_near(last, theirs, server, least_bytes)
    try:
        servers.until(what, is_there)
    except TimeoutError as late:
        raise Wrong(f"{late}: {last:,} bytes by memlog, {theirs:,} by the server") from None
    return last


def mib(number):
    return f"{number / 1048576:.1f} MiB"


class Beside:
    """A command of memlog's that goes on, and what it says."""

    def __init__(self, *words, **more):
        self.words = " ".join(map(str, words))
        self.process = subprocess.Popen([COMMAND, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, errors="replace", **more)
        self.lines = []
        self.reader = threading.Thread(target=lambda: self.lines.extend(iter(self.process.stdout.readline, "")), daemon=True)
        self.reader.start()

    def said(self):
        return "".join(self.lines)

    def says(self, words):
        def there():
            if self.process.poll() is not None:
                self.reader.join()
                expect(words in self.said(), f"memlog {self.words} has ended: {self.said()[-500:]}")
            return words in self.said()
        servers.until(f"memlog {self.words} says {words!r}", there)
        return self.said()

    def ends(self, number=None):
        """Its output, once it has ended, perhaps asked by a signal."""
        if number:
            self.process.send_signal(number)
        try:
            code = self.process.wait(servers.LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Wrong(f"memlog {self.words} does not end: {self.said()[-500:]}") from None
        self.reader.join()
        expect(code == 0, f"memlog {self.words}: exit {code}: {self.said()[-600:]}")
        return self.said()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def clear(folder, is_failed):
    """Removes what a row left; that of one that fails may be wanted."""
    if is_failed and os.environ.get("MEMLOG_KEEP"):
        print(f"    kept: {folder}", flush=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)


class Under:
    """A server that runs, recorded or not, with its clients; at its end nobody of them may have seen an error."""

    def __init__(self, kind, options=None, first=()):
        self.folder = Path(tempfile.mkdtemp(prefix="live-"))
        self.folder.chmod(0o777)
        self.logs = self.folder / "logs"
        self.logs.mkdir()
        # Workers and sessions may be other users, and make their logs themselves.
        self.logs.chmod(0o1777)
        recorder = [] if options is None else [COMMAND, "record", *options, "-o", f"{self.logs}/", "--"]
        self.begun_unix = time.time()
        self.server = kind(str(self.folder), [*first, *recorder])
        self.is_stopped = False

    def __enter__(self):
        self.server.load.start()
        return self

    def stop(self):
        """Ends clients and server; how many answers there were."""
        self.is_stopped = True
        load = self.server.load
        load.end()
        code = self.server.stop()
        expect(load.errors == 0, f"clients saw {load.errors} errors: {load.said[:3]}")
        expect(load.count() > 0, "no client got an answer")
        expect(code == 0, f"the server ends with {code}: {self.server.printed()[-600:]}")
        return load.count()

    def __exit__(self, *failed):
        if not self.is_stopped:
            self.server.load.end()
            self.server.stop()
        clear(self.folder, failed[0])
