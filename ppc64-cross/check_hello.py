"""What the log of hello holds is what the plain recorder saw, event for event.

Run by ppc64-cross/hello: check_hello.py PLAIN.txt DUMP.txt STATS.json
"""
import json
import re
import sys

# What hello.c does after main began: 150 blocks of 16,925 bytes, all released.
OWN_EVENTS = 300
OWN_BYTES = 16925
# A recorder may miss this many of libc's own calls before it has started.
START_WINDOW = 64

GRAMMAR = re.compile(r"(?:M: (?P<size>\d+) |F: )0x(?P<block>[0-9a-f]+)(?:\t|$)")


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


def main(plain_path, dump_path, stats_path):
    plain = open(plain_path).read().splitlines()
    events = list(dumped(dump_path))
    missed = len(plain) - len(events)
    if not 0 <= missed <= min(START_WINDOW, len(plain) - OWN_EVENTS) or plain[missed:] != events:
        first = next((i for i, pair in enumerate(zip(plain[missed:], events)) if pair[0] != pair[1]), "none")
        sys.exit(f"{len(plain)} events happened, {len(events)} are in the log; first that differs: {first}")
    sizes = [int(event[2:]) for event in events if event != "F"]
    own = sum(int(event[2:]) for event in events[-OWN_EVENTS:] if event != "F")
    if own != OWN_BYTES:
        sys.exit(f"the program allocated {OWN_BYTES} bytes, the log says {own}")
    stats = json.load(open(stats_path))
    wanted = {
        "allocations": len(sizes),
        "releases": len(events) - len(sizes),
        "total_bytes": sum(sizes),
        "lost_events": 0,
    }
    for name, value in wanted.items():
        if stats.get(name) != value:
            sys.exit(f"{stats_path}: {name} is {stats.get(name)}, not {value}")
    print(f"{len(events)} events, in order; {missed} before the start")


main(*sys.argv[1:])
