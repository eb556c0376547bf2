# memlog for Spack 1.0 and newer. Where memlog-@VERSION@-src.tar.xz lies:
#     spack repo add RECIPES/spack_repo/memlog
#     spack install memlog
import os

from spack_repo.builtin.build_systems.generic import Package

from spack.package import *


class Memlog(Package):
    """Records every allocation of a program with its whole call stack, and says
    who held the memory when the process was biggest."""

    # The tar has all crates: nothing is fetched while it is built.
    manual_download = True
    url = f"file://{os.getcwd()}/memlog-@VERSION@-src.tar.xz"

    license("MIT OR Apache-2.0")

    version("@VERSION@", sha256="@SHA256@")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("rust@1.88:", type="build")

    def install(self, spec, prefix):
        make("-C", "scripts", "install", f"PREFIX={prefix}")

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(self.prefix.bin.memlog)("record", "-o", "check.memlog", "ls")
        Executable(self.prefix.bin.memlog)("summary", "check.memlog")
