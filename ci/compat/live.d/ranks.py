"""An MPI program of four ranks, `steps.f90`, which says at its end what each rank kept."""

import re
import signal
import subprocess
import tempfile
from pathlib import Path

import memlog
import servers
from memlog import Beside, all_whole, asked, expect, log_of, marks, run, switches, whole
from remote import gathering, same_bytes
from screen import Screen

ROOT = Path(__file__).resolve().parents[3]
RANKS = 4


class Job:
    """A job of one MPI that runs."""

    def __init__(self, mpi, recorder):
        self.folder = Path(tempfile.mkdtemp(prefix="live-"))
        self.logs = self.folder / "logs"
        self.logs.mkdir()
        build(mpi, self.folder)
        # What does without a network and the rights to look into other processes.
        plain = "--oversubscribe --bind-to none --mca btl self,vader --mca btl_vader_single_copy_mechanism none".split()
        start = {"openmpi": ["mpirun.openmpi", "-np", str(RANKS), *plain], "mpich": ["mpiexec.mpich", "-n", str(RANKS)]}[mpi]
        options = [memlog.COMMAND, "record", "-o", f"{self.logs}/"]
        self.said = open(self.folder / "said", "w+", encoding="utf-8", errors="replace")
        # Not Slurm's or another launcher's, if this is a job already.
        around = {name: value for name, value in servers.environment().items() if not re.match("SLURM_|PMI|OMPI_|PBS_", name)}
        self.process = subprocess.Popen([*(options if recorder == "around" else []), *start, *(options if recorder == "each" else []), "./steps"],
                                        cwd=self.folder, env={**around, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
                                        stdin=subprocess.DEVNULL, stdout=self.said, stderr=self.said)

    def pids(self):
        """Of the ranks, in their order."""
        found = {}
        for place in Path("/proc").glob("[0-9]*"):
            try:
                if (place / "exe").readlink() == self.folder / "steps":
                    variables = dict(one.partition("=")[::2] for one in (place / "environ").read_bytes().decode(errors="replace").split("\0"))
                    rank = variables.get("OMPI_COMM_WORLD_RANK") or variables.get("PMI_RANK")
                    found[int(rank)] = int(place.name)
            except (OSError, TypeError):
                continue
        return len(found) == RANKS and [found[rank] for rank in range(RANKS)]

    def started(self):
        def all_there():
            expect(self.process.poll() is None, f"the job has ended: {self.printed()}")
            return self.pids()
        servers.until("the first steps", (self.folder / "begun").exists)
        return servers.until("four ranks", all_there)

    def printed(self):
        self.said.seek(0)
        return self.said.read()

    def ends(self):
        """How many tables of how many bytes each rank has kept, as it says itself."""
        (self.folder / "end").touch()
        code = self.process.wait(2 * servers.LONGEST_SECONDS)
        found = re.findall(r"^rank (\d) kept (\d+) tables of (\d+) bytes", self.printed(), re.M)
        expect(code == 0 and len(found) == RANKS, f"the job ends with {code}: {self.printed()[-800:]}")
        return [(int(count), int(size)) for _, count, size in found]

    def __enter__(self):
        return self

    def __exit__(self, *failed):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
        memlog.clear(self.folder, failed[0])


def build(mpi, folder):
    compilers = {"openmpi": ("mpicc.openmpi", "mpif90.openmpi"), "mpich": ("mpicc.mpich", "mpif90.mpich")}[mpi]
    include = ROOT / "include"
    for line in ([compilers[0], "-O2", "-c", include / "memlog_fortran.c", f"-I{include}"],
                 [compilers[1], "-O2", "-g", "-o", "steps", include / "memlog.f90", Path(__file__).with_name("steps.f90"), "memlog_fortran.o"]):
        made = subprocess.run(list(map(str, line)), cwd=folder, capture_output=True, text=True, check=False)
        expect(made.returncode == 0, f"{line[0]}: {made.stderr[-500:]}")


def tables(log, moment="end"):
    """Tables that are live then, and bytes of all."""
    table = asked("table", log, "--at", moment, "--where", 'function ~ "keep$"')
    return table["blocks"], table["bytes"]


def by_rank(logs):
    """Logs of ranks, in their order, with their figures; others are of what a rank or the launcher starts."""
    every = all_whole(logs)
    found = {int(stats["rank"]): log for log, stats in every.items() if stats["rank"] is not None and stats["rank_parent_pid"] is None}
    expect(sorted(found) == list(range(RANKS)), f"logs are of ranks {sorted(found)}")
    return [(found[rank], every[found[rank]]) for rank in range(RANKS)]


def all_answer(whom, *words, says):
    """Of a launcher and what it started the ranks alone answer: they allocate."""
    done = subprocess.run([memlog.COMMAND, "ctl", "--wait", "5s", *map(str, whom), *words], capture_output=True, text=True, check=False)
    answers = re.findall(rf"\(steps\): .*{says}", done.stdout)
    expect(len(answers) == RANKS, f"not all ranks answer {says!r} to {words}: {done.stdout} {done.stderr}")


def switched(mpi, _):
    """All ranks at once: by the folder of their logs, or by the launcher and what it has started."""
    with Job(mpi, "around" if mpi == "mpich" else "each") as job:
        pids = job.started()
        for pid in pids:
            log_of(pid)
        whom = ("-r", job_of(job)) if mpi == "mpich" else (job.logs,)
        all_answer(whom, "stop", says="recording is off")
        all_answer(whom, "start", says="recording is on")
        all_answer(whom, "mark", "window", says="marked")
        servers.until("ten steps more", lambda: tables(log_of(pids[0]))[0] > 10)
        all_answer(whom, "stop", says="recording is off")
        kept = job.ends()
        lines = []
        for rank, (log, stats) in enumerate(by_rank(job.logs)):
            switches(stats, "ctl", False, True, False)
            names = marks(log)
            last = len(names) - 1 - names[::-1].index("recording on")
            steps = sum(name.startswith("step ") for name in names[last:])
            blocks, size = tables(log)
            # A table that came, and was not marked yet when it was switched; or the other way round.
            expect(abs(blocks - steps) <= 1 and size == blocks * kept[rank][1], f"rank {rank}: {blocks} tables of {size} bytes, {steps} steps marked, {kept[rank]} kept")
            expect("window" in names, f"rank {rank} has no mark: {names[-5:]}")
            lines.append(blocks)
        form = "ctl -r of the launcher" if mpi == "mpich" else "ctl FOLDER"
        return f"{form}: stop, start, mark, stop on {RANKS} ranks: windows of {lines} tables, as many as the program's own marks, of {kept[0][1]:,} to {kept[3][1]:,} bytes"


def job_of(job):
    """The launcher: what memlog record has started."""
    return servers.children(job.process.pid)[0]


def watched(mpi, _):
    """top of the folder, follow of one rank, and all logs on another machine, while the job runs."""
    with Job(mpi, "each") as job:
        pids = job.started()
        logs = [log_of(pid) for pid in pids]
        gather, address = gathering(job)
        with gather, Beside("stream", job.logs, address) as sender, Beside("follow", "--every", "1s", "--top", "3", "-o", job.folder / "top.txt", logs[2]) as follow, \
                Screen("top", "-d", "0.3", job.logs) as screen:
            text = screen.shows(lambda text: all(str(pid) in text for pid in pids))
            expect(text.count("steps") >= RANKS, f"a rank has no line: {text}")
            there = [job.folder / "gathered" / log.name for log in logs]
            servers.until("all ranks are gathered", lambda: all(log.exists() for log in there))
            servers.until("they grow there", lambda: all(tables(log)[0] > 20 for log in there))
            screen.press("q")
            screen.ends()
            kept = job.ends()
            follow.ends()
            servers.until("all is there", lambda: sender.said().count(" is there: ") >= len(list(job.logs.glob("*.memlog"))))
            sender.ends(signal.SIGTERM)
            gather.ends(signal.SIGINT)
        for rank, (log, _) in enumerate(by_rank(job.logs)):
            same_bytes(job.folder / "gathered" / log.name, log)
            count, size = kept[rank]
            expect(tables(log) == (count, count * size), f"rank {rank}: {tables(log)}, the program kept {kept[rank]}")
            # By the marks of the program itself.
            half = count // 2
            at_half = tables(log, f'mark "step {half}"')
            expect(at_half == (half, half * size), f"rank {rank} at step {half}: {at_half}")
        expect("keep" in (job.folder / "top.txt").read_text(), "follow --top has no stack of keep")
        return f"top FOLDER, follow, stream FOLDER: {[count for count, _ in kept]} tables by the program and by memlog, half of them at its mark of half; {RANKS} logs are the same to the byte"


def one_attached(mpi, _):
    """Only this rank is recorded, from the middle."""
    with Job(mpi, "no") as job:
        pids = job.started()
        log = job.logs / "two.memlog"
        run("attach", pids[2], "-o", log)
        servers.until("twenty steps", lambda: tables(log)[0] >= 20)
        run("detach", pids[2])
        blocks, size = tables(log)
        kept = job.ends()
        rank = whole(log)["rank"]
        expect(rank == "2" and size == blocks * kept[2][1] and 20 <= blocks <= kept[2][0], f"{blocks} tables of {size} bytes, {kept[2]} kept by rank {rank}")
        return f"attach and detach of rank {rank} of {RANKS}: {blocks} tables of {kept[2][1]:,} bytes, {size:,} in all; all ranks went on, to {kept[0][0]} steps"


ROWS, ONLY = [], {}
OTHERS = [(mpi, row, shows) for mpi in ("openmpi", "mpich") for row, shows in (("switched", switched), ("watched", watched), ("attached", one_attached))]
