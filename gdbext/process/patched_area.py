# SPDX-License-Identifier: MIT
"""What a plan changes in a loaded file, read from the plan's bytes
(cstrace/plan_layout.h)."""

from __future__ import annotations

import contextlib
import ctypes as C
import functools
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
         abi.CST_SLOT_BORDER_TAIL: abi.CST_PATCHED_TAIL,
         abi.CST_SLOT_BORDER_PASS: abi.CST_PATCHED_PASS,
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


# In a third of the time.
_make_patch: Any = functools.partial(tuple.__new__, Patch)


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


class Area:
    """New code of one loaded file: a plan, as it was applied.  There may be tens
    of thousands of patches, and the user waits: what only a stop asks for is made
    then."""

    def __init__(self, plan: bytes, where: abi.cst_patched) -> None:
        head = abi.cst_plan.from_buffer_copy(plan)
        self._plan, self._head, self._bias = plan, head, int(where.bias)
        self.start = int(where.area)
        self.sum = int(where.sum)  # of the plan
        # Address and size of gates and trampolines, and of their call frame
        # information.
        self.code = self.start + int(head.code_at), int(head.code_size)
        self.frames = self.start + int(head.frames_at), int(head.frames_size)
        with _no_collection():
            self.patches = list(_patches(plan, head, where))

    @functools.cached_property
    def functions(self) -> list[tuple[int, int]]:
        """Address and size of each."""
        return [(self._bias + address, size) for address, size, *_ in _rows(
            self._plan, self._head.functions, abi.cst_plan_function)]

    @functools.cached_property
    def sizes(self) -> dict[int, int]:
        """Each size, by its address."""
        return dict(self.functions)

    @functools.cached_property
    def _copies(self) -> dict[int, list[tuple[int, int]]]:
        """The moved instructions of each patch: where the copy is, and its own
        place, in the plan's addresses."""
        found: dict[int, list[tuple[int, int]]] = {}
        for address, copy, patch in _rows(self._plan, self._head.copies,
                                          abi.cst_plan_copy):
            found.setdefault(patch, []).append((copy, address))
        return found

    @functools.cached_property
    def moved(self) -> list[tuple[int, int]]:
        """Instructions: where the copy is, and its own place."""
        return [(self.start + copy, self._bias + own)
                for one in self._copies.values() for copy, own in one]

    @functools.cached_property
    def hooks(self) -> dict[int, Hook]:
        """All calls of the shim, by the addresses that they return to."""
        found = {}
        rows = _rows(self._plan, self._head.patches, abi.cst_patch)
        with _no_collection():
            for i, (_, function, _, hook, end_hook, *_) in enumerate(rows):
                for at in [at for at in (hook, end_hook) if at]:
                    behind = [copy for copy in self._copies.get(i, ())
                              if copy[0] >= at]
                    found[self.start + at] = Hook(
                        self.functions[function][0],
                        _slot(self._plan, self._head, at), self.patches[i],
                        self._bias + min(behind)[1] if behind else 0)
        return found

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
    misses_ends: bool  # some or all


def planned_functions(plan: bytes) -> dict[int, Planned]:
    """Returns the functions of a plan, by their addresses in the file."""
    head = abi.cst_plan.from_buffer_copy(plan)
    functions = _items(plan, head.functions, abi.cst_plan_function)
    entries = {p.function: _ENTRIES[_slot(plan, head, p.hook)]
               for p in _items(plan, head.patches, abi.cst_patch)
               if p.kind == abi.CST_PATCH_ENTRY}
    return {functions[i].address: Planned(entry, functions[i].n_missed > 0)
            for i, entry in entries.items()}


def _slot(plan: bytes, head: abi.cst_plan, hook: int) -> int:
    """The slot whose gate the call before it goes to."""
    distance, = struct.unpack_from("<i", plan, head.area.offset + hook - 4)
    return (hook + int(distance) - int(head.code_at)) // abi.CST_PLAN_GATE


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


def _patches(plan: bytes, head: abi.cst_plan,
             where: abi.cst_patched) -> Iterator[Patch]:
    """A loop that has no more in it than it must."""
    bias, area, moved_by = where.bias, where.area, where.moved
    for (address, function, trampoline, _, _, _, kind, _, length, moved, _, _,
         old, new) in _rows(plan, head.patches, abi.cst_patch):
        if moved:
            place = int.from_bytes(new[moved:moved + 4], "little") + moved_by
            new = (new[:moved] + (place % 2**32).to_bytes(4, "little")
                   + new[moved + 4:])
        yield _make_patch((
            bias + address, old[:length], new[:length], function, kind,
            0 if kind == abi.CST_PATCH_LANDING else area + trampoline))
