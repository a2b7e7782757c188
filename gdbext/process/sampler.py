# SPDX-License-Identifier: MIT
"""The sampler in the traced process: where its memory is, and how it is made to
begin, when the program runs already."""

from __future__ import annotations

import os
import re
from typing import Optional

import gdb

from .. import locate
from ..gdb_setting import changed
from . import inferior_call, memory
from .hooks import symbol_address

CONTROL, START = "cstrace_sample_control", "cstrace_sample_start"
# struct cst_sample_control of samples.h
_PATH_AT, _PATH_SIZE, _REQUEST_AT, _SIGNAL_AT = 8, 56, 64, 68
_RTLD_NOW = 2
# Where a thread has a lock that dlopen() takes, too.
_LOCKED = (r"(_int_)?(malloc|free|calloc|realloc|memalign)|_?_?_?dl_|"
           r"dlopen|dlclose|dlsym|__tls_get_addr")


class Signals:
    """gdb neither stops for the sampler's signals nor tells of them: SIGURG, or
    the highest that the program does not handle, from SIG61 down."""

    NAMES = ("SIGURG", "SIG61", "SIG60", "SIG59")

    def __init__(self) -> None:
        self._before: dict[str, list[str]] = {}

    def quiet(self) -> None:
        for name in self.NAMES:
            if name not in self._before:
                row = gdb.execute("info signals " + name, to_string=True)
                self._before[name] = row.splitlines()[-1].split()[1:4]
            gdb.execute("handle %s nostop noprint pass" % name, to_string=True)

    def put_back(self) -> None:
        for name, (stop, tell, hand) in self._before.items():
            words = [word if yes == "Yes" else "no" + word for yes, word in
                     ((tell, "print"), (stop, "stop"), (hand, "pass"))]
            for word in words:
                gdb.execute("handle %s %s" % (name, word), to_string=True)
        self._before = {}


def is_there() -> bool:
    return symbol_address(CONTROL) is not None


def tell(path: str) -> None:
    """Before its constructor runs, or before begin(): where the memory is."""
    text = path.encode()
    if len(text) < _PATH_SIZE:
        _write(_PATH_AT, text.ljust(_PATH_SIZE, b"\0"))


def _write(at: int, data: bytes) -> None:
    memory.write(gdb.selected_inferior().pid, _control() + at, data)


def _word(at: int) -> int:
    return int.from_bytes(memory.read(gdb.selected_inferior().pid,
                                      _control() + at, 4), "little")


def _control() -> int:
    control = symbol_address(CONTROL)
    if control is None:
        raise gdb.GdbError("the program has no %s" % locate.SAMPLER)
    return control


def _address(name: str) -> int:
    address = symbol_address(name)
    if address is None:
        raise gdb.GdbError("the program has no %s()" % name)
    return address


def _call(name: str, path: str = "", number: int = 0) -> int:
    """Calls it with the path, and a number."""
    # Only the selected thread runs, and no breakpoint or signal of the
    # program's leaves it in the middle.
    with changed("scheduler-locking", "on"):
        try:
            with inferior_call.calls(_address) as call:
                text = call.put(os.fsencode(path) + b"\0") if path else 0
                return call(_address(name), text, number)
        except gdb.error as e:
            raise gdb.GdbError(
                "cannot call %s() in the program (%s): `cstrace sample` before "
                "`run`, or `cstrace sample -p PID` in a shell after `detach`"
                % (name, e)) from None


def _busy_frame() -> Optional[str]:
    frame: Optional[gdb.Frame] = gdb.newest_frame()
    for _ in range(12):
        if frame is None:
            break
        name = frame.name()
        if name and re.match(_LOCKED, name):
            return name
        frame = frame.older()
    return None


def load() -> None:
    """Into a program that runs without it."""
    if symbol_address("dlopen") is None:
        raise gdb.GdbError("the program is static, and cannot load %s: "
                           "`cstrace sample -p PID` in a shell samples it from "
                           "outside" % locate.SAMPLER)
    name = _busy_frame()
    if name is not None:
        raise gdb.GdbError("the program stands in %s(), where nothing can be "
                           "loaded: `finish`, then again" % name)
    if not _call("dlopen", locate.sampler(), _RTLD_NOW):
        raise gdb.GdbError("the program could not load %s"
                           % locate.sampler())


def begin() -> None:
    """Anew, with the next `continue`: without a call of a function, where one
    that has sampled before has its handler."""
    number = _word(_SIGNAL_AT)
    if number:
        _write(_REQUEST_AT, (_word(_REQUEST_AT) + 1).to_bytes(4, "little"))
        os.kill(gdb.selected_inferior().pid, number)
    elif _call(START) & 0xffffffff:
        raise gdb.GdbError("the program cannot be sampled: it found no "
                           "libunwind-x86_64.so.8 (package libunwind8), or "
                           "cannot open gdb's memory")
