"""What was found, and what was wanted: printed, kept for --json, judged at the end."""
import json

from . import house


class Findings:
    """Figures with their limits; a figure without `must` is only told."""

    def __init__(self):
        self.figures, self.wrong, self.skipped = [], [], []

    def figure(self, name, value, must=None, goal=None):
        self.figures.append({"name": name, "value": value, "must": must, "goal": goal})

    def problem(self, text):
        """The log is not complete, or the ruler is not straight: no figure counts then."""
        if text not in self.wrong:
            self.wrong.append(text)
            print(f"  WRONG: {text}", flush=True)

    def skip(self, text):
        self.skipped.append(text)
        print(f"SKIPPED {text}", flush=True)

    def missed(self):
        return [f for f in self.figures if f["must"] is not None and f["value"] > f["must"]]

    def conclude(self):
        print("\nwhat was wanted                              found     must     goal")
        for figure in self.figures:
            must, goal = figure["must"], figure["goal"]
            if must is None:
                continue
            reached = "met" if goal is None or figure["value"] <= goal else "must met"
            verdict = "MISSED" if figure["value"] > must else reached
            print(f"{figure['name']:<42} {figure['value']:>7.3g}  {must:>7g}  {'' if goal is None else goal:>7}  {verdict}")
        for text in self.wrong:
            print(f"WRONG: {text}")
        judged = sum(f["must"] is not None for f in self.figures)
        print(f"{judged - len(self.missed())} of {judged} met, {len(self.skipped)} skipped, {len(self.wrong)} wrong")

    def keep(self, path, heading):
        with open(path, "w") as file:
            json.dump({"heading": heading, "figures": self.figures, "skipped": self.skipped, "wrong": self.wrong},
                      file, indent=1)


def share(native, memlog, heaptrack):
    """memlog's added cost over heaptrack's: of the medians, and the quartiles over the repetitions."""
    added = house.median(memlog) - house.median(native)
    theirs = house.median(heaptrack) - house.median(native)
    base = house.median(native)
    each = [(m - base) / (h - base) for m, h in zip(memlog, heaptrack) if h > base]
    return added / theirs if theirs > 0 else float("nan"), house.quartiles(each) if each else (float("nan"),) * 2


def complete(findings, name, stats):
    """A log that lacks something was cheaper to write."""
    for key in ("lost_events", "cut_stacks", "stackless_allocations"):
        if stats[key]:
            findings.problem(f"{name}: {key} {stats[key]}: {stats['cut_stacks_by_reason'] or ''}")
