# SPDX-License-Identifier: MIT
"""gdb steps a thread by lines, for `step`, `next` and `until`: one instruction
after the other as long as these are in the lines' code, in whichever call.  So it
steps on in a recursive call, and through the trampolines that report it; but what
these call of the shim, gdb takes for a call of another function's.  And where a
function of the shim's stands before libc's, as `longjmp()`, gdb would not see that
libc's is called, through which it steps in musl.

At the shim's first instruction gdb asks unwinders for the thread's frame.  There
the thread runs, behind gdb's back, to where the shim returns to, or to its jump to
libc's function."""

from __future__ import annotations

import contextlib
from typing import Callable

import gdb

from .. import _abi as abi, engine
from ..gdb_setting import Held
from . import hooks, memory
from .patched_area import Patch
from .standing import Standing, flush, return_from

# What the shim calls before and after it maps areas, for a breakpoint.
MAPPED = "cstrace_patches_mapped"
_WORD = 8


class LineSteps:
    """Threads that step, each from the command to a stop."""

    def __init__(self, standing: Standing, in_line: Held) -> None:
        self._standing = standing
        self._in_line = in_line
        self._tids: set[int] = set()
        self.jumps: dict[int, Patch] = {}  # short ones, at functions' begins
        self._jumped: dict[int, Patch] = {}  # by these, as a step began
        self._has_run = False  # one, behind gdb's back
        # These have not come out of the shim: to that place, unless 0, from the
        # breakpoint where it maps areas.  And these have.
        self._inside: dict[int, int] = {}
        self._told: set[int] = set()

    def begin(self, may_jump: bool) -> None:
        """gdb is about to step the selected thread; may_jump: nothing else looks
        after what it does at a patch."""
        tid = gdb.selected_thread().ptid[1]
        self._tids.add(tid)
        self._inside.pop(tid, None)
        if may_jump and self._jump(tid, int(gdb.newest_frame().pc())):
            # With it gdb would set the thread back, at a breakpoint there.
            self._in_line.hold(self)

    def leave_jump(self, pc: int) -> None:
        """For an unwinder: a frame of the selected thread is here.  It may be
        the next of several steps that begins here."""
        if pc in self.jumps and self._tids:
            thread = gdb.selected_thread()
            if thread is not None and thread.ptid[1] in self._tids:
                self._jump(thread.ptid[1], pc)

    def _jump(self, tid: int, pc: int) -> bool:
        """If the thread is at a patch's short jump, it jumps, behind gdb's
        back: where it lands is another line perhaps, which gdb would compare the
        next one with."""
        jump = self.jumps.get(pc)
        if jump is None:
            return False
        try:
            is_there = jump.is_there(gdb.selected_inferior().pid)
        except OSError:
            return False
        if is_there and engine.thread_move(tid, pc, jump.trampoline):
            self._jumped[tid] = jump
        return self._jumped.get(tid) is jump

    def look(self, pc: int, last: int) -> bool:
        """For an unwinder: gdb has seen the selected thread at the first
        instruction of the shim's.  Does it step?  Then it passes over the
        shim, up to that instruction unless 0."""
        thread = gdb.selected_thread()
        tid = thread.ptid[1] if thread is not None else 0
        if last == pc:  # a breakpoint, see go_on()
            return tid in self._inside or tid in self._told
        if tid in self._tids:
            self._pass(tid, pc, last)
        return tid in self._tids

    def _pass(self, tid: int, pc: int, last: int) -> None:
        at = engine.thread_registers(tid)
        if at is None or at.pc != pc:
            return  # it has passed already
        with contextlib.suppress(OSError):  # the process is gone
            to = last or int.from_bytes(memory.read(
                gdb.selected_inferior().pid, at.sp, _WORD), "little")
            self._has_run = True
            if not self._standing.come_to(tid, to):
                at = engine.thread_registers(tid)
                is_mapping = at is not None and (
                    at.pc == hooks.symbol_address(MAPPED))
                self._inside[tid] = to if is_mapping else 0

    def go_on(self, hear: Callable[[abi.cst_registers], None]) -> None:
        """A thread has come to the breakpoint where the shim maps areas, and
        has been heard.  If a step has led it there, through the dynamic linker,
        it goes on, behind gdb's back, to where the step does; hear() is given
        each such call on the way."""
        tid = gdb.selected_thread().ptid[1]
        to, at = self._inside.get(tid, 0), engine.thread_registers(tid)
        if not to or at is None:
            return
        self._in_line.hold(self)  # gdb steps over the breakpoint
        self._told.add(tid)
        place = at.pc
        while at is not None and at.pc == place:
            return_from(tid, at)
            if self._standing.come_to(tid, to):
                del self._inside[tid]
                return
            at = engine.thread_registers(tid)
            if at is not None and at.pc == place:
                hear(at)

    def end(self) -> bool:
        """At a stop: returns whether a thread has run something."""
        if not self._tids and not self._jumped:
            return False
        self._tids &= {t.ptid[1] for t in gdb.selected_inferior().threads()
                       if t.is_running()}
        # Into an inlined call gdb steps without a step of the thread's.
        for tid in self._jumped.keys() - self._tids:
            jump = self._jumped.pop(tid)
            engine.thread_move(tid, jump.trampoline, jump.address)
        if not self._jumped:
            self._in_line.release(self)
        self._told.clear()
        has_run, self._has_run = self._has_run, False
        if has_run and self._is_elsewhere():
            flush()
        return has_run

    @staticmethod
    def _is_elsewhere() -> bool:
        """Is the selected thread where gdb does not know it to be?"""
        at = engine.thread_registers(gdb.selected_thread().ptid[1])
        frame = gdb.newest_frame()
        return at is None or (at.pc, at.sp) != tuple(
            int(frame.read_register(r)) % 2**64 for r in ("rip", "rsp"))

    def process_ended(self) -> None:
        self._tids, self._jumped, self._inside = set(), {}, {}
        self._has_run, self._told = False, set()
        self._in_line.release(self)

    def come_out(self) -> bool:
        """gdb's step has ended.  In the shim, where the session stops for a
        condition?  Then the thread leaves it."""
        tid = gdb.selected_thread().ptid[1]
        is_inside = tid in self._inside and self._standing.come_out()
        self._inside = {t: to for t, to in self._inside.items()
                        if t in self._tids}
        return is_inside
