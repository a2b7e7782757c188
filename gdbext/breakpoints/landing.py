# SPDX-License-Identifier: MIT
"""From the shim's function that does nothing to the user's own frame: the
session stops where the hook returns to, with no frame of ours in sight."""

from __future__ import annotations

from typing import Callable, NamedTuple

import gdb

from .. import _abi as abi
from ..process import x86_64
from ..ui import ctrlc, frames

TARGET = "cstrace_hook_stop"


class Hit(NamedTuple):
    """A condition that was true."""

    place: int  # of the condition
    is_entry: bool
    is_jump: bool  # the call is being left by a jump or an exception
    ns: int  # the call's duration at its end
    thread: int  # gdb's number


class Question(NamedTuple):
    """What a hook asks of a condition on values."""

    place: int  # of the condition
    is_exit: bool
    hook: int  # where it returns to
    callee: int


def _behind_prologue(user: gdb.Frame) -> int:
    """Where the arguments are in their places: without optimization clang
    calls the hook before it moves them there, to the end of that line."""
    line = gdb.find_pc_line(user.pc())
    if line.symtab is None or not line.last or line.pc == user.pc():
        return user.pc()
    try:
        way = user.architecture().disassemble(user.pc(), line.last)
    except gdb.error:
        return user.pc()
    is_moving = all(i["asm"].startswith("mov") for i in way)
    return line.last + 1 if is_moving else user.pc()


class _Landing(gdb.Breakpoint):
    """Where the hook returns to."""

    def __init__(self, user: gdb.Frame, pc: int,
                 landed: Callable[[], None]) -> None:
        super().__init__("*%#x" % pc, internal=True, temporary=True)
        self.silent = True
        self.thread = gdb.selected_thread().global_num
        self._sp = _sp_of(user)
        self._landed = landed

    @ctrlc.handed_on
    def stop(self) -> bool:
        # A signal handler may run the same code first.
        if _sp_of(gdb.newest_frame()) != self._sp:
            return False
        self._landed()
        return True


def _sp_of(frame: gdb.Frame) -> int:
    return int(frame.read_register(x86_64.SP_REGISTER)) % 2**64


class StopBreakpoint(gdb.Breakpoint):
    """A hook has found a condition to be true."""

    def __init__(self, pid: int, wants: Callable[[Hit], bool],
                 landed: Callable[[Hit], None],
                 asked: Callable[[Question], None]) -> None:
        super().__init__(TARGET, internal=True)
        self.silent = True
        self._pid = pid
        self._wants = wants
        self._landed = landed
        self._asked = asked

    @ctrlc.handed_on
    def stop(self) -> bool:
        place, kind, ns = (int(gdb.parse_and_eval(r))
                           for r in x86_64.ARGUMENTS)
        # A fork child that gdb holds, too, is none of it.
        if gdb.selected_inferior().pid != self._pid:
            return False
        if kind in (abi.CST_STOP_ASKS_ENTRY, abi.CST_STOP_ASKS_EXIT):
            callee = int(gdb.parse_and_eval(x86_64.FOURTH_ARGUMENT))
            self._asked(Question(place, kind == abi.CST_STOP_ASKS_EXIT, ns,
                                 callee))
            return False
        hit = Hit(place, kind == abi.CST_STOP_IS_ENTRY,
                  kind == abi.CST_STOP_IS_JUMP, ns,
                  gdb.selected_thread().num)
        if not self._wants(hit):
            return False
        if hit.is_jump:
            # The frames between are libc's or the unwinder's: there is no
            # way back to the user's.
            self._landed(hit)
            return True
        user = frames.users(gdb.newest_frame())
        _Landing(user, _behind_prologue(user) if hit.is_entry else user.pc(),
                 lambda: self._landed(hit))
        return False


class _Passing(_Landing):
    """One at which the session does not stop."""

    @ctrlc.handed_on
    def stop(self) -> bool:
        if self.has_passed or not super().stop():
            return False
        self.has_passed = True
        gdb.post_event(self._go)  # not here: gdb is in it
        return False

    has_passed = False

    def _go(self) -> None:
        if self.is_valid():
            self.delete()


def when_arguments_are_there(call: Callable[[gdb.Frame], None]) -> None:
    """Calls it with the user's frame: at once, from within the hook, or where
    the hook has returned to and the arguments are in their places."""
    user = frames.users(gdb.newest_frame())
    pc = _behind_prologue(user)
    if pc == user.pc():
        call(user)
    else:
        _Passing(user, pc, lambda: call(gdb.newest_frame()))
