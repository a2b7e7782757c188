# SPDX-License-Identifier: MIT
"""Gives the frames of trampolines the identity of the function that they are a
part of: so gdb takes what they call for calls of that function, which `step` and
`next` pass over.  From within the shim it sees no trampoline at all, but the
function, as it was when the trampoline began."""

from __future__ import annotations

import struct
from typing import Any, Callable, NamedTuple, Optional

import gdb
from gdb.unwinder import Unwinder, register_unwinder

from . import hooks, memory
from .patched_area import Area, Hook

# All but rip and rsp: a trampoline has changed none where it calls the shim.
_KEPT = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "r8", "r9", "r10",
         "r11", "r12", "r13", "r14", "r15")
_NAME = "cstrace-patches"

# What patched_other() of the shim has on its stack, from rbx up: registers, eight
# vectors' low halves, registers, and where its caller's caller goes on.
_SAVED = ("rbx", "rbp", "r12", "r13", "r14", "r15", "", *[""] * 8, "r11", "r10",
          "r9", "r8", "rdi", "rsi", "rdx", "rcx", "rip")
# The shim saves these first, and uses them; it changes no others before all are
# saved.
_SAVED_FIRST = ("rcx", "rdx", "rsi", "rdi")
_PRESERVED = ("rbx", "rbp", "r12", "r13", "r14", "r15")
_WORD = 8
_N_RETURNS = 3  # in cstrace_patched_returns
_MOST_FRAMES = 16  # of the shim, below a trampoline

_VECTORS_AT, _UPPER_AT, _N_VECTORS = 160, 576, 16

# What the trampolines of framed entries push: rax, flags, rax, below the red
# zone, at their exits rax; those of deep ones have the place of the return address before the last.
RED_ZONE = 128


class Before(NamedTuple):
    """The registers that a trampoline has changed, as they were before."""

    sp: int
    rax: int
    flags: Optional[int]  # as `lahf; seto %al` has them
    slot: int  # where the function's return address is


def before(hook: Hook, sp: int, rbp: int, pid: int) -> Before:
    """For a trampoline whose stack pointer is sp behind its call of the shim."""
    if hook.is_deep():
        slot, flags, rax = struct.unpack("<QQQ", memory.read(
            pid, sp + _WORD, 24))
        return Before(sp + 4 * _WORD + RED_ZONE, rax, flags, slot)
    if not hook.is_framed():
        rax, = struct.unpack("<Q", memory.read(pid, sp, 8))
        return Before(sp + _WORD, rax, None, sp + _WORD)
    if not hook.is_entry():
        rax, = struct.unpack("<Q", memory.read(pid, sp, 8))
        return Before(sp + _WORD + RED_ZONE, rax, None, rbp + _WORD)
    flags, rax = struct.unpack("<QQ", memory.read(pid, sp + _WORD, 16))
    return Before(sp + 3 * _WORD + RED_ZONE, rax, flags, rbp + _WORD)


def slot_at(hook: Hook, sp: int, rbp: int, pid: int) -> int:
    """Where the return address of an entered function is, for the registers
    that the trampoline began and has ended with."""
    if hook.is_deep():
        slot, = struct.unpack("<Q", memory.read(
            pid, sp - RED_ZONE - 3 * _WORD, _WORD))
        return int(slot)
    return rbp + _WORD if hook.is_framed() else sp


class _FrameId:
    """What gdb tells frames apart by."""

    def __init__(self, sp: Any, pc: Any) -> None:
        self.sp, self.pc = sp, pc


def _pid() -> int:
    return int(gdb.selected_inferior().pid)


def _word(value: int) -> gdb.Value:
    return gdb.Value(value % 2**64).cast(gdb.lookup_type("unsigned long"))


def _frame(pending: Any, cfa: gdb.Value, function: int) -> Any:
    """A frame of the function that gdb has another address of."""
    word = gdb.lookup_type("unsigned long")
    info = pending.create_unwind_info(_FrameId(cfa, _word(function)))
    info.add_saved_register("rip", (cfa.cast(word.pointer()) - 1).dereference())
    info.add_saved_register("rsp", cfa)
    for name in _KEPT:
        info.add_saved_register(name, pending.read_register(name))
    return info


def entry_frame(pending: Any, slot: int, function: int) -> Any:
    """The frame of the function whose return address is at that place."""
    return _frame(pending, _word(slot + _WORD), function)


