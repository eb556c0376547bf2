"""The judges of ppc64-cross/cnk.

check_cnk.py events PLAIN.txt DUMP.txt STATS.json CUT
                                                    the log holds what the plain recorder saw: as many releases, and
                                                    allocations of the same sizes, in whatever order the threads ran;
                                                    so many stacks are cut
check_cnk.py calls LIST WITHOUT.strace WITH.strace  what the program calls with the recorder beyond what it calls
                                                    without is on the kernel's list
check_cnk.py still WITHOUT.strace WITH.strace       the recorder maps nothing, and moves no break: on Blue Gene the first
                                                    mapping ends the growth of the heap
check_cnk.py killed DUMP.txt STATS.json             the log of a program that died amid growth has nearly all of it
"""
import collections
import json
import re
import sys

GRAMMAR = re.compile(r"(?:M: (?P<size>\d+) |F: )0x(?P<block>[0-9a-f]+)(?:\t|$)")
# Growth of an eighth may be lost, in steps of 64 KiB, and what came in the last tenth of a second.
KILLED_BYTES = 96 << 20
KEPT = 0.75


def dumped(path):
    """The events of a dump; every release must be of a live block."""
    live = set()
    for number, line in enumerate(open(path), 1):
        event = GRAMMAR.match(line)
        if not event:
            sys.exit(f"{path}:{number}: neither M nor F: {line!r}")
        block, size = event["block"], event["size"]
        if (block in live) == (size is not None):
            sys.exit(f"{path}:{number}: {block} is {'' if size else 'not '}live: {line!r}")
        live ^= {block}
        yield f"M {size}" if size is not None else "F"


def events(plain_path, dump_path, stats_path, cut):
    plain = open(plain_path).read().splitlines()
    log = collections.Counter(dumped(dump_path))
    happened = collections.Counter(plain)
    if log - happened:
        sys.exit(f"in the log and never happened: {dict(log - happened)}")
    missed = happened - log
    # Only libc's first calls may come before the recorder.
    stats = json.load(open(stats_path))
    window = collections.Counter(plain[:sum(missed.values())])
    if missed and (missed != window or sum(missed.values()) > 64):
        sys.exit(f"happened and not in the log: {dict(missed)}")
    for name, wanted in ("lost_events", 0), ("cut_stacks", int(cut)):
        if stats[name] != wanted:
            sys.exit(f"{stats_path}: {name} is {stats[name]}, not {wanted}")
    print(f"{sum(log.values())} events, {sum(missed.values())} before the start, {stats['distinct_stacks']} stacks, {cut} cut")


# 12345 open("name",O_RDONLY) = 3
CALL = re.compile(r"^(?:\d+ )?([a-z_][a-z_0-9]*)\(")
# glibc's: asked by each of the threads that are the first to shrink an arena, which are one or two.
BY_CHANCE = '"/proc/sys/vm/overcommit_memory"'


def called(path):
    """How often each call was made."""
    lines = (line for line in open(path, errors="replace") if BY_CHANCE not in line)
    return collections.Counter(m[1] for m in map(CALL.match, lines) if m)


def calls(list_path, without_path, with_path):
    allowed = {line.split()[0] for line in open(list_path) if not line.startswith("#")}
    without, with_it = called(without_path), called(with_path)
    more = with_it - without
    if len(without) < 5 or not more:
        sys.exit(f"{without_path} or {with_path} is no record of system calls")
    off = {name: count for name, count in more.items() if name not in allowed}
    if off:
        sys.exit(f"because of the recorder, and not on the kernel's list: {off}")
    print("because of the recorder: " + ", ".join(f"{name} {count}" for name, count in more.most_common()))


def still(without_path, with_path):
    without, with_it = called(without_path), called(with_path)
    for name in "mmap", "mremap", "munmap", "brk":
        if with_it[name] != without[name]:
            sys.exit(f"{name} is called {with_it[name]} times with the recorder, {without[name]} without")
    print("the recorder neither maps nor moves the break")


def killed(dump_path, stats_path):
    kept = sum(int(event[2:]) for event in dumped(dump_path) if event.startswith("M "))
    stats = json.load(open(stats_path))
    if not KEPT * KILLED_BYTES <= kept <= 1.1 * KILLED_BYTES:
        sys.exit(f"{kept} bytes are in the log of {KILLED_BYTES}")
    if stats["lost_events"] != 0:
        sys.exit(f"{stats_path}: lost_events is {stats['lost_events']}, not 0")
    print(f"{kept * 100 // KILLED_BYTES} % of what a killed program had allocated is in its log")


{"events": events, "calls": calls, "still": still, "killed": killed}[sys.argv[1]](*sys.argv[2:])
