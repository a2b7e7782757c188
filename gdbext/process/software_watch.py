# SPDX-License-Identifier: MIT
"""A watchpoint without hardware, as of a register: gdb executes one instruction
after the other, in trampolines and in the shim, too, and stops where the value is
another.  There it would be at each push.

A watchpoint of our own is asked at each of these steps: a thread that comes to
what a trampoline does for itself runs to behind that, behind gdb's back.  A call's
copy is several instructions: the thread executes all but the last, which then
counts as the call."""

from __future__ import annotations

import contextlib
from typing import Callable, NamedTuple, Optional

import gdb

from .. import _abi as abi, engine
from ..ui import ctrlc
from . import displaced, memory
from .patched_area import Area
from .instruction_steps import InstructionSteps
from .standing import Standing, flush

_WATCHPOINTS = (gdb.BP_WATCHPOINT, gdb.BP_HARDWARE_WATCHPOINT,
                gdb.BP_READ_WATCHPOINT, gdb.BP_ACCESS_WATCHPOINT)
_WORD = 8
_CALL = b"\x48\x8d\x64\x24\xf8\x50\x48\x8d\x05"  # lea, push, lea
_CALL_BYTES = 19  # up to its jump
_JUMPS = (b"\xe9", b"\xff\x25")


class _Stepped(gdb.Function):
    """Is always 0.  cstrace has a watchpoint on it, so that gdb asks for it at
    each step for a watchpoint of yours."""

    NAME = "_cstrace_stepped"

    def __init__(self, stepped: Callable[[], None]) -> None:
        super().__init__(self.NAME)
        self._stepped = stepped

    @ctrlc.handed_on
    def invoke(self) -> int:
        with contextlib.suppress(gdb.error, OSError):
            self._stepped()
        return 0


class _Call(NamedTuple):
    """A thread is at the last instruction of a call's copy."""

    copy: int
    old: bytes  # where the return address is now


class SoftwareWatch:
    """Is there as long as one of the user's is."""

    def __init__(self, standing: Standing, steps: InstructionSteps) -> None:
        self._standing = standing
        self._steps = steps
        _Stepped(self._stepped)
        self._areas: list[Area] = []
        self._own: list[gdb.Breakpoint] = []  # the last one is in use
        self._numbers: set[int] = set()  # the user's
        self._has_any = False  # watchpoint of any kind
        self._calls: dict[int, _Call] = {}  # by thread
        self._has_run = False  # a thread, behind gdb's back

    def set_areas(self, areas: list[Area]) -> None:
        self._areas = areas
        self._calls = {}
        self.look()

    def look(self, going: int = 0) -> None:
        """A breakpoint has changed, or what is patched, or the one with that
        number is about to go.  gdb may go through its breakpoints: none is
        deleted."""
        kinds = {b.number: b.type for b in gdb.breakpoints() if b.enabled
                 and b.visible and b.type in _WATCHPOINTS} if self._areas else {}
        kinds.pop(going, None)
        self._has_any = bool(kinds)
        numbers = {n for n, kind in kinds.items() if kind == gdb.BP_WATCHPOINT}
        has_more = not numbers <= self._numbers
        if numbers == self._numbers:
            return
        self._numbers = numbers  # first: gdb tells of ours, too
        if has_more:
            # The user's are asked first: they see what was before.
            self._own.append(gdb.Breakpoint(
                "$%s()" % _Stepped.NAME, type=gdb.BP_WATCHPOINT, internal=True))
        for own in self._left():
            own.enabled = False

    def place_of(self, pc: int) -> Optional[int]:
        """InstructionSteps.place_of(), while there are watchpoints, with hardware
        or without."""
        return self._steps.place_of(pc) if self._has_any else None

    def has_hardware(self) -> bool:
        """Is there a watchpoint with hardware, and none without?"""
        return self._has_any and not self._numbers

    def _left(self) -> list[gdb.Breakpoint]:
        return [own for own in (self._own[:-1] if self._numbers else self._own)
                if own.is_valid()]

    def begin(self, is_over_calls: bool) -> bool:
        """gdb is about to let the selected thread go on, by `nexti` if
        is_over_calls: does it execute one instruction after the other?"""
        for own in self._left():
            own.delete()
        self._own = self._own[-1:] if self._numbers else []
        if self._numbers:
            self._steps.begin(is_over_calls, is_watched=True)
        return bool(self._numbers)

    def _stepped(self) -> None:
        """The selected thread has executed an instruction, unless gdb has just
        made the watchpoint."""
        thread = gdb.selected_thread()
        if thread is None or thread.is_stopped():
            return
        tid = thread.ptid[1]
        if self._steps.follow(tid):
            return
        self._calls.pop(tid, None)
        while True:
            at = engine.thread_registers(tid)
            if at is None or not any(a.is_code(at.pc) for a in self._areas):
                return
            if displaced.own_place(self._areas, at.pc) is not None:
                self._begin_call(tid, at)
                return
            to = displaced.next_place(self._areas, at.pc, at.sp)
            if to is None:
                return
            self._has_run = True
            if not self._standing.come_to(tid, to):
                return

    def _begin_call(self, tid: int, at: abi.cst_registers) -> None:
        pid = gdb.selected_inferior().pid
        code = memory.read(pid, at.pc, _CALL_BYTES + 2)
        if not code.startswith(_CALL) or not code.startswith(
                _JUMPS, _CALL_BYTES):
            return
        old = memory.read(pid, at.sp - _WORD, _WORD)
        self._has_run = True
        if self._standing.come_to(tid, at.pc + _CALL_BYTES):
            self._calls[tid] = _Call(at.pc, old)

    def _undo(self, tid: int, call: _Call) -> None:
        """gdb has stopped before the call."""
        at = engine.thread_registers(tid)
        if at is None or at.pc != call.copy + _CALL_BYTES:
            return
        memory.write(gdb.selected_inferior().pid, at.sp, call.old)
        at.pc, at.sp = call.copy, at.sp + _WORD
        engine.thread_set(tid, at)

    def end(self) -> bool:
        """At a stop: returns whether a thread has run something."""
        has_run, self._has_run = self._has_run, False
        for tid in list(self._calls):
            self._undo(tid, self._calls.pop(tid))
        if has_run:
            flush()
        return has_run
