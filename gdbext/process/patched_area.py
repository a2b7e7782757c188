# SPDX-License-Identifier: MIT
"""What a plan changes in a loaded file, read from the plan's bytes
(cstrace/plan_layout.h)."""

from __future__ import annotations

import contextlib
import ctypes as C
import gc
import struct
from typing import Any, Iterator, NamedTuple

from .. import _abi as abi
from . import memory


# The kinds of entries, by the slot that their trampolines call.
_ENTRIES = {abi.CST_SLOT_ENTER: abi.CST_PATCHED_ENTRY,
            abi.CST_SLOT_FRAMED: abi.CST_PATCHED_FRAMED,
            abi.CST_SLOT_BEGUN: abi.CST_PATCHED_BEGUN,
            abi.CST_SLOT_DEEP: abi.CST_PATCHED_DEEP,
            abi.CST_SLOT_BORDER_ENTER: abi.CST_PATCHED_BORDER}

# All kinds of ends.
_ENDS = {abi.CST_SLOT_EXIT: abi.CST_PATCHED_EXIT,
         abi.CST_SLOT_FRAMED_EXIT: abi.CST_PATCHED_FRAMED_EXIT,
         abi.CST_SLOT_TAIL: abi.CST_PATCHED_TAIL,
         abi.CST_SLOT_BORDER_EXIT: abi.CST_PATCHED_EXIT,
         abi.CST_SLOT_BORDER_RETURN: abi.CST_PATCHED_RETURN}


INT3 = 0xcc
LONGEST_PATCH = int(abi.CST_PATCH_MAX)
_WORD = 8
_SHORT_JUMP = b"\xeb"
# The first of the code, jmp *slot(%rip).
_GATE = b"\xff\x25" + struct.pack("<i", -(abi.CST_PLAN_AREA_PAGE + 6))


class Patch(NamedTuple):
    """Bytes of the program that are changed."""

    address: int
    old: bytes
    new: bytes
    function: int  # all patches of a function come and go together
    kind: int  # abi.CST_PATCH_ENTRY and the like
    trampoline: int  # its address; 0: none, it is a landing

    def is_short(self) -> bool:
        """Does a function begin with its jump to a landing?"""
        return (self.kind == abi.CST_PATCH_ENTRY
                and self.new[:1] == _SHORT_JUMP)

    def is_there(self, pid: int) -> bool:
        """Has the process its bytes, with a breakpoint at the first perhaps?"""
        code = memory.read(pid, self.address, len(self.new))
        return code[1:] == self.new[1:] and code[0] in (self.new[0], INT3)

    def has(self, address: int) -> bool:
        return 0 <= address - self.address < len(self.old)

    def is_written(self, address: int) -> bool:
        """Would a thread that goes on there run the patch?  At a host's begin it
        may."""
        return self.has(address) and (address != self.address
                                      or self.kind != abi.CST_PATCH_HOST)


class Hook(NamedTuple):
    """Where a trampoline's call of the shim returns to."""

    function: int  # its address
    slot: int
    patch: Patch
    next: int  # the first instruction behind it, at its own place; 0: none

    def is_entry(self) -> bool:
        return self.slot in _ENTRIES

    def word(self) -> int:
        """What the shim knows the kind of event by."""
        return (_ENTRIES if self.is_entry() else _ENDS)[self.slot]

    def is_deep(self) -> bool:
        """Has the stack pointer moved, and the trampoline put on the stack where
        the function's return address is?"""
        return self.slot == abi.CST_SLOT_DEEP

    def is_framed(self) -> bool:
        """Is the function's frame found by rbp?"""
        return self.slot in (abi.CST_SLOT_FRAMED, abi.CST_SLOT_BEGUN,
                             abi.CST_SLOT_FRAMED_EXIT)


class Area(NamedTuple):
    """New code of one loaded file."""

    start: int
    sum: int  # of the plan
    code: tuple[int, int]  # address and size of gates and trampolines
    frames: tuple[int, int]  # of their call frame information
    patches: list[Patch]
    hooks: dict[int, Hook]  # by address
    moved: list[tuple[int, int]]  # instructions: where the copy is, and its own
    sizes: dict[int, int]  # of functions, by address

    def is_code(self, address: int) -> bool:
        """Is it in a gate or a trampoline?"""
        return 0 <= address - self.code[0] < self.code[1]

    def is_gate(self, address: int) -> bool:
        """Is it where a slot's function is jumped to?"""
        return (0 <= address - self.code[0]
                < abi.CST_PLAN_GATE * abi.CST_PLAN_SLOTS)

    def step_gate(self) -> int:
        """The jump to what step_slot() has.  Before it is room for an
        instruction."""
        return self.code[0] + int(abi.CST_PLAN_STEP_GATE)

    def step_slot(self) -> int:
        return self.start + _WORD * int(abi.CST_PLAN_STEP_SLOT)

    def is_stage(self, address: int) -> bool:
        """Is it the jump, or in the room before it?"""
        return 0 <= self.step_gate() - address <= abi.CST_PLAN_STEP_ROOM

    def is_mapped(self, pid: int) -> bool:
        """Has that process the code?"""
        with contextlib.suppress(OSError):
            return memory.read(pid, self.code[0], len(_GATE)) == _GATE
        return False

    def slots(self, pid: int) -> tuple[int, ...]:
        """The functions of the shim that it calls."""
        size = "<%dQ" % abi.CST_PLAN_SLOTS
        return struct.unpack(size, memory.read(pid, self.start,
                                               struct.calcsize(size)))

    def key(self) -> tuple[int, int]:
        """What tells it from all others of a process."""
        return self.start, self.sum


