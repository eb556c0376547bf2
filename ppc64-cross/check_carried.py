"""The places of a tree are those that the cross addr2line gives for the log's addresses, inlined callers as well.

Run by ppc64-cross/carried-home: check_carried.py TOOLS PROGRAM DUMP.txt TREE.json
"""
import json
import os
import re
import subprocess
import sys

FRAME = re.compile(r"\t(\S+) \([^)]*\) \[0x[0-9a-f]+ \(0x([0-9a-f]+)\)\]")
# What carried.cpp must be found to have, or the comparison is of nothing.
WANTED = ["mesh::Field<double>::row", "mesh::Field<short>::fill", "mesh::Cells::grow", "mesh::refined", "mesh::deep", "main"]


def addresses(path, program):
    """Where the program's calls are: a byte before each return address."""
    found = {int(address, 16) - 1 for line in open(path) for file, address in FRAME.findall(line)
             if os.path.basename(file) == program}
    return sorted(found) or sys.exit(f"{path}: no frame of {program}")


def places(tools, program, of):
    """What addr2line says of all addresses: functions with their lines."""
    said = subprocess.run([tools + "addr2line", "-f", "-i", "-C", "-e", program], input="\n".join(map(hex, of)),
                          stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    for function, place in zip(said[::2], said[1::2]):
        file, _, line = place.partition(" (")[0].rpartition(":")
        if line.isdigit() and line != "0":
            yield function, f"{os.path.normpath(file)}:{line}"


def main(tools, program, dump, tree):
    expected = set(places(tools, program, addresses(dump, "solver")))
    nodes = json.load(open(tree))["nodes"]
    found = set()
    for node in nodes:
        if "+0x" in node["function"]:
            sys.exit(f"{tree}: {node['function']} has no name")
        if node["location"]:
            file, _, line = node["location"].rpartition(":")
            found.add((node["function"], f"{os.path.normpath(file)}:{line}"))
    own = {place for place in expected if "carried.cpp:" in place[1]}
    if found - expected or own - found:
        sys.exit(f"{tree}: only ours: {sorted(found - expected)}; only addr2line's: {sorted(own - found)}")
    for name in WANTED:
        if not any(function.startswith(name) for function, _ in found):
            sys.exit(f"{tree}: {name} is not in {sorted(found)}")
    print(f"{len(nodes)} nodes, {len(found)} functions with lines, all of them addr2line's")


main(*sys.argv[1:])
