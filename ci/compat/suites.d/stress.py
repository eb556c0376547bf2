"""stress-ng: its stressors of memory, processes and threads, by count and with their own checks."""

import re

from run import Suite

# A stressor with its count and its further options.
MEMORY = """malloc 10000 --malloc-bytes 2m | mmap 10 --mmap-bytes 4m | mremap 60 --mremap-bytes 4m | brk 20000
    bigheap 200 --bigheap-growth 64k | stack 200 | vm 2000 --vm-bytes 8m | memfd 30 --memfd-bytes 4m
    madvise 20 | mlock 5000 | tree 5 --tree-size 20000 | hsearch 40 | lsearch 4 --lsearch-size 4096 | tsearch 4
    qsort 4 --qsort-size 65536 | list 20 | skiplist 20 | str 2000 | wcs 2000 | memcpy 100 | shm 100 --shm-bytes 1m
    mmapfork 1 | mmapaddr 5000 | mmapmany 20 | vm-segv 200 | bsearch 20
    malloc 10000 --malloc-pthreads 3 --malloc-bytes 2m """
PROCESS = """fork 3000 | vfork 3000 | clone 200 | exec 300 | spawn 500 | daemon 500 | kill 5000 | sigsegv 3000 | zombie 1000
    wait 1000 | vforkmany 60 | exit-group 300 | sigabrt 500 | sigfpe 500 | sigchld 1000 | sigq 2000
    sigsuspend 500 | sigtrap 500 | nanosleep 200 | pidfd 500 | procfs 20 | prctl 20 | resources 20 | env 50 | pipe 5000"""
THREAD = """pthread 3000 | mutex 20000 | futex 5000 | sem 2000 | switch 20000 | tlb-shootdown 50 | membarrier 40
    fault 500 | seal 500 | poll 2000 | sem-sysv 5000 | mq 5000 | lockbus 40 | msg 5000 | eventfd 5000 | context 2000
    schedpolicy 40 | set 500 | get 50 | rseq 200 | sigrt 2000 | timer 500 | yield 400 | affinity 500"""
QUICK = "malloc 2000 --malloc-bytes 1m | mremap 20 --mremap-bytes 2m | fork 300 | exec 20 | spawn 30 | pthread 300 | mutex 2000"


# It asks for 16 TB of /tmp: for a moment the disk is full, with every log on it. So does
# forkheavy, which ends at such a limit before its first fork, and is not among them.
LIMITED = {"resources": ["prlimit", "--fsize=1073741824"]}


def plans(text):
    return [words.split() for words in re.split(r"[|\n]", text) if words.strip()]


def work(text):
    def performed(run):
        results = {}
        for number, (stressor, count, *options) in enumerate(plans(text)):
            name = f"{number} {stressor}"
            code, out, err = run.call([*LIMITED.get(stressor, []), "stress-ng", f"--{stressor}", "1", f"--{stressor}-ops", count, *options, "--verify",
                                       "--no-rand-seed", "--timeout", "600s", "--metrics", "--temp-path", run.place])
            said = out + err
            if "unrecognized option" in said:
                run.leave_out(name, f"stress-ng knows no {stressor}")
                continue
            if re.search(r"skipping the stressor|No stress workers|skipped: 1", said):
                run.leave_out(name, "stress-ng skips it here")
                continue
            if code:
                run.leave_out(name, f"stress-ng exits {code} without memlog: {complaint(said)}")
            told = re.findall(r"(passed|failed|skipped|metrics untrustworthy): (\d+)(?:: (.*))?", said)
            results[name] = f"exit {code} {told} {complaint(said)}".strip()
            # Some do a few more than they were asked for.
            done = re.findall(rf"\] {stressor}\s+(\d+)\s", said)
            is_enough = bool(done) and int(done[-1]) >= int(count)
            results[f"{name}, operations"] = "enough" if is_enough else str(done)
            if not is_enough and not code:
                run.leave_out(f"{name}, operations", f"{count} of them take too long without memlog: {done}")
        return results
    return performed


def complaint(said):
    lines = [re.sub(r"\d+", "N", line) for line in said.splitlines() if re.search(r"\b(fail|error):", line)]
    return " ".join(sorted(set(lines)))[:300]


SUITES = [
    Suite("stress.quick", "suites", work(QUICK), is_short=True, images={"stress-ng": 7}, kills=True),
    Suite("stress.memory", "suites", work(MEMORY), images={"stress-ng": 25}, kills=True),
    Suite("stress.process", "suites", work(PROCESS), images={"stress-ng": 20}, kills=True),
    Suite("stress.thread", "suites", work(THREAD), images={"stress-ng": 20}, kills=True),
]
