"""Whole programs under each recorder: CPU, wall, peak RSS, and what the log weighs."""
import math
import os
import random
from dataclasses import dataclass, field

from . import house
from .pairs import counted
from .table import complete, share

PYTHON = """
import json
for turn in range({turns}):
    rows = [dict(id=i, name='n%d' % (i * 7919 % 65537), tags=[str(j) for j in range(i % 7)], at=dict(x=i / 3, y=None))
            for i in range(20000)]
    again = json.loads(json.dumps(rows))
    names = {{}}
    for row in again:
        names.setdefault(row['name'][:3], []).append((row['id'], ''.join(row['tags'])))
print(len(names))
"""
SQL = """CREATE TABLE t(id INTEGER PRIMARY KEY, word TEXT, number REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
INSERT INTO t SELECT i, printf('%x-%d', i * 7919 % 65537, i), i * 0.5 FROM n;
CREATE INDEX by_word ON t(word);
SELECT count(*) FROM (SELECT substr(word, 1, 2) AS head, group_concat(id) FROM t GROUP BY head);
UPDATE t SET word = upper(word) || hex(id) WHERE id % 3 = 0;
DELETE FROM t WHERE id % 5 = 0;
SELECT length(json_group_array(json_object('id', id, 'word', word))) FROM t;
"""
INCLUDES, MORE_INCLUDES = ("algorithm", "functional", "map", "string", "vector"), ("iostream", "regex", "unordered_map")
CXX = """
struct K{n} {{ int a; std::string b; bool operator<(const K{n} &o) const {{ return b < o.b; }} }};
int work{n}(std::vector<K{n}> v) {{
    std::map<K{n}, std::vector<std::string>> m;
    std::sort(v.begin(), v.end());
    for (auto &k : v) m[k].push_back(k.b + "{n}");
    std::function<int(int)> f = [&](int i) {{ return i ? f(i - 1) + {n} : 0; }};
    return f(m.size());
}}
"""
REGEX = 'bool match(std::string s) { return std::regex_match(s, std::regex("[a-z]*1")); }\n'
WANTED = {"cc1plus": (.32, .22)}
MEAN_WANTED, WORST_WANTED = (.26, .18), (.40, .25)
# The budget of memory: 12 MiB, 200 KiB a thread, 32 bytes a node of the tree of stacks.
BUDGET, BUDGET_THREAD, BUDGET_NODE = 12 << 10, 200, 32 / 1024


@dataclass
class Program:
    command: list
    env: dict = field(default_factory=dict)
    stdin: str = os.devnull


class Missing(Exception):
    pass


def need(program, package):
    found = house.find(program)
    if not found:
        raise Missing(f"{program} is not installed (as root: apt-get install {package})")
    return found


def write(name, parts):
    path = os.path.join(house.WORK, name)
    with open(path, "w") as file:
        file.writelines(parts)
    return path


