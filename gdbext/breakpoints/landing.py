# SPDX-License-Identifier: MIT
"""From the shim's function that does nothing to the user's own frame: the
session stops where the hook returns to, with no frame of ours in sight."""

from __future__ import annotations

from typing import Callable, NamedTuple, Optional

import gdb

from .. import _abi as abi
from ..process import x86_64
from ..process.standing import Expected, Standing, line_behind
from ..ui import ctrlc, frames


class Hit(NamedTuple):
    """A condition that was true."""

    place: int  # of the condition
    is_entry: bool
    is_jump: bool  # the call is being left by a jump or an exception
    ns: int  # the call's duration at its end
    thread: int  # gdb's number
    is_exception: bool = False  # ... by that
    has_left: bool = False  # the thread stands behind the call


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


class _Place(NamedTuple):
    """An address, and what tells that it is reached by the frame meant: a
    signal handler may run the same code first."""

    pc: int
    register: str
    value: int


class _Landing(Expected):
    """Where the hook returns to, or later in the same frame."""

    def __init__(self, standing: Standing, is_entry: bool,
                 landed: Callable[[], None], condition: int = -1) -> None:
        place = _place(standing, is_entry)
        super().__init__("*%#x" % place.pc, internal=True, temporary=True)
        self.silent = True
        self.thread = gdb.selected_thread().global_num
        self._place = place
        self._landed = landed
        self.condition_place = condition
        standing.expect(self)

    @ctrlc.handed_on
    def stop(self) -> bool:
        if _register(gdb.newest_frame(),
                     self._place.register) != self._place.value:
            return False
        self._landed()
        return True


def _register(frame: gdb.Frame, name: str) -> int:
    return int(frame.read_register(name)) % 2**64


def _sp_of(frame: gdb.Frame) -> int:
    return _register(frame, x86_64.SP_REGISTER)


def _place(standing: Standing, is_entry: bool) -> _Place:
    """Where the session is to stop for a hit."""
    newest = gdb.newest_frame()
    found = standing.trampoline(newest)
    if found is None:
        user = frames.users(newest)
        return _Place(_behind_prologue(user) if is_entry else user.pc(),
                      x86_64.SP_REGISTER, _sp_of(user))
    pc, sp, hook = found
    behind = line_behind(hook) if is_entry else 0
    if behind:
        user = frames.users(newest)
        return _Place(behind, "rbp", _register(user, "rbp"))
    return _Place(pc, x86_64.SP_REGISTER, sp)


def _land(standing: Standing, hit: Hit, landed: Callable[[Hit], None]) -> None:
    _Landing(standing, hit.is_entry, lambda: landed(hit), hit.place)


_QUESTIONS = (abi.CST_STOP_ASKS_ENTRY, abi.CST_STOP_ASKS_EXIT)


class StopBreakpoint(gdb.Breakpoint):
    """A hook has found a condition to be true."""

    def __init__(self, pid: int, standing: Standing,
                 wants: Callable[[Hit], bool], landed: Callable[[Hit], None],
                 asked: Callable[[Question], None]) -> None:
        super().__init__(Standing.TARGET, internal=True)
        self.silent = True
        self._standing = standing
        self._pid = pid
        self._wants = wants
        self._landed = landed
        self._asked = asked
        standing.answer = self._answer

    def is_of_selected(self) -> bool:
        """Does it ask the process of now?  A fork child is none of it."""
        return gdb.selected_inferior().pid == self._pid

    @ctrlc.handed_on
    def stop(self) -> bool:
        if not self.is_of_selected():
            return False
        hit = self.hear(*(int(gdb.parse_and_eval(r)) for r in (
            *x86_64.ARGUMENTS, x86_64.FOURTH_ARGUMENT)))
        if hit is None:
            return False
        if hit.is_jump:
            # The frames between are libc's or the unwinder's: there is no
            # way back to the user's.
            self._landed(hit)
            return True
        _land(self._standing, hit, self._landed)
        return False

    def _answer(self, at: abi.cst_registers) -> bool:
        is_question = at.arguments[1] in _QUESTIONS
        if is_question:
            self.hear(*at.arguments)
        return is_question

    def hear(self, place: int, kind: int, ns: int,
             callee: int) -> Optional[Hit]:
        """What the shim says, by its arguments: returns the hit for which the
        program is to stop, if it is one."""
        if kind in _QUESTIONS:
            self._asked(Question(place, kind == abi.CST_STOP_ASKS_EXIT, ns,
                                 callee))
            return None
        is_exception = kind == abi.CST_STOP_IS_UNWINDER
        hit = Hit(place, kind == abi.CST_STOP_IS_ENTRY,
                  is_exception or kind == abi.CST_STOP_IS_JUMP, ns,
                  gdb.selected_thread().num, is_exception)
        return hit if self._wants(hit) else None


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


def when_arguments_are_there(standing: Standing,
                             call: Callable[[gdb.Frame], None]) -> None:
    """Calls it with the user's frame: at once, from within the hook, or where
    the hook has returned to and the arguments are in their places."""
    newest = gdb.newest_frame()
    user, found = frames.users(newest), standing.trampoline(newest)
    is_there = (not line_behind(found[2]) if found
                else _behind_prologue(user) == user.pc())
    if is_there:
        call(user)
    else:
        _Passing(standing, True, lambda: call(gdb.newest_frame()))
