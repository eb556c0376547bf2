"""The events of programs/scripted.c in a dump, so that they can be compared between machines.

Run by ppc64-cross/same-events. `M SIZE FUNCTION...` out to main, `F NUMBER` of the allocation that was released; what the
C library does for itself is left out, and so are addresses and times.
"""
import re
import sys

LINE = re.compile(r"(?:M: (?P<size>\d+) |F: )0x(?P<block>[0-9a-f]+)\t[^\t]*(?P<frames>.*)$")
NAME = re.compile(r"\(([^()+]*)\+0x[0-9a-f]+\) \[")

live, count = {}, 0
for line in open(sys.argv[1]):
    match = LINE.match(line.rstrip("\n"))
    if not match:
        sys.exit(f"{sys.argv[1]}: neither M nor F: {line!r}")
    if match["size"] is None:
        if match["block"] in live:
            print("F", live.pop(match["block"]))
        continue
    names = [name.split(".")[0] for name in NAME.findall(match["frames"])]
    if "main" in names:
        print("M", match["size"], *names[:names.index("main") + 1])
        live[match["block"]] = count
        count += 1
