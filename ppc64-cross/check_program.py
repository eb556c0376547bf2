"""Whether the log of a test program says what the C library and the second recorder say of the same run.

Run by ppc64-cross/test. Prints `stacks N` and `events N` and exits 0, or says what differs and exits 1.
"""
import argparse
import collections
import json
import re
import sys

LINE = re.compile(r"(?:M: (?P<size>\d+) |F: )0x(?P<block>[0-9a-f]+)\t\S+ \S+ \S+ \S+ \S+(?P<frames>.*)$")
FRAME = re.compile(r"\((.*)\+0x[0-9a-f]+\) \[0x([0-9a-f]+) \(0x[0-9a-f]+\)\]$")
# A recorder may miss this many of the loader's and libc's own calls before it has started.
START_WINDOW = 64
# The programs ask backtrace() for so many, and the innermost is left out.
ASKED = 198

# What each handler of signals.c may find itself called by.
INTERRUPTED = {
    "handler": ["raise main", "raise handler"],
    "jumper": ["raise main"],
    "tick": ["tiny framed spin main", "framed spin main", "leaf spin main", "spin main"],
}

# The functions that main's and the threads' stacks begin with.
OUTERMOST = {"main", "work", "at_end"}

# Where programs begin; MIPS's have a name of their own for it.
BEGINNINGS = {"_start", "__start"}

Event = collections.namedtuple("Event", "kind size block")
wrong = []


def logged(path, partly):
    """Events in order, and the stacks of all allocations by size; every release must be of a live block, unless some of
    the family is not recorded."""
    live, events, stacks = {}, [], collections.defaultdict(list)
    for number, line in enumerate(open(path), 1):
        match = LINE.match(line.rstrip("\n"))
        if not match:
            sys.exit(f"{path}:{number}: neither M nor F: {line!r}")
        block = int(match["block"], 16)
        if match["size"] is not None:
            if block in live:
                wrong.append(f"line {number} of the dump: {block:#x} was live")
            live[block] = int(match["size"])
            frames = map(FRAME.search, match["frames"].split("\t")[1:])
            stacks[live[block]].append([(int(frame[2], 16), frame[1]) for frame in frames])
            events.append(Event("M", live[block], block))
        elif block not in live:
            if not partly:
                wrong.append(f"line {number} of the dump: {block:#x} was not live")
        else:
            events.append(Event("F", live.pop(block), block))
    return events, stacks


def second_told(path):
    """The second recorder's events, a release with the size of its block; of unknown blocks none."""
    live, events, released = {}, [], {}
    for line in open(path):
        words = line.split()
        block = int(words[-1], 16)
        if words[0] == "M":
            live[block] = int(words[1])
            events.append(Event("M", live[block], block))
        elif words[0] == "U" and block in released:
            # A realloc failed: its block was live all the time, so nobody else can have been given it.
            live[block] = events[released[block]].size
            events[released.pop(block)] = None
        elif words[0] == "F" and block in live:
            released[block] = len(events)
            events.append(Event("F", live.pop(block), block))
    return [event for event in events if event]


def same_stack(size, got, wanted, tables):
    """What differs, or None. backtrace() lacks what its library has no tables for, or was not asked for."""
    pcs = [pc for pc, _ in got]
    if len(wanted) >= ASKED:
        pcs = pcs[:len(wanted)]
    # A thread begins in clone, which has no unwind tables past the system call: the back chain has one frame more.
    if len(pcs) == len(wanted) + 1 and re.fullmatch(r"(__)?clone3?", got[-1][1]):
        pcs = pcs[:-1]
    # For ARM it leaves out the function whose caller it cannot find.
    if tables == "half-stated" and len(pcs) == len(wanted) + 1:
        pcs = pcs[:-1]
    # musl has no tables at all: there backtrace() may end, but not before the program's own functions do.
    if tables == "none" and len(wanted) >= 2 and OUTERMOST & {name for _, name in got}:
        pcs = pcs[:len(wanted)]
    if pcs == wanted:
        return None
    at = next((i for i, pair in enumerate(zip(pcs, wanted)) if pair[0] != pair[1]), min(len(pcs), len(wanted)))
    return (f"the stack of {size} bytes differs at frame {at}: {len(got)} in the log, {len(wanted)} by backtrace():"
            f" {' '.join(f'{pc:x}:{name}' for pc, name in got[:at + 4])} / {' '.join(f'{pc:x}' for pc in wanted[:at + 4])}")


def compare_stacks(path, stacks, tables):
    """Each stack that backtrace() told is that of the allocation of its size; frame for frame."""
    compared = 0
    for line in open(path):
        words = line.split()
        size, wanted = int(words[0]), [int(word, 16) for word in words[1:]]
        found = stacks.get(size, [])
        if len(found) != 1:
            wrong.append(f"{len(found)} allocations of {size} bytes are in the log")
            continue
        # The innermost is the same function at another of its calls.
        differs = same_stack(size, found[0][1:], wanted, tables) if wanted else None
        if differs:
            wrong.append(differs)
        compared += bool(wanted)
    return compared


