"""Sums numpy arrays over the ranks by mpi4py; each rank also starts a compiler, whose processes are the rank's children."""
import subprocess
import sys

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
kept = [{"rank": world.rank, "square": number * number} for number in range(50_000)]
part = numpy.full(2_000_000, world.rank + 1.0)
whole = numpy.empty_like(part)
world.Allreduce(part, whole, MPI.SUM)
source = "int main(void) { return %d; }\n" % world.rank
compiled = subprocess.run(["gcc", "-x", "c", "-c", "-o", f"rank{world.rank}.o", "-"], input=source.encode())
codes = world.gather((compiled.returncode, len(kept), float(whole.sum())))
if world.rank == 0:
    print(codes)
sys.exit(compiled.returncode)
