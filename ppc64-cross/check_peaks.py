#!/usr/bin/env python3
# What: compares what a log says was live at the RSS peak with what the program said of itself without memlog (victims/peaks.c).
# Why:  memlog's own pages, and an allocator that gives memory back differently, must not move the moment.
# Run:  ppc64-cross/check_peaks.py MEMLOG LOG SAID [KB]     prints what is wrong, nothing if all is right; KB: so much of memlog's own memory may be untouched
import json
import subprocess
import sys

memlog, log, said, *untouched_kb = sys.argv[1:]
truth = dict(word.split("=", 1) for word in said.split())
peak_kb, live = int(truth["peak_kb"]), int(truth["live_bytes"])
stats = json.loads(subprocess.run([memlog, "stats", "--json", log], stdout=subprocess.PIPE, check=True).stdout)
own_kb = stats["own_rss_bytes"] // 1024
found_kb = stats["rss_peak_bytes"] // 1024 - own_kb
# 1 %, what the kernel counts late, and of memlog's own tables a tenth that may not have been touched.
untouched = int(untouched_kb[0]) if untouched_kb else own_kb // 10
if abs(found_kb - peak_kb) > peak_kb // 100 + 512 + untouched:
    print(f"{found_kb} kB resident for {peak_kb}, own {own_kb}")
# A static program's C library has a block of its own, of some 1,800 bytes.
if abs(stats["rss_peak_live_bytes"] - live) > live // 1000 + 2048:
    print(f"{stats['rss_peak_live_bytes']} bytes live for {live}")
if stats["lost_events"]:
    print(f"{stats['lost_events']} events lost")
