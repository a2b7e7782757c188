# SPDX-License-Identifier: MIT
"""The C engine, bound by ctypes.  _abi.py has the layout, made from engine.h.

A negative status becomes CstraceError here; nothing above sees a pointer."""

from __future__ import annotations

import ctypes as C
from itertools import count, takewhile
from typing import Any, Callable, Iterable, NamedTuple, Optional, Sequence, cast

from . import _abi as abi
from . import locate
from .answers import Call, OpenCall, Parting, Source, Thread, Way
from .requests import (
    NAMES, OUTPUTS, Calls, Choice, Diff, Graph, Look, Memory, RecorderOptions, Report,
    as_bytes)

FAILED, INTERRUPTED, EXISTS = (
    abi.CST_FAILED, abi.CST_INTERRUPTED, abi.CST_EXISTS)
WIDTH_TERMINAL = 2**32 - 1  # CST_WIDTH_TERMINAL
ASK_FUNCTION = abi.CST_ASK_FUNCTION
SINK_NONE, SINK_FD, SINK_CALLBACK = (
    abi.CST_SINK_NONE, abi.CST_SINK_FD, abi.CST_SINK_CALLBACK)
N_QUESTIONS = 512
N_FUNCTIONS = 2000  # that a word may stand for
_WORDS_GDB = 0
_LINE = 4200  # what a note may have
_OTHER_BUILD = ("%s was built from another version than the extension: run "
                "make, or install both again")


class CstraceError(Exception):
    """What the engine refused, in one line."""

    def __init__(self, text: str, status: int = FAILED) -> None:
        super().__init__(text)
        self.status = status


Status = abi.cst_status_report
_WANTED, _TEXT, _MESSAGE = (
    cast(Any, dict(abi.cst_callbacks._fields_)[name])
    for name in ("wanted", "text", "message"))

_library: Optional[C.CDLL] = None


def library() -> C.CDLL:
    """The engine, loaded when first asked for."""
    global _library
    if _library is None:
        path = locate.engine()
        try:
            lib = C.CDLL(path)
            lib.cst_abi.restype = C.c_uint32
            if lib.cst_abi() != abi.VERSION:
                raise CstraceError(_OTHER_BUILD % path)
            for name, (result, arguments) in abi.PROTOTYPES.items():
                function = getattr(lib, name)
                function.restype, function.argtypes = result, arguments
        except (OSError, AttributeError) as e:
            raise CstraceError("cannot load the engine: %s" % e) from None
        lib.cst_install()
        _library = lib
    return _library


def version() -> str:
    return library().cst_version().decode()


def _text(raw: Optional[bytes]) -> Optional[str]:
    return None if raw is None else raw.decode("utf-8", "surrogateescape")


def _shown(raw: bytes) -> str:
    """For people: what is no UTF-8 is replaced."""
    return raw.decode("utf-8", "replace")


def _asked(ask: Any, *arguments: Any) -> tuple[int, str]:
    """Calls a function whose last arguments are where a text goes and how
    large that is; its result and the text."""
    out = C.create_string_buffer(_LINE)
    return ask(*arguments, out, len(out)), _shown(out.value)


def _lines(ask: Any, status: Status) -> list[str]:
    found = (_asked(ask, C.byref(status.losses), i) for i in count())
    return [text for _, text in takewhile(lambda each: each[0], found)]


def losses(status: Status) -> list[str]:
    """What was lost, in words: lost records, then calls that were not kept."""
    return _lines(library().cst_losses_text, status)


def untraced(status: Status) -> list[str]:
    """Which libraries, programs and processes were not traced, and why."""
    return _lines(library().cst_losses_untraced, status)


def _call(name: str, *arguments: Any) -> int:
    err = abi.cst_error()
    status = getattr(library(), name)(*arguments, C.byref(err))
    if status < 0:
        raise CstraceError(_shown(err.text) or name + " failed", status)
    return status


def interrupt() -> None:
    """End the long-running call that another thread has under way."""
    library().cst_interrupt()


def progress() -> tuple[int, int]:
    """How many percent of how many calls the long call has gone through; -1:
    there is none that tells."""
    n_calls = C.c_uint64()
    percent: int = library().cst_progress(C.byref(n_calls))
    return percent, n_calls.value


