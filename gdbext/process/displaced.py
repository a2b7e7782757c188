# SPDX-License-Identifier: MIT
"""From an instruction in a trampoline to the same one in its function."""

from __future__ import annotations

import itertools
import struct
from typing import Iterable, Optional

import gdb

from .. import _abi as abi
from . import memory
from .patched_area import Area

_JUMP = b"\xe9"
_JUMP_BYTES = 5
_JUMP_INDIRECT = b"\xff\x25"  # at the end of a call
_PUSH_AX = b"\x50"
# A trampoline's own instructions before its call of the shim, by their begins: how
# many bytes they have, and take of the stack.
_OWN = {_PUSH_AX: (1, 8), b"\x48\x8d\x64\x24\x80": (5, 128),  # lea
        b"\x9f": (1, 0), b"\x0f\x90\xc0": (3, 0),  # lahf, seto
        b"\x48\x8b\x44\x24": (5, 0), b"\x48\x8d\x05": (7, 0)}  # mov, lea


def own_place(areas: Iterable[Area], pc: int) -> Optional[tuple[Area, int]]:
    """Where the function has the instruction that a trampoline has at pc, and
    the trampoline's area; None: it is none of the function's."""
    area = next((a for a in areas if a.is_code(pc)), None)
    if area is None or area.is_gate(pc):
        return None
    own = next((own for copy, own in area.moved if copy == pc), None)
    if own is None:
        own = _behind(area, pc)
    return None if own is None else (area, own)


def copy_of(areas: Iterable[Area], pc: int) -> Optional[int]:
    """Where a trampoline has the function's instruction at pc; None: it is not
    displaced."""
    return next((copy for area in areas for copy, own in area.moved
                 if own == pc), None)


def next_place(areas: Iterable[Area], pc: int, sp: int) -> Optional[int]:
    """For a pc in a trampoline's own instructions: where its call of the shim
    returns to, or where the function's next instruction is in it, or 0 between
    several that stand for one; None for any other pc."""
    area = next((a for a in areas if a.is_code(pc)), None)
    if area is None:
        return None
    if area.is_gate(pc):
        return int.from_bytes(memory.read(
            gdb.selected_inferior().pid, sp, 8), "little")
    end = min((p.trampoline for p in area.patches if p.trampoline > pc),
              default=sum(area.code))
    return min((at for at in itertools.chain(
        area.hooks, (copy for copy, _ in area.moved)) if pc < at < end),
        default=0)


def way_out(areas: Iterable[Area], at: abi.cst_registers) -> Optional[int]:
    """For a thread in a trampoline's own instructions, or at its last jump: the
    next place of the function's, or next_place()."""
    found = own_place(areas, at.pc)
    return found[1] if found else next_place(areas, at.pc, at.sp)


def _behind(area: Area, pc: int) -> Optional[int]:
    """Where the jump at pc leads to, if it is a trampoline's last one."""
    pid = gdb.selected_inferior().pid
    code = memory.read(pid, pc, len(_JUMP_INDIRECT) + 4)
    if code.startswith(_JUMP_INDIRECT):
        at = pc + len(code) + struct.unpack_from("<i", code, 2)[0]
        return int.from_bytes(memory.read(pid, at, 8), "little")
    target = pc + _JUMP_BYTES + struct.unpack_from("<i", code, 1)[0]
    return target if code[:1] == _JUMP and not area.is_code(target) else None


def landing_target(new: bytes, address: int) -> int:
    """Where the landing with these bytes leads to."""
    return int(address + _JUMP_BYTES + struct.unpack("<i", new[1:])[0])


def before_entry(pid: int, trampoline: int, at: abi.cst_registers) -> (
        Optional[dict[str, int]]):
    """For a thread in the instructions by which a trampoline begins to report an
    entry: its sp and ax before; None: they are others."""
    code = memory.read(pid, trampoline, max(0, at.pc - trampoline))
    taken, ax_at, place = 0, 0, 0
    while place < len(code):
        begin, (size, n) = next(
            ((begin, what) for begin, what in _OWN.items()
             if code.startswith(begin, place)), (b"", (0, 0)))
        if not size:
            return None
        place, taken = place + size, taken + n
        if begin == _PUSH_AX and not ax_at:
            ax_at = taken
    sp = at.sp + taken
    ax = at.ax if not ax_at else int.from_bytes(
        memory.read(pid, sp - ax_at, 8), "little")
    return {"rsp": sp, "rax": ax} if place == len(code) else None
