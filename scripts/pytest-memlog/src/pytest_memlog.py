"""Limits on the memory of tests, measured by memlog: see README.md beside this folder.

Two sides, in two processes. The outer one runs each marked test in a pytest of its own
under `memlog record`, and asks `memlog check` about its log. The inner one, which MARKS
tells where to write, notes when the test function began and ended, and its reports.
"""

import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import pytest

# Where the inner pytest writes what it saw.
MARKS = "MEMLOG_PYTEST_MARKS"
# The wall clock that a log begins with is read in steps of some milliseconds, and is early by one
# of them at most: events seem to come that much sooner. So long nothing happens behind each moment.
PAUSE_SECONDS = 0.02
LIMITS = {"memlog_limit": "peak", "memlog_leaks": "leaked"}


def pytest_addoption(parser):
    group = parser.getgroup("memlog")
    group.addoption("--memlog", action="store_true", help="enforce memlog_limit and memlog_leaks")
    group.addoption("--memlog-path", metavar="FILE", help="the memlog command, as --memlog-path=FILE [default: that in PATH]")
    group.addoption("--memlog-pymalloc", action="store_true", help="leave Python's own allocator on")
    parser.addini("memlog_args", type="args", default=[], help="options for the pytest of a marked test")


def pytest_configure(config):
    config.addinivalue_line("markers", "memlog_limit(size): the most that a test may have live at once, as '24 MiB'")
    config.addinivalue_line("markers", "memlog_leaks(size): the most that may be live when a test is over")
    marks = os.environ.get(MARKS)
    if marks:
        # What it saw nobody would read: that of its controller is read.
        if hasattr(config, "workerinput"):
            return
        config.pluginmanager.register(Inner(config, marks), "memlog-inner")
    elif config.getoption("memlog"):
        memlog = config.getoption("memlog_path") or shutil.which("memlog")
        if not memlog:
            raise pytest.UsageError("--memlog: there is no memlog in PATH; --memlog-path=FILE names one")
        config.pluginmanager.register(Outer(config, memlog), "memlog-outer")


class Inner:
    """Notes when the test function ran, and how it came out."""

    def __init__(self, config, path):
        self.config, self.path = config, path
        self.window, self.reports = None, []

    # Of each kind of test: methods of unittest.TestCase are no calls of a function.
    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_call(self, item):
        gc.collect()
        begin = time.time_ns()
        time.sleep(PAUSE_SECONDS)
        yield
        gc.collect()
        time.sleep(PAUSE_SECONDS)
        self.window = [begin, time.time_ns()]
        time.sleep(PAUSE_SECONDS)

    def pytest_runtest_logreport(self, report):
        self.reports.append(self.config.hook.pytest_report_to_serializable(config=self.config, report=report))

    def pytest_sessionfinish(self):
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump({"window": self.window, "reports": self.reports}, file)


class Outer:
    """Runs marked tests in processes of their own."""

    def __init__(self, config, memlog):
        self.config, self.memlog = config, memlog

    def pytest_collection_modifyitems(self, items):
        for item in items:
            limits_of(item)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        limits = limits_of(item)
        if not limits:
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in self.reports(item, limits):
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        # What the tests before it had set up goes when it would have gone behind this one.
        item.session._setupstate.teardown_exact(nextitem)
        return True

    def reports(self, item, limits):
        with tempfile.TemporaryDirectory(prefix="memlog-pytest-") as folder:
            log, marks = os.path.join(folder, "test.memlog"), os.path.join(folder, "marks.json")
            ran = self.run(item, log, marks)
            try:
                with open(marks, encoding="utf-8") as file:
                    seen = json.load(file)
            except (OSError, ValueError):
                return [failed(item, f"the test's process ended with {ran.returncode}:\n{ran.stdout}")]
            hook = self.config.hook.pytest_report_from_serializable
            reports = [hook(config=self.config, data=data) for data in seen["reports"]]
            if not reports:
                return [failed(item, f"the test was not run:\n{ran.stdout}")]
            for report in reports:
                # Why it was skipped; JSON has no tuples.
                if isinstance(report.longrepr, list):
                    report.longrepr = tuple(report.longrepr)
            has_failed = any(report.failed for report in reports)
            for report in reports:
                if report.when != "call" or not report.passed:
                    continue
                if not has_failed and ran.returncode != 0:
                    blame(report, f"the test's process ended with {ran.returncode} when the test was over:\n{ran.stdout}")
                elif not seen["window"]:
                    blame(report, "its memory was not measured: it did not run in the process that is recorded")
                else:
                    self.judge(item, report, log, seen["window"], limits)
            return reports

    def run(self, item, log, marks):
        inner = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(item.config.rootpath)]
        if item.config.inipath:
            inner += ["-c", str(item.config.inipath)]
        # A test that another process ran would not be seen.
        if item.config.pluginmanager.hasplugin("xdist"):
            inner += ["-n0", "--dist=no"]
        # Where it is loaded by -p, it is no installed plugin.
        if not is_installed(item.config):
            inner += ["-p", __name__]
        path = str(item.path) + item.nodeid[item.nodeid.index("::"):]
        words = [self.memlog, "record", "--fine-time", "-o", log, "--", *inner, *item.config.getini("memlog_args"), path]
        env = dict(os.environ, **{MARKS: marks})
        if not item.config.getoption("memlog_pymalloc"):
            env["PYTHONMALLOC"] = "malloc"
        return subprocess.run(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")

    def judge(self, item, report, log, window, limits):
        """Fails a report whose test was above a limit."""
        begin, end = (f"unix {moment}ns" for moment in window)
        came = f"born in {begin}..{end}"
        told = []
        for name, size in limits.items():
            # What is live at the end of the test may still go before its process does.
            words = {
                "peak": ["--max-peak", size, "--where", came],
                "leaked": ["--max-total", size, "--where", f"{came} and alive at {end}"],
            }[LIMITS[name]]
            done = subprocess.run([self.memlog, "check", *words, "--source-root", str(item.config.rootpath), log], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
            if done.returncode != 0:
                told.append(f"{name}({size!r}):\n{done.stdout}{done.stderr if done.returncode != 1 else ''}")
        if told:
            blame(report, "\n".join(told))


def limits_of(item):
    limits = {}
    for name in LIMITS:
        mark = item.get_closest_marker(name)
        if mark is None:
            continue
        if len(mark.args) != 1 or mark.kwargs:
            raise pytest.UsageError(f"{item.nodeid}: {name} takes a size, as {name}('24 MiB')")
        limits[name] = str(mark.args[0]).replace(" ", "")
    return limits


def is_installed(config):
    plugins = config.pluginmanager.list_plugin_distinfo()
    return any(getattr(plugin, "__name__", None) == __name__ for plugin, _ in plugins)


def blame(report, text):
    report.outcome = "failed"
    report.longrepr = text


def failed(item, text):
    return pytest.TestReport(item.nodeid, item.location, {}, "failed", text, "call")
