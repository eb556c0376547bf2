"""The tree of stacks: what a stack costs when it is met for the first time and when it is known, and its memory."""
from . import house
from .pairs import counted, once, straight

OF_A_UNIT = 50_000  # VARIETY's depth counts in these
BUDGET_NODE = 32


def figures(mode, unit):
    """Nanoseconds of a stack that is new and of one that is known, extra KiB, and the longer run."""
    stacks = unit * OF_A_UNIT
    _, first = once(mode, "VARIETY", unit, stacks)
    run, both = once(mode, "VARIETY", unit, 2 * stacks)
    return first["cpu_ns"] / stacks, (both["cpu_ns"] - first["cpu_ns"]) / stacks, run.rss, run


def measure(findings, plan):
    print("\nthe tree: ns of CPU time a pair adds, at a stack that is new and at one that is known; memory a node")
    print("  stacks     nodes   new: memlog heaptr   known: memlog heaptr   bytes a node: memlog heaptr")
    others = ["heaptrack"] if house.heaptrack() else []
    for unit in plan.tries:
        tries = {mode: [figures(mode, unit) for _ in range(plan.trie_repetitions)]
                 for mode in ("native", *others, "memlog")}  # whose log is looked at
        count = counted("VARIETY", unit, 2 * unit * OF_A_UNIT)
        straight(findings, f"{count['distinct']} stacks", tries["memlog"][-1][3], count)
        said = {mode: [house.median(column) for column in list(zip(*of_mode))[:3]] for mode, of_mode in tries.items()}
        new, known, memory = ([said[mode][i] - said["native"][i] for mode in ("memlog", *others)] for i in range(3))
        memory = [1024 * kib / count["nodes"] for kib in memory]
        columns = [" ".join(f"{value:>{width}.{digits}f}" for value in values)
                   for values, width, digits in ((new, 6, 0), (known, 6, 0), (memory, 6, 1))]
        print(f"{count['distinct']:>8} {count['nodes']:>9}  {columns[0]:>18} {columns[1]:>22} {columns[2]:>28}", flush=True)
        findings.figure(f"bytes a node, {count['nodes']} nodes", memory[0], BUDGET_NODE if count["nodes"] > 5e6 else None)
