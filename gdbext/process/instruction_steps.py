# SPDX-License-Identifier: MIT
"""gdb executes some of a thread's instructions one by one, for `stepi N` and
`nexti N`.  Between two of them it asks nothing but unwinders, for the thread's
frame: there each of the function's instructions comes to count, and none of a
trampoline's.

At a patch the thread runs behind gdb's back what the trampoline has before the
function's instruction, by which it reports the call, and executes that one at its
own place.  Where other threads run, no code can change but before the first step:
then it executes that one in the trampoline."""

from __future__ import annotations

import bisect
import os
import re
import struct
from typing import Any, Callable, Iterable, NamedTuple, Optional

import gdb

from .. import _abi as abi, engine
from ..gdb_setting import Held
from . import arrival, displaced, memory, x86_64
from .area_unwinder import entry_frame, slot_at
from .connection import is_remote
from .patched_area import INT3, Area, Hook, Patch
from .standing import (
    Standing, expect_again, flush, is_any_running, stack_kept, step, take_away,
    write, write_saved)

_MOST_PLACES = 64  # in trampolines, between two steps
_BRANCH = 6  # bytes of a conditional jump in a trampoline
_LONGEST = 15  # instruction
_WORD = 8
_LOCKED = ("on", "step")  # scheduler-locking: no other thread runs in a step


class Instruction(NamedTuple):
    """One that is displaced."""

    area: Area
    patch: Patch
    own: int  # its address in the function
    copy: int  # and in the trampoline
    before: Optional[tuple[int, int]]  # copy, own of the last one, if any
    hook: Optional[Hook]  # that the trampoline calls between them


def _instructions(areas: Iterable[Area]) -> dict[int, Instruction]:
    """Returns all by the addresses in their functions."""
    found = {}
    for area in areas:
        begins = {p.trampoline: p for p in area.patches if p.trampoline}
        # Begins of trampolines, behind calls of the shim, copies.
        places = [(at, 0) for at in begins]
        places += [(at, 1) for at in area.hooks]
        owns = dict(area.moved)
        places += [(at, 2) for at in owns]
        for at, kind in sorted(places):
            if kind == 0:
                patch, before, hook = begins[at], None, None
            elif kind == 1:
                hook = area.hooks[at]
            else:
                found[owns[at]] = Instruction(area, patch, owns[at], at, before,
                                              hook)
                before, hook = (at, owns[at]), None
    return found


class _All:
    """All that there is of the areas, by address."""

    def __init__(self, areas: Iterable[Area]) -> None:
        patches = [(p.address, area, p) for area in areas for p in area.patches]
        # The addresses in functions, and in trampolines, are the keys.
        self.own = _instructions(areas)
        self.copies = {one.copy: one for one in self.own.values()}
        self._in_order = sorted(self.copies)
        # What patches' jumps lead to, and their own places.
        self.begins = {p.trampoline: at for at, _, p in patches
                       if at in self.own}
        self.landings = {at: p for at, _, p in patches
                         if p.kind == abi.CST_PATCH_LANDING}

    def next(self, pc: int) -> Optional[Instruction]:
        """The first displaced one behind that place in a trampoline."""
        i = bisect.bisect_right(self._in_order, pc)
        return self.copies[self._in_order[i]] if i < len(self._in_order) else None

    def is_in(self, patches: list[Patch], pc: int) -> bool:
        """Is it an instruction that one of them has displaced?"""
        one = self.own.get(pc)
        return one is not None and one.patch in patches


def _group(area: Area, patch: Patch) -> list[Patch]:
    """What is away together with the patch: landings lie in others' bytes."""
    all_of_it = [p for p in area.patches if p.function == patch.function]
    is_apart = all(p.trampoline and p.kind != abi.CST_PATCH_HOST
                   for p in all_of_it)
    return [patch] if is_apart else all_of_it


def _function(pc: int) -> Optional[tuple[int, int, str]]:
    """The innermost one there, which may be inlined: begin, end, name; None: there
    is no debug information."""
    block = gdb.block_for_pc(pc)
    while block is not None and block.function is None:
        block = block.superblock
    return block and (block.start, block.end, block.function.name)


