"""Builds as others do them: configure, cmake with ninja, meson, cargo; archives, copies, queries."""

from steps import program

CONFIGURE = ("AC_INIT([a],[1])\nAC_PROG_CC\nAC_CHECK_HEADERS([stdlib.h string.h unistd.h sys/mman.h malloc.h pthread.h netdb.h dlfcn.h])\n"
             "AC_CHECK_FUNCS([malloc mmap fork strdup getline memfd_create reallocarray qsort_r posix_spawn])\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n")
MAKEFILE = "all:\n\t@CC@ -O2 -o a a.c\n\t./a\n"
C = "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { long n = 0; for (int i = 1; i < 20000; i++) { char *p = malloc(i); n += p != 0; if (i % 3) free(p); } printf(\"%ld\\n\", n); }\n"
CPP = "#include <iostream>\n#include <map>\n#include <string>\nint main() { std::map<std::string, std::string> m; for (int i = 0; i < 20000; i++) m[std::to_string(i * 7919 % 65537)] = std::string(i % 60, 'x'); std::cout << m.size() << '\\n'; }\n"
CMAKE = "cmake_minimum_required(VERSION 3.10)\nproject(a C CXX)\nfind_package(Threads)\ninclude(CheckSymbolExists)\ncheck_symbol_exists(malloc stdlib.h HAS_MALLOC)\nadd_executable(a a.c)\nadd_executable(b b.cpp)\nenable_testing()\nadd_test(NAME a COMMAND a)\nadd_test(NAME b COMMAND b)\n"
CARGO = '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n'
RUST = 'use std::collections::HashMap;\nfn main() {\n    let m: HashMap<String, String> = (0..20000u64).map(|i| (format!("{:x}", i * 7919 % 65537), "x".repeat(i as usize % 60))).collect();\n    println!("{}", m.len());\n}\n'
XML = "<a>" + "".join(f"<b id='{n}'><c>{n * 7919 % 65537}</c></b>" for n in range(20000)) + "</a>"
JSON = "[" + ",".join(f'{{"id": {n}, "word": "w{n * 7919 % 65537}"}}' for n in range(20000)) + "]"
# Times and temporary names.
TIMES = r"[\d.]+ ?(?:sec|s)\b|0x[0-9a-f]+|\d+ms|^-- .*$"
PACKAGES = "others-builds"

SUITES = [
    program("builds.configure", PACKAGES, ["autoreconf", "-i"], ["./configure"], ["make", "-s"], files={"configure.ac": CONFIGURE, "Makefile.in": MAKEFILE, "a.c": C},
            version=["autoconf", "--version"], images={"dash": 50, "cc1": 15}),
    program("builds.cmake", PACKAGES, ["cmake", "-G", "Ninja", "."], ["ninja", "--quiet"], ["ctest"], files={"CMakeLists.txt": CMAKE, "a.c": C, "b.cpp": CPP}, without=TIMES,
            version=["cmake", "--version"], images={"cmake": 1, "ninja": 1, "ctest": 1, "cc1plus": 1}),
    program("builds.meson", PACKAGES, ["meson", "setup", "o"], ["ninja", "-C", "o"], ["./o/a"], without=r"^.*(Compiler|compiler|Host|Build|Found|version|Version|Source|linker|ninja).*$",
            files={"meson.build": "project('a', 'c')\nexecutable('a', 'a.c')\n", "a.c": C}, version=["dpkg-query", "-Wf", "meson ${Version}", "meson"]),
    program("builds.cargo", PACKAGES, ["/usr/bin/cargo", "build", "--offline", "-q"], ["./target/debug/a"], files={"Cargo.toml": CARGO, "src/main.rs": RUST},
            version=["/usr/bin/cargo", "--version"], images={"cargo": 1, "rustc": 1}, environment={"RUSTC": "/usr/bin/rustc"}),
    program("builds.clang", PACKAGES, ["clang", "-O2", "-g", "-o", "a", "a.c"], ["clang++", "-O2", "-o", "b", "b.cpp"], ["./a"], ["./b"], files={"a.c": C, "b.cpp": CPP}, version=["clang", "--version"]),
    program("builds.ccache", PACKAGES, ["ccache", "gcc", "-c", "a.c"], ["ccache", "gcc", "-c", "a.c"], files={"a.c": C}, makes=["a.o"], version=["ccache", "--version"]),
    program("builds.archives", PACKAGES, ["tar", "cJf", "a.tar.xz", "rows"], ["xz", "-T4", "-k", "rows"], ["zstd", "-q", "-T4", "rows"], ["gzip", "-k", "rows"], ["tar", "tJf", "a.tar.xz"], files={"rows": JSON * 4},
            makes=["a.tar.xz", "rows.xz", "rows.zst", "rows.gz"], version=["tar", "--version"]),
    program("builds.rsync", PACKAGES, ["rsync", "-a", "in/", "out/"], ["diff", "-r", "in", "out"], files={f"in/f{n}": JSON[: n * 1000] for n in range(100)}, version=["rsync", "--version"]),
    program("builds.queries", PACKAGES, ["jq", "-c", "[.[] | select(.id % 7 == 0) | .word] | length", "a.json"], ["xmllint", "--xpath", "count(//c)", "a.xml"], ["rg", "-c", "w1", "a.json"], files={"a.json": JSON, "a.xml": XML},
            version=["jq", "--version"]),
]
