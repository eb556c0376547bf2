"""Commands for gdb and lldb that ask a memlog log: who allocated what is here?

    gdb:  source memlog_debugger.py            lldb:  command script import memlog_debugger.py

    memlog who EXPRESSION       who allocated the block at or around this address
    memlog history EXPRESSION   the last ten blocks that were there, and who freed them
    memlog near EXPRESSION      the live blocks around it, 4 KiB to both sides
    memlog top                  who holds most now
    memlog log [FILE]           which log is asked; or ask this one

The program runs under `memlog record`, stands still in the debugger, or is a core file.
The log is found by what the process has mapped. For a core file of another folder or
machine it is given with `memlog log FILE`. The command memlog is that of the same
installation, or in PATH, or what the variable MEMLOG of the environment names.

SPDX-License-Identifier: MIT OR Apache-2.0
"""

import json
import os
import re
import subprocess

NEAR = 4096
# Of an installation this file is PREFIX/share/memlog/debugger/memlog_debugger.py.
_PREFIX = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
_INSTALLED = os.path.join(_PREFIX, "bin/memlog")
_chosen = None


class Trouble(Exception):
    """What keeps a command from being answered, as a sentence."""


def _memlog(*words):
    command = os.environ.get("MEMLOG") or (_INSTALLED if os.access(_INSTALLED, os.X_OK) else "memlog")
    # A debugger's library path and the recorder's are none of its own.
    ours = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "PYTHONHOME")}
    try:
        done = subprocess.run([command, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=ours, start_new_session=True, check=False)
    except OSError as error:
        raise Trouble(f"{command} cannot be started: {error}") from error
    text = done.stdout.decode("utf-8", "replace")
    if done.returncode != 0 and not text:
        raise Trouble(done.stderr.decode("utf-8", "replace").strip())
    return text


def _is_log(path):
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"MLOG"
    except OSError:
        return False


def _log_at(path):
    """The log that was mapped as this. A child's is made first and named later: the kernel goes on to call it by its
    number."""
    unnamed = re.fullmatch(r"(.*)/#(\d+) \(deleted\)", path)
    if not unnamed:
        return path if _is_log(path) else None
    try:
        with os.scandir(unnamed[1]) as files:
            named = [file.path for file in files if file.inode() == int(unnamed[2]) and _is_log(file.path)]
    except OSError:
        return None
    return named[0] if named else None


def _process_of(log):
    """Whose it is: a child has its parent's log mapped as well."""
    try:
        return json.loads(_memlog("info", "--json", log))["pid"]
    except (Trouble, ValueError, LookupError):
        return None


def _log(debugger):
    """The log that was chosen, or that of the process, or of the core file."""
    if _chosen:
        return _chosen
    pid = debugger.pid()
    if pid:
        try:
            return json.loads(_memlog("ctl", "--json", str(pid), "status"))[0]["log"]
        except (Trouble, ValueError, LookupError):
            pass
    logs = {_log_at(path) for path in debugger.mapped()} - {None}
    own = [log for log in logs if _process_of(log) == debugger.process()]
    if len(own) == 1:
        return own[0]
    raise Trouble("the log is not known: `memlog log FILE` names it")


def _who(debugger, words, count):
    if not words:
        raise Trouble("which address? `memlog who EXPRESSION`")
    address = debugger.value(words)
    return _memlog("where", "--no-pager", "-n", str(count), _log(debugger), f"{address:#x}")


def _near(debugger, words):
    if not words:
        raise Trouble("which address? `memlog near EXPRESSION`")
    address = debugger.value(words)
    low = max(address - NEAR, 0)
    chosen = f"address in {low:#x}..{address + NEAR:#x}"
    return _memlog("table", "--no-pager", "--list", "--at", "end", "--where", chosen, _log(debugger))


def _choose(debugger, words):
    global _chosen
    if words:
        path = os.path.abspath(os.path.expanduser(words))
        if not _is_log(path):
            raise Trouble(f"{path} is no log")
        _chosen = path
    return _log(debugger) + "\n"


def answer(debugger, line):
    """What a line behind `memlog` says."""
    verb, _, words = line.strip().partition(" ")
    words = words.strip()
    try:
        if verb == "who":
            return _who(debugger, words, 1)
        if verb == "history":
            return _who(debugger, words, 10)
        if verb == "near":
            return _near(debugger, words)
        if verb == "top":
            return _memlog("table", "--no-pager", "--at", "end", _log(debugger))
        if verb == "log":
            return _choose(debugger, words)
    except Trouble as trouble:
        return f"memlog: {trouble}\n"
    return __doc__


class Gdb:
    """gdb, at its prompt."""

    def __init__(self, gdb):
        self.gdb = gdb

    def process(self):
        """Its number, also of one that has left a core file."""
        return self.gdb.selected_inferior().pid

    def pid(self):
        return self.process() if os.path.exists(f"/proc/{self.process()}/maps") else 0

    def value(self, words):
        try:
            return int(self.gdb.parse_and_eval(words)) & ((1 << 64) - 1)
        except self.gdb.error as error:
            raise Trouble(str(error)) from error

    def mapped(self):
        try:
            text = self.gdb.execute("info proc mappings", to_string=True)
        except self.gdb.error:
            return []
        return sorted(set(re.findall(r"\s(/\S.*)$", text, re.MULTILINE)))


class Lldb:
    """lldb, at its prompt."""

    def __init__(self, debugger):
        self.target = debugger.GetSelectedTarget()

    def process(self):
        return self.target.GetProcess().GetProcessID()

    def pid(self):
        return self.process() if os.path.exists(f"/proc/{self.process()}/maps") else 0

    def value(self, words):
        frame = self.target.GetProcess().GetSelectedThread().GetSelectedFrame()
        value = frame.EvaluateExpression(words) if frame.IsValid() else self.target.EvaluateExpression(words)
        if not value.IsValid() or not value.GetError().Success():
            raise Trouble(f"{words}: {value.GetError().GetCString()}")
        return value.GetValueAsUnsigned()

    def mapped(self):
        return []


def _of_lldb(debugger, line, result, _state):
    result.AppendMessage(answer(Lldb(debugger), line).rstrip("\n"))


def __lldb_init_module(debugger, _state):
    debugger.HandleCommand(f"command script add -f {__name__}._of_lldb memlog")


try:
    import gdb as _gdb
except ImportError:
    pass
else:
    class _Command(_gdb.Command):
        __doc__ = __doc__

        def __init__(self):
            super().__init__("memlog", _gdb.COMMAND_DATA)

        def invoke(self, line, _from_tty):
            _gdb.write(answer(Gdb(_gdb), line))

        def complete(self, text, word):
            del text
            return [verb for verb in ("who", "history", "near", "top", "log") if verb.startswith(word or "")]

    _Command()
