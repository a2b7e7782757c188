# SPDX-License-Identifier: MIT
"""The engine's recorder, which empties the area of a process and keeps its calls,
bound by ctypes as engine.py says."""

from __future__ import annotations

import ctypes as C
from typing import Callable, Iterable, NamedTuple, Optional, Sequence

from . import _abi as abi
from .answers import OpenCall, Thread
from .engine import (
    _MESSAGE, _TEXT, _WANTED, Status, Write, _call, _shown, _text, _write_thunk,
    library)
from .requests import (
    NAMES, Choice, Look, Memory, RecorderOptions, Values, as_bytes)
from .trace import Trace

N_QUESTIONS = 512


class PointPart(NamedTuple):
    """A part of a logpoint's template."""

    field: int
    text: str = ""
    format: str = ""
    size: int = 0


class Callbacks(NamedTuple):
    """All are called on the recorder's own thread: hand over, nothing else."""

    wanted: Callable[[], None]
    text: Callable[[str], None]
    message: Callable[[str], None]
    # Not 0 while the last text waits to be shown.  A callback would wait for
    # Python's lock, which gdb's thread keeps while it writes.
    busy: C.c_uint32

    def _pack(self) -> abi.cst_callbacks:
        def text(_arg: int, address: int, size: int) -> None:
            self.text(_shown(C.string_at(address, size)))

        def message(_arg: int, line: bytes) -> None:
            self.message(_shown(line))

        return abi.cst_callbacks(wanted=_WANTED(lambda _arg: self.wanted()),
                          text=_TEXT(text), message=_MESSAGE(message),
                          busy=C.pointer(self.busy))


# The colours of rows, by enum cst_color from 1 on.
COLORS = ("red", "green", "yellow", "blue", "magenta", "cyan")


