"""Runs a program with memlog and without, and says what is wrong with its log."""
import bisect
import collections
import json
import os
import re
import subprocess
import sys

from build import ROOT, Failed, run

CHECK = ROOT / "ppc64-cross/check_program.py"
FRAME = re.compile(r"\((.*)\+0x[0-9a-f]+\) \[0x[0-9a-f]+ \(0x([0-9a-f]+)\)\]$")
# seen.h allocates sizes that nobody else does.
FIRST_SIZE, SIZE_STEP = 1000003, 16
OUTERMOST = {"main", "work", "at_end", "MAIN__"}


def launch(command, into, environment=(), loader=()):
    """Runs a program: its code. What it says is in INTO.out, what it tells of its stacks and events beside it."""
    words = ["sh", "-c", 'exec 3>"$1.stacks" 4>"$1.events" >"$1.out"; shift; exec env "$@"', "sh", str(into), *environment,
             *[str(word) for word in (*loader, *command)]]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=1000)
    except subprocess.TimeoutExpired as hangs:
        raise Failed("it hangs") from hangs
    if b"memlog" in done.stderr:
        raise Failed(f"it says {done.stderr[:200]}")
    return done.returncode


def recorded(memlog, program, into, plain, preload="", environment=(), loader=()):
    """Runs a program with memlog; it must do what it did without, PLAIN and its code."""
    log = into.with_name(into.name + ".log")
    log.unlink(missing_ok=True)
    settings = [*environment, "MEMLOG_VERIFY=1", f"MEMLOG_OUTPUT={log}", *([f"LD_PRELOAD={preload}"] if preload else [])]
    code = launch([program], into, settings, loader)
    if code != plain[1]:
        raise Failed(f"with memlog it ends with {code}, not {plain[1]}")
    if said(into) != said(plain[0]):
        raise Failed("with memlog it says something else")
    if not log.exists():
        raise Failed("it left no log")
    for kind, command in ("dump", ["dump"]), ("json", ["stats", "--json"]):
        into.with_name(f"{into.name}.{kind}").write_text(run([memlog, *command, log], f"memlog {kind}"))


def said(of):
    return of.with_name(of.name + ".out").read_bytes()


def told(into, *how):
    """By what the C library and the second recorder told."""
    return run([sys.executable, CHECK, into, *how], "the log is wrong")


def objects(into, *how):
    """A log that is bent a little is found wrong, or what passes proves nothing."""
    bends = {"dump": lambda lines: lines[:len(lines) // 2] + lines[len(lines) // 2 + 1:], "events": lambda lines: lines + ["M 77 77\n"],
             "stacks": lambda lines: [lines[0].rstrip("\n") + "7\n", *lines[1:]],
             "json": lambda lines: [line.replace('"lost_events": 0', '"lost_events": 1') for line in lines]}
    bent = into.with_name("bent")
    for bent_kind, bend in bends.items():
        for kind in bends:
            lines = into.with_name(f"{into.name}.{kind}").read_text().splitlines(True)
            bent.with_name(f"bent.{kind}").write_text("".join(bend(lines) if kind == bent_kind else lines))
        try:
            told(bent, *how)
        except Failed:
            continue
        raise Failed(f"a log whose {bent_kind} is bent passes")


def stats(into):
    return json.loads(into.with_name(into.name + ".json").read_text())


def allocations(into):
    """Size and frames of each allocation: the function and the offset."""
    for line in into.with_name(into.name + ".dump").open():
        if line.startswith("M: "):
            frames = (FRAME.search(frame) for frame in line.rstrip("\n").split("\t")[2:])
            yield int(line.split()[1]), [(frame[1].split(".")[0], frame[2]) for frame in frames if frame]


def seen(into):
    """The stacks of seen.h's allocations, by size."""
    found = collections.defaultdict(list)
    for size, frames in allocations(into):
        if size >= FIRST_SIZE and (size - FIRST_SIZE) % SIZE_STEP == 0:
            found[size].append(frames)
    return found


def names_there(into):
    """Each of those stacks begins in a function that the program is known to begin with."""
    stacks = [frames for all_of in seen(into).values() for frames in all_of]
    without = [frames for frames in stacks if not OUTERMOST & {name for name, _ in frames}]
    if not stacks or without:
        raise Failed(f"{len(without)} of {len(stacks)} stacks have no name of where they begin: {without[:1]}")


def symbols(program):
    """Begins and names of a program's functions, in order."""
    lines = (line.split() for line in run(["nm", "-n", "--defined-only", program], "nm").splitlines())
    return [(int(words[0], 16), words[2].split(".")[0]) for words in lines if words[1] in "tTwWiV"]


def named(frames, functions):
    """Names of frames; those that memlog does not know, of a program that was stripped, by what it was before."""
    starts = [start for start, _ in functions]
    return [name if name != "?" else functions[bisect.bisect_right(starts, int(offset, 16)) - 1][1] for name, offset in frames]


def as_its_twin(into, twin, whole_stacks, unstripped):
    """The stacks are those of the same program with tables, or their inner part, and said to be cut."""
    ours, theirs = seen(into), seen(twin)
    if not theirs or set(ours) != set(theirs):
        raise Failed(f"{len(ours)} sizes, its twin has {len(theirs)}")
    short, functions = 0, symbols(unstripped)
    for size, (frames,) in ours.items():
        got, wanted = named(frames, functions), named(theirs[size][0], ())
        if got != wanted[:len(got)] or not got:
            raise Failed(f"the stack of {size} bytes is {got[:12]}, its twin's {wanted[:12]}")
        short += len(got) < len(wanted)
    figures = stats(into)
    cut = figures["cut_stacks_by_reason"]
    if short > sum(cut.values()) or short and whole_stacks:
        raise Failed(f"{short} stacks of {len(ours)} end before their twins', {cut} are said to be cut")
    whole(figures)
    return f"stacks {len(ours)}, of which {short} are cut"


# What a program that leaves by a system call of its own may leave of threads amid their first event, or amid their next chunk.
AMID = re.compile(r"stream \d+ has (no chunk: the program was killed|filled chunk)|\d+ streams from number \d+ on have no chunk: the program was killed")


def whole(figures, ends=True):
    """Nothing is lost, and nothing differs between the two ways to walk. Without ENDS the program leaves by a system call of its own."""
    if not ends:
        figures["findings_count"] -= sum(bool(AMID.match(finding)) for finding in figures["findings"])
    for name in "lost_events", "order_breaks", "order_gaps", "findings_count", "allocations_of_live_addresses":
        if figures[name]:
            raise Failed(f"stats: {name} is {figures[name]} {figures['findings'][:2]}")
    if ends and not figures["ended"] or figures["counters"]["verify_differs"] or not figures["counters"]["verified"]:
        raise Failed(f"stats: ended {figures['ended']}, verify_differs {figures['counters']['verify_differs']}")
