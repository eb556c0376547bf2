"""Compiles and links the programs of a row: plain, with memlog, and with memlog over the second recorder."""
import subprocess
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CROSS = ROOT / "ppc64-cross/programs"
OWN = ROOT / "ci/compat/toolchains.d/programs"
SOURCES = {
    "threads": (CROSS / "threads.c",), "deep": (CROSS / "deep.c",), "family": (CROSS / "family.c", CROSS / "across.c"),
    "throw": (CROSS / "throw.cpp",), "host": (OWN / "host.c",), "fortran": (CROSS / "seen_once.c", CROSS / "fortran.f90"),
}
PLUGINS = {"plugin_a": 100, "plugin_b": 700}
# The five names of the line of 2015.
FIVE = ("malloc", "free", "realloc", "calloc", "memalign")
MORE = ("reallocarray", "posix_memalign", "aligned_alloc", "valloc", "pvalloc")
# builtin functions would be the compiler's own business, not the allocator's.
COMMON = ("-O1", "-g", "-Wall", "-fno-builtin", "-fasynchronous-unwind-tables", f"-I{CROSS}")


class Failed(Exception):
    """What is wrong with memlog in a row."""


class Skipped(Exception):
    """What is missing here for a row."""


def run(command, why, error=Failed, **more):
    """The output of a command that must do."""
    command = [str(word) for word in command]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          timeout=3000, **more)
    if done.returncode:
        said = [line for line in done.stdout.splitlines() if line.strip()]
        told = [line for line in said if any(word in line for word in ("error", "undefined", "cannot")) and "collect2" not in line]
        told = told or said[-3:] or ["it says nothing"]
        raise error(f"{why}: {' / '.join(told[:2])[:300]} (code {done.returncode})")
    return done.stdout


def strip_program(how, program):
    """By a command, or of its section headers: those are zeroed in the ELF header, as sstrip does."""
    if how != ("no section headers",):
        run([*how, program], "the program cannot be stripped", Skipped)
        return
    table_at, count_at = 0x28, 0x3c
    with program.open("r+b") as file:
        for at, length in (table_at, 8), (count_at, 4):
            file.seek(at)
            file.write(bytes(length))


class Recorders:
    """The recorder in a folder, and a second one that it is held against: ppc64-cross/programs/second.c."""

    def __init__(self, memlog, folder, target=()):
        """TARGET: flags that compile and link for another C library."""
        self.lib, self.second = folder / "recorder", folder / "second"
        self.second.mkdir(parents=True, exist_ok=True)
        run([memlog, "artefacts", self.lib], "the recorder cannot be written")
        self.dynamic = run([memlog, "ldflags", "--dynamic", "--lib", self.lib], "ldflags").split()
        self.over_dynamic = self.dynamic + ["-Wl,--no-as-needed", f"-L{self.second}", "-lsecond", f"-Wl,-rpath,{self.second}"]
        self.static = [f"@{self.lib}/memlog_s_ld_cmds"]
        self.preload = f"{self.lib}/libmemlog.so:{self.second}/libsecond.so"
        compiler = ["gcc", "-O1", "-g", "-fasynchronous-unwind-tables", *target, CROSS / "second.c"]
        run([*compiler, "-shared", "-fPIC", "-DSECOND_SHARED", "-o", self.second / "libsecond.so", "-ldl"], "the second recorder")
        run([*compiler, "-fPIC", "-c", "-o", self.second / "static.o"], "the second recorder")
        run([*compiler, "-fPIC", "-DSECOND_FIVE", "-c", "-o", self.second / "2015.o"], "the second recorder")
        line = (self.lib / "memlog_s_ld_cmds").read_text()
        archive = self._over_second("memlog_s.a", [*FIVE, *(name for name in MORE if f"--wrap,{name} " in line)])
        (self.second / "static.cmds").write_text(line.replace(f"{self.lib}/memlog_s.a", str(archive)))
        self.over_static = [f"@{self.second}/static.cmds", str(self.second / "static.o")]
        five = "-Wl," + ",".join(f"--wrap,{name}" for name in FIVE)
        self.of_2015 = [five, str(self.lib / "memlog_s.o"), "-lpthread"]
        self.over_2015 = [five, str(self._over_second("memlog_s.o", FIVE)), str(self.second / "2015.o"), "-lpthread"]

    def _over_second(self, of, names):
        """A copy that calls second_malloc where it called __real_malloc."""
        (self.second / "names").write_text("".join(f"__real_{name} second_{name}\n" for name in names))
        run(["objcopy", f"--redefine-syms={self.second}/names", self.lib / of, self.second / of], "the second recorder")
        return self.second / of

    def flags(self, shape, kind):
        """What memlog adds to a link line: nothing to a plain one."""
        if kind == "plain" or shape == "preloaded":
            return []
        if shape == "linked":
            return self.over_dynamic if kind == "second" else self.dynamic
        if shape == "2015":
            return self.over_2015 if kind == "second" else self.of_2015
        return self.over_static if kind == "second" else self.static