def _is_in_frame(before: int, pc: int) -> bool:
    """Does the instruction at `before` lead to pc in the frame that executes
    it?"""
    function = _function(before)
    if function is None or function != _function(pc):
        return False
    architecture = gdb.selected_inferior().architecture()
    code = architecture.disassemble(before, count=1)[0]
    return pc == before + code["length"] or not re.match(
        r"(\w+ )*(call|ret)", code["asm"])


def _place() -> tuple[int, int]:
    """Where the selected thread is: pc, sp."""
    pc, sp = (int(gdb.newest_frame().read_register(r)) % 2**64
              for r in ("rip", "rsp"))
    return pc, sp


class _Counted(NamedTuple):
    """An instruction behind which gdb counts one: where the function has it, and
    whether gdb has seen the thread in a trampoline before it."""

    own: int
    is_seen: bool


_NOWHERE = _Counted(0, False)


class UnseenEnd(NamedTuple):
    """The last instruction has begun, or ended, where gdb has seen a
    trampoline, which it takes for another function."""

    is_new: bool  # gdb does not know that the thread has come here
    is_in_frame: bool  # that executed it


class _Come(NamedTuple):
    """The thread is about to execute this instruction, and has run what the
    trampoline has before it."""

    one: Instruction
    sp: int
    slot: int  # where the return address is


