"""Recording goes on and off: by `memlog ctl`, by time, by a signal; a log gets another limit; short lives are left out."""

import os
import signal
import threading
import time

import servers
from memlog import Under, all_whole, asked, comes_near, ctl, expect, live, log_of, marks, mib, near, run, switches, whole

# What the server does not use itself: nginx and postgres use USR2.
UNUSED = {"redis": (signal.SIGUSR2, "USR2"), "nginx": (40, "40"), "postgres": (40, "40")}
FILLED = {"redis": 6000, "nginx": 600, "postgres": 1000}
# postgres makes tables for its clients first.
AFTER_SECONDS, FOR_SECONDS = {"redis": 2, "nginx": 2, "postgres": 12}, 3


class Asking:
    """Questions again and again, while a request waits for the server's next allocation."""

    def __init__(self, server):
        self.server, self.is_over = server, False
        self.thread = threading.Thread(target=self.ask, daemon=True)

    def ask(self):
        while not self.is_over:
            self.server.held()
            time.sleep(0.05)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.is_over = True
        self.thread.join()


def comes(pid, what):
    """Until a status says it."""
    servers.until(f"process {pid}: {what}", lambda: what in run("ctl", pid, "status"))


def by_ctl(name, kind):
    """Two windows; each holds what was asked of the server in it, by the server's own figures."""
    with Under(kind, ["--start-disabled"]) as under:
        server = under.server
        server.fill(100)
        pid, grown = server.target(), []
        log = log_of(pid)
        ctl(pid, "status", says="recording is off; ")
        for window in (1, 2):
            # A server that is asked nothing does not answer either.
            with Asking(server):
                ctl(pid, "start", says="recording is on")
            before = server.held()
            what = server.fill(FILLED[name], at=10000 * window)
            with Asking(server):
                ctl(pid, "mark", f"filled {window}", says="marked")
                ctl(pid, "snapshot", says="snapshot taken")
                ctl(pid, "flush", says="the log has all of it")
                ctl(pid, "limit", "1G", says="the log has a new limit")
                ctl(pid, "status", says="recording is on; ")
            grown.append(server.held() - before)
            with Asking(server):
                ctl(pid, "stop", says="recording is off")
            server.fill(100, at=10000 * window + 5000)
        ctl(pid, "status", says="recording is off; ")
        under.stop()
        every = all_whole(under.logs)
        switches(every[log], "ctl", True, False, True, False)
        others = sum(stats["allocations"] for path, stats in every.items() if path != log)
        expect(others == 0, f"{others} allocations of processes that nobody switched on")
        expected = [one for n in (1, 2) for one in ("recording on", f"filled {n}", f"snapshot {n}", "recording off")]
        expect(marks(log) == expected, f"marks are {marks(log)}")
        for window, theirs in enumerate(grown, 1):
            ours = live(log, at=f"mark \"filled {window}\"", usable=server.is_usable)
            near(f"window {window}", ours, theirs)
        return (f"ctl start, mark, snapshot, flush, limit, status, stop: {what}: {mib(ours)} in the second window, {mib(grown[1])} by the server; "
                f"{len(every)} logs, none of another process has an event")


