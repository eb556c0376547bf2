"""What a Python program may say to memlog, a profiler of its memory.

    import memlog
    memlog.mark("loaded")           # a name for this moment: memlog report --at 'mark loaded'
    memlog.snapshot()               # the same, called snapshot 1, 2, ...
    memlog.sync()                   # all that was recorded is in the log's file now
    memlog.stop(), memlog.start()   # record nothing from now on, and record again
    memlog.name_thread("loader")    # a name for the calling thread, of 32 bytes at most
    memlog.is_recording()           # True or False
    with memlog.scope("load"):      # what this thread allocates in it has this tag:
        ...                         # memlog table --by scope

One file, to be copied or installed. Where the program runs without memlog nothing
happens. memlog.h says more.
"""

import ctypes

__all__ = ["mark", "snapshot", "sync", "start", "stop", "name_thread", "is_recording", "scope"]

_program = ctypes.CDLL(None)


def _function(name, arguments, result=None):
    function = getattr(_program, name, None)
    if function is None:
        return None
    function.argtypes, function.restype = arguments, result
    return function


_mark = _function("memlog_mark", [ctypes.c_char_p])
_snapshot = _function("memlog_snapshot", [])
_sync = _function("memlog_sync", [])
_start = _function("memlog_start", [])
_stop = _function("memlog_stop", [])
_name_thread = _function("memlog_name_thread", [ctypes.c_char_p])
_is_recording = _function("memlog_is_recording", [], ctypes.c_int)
_scope_begin = _function("memlog_scope_begin", [ctypes.c_char_p])
_scope_end = _function("memlog_scope_end", [])


def _bytes(name):
    return name if isinstance(name, bytes) else str(name).encode("utf-8", "replace")


def mark(name):
    """Gives this moment a name."""
    if _mark:
        _mark(_bytes(name))


def snapshot():
    """A moment to be reported, called snapshot 1, 2, ..."""
    if _snapshot:
        _snapshot()


def sync():
    """What was recorded until now is in the log's file when this returns."""
    if _sync:
        _sync()


def start():
    """Records from now on."""
    if _start:
        _start()


def stop():
    """Records nothing from now on, until start()."""
    if _stop:
        _stop()


def name_thread(name):
    """The calling thread has this name from now on."""
    if _name_thread:
        _name_thread(_bytes(name))


def is_recording():
    """Whether events are recorded now."""
    return bool(_is_recording and _is_recording())


class scope:
    """What the calling thread allocates within it has this tag. Scopes may stand within
    each other, and one may be entered again."""

    def __init__(self, name):
        self._name = _bytes(name)

    def __enter__(self):
        if _scope_begin:
            _scope_begin(self._name)
        return self

    def __exit__(self, *_):
        if _scope_end:
            _scope_end()
