# SPDX-License-Identifier: MIT
"""A thread that stops in a trampoline, where this has called the shim, is set back
to the function that the trampoline is of: so the user sees that function's frame,
as at a breakpoint in it.  The thread then comes to the patch again: the shim ignores
the second report of an entry, and the patch of an exit is away until the function
has returned."""

from __future__ import annotations

import contextlib
import os
import re
import struct
from typing import Any, Callable, Iterable, Iterator, Optional, TypeVar

import gdb

from .. import _abi as abi, engine, gdb_setting
from ..ui import ctrlc
from . import displaced, hooks, memory
from .area_unwinder import RED_ZONE, AreaUnwinder, Before, before
from .patched_area import Hook, Patch

_ENDBR64 = b"\xf3\x0f\x1e\xfa"
_FLAGS = 0xd5  # that `lahf` has
_OVERFLOW = 1 << 11
_LARGEST = 1 << 23  # stack frame
_BELOW = 1 << 13  # the stack pointer, for the shim
_OWN = 1 << 9  # as far as that the shim surely writes
_NOOPS = ("cstrace_hook_stop", "cstrace_hook_enter")
_WORD = 8
_NEAR = 512  # bytes
_T = TypeVar("_T", bound=tuple[Any, ...])


def line_behind(hook: Hook) -> int:
    """Where a breakpoint on the function stops, if that is behind the patch of
    its entry; or 0."""
    if not hook.is_entry() or not hook.is_framed():
        return 0
    line = gdb.find_pc_line(hook.patch.address)
    if line.symtab is None or not line.last or line.pc == hook.patch.address:
        return 0
    return line.last + 1


def _set(register: str, value: int) -> None:
    gdb.execute("set var $%s = %d" % (register, value), to_string=True)


def _read(register: str) -> int:
    return int(gdb.newest_frame().read_register(register)) % 2**64


def is_any_running() -> bool:
    """Does a thread of the process run, as in non-stop mode?"""
    return any(t.is_running() for t in gdb.selected_inferior().threads())


def _groups(items: Iterable[_T]) -> Iterator[list[_T]]:
    """What lies near each other, by address, which each item begins with."""
    group: list[_T] = []
    for one in sorted(items):
        if group and one[0] - group[-1][0] > _NEAR:
            yield group
            group = []
        group.append(one)
    if group:
        yield group


def with_code(patches: Iterable[Patch]) -> Iterator[tuple[Patch, bytes]]:
    """Each patch with the bytes that are in its place, by address.  Between the
    segments of a file nothing may be mapped."""
    inferior = gdb.selected_inferior()
    for group in _groups(patches):
        begin, last = group[0].address, group[-1]
        code = bytes(inferior.read_memory(
            begin, last.address + len(last.old) - begin))
        for p in group:
            at = p.address - begin
            yield p, code[at:at + len(p.old)]


def _change(changes: Iterable[tuple[int, bytes]]) -> None:
    """Writes these bytes at these addresses.  Each command costs gdb as much as
    a kilobyte, so that what lies between them is written as it is."""
    inferior = gdb.selected_inferior()
    for group in _groups(changes):
        begin, (last, new) = group[0][0], group[-1]
        code = new
        if len(group) > 1:
            code = bytearray(inferior.read_memory(
                begin, last + len(new) - begin))
            for address, new in group:
                code[address - begin:address - begin + len(new)] = new
        inferior.write_memory(begin, code)


def write(patches: Iterable[Patch]) -> None:
    _change((p.address, p.new) for p in patches)


def take_away(patches: Iterable[Patch]) -> None:
    gone = list(patches)
    _leave_landings(gone)
    _change((p.address, p.old) for p in gone)


def _leave_landings(patches: list[Patch]) -> None:
    """Moves on the threads that are between a short jump and its landing: these
    bytes are about to change."""
    inferior = gdb.selected_inferior()
    landings = {p.address: p for p in patches
                if p.kind == abi.CST_PATCH_LANDING}
    has_moved = False
    for thread in inferior.threads() if landings else ():
        at = engine.thread_registers(thread.ptid[1])
        landing = at and landings.get(at.pc)
        if landing and landing.is_there(inferior.pid):
            has_moved |= engine.thread_move(
                thread.ptid[1], landing.address,
                displaced.landing_target(landing.new, landing.address))
    if has_moved:
        flush()


