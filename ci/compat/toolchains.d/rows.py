"""What is linked with what: the table of ci/compat/toolchains.

A row is one compiler, one linker, one shape and one variant of flags, with the programs that it is tried on. The short
run takes each linker in each shape and each variant at least once; --long takes all that can be.
"""
from dataclasses import dataclass

LINKERS = ("bfd", "gold", "lld", "mold")
SHAPES = ("static", "2015", "static-pie", "linked", "preloaded")
DYNAMIC = ("linked", "preloaded")


@dataclass(frozen=True)
class Variant:
    """Flags, and what they go with."""
    name: str
    compile: tuple = ()
    link: tuple = ()
    compilers: tuple = ("gcc", "clang")
    linkers: tuple = LINKERS
    shapes: tuple = SHAPES
    # What happens to the linked program: see strip_program.
    after: tuple = ()
    # How its stacks are judged: by what the C library tells, or by those of a twin built without the variant.
    judge: str = "told"
    # The short run's rows: compiler, linker, shape.
    short: tuple = ()
    programs: tuple = ()


@dataclass(frozen=True)
class Row:
    compiler: str
    linker: str
    shape: str
    variant: Variant
    programs: tuple

    @property
    def name(self):
        return f"{self.compiler} {self.linker} {self.shape} {self.variant.name}"


# gold does not know --no-dynamic-linker.
CANNOT = {("gold", "static-pie")}
# lld cannot read gcc's intermediate code.
PLUGINS = ("bfd", "gold", "mold")
SECTIONS = ("-ffunction-sections", "-fdata-sections")
NO_TABLES = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-exceptions")