class Builder:
    """Objects are made once for all rows that want the same."""

    def __init__(self, folder, recorders):
        self.folder, self.recorders = folder, recorders
        self.made, self.lock = {}, threading.Lock()

    @staticmethod
    def driver(compiler, program):
        """The command that links a program."""
        if program == "fortran":
            return "gfortran"
        return {"gcc": "g++", "clang": "clang++"}[compiler] if program == "throw" else compiler

    def objects(self, row, program, flags):
        return [self.object(row.compiler, source, flags) for source in SOURCES[program]]

    def object(self, compiler, source, flags, define=""):
        key = (compiler, source, flags, define)
        with self.lock:
            if key not in self.made:
                self.made[key] = [threading.Lock(), None, len(self.made)]
            one = self.made[key]
        with one[0]:
            if one[1] is None:
                one[1] = self.folder / f"{one[2]}-{source.name}{define}.o"
                self.compile(compiler, source, flags, define, one[1])
        return one[1]

    @staticmethod
    def compile(compiler, source, flags, define, to):
        if source.suffix == ".cpp":
            command = [{"gcc": "g++", "clang": "clang++"}[compiler], "-std=c++17"]
        elif source.suffix == ".f90":
            command = ["gfortran", "-J", to.parent]
        else:
            command = [compiler]
            flags = tuple(flag for flag in flags if not flag.startswith("-stdlib"))
        common = [flag for flag in COMMON if source.suffix != ".f90" or flag not in ("-fno-builtin",)]
        position = [] if "-fno-pie" in flags else ["-fPIC"]
        run([*command, *common, *position, *flags, *([f"-DSIZE={define}"] if define else []), "-c", source, "-o", to],
            f"{source.name} does not compile", Skipped)

    def link(self, row, program, kind, into, twin=False, strip=True):
        """Links one program of a row; a twin has the same code, and nothing of the variant."""
        variant = row.variant
        compiled, linked, after = (self.twin_flags(variant), (), ()) if twin else (variant.compile, variant.link, variant.after)
        shape = {"static": ["-static"], "2015": ["-static"], "static-pie": ["-static-pie"]}.get(row.shape, [])
        command = [self.driver(row.compiler, program), f"-fuse-ld={row.linker}", *shape, "-pthread", *linked,
                   *self.objects(row, program, compiled), "-o", into, *self.recorders.flags(row.shape, kind), "-ldl"]
        # What does not link by itself is not for memlog to mend.
        error, what = (Skipped, "the plain program does not link") if kind == "plain" else (Failed, "with memlog the program does not link")
        run(command, what, error)
        if program == "host":
            for name, size in PLUGINS.items():
                shared = self.object(row.compiler, OWN / "plugin.cpp", tuple(flag for flag in compiled if flag != "-fno-pie"), size)
                run([self.driver(row.compiler, "throw"), f"-fuse-ld={row.linker}", "-shared", *[flag for flag in linked if flag != "-no-pie"],
                     shared, "-o", into.parent / f"{name}.so"], "the plugin does not link", error)
        if after and strip:
            strip_program(after, into)

    @staticmethod
    def twin_flags(variant):
        return tuple(flag for flag in variant.compile if flag not in ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables"))
