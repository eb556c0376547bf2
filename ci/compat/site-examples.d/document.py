"""Runs the commands of doc/examples/README.md and compares what they print.

Run by ci/compat/site-examples: document.py MEMLOG FOLDER. A line `$ COMMAND` is run by
a shell, in a folder with the examples; those with mpi in them once for each MPI.
What stands below it must be printed: the program's own lines as they are, those
of `memlog summary` that name a place of the example by bytes, blocks and place,
for shares depend on the MPI.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DOCUMENT = ROOT / "doc/examples/README.md"
PLACE = re.compile(r"([\d.,]+ (?:bytes|[KMGT]iB) +[\d,]+x  \S.* \[(?:heat|halo|ring)\.\w+:\d+\])$")


def blocks():
    """Lists of commands, each with the lines below it."""
    for block in re.findall(r"^```\n(.*?)^```$", DOCUMENT.read_text(), re.M | re.S):
        commands = []
        for line in block.splitlines():
            if line.startswith("$ "):
                commands.append((line[2:], []))
            elif commands:
                commands[-1][1].append(line)
        if commands:
            yield commands


def essence(line):
    place = PLACE.search(line)
    return " ".join(place[1].split()) if place else line


def is_compared(line):
    return bool(PLACE.search(line)) or " heat in " in line or line.startswith("heat ") or "sum of all tables" in line


def play(commands, place, memlog, mpi):
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(ROOT / "doc/examples", place)
    tools = place / "bin"
    tools.mkdir()
    (tools / "memlog").symlink_to(memlog)
    for name in ("mpicc", "mpif90", "mpiexec"):
        # No link: MPICH's launcher looks for its helpers beside itself.
        (tools / name).write_text(f'#!/bin/sh\nexec {name}.{mpi} "$@"\n')
        (tools / name).chmod(0o755)
    environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl": "self,vader",
                                "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
    compared = 0
    for command, below in commands:
        done = subprocess.run(command, shell=True, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=1000)
        if done.returncode:
            sys.exit(f"{DOCUMENT.name}, {mpi}: {command} ended with {done.returncode}: {done.stderr[-500:]}")
        there = {essence(line) for line in done.stdout.splitlines()}
        for line in filter(is_compared, below):
            compared += 1
            if essence(line) not in there:
                sys.exit(f"{DOCUMENT.name}, {mpi}: {command} does not print: {line}\nbut:\n{done.stdout}")
    return compared


def main(memlog, folder):
    runs, lines = 0, 0
    for number, commands in enumerate(blocks()):
        is_parallel = any("mpi" in command for command, _ in commands)
        for mpi in ("openmpi", "mpich") if is_parallel else ("mpich",):
            compared = play(commands, Path(folder, f"document{number}.{mpi}"), memlog, mpi)
            if compared == 0:
                sys.exit(f"{DOCUMENT.name}: nothing that {commands[0][0]} and the next print was compared")
            runs, lines = runs + 1, lines + compared
    if runs < 5:
        sys.exit(f"{DOCUMENT.name}: only {runs} of the examples were found")
    print(f"{DOCUMENT.name}: {runs} examples ran, {lines} lines are as written")


main(*sys.argv[1:])
