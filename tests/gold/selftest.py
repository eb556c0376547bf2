#!/usr/bin/env python3
"""Runs the victims under libgold.so alone and checks that the witness and the victims' own words agree.

    selftest.py [OUT]      OUT: a folder for what is built and recorded (default: a temporary one)

Each victim must end as it should, each file must pass check_gold.py, @total and @events counts must be exact,
and heap peak and end must be the sums of the @site annotations (victims/victim.h): to the byte where the program
allocates nothing else, else with at most RUNTIME bytes more for its language's runtime.
"""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from check_gold import Gold

HERE = os.path.dirname(os.path.abspath(__file__))
VICTIMS = os.path.join(HERE, "..", "..", "victims")
RUNTIME = 100_000  # libstdc++'s emergency pool is 72,704
SOURCES = {  # program: (its sources, is nothing but the sites allocated?)
    "sites": ("sites.c", True), "sites_clang": ("sites.c", True), "deep": ("deep.c", True),
    "coroutines": ("coroutines.c", True), "execer": ("execer.c", True),
    "rust_staticlib": ("rust_staticlib/main.c rust_staticlib/lib.rs", True),
    "sites_cpp": ("sites.cpp", False), "sites_cpp_clang": ("sites.cpp", False), "only_new": ("only_new.cpp", False),
    "sites_f90": ("sites.f90", False), "sites_rs": ("sites.rs", False),
}
SHAPES = ("ramp spike two_peaks untouched untouched_held exec exec_child late_touch thread small mapped between"
          " calloc_lazy realloc_grow staircase").split()
COMMANDS = [*SOURCES, "api", "api 1000", "churn 300000", "churn 100000 8", "crossfree 50000", "dlopen_plugin", "deep 50000", "forker",
            "qsort_cb", "realloc_race 20000", "siglongjmp", "signals", "threads8 50000", "throw", "vforker",
            *(f"rss_shapes {shape}" for shape in SHAPES)]


def site_sums(sources):
    text = "".join(open(os.path.join(VICTIMS, source)).read() for source in sources.split())
    sites = re.findall(r"@site \S+ peak=(\d+)/(\d+) end=(\d+)/(\d+)", text)
    total = re.search(r"@total allocations=(\d+) releases=(\d+)", text)
    return [sum(int(site[i]) for site in sites) for i in (0, 2)], total and [int(n) for n in total.groups()]


def wrong_numbers(command, printed, golds):
    """Sentences, one for each number of the victim's that the witness did not see."""
    program, first = command.split()[0], golds[0]
    expected = dict(re.findall(r"(\w+)=(\d+)", printed))
    if program == "api":
        seen = {"allocations": first.allocations, "releases": first.releases, "mappings": first.maps,
                "unmappings": first.unmaps, "undone": first.undone, "end_live_bytes": first.live_bytes}
        return [f"{k}: printed {expected[k]}, recorded {seen[k]}" for k in seen if int(expected[k]) != seen[k]]
    if program == "rss_shapes":
        seen = {"heap_peak_bytes": golds[-1].peak_bytes, "end_live_bytes": golds[-1].live_bytes}
        slack = 2000 if "thread" in command else 0  # what pthread_create allocates
        return [f"{k}: printed {expected[k]}, recorded {seen[k]}" for k in seen
                if not 0 <= seen[k] - int(expected[k]) <= slack]
    wrong = []
    if program in SOURCES:
        sources, alone = SOURCES[program]
        (peak, end), total = site_sums(sources)
        for gold in golds:
            for name, site, seen in ("peak", peak, gold.peak_bytes), ("end", end, gold.live_bytes):
                if not 0 <= seen - site <= (0 if alone else RUNTIME):
                    wrong.append(f"{name}: the sites say {site} bytes, recorded {seen}")
            if total and total != [gold.allocations, gold.releases]:
                wrong.append(f"@total says {total}, recorded {[gold.allocations, gold.releases]}")
    return wrong


def environment(out, library, files):
    return dict(os.environ, LD_PRELOAD=os.path.join(out, library), GOLD_OUT=files)


def run(command, out):
    where = os.path.join(out, "run_" + command.replace(" ", "_"))
    os.makedirs(where)
    env = environment(out, "libgold.so", os.path.join(where, "gold"))
    done = subprocess.run(command.split(), executable=os.path.join(out, command.split()[0]), env=env, stdout=subprocess.PIPE, text=True)
    paths = sorted(glob.glob(os.path.join(where, "gold.*")), key=os.path.getmtime)
    golds = [Gold(path) for path in paths]
    wrong = [f"{os.path.basename(path)}: {problem}" for path, gold in zip(paths, golds) for problem in gold.problems[:5]]
    wrong += [f"{path}: {gold.unfinished} unfinished" for path, gold in zip(paths, golds) if gold.unfinished]
    if done.returncode:
        wrong.append(f"exit status {done.returncode}")
    wrong += wrong_numbers(command, done.stdout, golds)
    report(command, golds, wrong)
    shutil.rmtree(where)
    return wrong


def run_killed(out, times=10):
    """SIGKILL at some moment: all but the event under way must be there."""
    wrong, golds = [], []
    for i in range(times):
        where = os.path.join(out, f"killed_{i}")
        env = environment(out, "libgold.so", where)
        victim = subprocess.Popen(["churn", "0", "4"], executable=os.path.join(out, "churn"), env=env)
        time.sleep(0.02 + 0.007 * i)
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        gold = Gold(f"{where}.{victim.pid}")
        golds.append(gold)
        if gold.unfinished > 4 or gold.problems or not gold.allocations:
            wrong.append(f"killed run {i}: {gold.unfinished} unfinished, {gold.problems[:3]}")
        os.remove(f"{where}.{victim.pid}")
    report(f"churn 0 4, killed {times} times", golds, wrong)
    return wrong


def run_wrong(out):
    """A witness with the common fault (realloc's release noted after the call) must be found wrong."""
    for _ in range(5):  # it takes two threads in the same instant
        where = os.path.join(out, "wrong")
        race = subprocess.Popen(["realloc_race", "20000"], executable=os.path.join(out, "realloc_race"),
                                env=environment(out, "libgold_wrong.so", where))
        race.wait()
        gold = Gold(f"{where}.{race.pid}")
        os.remove(f"{where}.{race.pid}")
        if gold.problems:
            break
    wrong = [] if gold.problems else ["a seeded fault was not seen"]
    report(f"realloc_race 20000 with a wrong recorder, {len(gold.problems)} faults seen", [gold], wrong)
    return wrong


def report(command, golds, wrong):
    events = sum(gold.allocations + gold.releases for gold in golds)
    print(f"{'WRONG' if wrong else 'ok':5} {command}: {len(golds)} files, {events} events, "
          f"{sum(gold.inherited for gold in golds)} releases of inherited blocks", flush=True)
    for sentence in wrong[:10]:
        print(f"      {sentence}")


def main():
    out = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="gold.")
    subprocess.run(["make", "-s", "-C", HERE, f"OUT={out}"], check=True)
    subprocess.run(["make", "-s", "-C", VICTIMS, f"OUT={out}"], check=True)
    present = [command for command in COMMANDS if os.path.exists(os.path.join(out, command.split()[0]))]
    for command in COMMANDS:
        if command not in present:
            print(f"SKIPPED {command}: not built")
    wrong = [sentence for command in present for sentence in run(command, out)]
    wrong += run_killed(out) + run_wrong(out)
    if len(sys.argv) == 1:
        shutil.rmtree(out)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
