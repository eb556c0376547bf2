"""Runs the programs of one suite, by themselves or under memlog, and leaves none behind."""

import ctypes
import os
import resource
import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

PR_SET_CHILD_SUBREAPER = 36
# Children of ours that belong to no suite.
OTHERS = set()


@dataclass(frozen=True)
class Suite:
    """What is run, and what its logs must hold at least."""

    name: str
    # Of ci/packages.
    packages: str
    # Runs programs and gives results by name.
    work: Callable
    is_short: bool = False
    # Files without which it cannot be run.
    files: tuple = ()
    # Logs there must be at least, by the executable's name.
    images: dict = field(default_factory=dict)
    # Whether it kills processes, maybe before their log's first byte.
    kills: bool = False
    # What says which version was met.
    version: tuple = ()
    # Whether it takes root, who becomes somebody else.
    is_roots: bool = False

    def reason_not_to_run(self):
        if self.is_roots and os.geteuid() != 0:
            return "it is started by root, and becomes another user"
        missing = [file for file in self.files if not (os.path.exists(file) or shutil.which(file))]
        return f"not there: {' '.join(missing)}" if missing else None


class Failed(Exception):
    """The suite says itself that something is wrong."""


class Hung(Exception):
    """It took too long and was ended."""


class OwnTime:
    """Seconds as on an idle machine: of each moment counts the part that the load leaves, as in ci/limited."""

    def __init__(self):
        self.passed, self.looked = 0.0, time.monotonic()

    def seconds(self):
        """So many have passed. Asked seldom, it knows little of the load in between."""
        now = time.monotonic()
        self.passed += (now - self.looked) / crowd()
        self.looked = now
        return self.passed


def crowd():
    """How many want each processor: in the last minute, which knows of a new load too late, or just now."""
    mean, _, _, can_run, _ = Path("/proc/loadavg").read_text().split()
    return max(1.0, max(float(mean), int(can_run.split("/")[0])) / os.cpu_count())


class Run:
    """One run of a suite: a folder, perhaps a recorder in front of each command, and a time by which it must be over."""

    def __init__(self, place, recorder, most_seconds):
        self.place, self.recorder = place, recorder
        self.time, self.most_seconds = OwnTime(), most_seconds
        self.environment = {
            "PATH": "/usr/local/sbin:/usr/sbin:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(place), "TMPDIR": str(place), "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", "TZ": "UTC",
        }
        self.commands = 0
        self.left_out = {}

    def is_late(self):
        return self.time.seconds() > self.most_seconds

    def leave_out(self, name, reason):
        """A part that goes wrong, to be called in each run: if that is the native one, the part is skipped."""
        if not self.recorder:
            self.left_out[name] = reason

    def start(self, argv, environment=None, **more):
        """A program that goes on while the suite does something else. It is ended with the suite."""
        self.commands += 1
        more.setdefault("cwd", self.place)
        for stream in ("stdin", "stdout", "stderr"):
            more.setdefault(stream, subprocess.DEVNULL)
        return subprocess.Popen([*self.recorder, *map(str, argv)], env={**self.environment, **(environment or {})},
                                start_new_session=True, **more)

    def call(self, argv, feed="", environment=None, **more):
        """Runs a program to its end: exit status as a shell has it, output, errors."""
        paths = [self.place / f"{self.commands}.{name}" for name in ("in", "out", "err")]
        paths[0].write_text(feed)
        # Files, not pipes: a daemon that keeps one open does not keep us.
        with open(paths[0], "rb") as fed, open(paths[1], "wb") as out, open(paths[2], "wb") as err:
            child = self.start(argv, environment, stdin=fed, stdout=out, stderr=err, **more)
        code = self.wait(child, " ".join(map(str, argv)))
        out, err = (path.read_text(errors="surrogateescape") for path in paths[1:])
        for path in paths:
            path.unlink(missing_ok=True)
        if self.recorder:
            err = "".join(line for line in err.splitlines(True) if not line.startswith("memlog: "))
        return code, out, err

    def wait(self, child, what):
        while True:
            try:
                code = child.wait(0.5)
                break
            except subprocess.TimeoutExpired:
                if self.is_late():
                    raise Hung(f"hangs: {what[:200]}") from None
        return 128 - code if code < 0 else code

    def fail(self, reason):
        """To be called when something went wrong that results tell as well: natively the suite is skipped."""
        if not self.recorder:
            raise Failed(reason)

    def must(self, argv, **more):
        """As call, of what must succeed: its output."""
        code, out, err = self.call(argv, **more)
        if code:
            raise Failed(f"{' '.join(map(str, argv))[:200]!r}: exit {code}: {(err or out)[-300:].strip()!r}")
        return out

    def build(self, argv, environment=None):
        """Compiles something that the suite runs, never under memlog."""
        made = subprocess.run(list(map(str, argv)), cwd=self.place, env={**self.environment, **(environment or {})}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=self.hang_seconds())
        if made.returncode:
            raise Failed(f"{' '.join(map(str, argv))[:200]}: {made.stdout[-300:]}")

    def plain(self, argv, environment=None):
        """What a command says that only asks, never under memlog."""
        asked = subprocess.run(list(map(str, argv)), cwd=self.place, env={**self.environment, **(environment or {})}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=self.hang_seconds())
        return asked.stdout

    def hang_seconds(self):
        """By the clock, of what is not looked at while it runs: at a load of 20 all that is left, and else a hang."""
        return 10 * max(60, self.most_seconds - self.time.seconds())

    def until_true(self, test, what):
        while not test():
            if self.is_late():
                raise Hung(f"hangs: {what}")
            time.sleep(0.02)


def version_of(suite):
    """The first line that the program says of itself."""
    if not suite.version or not shutil.which(suite.version[0]):
        return ""
    said = subprocess.run(suite.version, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    return said.strip().split("\n")[0]


def free_port():
    """A port of the loopback that nobody has just now."""
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return asked.getsockname()[1]


@dataclass
class Outcome:
    results: dict
    # Names that go wrong without memlog, and why.
    left_out: dict = field(default_factory=dict)
    failure: str = ""
    hung: bool = False
    seconds: float = 0.0
    cpu_seconds: float = 0.0


def perform(suite, place, recorder, most_seconds):
    """A whole run. Its failure is the suite's word that it went wrong."""
    run = Run(place, recorder, most_seconds)
    cpu_began = cpu_of_children()
    outcome = Outcome({}, run.left_out)
    try:
        outcome.results = suite.work(run)
    except Failed as failed:
        outcome.failure = str(failed)
    except subprocess.TimeoutExpired as expired:
        outcome.failure, outcome.hung = f"hangs: {expired.cmd}", True
    except Hung as hung:
        outcome.failure, outcome.hung = str(hung), True
    outcome.seconds = run.time.seconds()
    end_children()
    outcome.cpu_seconds = cpu_of_children() - cpu_began
    return outcome


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def adopt_orphans():
    """Daemons of a suite become children of ours, so that all can be waited for."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def restore_signals():
    """Who starts us in the background has us ignore signals, and programs under test would inherit that."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def children():
    return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split() if int(pid) not in OTHERS]


def end_children(grace_seconds=3.0):
    """Waits for what a suite left running, then kills it; what they leave behind comes to us, too."""
    waited = OwnTime()
    while pids := children():
        if waited.seconds() > grace_seconds:
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
        for pid in pids:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass
        time.sleep(0.01)
