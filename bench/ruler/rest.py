"""Start-up of a program that does nothing, and what the way into the file costs a byte."""
import os
import shutil
import tempfile

from . import house
from .pairs import once
from .table import complete

START_WANTED = 3.0
TURNS = 10


def starts(mode, times, place):
    """Wall and CPU milliseconds of so many runs of true."""
    results = os.path.join(house.WORK, "results")
    with tempfile.TemporaryDirectory(dir=place) as logs:
        variables = {"native": [], "memlog": [f"LD_PRELOAD={house.RECORDER}", f"MEMLOG_DIR={logs}"],
                     "heaptrack": [f"LD_PRELOAD={house.heaptrack()}", f"DUMP_HEAPTRACK_OUTPUT={logs}/log"]}[mode]
        house.call(house.LAUNCH, results, str(times), *variables, house.find("true"), env=house.CLEAN)
    with open(results) as file:
        lines = [list(map(int, line.split())) for line in file]
    return [line[3] / 1e6 for line in lines], [(line[1] + line[2]) / 1e3 for line in lines]


def measure_start(findings, plan):
    modes = ["native", "memlog"] + (["heaptrack"] if house.heaptrack() else [])
    wall, cpu = ({mode: [] for mode in modes} for _ in range(2))
    for _ in range(TURNS):
        for mode in modes:
            more_wall, more_cpu = starts(mode, plan.starts // TURNS, house.WORK)
            wall[mode] += more_wall
            cpu[mode] += more_cpu
    print(f"\nstart-up of true, medians of {plan.starts} runs, ms")
    for mode in modes:
        low, high = house.quartiles(wall[mode])
        print(f"{mode:<9} wall {house.median(wall[mode]):6.2f} ({low:.2f}-{high:.2f})  CPU {house.median(cpu[mode]):6.2f}")
    # On a busy machine half the walls tell of others: the lower quartile does not, and CPU time knows of no waiting.
    of_wall = house.quartiles(wall["memlog"])[0] - house.quartiles(wall["native"])[0]
    of_cpu = house.median(cpu["memlog"]) - house.median(cpu["native"])
    findings.figure("start-up of true, ms over native", max(of_wall, of_cpu), START_WANTED)


def kind_of(place):
    """The file system, as the kernel calls it: the last mount that the place lies under."""
    best = ("", "?")
    with open("/proc/self/mounts") as file:
        for line in file:
            at, kind = line.split()[1:3]
            if (os.path.realpath(place) + "/").startswith(at.rstrip("/") + "/") and len(at) >= len(best[0]):
                best = (at, kind)
    return best[1]


def fill(mode, place, pairs):
    """Pairs at depth 2: kernel nanoseconds a byte of log, CPU nanoseconds a pair, bytes a pair.

    Without a recorder the loop makes no system call and no page fault, so the kernel's time in it is the sink's: faults,
    populating, mapping or writing. The kernel tells it by ticks, so a short loop says little. What the processor's caches
    lose to the log is not in it, but in the pairs.
    """
    run = house.run(mode, [house.PAIRS, "SAME", "2", str(pairs)], place=place)
    said = house.fields(run.output)
    return run, (said["kernel_ns"] / run.log_bytes, said["cpu_ns"] / said["pairs"], run.log_bytes / said["pairs"])


def measure_sink(findings, plan):
    print(f"\nthe sink: a log of {plan.sink_bytes >> 20} MiB, by pairs at depth 2; kernel: the kernel's time in their loop")
    print("way      file system   ns a byte, kernel   ns a pair, CPU   bytes a pair")
    sample, said = once("memlog", "SAME", 2, 1_000_000)
    pairs = plan.sink_bytes * said["pairs"] // sample.log_bytes
    memory = tempfile.mkdtemp(dir="/dev/shm") if os.access("/dev/shm", os.W_OK) else None
    try:
        for place in filter(None, (house.WORK, memory)):
            for mode in ("memlog", "written"):
                tries = []
                for _ in range(3):
                    run, figures = fill(mode, place, pairs)
                    tries.append(figures)
                complete(findings, f"the sink, {mode}", house.stats(run.log))
                kernel, pair, size = (house.median(column) for column in zip(*tries))
                kind, name = kind_of(place), {"memlog": "mapped"}.get(mode, mode)
                print(f"{name:<8} {kind:<12} {kernel:>18.2f} {pair:>16.1f} {size:>14.2f}", flush=True)
                findings.figure(f"sink, {name} on {kind}, ns a byte", kernel)
    finally:
        if memory:
            shutil.rmtree(memory)
    if not memory:
        findings.skip("the sink on tmpfs: /dev/shm cannot be written to")