class Back(gdb.Breakpoint):
    """Writes a function's patches again when it has returned.  The thread
    stands now at one of its instructions, in place of the trampoline's copy."""

    enabled: bool

    def __init__(self, lifted: Iterable[Patch], address: int,
                 sp: int) -> None:
        super().__init__("*%#x" % address, internal=True)
        self.silent = True
        self.thread = gdb.selected_thread().global_num
        self.pid = gdb.selected_inferior().pid
        self.place = address
        self.lifted = list(lifted)
        self.has_returned = False  # the function; they are away still
        self._sp = sp
        self._stands = _read("rip"), _read("rsp")

    @ctrlc.handed_on
    def stop(self) -> bool:
        self.put_back()
        if not self.lifted or self.has_returned:
            self.enabled = False  # gdb is in it
        return False

    def put_back(self) -> bool:
        if (_read("rsp") <= self._sp or not self.lifted
                or gdb.selected_inferior().pid != self.pid):
            return False
        # Other threads run, and may be in the bytes that change.
        self.has_returned = len(gdb.selected_inferior().threads()) != 1
        if not self.has_returned:
            write(self.lifted)
            self.lifted = []
        return not self.has_returned

    def is_of_selected(self) -> bool:
        return self.thread == gdb.selected_thread().global_num

    def stands_at(self) -> int:
        """Where the thread was set to, which is selected, if it is there still;
        or 0."""
        is_there = self._stands == (_read("rip"), _read("rsp"))
        return self._stands[0] if is_there else 0


class Expected(gdb.Breakpoint):
    """Its thread is on the way there, for that condition."""

    condition_place: int


class Standing:
    """Where the selected thread stands: in a trampoline, or not."""

    TARGET = "cstrace_hook_stop"  # what the shim calls for a condition

    def __init__(self, unwinder: AreaUnwinder) -> None:
        self._unwinder = unwinder
        self.trampoline = unwinder.trampoline
        self._backs: list[Back] = []
        self._expected: list[Expected] = []
        # Given what the shim says at TARGET: was it a question, and answered?
        self.answer: Callable[[abi.cst_registers], bool] = lambda at: False

    def hook(self) -> Optional[Hook]:
        """The trampoline's call of the shim that the thread has just returned
        from, if it has."""
        with contextlib.suppress(gdb.error):
            return self._unwinder.hooks.get(gdb.newest_frame().pc())
        return None

    def expect(self, breakpoint: Expected) -> None:
        self._expected = [b for b in self._expected if b.is_valid()]
        self._expected.append(breakpoint)

    def expect_no_more(self, condition: int) -> None:
        for b in self._expected:
            if b.is_valid() and b.condition_place == condition:
                b.delete()

    def is_to_stop(self) -> bool:
        """Is the selected thread about to stop for a condition?  Another has
        stopped first."""
        number = gdb.selected_thread().global_num
        return gdb.newest_frame().name() == self.TARGET or any(
            b.is_valid() and b.thread == number for b in self._expected)

    def pass_noop(self, tid: int) -> bool:
        """Lets a thread that gdb's step has led to our breakpoint in one of the
        shim's functions that do nothing return, unless the session is to stop
        for it."""
        at = engine.thread_registers(tid)
        if at is None or at.pc == hooks.symbol_address(self.TARGET) and (
                not self.answer(at)):
            return False
        return return_from_noop(tid) is not None

    def come_to(self, tid: int, to: int) -> bool:
        """Lets a thread run, behind gdb's back, what is not its function's, to
        that place; 0: one instruction.  False: it has not come there."""
        while not engine.come_to(tid, to):
            if not self.pass_noop(tid):
                return False
        return True

    def come_out(self) -> bool:
        """A step of the selected thread has ended where a trampoline has called
        the shim?  It returns from there, to where the session stops for a
        condition, if the shim has found one."""
        found = self.trampoline(gdb.newest_frame())
        if found is None:
            return False
        to, sp, _ = found
        return_from_noop(gdb.selected_thread().ptid[1])
        if step(to, sp):
            for b in self._expected:
                if b.is_valid() and b.stop():
                    b.delete()
            self.settle(is_users=True)
        return True

    def forget(self) -> None:
        """There are no patches in the process of now any more."""
        pid = gdb.selected_inferior().pid
        for b in self._backs:
            if b.is_valid() and b.pid == pid:
                b.delete()

    def forget_all(self) -> None:
        """There are no patches in any process any more."""
        for b in self._backs:
            if b.is_valid():
                b.delete()
        self._backs = []

    def settle(self, is_users: bool) -> bool:
        """Sets it back, if it is in a trampoline.  Returns whether it has left
        the function instead, at an end of that."""
        hook = self.hook()
        if hook is None or not (hook.is_entry() or hook.next):
            return False
        pid = gdb.selected_inferior().pid
        gdb.newest_frame().select()
        was = before(hook, _read("rsp"), _read("rbp"), pid)
        if not hook.is_entry():
            return self._settle_at_end(hook, was, is_users)
        if expect_again(pid, was.slot, hook):
            to = begin(pid, hook)
            _pass_breakpoints(to)
            _go_back(to, was)
            write_saved()
        return False

    def _settle_at_end(self, hook: Hook, was: Before, is_users: bool) -> bool:
        inferior = gdb.selected_inferior()
        back, = struct.unpack("<Q", memory.read(inferior.pid, was.slot, 8))
        # Other threads than the user's leave the patch as it is.
        if not is_users or is_any_running():
            return step(back, was.slot + 8)
        inferior.write_memory(hook.patch.address, hook.patch.old)
        _go_back(hook.next, was)
        write_saved()
        if _has_lost_variables(hook, was.sp) and step(back, was.slot + 8):
            inferior.write_memory(hook.patch.address, hook.patch.new)
            return True
        self.put_back_behind([hook.patch], back, was.slot)
        return False

    def put_back_behind(self, patches: Iterable[Patch], address: int,
                        sp: int) -> None:
        """The patches are away until the function returns to the address; sp:
        where its return address is."""
        self._backs = [*(b for b in self._backs if b.is_valid()),
                       Back(patches, address, sp)]

    def put_back_later(self, patches: Iterable[Patch]) -> None:
        """Behind the selected thread's function."""
        with gdb_setting.changed("backtrace past-main", "on"):
            frame = gdb.newest_frame()
            while frame.type() == gdb.INLINE_FRAME:
                frame = frame.older()
            caller = frame.older()
            if caller is None:
                return
            pc, sp = caller.pc(), int(caller.read_register("rsp")) % 2**64
        self.put_back_behind(patches, pc, sp - 8)

    def _all_away(self) -> list[Back]:
        return [b for b in self._backs if b.is_valid() and b.lifted]

    def away(self) -> list[Back]:
        """For what will come back, in the process of now."""
        pid = gdb.selected_inferior().pid
        return [b for b in self._all_away() if b.pid == pid]

    def put_back(self, may_write: Callable[[list[Patch]], bool]) -> None:
        """At a stop of all threads: writes the patches of functions that have
        returned, or from where the selected thread has gone on, if no thread is
        in the bytes that change."""
        for b in self.away():
            if (b.has_returned or (b.is_of_selected() and not b.stands_at())
                    ) and may_write(b.lifted):
                write(b.lifted)
                b.lifted, b.enabled = [], False
        pc = gdb.newest_frame().pc()
        for b in self._backs:  # where one is gdb would miss it
            if b.is_valid() and not b.lifted and b.place != pc:
                b.delete()

    def take_over(self, is_in: Callable[[list[Patch]], bool]) -> tuple[
            list[Patch], bool]:
        """Returns what is away for the selected thread that is in it, for which
        the caller stands now, and whether the thread is still where it has been
        set to."""
        patches: list[Patch] = []
        is_still_there = False
        for b in self.away():
            if b.is_of_selected() and is_in(b.lifted):
                patches += b.lifted
                is_still_there |= b.stands_at() != 0
                b.delete()
        return patches, is_still_there

    def stepped(self) -> None:
        """The thread has stepped behind gdb's back, or the user has set it to
        another place: gdb would stop once more at a breakpoint where it is now."""
        pc = gdb.newest_frame().pc()
        for b in self.away():
            if b.place == pc and b.is_of_selected():
                if b.put_back():
                    b.delete()
                elif b.has_returned:
                    b.enabled = False


