"""Where things lie, how they are built, and how one program is run under one recorder."""
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass

from . import generate

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(BENCH)
TARGET = os.path.abspath(os.environ.get("CARGO_TARGET_DIR") or os.path.join(ROOT, "target"))
WORK = os.path.join(TARGET, "bench", "speed")
MEMLOG = os.path.join(TARGET, "release", "memlog")
RECORDER = os.path.join(WORK, "lib", "libmemlog.so")
PAIRS, LAUNCH, HUNDRED = (os.path.join(WORK, name) for name in ("pairs", "launch", "hundred"))
# What somebody has set for other runs would be measured as well.
OTHERS = ("MEMLOG_", "MEMORY_PROFILER_", "LD_", "GLIBC_TUNABLES", "MALLOC_", "PYTHON")
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(OTHERS)}
SYSTEM = "/usr/local/bin:/usr/bin:/bin"  # before it people put shims, which are programs of their own


def fail(message):
    print(f"bench: {message}", file=sys.stderr)
    sys.exit(2)


def call(*command, **options):
    done = subprocess.run(command, text=True, capture_output=True, **options)
    if done.returncode:
        fail(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def find(program):
    return shutil.which(program, path=SYSTEM)


def commit():
    """What is measured; a copy without git has no name."""
    try:
        done = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%h %s"], text=True, capture_output=True)
        changed = subprocess.run(["git", "-C", ROOT, "status", "--short", "wrap", "cdylib", "format"], text=True,
                                 capture_output=True)
    except OSError:
        return "?"
    return (done.stdout.strip() or "?") + (" and changes" if changed.stdout else "")


def heaptrack():
    """Its recorder, where its own script looks for it: beside the script's folder."""
    script = find("heaptrack")
    library = script and os.path.join(os.path.dirname(os.path.realpath(script)), "../lib/heaptrack/libheaptrack_preload.so")
    return os.path.realpath(library) if library and os.path.exists(library) else None


def build():
    """memlog as people get it, and the workloads."""
    os.makedirs(WORK, exist_ok=True)
    subprocess.run([os.path.join(ROOT, "ci/packages"), "bench"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not shutil.which("cc"):
        fail("no C compiler (cc)")
    call("cargo", "build", "--quiet", "--locked", "--release", "-p", "memlog", cwd=ROOT,
         env={**os.environ, "CARGO_TARGET_DIR": TARGET})
    call(MEMLOG, "artefacts", os.path.dirname(RECORDER))
    for name, text in generate.sources().items():
        with open(os.path.join(WORK, name), "w") as file:
            file.write(text)
    here = os.path.join(BENCH, "ruler")
    flags = ["-std=gnu11", "-O2", "-g", "-Wall", "-I", here]
    for name in generate.sources():
        more = ["-fno-omit-frame-pointer"] if "_fp" in name else ["-fomit-frame-pointer"]
        call("cc", *flags, *more, *(["-fPIC"] if "library" in name else []), "-c", name, cwd=WORK)
    call("cc", "-shared", "-o", "liblevels.so", "library.o", "library_fp.o", cwd=WORK)
    call("cc", *flags, "-pthread", "-o", "pairs", os.path.join(here, "pairs.c"), "program.o", "program_fp.o",
         "-L.", "-llevels", "-Wl,-rpath,$ORIGIN", cwd=WORK)
    for name in ("launch", "hundred"):
        call("cc", *flags, "-o", name, os.path.join(here, f"{name}.c"), cwd=WORK)


def settings(mode, place):
    """What a mode adds to a program's environment; its log is the file `log` in the place."""
    log = os.path.join(place, "log")
    memlog = {"LD_PRELOAD": RECORDER, "MEMLOG_OUTPUT": log}
    return {"native": {},
            "memlog": memlog,
            "frees": {**memlog, "MEMLOG_FREE_STACKS": "1"},
            "fine": {**memlog, "MEMLOG_FINE_TIME": "1"},
            "written": {**memlog, "MEMLOG_SINK": "written"},
            "heaptrack": {"LD_PRELOAD": heaptrack(), "DUMP_HEAPTRACK_OUTPUT": log}}[mode]


@dataclass
class Run:
    """What a run used; seconds and KiB."""
    cpu: float
    wall: float
    rss: int
    output: str
    log: str
    log_bytes: int


def run(mode, command, env=None, stdin=os.devnull, cwd=WORK, place=WORK):
    """Runs a program once; its log stays until the next run in the same place."""
    for old in glob.glob(os.path.join(place, "log*")):
        os.unlink(old)
    results = os.path.join(place, "results")
    variables = {**(env or {}), **settings(mode, place)}
    with open(stdin) as given:
        done = subprocess.run([LAUNCH, results, "1", *(f"{k}={v}" for k, v in variables.items()), *command],
                              stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd, env=CLEAN)
    with open(results) as file:
        line = file.read().split()
    if done.returncode or line[0] != "0":
        fail(f"{mode}: {' '.join(command)} failed: {line[:1]} {done.stdout[-500:]}{done.stderr[-500:]}")
    status, user, system, wall, rss, _ = map(int, line)
    log = os.path.join(place, "log")
    return Run((user + system) / 1e6, wall / 1e9, rss, done.stdout, log, os.path.getsize(log) if os.path.exists(log) else 0)


def fields(line):
    """`name=number ...` as a dictionary."""
    return {name: int(number) for name, number in (word.split("=") for word in line.split())}


def stats(log):
    return json.loads(call(MEMLOG, "stats", "--json", log))


def median(numbers):
    return statistics.median(numbers)


def quartiles(numbers):
    ordered = sorted(numbers)
    return ordered[len(ordered) // 4], ordered[(3 * len(ordered) - 1) // 4]
