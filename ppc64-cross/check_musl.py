"""Judges the logs of one run of a musl program: check_musl.py MEMLOG HOW CUTS PLAIN LOG...

Each log must be whole: ended (but for HOW open), nothing lost, no difference between two ways to walk. HOW exact: the
events are those of the plain recorder's file PLAIN, in order; same: in any order; whole, open: they are not compared.
CUTS none: no stack is cut, and main is in each one of HOW exact; some: main is in some stack of the run.
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
    if stats["cut_stacks"] and cuts == "none":
        yield f"{stats['cut_stacks']} stacks are cut: {stats['cut_stacks_by_reason']}"


def events_of(log):
    """Pairs of an event and whether main is in its stack."""
    for line in memlog("dump", log).splitlines():
        event = GRAMMAR.match(line)
        if not event:
            sys.exit(f"{log}: neither M nor F: {line!r}")
        yield "F" if event["size"] is None else f"M {event['size']}", "(main+" in line


def main(how, cuts, plain, logs):
    problems = [f"{log}: {what}" for log in logs for what in check_stats(log, how, cuts)]
    events = [event for log in logs for event in events_of(log)]
    of_main = [is_mains for event, is_mains in events if event != "F"]
    if cuts == "some" and not any(of_main):
        problems.append(f"{logs[0]}: main is in no stack")
    if cuts == "none" and how == "exact" and not all(of_main):
        problems.append(f"{logs[0]}: of {len(of_main)} stacks {of_main.count(False)} are without main")
    if how in ("exact", "same"):
        ours = [event for event, _ in events]
        theirs = open(plain).read().splitlines()
        if how == "same":
            ours, theirs = collections.Counter(ours), collections.Counter(theirs)
        if ours != theirs:
            problems.append(f"{logs[0]}: {len(events)} events, and not those of {plain}")
    sys.exit("\n".join(problems) if problems else 0)


main(*sys.argv[2:5], sys.argv[5:])