@contextlib.contextmanager
def stack_kept(tid: int, to: int) -> Iterator[None]:
    """What is below the stack pointer, as variables at a return, is as before
    once the thread has come to that place.  Other threads may write below its
    stack, which may be a small one for signals."""
    pid, at = gdb.selected_inferior().pid, engine.thread_registers(tid)
    if at is None:
        yield
        return
    is_alone = len(os.listdir("/proc/%d/task" % pid)) == 1
    begin = max(memory.mapping_start(pid, at.sp),
                at.sp - (_BELOW if is_alone else _OWN))
    below = memory.read(pid, begin, at.sp - begin)
    yield
    now = engine.thread_registers(tid)
    if now is not None and now.pc == to and begin < now.sp:
        memory.write(pid, begin, below[:now.sp - begin])


def flush() -> None:
    """gdb does not know that a thread has moved, and may have pushed
    something."""
    for cache in "dcache", "register-cache":
        with contextlib.suppress(gdb.error):
            gdb.execute("maintenance flush " + cache, to_string=True)


def return_from_noop(tid: int) -> Optional[abi.cst_registers]:
    """If the thread is at our breakpoint in one of the shim's functions that do
    nothing, it returns.  Returns its registers before."""
    at = engine.thread_registers(tid)
    if at is None or at.pc not in map(hooks.symbol_address, _NOOPS):
        return None
    return_from(tid, at)
    return at


