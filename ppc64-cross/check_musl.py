"""Judges the logs of one run of a musl program: check_musl.py MEMLOG HOW PLAIN LOG...

Each log must be whole: ended (but for HOW open), nothing lost, no stack cut (but for torn), no difference between two
ways to walk. HOW exact: the events are those of the plain recorder's file PLAIN, in order, and main is in each stack;
same: in any order; whole, open, torn: they are not compared; inner: the same, and the stacks are those of musl_inner.c;
tableless: the stacks are those of the log PLAIN, as far as they go, and those that go less far are cut.
"""
import collections
import json
import re
import subprocess
import sys

# What musl_inner.c is called back by, and who asked for it.
CALLED_BACK = {
    "compare": {"by_qsort", "by_tsearch"},
    "once": {"by_once"},
    "handler": {"by_raise"},
}
FRAME = re.compile(r"\(([^()]+)\+0x")
GRAMMAR = re.compile(r"(?:M: (?P<size>\d+) |F: )0x(?P<block>[0-9a-f]+)(?:\t|$)")


def memlog(*words):
    return subprocess.run([sys.argv[1], *words], check=True, capture_output=True, text=True).stdout


def check_tableless(log, judge):
    stats = json.loads(memlog("stats", "--json", log))
    ours, theirs = ([names for event, names in events_of(path) if event != "F"] for path in (log, judge))
    if [names[:1] for names in ours] != [names[:1] for names in theirs]:
        yield "the two runs allocate in different places"
    for ours_of, theirs_of in zip(ours, theirs):
        if ours_of != theirs_of[:len(ours_of)]:
            yield f"{' '.join(ours_of)} is told for {' '.join(theirs_of)}"
    shorter = sum(len(ours_of) < len(theirs_of) for ours_of, theirs_of in zip(ours, theirs))
    if shorter != stats["cut_stacks"] or stats["counters"]["verify_differs"]:
        yield f"{shorter} stacks are shorter, {stats['cut_stacks']} said to be cut"


def check_stats(log, how):
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
    if stats["cut_stacks"] and how != "torn":
        yield f"{stats['cut_stacks']} stacks are cut: {stats['cut_stacks_by_reason']}"


def events_of(log):
    """Pairs of an event and the names of its stack."""
    for line in memlog("dump", log).splitlines():
        event = GRAMMAR.match(line)
        if not event:
            sys.exit(f"{log}: neither M nor F: {line!r}")
        kind = "F" if event["size"] is None else f"M {event['size']}"
        yield kind, FRAME.findall(line)


def check_inner(stacks):
    """Whoever called musl is in the stack, and what musl called back is called by nobody else."""
    source = open("ppc64-cross/musl_inner.c").read()
    callers = set(re.findall(r"\bby_\w+(?=\(\))", source)) - {"by_threads", "by_small_stack"}
    seen = {name for names in stacks for name in names}
    if callers - seen:
        yield f"in no stack: {sorted(callers - seen)}"
    roots = {"main", "thread", "small", "begins", "ends", "at_exit", "release"}
    if not roots <= seen:
        yield f"in no stack: {sorted(roots - seen)}"
    for names in stacks:
        if roots.isdisjoint(names):
            yield f"nobody of the program called this: {' '.join(names)}"
    for inner, outer in CALLED_BACK.items():
        callers = {next((name for name in names[names.index(inner) + 1:] if name in outer), "nobody")
                   for names in stacks if inner in names}
        if callers != outer:
            yield f"{inner} was called through musl by {sorted(callers)}, not {sorted(outer)}"


def main(how, plain, logs):
    if how == "tableless":
        sys.exit("\n".join(check_tableless(logs[0], plain)) or 0)
    problems = [f"{log}: {what}" for log in logs for what in check_stats(log, how)]
    events = [event for log in logs for event in events_of(log)]
    stacks = [names for event, names in events if event != "F"]
    if how == "exact" and not all("main" in names for names in stacks):
        problems.append(f"{logs[0]}: {sum('main' not in names for names in stacks)} of {len(stacks)} stacks are without main")
    if how == "inner":
        problems += [f"{logs[0]}: {what}" for what in check_inner(stacks)]
    if how in ("exact", "same"):
        ours = [event for event, _ in events]
        theirs = open(plain).read().splitlines()
        if how == "same":
            ours, theirs = collections.Counter(ours), collections.Counter(theirs)
        if ours != theirs:
            problems.append(f"{logs[0]}: {len(events)} events, and not those of {plain}")
    sys.exit("\n".join(problems) if problems else 0)


main(*sys.argv[2:4], sys.argv[4:])