def by_time(name, kind):
    """What is asked before the window and behind it is not in the log."""
    after = AFTER_SECONDS[name]
    with Under(kind, ["--after", f"{after}s", "--for", f"{FOR_SECONDS}s"]) as under:
        server = under.server
        server.fill(50)
        pid = server.target()
        log = log_of(pid)
        status = run("ctl", pid, "status")
        expect("recording is off; " in status, f"after {time.time() - under.begun_unix:.1f} of {after} s: {status}")
        with Asking(server):
            comes(pid, "recording is on; ")
        before = server.held()
        what = server.fill(FILLED[name] // 2, at=10000)
        grown = server.held() - before
        expect("recording is on; " in run("ctl", pid, "status"), f"the window was over before {what}")
        with Asking(server):
            comes(pid, "recording is off; ")
        server.fill(50, at=20000)
        events = asked("stats", log)["allocations"]
        time.sleep(0.5)
        answers = under.stop()
        every = all_whole(under.logs)
        stats = every[log]
        switches(stats, "time", True, False)
        expect(stats["allocations"] == events, "there are allocations from behind the window")
        begun = stats["start_unix_ns"] / 1e9 - under.begun_unix
        on, off = (begun + switch["seconds"] for switch in stats["switches"])
        # It begins with the next allocation; the session of postgres has one each 50 ms.
        expect(after - 0.1 <= on <= after + 2 and abs(off - on - FOR_SECONDS) <= 2, f"recording was on from {on:.2f} to {off:.2f} s")
        ours = live(log, at="mark \"recording off\"", usable=server.is_usable)
        near("the window", ours, grown)
        return (f"--after {after}s --for {FOR_SECONDS}s: on from {on:.2f} s to {off:.2f} s; {what} in it: {mib(ours)}, {mib(grown)} by the server; "
                f"{answers:,} answers")


def by_signal(name, kind):
    """Sent to one process; the others go on recording."""
    number, word = UNUSED[name]
    with Under(kind, ["--signal", f"{word}=toggle"]) as under:
        server = under.server
        server.fill(50)
        pid = server.target()
        log = log_of(pid)

        def toggle(expected):
            os.kill(pid, number)
            with Asking(server):
                comes(pid, f"recording is {expected}; ")
        toggle("off")
        server.fill(50, at=10000)
        toggle("on")
        before = server.held()
        what = server.fill(FILLED[name], at=20000)
        grown = server.held() - before
        toggle("off")
        under.stop()
        every = all_whole(under.logs)
        switches(every[log], "signal", False, True, False)
        expect(not any(stats["switches"] for path, stats in every.items() if path != log), "other processes were switched as well")
        ours = live(log, at="end", usable=server.is_usable)
        near("the second window", ours, grown)
        return f"--signal {word}=toggle: off, on, off: {what} in the last window: {mib(ours)}, {mib(grown)} by the server"


def own_signal(name, kind):
    """HUP is nginx's own, which reads its configuration and starts another worker."""
    with Under(kind, ["--signal", "HUP=toggle"]) as under:
        server = under.server
        first = server.target()
        log_of(first)
        # A worker that goes closes connections, whoever sends just then.
        server.load.end()
        os.kill(server.main, signal.SIGHUP)
        servers.until("nginx has another worker", lambda: [pid for pid in servers.children(server.main) if pid != first])
        servers.until("the first worker ends", lambda: first not in servers.children(server.main))
        expect("recording is on; " in run("ctl", server.main, "status"), "HUP switched recording")
        expect("recording is on; " in run("ctl", server.target(), "status"), "HUP switched recording of the new worker")
        under.stop()
        every = all_whole(under.logs)
        expect(len(every) >= 3, f"{len(every)} logs of a master and two workers")
        expect(not any(stats["switches"] for stats in every.values()), "HUP switched recording")
        return f"--signal HUP=toggle: nginx handles HUP itself, and starts another worker; {len(every)} logs, none was switched"


def limit(name, kind):
    """A log that is full counts what it lacks; with another limit it goes on."""
    with Under(kind, ["--max-log", "256K", "--start-disabled"]) as under:
        server = under.server
        pid = server.target()
        log = log_of(pid)
        ctl(pid, "start", says="recording is on")
        servers.until("the log is full", lambda: server.fill(500) and asked("stats", log)["lost_events"])
        ctl(pid, "limit", "1G", says="the log has a new limit")
        # It tries to grow once a second.
        time.sleep(2.5)
        ctl(pid, "status", says="recording is on; ")
        lost, there = (asked("stats", log)[figure] for figure in ("lost_events", "allocations"))
        server.fill(2000)
        ctl(pid, "mark", "later", says="marked")
        stats = asked("stats", log)
        expect(stats["lost_events"] == lost, f"{stats['lost_events'] - lost} events are lost with room for all")
        expect(stats["allocations"] >= there + 4000, f"{stats['allocations'] - there} allocations are in the log of 2,000 values")
        under.stop()
        return (f"ctl limit: a log full at 256 KiB lacked {lost:,} events and counts them; with limit 1G it lost none of "
                f"{stats['allocations'] - there:,} allocations more")


def culled(name, kind):
    """What clients ask for again and again is left out; what the server keeps is all there."""
    with Under(kind, ["--cull", "10ms"]) as under:
        server = under.server
        server.fill(50)
        pid = server.target()
        log = log_of(pid)
        first, before = live(log, usable=server.is_usable), server.held()
        what = server.fill(FILLED[name], at=10000)
        grown = server.held() - before
        ours = comes_near("the log while it grows", lambda: live(log) - first, grown, server)
        with Asking(server):
            ctl(pid, "stop", says="recording is off")
        last = live(log, usable=server.is_usable)
        answers = under.stop()
        every = all_whole(under.logs)
        expect(live(log, usable=server.is_usable) == last, "there are blocks from after stop")
        near("what it keeps", last - first, grown)
        # Nothing was left out of a process that did little.
        left_out = [stats["stripped"] or {"blocks": 0} for stats in every.values()]
        gone = sum(one["blocks"] for one in left_out)
        expect(gone > 0, "nothing was left out")
        events = sum(stats["allocations"] for stats in every.values())
        return f"--cull 10ms: {what}: {mib(ours)} while it runs, {mib(grown)} by the server; {gone:,} of {events:,} blocks left out; {answers:,} answers"


ROWS = [("ctl", by_ctl), ("time", by_time), ("signal", by_signal), ("cull", culled)]
ONLY = {"nginx": [("own-signal", own_signal)], "redis": [("limit", limit)]}