def python(small):
    script = write("work.py", [PYTHON.format(turns=1 if small else 3)])
    return Program([need("python3", "python3"), script], {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"})


def cc1plus(small):
    driver = need("g++", "g++")
    compiler = house.call(driver, "-print-prog-name=cc1plus").strip()
    lines = [f"#include <{name}>\n" for name in INCLUDES + (() if small else MORE_INCLUDES)]
    lines += [CXX.format(n=n) for n in range(1 if small else 4)] + ([] if small else [REGEX])
    source = write("big.cpp", lines)
    text = os.path.join(house.WORK, "big.ii")
    house.call(driver, "-O2", "-E", source, "-o", text)
    return Program([compiler, "-quiet", "-O2", "-fpreprocessed", text, "-o", os.devnull])


def sqlite3(small):
    program = need("sqlite3", "sqlite3")
    return Program([program, ":memory:"], stdin=write("work.sql", [SQL.format(rows=30000 if small else 120000)]))


def jq(small):
    program = need("jq", "jq")
    row = '{{"id":{n},"name":"name {name}","tags":["a{tag}","b"],"at":{{"x":{x}.5,"y":null}}}}'
    rows = (row.format(n=n, name=n * 7919 % 65537, tag=n % 100, x=n % 1000) for n in range(30000 if small else 140000))
    wanted = "group_by(.tags[0]) | map({tag: .[0].tags[0], names: map(.name) | unique | length}) | length"
    return Program([program, wanted, write("big.json", ["[", ",\n".join(rows), "]"])])


def xmllint(small):
    program = need("xmllint", "libxml2-utils")
    rows = (f'<row id="{n}" kind="k{n % 37}"><name>name {n * 7919 % 65537}</name><at x="{n % 1000}"/><!-- {n} --></row>\n'
            for n in range(15000 if small else 50000))
    return Program([program, "--noout", write("big.xml", ["<table>", *rows, "</table>"])])


def dot(small):
    program = need("dot", "graphviz")
    chance = random.Random(300)
    edges = (f"n{chance.randrange(node)} -> n{node};\n" for _ in range(1 if small else 2) for node in range(1, 300))
    return Program([program, "-Tplain", "-o", os.devnull, write("big.dot", ["digraph g {\n", *edges, "}\n"])])


def variety(small):
    return Program([house.PAIRS, "VARIETY", "1", "300000"])


PROGRAMS = {"python": python, "cc1plus": cc1plus, "sqlite3": sqlite3, "jq": jq, "xmllint": xmllint, "dot": dot,
            "variety": variety}


def one(findings, name, program, plan):
    """One line; returns memlog's share of heaptrack's extra CPU time."""
    modes = ["native", "memlog"] + (["heaptrack"] if house.heaptrack() else [])
    runs = {mode: [] for mode in modes}
    for repetition in range(plan.program_repetitions + (name in ("xmllint", "dot")) * 4):
        for mode in modes:
            run = house.run(mode, program.command, program.env, program.stdin)
            if mode == "memlog" and not repetition:
                stats, log_bytes = house.stats(run.log), run.log_bytes
                complete(findings, name, stats)
            runs[mode].append(run)
    cpu, wall, rss = ({m: house.median([getattr(r, what) for r in runs[m]]) for m in modes}
                      for what in ("cpu", "wall", "rss"))
    events = stats["allocations"] + stats["releases"]
    extra = rss["memlog"] - rss["native"]
    line = f"{name:<8} {events / 1e6:>6.2f} {log_bytes / events:>6.1f}  "
    line += " ".join(f"{cpu[m]:>7.3f}" for m in modes) + "  " + " ".join(f"{wall[m]:>7.3f}" for m in modes)
    line += "  " + " ".join(f"{(rss[m] - rss['native']) / 1024:>6.1f}" for m in modes[1:])
    line += "  " + " ".join(f"{1e6 * (cpu[m] - cpu['native']) / events:>6.3f}" for m in modes[1:])
    ratio = float("nan")
    if len(modes) == 3:
        ratio, (low, high) = share(*([r.cpu for r in runs[m]] for m in modes))
        findings.figure(f"{name}, extra CPU, share of heaptrack's", ratio, *WANTED.get(name, ()))
        line += f"  {ratio:.2f} ({low:.2f}-{high:.2f})"
        line += "  must {} goal {}".format(*WANTED[name]) if name in WANTED else ""
    print(line, flush=True)
    if name == "variety":
        nodes = counted("VARIETY", 1, 300000)["nodes"]
        budget = BUDGET + BUDGET_THREAD + BUDGET_NODE * nodes
        print(f"         {nodes} nodes: the budget of memory is {budget / 1024:.1f} MiB, {extra / 1024:.1f} are used")
        findings.figure("variety, extra RSS / the budget", extra / budget, 1)
    return ratio


def measure(findings, plan):
    print("\nwhole programs, medians: CPU and wall seconds, extra peak RSS in MiB, CPU microseconds added an event")
    print("                  B an          CPU                     wall                  RSS        added")
    print("program  M ev   event   native  memlog heaptr   native  memlog heaptr  memlog heaptr  memlog heap  share of CPU")
    shares = {}
    for name, prepare in PROGRAMS.items():
        try:
            shares[name] = one(findings, name, prepare(plan.small), plan)
        except Missing as reason:
            findings.skip(f"{name}: {reason}")
    # What noise made free or less has no logarithm, and is worth no more than this.
    known = [max(s, .001) for s in shares.values() if s == s]
    if not known:
        return
    mean = math.exp(sum(map(math.log, known)) / len(known))
    print(f"geometric mean over {len(known)} of {len(PROGRAMS)}: {mean:.3f}")
    findings.figure(f"programs ({len(known)} of 7), mean share", mean, *MEAN_WANTED)
    worst = max((s, name) for name, s in shares.items() if s == s)
    print(f"the worst: {worst[1]}, {worst[0]:.3f}")
    findings.figure(f"programs, the worst ({worst[1]})", worst[0], *WORST_WANTED)