class InstructionSteps:
    """One thread's, from the command to the stop."""

    def __init__(self, settle_at: Callable[[Area, int], None],
                 write_again: Callable[[list[Patch]], None],
                 standing: Standing, in_line: Held) -> None:
        self._in_line = in_line
        self._settle_at = settle_at
        self._write_again = write_again
        self._standing = standing
        self._areas: list[Area] = []
        self._all: Optional[_All] = None
        self._tid = 0  # 0: none steps
        self._pid = 0
        self._is_over_calls = False
        self._over: Optional[tuple[int, int]] = None  # pc, sp behind a call
        self._last = 0  # where the thread was before
        self._counted = [_NOWHERE, _NOWHERE]  # the last, and that before it
        self._come: Optional[_Come] = None
        self._entered: Optional[_Come] = None  # the last entry
        self._on_stage: Optional[Instruction] = None  # the last to be there
        self._stage_to = 0  # where that leads
        self._has_run = False  # behind gdb's back
        self._is_watched = False
        self._is_jumping = False  # by a patch, which counts as a step
        self._is_still = False  # no thread runs, and code can change
        self._left_at: Optional[tuple[int, int]] = None  # pc, sp
        self._moved_to: Optional[tuple[int, int]] = None  # behind gdb's back
        self._n_ahead = 0  # instructions that gdb has counted
        self._lifted: list[Patch] = []

    def set_areas(self, areas: list[Area]) -> None:
        self._areas, self._all = areas, None
        if not areas:
            self._tid, self._lifted = 0, []
            self._in_line.release(self)

    def begin(self, is_over_calls: bool, is_watched: bool = False) -> None:
        """gdb is about to step the selected thread; is_watched: and all others,
        and what is called, too, for a watchpoint."""
        if self._tid or is_remote():
            return
        self._tid = gdb.selected_thread().ptid[1]
        self._pid = gdb.selected_inferior().pid
        self._is_over_calls, self._over, self._last = is_over_calls, None, 0
        self._come = self._entered = self._left_at = self._on_stage = None
        self._moved_to, self._n_ahead = None, 0
        self._counted = [_NOWHERE, _NOWHERE]
        self._has_run = self._is_jumping = False
        self._stage_to = 0
        pc, sp = _place()
        self._lifted, is_reported = self._standing.take_over(
            lambda patches: self._known().is_in(patches, pc))
        if is_reported:
            self._left_at = pc, sp
            self._count(pc, is_seen=False)
        self._is_watched = is_watched
        if not is_watched and not self._may_write() and (
                self._may_come_to_breakpoint()):
            # Else gdb would set the thread back there.  (gdb 13 may crash if it
            # steps others meanwhile.)
            self._in_line.hold(self)
        # Once gdb has begun, other threads run.
        self._is_still = not is_any_running()
        try:
            self._go_on()
            if self._has_run and self._is_still:
                flush()  # gdb compares where the thread is with its last stop
        finally:
            self._is_still = False

    def _may_come_to_breakpoint(self) -> bool:
        """Is one of the user's where a patch is?"""
        return any(at.address in self._known().own
                   for b in gdb.breakpoints() if b.is_valid() and b.enabled
                   for at in getattr(b, "locations", ()))

    def _lift(self, patches: Iterable[Patch]) -> None:
        new = [p for p in patches if p not in self._lifted
               and p.is_there(self._pid)]
        self._lifted += new
        take_away(new)

    def look(self, pending: Any) -> Optional[Any]:
        """For an unwinder, of any frame: returns who that is, if it is of the
        thread that steps and in a trampoline."""
        if not self._tid:
            return None
        thread = gdb.selected_thread()
        if thread is None or thread.ptid[1] != self._tid:
            return None
        at = engine.thread_registers(self._tid)
        # gdb knows inlined calls' frames itself, which are further in.
        if at is None or at.sp != int(pending.read_register("rsp")) % 2**64:
            return None
        try:
            self._go_on()
        except OSError:  # the process is gone
            return None
        if pending.level():
            return None
        pc = int(pending.read_register("rip")) % 2**64
        one = self._known().copies.get(pc)
        if (one is None or self._entered is None
                or one.patch is not self._entered.one.patch):
            return None
        hook = self._entered.one.hook
        assert hook is not None
        return entry_frame(pending, self._entered.slot, hook.function)

    def follow(self, tid: int) -> bool:
        """The selected thread has executed an instruction: is it one that steps
        so?"""
        if self._tid == tid:
            self._go_on()
            self._entered = None  # gdb wants the caller's registers, too
        return self._tid == tid

    def _known(self) -> _All:
        if self._all is None:
            self._all = _All(self._areas)
        return self._all

    def is_displaced(self, address: int) -> bool:
        """Is that instruction in a trampoline?"""
        return address in self._known().own

    def covered(self, pc: int) -> Optional[int]:
        """Where a trampoline has the instruction at pc, if that is within a patch
        of the selected process; None: no thread stands wrongly there."""
        one = self._known().own.get(pc)
        is_within = one is not None and one.patch.address != pc and (
            one.patch.is_there(gdb.selected_inferior().pid))
        return one.copy if one is not None and is_within else None

    def place_of(self, pc: int) -> Optional[int]:
        """Where its function has what a thread in a trampoline is about to
        execute, with the same registers; None: it has it nowhere."""
        if pc in self._known().begins:
            return self._known().begins[pc]
        found = displaced.own_place(self._areas, pc)
        if found is not None:
            return found[1]
        one = self._known().next(pc)
        is_begin = one is not None and one.hook and one.before and (
            self._behind(one.before, one.own) == pc)
        return one.own if one is not None and is_begin else None

    # ---- between two steps -------------------------------------------------------

    def _go_on(self) -> None:
        """Lets the thread come to an instruction of the program's, behind which
        gdb counts one."""
        begin = self._where()
        is_there = begin is not None and begin == self._moved_to
        if is_there:
            # Perhaps gdb has stopped all threads since, as another one is to
            # step over a breakpoint.  For it this one has moved by its step,
            # which it counts at a breakpoint where the thread is.  Or there is
            # one of the user's, where gdb counts it, too.
            self._n_ahead += engine.thread_hit_breakpoint(self._tid)
        self._come_on()
        if not is_there:
            self._catch_up()
        now = self._where()
        if now != begin:
            self._moved_to = now

    def _catch_up(self) -> None:
        """Executes what gdb has counted already, but for what it steps over."""
        while self._n_ahead and self._over is None and not self._is_at_call():
            if not engine.step_out(self._tid, 0, 0):
                return
            self._n_ahead -= 1
            self._has_run = True
            self._come_on()

    def _is_at_call(self) -> bool:
        """For `nexti`: is a call next?"""
        at = engine.thread_registers(self._tid)
        if at is None or not self._is_over_calls:
            return False
        return x86_64.is_call(memory.read(self._pid, at.pc, _LONGEST))

    def _where(self) -> Optional[tuple[int, int]]:
        at = engine.thread_registers(self._tid)
        return None if at is None else (at.pc, at.sp)

    def _come_on(self) -> None:
        is_seen = False  # in a trampoline, by gdb
        for _ in range(_MOST_PLACES):
            at = engine.thread_registers(self._tid)
            if (at is None or (at.pc, at.sp) == self._left_at
                    or self._over not in (None, (at.pc, at.sp))
                    or any(at.pc == area.step_gate() for area in self._areas)):
                return
            self._over = self._left_at = None
            self._put_back(at.pc)
            self._is_jumping |= (not self._is_over_calls
                                 and at.pc in self._known().begins)
            landing = self._landing(at.pc)
            if landing is not None and landing.is_there(self._pid):
                self._is_jumping = True
                if not self._land(landing):
                    return
            elif any(area.is_code(at.pc) for area in self._areas):
                is_seen = True
                one = self._known().copies.get(at.pc)
                if one is not None and not self._is_jumping:
                    self._count(one.own, is_seen)
                    self._left_at = self._staged(one), at.sp
                    engine.thread_move(self._tid, at.pc, self._left_at[0])
                    return
                if not self._pass(at, one is not None):
                    return
            elif (self._is_over_calls and not self._is_watched
                  and self._is_called(at)):
                self._over = self._word(at.sp), at.sp + _WORD
                return
            else:
                one = self._known().own.get(at.pc)
                self._count(at.pc, is_seen)
                if one is not None:
                    self._arrive(one, at)
                return

    def _count(self, own: int, is_seen: bool) -> None:
        self._last = own
        if own != self._counted[0].own:  # gdb may ask more than once
            self._counted = [_Counted(own, is_seen), self._counted[0]]

    def _landing(self, pc: int) -> Optional[Patch]:
        """What a short jump has led to, unless the thread comes from the stage
        to an instruction that lay there."""
        is_staged, self._stage_to = pc == self._stage_to, 0
        return None if is_staged else self._known().landings.get(pc)

    def _land(self, landing: Patch) -> bool:
        return engine.thread_move(self._tid, landing.address,
                                  displaced.landing_target(landing.new,
                                                           landing.address))

    def _pass(self, at: abi.cst_registers, is_counted: bool) -> bool:
        """Passes over a trampoline's own instructions, or one that the patch's
        jump has been counted for."""
        self._has_run = True
        if is_counted:
            self._is_jumping = False
            return engine.step_out(self._tid, 0, 0)
        to = displaced.way_out(self._areas, at)
        if to is None:
            return False
        with stack_kept(self._tid, to):
            return self._standing.come_to(self._tid, to)

    def _is_called(self, at: abi.cst_registers) -> bool:
        """Has the instruction before been a call?"""
        return (self._last != 0 and 0 < self._word(at.sp) - self._last <= _LONGEST
                and not 0 <= at.pc - self._last <= _LONGEST)

    def _word(self, address: int) -> int:
        try:
            return int.from_bytes(memory.read(self._pid, address, _WORD),
                                  "little")
        except OSError:
            return 0

    def _arrive(self, one: Instruction, at: abi.cst_registers) -> None:
        start = self._start(one)
        may_write = self._may_write()
        if one.patch not in self._lifted:
            if not one.patch.is_there(self._pid):
                return  # it is away
            if (one.before is None and not may_write and self._is_watched
                    and memory.read(self._pid, at.pc, 1)[0] == INT3):
                return  # gdb steps over a breakpoint there
        if not start or not engine.thread_move(self._tid, at.pc, start):
            return
        self._has_run = True
        with stack_kept(self._tid, one.copy):
            if not self._standing.come_to(self._tid, one.copy):
                return
            self._come = _Come(one, at.sp, slot_at(
                one.hook, at.sp, at.bp, self._pid) if one.hook else 0)
        if one.hook and one.hook.is_entry():
            self._entered = self._come
        if not may_write and one.patch not in self._lifted:
            at.pc = self._staged(one)
        elif one.patch not in self._lifted:
            self._lift(_group(one.area, one.patch))
        engine.thread_set(self._tid, at)  # its flags, too
        self._left_at = at.pc, at.sp

    def _staged(self, one: Instruction) -> int:
        """For `nexti`, which counts none between two that a trampoline has, as
        it passes over that: the instruction once more, before a jump to its
        place behind it in the function, which gdb steps to next and counts.
        Returns where, or its place in the trampoline, if it leads elsewhere."""
        if not self._is_over_calls:
            return one.copy
        code = memory.read(self._pid, one.copy, abi.CST_INSTRUCTION_MAX)
        gate = one.area.step_gate()
        n = len(engine.moved_instruction(code, one.copy, one.copy))
        to = self.place_of(one.copy + n) if n else None
        moved = engine.moved_instruction(code, one.copy, gate - n)
        if to is None or not moved:
            return one.copy
        memory.write(self._pid, one.area.step_slot(), struct.pack("<Q", to))
        memory.write(self._pid, gate - n, moved)
        self._on_stage, self._stage_to = one, to
        return gate - n

    def _start(self, one: Instruction) -> int:
        """Where the trampoline has what it does before the instruction; 0: it
        is not to be run."""
        if one.before is None:
            return one.patch.trampoline
        if one.patch in self._lifted and not one.hook:
            return 0
        return self._behind(one.before, one.own)

    @staticmethod
    def _behind(before: tuple[int, int], own: int) -> int:
        """The end of the instruction with that copy and own place, which is the
        one before that at `own`."""
        copy, was = before
        code = memory.read(gdb.selected_inferior().pid, copy, 2)
        is_branch = code[0] == 0x0f and code[1] >> 4 == 8
        return copy + (_BRANCH if is_branch else own - was)

    def _may_write(self) -> bool:
        """Does no other thread run, so that code can change?"""
        return (self._is_still or gdb.parameter("scheduler-locking") in _LOCKED
                or len(os.listdir("/proc/%d/task" % self._pid)) == 1)

    def _put_back(self, pc: int) -> None:
        if (self._lifted and not self._is_still
                and not self._known().is_in(self._lifted, pc)
                and self._may_write()):
            write(self._lifted)
            self._lifted = []

    # ---- at the stop -------------------------------------------------------------

    def unseen_end(self) -> Optional[UnseenEnd]:
        """What gdb does not know of the selected thread's step; None: there is
        nothing."""
        now, before = self._counted
        self._counted = [_NOWHERE, _NOWHERE]
        pc = int(gdb.newest_frame().pc())
        if now.own != pc or not (now.is_seen or before.is_seen):
            return None
        return UnseenEnd(now.is_seen, _is_in_frame(before.own, pc))

    def end(self, is_step: bool) -> bool:
        """Returns whether the thread has moved, or has run something."""
        thread = next((t for t in gdb.selected_inferior().threads()
                       if t.ptid[1] == self._tid), None)
        if not self._tid:
            return is_step and self._leave(is_jump=True)
        if thread is not None and thread.is_running():
            return False
        self._in_line.release(self)
        if thread is None:
            self._tid = 0
            self._write_again(self._lifted)
            self._lifted = []
            return False
        with arrival.selected_kept():
            thread.switch()
            if is_step:
                self._catch_up()
            self._leave_stage()
            self._tid = 0
            return self._end(is_step)

    def _end(self, is_step: bool) -> bool:
        if self._has_run:
            flush()
        pc, sp = _place()
        come = self._come
        lifted, self._lifted = self._lifted, []
        if (come is not None and come.sp == sp
                and pc in (come.one.own, come.one.copy)):
            if self._undo(come):
                self._write_again(lifted)
            else:
                self._stand(come.one, lifted)
        else:
            self._end_at(pc, lifted, is_step)
        return self._has_run

    def _leave_stage(self) -> None:
        """Something else has stopped the thread between an instruction and the
        jump behind it, or before both."""
        at = engine.thread_registers(self._tid)
        area = next((a for a in self._areas if at is not None
                     and a.is_stage(at.pc)), None)
        if at is None or area is None:
            return
        if at.pc == area.step_gate():
            engine.thread_move(self._tid, at.pc, self._word(area.step_slot()))
            self._go_on()
        elif self._on_stage is not None:
            engine.thread_move(self._tid, at.pc, self._on_stage.copy)

    def _end_at(self, pc: int, lifted: list[Patch], is_step: bool) -> None:
        known = self._known()
        one = known.own.get(pc)
        if one is not None and one.patch in lifted:
            self._stand(one, lifted)
            return
        self._write_again(lifted)
        one = known.copies.get(pc)
        if one is not None:
            self._stand(one, [])
        elif is_step:
            self._leave(is_jump=False)

    def _stand(self, one: Instruction, lifted: list[Patch]) -> None:
        """The thread stands at the instruction, whose patch is away."""
        group = _group(one.area, one.patch)
        self._write_again([p for p in lifted if p not in group])
        if is_any_running() and not all(p in lifted for p in group):
            return  # it stays in the trampoline
        take_away(p for p in group if p not in lifted)
        gdb.execute("set var $pc = %#x" % one.own, to_string=True)
        write_saved()
        self._standing.put_back_later(group)

    def _undo(self, come: _Come) -> bool:
        """The instruction is the next to be executed: nothing of it has
        happened.  False: it is not the first that is displaced."""
        hook = come.one.hook
        if come.one.before is not None or not (
                hook is None or expect_again(self._pid, come.slot, hook)):
            return False
        gdb.execute("set var $pc = %#x" % come.one.own, to_string=True)
        write_saved()
        return True

    def _leave(self, is_jump: bool) -> bool:
        """Leaves a trampoline; where gdb has stepped by a patch's jump to it,
        what the step was to execute comes behind that.  Returns whether the
        thread has moved."""
        pc = gdb.newest_frame().pc()
        if is_jump:
            self._leave_landing()
        found = self.step_to_own()
        if found is None:
            return bool(gdb.newest_frame().pc() != pc)
        self._settle_at(*found)
        if is_jump:
            step(0)
            self._standing.stepped()
        return True

    def step_to_own(self) -> Optional[tuple[Area, int]]:
        """Steps the selected thread, if it is in a trampoline, to an instruction
        that its function has, too.  Returns the area and where that is."""
        while True:
            pc, sp = _place()
            found = displaced.own_place(self._areas, pc)
            if found is not None:
                return found
            to = displaced.next_place(self._areas, pc, sp)
            if to is None or not step(to):
                return None

    def leave(self) -> bool:
        """Lets the selected thread execute what it is in of a trampoline, up to
        code that is in no trampoline.  Returns whether it has."""
        tid = gdb.selected_thread().ptid[1]
        has_run = False
        for _ in range(_MOST_PLACES):
            at = engine.thread_registers(tid)
            if at is None or not any(a.is_code(at.pc) for a in self._areas):
                break
            is_own = displaced.own_place(self._areas, at.pc) is not None
            to = 0 if is_own else displaced.next_place(
                self._areas, at.pc, at.sp)
            if to is None or not engine.step_out(tid, to, 0):
                break
            has_run = True
        if has_run:
            flush()
        return has_run

    def _leave_landing(self) -> None:
        self._pid = gdb.selected_inferior().pid
        landing = self._known().landings.get(int(gdb.newest_frame().pc()))
        if landing is not None and landing.is_there(self._pid):
            gdb.execute("set var $pc = %#x" % displaced.landing_target(
                landing.new, landing.address), to_string=True)