class Recorder:
    """Owns the area and the thread that empties it."""

    def __init__(self, options: RecorderOptions, callbacks: Callbacks) -> None:
        # The thunks must live as long as the reader's thread may call them.
        self._callbacks = callbacks._pack()
        self._questions = (abi.cst_question * N_QUESTIONS)()
        out = C.c_void_p()
        _call("cst_recorder_open", C.byref(options.packed()),
              C.byref(self._callbacks), C.byref(out))
        self._r: Optional[C.c_void_p] = out
        self._lib = library()
        self._hit = self._lib.cst_recorder_hit
        self._values: Optional[Values] = None

    def close(self) -> None:
        r, self._r = self._r, None
        if r is not None:
            self._lib.cst_recorder_close(r)

    def fetch(self, area: int, memory: Memory) -> None:
        """Takes what a process that is elsewhere has written into its area; 0:
        gives it what is to be recorded."""
        _call("cst_recorder_fetch", self._r, area, C.byref(memory.packed))

    def area_path(self) -> bytes:
        return self._lib.cst_recorder_area_path(self._r)

    def area_path_for(self, pid: int) -> bytes:
        """What the shim in that process opens it by."""
        out = C.create_string_buffer(64)
        _call("cst_recorder_area_path_for", self._r, pid, out, len(out))
        return out.value

    def process(self, pid: int, has_ended: bool = False) -> None:
        _call("cst_recorder_process", self._r, pid, has_ended)

    def exec(self) -> None:
        """The process runs another program now: call process() again."""
        self._values = None
        _call("cst_recorder_exec", self._r)

    def unmapped(self, start: int, end: int) -> None:
        self._lib.cst_recorder_unmapped(self._r, start, end)

    def debug_file(self, module: str, debug_file: str) -> None:
        self._lib.cst_recorder_debug_file(self._r, as_bytes(module),
                                          as_bytes(debug_file))

    def copy_of(self, path: str) -> None:
        self._lib.cst_recorder_copy(self._r, as_bytes(path))

    def live(self, is_live: bool, sink: int, fd: int, look: Look,
             choice: Choice) -> None:
        _call("cst_recorder_live", self._r, is_live, sink, fd, C.byref(look),
              C.byref(choice))

    def keep(self, depth: int, bytes: int, ns: int) -> None:
        """What is recorded from here on; live() is called next."""
        self._lib.cst_recorder_keep(self._r, depth, bytes, ns)

    def what(self, is_asked: bool) -> None:
        """Whether an exception's own what() is called."""
        self._lib.cst_recorder_what(self._r, is_asked)

    def values(self, wanted: Values) -> None:
        """Which values of calls are recorded from here on."""
        if wanted == self._values:
            return  # what was found out for them is kept
        self._values = None
        _call("cst_recorder_values", self._r, C.byref(wanted.packed()))
        self._values = wanted

    def patched(self) -> None:
        """The process is, and stands still: its first calls need not wait."""
        self._lib.cst_recorder_patched(self._r)

    def drain(self) -> bool:
        """False: questions must be answered first, then call again."""
        return self._lib.cst_recorder_drain(self._r) != 0

    def questions(self) -> list[tuple[int, int, int]]:
        """Some of those that wait, as (id, kind, address)."""
        n = self._lib.cst_recorder_questions(self._r, self._questions,
                                             N_QUESTIONS)
        return [(q.id, q.kind, q.addr) for q in self._questions[:max(n, 0)]]

    def answer(self, id: int, name: Optional[str], file: Optional[str],
               line: int) -> None:
        self._lib.cst_recorder_answer(self._r, id, as_bytes(name), as_bytes(file),
                                      line)

    def message(self, pid: int, tid: int, file: Optional[str], line: int,
                word: str, template: str, text: str) -> bool:
        """Put text into the tree where the thread stands; its row begins with
        the word ("log", "zoom" or "backtrace").

        False: questions must be answered first, then call again."""
        return _call("cst_recorder_message", self._r, pid, tid, as_bytes(file),
                     line, as_bytes(word), as_bytes(template),
                     as_bytes(text)) != 0

    def point(self, number: int, template: str, condition: Optional[str],
              parts: Sequence[PointPart],
              places: Sequence[tuple[str, Optional[str], int]]) -> None:
        """Sets a logpoint at the entry of functions (linkage name, file and
        line), whose texts the reader writes."""
        packed = (abi.cst_point_part * len(parts))(*(
            abi.cst_point_part(text=as_bytes(p.text), field=p.field,
                               format=ord(p.format or "\0"), size=p.size)
            for p in parts))
        at = (abi.cst_point_place * len(places))(*(
            abi.cst_point_place(function=as_bytes(function),
                                file=as_bytes(file), line=line)
            for function, file, line in places))
        _call("cst_recorder_point", self._r, number, C.byref(abi.cst_point(
            template_text=as_bytes(template), condition=as_bytes(condition),
            parts=packed, places=at, n_parts=len(parts),
            n_places=len(places))))

    def drop_point(self, number: int) -> None:
        """No more of it."""
        _call("cst_recorder_point", self._r, number, None)

    def point_counts(self, number: int) -> tuple[int, int, int]:
        """How often its functions were called, how often its condition was
        true, and the reader's time for that in ns."""
        out = abi.cst_point_counts()
        self._lib.cst_recorder_point_counts(self._r, number, C.byref(out))
        return out.n_passes, out.n_hits, out.cost_ns

    def depth(self, pid: int, tid: int) -> int:
        """Returns how many calls of the thread are open; -1: not known."""
        return self._lib.cst_recorder_depth(self._r, pid, tid)

    def pause(self) -> None:
        self._lib.cst_recorder_pause(self._r)

    def resume(self) -> None:
        self._lib.cst_recorder_resume(self._r)

    def sample(self, hz: int, is_wall: bool, for_ns: int) -> str:
        """Prepare for samples; the path that the sampler is given."""
        any_source = 0  # CST_SAMPLE_UNKNOWN of samples.h
        _call("cst_recorder_sample", self._r, hz, int(is_wall), any_source,
              for_ns)
        path = self._lib.cst_recorder_samples_path(self._r)
        return (path or b"").decode()

    def sample_end(self) -> None:
        self._lib.cst_recorder_sample_end(self._r)

    def seed(self, tid: int, name: str,
             seeds: Iterable[tuple[int, int, int, int, int]]) -> None:
        items = [abi.cst_seed(*s) for s in seeds]
        _call("cst_recorder_seed", self._r, tid, as_bytes(name),
              (abi.cst_seed * len(items))(*items), len(items))

    def function(self, pc: int) -> int:
        """Where the one that holds pc begins, or 0."""
        return self._lib.cst_recorder_function(self._r, pc)

    def inject(self, tid: int, kind: int, callee: int, caller: int, hook: int,
               sp: int, fp: int) -> int:
        return _call("cst_recorder_inject", self._r, tid, kind, callee,
                     caller, hook, sp, fp)

    def hit(self, callee: int, caller: int, number: int) -> int:
        # At each event of the program: without _call()'s detour.
        return self._hit(self._r, callee, caller, number)

    def end(self) -> Trace:
        out = C.c_void_p()
        _call("cst_recorder_end", self._r, C.byref(out))
        return Trace(out, is_owner=True)

    def begin(self, options: RecorderOptions) -> None:
        self._values = None
        _call("cst_recorder_begin", self._r, C.byref(options.packed()))

    def trace(self) -> Trace:
        """What is recorded up to now; valid until end() or close()."""
        out = C.c_void_p()
        _call("cst_recorder_trace", self._r, C.byref(out))
        return Trace(out, is_owner=False)

    def stack(self, tid: int, most: int) -> list[OpenCall]:
        """The open calls of a stopped thread, innermost first, up to `most`
        of them."""
        out = (abi.cst_open_call * most)()
        n = _call("cst_recorder_stack", self._r, tid, out, most)
        return [OpenCall(c.id.decode(), _text(c.name) or "",
                         _text(c.function) or "", c.cfa, c.addr)
                for c in out[:min(n, most)]]

    def mark(self, pid: int, tid: int, has_ended: bool, color: str) -> bool:
        """Give the row of the innermost open call of a stopped thread, or of
        the one that it has left last, a colour.

        False: questions must be answered first, then call again."""
        return _call("cst_recorder_mark", self._r, pid, tid, has_ended,
                     1 + COLORS.index(color)) != 0

    def n_open(self, tid: int) -> int:
        """How many calls are open in a stopped thread."""
        return _call("cst_recorder_stack", self._r, tid, None, 0)

    def is_in(self, tid: int, word: str, names: str) -> int:
        """Is one of the open calls of a function that the word means?"""
        return _call("cst_recorder_is_in", self._r, tid, as_bytes(word),
                     NAMES.index(names))

    def count(self, word: str, names: str) -> int:
        """How often were these functions called so far?"""
        return _call("cst_recorder_count", self._r, as_bytes(word),
                     NAMES.index(names))

    def here(self, tid: int, look: Look, choice: Choice,
             write: Write) -> tuple[int, Optional[Thread]]:
        """Writes them as rows; how many, and the thread, if it made calls."""
        out = abi.cst_thread_info()
        n = _call("cst_recorder_here", self._r, tid, C.byref(look),
                  C.byref(choice), _write_thunk(write), None, C.byref(out))
        name = _text(out.name)
        return n, (None if name is None else
                   Thread(out.process, out.thread, out.tid, name))

    def drawn_ns(self) -> int:
        """When live rows were last written, by time.monotonic_ns()."""
        return self._lib.cst_recorder_drawn_ns(self._r)

    def status(self) -> Status:
        out = Status()
        self._lib.cst_recorder_status(self._r, C.byref(out))
        return out
