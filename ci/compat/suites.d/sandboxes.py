"""Programs that run another one with less: fewer rights, another root, other libraries, another machine, another recorder."""

from steps import program

# What is run in each: it allocates, forks and says what came of it.
WORK = "import os, sys\nd = {str(i * 7919 % 65537): 'x' * (i % 60) for i in range(50000)}\nprint(len(d), os.getuid() >= 0)\nsys.stdout.flush()\nif os.fork() == 0:\n    print(len([bytearray(i) for i in range(3000)]))\n    sys.stdout.flush()\n    os._exit(0)\nprint(os.wait()[1])\n"
PYTHON = ["/usr/bin/python3", "-c", WORK]
PACKAGES = "others-sandboxes"
ALL = r"[\s\S]+"
PYTHONS = {"python3.11": 2}
TREE = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]

SUITES = [
    program("sandboxes.bwrap", PACKAGES, ["bwrap", *TREE, "--bind", "/tmp", "/tmp", "--unshare-pid", "--unshare-net", *PYTHON], version=["bwrap", "--version"], images=PYTHONS),
    program("sandboxes.unshare", PACKAGES, ["unshare", "-r", "-m", "-p", "-f", *PYTHON], version=["unshare", "--version"], images=PYTHONS),
    program("sandboxes.setpriv", PACKAGES, ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--no-new-privs", *PYTHON], version=["setpriv", "--version"], images=PYTHONS),
    program("sandboxes.firejail", PACKAGES, ["firejail", "--quiet", "--noprofile", "--seccomp", *PYTHON], version=["firejail", "--version"], images=PYTHONS),
    program("sandboxes.fakeroot", PACKAGES, ["fakeroot", *PYTHON], version=["fakeroot", "--version"], images=PYTHONS),
    program("sandboxes.faketime", PACKAGES, ["faketime", "2020-01-01 00:00:00", *PYTHON], version=["dpkg-query", "-Wf", "faketime ${Version}", "faketime"], images=PYTHONS),
    program("sandboxes.proot", PACKAGES, ["proot", "-0", *PYTHON], version=["dpkg-query", "-Wf", "proot ${Version}", "proot"], images=PYTHONS, environment={"PROOT_NO_SECCOMP": "1"}),
    program("sandboxes.strace", PACKAGES, ["strace", "-f", "-c", "-o", "trace", *PYTHON], makes=["trace"], version=["strace", "--version"], images=PYTHONS),
    program("sandboxes.gdb", PACKAGES, ["gdb", "-q", "-batch", "-ex", "set debuginfod enabled off", "-ex", "run", "--args", *PYTHON], without=ALL, version=["gdb", "--version"], images={"gdb": 1}),
    program("sandboxes.timeout", PACKAGES, ["timeout", "100", "nice", "-n", "1", "env", "A=b", "setsid", "-w", *PYTHON], version=["timeout", "--version"], images=PYTHONS),
    program("sandboxes.script", PACKAGES, ["script", "-qec", "seq 1 2000 | sort | sha256sum", "typed"], version=["script", "--version"], images={"script": 1, "sort": 1}),
    program("sandboxes.toybox", PACKAGES, ["toybox", "sort", "rows"], ["toybox", "sha256sum", "rows"], ["toybox", "find", "/etc/ssl", "-name", "*.pem"], files={"rows": "".join(f"{n * 7919 % 65537}\n" for n in range(20000))},
            version=["toybox", "--version"], images={"toybox": 3}),
]
