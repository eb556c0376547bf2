"""Programs of other languages: Rust, D, Nim, Go with cgo, Fortran.

Each makes blocks of sizes that nobody else asks for, by functions whose names are known: `between` calls `innermost`.
Those must be in the log, as often as the source says, with that chain of names out to where the program or its thread
begins; all other events are held against the second recorder.
"""
import re
import shutil
import subprocess
from dataclasses import dataclass

import judge
from build import COMMON, CROSS, OWN, Failed, Skipped, run

# Who asks for them: the functions from the innermost outwards, and how often.
SIZES = {70_001: (["innermost", "between", "by_main"], 30), 70_003: (["innermost", "between", "by_thread"], 60),
         70_005: (["innermost", "between", "thrower"], 20)}
IN_RUST = {**SIZES, 70_005: (["innermost", "unwound"], 5)}
IN_NIM = {size: asked for size, asked in SIZES.items() if size != 70_003}
# Of C, called from a goroutine, where Go's own stack begins.
IN_GO = {70_001: (["innermost", "between", "by_main"], 30), 70_003: (["innermost", "between", "by_routine"], 60),
         70_005: (["innermost", "between", "by_callback"], 5)}


@dataclass(frozen=True)
class Row:
    language: str
    shape: str
    # The compiler and flags of its own.
    command: tuple
    source: str
    sizes: tuple
    # Whether a stack may end, cut, where the language's own stacks begin.
    may_be_cut: bool = False
    linker: str = ""

    @property
    def name(self):
        return " ".join(word for word in (self.language, self.linker, self.shape) if word)


def rows(long):
    found = []
    for linker in ("", "lld", "mold", "gold") if long else ("", "lld"):
        chosen = ("-C", f"link-arg=-fuse-ld={linker}") if linker else ()
        for shape in "preloaded", "linked", "static", "static-pie":
            found.append(Row("rust", shape, ("rustc", "-g", "-O", *chosen), "rust.rs", tuple(IN_RUST), linker=linker))
    for shape in "preloaded", "linked", "static":
        found.append(Row("fortran", shape, ("gfortran", "-g", "-O2"), "fortran", ()))
    for shape in "preloaded", "linked":
        found.append(Row("gdc", shape, ("gdc", "-g", "-O1"), "program.d", tuple(SIZES)))
        found.append(Row("ldc", shape, ("ldc2", "-g", "-O1"), "program.d", tuple(SIZES)))
        found.append(Row("nim", shape, ("nim", "c", "-d:release", "--debugger:native", "--hints:off", "-d:useMalloc"), "program.nim", tuple(IN_NIM)))
        found.append(Row("go", shape, ("go", "build"), "program.go", tuple(IN_GO), True))
    found.append(Row("nim", "static", ("nim", "c", "-d:release", "--debugger:native", "--hints:off", "-d:useMalloc"), "program.nim", tuple(IN_NIM)))
    found.append(Row("go", "static", ("go", "build"), "program.go", tuple(IN_GO), True))
    return found


def tables_of(row):
    return {"rust": IN_RUST, "nim": IN_NIM, "go": IN_GO}.get(row.language, SIZES)


