"""malloc+free pairs on chosen stacks: native, memlog and heaptrack in turn, and whether the log says the same stacks."""
import os
from concurrent.futures import ThreadPoolExecutor
from itertools import product

from . import house
from .table import complete, share

PATTERNS, DEPTHS = ("SAME", "LOOP", "NEAR", "WALK", "ROOT"), (8, 32, 64)
# Among so many stacks hardly one is in a thread's cache when it comes again.
MANY = "WALK:250000"
WANTED = {"SAME": (.065, .05), "LOOP": (.12, .09), "NEAR": (.16, .12), "WALK": (.34, .22), MANY: (.35, .22)}
FREES_WANTED, DEEP_WANTED, TWO_WANTED = 1.9, 1.6, 1.1
MODES = ("native", "memlog", "frees", "fine", "heaptrack")
# What is asked for apart, and so measured only where memlog is usually compared.
APART = ("frees", "fine")
FEW = 1000
OUTER = 4  # main, libc's two and _start


def once(mode, pattern, depth, pairs, threads=1):
    run = house.run(mode, [house.PAIRS, pattern, str(depth), str(pairs), str(threads)])
    return run, house.fields(run.output)


def counted(pattern, depth, pairs):
    return house.fields(house.call(house.PAIRS, "count", pattern, str(depth), str(pairs)))


def straight(findings, name, run, count):
    """The log is complete and has as many pairs and stacks as the driver counted."""
    stats = house.stats(run.log)
    complete(findings, name, stats)
    steps = count["steps"]
    for key, wanted in (("allocations", steps), ("releases", steps), ("distinct_stacks", count["distinct"])):
        if stats[key] != wanted:
            findings.problem(f"{name}: {key} {stats[key]} in the log, {wanted} by the driver's count")


def stacks_of(log):
    """Each allocation's frames as dump prints them, outermost first."""
    for line in house.call(house.MEMLOG, "dump", "--no-symbols", log).splitlines():
        if line.startswith("M: "):
            yield line.split("\t")[2:][::-1]


def check_stacks(findings):
    """Few pairs of each cell, read back frame by frame: the depth and the fresh frames are the driver's."""
    for pattern, depth in [*product(PATTERNS, DEPTHS), (MANY, 32)]:
        run, _ = once("memlog", pattern, depth, FEW)
        count = counted(pattern, depth, FEW)
        before, fresh, steps = None, 0, 0
        for frames in stacks_of(run.log):
            steps += 1
            if len(frames) != depth + OUTER:
                findings.problem(f"{pattern} {depth}: {len(frames)} frames in the log, not {depth + OUTER}")
            if before is not None:
                fresh += len(frames) - next((i for i, (a, b) in enumerate(zip(frames, before)) if a != b), len(frames))
            before = frames
        if steps != count["steps"] or 1000 * fresh // (steps - 1) != count["fresh_thousandths"]:
            findings.problem(f"{pattern} {depth}: {fresh} fresh frames of {steps} stacks in the log, not {count}")


def cell(findings, pattern, depth, plan):
    """One line of the table; returns the medians of the added cost."""
    cost = {mode: [] for mode in MODES if mode not in APART or (depth == 32 and pattern not in ("ROOT", MANY))}
    if not house.heaptrack():
        del cost["heaptrack"]
    for repetition in range(plan.repetitions):
        for mode in cost:
            pairs = plan.slow_pairs if mode == "heaptrack" else plan.pairs
            run, said = once(mode, pattern, depth, pairs)
            cost[mode].append(said["cpu_ns"] / said["pairs"])
            if repetition == 0 and mode in ("memlog", *APART):
                count = counted(pattern, depth, pairs)
                straight(findings, f"{pattern} {depth} {mode}", run, count)
    median = {mode: house.median(values) for mode, values in cost.items()}
    added = {mode: median[mode] - median["native"] for mode in cost}
    line = f"{pattern:<11} {depth:>2} {count['distinct']:>7} {count['fresh_thousandths'] / 1000:>6.1f}"
    line += f" {median['native']:>8.1f} {median['memlog']:>8.1f} {median.get('heaptrack', 0):>8.1f}"
    line += f" {added['memlog']:>8.1f} {added.get('heaptrack', 0):>8.1f}"
    if "heaptrack" in cost:
        ratio, (low, high) = share(cost["native"], cost["memlog"], cost["heaptrack"])
        must, goal = WANTED.get(pattern, (None, None)) if depth == 32 else (None, None)
        findings.figure(f"pair, {pattern} {depth}, share of heaptrack's", ratio, must, goal)
        line += f" {ratio:>6.3f} ({low:.3f}-{high:.3f})" + (f"  must {must} goal {goal}" if must else "")
    print(line, flush=True)
    if "frees" in cost:
        ratio = added["frees"] / added["memlog"]
        findings.figure(f"pair, {pattern} {depth}, with release stacks", ratio, FREES_WANTED)
        told = f"with release stacks: {median['frees']:.1f}, added {ratio:.2f} times as much"
        print(f"               {told}  must {FREES_WANTED}", flush=True)
    if "fine" in cost:
        more = median["fine"] - median["memlog"]
        findings.figure(f"pair, {pattern} {depth}, with fine time, ns more", more, None)
        print(f"               with fine time: {median['fine']:.1f}, {more:.1f} more", flush=True)
    return added["memlog"]


