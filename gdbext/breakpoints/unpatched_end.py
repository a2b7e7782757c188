# SPDX-License-Identifier: MIT
"""A breakpoint at a function's end that has no room for a patch, while a condition
asks for what the function returns.  There the thread reports the end, by what a
patch would have called, and stands at the same place behind that."""

from __future__ import annotations

import struct
from typing import Callable, Iterable, Iterator, NamedTuple, Optional

import gdb

from .. import _abi as abi, engine
from ..process import hooks, memory
from ..process.area_unwinder import RED_ZONE
from ..process.patched_area import Area
from ..process.patches import Patches
from ..process.standing import Standing, flush
from ..ui import ctrlc
from ..ui.console import plain, say
from .landing import Hit, StopBreakpoint

# Behind a trampoline's call: what lets a thread go on that is left in the shim.
_TAKEN = b"\x58"  # pop %rax
_TAKEN_FRAMED = b"\x58\x48\x8d\xa4\x24\x80\0\0\0"  # and lea 128(%rsp), %rsp
_RETURN = b"\xc3"
_LEAVE = b"\xc9\xc3"  # all that a frame needs of which rbp alone is saved
_GIVES_UP = ("leave", "pop ", "add ")
_WORD = 8
_INT3 = 0xcc
_NOOP_BYTES = 16  # of the shim's function that gdb stops at
_TRIES = 100  # of as long as the stepper waits for a system call


class End(NamedTuple):
    area: Area
    function: int  # its address
    place: int  # the instruction that is next when it is reported
    slot: int
    back: Optional[int]  # where the shim returns to; None: it cannot be called


def _code(function: int) -> list[tuple[int, str]]:
    """The function's instructions: address and text."""
    block = gdb.block_for_pc(function)
    while block is not None and block.function is None:
        block = block.superblock
    if block is None or block.start != function:
        return []
    architecture = gdb.selected_inferior().architecture()
    return [(i["addr"], i["asm"]) for i in
            architecture.disassemble(block.start, block.end - 1)]


def _back(area: Area, pid: int, slot: int, code: bytes) -> Optional[int]:
    """Where the shim returns to in a trampoline that goes on with this code."""
    raw = memory.read(pid, *area.code)
    return next((at for at, hook in area.hooks.items() if hook.slot == slot
                 and raw.startswith(code, at - area.code[0])), None)


def ends(patches: Patches, area: Area, function: int) -> Iterator[End]:
    """The returns of a patched function that no patch reports."""
    code = _code(function)
    pid = gdb.selected_inferior().pid
    for i, (at, text) in enumerate(code):
        if not text.startswith("ret") or patches.is_displaced(at):
            continue
        first = i
        while first and code[first - 1][1].startswith(_GIVES_UP):
            first -= 1
        way = [text for _, text in code[first:i]]
        framed = None
        if way and way[-1].startswith(("leave", "pop    %rbp")) and sum(
                text.startswith("pop") for text in way[:-1]) == 0:
            framed = _back(area, pid, abi.CST_SLOT_FRAMED_EXIT,
                           _TAKEN_FRAMED + _LEAVE)
        bare = _back(area, pid, abi.CST_SLOT_EXIT, _TAKEN + _RETURN)
        if framed is not None:
            yield End(area, function, code[first][0],
                      abi.CST_SLOT_FRAMED_EXIT, framed)
        else:
            yield End(area, function, at, abi.CST_SLOT_EXIT, bare)


class UnpatchedEnd(gdb.Breakpoint):
    """At one of them."""

    def __init__(self, end: End, hears: StopBreakpoint,
                 landed: Callable[[Hit], None]) -> None:
        super().__init__("*%#x" % end.place, internal=True)
        self.silent = True
        self._end = end
        self._hears = hears
        self._landed = landed
        self._pid = gdb.selected_inferior().pid

    @ctrlc.handed_on
    def stop(self) -> bool:
        if gdb.selected_inferior().pid != self._pid:
            return False
        tid = gdb.selected_thread().ptid[1]
        was = engine.thread_registers(tid)
        if was is None or was.pc != self._end.place:
            return False
        hits: list[Hit] = []
        if not self._report(tid, was, hits):
            flush()
            return True  # it is in the shim, and goes on by itself from there
        engine.thread_set(tid, was)
        for hit in hits[:1]:
            self._landed(hit)
        return bool(hits)

    def _report(self, tid: int, was: abi.cst_registers,
                hits: list[Hit]) -> bool:
        """Lets the thread call the slot's gate, as a trampoline does."""
        end = self._end
        assert end.back is not None
        sp = was.sp - 2 * _WORD - (
            RED_ZONE if end.slot == abi.CST_SLOT_FRAMED_EXIT else 0)
        memory.write(self._pid, sp, struct.pack("<QQ", end.back, was.ax))
        gate = end.area.code[0] + abi.CST_PLAN_GATE * end.slot
        engine.thread_set(tid, abi.cst_registers(
            pc=gate, sp=sp, ax=end.function))
        for _ in range(_TRIES):
            if engine.step_out(tid, end.back, sp + _WORD):
                return True
            self._hear(tid, hits)
        return False

    def _hear(self, tid: int, hits: list[Hit]) -> None:
        """The thread is at our breakpoint in the shim's function for conditions,
        perhaps, which does nothing."""
        at = engine.thread_registers(tid)
        target = hooks.symbol_address(Standing.TARGET)
        if (at is None or target is None
                or not 0 <= at.pc - target < _NOOP_BYTES
                or memory.read(self._pid, at.pc, 1)[0] != _INT3):
            return
        hit = self._hears.hear(*at.arguments)
        if hit is not None:
            hits.append(hit)
        at.pc, = struct.unpack("<Q", memory.read(self._pid, at.sp, _WORD))
        at.sp += _WORD
        engine.thread_set(tid, at)


def _tell(function: int, found: list[End]) -> None:
    if found:
        symbol = gdb.execute("info symbol %#x" % function, to_string=True)
        say("%s has an end without room for a patch: %s" % (
            plain(symbol.split(" ")[0]),
            "it is not seen there" if any(e.back is None for e in found) else
            "gdb stops there each time, for some milliseconds"))


class UnpatchedEnds:
    """All that the conditions of now need."""

    def __init__(self, patches: Patches) -> None:
        self._patches = patches
        self._all: dict[int, list[UnpatchedEnd]] = {}  # by function

    def set(self, functions: Iterable[int], hears: StopBreakpoint,
            landed: Callable[[Hit], None]) -> None:
        wanted = set(functions)
        for gone in self._all.keys() - wanted:
            self._delete(gone)
        for new in wanted - self._all.keys():
            area = self._patches.area_of(new)
            if area is not None:
                found = list(ends(self._patches, area, new))
                _tell(new, found)
                self._all[new] = [UnpatchedEnd(end, hears, landed)
                                  for end in found if end.back is not None]

    def clear(self) -> None:
        for function in list(self._all):
            self._delete(function)

    def _delete(self, function: int) -> None:
        for b in self._all.pop(function):
            if b.is_valid():
                b.delete()