class Languages:
    """Rows of these."""

    def __init__(self, memlog, recorders):
        self.memlog, self.recorders = memlog, recorders

    def row(self, row, place):
        place.mkdir(parents=True)
        if not shutil.which(row.command[0]):
            raise Skipped(f"there is no {row.command[0]} here")
        program, over, into = place / "plain", place / "over", place / "run"
        self.build(row, program, [], "plain", Skipped)
        plain = place / "without", judge.launch([program], place / "without")
        if plain[1] < 0:
            raise Skipped(f"without memlog it ends with {plain[1]}")
        preload = self.recorders.preload if row.shape == "preloaded" else ""
        if preload:
            over = program
        else:
            self.build(row, place / "with", self.recorders.flags(row.shape, "memlog"), "memlog", Failed)
            judge.recorded(self.memlog, place / "with", place / "with", plain)
            self.chains(row, place / "with")
            self.build(row, over, self.recorders.flags(row.shape, "second"), "second", Failed)
        judge.recorded(self.memlog, over, into, plain, preload)
        return self.judged(row, into)

    def judged(self, row, into):
        if row.language == "fortran":
            judge.names_there(into)
            return " ".join(judge.told(into, "--stacks", "--events").split())
        chains = self.chains(row, into)
        if row.language == "rust" and row.shape == "linked":
            judge.whole(judge.stats(into))
            return chains
        cut = judge.stats(into)["cut_stacks_by_reason"]
        return f"{chains}, {self.events(into, row.language != 'go')}" + (f", cut {cut}" if cut else "")

    @staticmethod
    def events(into, ends):
        """As often each as the second recorder told, but for the start."""
        figures, told = judge.stats(into), into.with_name(into.name + ".events").read_text().split("\n")
        made = [line.split() for line in told if line.startswith("M ")]
        missed = len(made) - figures["allocations"]
        bytes_missed = sum(int(words[1]) for words in made) - figures["total_bytes"]
        if not 0 <= missed <= 64 or not 0 <= bytes_missed <= 1 << 20:
            raise Failed(f"{len(made)} allocations happened, {figures['allocations']} are in the log, {bytes_missed} bytes apart")
        judge.whole(figures, ends)
        return f"allocations {figures['allocations']}"

    @staticmethod
    def chains(row, into):
        """The blocks of known sizes, with the names of those who asked."""
        wanted, found = tables_of(row), {size: 0 for size in row.sizes}
        cut = sum(judge.stats(into)["cut_stacks_by_reason"].values())
        for size, frames in judge.allocations(into):
            if size not in found:
                continue
            names = [re.sub(r"^.*::|^_cgo_\w+_Cfunc_", "", name) for name, _ in frames]
            at = [next((index for index, name in enumerate(names) if function in name), -1) for function in wanted[size][0]]
            if -1 in at or at != sorted(at):
                raise Failed(f"the stack of {size} bytes is {names[:14]}")
            ends = {"_start", "clone3", "clone", "__clone3", "__clone"}
            if names[-1] not in ends and not (row.may_be_cut and cut):
                raise Failed(f"the stack of {size} bytes ends in {names[-3:]}")
            found[size] += 1
        wrong = {size: count for size, count in found.items() if count != wanted[size][1]}
        if wrong:
            raise Failed(f"of sizes asked for there are {wrong}")
        if cut and not row.may_be_cut:
            raise Failed(f"stacks are cut: {judge.stats(into)['cut_stacks_by_reason']}")
        return f"chains {sum(found.values())}"

    def build(self, row, into, added, kind, error):
        source = OWN / row.source
        how = getattr(self, f"build_{row.language}")
        command, more = how(row, source, into, [str(word) for word in added], kind)
        run(command, f"{kind} {row.source} does not build", error, **more)

    def build_rust(self, row, source, into, added, kind):
        if row.shape == "linked" and kind != "plain":
            # It must stand before libc, where rustc puts no link argument. Behind it a second recorder is not asked for by name.
            added = ["-L", self.recorders.lib, "-l", "dylib=memlog", "-C", f"link-arg=-Wl,-rpath,{self.recorders.lib}"]
        else:
            added = [word for flag in added for word in ("-C", f"link-arg={flag}")]
        model = {"static": "static", "static-pie": "pie"}.get(row.shape)
        static = ["-C", "target-feature=+crt-static", "-C", f"relocation-model={model}"] if model else []
        if model and added and row.linker == "gold":
            # It looks at an archive once, and rustc's libc stands before ours.
            added += ["-C", "link-arg=-lc"]
        return [*row.command, source, *static, *added, "-o", into], {}

    def build_fortran(self, row, _, into, added, kind):
        once = into.with_name(f"{into.name}-once.o")
        run(["gcc", *COMMON, "-c", CROSS / "seen_once.c", "-o", once], "seen_once.c", Skipped)
        static = ["-static"] if row.shape == "static" else []
        return [*row.command, "-J", into.parent, CROSS / "fortran.f90", once, *static, "-o", into, *added, "-ldl"], {}

    def build_gdc(self, row, source, into, added, kind):
        return [*row.command, source, "-o", into, *added], {}

    def build_ldc(self, row, source, into, added, kind):
        return [*row.command, source, f"-of={into}", f"-od={into.parent}", *[f"-Xcc={flag}" for flag in added]], {}

    def build_nim(self, row, source, into, added, kind):
        flags = " ".join([*(["-static"] if row.shape == "static" else []), *added])
        return [*row.command, f"--nimcache:{into}.cache", *([f"--passL:{flags}"] if flags else []), f"--out:{into}", source], {}

    def build_go(self, row, source, into, added, kind):
        static = ["-static"] if row.shape == "static" else []
        flags = f"-linkmode external -extldflags '{' '.join([*static, *added])}'"
        home = into.with_name("go-home")
        environment = {**judge.os.environ, "GOCACHE": str(home / "cache"), "GOPATH": str(home), "GO111MODULE": "off", "CGO_ENABLED": "1",
                       "CGO_CFLAGS": "-O1 -g", "CGO_LDFLAGS_ALLOW": ".*"}
        return [*row.command, "-ldflags", flags, "-o", into, source], {"env": environment}
