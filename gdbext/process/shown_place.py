# SPDX-License-Identifier: MIT
"""A thread that has stopped in a trampoline while others run, so that no code can
change for it: gdb is shown its function's own place.  The thread stays where it is,
and goes on from there, by whatever command."""

from __future__ import annotations

import contextlib
from typing import Callable, Iterator, NamedTuple, Optional

import gdb

from .. import engine
from . import arrival
from .standing import flush, write_saved


class _Shown(NamedTuple):
    """Where gdb has the thread, and where it is."""

    own: int
    copy: int


class ShownPlaces:
    """All threads that stand so."""

    def __init__(self, copy_of: Callable[[int], Optional[int]]) -> None:
        # Where a trampoline has what a place is of that a patch has covered.
        self._copy_of = copy_of
        self._all: dict[int, _Shown] = {}  # by thread
        self._is_new = True  # no thread has stood so

    def show(self, own: int) -> None:
        """The selected thread, in a trampoline, has registers as at own."""
        tid = gdb.selected_thread().ptid[1]
        self._is_new = False
        self._all[tid] = _Shown(own, int(gdb.newest_frame().pc()))
        self._set(tid, self._all[tid])

    @staticmethod
    def _set(tid: int, one: _Shown) -> None:
        gdb.execute("set var $pc = %#x" % one.own, to_string=True)
        write_saved()
        gdb.newest_frame().pc()  # gdb has read the registers
        engine.thread_move(tid, one.own, one.copy)

    def has_any(self) -> bool:
        return bool(self._all)

    def of_selected(self) -> Optional[int]:
        """Where gdb has the selected thread, if it stands so."""
        one = self._all.get(gdb.selected_thread().ptid[1])
        return one and one.own

    @contextlib.contextmanager
    def really_there(self) -> Iterator[None]:
        """The selected thread may go on, but is not to execute anything."""
        tid = gdb.selected_thread().ptid[1]
        one = self._all.get(tid)
        if one is None:
            yield
            return
        engine.thread_move(tid, one.copy, one.own)
        try:
            yield
        finally:
            flush()
            self._set(tid, one)

    def gone_on(self, thread: Optional[gdb.InferiorThread]) -> None:
        """None: all have."""
        if thread is None:
            self._all = {}
        else:
            self._all.pop(thread.ptid[1], None)

    def hold(self) -> None:
        """Behind a call, at once or later, gdb gives a thread the registers back
        that it has seen: none is to go on within a patch."""
        if self._is_new:
            return
        with arrival.selected_kept():
            for thread in gdb.selected_inferior().threads():
                if thread.is_stopped():
                    self._hold(thread)

    def _hold(self, thread: gdb.InferiorThread) -> None:
        tid = thread.ptid[1]
        one, at = self._all.get(tid), engine.thread_registers(tid)
        if at is None:
            return
        copy = one.copy if one and at.pc == one.own else self._copy_of(at.pc)
        if copy is not None:
            one = self._all[tid] = _Shown(at.pc, copy)
            engine.thread_move(tid, at.pc, copy)
        elif one is None or at.pc != one.copy:
            self._all.pop(tid, None)
            return
        thread.switch()
        if int(gdb.newest_frame().pc()) == one.copy:
            self._set(tid, one)