def _above(pending: Any, pc: int, own: int) -> Any:
    """A frame that the function has called from that place, so to say: the
    function's own frame is the next, with the same registers.  A watchpoint of a
    variable ends where gdb does not find that."""
    sp = pending.read_register("rsp")
    info = pending.create_unwind_info(_FrameId(sp, _word(pc)))
    info.add_saved_register("rip", _word(own + 1))  # gdb looks one byte before
    info.add_saved_register("rsp", sp)
    for name in _KEPT:
        info.add_saved_register(name, pending.read_register(name))
    return info


class KnownHooks:
    """The hooks of areas, by the calls' return addresses.  They are made when a
    thread is in one of the areas."""

    def __init__(self) -> None:
        self._areas: list[Area] = []  # the newest first
        self._expected: dict[int, Hook] = {}

    def __bool__(self) -> bool:
        return bool(self._areas or self._expected)

    def add(self, areas: list[Area]) -> None:
        keys = {area.key() for area in areas}
        self._areas = areas + [a for a in self._areas if a.key() not in keys]

    def expect(self, address: int, hook: Hook) -> None:
        """There is another one."""
        self._expected[address] = hook

    def get(self, address: int) -> Optional[Hook]:
        found = self._expected.get(address)
        if found is None:
            area = next((a for a in self._areas if a.is_code(address)), None)
            found = area.hooks.get(address) if area else None
        return found


