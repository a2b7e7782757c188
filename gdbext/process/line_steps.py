# SPDX-License-Identifier: MIT
"""gdb steps a thread by lines, for `step`, `next` and `until`: one instruction
after the other as long as these are in the lines' code, in whichever call.  So it
steps on in a recursive call, and through the trampolines that report it; but what
these call of the shim, gdb takes for a call of another function's.

At the shim's first instruction gdb asks unwinders for the thread's frame.  There
the thread runs, behind gdb's back, to where the shim returns to."""

from __future__ import annotations

import struct
from typing import Any

import gdb

from .. import _abi as abi, engine
from . import memory
from .patched_area import Area
from .standing import Standing, flush

_WORD = 8


class LineSteps:
    """Threads that step, each from the command to a stop."""

    def __init__(self, standing: Standing) -> None:
        self.areas: list[Area] = []
        self._standing = standing
        self._tids: set[int] = set()
        self._has_run = False  # one, behind gdb's back
        self._inside: set[int] = set()  # these have not come out of the shim

    def begin(self) -> None:
        """gdb is about to step the selected thread."""
        self._tids.add(gdb.selected_thread().ptid[1])

    def look(self, pending: Any) -> None:
        """For an unwinder, of any frame."""
        if not self._tids or pending.level():
            return
        thread = gdb.selected_thread()
        if thread is not None and thread.ptid[1] in self._tids:
            self._pass(thread.ptid[1])

    def _pass(self, tid: int) -> None:
        """Passes over the shim, if a trampoline has just called it."""
        at = engine.thread_registers(tid)
        if at is None:
            return
        pid = gdb.selected_inferior().pid
        try:
            to = int.from_bytes(memory.read(pid, at.sp, _WORD), "little")
            area = next((a for a in self.areas if to in a.hooks), None)
            if area is None:
                return
            # A function may have an old return address there.
            slots = struct.unpack("<%dQ" % abi.CST_PLAN_SLOTS, memory.read(
                pid, area.start, _WORD * abi.CST_PLAN_SLOTS))
        except OSError:
            return
        if at.pc in slots:
            self._has_run = True
            while not engine.come_to(tid, to):
                if not self._standing.pass_noop(tid):
                    self._inside.add(tid)
                    return

    def end(self) -> bool:
        """At a stop: returns whether a thread has run something."""
        self._tids &= {t.ptid[1] for t in gdb.selected_inferior().threads()
                       if t.is_running()}
        has_run, self._has_run = self._has_run, False
        if has_run:
            flush()
        return has_run

    def come_out(self) -> bool:
        """gdb's step has ended.  In the shim, where the session stops for a
        condition?  Then the thread leaves it."""
        tid = gdb.selected_thread().ptid[1]
        is_inside = tid in self._inside and self._standing.come_out()
        self._inside &= self._tids
        return is_inside