def _items(plan: bytes, part: abi.cst_plan_part, item: Any) -> Any:
    """Returns the items of a part of the plan; `item` is their struct."""
    return (item * part.n).from_buffer_copy(plan, part.offset)


_FORMATS = {C.c_uint64: "Q", C.c_uint32: "I", C.c_uint16: "H", C.c_uint8: "B"}


def _rows(plan: bytes, part: abi.cst_plan_part, item: Any) -> (
        Iterator[tuple[Any, ...]]):
    """The like, each as a tuple of its fields, which takes half the time: there
    may be tens of thousands."""
    form = "<" + "".join(_FORMATS.get(kind) or "%ds" % C.sizeof(kind)
                         for _, kind in item._fields_)
    end = part.offset + part.n * struct.calcsize(form)
    return struct.iter_unpack(form, plan[part.offset:end])


class Planned(NamedTuple):
    """A function that is patched."""

    entry: int  # CST_PATCHED_ENTRY and the like
    n_exits: int  # that return to its caller


def planned_functions(plan: bytes) -> dict[int, Planned]:
    """Returns the functions of a plan, by their addresses in the file."""
    head = abi.cst_plan.from_buffer_copy(plan)
    functions = _items(plan, head.functions, abi.cst_plan_function)
    entries: dict[int, int] = {}
    exits: dict[int, int] = {}
    for p in _items(plan, head.patches, abi.cst_patch):
        if p.kind == abi.CST_PATCH_ENTRY:
            entries[p.function] = _ENTRIES[_slot(plan, head, p.hook)]
        is_exit = (p.kind == abi.CST_PATCH_EXIT or
                   (p.end_hook and p.end_kind == abi.CST_PATCH_EXIT))
        exits[p.function] = exits.get(p.function, 0) + bool(is_exit)
    return {functions[i].address: Planned(entry, exits.get(i, 0))
            for i, entry in entries.items()}


def _slot(plan: bytes, head: abi.cst_plan, hook: int) -> int:
    """The slot whose gate the call before it goes to."""
    distance, = struct.unpack_from("<i", plan, head.area.offset + hook - 4)
    return (hook + int(distance) - int(head.code_at)) // abi.CST_PLAN_GATE


def _functions(plan: bytes, head: abi.cst_plan,
               bias: int) -> tuple[list[int], dict[int, int]]:
    """Returns the functions' addresses, and their sizes by these."""
    rows = [(bias + address, size) for address, size, *_ in _rows(
        plan, head.functions, abi.cst_plan_function)]
    return [address for address, _ in rows], dict(rows)


def _copies(plan: bytes, head: abi.cst_plan) -> dict[int, list[tuple[int, int]]]:
    """Returns the moved instructions of each patch: where the copy is, and its
    own place."""
    found: dict[int, list[tuple[int, int]]] = {}
    for address, copy, patch in _rows(plan, head.copies, abi.cst_plan_copy):
        if patch in found:
            found[patch].append((copy, address))
        else:
            found[patch] = [(copy, address)]
    return found


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Python's collector would look at all that is made again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_no_collection()
def read_area(plan: bytes, where: abi.cst_patched) -> Area:
    """The plan, as it was applied.  There may be tens of thousands of patches,
    and the user waits: a loop has no more in it than it must."""
    head = abi.cst_plan.from_buffer_copy(plan)
    bias, area, moved_by = where.bias, where.area, where.moved
    starts, sizes = _functions(plan, head, bias)
    copies = _copies(plan, head)
    found, all_hooks = [], {}
    for i, (address, function, trampoline, hook, end_hook, _, kind, _, length,
            moved, _, _, old, new) in enumerate(
                _rows(plan, head.patches, abi.cst_patch)):
        if moved:
            place = int.from_bytes(new[moved:moved + 4], "little") + moved_by
            new = (new[:moved] + (place % 2**32).to_bytes(4, "little")
                   + new[moved + 4:])
        one = Patch(bias + address, old[:length], new[:length], function, kind,
                    0 if kind == abi.CST_PATCH_LANDING else area + trampoline)
        found.append(one)
        for at in (hook, end_hook) if end_hook else (hook,) if hook else ():
            behind = [copy for copy in copies.get(i, ()) if copy[0] >= at]
            all_hooks[area + at] = Hook(
                starts[function], _slot(plan, head, at), one,
                bias + min(behind)[1] if behind else 0)
    return Area(area, where.sum, (area + head.code_at, head.code_size),
                (area + head.frames_at, head.frames_size), found, all_hooks,
                [(area + copy, bias + own)
                 for one in copies.values() for copy, own in one],
                sizes)
