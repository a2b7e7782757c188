# SPDX-License-Identifier: MIT
"""A breakpoint at a function's end that has no room for a patch, while a condition
asks for what the function returns.  There the thread reports the end, by what a
patch would have called, and stands at the same place behind that."""

from __future__ import annotations

import struct
from typing import Callable, Iterable, Iterator, NamedTuple, Optional

import gdb

from .. import _abi as abi, engine
from ..process import memory
from ..process.area_unwinder import RED_ZONE
from ..process.patched_area import Area, Hook, Patch
from ..process.patches import Patches
from ..process.standing import flush, return_from_noop
from ..ui import ctrlc
from ..ui.console import plain, say
from .landing import Hit, StopBreakpoint

_RETURN = b"\xc3"
_RETURNS = (_RETURN, b"\xf3\xc3")
_LEAVE = b"\xc9"
_POP_RBP = b"\x5d"
_WORD = 8
_TRIES = 100  # of as long as the stepper waits for a system call


class End(NamedTuple):
    area: Area
    function: int  # its address
    place: int  # the instruction that is next when it is reported
    slot: int
    back: int  # where the shim returns to


def _code(function: int, size: int) -> list[tuple[int, bytes]]:
    """The function's instructions: address and bytes."""
    pid = gdb.selected_inferior().pid
    architecture = gdb.selected_inferior().architecture()
    return [(i["addr"], memory.read(pid, i["addr"], i["length"])) for i in
            architecture.disassemble(function, function + size - 1)]


def _is_pop(code: bytes) -> bool:
    return code[-1] & 0xf8 == 0x58 and code[:-1] in (b"", b"\x41")


def _gives_up(code: bytes) -> bool:
    """Does it take off the stack what the function has there?"""
    return (code == _LEAVE or _is_pop(code)
            or code.startswith((b"\x48\x83\xc4", b"\x48\x81\xc4")))


def _begin(code: list[tuple[int, bytes]], i: int) -> Optional[int]:
    """Where the frame of the return at index i begins to be given up; None:
    rbp does not find the return address there, or more is saved than rbp."""
    first = i
    while first and _gives_up(code[first - 1][1]):
        first -= 1
    way = [one for _, one in code[first:i]]
    if not way or way[-1] not in (_LEAVE, _POP_RBP) or any(
            map(_is_pop, way[:-1])):
        return None
    return code[first][0]


def _ends(patches: Patches, area: Area, function: int) -> Iterator[End]:
    """The returns of a patched function that no patch reports."""
    code = _code(function, area.sizes[function])
    # There the shim asks who has called: others than traced files do, too.
    is_border = any(hook.slot == abi.CST_SLOT_BORDER_ENTER
                    for hook in area.hooks.values()
                    if hook.function == function)
    for i, (at, one) in enumerate(code):
        if one not in _RETURNS or patches.steps.is_displaced(at):
            continue
        begin = None if is_border else _begin(code, i)
        if begin is not None:
            yield End(area, function, begin, abi.CST_SLOT_FRAMED_EXIT,
                      area.code[0] + abi.CST_PLAN_BACK_FRAMED)
        else:
            yield End(area, function, at, abi.CST_SLOT_BORDER_EXIT if is_border
                      else abi.CST_SLOT_EXIT,
                      area.code[0] + abi.CST_PLAN_BACK)


class UnpatchedEnd(gdb.Breakpoint):
    """At one of them."""

    def __init__(self, patches: Patches, end: End, hears: StopBreakpoint,
                 landed: Callable[[Hit], None]) -> None:
        super().__init__("*%#x" % end.place, internal=True)
        self.silent = True
        self._patches = patches
        self._end = end
        self._hears = hears
        self._landed = landed

    @ctrlc.handed_on
    def stop(self) -> bool:
        if not self._hears.is_of_selected() or not self._patches.is_in_place():
            return False  # a fork child, or gdb records
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
        self._patches.expect_return(end.back, Hook(
            end.function, end.slot, Patch(end.place, b"", b"", 0,
                                          abi.CST_PATCH_EXIT, 0), end.place))
        sp = was.sp - 2 * _WORD - (
            RED_ZONE if end.slot == abi.CST_SLOT_FRAMED_EXIT else 0)
        pid = gdb.selected_inferior().pid
        memory.write(pid, sp, struct.pack("<QQ", end.back, was.ax))
        gate = end.area.code[0] + abi.CST_PLAN_GATE * end.slot
        engine.thread_set(tid, abi.cst_registers(
            pc=gate, sp=sp, ax=end.function, flags=was.flags))
        for _ in range(_TRIES):
            if engine.step_out(tid, end.back, sp + _WORD):
                return True
            self._hear(tid, hits)
        return False

    def _hear(self, tid: int, hits: list[Hit]) -> None:
        """The thread is at our breakpoint in the shim's function for conditions,
        perhaps, which does nothing."""
        at = return_from_noop(tid)
        hit = None if at is None else self._hears.hear(*at.arguments)
        if hit is not None:
            hits.append(hit)


def _tell(function: int) -> None:
    symbol = gdb.execute("info symbol %#x" % function, to_string=True)
    say("%s has an end without room for a patch: gdb stops there each time, "
        "for a millisecond or so" % plain(symbol.split(" ")[0]))


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
        areas = self._patches.areas() if wanted else {}
        for new in (wanted & areas.keys()) - self._all.keys():
            self._all[new] = [UnpatchedEnd(self._patches, end, hears, landed)
                              for end in _ends(self._patches, areas[new], new)]
            if self._all[new]:
                _tell(new)

    def clear(self) -> None:
        for function in list(self._all):
            self._delete(function)

    def _delete(self, function: int) -> None:
        for b in self._all.pop(function):
            if b.is_valid():
                b.delete()