def return_from(tid: int, at: abi.cst_registers) -> None:
    """It is at a function's first instruction, and returns."""
    pid = gdb.selected_inferior().pid
    engine.thread_set(tid, abi.cst_registers(
        pc=int.from_bytes(memory.read(pid, at.sp, _WORD), "little"),
        sp=at.sp + _WORD, ax=at.ax, flags=at.flags))


def step(to: int, sp: int = 0) -> bool:
    """Steps the selected thread to that place, and stack pointer unless 0; or
    where to is 0 by one instruction.  Is it there?"""
    is_there = engine.step_out(gdb.selected_thread().ptid[1], to, sp)
    flush()
    return is_there


def begin(pid: int, hook: Hook) -> int:
    """Where the patched function begins: an endbr64 may be before the patch, and
    gdb shows the function's address."""
    n = hook.patch.address - hook.function
    is_begin = n == len(_ENDBR64) and memory.read(
        pid, hook.function, n) == _ENDBR64
    return hook.function if is_begin else hook.patch.address


def _go_back(to: int, was: Before) -> None:
    _set("rax", was.rax)
    if was.flags is not None:
        flags = _read("eflags") % 2**32 & ~(_FLAGS | _OVERFLOW)
        flags |= was.flags >> 8 & _FLAGS
        _set("eflags", flags | (_OVERFLOW if was.flags & 1 else 0))
    # In this order: gdb unwinds after each, and by the trampoline's rule it
    # would read memory by what the function has on its stack.
    _set("rip", to)
    _set("rsp", was.sp)


def _has_lost_variables(hook: Hook, sp: int) -> bool:
    """Has the function variables below the stack pointer, where the shim has
    had its own?  gdb would show what is there now."""
    if hook.slot not in (abi.CST_SLOT_EXIT, abi.CST_SLOT_FRAMED_EXIT):
        return False
    sp -= RED_ZONE if hook.is_framed() else 0
    frame = gdb.newest_frame()
    with contextlib.suppress(RuntimeError):  # it has no debug information
        block = frame.block()
        while block is not None:
            for symbol in block:
                if _is_below(symbol, frame, sp):
                    return True
            block = None if block.function else block.superblock
    return False


def _is_below(symbol: gdb.Symbol, frame: gdb.Frame, sp: int) -> bool:
    if not symbol.is_argument and not symbol.is_variable:
        return False
    try:
        address = symbol.value(frame).address
    except (gdb.error, TypeError):
        return False
    return address is not None and 0 < sp - int(address) % 2**64 < _LARGEST


def write_saved() -> None:
    """At a return, call frame information still finds saved registers below the
    stack pointer, where a hook has had its own stack since: writes there what
    the registers have, which is what was saved."""
    gdb.newest_frame().select()
    text = gdb.execute("info frame", to_string=True)
    sp = _read("rsp")
    for name, at in re.findall(r"\b(r\w+) at (0x[0-9a-f]+)",
                               text.partition("Saved registers:")[2]):
        if int(at, 16) < sp:
            gdb.selected_inferior().write_memory(
                int(at, 16), _read(name).to_bytes(8, "little"))
    # gdb may have read the frames.
    gdb.execute("maintenance flush register-cache", to_string=True)


def expect_again(pid: int, slot: int, hook: Hook) -> bool:
    """Lets the shim ignore the next report of this event; slot: where the
    return address is.  False: too many threads are set back already."""
    at, state = (hooks.symbol_address(name)
                 for name in ("cstrace_again", "cstrace_state"))
    if at is None or state is None:
        return False
    size = memoryview(abi.cst_again()).nbytes
    table = abi.cst_again.from_buffer_copy(memory.read(pid, at, size))
    free = next((one for one in table.all if one.sp in (0, slot)), None)
    if free is None:
        return False
    table.n += not free.sp
    table.pid, free.sp, free.callee = pid, slot, hook.function
    free.hook = hook.word()
    memory.write(pid, at, bytes(table))
    memory.write(pid, state, abi.CST_STATE_ASK.to_bytes(4, "little"))
    return True


def expect_none(pid: int) -> None:
    """What was to be reported again will not be."""
    at = hooks.symbol_address("cstrace_again")
    if at is not None:
        with contextlib.suppress(OSError):  # the process has gone
            memory.write(pid, at, bytes(memoryview(abi.cst_again()).nbytes))


def _pass_breakpoints(address: int) -> None:
    """The user's there were hit before the entry was reported, and gdb does not
    know that the thread has come back."""
    for b in gdb.breakpoints():
        if b.is_valid() and b.enabled and b.visible and any(
                location.address == address and location.enabled
                for location in getattr(b, "locations", ())):
            b.ignore_count += 1