VARIANTS = (
    Variant("plain", short=(
        ("gcc", "bfd", "preloaded"), ("gcc", "bfd", "linked"),
        ("gcc", "gold", "static"), ("clang", "gold", "static"), ("clang", "gold", "linked"), ("clang", "gold", "preloaded"),
        ("clang", "lld", "static"), ("gcc", "lld", "static-pie"), ("clang", "lld", "linked"), ("gcc", "lld", "preloaded"),
        ("gcc", "mold", "static"), ("clang", "mold", "static-pie"), ("gcc", "mold", "linked"), ("clang", "mold", "preloaded"),
        ("gcc", "gold", "2015"), ("clang", "lld", "2015"), ("gcc", "mold", "2015"))),
    Variant("lto", ("-flto",), ("-flto",), ("gcc",), PLUGINS,
            short=(("gcc", "bfd", "static"), ("gcc", "gold", "static"), ("gcc", "mold", "linked"))),
    # lld takes the machine code of such objects, the others the intermediate.
    Variant("lto-fat", ("-flto", "-ffat-lto-objects"), ("-flto",), ("gcc",),
            short=(("gcc", "lld", "static"), ("gcc", "bfd", "static-pie"))),
    Variant("lto-full", ("-flto=full",), ("-flto=full",), ("clang",),
            short=(("clang", "lld", "static"), ("clang", "gold", "linked"))),
    Variant("lto-thin", ("-flto=thin",), ("-flto=thin",), ("clang",),
            short=(("clang", "lld", "static-pie"), ("clang", "lld", "2015"), ("clang", "mold", "static"), ("clang", "bfd", "preloaded"))),
    Variant("no-plt", ("-fno-plt",), (), short=(("gcc", "bfd", "linked"), ("clang", "lld", "preloaded"))),
    Variant("gc-sections", SECTIONS, ("-Wl,--gc-sections",),
            short=(("gcc", "bfd", "static"), ("gcc", "gold", "static"), ("clang", "lld", "static"), ("gcc", "mold", "static"))),
    Variant("icf", SECTIONS, ("-Wl,--icf=all",), linkers=("gold", "lld", "mold"),
            short=(("gcc", "gold", "static"), ("clang", "lld", "linked"))),
    Variant("now", (), ("-Wl,-z,relro,-z,now",), short=(("gcc", "bfd", "linked"),)),
    Variant("as-needed", (), ("-Wl,--as-needed",), shapes=("linked",),
            short=(("gcc", "bfd", "linked"), ("gcc", "gold", "linked"), ("clang", "lld", "linked"), ("gcc", "mold", "linked"))),
    Variant("relr", (), ("-Wl,-z,pack-relative-relocs",), linkers=("bfd",), shapes=("static-pie", *DYNAMIC),
            short=(("gcc", "bfd", "static-pie"), ("gcc", "bfd", "linked"))),
    # Debian's lld and mold do not say so to glibc's loader, which then refuses the program.
    Variant("relr", (), ("-Wl,--pack-dyn-relocs=relr",), linkers=("lld", "mold"), shapes=("static-pie",),
            short=(("clang", "lld", "static-pie"),)),
    Variant("libc++", ("-stdlib=libc++",), ("-stdlib=libc++",), ("clang",), programs=("throw",),
            short=(("clang", "bfd", "preloaded"), ("clang", "lld", "linked"), ("clang", "lld", "static"))),
    Variant("O0", ("-O0",), short=(("gcc", "bfd", "preloaded"),)),
    Variant("O2", ("-O2", "-fomit-frame-pointer"), short=(("clang", "bfd", "static"),)),
    Variant("O3-native", ("-O3", "-march=native"), short=()),
    Variant("frame-pointers", ("-O2", "-fno-omit-frame-pointer"), short=(("gcc", "bfd", "static"),)),
    Variant("no-pie", ("-fno-pie",), ("-no-pie",), shapes=DYNAMIC, short=(("gcc", "bfd", "linked"),)),
    Variant("large-code", ("-mcmodel=large",), (), shapes=("static", "2015", *DYNAMIC)),
    Variant("sysv-hash", (), ("-Wl,--hash-style=sysv",), shapes=DYNAMIC, short=(("gcc", "bfd", "linked"),)),
    Variant("sized-debug", ("-gz", "-gdwarf-4"), (), short=(("gcc", "bfd", "preloaded"),)),
    Variant("split-code", (), ("-Wl,-z,separate-code",), linkers=("bfd", "lld", "mold"), short=()),
    Variant("joined-code", (), ("-Wl,-z,noseparate-code",), linkers=("bfd", "lld", "mold"), short=(("gcc", "bfd", "static"),)),
    Variant("stripped", after=("strip", "-s"), short=(("gcc", "bfd", "static"), ("clang", "lld", "linked"))),
    Variant("no-sections", compilers=("gcc",), shapes=("static", "static-pie", *DYNAMIC), after=("no section headers",),
            short=(("gcc", "bfd", "static"), ("gcc", "bfd", "preloaded"), ("gcc", "mold", "linked"))),
    Variant("no-sections", compilers=("clang",), after=("no section headers",), short=(("clang", "lld", "static-pie"),)),
    # mold and clang ask for a header of the tables unasked; where the line of 2015 does not, nothing leads to them then.
    Variant("no-sections", compilers=("gcc",), linkers=("mold",), shapes=("2015",), after=("no section headers",)),
    Variant("no-sections", compilers=("gcc",), linkers=("bfd", "gold", "lld"), shapes=("2015",), after=("no section headers",), judge="twin", programs=("deep",)),
    Variant("no-tables", NO_TABLES, judge="twin", programs=("deep",),
            short=(("gcc", "bfd", "preloaded"), ("clang", "lld", "static"))),
    Variant("no-tables-O2", ("-O2", "-fomit-frame-pointer", *NO_TABLES), judge="twin", programs=("deep",),
            short=(("gcc", "bfd", "static"), ("clang", "bfd", "linked"))),
    Variant("no-tables-fp", ("-O2", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer", *NO_TABLES), judge="whole twin", programs=("deep",),
            short=(("gcc", "bfd", "preloaded"), ("clang", "lld", "static"), ("clang", "bfd", "linked"))),
    # Neither a header of the tables nor sections to find them by.
    Variant("no-header", (), ("-Wl,--no-eh-frame-hdr",), linkers=("bfd", "gold", "lld"), shapes=DYNAMIC, judge="whole twin", programs=("deep",),
            short=(("gcc", "bfd", "linked"),)),
    Variant("no-header-no-sections", (), ("-Wl,--no-eh-frame-hdr",), linkers=("bfd", "gold", "lld"), shapes=DYNAMIC, judge="twin",
            programs=("deep",), after=("no section headers",), short=(("gcc", "bfd", "preloaded"), ("gcc", "gold", "linked"))),
)


def programs_of(variant, shape, long):
    """C with threads, C++ with exceptions, plugins where there can be any."""
    if variant.programs:
        return variant.programs
    if long:
        return ("threads", "throw", "family", "deep") + (("host",) if shape in DYNAMIC else ())
    return ("threads", "throw") + (("host",) if shape in DYNAMIC and variant.name == "plain" else ())


def rows(long):
    found = []
    for variant in VARIANTS:
        every = [(compiler, linker, shape) for compiler in variant.compilers for linker in variant.linkers for shape in variant.shapes
                 if (linker, shape) not in CANNOT]
        for compiler, linker, shape in every if long else variant.short:
            found.append(Row(compiler, linker, shape, variant, programs_of(variant, shape, long)))
    return found