def step_out(tid: int, pc: int, sp: int) -> bool:
    """In gdb's thread: has the stopped thread returned to pc?"""
    return bool(library().cst_step_out(tid, pc, sp))


def formats() -> list[str]:
    return library().cst_formats().decode().split()


def build_id(path: str) -> str:
    """In hexadecimal digits; "": the file has none, or is not there."""
    out = C.create_string_buffer(abi.CST_BUILD_ID_SIZE)
    library().cst_build_id(as_bytes(path), out)
    return out.value.decode()


def may_replace(path: str, format: Optional[str]) -> None:
    """Raise CstraceError if what is there is none of cstrace's files."""
    _call("cst_may_replace", as_bytes(path), as_bytes(format))


def file_has_function(path: str, word: str, choice: Choice
                      ) -> Optional[tuple[bool, str]]:
    """Whether the word means a function of the file; if not, names that may
    have been meant.  None: the file does not tell."""
    found, near = _asked(library().cst_file_has_function, as_bytes(path),
                         as_bytes(word), choice.names)
    return None if found < 0 else (found > 0, near)


def file_functions(path: str, word: str, choice: Choice) -> list[int]:
    """Where in the file the functions begin that the word stands for."""
    out = (C.c_uint64 * N_FUNCTIONS)()
    n = _call("cst_file_functions", as_bytes(path), as_bytes(word), choice.names,
              out, len(out))
    return list(out[:min(n, len(out))])


class Tester:
    """What a program's files say of the values of its calls: of the process,
    or of the file at path alone."""

    def __init__(self, pid: int = 0, path: str = "") -> None:
        self._tester = C.c_void_p()
        _call("cst_tester_open", pid, as_bytes(path), C.byref(self._tester))

    def close(self) -> None:
        library().cst_tester_close(self._tester)
        self._tester = C.c_void_p()

    def tests(self, condition: str, callee: int, is_exit: bool,
              hook: int = 0) -> list[abi.cst_test]:
        """The condition's comparisons at a hook of the function, 0: at one of
        its own; or CST_PATCHED_ENTRY and the like.  CstraceError: why the program cannot decide it there."""
        out = (abi.cst_test * abi.CST_TESTS_EACH)()
        at = abi.cst_test_hook(callee=callee, hook=hook, is_exit=is_exit)
        n = _call("cst_tester_make", self._tester, as_bytes(condition),
                  C.byref(at), out, len(out))
        return list(out[:n])

    def value(self, name: str, callee: int,
              hook: int = 0) -> abi.cst_test_value:
        """What an argument of the function is, as for tests().  CstraceError: why it is not
        copied where the function is entered."""
        out = abi.cst_test_value()
        at = abi.cst_test_hook(callee=callee, hook=hook, is_exit=False)
        _call("cst_tester_value", self._tester, as_bytes(name), C.byref(at),
              C.byref(out))
        return out


def check_condition(condition: str) -> None:
    """Raise CstraceError for a condition on values that is none."""
    _call("cst_tester_make", None, as_bytes(condition), None, None, 0)


def choice_text(choice: Choice) -> str:
    """"filter ^sum, depth 3", or "" where all is chosen."""
    return _asked(library().cst_choice_text, C.byref(choice))[1]


def check_choice(choice: Choice) -> None:
    """Raise CstraceError for a regex or an ID that is none."""
    _call("cst_choice_check", C.byref(choice))


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

    def process(self, pid: int, has_ended: bool = False) -> None:
        _call("cst_recorder_process", self._r, pid, has_ended)

    def exec(self) -> None:
        """The process runs another program now: call process() again."""
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

    def values(self, args: bool, results: bool,
               functions: Optional[str]) -> None:
        """Which values of calls are recorded from here on, of which
        functions (a regex; None: all)."""
        _call("cst_recorder_values", self._r, args, results,
              as_bytes(functions))

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


def simple_name(name: str) -> str:
    """The name of a function as rows have it: Shop::pack."""
    return _asked(library().cst_simple_name, as_bytes(name))[1]


def check_report(report: Report) -> None:
    """Raise CstraceError for an unknown field."""
    _call("cst_report_check", C.byref(report.packed()))


Write = Callable[[str], bool]


def _write_thunk(write: Write) -> Any:
    def call(_arg: int, address: int, size: int) -> int:
        return 0 if write(_shown(C.string_at(address, size))) else -1

    return abi.cst_write_fn(call)


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
