"""Reads every log that a suite left: each opens, and nothing is missing from it."""

import json
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

HEADING = f"{'logs':>5} {'events':>10} {'lost':>5} {'cut':>6}"
READERS = 2
LONGEST_SECONDS = 3000


@dataclass
class Read:
    """What the logs of a suite came to."""

    logs: int = 0
    events: int = 0
    lost: int = 0
    cut: int = 0
    unwritten: int = 0
    images: Counter = field(default_factory=Counter)
    wrong: list = field(default_factory=list)
    notes: list = field(default_factory=list)

    def line(self):
        return f"{self.logs:5} {self.events:10} {self.lost:5} {self.cut:6}"

    def add(self, other):
        for name in ("logs", "events", "lost", "cut", "unwritten"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def read_all(memlog, folder, images, kills):
    """`images`: logs that there must be at least, by the executable's name; `kills`: some may be empty."""
    total = Read()
    paths = sorted(folder.glob("*.memlog")) if folder.is_dir() else []
    if not paths:
        total.wrong.append("there is no log")
    findings, reasons = Counter(), Counter()
    with ThreadPoolExecutor(READERS) as readers:
        for path, (stats, wrong) in zip(paths, readers.map(lambda path: read(memlog, path), paths)):
            if stats is None and is_unwritten(path):
                total.unwritten += 1
                continue
            total.wrong += [f"{path.name}: {line}" for line in wrong]
            if stats is None:
                continue
            total.logs += 1
            total.events += stats["allocations"] + stats["releases"]
            total.lost += stats["lost_events"]
            total.cut += stats["cut_stacks"]
            total.images[Path(stats["executable"] or "?").name] += 1
            reasons.update(stats["cut_stacks_by_reason"])
            findings.update(f"{''.join('N' if c.isdigit() else c for c in finding)}" for finding in stats["findings"])
            total.wrong += [f"{path.name}, {stats['executable']}: {line}" for line in nonsense(stats)]
    if total.unwritten and not kills:
        total.wrong.append(f"{total.unwritten} logs have nothing in them")
    for name, least in images.items():
        if total.images[name] < least:
            total.wrong.append(f"{total.images[name]} logs of {name}, expected {least} or more")
    if reasons:
        total.notes.append("stacks cut: " + ", ".join(f"{reason} {count}" for reason, count in reasons.items()))
    total.notes += [f"finding in {count} logs: {finding[:200]}" for finding, count in findings.items()]
    return total


def is_unwritten(path):
    """Whether its process was killed between the log's making and its first byte."""
    with open(path, "rb") as file:
        return file.read(4) in (b"", b"\0\0\0\0")


def read(memlog, path):
    """The figures of one log, and what is wrong with reading it."""
    stats, wrong = None, []
    for command in (["info"], ["stats", "--json"]):
        try:
            done = subprocess.run([memlog, *command, path], stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            wrong.append(f"memlog {command[0]} takes more than {LONGEST_SECONDS} s")
            continue
        if done.returncode:
            wrong.append(f"memlog {command[0]}: exit {done.returncode}: {done.stderr.decode(errors='replace')[:200]}")
        elif command[0] == "info":
            said = done.stdout.decode(errors="replace").splitlines()
            # What is said of each counter of losses, with the reason.
            wrong += [line.strip() for line in said if "events are missing: " in line]
        else:
            stats = json.loads(done.stdout)
    return stats, wrong


def nonsense(stats):
    """What a whole log does not say."""
    wanted = ["allocations_of_live_addresses", "order_breaks", "lost_events"]
    wrong = [f"{name} {stats[name]}" for name in wanted if stats[name] != 0]
    if stats["unknown_releases"]["twice"]:
        wrong.append(f"{stats['unknown_releases']['twice']} releases of what was released")
    if stats["end_live_bytes"] > stats["heap_peak_bytes"]:
        wrong.append("more live at the end than at the peak")
    return wrong
