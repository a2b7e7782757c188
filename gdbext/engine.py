# SPDX-License-Identifier: MIT
"""The C engine, bound by ctypes: what needs neither a recorder (recorder.py) nor a
trace (trace.py).  _abi.py has the layout, made from engine.h.

A negative status becomes CstraceError here; nothing above sees a pointer."""

from __future__ import annotations

import ctypes as C
import time
from contextlib import contextmanager
from itertools import count, takewhile
from typing import Any, Callable, Iterator, Optional, cast

from . import _abi as abi
from . import locate
from .requests import Choice, Report, as_bytes

FAILED, INTERRUPTED, EXISTS = (
    abi.CST_FAILED, abi.CST_INTERRUPTED, abi.CST_EXISTS)
WIDTH_TERMINAL = 2**32 - 1  # CST_WIDTH_TERMINAL
ASK_FUNCTION = abi.CST_ASK_FUNCTION
SINK_NONE, SINK_FD, SINK_CALLBACK = (
    abi.CST_SINK_NONE, abi.CST_SINK_FD, abi.CST_SINK_CALLBACK)
N_FUNCTIONS = 2000  # that a word may stand for
_WORDS_GDB = 0
_LINE = 4200  # what a note may have
_LIMIT_S = 2.0  # for the reader
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
    """In gdb's thread: has the stopped thread returned to pc?  0: has it
    executed one instruction?"""
    return bool(library().cst_step_out(tid, pc, sp) == 1)


def come_to(tid: int, pc: int) -> bool:
    """In gdb's thread: the like, with any stack pointer; where other threads may
    keep the reader busy, the shim waits for it."""
    end = time.monotonic() + _LIMIT_S
    while True:
        result = library().cst_step_out(tid, pc, 0)
        if result >= 0 or time.monotonic() > end:
            return bool(result == 1)


def moved_instruction(code: bytes, old: int, new: int) -> bytes:
    """The instruction at old, which the code begins with, as it is at new; none:
    it leads elsewhere."""
    out = (C.c_uint8 * abi.CST_INSTRUCTION_MAX)()
    given = (C.c_uint8 * len(code)).from_buffer_copy(code)
    n = library().cst_moved_instruction(given, len(code), old, new, out)
    return bytes(out)[:n]


def thread_registers(tid: int) -> Optional[abi.cst_registers]:
    """In gdb's thread: what a stopped thread has, or None."""
    found = abi.cst_registers()
    is_there = library().cst_thread_registers(tid, C.byref(found))
    return found if is_there else None


def thread_set(tid: int, wanted: abi.cst_registers) -> bool:
    """In gdb's thread: a stopped thread has these of its pc, sp and ax."""
    return bool(library().cst_thread_set(tid, C.byref(wanted)))


def thread_move(tid: int, old: int, new: int) -> bool:
    """In gdb's thread: a stopped thread that is at old goes on at new.  False:
    it is not there."""
    return bool(library().cst_thread_move(tid, old, new))


def thread_hit_breakpoint(tid: int) -> bool:
    """In gdb's thread: has a breakpoint stopped it since this was asked last?"""
    return bool(library().cst_thread_hit_breakpoint(tid))


_REGISTERS = (
    "r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax",
    "rcx", "rdx", "rsi", "rdi", "orig_rax", "rip", "cs", "eflags", "rsp", "ss",
    "fs_base", "gs_base", "ds", "es", "fs", "gs")


def thread_take(tid: int) -> Optional[dict[str, int]]:
    """In gdb's thread: a stopped thread's registers, by their names, or None."""
    found = (C.c_uint64 * abi.CST_N_REGISTERS)()
    is_there = library().cst_thread_take(tid, found)
    return dict(zip(_REGISTERS, found)) if is_there else None


def thread_give(tid: int, wanted: dict[str, int]) -> bool:
    """In gdb's thread: a stopped thread has these, which are all."""
    values = (C.c_uint64 * abi.CST_N_REGISTERS)(*(
        wanted[name] for name in _REGISTERS))
    return bool(library().cst_thread_give(tid, values))


@contextmanager
def thread_signal(tid: int, number: int,
                  wanted: abi.cst_registers) -> Iterator[bool]:
    """A stopped thread has this signal before it executes anything, for what is
    done within, and then these registers.  Was it sent?"""
    mask = C.c_uint64()
    is_sent = bool(library().cst_thread_signal(tid, number, C.byref(mask)))
    try:
        yield is_sent
    finally:
        library().cst_thread_signalled(tid, mask, C.byref(wanted))


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


def file_called(path: str, word: str, choice: Choice) -> list[int]:
    """Where in the file calls of functions that the word stands for may be
    reported at the border: at their forms for this processor, or at stubs."""
    out = (C.c_uint64 * N_FUNCTIONS)()
    n = _call("cst_file_called", as_bytes(path), as_bytes(word), choice.names,
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
