# SPDX-License-Identifier: MIT
"""The hooks' frames are none of the user's: a signal that stops the program in
a hook shows the function that called it, as a breakpoint would."""

from __future__ import annotations

import itertools
import re
from typing import Any, Iterator, Optional

import gdb

from .. import engine, locate
from ..process import x86_64

_HOOK = re.compile(r"(__cyg_profile_func_(enter|exit)(@plt)?|cstrace_\w+)$")

# What an instruction of the hook's own has raised, it would raise again.
_FAULTS = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGSYS")


def is_hooks(frame: gdb.Frame) -> bool:
    """Does it belong to the shim, or to hooks without a source?"""
    if frame.type() != gdb.NORMAL_FRAME:
        return False
    library = gdb.solib_name(frame.pc())
    if library and locate.is_shim(library):
        return True
    return (_HOOK.match(frame.name() or "") is not None
            and frame.find_sal().symtab is None)


def _users(frame: gdb.Frame) -> Optional[gdb.Frame]:
    """The first frame, from this one outwards, that is the user's."""
    found: Optional[gdb.Frame] = frame
    while found is not None and is_hooks(found):
        found = found.older()
    return found


def is_in_hook() -> bool:
    try:
        return is_hooks(gdb.newest_frame())
    except gdb.error:
        return False  # no process, or its thread is running


def leave_hook(signal: str) -> None:
    """In hook-stop, after this signal: let the thread stand in the function
    whose hook it is in, or at least select that one's frame.  It may wait for
    a chunk: what is there must have been read."""
    newest = gdb.newest_frame()
    user = _users(newest)
    if user is None or user == newest:
        return
    if signal not in _FAULTS:
        tid = gdb.selected_thread().ptid[1]
        sp = int(user.read_register(x86_64.SP_REGISTER))
        engine.step_out(tid, user.pc(), sp % 2**64)
        # gdb does not know that it moved.
        gdb.execute("maintenance flush register-cache", to_string=True)
        user = _users(gdb.newest_frame())
    if user is not None:
        user.select()


class HookFilter:
    """Leaves the hooks' frames out of `backtrace`, where they are the
    innermost.  Else gdb is not to take its slower way through filters."""

    def __init__(self) -> None:
        self.name = "cstrace"
        self.priority = 100
        self._is_wanted = True

    @property
    def enabled(self) -> bool:
        return self._is_wanted and is_in_hook()

    @enabled.setter
    def enabled(self, is_wanted: bool) -> None:
        self._is_wanted = is_wanted

    def filter(self, frames: Iterator[Any]) -> Iterator[Any]:
        return itertools.dropwhile(lambda d: is_hooks(d.inferior_frame()),
                                   frames)


def register() -> None:
    hooks = HookFilter()
    gdb.frame_filters[hooks.name] = hooks
