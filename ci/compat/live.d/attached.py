"""A server that was started without memlog."""

import os

from memlog import Under, asked, ctl, expect, live, mib, near, run, whole
from switches import FILLED, Asking


def attach(name, kind):
    """For a time; then until it is left again, with a window whose bytes the server knows."""
    with Under(kind) as under:
        server = under.server
        server.fill(50)
        pid, first, second = server.target(), under.logs / "first.memlog", under.logs / "second.memlog"
        # It allocates when it is asked something.
        with Asking(server):
            said = run("attach", pid, "--for", "1s", "-o", first)
        expect("recording has ended" in said, f"attach --for 1s says {said}")
        stats = whole(first)
        expect(stats["allocations"] > 0 and 0.5 < stats["duration_seconds"] < 10, f"{stats['allocations']} allocations in {stats['duration_seconds']} s")
        with Asking(server):
            run("attach", pid, "-o", second)
        log = second if second.exists() else first
        before = server.held()
        what = server.fill(FILLED[name], at=10000)
        grown = server.held() - before
        with Asking(server):
            ctl(pid, "mark", "filled", says="marked")
            expect("recording has ended" in run("detach", pid), "detach")
        after = asked("stats", log)["allocations"]
        server.fill(50, at=30000)
        expect(os.path.isdir(f"/proc/{pid}"), f"process {pid} is gone")
        answers = under.stop()
        stats = whole(log)
        expect(stats["allocations"] == after, "there are allocations from after detach")
        ours = live(log, at="mark filled", usable=server.is_usable)
        near("what was allocated while attached", ours, grown)
        return (f"attach --for 1s, attach and detach: {what}: {mib(ours)}, {mib(grown)} by the server; {stats['unknown_releases']['before_start']:,} releases "
                f"of blocks from before; {answers:,} answers without an error")


ROWS, ONLY = [("attach", attach)], {}
