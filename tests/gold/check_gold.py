#!/usr/bin/env python3
"""Checks files of the second recorder (layout: gold.h) and prints what they hold.

    check_gold.py [--killed] [--quiet] FILE...

For each file: every slot is filled (--killed: at most one a thread is not), the numbers are in order, and
on each heap address allocations and releases alternate. A forked child's releases of inherited blocks must
be of blocks that were live in its parent's file at the cut. The exit status is 1 if anything is not so.
"""
import argparse
import collections
import mmap
import os
import struct
import sys

HEADER = struct.Struct("=8sQQQIIQI")
RECORD = struct.Struct("=QIHBBQQQQ")
ALLOC, RELEASE, UNDO, MAPPING = 1, 2, 4, 16
KINDS = {1: "malloc", 2: "calloc", 3: "realloc", 4: "reallocarray", 5: "free", 6: "cfree", 7: "posix_memalign",
         8: "aligned_alloc", 9: "memalign", 10: "valloc", 11: "pvalloc", 12: "free_sized",
         13: "free_aligned_sized", 32: "mmap", 33: "mmap64", 34: "munmap", 35: "mremap"}


class Gold:
    """One file, replayed up to `cut` (None: to its end)."""

    def __init__(self, path, cut=None):
        with open(path, "rb") as f:
            if os.fstat(f.fileno()).st_size < 4096:
                raise SystemExit(f"{path}: expected a header of 4096 bytes, found {os.fstat(f.fileno()).st_size} in all")
            view = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
        (magic, reserved, self.lost, self.nested, self.pid, self.parent_pid, self.parent_cut,
         self.bad_usable) = HEADER.unpack_from(view)
        if magic != b"GOLD0001":
            raise SystemExit(f"{path}: expected the magic GOLD0001, found {magic!r}")
        text = lambda at, room: view[at:at + room].split(b"\0")[0].decode(errors="replace")
        self.exe, self.parent_file = text(64, 448), text(512, 3584)
        self.problems, self.live, self.size = [], {}, {}
        self.by_kind, self.tids = collections.Counter(), set()
        self.allocations = self.releases = self.undone = self.maps = self.unmaps = 0
        self.total_bytes = self.live_bytes = self.peak_bytes = self.unfinished = self.inherited = 0
        self.inherits = None
        if self.parent_pid and cut is None:
            try:
                parent = Gold(self.parent_file, self.parent_cut)
                while parent.parent_pid:  # a block may come from further up
                    up = Gold(parent.parent_file, parent.parent_cut)
                    parent.live = {**up.live, **parent.live}
                    parent.parent_pid, parent.parent_file, parent.parent_cut = up.parent_pid, up.parent_file, up.parent_cut
                self.inherits = parent.live
            except FileNotFoundError:
                self.problems.append(f"the parent's file {self.parent_file} is missing")
        used = min(reserved, (len(view) - 4096) // RECORD.size)
        if cut is not None:
            used = min(used, cut)
        self.replay(memoryview(view)[4096:4096 + used * RECORD.size])
        if self.lost:
            self.problems.append(f"{self.lost} events did not fit")
        if self.nested:
            self.problems.append(f"{self.nested} nested calls were not counted")
        if self.bad_usable:
            self.problems.append("the self-test of usable sizes failed")

    def replay(self, records):
        live, gone = self.live, {}
        for i, (seq, tid, kind, flags, valid, addr, size, usable, _) in enumerate(RECORD.iter_unpack(records)):
            if not valid:
                self.unfinished += 1
                continue
            if seq != i:
                self.problems.append(f"record {i} has the number {seq}")
            self.tids.add(tid)
            if flags & MAPPING:
                step = 1 if not flags & UNDO else -1
                if flags & ALLOC:
                    self.maps += 1
                else:
                    self.unmaps += step
                self.by_kind[kind] += flags & UNDO == 0
            elif flags & ALLOC:
                if addr in live:
                    self.problems.append(f"record {i}: {KINDS[kind]} returned {addr:#x}, which is live")
                if usable < size:
                    self.problems.append(f"record {i}: {usable} bytes are usable of {size}")
                live[addr] = size
                self.allocations += 1
                self.by_kind[kind] += 1
                self.total_bytes += size
                self.live_bytes += size
                self.peak_bytes = max(self.peak_bytes, self.live_bytes)
            elif flags & RELEASE:
                self.releases += 1
                self.by_kind[kind] += kind in (5, 6, 12, 13)
                owner = live if addr in live else self.inherits or {}
                if addr not in owner:
                    self.problems.append(f"record {i}: release of {addr:#x}, which is not live")
                    continue
                size = owner.pop(addr)
                if owner is live:
                    self.live_bytes -= size
                else:
                    self.inherited += 1
                if kind in (3, 4):
                    gone[tid] = addr, size, owner
            elif flags & UNDO:
                self.releases -= 1
                self.undone += 1
                old, size, owner = gone.pop(tid, (None, 0, live))
                if old != addr or addr in live:
                    self.problems.append(f"record {i}: undo of {addr:#x} without a release")
                    continue
                owner[addr] = size
                if owner is live:
                    self.live_bytes += size
                else:
                    self.inherited -= 1


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("files", nargs="+")
    args.add_argument("--killed", action="store_true", help="a slot a thread may be unfinished")
    args.add_argument("--quiet", action="store_true", help="print only what is wrong")
    args = args.parse_args()
    bad = 0
    for path in args.files:
        gold = Gold(path)
        if gold.unfinished > (len(gold.tids) if args.killed else 0):
            gold.problems.append(f"{gold.unfinished} slots were never finished")
        if not args.quiet:
            of = f" forked from {gold.parent_pid} at {gold.parent_cut}" if gold.parent_pid else ""
            print(f"{path}: {os.path.basename(gold.exe)} pid {gold.pid}{of}")
            print(f"  allocations={gold.allocations} releases={gold.releases} mappings={gold.maps} unmappings={gold.unmaps}"
                  f" undone={gold.undone} inherited_releases={gold.inherited} unfinished={gold.unfinished}")
            print(f"  threads={len(gold.tids)} total_bytes={gold.total_bytes} heap_peak_bytes={gold.peak_bytes}"
                  f" end_live_bytes={gold.live_bytes} end_live_blocks={len(gold.live)}")
            print("  " + " ".join(f"{KINDS[k]}={n}" for k, n in sorted(gold.by_kind.items()) if n))
        for problem in gold.problems[:20]:
            print(f"  WRONG: {problem}")
        if len(gold.problems) > 20:
            print(f"  WRONG: and {len(gold.problems) - 20} more")
        bad += len(gold.problems)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
