"""Start-up of a program that does nothing, and what the way into the file costs a byte."""
import os
import shutil
import tempfile

from . import house
from .pairs import once
from .table import complete

START_WANTED = 3.0
SMALL_WANTED = 1.0
TURNS = 10


def starts(mode, times, logs, program):
    """Wall and CPU milliseconds of so many runs, and their page faults."""
    results = os.path.join(house.WORK, "results")
    variables = {"native": [], "memlog": [f"LD_PRELOAD={house.RECORDER}", f"MEMLOG_DIR={logs}"],
                 "heaptrack": [f"LD_PRELOAD={house.heaptrack()}", f"DUMP_HEAPTRACK_OUTPUT={logs}/log"]}[mode]
    house.call(house.LAUNCH, results, str(times), *variables, program, env=house.CLEAN)
    with open(results) as file:
        lines = [list(map(int, line.split())) for line in file]
    return [line[3] / 1e6 for line in lines], [(line[1] + line[2]) / 1e3 for line in lines], [line[5] for line in lines]


def calls(mode, logs, program):
    """System calls of one run."""
    counts = os.path.join(house.WORK, "calls")
    variables = ["-E", f"LD_PRELOAD={house.RECORDER}", "-E", f"MEMLOG_DIR={logs}"] if mode == "memlog" else []
    house.call("strace", "-c", "-o", counts, *variables, program, env=house.CLEAN)
    with open(counts) as file:
        total = next(line.split() for line in file if line.rstrip().endswith("total"))
    return int(total[3])


def measure_start(findings, plan):
    # ext4 looks past every file that was removed in the last half minute, where it makes a new one: 0.4 ms after some
    # hundred. So all logs stay until the end, and of two runs of this the second is to wait that long.
    with tempfile.TemporaryDirectory(dir=house.WORK, prefix="starts.") as logs:
        for name, program, wanted in (("true", house.find("true"), START_WANTED), ("a hundred events", house.HUNDRED, SMALL_WANTED)):
            start_of(findings, plan, logs, name, program, wanted)


def start_of(findings, plan, logs, name, program, wanted):
    modes = ["native", "memlog"] + (["heaptrack"] if house.heaptrack() else [])
    wall, cpu, faults = ({mode: [] for mode in modes} for _ in range(3))
    for _ in range(TURNS):
        for mode in modes:
            for all_of, more in zip((wall, cpu, faults), starts(mode, plan.starts // TURNS, logs, program)):
                all_of[mode] += more
    print(f"\nstart-up of {name}, medians of {plan.starts} runs, ms")
    for mode in modes:
        low, high = house.quartiles(wall[mode])
        told = f", {calls(mode, logs, program)} system calls" if shutil.which("strace") and mode != "heaptrack" else ""
        print(f"{mode:<9} wall {house.median(wall[mode]):6.2f} ({low:.2f}-{high:.2f})  CPU {house.median(cpu[mode]):6.2f}, "
              f"{house.median(faults[mode]):.0f} page faults{told}")
    # On a busy machine half the walls tell of others: the lower quartile does not, and CPU time knows of no waiting.
    of_wall = house.quartiles(wall["memlog"])[0] - house.quartiles(wall["native"])[0]
    of_cpu = house.median(cpu["memlog"]) - house.median(cpu["native"])
    if wanted == SMALL_WANTED:
        findings.figure(f"{name}, CPU ms over native", of_cpu, wanted)
    else:
        findings.figure(f"start-up of {name}, ms over native", max(of_wall, of_cpu), wanted)


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
