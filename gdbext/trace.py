# SPDX-License-Identifier: MIT
"""A trace of the engine, recorded or loaded, bound by ctypes as engine.py says."""

from __future__ import annotations

import ctypes as C
from itertools import count, takewhile
from typing import Any, Callable, Optional, cast

from . import _abi as abi
from .answers import Call, Parting, Source, Thread, Way
from .engine import (
    _MESSAGE, _WORDS_GDB, CstraceError, Status, Write, _asked, _call, _shown, _text, _write_thunk, library)
from .requests import (
    OUTPUTS, Calls, Choice, Diff, Graph, Look, Report, as_bytes)


class Trace:
    """Recorded calls.  The long calls may be made on any one thread; write
    takes blocks of whole lines and returns False to end the call."""

    def __init__(self, handle: C.c_void_p, is_owner: bool) -> None:
        self._t: Optional[C.c_void_p] = handle
        self._is_owner = is_owner
        self._lib = library()

    @classmethod
    def load(cls, path: str) -> Trace:
        out = C.c_void_p()
        _call("cst_trace_load", as_bytes(path), C.byref(out))
        return cls(out, is_owner=True)

    def rename(self, places: list[str], tell: Callable[[str], None]) -> None:
        """Look up again what has no name, also in these files and folders."""
        line = _MESSAGE(lambda _, text: tell(_shown(text)))
        n, paths = len(places), map(as_bytes, places)
        self._lib.cst_trace_rename(
            self._t, (C.c_char_p * n)(*paths), n, line, None)

    def free(self) -> None:
        t, self._t = self._t, None
        if t is not None and self._is_owner:
            self._lib.cst_trace_free(t)

    def status(self) -> Status:
        out = Status()
        self._lib.cst_trace_status(self._t, C.byref(out))
        return out

    def command(self) -> str:
        return _shown(self._lib.cst_trace_command(self._t) or b"")

    def functions(self) -> list[str]:
        found = (self._lib.cst_trace_function(self._t, i) for i in count())
        return [_shown(name) for name in
                takewhile(lambda name: name is not None, found)]

    def choice(self) -> Choice:
        """What it was recorded to show."""
        out = Choice()
        self._lib.cst_trace_choice(self._t, C.byref(out))
        return out

    def note(self, choice: Choice, has_all: bool) -> str:
        """What the last answer of it left out; "": nothing."""
        return _asked(self._lib.cst_trace_note, self._t, C.byref(choice),
                      _WORDS_GDB, has_all)[1]

    def hides_std(self) -> bool:
        """Were there calls that the last answer left out as the C++
        library's, or a system header's, alone?"""
        return self._lib.cst_trace_hidden_std(self._t) > 0

    def has_function(self, word: str, choice: Choice) -> tuple[bool, str]:
        """Whether the word means a function of the trace; if not, names that
        may have been meant."""
        found, near = _asked(self._lib.cst_trace_has_function, self._t,
                             as_bytes(word), choice.names)
        return bool(found), near

    def inlined(self, word: str, choice: Choice) -> int:
        """In how many places the functions were inlined that it names."""
        n: int = self._lib.cst_trace_inlined(self._t, as_bytes(word),
                                             choice.names)
        return n

    def lacks(self, where: bytes) -> str:
        """What a condition on values names that no function has, or ""."""
        return _asked(self._lib.cst_trace_has_values, self._t, where)[1]

    def has_part(self, what: str, word: str) -> tuple[bool, str]:
        """Whether a function is of this "file" or "module"; if not, names
        that may have been meant."""
        ask = (self._lib.cst_trace_has_file if what == "file"
               else self._lib.cst_trace_has_module)
        found, near = _asked(ask, self._t, as_bytes(word))
        return bool(found), near

    def threads(self) -> list[Thread]:
        """All threads, in the order of their first calls."""
        found: list[Thread] = []
        out = abi.cst_thread_info()
        while self._lib.cst_trace_thread(self._t, len(found), C.byref(out)):
            found.append(Thread(out.process, out.thread, out.tid,
                                _text(out.name) or ""))
        return found

    def call(self, id: str) -> Call:
        """The call with this ID; CstraceError where there is none."""
        out = abi.cst_call()
        _call("cst_trace_call", self._t, as_bytes(id), C.byref(out))
        return Call(_text(out.function) or "", _text(out.name) or "",
                    _text(out.file), out.line, out.addr, bool(out.is_exception))

    def has_call(self, id: str) -> bool:
        try:
            self.call(id)
            return True
        except CstraceError:
            return False

    def way(self, id: str) -> Way:
        """How another run comes to the call with this ID."""
        out = abi.cst_way()
        path: list[str] = []

        def write(text: str) -> bool:
            path.append(text)
            return True

        _call("cst_trace_way", self._t, as_bytes(id), C.byref(out),
              _write_thunk(write), None)
        return Way(id, out.nth, out.nth_call, out.file_addr,
                   _text(out.module), _text(out.build_id) or "",
                   _text(out.name) or "", out.process, out.thread, out.kind,
                   tuple("".join(path).splitlines()))

    def newest(self, process: int, thread: int) -> int:
        """How many calls the thread has made."""
        return _call("cst_trace_newest", self._t, process, thread)

    def parting(self, other: Trace, process: int, thread: int
                ) -> Optional[Parting]:
        """Where the thread's calls in the other trace begin to differ."""
        out = abi.cst_parting()
        if not _call("cst_trace_parting", self._t, other._t, process, thread,
                     C.byref(out)):
            return None
        return Parting(out.n_equal, out.id_a.decode(), _text(out.name_a),
                       out.id_b.decode(), _text(out.name_b))

    def source(self, id: str, places: list[str]) -> Source:
        """Where the call with this ID is made and its function is written, as
        the debug information in these places and at the programs' has it."""
        paths = (C.c_char_p * len(places))(*map(as_bytes, places))
        out = abi.cst_source()
        _call("cst_trace_source", self._t, as_bytes(id), paths, len(places),
              C.byref(out))
        return Source(_text(out.call_file) or None, out.call_line,
                      _text(out.own_file) or None, out.own_line)

    def is_complete(self) -> bool:
        """Not so if the file was cut short, or is still being written."""
        return bool(self._lib.cst_trace_is_complete(self._t))

    def show(self, look: Look, choice: Choice, write: Write) -> int:
        return _call("cst_trace_show", self._t, C.byref(look),
                     C.byref(choice), _write_thunk(write), None)

    def info(self, output: str, write: Write) -> None:
        _call("cst_trace_info", self._t, OUTPUTS.index(output),
              _write_thunk(write), None)

    def report(self, report: Report, choice: Choice, write: Write) -> int:
        return _call("cst_trace_report", self._t, C.byref(report.packed()),
                     C.byref(choice), _write_thunk(write), None)

    def stacks(self, choice: Choice, write: Write) -> int:
        """Where each thread was at its last sample."""
        return _call("cst_trace_stacks", self._t, C.byref(choice), 0,
                     _write_thunk(write), None)

    def graph(self, graph: Graph, choice: Choice, write: Write) -> int:
        return _call("cst_trace_graph", self._t, C.byref(graph.packed()),
                     C.byref(choice), _write_thunk(write), None)

    def calls(self, calls: Calls, look: Look, choice: Choice,
              write: Write) -> int:
        return _call("cst_trace_calls", self._t, C.byref(calls.packed()),
                     C.byref(look), C.byref(choice), _write_thunk(write), None)

    def save(self, path: str, format: Optional[str], look: Look,
             choice: Choice) -> int:
        return _call("cst_trace_save", self._t, as_bytes(path), as_bytes(format),
                     C.byref(look), C.byref(choice))

    def diff(self, older: Trace, diff: Diff, choice: Choice,
             write: Write) -> int:
        """Compare an older trace with this one; 0: the same flow."""
        return _call("cst_trace_diff", older._t, self._t,
                     C.byref(diff.packed()), C.byref(choice),
                     _write_thunk(write), None)

    def expect(self, path: str, output: str, choice: Choice,
               write: Write) -> bool:
        """Is it what the golden tree in this file says?"""
        return _call("cst_trace_expect", self._t, as_bytes(path),
                     OUTPUTS.index(output), C.byref(choice),
                     _write_thunk(write), None) == 0

    def announcement(self, path: str, format: Optional[str],
                     choice: Choice) -> str:
        """How large the file would be, if that is much; else ""."""
        return _asked(self._lib.cst_trace_announce, self._t, as_bytes(path),
                      as_bytes(format), C.byref(choice))[1]

    def mixes_threads(self, path: str, format: Optional[str], look: Look,
                      choice: Choice) -> bool:
        """Would a saved tree have rows of several threads that nothing tells
        apart?"""
        return bool(self._lib.cst_trace_mixes_threads(
            self._t, as_bytes(path), as_bytes(format), C.byref(look),
            C.byref(choice)))

    def make_golden(self, path: str, is_forced: bool,
                    choice: Choice) -> None:
        _call("cst_trace_golden", self._t, as_bytes(path), is_forced,
              C.byref(choice), cast(Any, abi.cst_write_fn)(), None)
