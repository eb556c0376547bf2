"""Counts of instructions that are held, in bench/baseline.txt."""
import os
import platform
import re

from . import house

FILE = os.path.join(house.BENCH, "baseline.txt")


def key():
    """What a count depends on besides memlog: who compiled it and the programs, and whose malloc and loader run."""
    rust = re.search(r"rustc (\S+)", house.call("rustc", "--version", cwd=house.ROOT)).group(1)
    compiler = house.call("cc", "-dumpfullversion").strip()
    return f"rustc-{rust}/cc-{compiler}/glibc-{platform.libc_ver()[1]}/{platform.machine()}"


def read():
    """(key, cell) -> instructions."""
    if not os.path.exists(FILE):
        return {}
    with open(FILE) as file:
        lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return {(where, " ".join(cell)): float(number) for where, *cell, number in lines}


def write(known):
    with open(FILE, "w") as file:
        file.write("# Instructions that memlog adds to a malloc+free pair, or to an event of a whole program, by\n"
                   "# bench/instructions --bless, and that it reads an event by, by bench/read --bless. A figure that\n"
                   "# changes wants a row with the reason in doc/PERFORMANCE.md.\n")
        for (where, cell), number in sorted(known.items()):
            file.write(f"{where} {cell} {number:.1f}\n")
    print("doc/PERFORMANCE.md, Baselines, wants a row for each figure that is another, with the reason")


def compared(number, before, within):
    """What to say of a count beside its baseline, and whether it is off."""
    if not before:
        return "", False
    off = abs(number / before - 1) > within
    said = f", baseline {before:.1f}, {100 * (number / before - 1):+.1f} %"
    return said + (f": MORE THAN {100 * within:.0f} % OFF (wanted: --bless)" if off else ""), off