def check_handlers(stacks):
    """A handler was called by what its signal interrupted: signals.c says what that can be."""
    checked = 0
    for size, all_frames in stacks.items():
        for frames in all_frames:
            names = [name.split(".")[0].replace("gsignal", "raise") for _, name in frames]
            if "seen_in_handler" not in names:
                continue
            # After the handler comes the return trampoline.
            handler, _, *outer = names[names.index("seen_in_handler") + 1:] + ["", ""]
            if handler != "tick":  # from within the C library
                outer = [name for name in outer if name in ("raise", "handler", "main")]
            said, chains = " ".join(outer), INTERRUPTED.get(handler, [])
            if not any(said.startswith(chain) for chain in chains):
                wrong.append(f"{size} bytes of a handler were allocated by {' '.join(names)}")
            checked += 1
    return checked


def compare_events(second, events, ordered):
    """Equal but for the start. Without the order of threads: as often each, and on each address in the same order."""
    if ordered:
        missed = len(second) - len(events)
        if not 0 <= missed <= START_WINDOW or second[missed:] != events:
            pairs = zip(second[max(missed, 0):], events)
            first = next((f"{i}: {a} / {b}" for i, (a, b) in enumerate(pairs) if a != b), "none")
            wrong.append(f"{len(second)} events happened, {len(events)} are in the log; first that differs: {first}")
        return
    before = collections.Counter(second[:START_WINDOW])
    missing = collections.Counter(second) - collections.Counter(events)
    extra = collections.Counter(events) - collections.Counter(second)
    if extra or missing - before:
        wrong.append(f"in the log alone: {list(extra.items())[:5]}; missing in it: {list((missing - before).items())[:5]}")
    by_block = [collections.defaultdict(list), collections.defaultdict(list)]
    for streams, all_events in zip(by_block, (second, events)):
        for event in all_events:
            streams[event.block].append(event)
    for block, stream in by_block[1].items():
        if by_block[0][block][-len(stream):] != stream:
            wrong.append(f"the events of {block:#x} are in another order")


def check_stats(stats, events, cut):
    wanted = {
        "allocations": sum(event.kind == "M" for event in events),
        "total_bytes": sum(event.size for event in events if event.kind == "M"),
        "lost_events": 0, "cut_stacks_by_reason": cut, "stackless_allocations": 0, "allocations_of_live_addresses": 0,
        "order_gaps": 0, "order_breaks": 0, "ended": True, "findings_count": 0,
    }
    for name, value in wanted.items():
        if stats.get(name) != value:
            wrong.append(f"stats: {name} is {stats.get(name)}, not {value} {stats['findings'][:2]}")
    counters = stats["counters"]
    if not counters.get("verified", 0) or counters.get("verify_differs", 1):
        wrong.append(f"stats: of {counters.get('verified')} stacks taken twice {counters.get('verify_differs')} differ")


def main():
    args = argparse.ArgumentParser()
    args.add_argument("run", help="RUN.dump, RUN.json, RUN.stacks, RUN.events")
    args.add_argument("--stacks", action="store_true", help="backtrace() told stacks")
    args.add_argument("--events", action="store_true", help="the second recorder ran below memlog")
    args.add_argument("--handlers", action="store_true", help="some of the stacks are of signal handlers")
    args.add_argument("--five", action="store_true", help="only the names of the line of 2015 are recorded")
    args.add_argument("--tables", choices=["all", "half", "half-stated", "none"], default="all",
                      help="of the C library: with half of them stacks may end in its functions, with none backtrace() ends there;"
                      " where tables state that nobody unwinds a function it leaves that out")
    args.add_argument("--too-deep", type=int, default=0, help="so many stacks are deeper than this recorder keeps")
    args.add_argument("--threads", action="store_true", help="the order between threads is not to be compared")
    args = args.parse_args()
    events, stacks = logged(f"{args.run}.dump", args.five)
    if args.events:
        compare_events(second_told(f"{args.run}.events"), events, not args.threads)
        print(f"events {len(events)}")
    if args.stacks:
        checked = check_handlers(stacks)
        told = compare_stacks(f"{args.run}.stacks", stacks, args.tables)
        # What compares nothing has found nothing wrong.
        if not told:
            wrong.append("backtrace() told no stack")
        if args.handlers and not checked:
            wrong.append("no allocation of a handler is in the log")
        print(f"stacks {told}" + (f" handlers {checked}" if checked else ""))
    cut = {"too deep": args.too_deep}
    if args.tables.startswith("half"):
        # A stack that does not end where the program begins is said to be cut.
        ends = [frames[-1][1] for all_frames in stacks.values() for frames in all_frames]
        cut["no unwind tables"] = sum(end not in BEGINNINGS for end in ends)
    cut = {reason: count for reason, count in cut.items() if count}
    check_stats(json.load(open(f"{args.run}.json")), events, cut)
    for reason in wrong[:8]:
        print(f"    {reason}")
    if len(wrong) > 8:
        print(f"    and {len(wrong) - 8} more")
    sys.exit(bool(wrong))


main()
