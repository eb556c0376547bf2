"""The log of each rank of static_mpi is whole and holds what the rank is known to keep.

Run by ppc64-cross/static-mpi: check_mpi.py MEMLOG FOLDER RANKS [mapped]
"""
import glob
import json
import subprocess
import sys


def said(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True).stdout


def places(tree):
    """The first branch of each function: what it has at all."""
    found = {}
    for node in tree["nodes"]:
        found.setdefault(node["function"], node)
    return found


def check(memlog, log, rank, mapped):
    if f"\nrank               {rank}\n" not in said(memlog, "info", log):
        sys.exit(f"{log}: memlog info does not say that it is of rank {rank}")
    stats = json.loads(said(memlog, "stats", "--json", log))
    for name, value in {"lost_events": 0, "ended": True, "findings_count": 0, "allocations_of_live_addresses": 0}.items():
        if stats[name] != value:
            sys.exit(f"{log}: {name} is {stats[name]}, not {value}")
    if any(stats["unknown_releases"].values()):
        sys.exit(f"{log}: releases of unknown blocks: {stats['unknown_releases']}")
    # MPI itself: thousands before main has begun its own.
    if stats["allocations"] < 2000 or mapped and stats["mapped_calls"] == 0:
        sys.exit(f"{log}: {stats['allocations']} allocations, {stats['mapped_calls']} mappings")
    tree = ["tree", "--json", "--at", "end", "-t", "0"]
    found = places(json.loads(said(memlog, *tree, log)))
    keep = found.get("keep") or sys.exit(f"{log}: keep is not in {sorted(found)}")
    expected = (10 + rank, (10 + rank) * 1000 * (rank + 1))
    if (keep["blocks"], keep["bytes"]) != expected or not keep["location"].endswith("static_mpi.c:14"):
        sys.exit(f"{log}: {keep}, not {expected} in line 14")
    found = places(json.loads(said(memlog, *tree, "--top-down", log)))
    window = found.get("window") or sys.exit(f"{log}: window is not in {sorted(found)}")
    if not 1 << 20 <= window["bytes"] < 2 << 20 or "pass" in found:
        sys.exit(f"{log}: {window}; pass: {found.get('pass')}")
    # Of all time, also what is gone: by the log's own events.
    passed = sum("(pass+0x" in line.split("\t")[2] for line in said(memlog, "dump", log).splitlines() if line.startswith("M: 777 "))
    if passed != 50:
        sys.exit(f"{log}: pass allocated 50 times, the log says {passed}")
    print(f"rank {rank}: {stats['allocations']} allocations, {stats['mapped_calls']} mappings, none lost; keep, pass and window are exact")


def main(memlog, folder, ranks, *mapped):
    expected = {f"{folder}/77.{rank}.memlog": int(rank) for rank in ranks.split(",")}
    logs = sorted(glob.glob(f"{folder}/*"))
    if logs != sorted(expected):
        sys.exit(f"{folder} has {logs}, not {sorted(expected)}")
    for log, rank in expected.items():
        check(memlog, log, rank, mapped)


main(*sys.argv[1:])
