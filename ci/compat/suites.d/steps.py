"""Programs that are only run: each step's exit status and what it says, without numbers where those differ from run to run."""

import hashlib
import re

from run import Suite


def told(text, without=None):
    """What is compared of an output: short ones as they are."""
    text = re.sub(without, "", text, flags=re.M) if without else text
    return text if len(text) <= 200 else f"{len(text)} {hashlib.sha256(text.encode(errors='surrogateescape')).hexdigest()}"


def steps(*argvs, files=None, without=None, feed="", makes=(), environment=None):
    """A suite's work: FILES are written first, MAKES are what the programs must leave."""
    def performed(run):
        for name, text in (files or {}).items():
            path = run.place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        results = {}
        for number, argv in enumerate(argvs):
            code, out, err = run.call(argv, feed=feed, environment=environment)
            if code:
                run.fail(f"{' '.join(map(str, argv))[:100]}: exit {code}: {(err or out)[-300:]}")
            results[f"{number} {argv[0]}"] = f"exit {code}: {told(out, without)}"
        for name in makes:
            path = run.place / name
            results[name] = "made" if path.exists() and path.stat().st_size else "missing"
        return results
    return performed


def program(name, packages, *argvs, version=(), needs=None, images=None, kills=False, **more):
    """A suite of steps, whose first program must be there and leave a log."""
    return Suite(name, packages, steps(*argvs, **more), files=(needs or argvs[0][0],), images=images or {}, kills=kills, version=tuple(version))
