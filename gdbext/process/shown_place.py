# SPDX-License-Identifier: MIT
"""A thread that has stopped in a trampoline while others run, so that no code can
change for it, or in the shim where its stack has ended: gdb is shown its function's
own place.  The thread stays where it is, and goes on from there, by whatever
command."""

from __future__ import annotations

import contextlib
from typing import Callable, Iterator, NamedTuple, Optional

import gdb

from .. import engine
from . import arrival
from .standing import flush, write_saved


class _Shown(NamedTuple):
    """The registers that gdb has of the thread, and those that it has."""

    seen: dict[str, int]
    real: dict[str, int]


class ShownPlaces:
    """All threads that stand so."""

    def __init__(self, copy_of: Callable[[int], Optional[int]]) -> None:
        # Where a trampoline has what a place is of that a patch has covered.
        self._copy_of = copy_of
        self._all: dict[int, _Shown] = {}  # by thread
        self._is_new = True  # no thread has stood so

    def show(self, registers: dict[str, int]) -> None:
        """The selected thread has these in its function, and all others as they
        are."""
        tid = gdb.selected_thread().ptid[1]
        real = engine.thread_take(tid)
        if real is None:
            return
        self._is_new = False
        self._all[tid] = _Shown({**real, **registers}, real)
        self._set(tid)
        write_saved()
        self._set(tid)

    def _set(self, tid: int) -> None:
        one = self._all[tid]
        engine.thread_give(tid, one.seen)
        flush()
        gdb.newest_frame().pc()  # gdb has read the registers
        engine.thread_give(tid, one.real)

    def has_any(self) -> bool:
        return bool(self._all)

    def has_selected(self) -> bool:
        return gdb.selected_thread().ptid[1] in self._all

    @contextlib.contextmanager
    def really_there(self) -> Iterator[None]:
        """The selected thread may go on, but is not to execute anything."""
        tid = gdb.selected_thread().ptid[1]
        one = self._all.get(tid)
        if one is None:
            yield
            return
        engine.thread_give(tid, one.seen)
        try:
            yield
        finally:
            self._set(tid)

    def leave(self) -> None:
        """The selected thread is to go on elsewhere in its function: it has the
        registers that gdb has of it."""
        thread = gdb.selected_thread()
        tid = thread.ptid[1] if thread is not None else 0
        one = self._all.pop(tid, None)
        if one is not None:
            engine.thread_give(tid, one.seen)

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
        one, at = self._all.get(tid), engine.thread_take(tid)
        if at is None:
            return
        if one and at["rip"] == one.seen["rip"]:
            if one.seen["rsp"] != one.real["rsp"]:
                del self._all[tid]  # the shim's stack was the call's, too
                return
            engine.thread_give(tid, one.real)
        elif (copy := self._copy_of(at["rip"])) is not None:
            one = self._all[tid] = _Shown(at, {**at, "rip": copy})
            engine.thread_give(tid, one.real)
        elif one is None or at["rip"] != one.real["rip"]:
            self._all.pop(tid, None)
            return
        thread.switch()
        if int(gdb.newest_frame().pc()) == one.real["rip"]:
            self._set(tid)