def measure(findings, plan):
    print("\nmalloc+free pairs: ns of thread CPU time, medians; share: memlog's added / heaptrack's added (quartiles)")
    print("stack        depth distinct fresh  native   memlog heaptrack  +memlog +heaptr  share")
    check_stacks(findings)
    for pattern in PATTERNS:
        added = {depth: cell(findings, pattern, depth, plan) for depth in DEPTHS}
        ratio = added[64] / added[32]
        findings.figure(f"pair, {pattern}, depth 64 / 32", ratio, DEEP_WANTED if pattern == "SAME" else None)
    cell(findings, MANY, 32, plan)


def beside(mode, pairs):
    """Two processes of one thread at once, which share nothing but the machine."""
    command = [house.PAIRS, "NEAR", "32", str(pairs)]
    places = [os.path.join(house.WORK, f"beside{i}") for i in range(2)]
    for place in places:
        os.makedirs(place, exist_ok=True)
    with ThreadPoolExecutor() as both:
        runs = list(both.map(lambda place: house.run(mode, command, place=place), places))
    said = [house.fields(run.output) for run in runs]
    return runs[0], {key: sum(one[key] for one in said) for key in ("pairs", "cpu_ns", "wall_ns")}


def measure_threads(findings, plan):
    """Threads that only make pairs of their own; wall counts what they wait for each other and for a core.

    The cores of many machines are not whole ones: what two processes cost beside each other is what threads can reach.
    """
    print("\nthreads, NEAR 32: ns of CPU time a pair, and of wall time a pair of any thread")
    print("threads   native     memlog  heaptrack   wall: native   memlog heaptrack")
    modes = [m for m in MODES if m not in APART and (m != "heaptrack" or house.heaptrack())]
    kinds = {"2 proc.": 0, "1": 1, "2": 2, "4": 4, "8": 8}
    cost = {kind: {mode: ([], []) for mode in modes} for kind in kinds}
    for repetition in range(plan.repetitions):
        for kind, threads in kinds.items():
            for mode in modes:
                pairs = (plan.slow_pairs if mode == "heaptrack" else plan.pairs) // (threads or 1)
                run, said = once(mode, "NEAR", 32, pairs, threads) if threads else beside(mode, pairs)
                cost[kind][mode][0].append(said["cpu_ns"] / said["pairs"])
                cost[kind][mode][1].append(said["wall_ns"] / said["pairs"])
                if mode == "memlog" and repetition == 0:
                    complete(findings, f"{kind} threads", house.stats(run.log))
    added = {}
    for kind in kinds:
        cpu, wall = ({mode: house.median(cost[kind][mode][i]) for mode in modes} for i in (0, 1))
        line = f"{kind:>7} " + " ".join(f"{cpu[m]:>10.1f}" for m in modes)
        print(line + "    " + " ".join(f"{wall[m]:>9.1f}" for m in modes), flush=True)
        added[kind] = cpu["memlog"] - cpu["native"]
    for kind in ("2", "4", "8"):
        ratio = added[kind] / added["2 proc."]
        findings.figure(f"threads, {kind}, added to a pair, / of two processes", ratio)
    findings.figure("threads, 2, added to a pair, / of one", added["2"] / added["1"], TWO_WANTED)
