"""Judges the logs of one run of a musl program: check_musl.py MEMLOG HOW CUTS PLAIN LOG...

Each log must be whole: ended (but for HOW open), nothing lost, no difference between two ways to walk, no more stacks
cut than CUTS. HOW exact: the events are those of the plain recorder's file PLAIN, in order, and main is in each stack;
same: in any order; whole, open: they are not compared.
"""
import collections
import json
import re
import subprocess
import sys

GRAMMAR = re.compile(r"(?:M: (?P<size>\d+) |F: )0x(?P<block>[0-9a-f]+)(?:\t|$)")


def memlog(*words):
    return subprocess.run([sys.argv[1], *words], check=True, capture_output=True, text=True).stdout


def check_stats(log, how, cuts):
    stats = json.loads(memlog("stats", "--json", log))
    counters = stats["counters"]
    if stats["lost_events"]:
        yield f"{stats['lost_events']} events are lost"
    if not stats["ended"] and how != "open":
        yield "it has no end"
    for name in ("verify_differs", "early_blocks"):
        if counters[name]:
            yield f"{name} is {counters[name]}"
    if stats["allocations"] and not counters["verified"]:
        yield "no stack was walked twice"
    # What musl's allocator maps in the middle of a call is no other thread's.
    if how == "exact" and stats["threads"] != 1:
        yield f"{stats['threads']} threads, not 1"
    if stats["cut_stacks"] > cuts:
        yield f"{stats['cut_stacks']} stacks are cut: {stats['cut_stacks_by_reason']}"


def events_of(log, needs_main):
    for line in memlog("dump", log).splitlines():
        event = GRAMMAR.match(line)
        if not event:
            sys.exit(f"{log}: neither M nor F: {line!r}")
        size = event["size"]
        if size is not None and needs_main and "(main+" not in line:
            sys.exit(f"{log}: main is not in the stack: {line!r}")
        yield f"M {size}" if size is not None else "F"


def main(how, cuts, plain, logs):
    problems = [f"{log}: {what}" for log in logs for what in check_stats(log, how, int(cuts))]
    if how in ("exact", "same"):
        ours = [event for log in logs for event in events_of(log, how == "exact")]
        theirs = open(plain).read().splitlines()
        if how == "same":
            ours, theirs = collections.Counter(ours), collections.Counter(theirs)
        if ours != theirs:
            problems.append(f"{logs[0]}: {len(ours)} events for the plain recorder's {len(theirs)}, or others")
    sys.exit("\n".join(problems) if problems else 0)


main(*sys.argv[2:5], sys.argv[5:])
