"""CPython's own tests, of Debian's python3: a suite a module, a result a test."""

import xml.etree.ElementTree as tree

from run import Failed, Suite

PYTHON = "/usr/bin/python3"
TESTS = "/usr/lib/python3.11/test"
QUICK = "test_ctypes test_mmap test_thread test_posix".split()
LONG = """test_threading test_fork1 test_subprocess test_signal test_multiprocessing_fork test_os test_gc test_asyncio
    test_pickle test_json test_threadsignals test_wait4 test_popen test_pty test_faulthandler test_select test_zlib
    test_queue test_weakref test_embed test_resource test_tracemalloc
    test_threading_local test_bytes test_exceptions""".split()


def work(module):
    def performed(run):
        code, out, err = run.call([PYTHON, "-m", "test", "--junit-xml", "results.xml", module])
        results = outcomes(run.place / "results.xml")
        if not run.recorder and (code or not results):
            bad = [name for name, said in results.items() if said in ("failure", "error")]
            raise Failed(f"exit {code}, {len(bad)} of {len(results)} tests: {' '.join(bad[:3])} {(out + err)[-200:] if not bad else ''}")
        results["exit status"] = str(code)
        if code:
            # The reason, for whoever reads the difference.
            results["said"] = (out + err)[-600:]
        return results
    return performed


def outcomes(path):
    """Each test's name with what became of it."""
    results = {}
    if not path.exists():
        return results
    for case in tree.parse(path).iter("testcase"):
        told = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
        name = case.get("name")
        results[name] = " ".join([results.get(name, ""), *(told or [case.get("result", "completed")])]).strip()
    return results


def suite(module, is_short):
    return Suite(f"cpython.{module}", "suites", work(module), is_short, (PYTHON, f"{TESTS}/support/__init__.py"),
                 images={"python3.11": 1}, kills=True)


SUITES = [suite(module, True) for module in QUICK] + [suite(module, False) for module in LONG]