class AreaUnwinder(Unwinder):
    """Knows the places where trampolines call the shim, and those where the
    shim handles what is not usual."""

    def __init__(self) -> None:
        super().__init__(_NAME)
        self.hooks = KnownHooks()
        # Asked before of each frame, while a thread steps.
        self.look: Callable[[Any], Optional[Any]] = lambda pending: None
        # The shim's functions that trampolines call; others, mostly such as
        # stand before libc's, with their last instruction, or its breakpoint's;
        # and whether gdb is to know the first instruction of one, in the
        # selected thread, as one that a signal runs first: given that, and the
        # last, or 0.
        self.slots: set[int] = set()
        self._passing: dict[int, int] = {}
        self.is_passed: Callable[[int, int], bool] = lambda pc, last: False
        # While gdb executes one instruction after the other for a watchpoint:
        # the place in a function that a place in a trampoline stands for.
        self.watched_place: Callable[[int], Optional[int]] = lambda pc: None
        # Given each frame's place.
        self.leave_jump: Callable[[int], None] = lambda pc: None
        self._returns: tuple[int, ...] = ()

    def register(self) -> None:
        register_unwinder(None, self, replace=True)

    def look_for_shim(self, pid: int) -> None:
        at = hooks.symbol_address("cstrace_patched_returns")
        self._returns = () if at is None else struct.unpack(
            "<%dQ" % _N_RETURNS, memory.read(pid, at, _WORD * _N_RETURNS))
        self._look_for_passing(pid)

    def _look_for_passing(self, pid: int) -> None:
        bounds = hooks.symbol_address("cstrace_passing_bounds")
        self._passing = {}
        if bounds is None:
            return
        begin, end = struct.unpack("<QQ", memory.read(pid, bounds, 2 * _WORD))
        distances = struct.iter_unpack("<ii", memory.read(
            pid, begin, end - begin))
        for at, (first, last) in zip(range(begin, end, 8), distances):
            self._passing[at + first] = at + 4 + last
        mapped = hooks.symbol_address("cstrace_patches_mapped")
        if mapped is not None:
            self._passing[mapped] = mapped

    def __call__(self, pending: Any) -> Optional[Any]:
        if not self.hooks and not self._passing:
            return None
        found = self.look(pending)
        pc = int(pending.read_register("rip")) % 2**64
        own = None if pending.level() else self.watched_place(pc)
        if own is not None:
            return _above(pending, pc, own)
        if found is not None:
            return found
        self.leave_jump(pc)
        last = self._passing.get(pc)
        if last is not None or pc in self.slots:
            return None if self.is_passed(pc, last or 0) else _frame(
                pending, _word(int(pending.read_register("rsp")) + _WORD), pc)
        hook = self.hooks.get(pc)
        if hook is not None:
            return self._from_trampoline(pending, hook)
        return self._from_shim(pending) if pc in self._returns else None

    @staticmethod
    def _from_trampoline(pending: Any, hook: Hook) -> Any:
        base = pending.read_register("rbp" if hook.is_framed() else "rsp")
        word = gdb.lookup_type("unsigned long")
        cfa = (_word(int(base) + _WORD).cast(word.pointer()).dereference() + _WORD
               if hook.is_deep() else _word(int(base) + 2 * _WORD))
        info = _frame(pending, cfa, hook.function)
        if hook.is_framed():
            info.add_saved_register("rbp", _word(int(base)).cast(
                word.pointer()).dereference())
        return info

    def _from_shim(self, pending: Any) -> Optional[Any]:
        try:
            found = self._saved(int(pending.read_register("rbx")) % 2**64)
        except OSError:
            return None
        if found is None:
            return None
        values, cfa, hook = found
        info = pending.create_unwind_info(_FrameId(_word(cfa), _word(
            self._returns[0])))
        # gdb looks at the byte before, as if that was a call.
        values["rip"] = (hook.patch.address if hook.is_entry()
                         else hook.next) + 1
        for name, value in values.items():
            info.add_saved_register(name, _word(value))
        if int(pending.read_register("rip")) % 2**64 != self._returns[0]:
            self._add_vectors(pending, info)
        return info

    def _add_vectors(self, pending: Any, info: Any) -> None:
        """Adds the vector registers, which xsave or fxsave has saved at the top
        of the frame's stack."""
        area = int(pending.read_register("rsp")) % 2**64
        low, high = (memory.read(_pid(), area + at, 16 * _N_VECTORS)
                     for at in (_VECTORS_AT, _UPPER_AT))
        # gdb reads all that there is of a vector where it wants a part.
        has_upper = pending.architecture().registers().find("ymm0") is not None
        name = "ymm" if has_upper else "xmm"
        kind = pending.read_register(name + "0").type
        for i in range(_N_VECTORS):
            part = slice(16 * i, 16 * (i + 1))
            info.add_saved_register("%s%d" % (name, i), gdb.Value(
                (low[part] + high[part])[:kind.sizeof], kind))

    def _saved(self, rbx: int) -> Optional[tuple[dict[str, int], int, Hook]]:
        """The function's registers, the frame's CFA, and the hook."""
        raw = struct.unpack("<%dQ" % len(_SAVED), memory.read(
            _pid(), rbx, _WORD * len(_SAVED)))
        values = {name: value for name, value in zip(_SAVED, raw) if name}
        hook = self.hooks.get(values["rip"])
        if hook is None or not (hook.is_entry() or hook.next):
            return None
        cfa = rbx + _WORD * len(_SAVED)
        was = before(hook, cfa, values["rbp"], _pid())
        values["rsp"], values["rax"] = was.sp, was.rax
        return values, cfa, hook

    def trampoline(self, newest: gdb.Frame) -> Optional[tuple[int, int, Hook]]:
        """If this is a frame of the shim's, and a trampoline has called it:
        where it returns to, the stack pointer then, and the hook."""
        frame: Optional[gdb.Frame] = newest
        for _ in range(_MOST_FRAMES):
            if frame is None or frame.type() != gdb.NORMAL_FRAME:
                break
            if frame.pc() in self._returns:
                rbx = int(frame.read_register("rbx")) % 2**64
                found = self._saved(rbx)
                if found is None:
                    break
                _, cfa, hook = found
                pc, = struct.unpack("<Q", memory.read(_pid(), cfa - _WORD,
                                                      _WORD))
                return pc, cfa, hook
            frame = frame.older()
        return None

    def in_function(self, newest: gdb.Frame) -> Optional[
            tuple[Hook, dict[str, int]]]:
        """For a thread that has stopped within the shim, anywhere, while a
        trampoline calls it: the hook, and what the function had of the registers
        that have changed."""
        frame: Optional[gdb.Frame] = newest
        for _ in range(_MOST_FRAMES):
            if frame is None or frame.type() != gdb.NORMAL_FRAME:
                break
            if frame.pc() in self._returns:
                found = self._saved(int(frame.read_register("rbx")) % 2**64)
                return found and (found[2], found[0])
            hook = self.hooks.get(frame.pc()) if frame.level() else None
            if hook is not None and (hook.is_entry() or hook.next):
                return hook, self._changed(hook, newest, frame)
            frame = frame.older()
        return None

    @staticmethod
    def _changed(hook: Hook, newest: gdb.Frame, caller: gdb.Frame) -> (
            dict[str, int]):
        """What the shim saves first, as far as it has; call frame information
        has the rest."""
        found = {name: int(caller.read_register(name)) % 2**64
                 for name in ("rsp", *_PRESERVED)}
        sp = found["rsp"]
        was = before(hook, sp, found["rbp"], _pid())
        found.update(rsp=was.sp, rax=was.rax)
        end = int(newest.read_register("rsp")) % 2**64
        for i, name in enumerate(_SAVED_FIRST):
            at = sp - (i + 2) * _WORD  # behind the return address
            if end <= at:
                found[name] = int.from_bytes(
                    memory.read(_pid(), at, _WORD), "little")
        return found
