# SPDX-License-Identifier: MIT
"""The user's `catch syscall`, which would stop at the system calls that the shim
makes for itself, too.  While the program runs each of these catchpoints has a
condition of ours, which gdb's lists never show."""

from __future__ import annotations

import re
from typing import Iterator, Optional

import gdb

from .. import locate
from ..ui import ctrlc

_KIND = getattr(gdb, "BP_CATCHPOINT", None)  # older gdbs have none
_OF_SYSCALLS = re.compile(r'^\d+ .* syscalls? "', re.M)


class _IsProgramsCall(gdb.Function):
    """Is the selected thread's system call none of the shim's?"""

    NAME = "_cstrace_is_programs_call"

    def __init__(self) -> None:
        super().__init__(self.NAME)

    @ctrlc.handed_on
    def invoke(self) -> bool:
        try:
            path = gdb.solib_name(gdb.newest_frame().pc())
        except gdb.error:  # of that gdb makes a stop with a message
            return True
        return path is None or not locate.is_shim(path)


def _is_of_syscalls(catch: gdb.Breakpoint) -> bool:
    text = gdb.execute("info breakpoints %d" % catch.number, to_string=True)
    return _OF_SYSCALLS.search(text) is not None


class SyscallCatches:
    """All of them."""

    def __init__(self) -> None:
        _IsProgramsCall()
        self._are_ours = False  # have they our condition?
        # By their numbers, with the user's condition.
        self._conditions: dict[int, Optional[str]] = {}

    @staticmethod
    def _all() -> Iterator[gdb.Breakpoint]:
        for b in gdb.breakpoints():
            if _KIND is not None and b.is_valid() and b.type == _KIND:
                yield b

    def gone_on(self) -> None:
        """The program runs."""
        if self._are_ours and not gdb.parameter("non-stop"):
            return
        self._are_ours = True
        for b in self._all():
            if b.number not in self._conditions and _is_of_syscalls(b):
                self._conditions[b.number] = b.condition
                b.condition = self._condition(b.condition)

    def stopped(self) -> None:
        """It stands still, and the user may look."""
        if gdb.parameter("non-stop") and any(
                t.is_running() for i in gdb.inferiors() for t in i.threads()):
            return
        self._are_ours = False
        conditions, self._conditions = self._conditions, {}
        for b in self._all() if conditions else ():
            own = conditions.get(b.number)
            if b.number in conditions and b.condition == self._condition(own):
                b.condition = own

    @staticmethod
    def _condition(own: Optional[str]) -> str:
        ours = "$%s()" % _IsProgramsCall.NAME
        return ours if own is None else "%s && (%s)" % (ours, own)
