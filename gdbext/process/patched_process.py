# SPDX-License-Identifier: MIT
"""One process that is patched, and what of it is not."""

from __future__ import annotations

import contextlib
import copy
from typing import Optional

import gdb

from . import hooks, x86_64
from .arrival import Notice, selected_kept, threads
from .patched_area import LONGEST_PATCH, Area, Patch
from .standing import with_code

Key = tuple[int, int]  # area, function


class PatchedProcess:
    """gdb may have several: a program and its fork children, or its
    checkpoints."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.areas: list[Area] = []
        self.slots: dict[int, tuple[bytes, bytes]] = {}  # old, new
        self.moves: dict[int, int] = {}  # by thread: where it goes on
        self.is_resting = False  # no patch is written for now
        self.staying: set[Key] = set()  # but for these
        self.left_out: set[Key] = set()
        self.late: set[Key] = set()  # of these: for now
        self.notice: Optional[Notice] = None
        self.led: Optional[tuple[Notice, bytes]] = None  # old bytes

    def child(self, pid: int) -> PatchedProcess:
        """It is selected, and has all that this one has; what is away there
        comes back at a stop."""
        made = copy.copy(self)
        made.pid, made.moves = pid, {}
        lost = {(area.start, p.function) for area in self.areas
                for p in _missing(area)}
        made.slots, made.staying = dict(self.slots), set(self.staying)
        made.left_out, made.late = self.left_out | lost, self.late | lost
        return made

    def forget_left_out(self) -> None:
        """Forgets areas that are no more."""
        starts = {area.start for area in self.areas}
        self.left_out = {one for one in self.left_out if one[0] in starts}
        self.late &= self.left_out

    def find_broken(self) -> list[tuple[Area, int]]:
        """Leaves out the functions that a breakpoint is inside a patch of;
        returns those that are new."""
        stops = {location.address for b in gdb.breakpoints()
                 for location in getattr(b, "locations", ())
                 if b.is_valid()}
        near = {stop - i for stop in stops for i in range(1, LONGEST_PATCH)}
        found = []
        for area in self.areas if stops else ():
            for p in area.patches:
                key = (area.start, p.function)
                if (p.address in near and key not in self.left_out - self.late
                        and any(p.address + i in stops
                                for i in range(1, len(p.old)))):
                    self.late.discard(key)
                    self.left_out.add(key)
                    found.append((area, p.function))
        return found

    # ---- hooks, in the selected process, which it is ------------------------------

    def lead_slots(self) -> None:
        """Leads the program's calls of the hooks to the shim, where they were
        bound before it came."""
        if not hooks.is_shim_late():
            return
        inferior = gdb.selected_inferior()
        for address, name in hooks.slots().items():
            target = hooks.in_shim(name)
            if target is None:
                continue
            old = bytes(inferior.read_memory(address, 8))
            new = target.to_bytes(8, "little")
            if old != new:
                self.slots[address] = (old, new)
                inferior.write_memory(address, new)

    def lead_notice(self) -> bool:
        """The program's dynamic linker tells of libraries from now on.  Returns
        whether it does."""
        notice, self.notice = self.notice, None
        if notice is None:
            return False
        old = bytes(gdb.selected_inferior().read_memory(
            notice.function, x86_64.LEAD_SIZE))
        with selected_kept():
            inside = [thread for thread in threads() if 0 <
                      _pc_of(thread) - notice.function < x86_64.LEAD_SIZE]
        if inside or not x86_64.lead(*notice):
            return False
        self.led = notice, old
        return True

    def undo_notice(self) -> bool:
        """Returns whether it did."""
        led, self.led = self.led, None
        if led is None:
            return False
        self.notice, old = led
        gdb.selected_inferior().write_memory(self.notice.function, old)
        return True

    def undo_slots(self) -> None:
        inferior = gdb.selected_inferior()
        for address, (old, new) in self.slots.items():
            with contextlib.suppress(gdb.MemoryError):  # a library went away
                if bytes(inferior.read_memory(address, 8)) == new:
                    inferior.write_memory(address, old)
        self.slots = {}


def _missing(area: Area) -> list[Patch]:
    """Returns what is not in the selected process's code."""
    return [p for p, code in with_code(area.patches) if code == p.old]


def _pc_of(thread: gdb.InferiorThread) -> int:
    thread.switch()
    return int(gdb.newest_frame().pc())
