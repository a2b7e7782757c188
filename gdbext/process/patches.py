# SPDX-License-Identifier: MIT
"""A program without hooks: its functions are patched to report their calls.
The shim maps the new code as the program starts; gdb writes the patches, for only
gdb knows where its breakpoints are."""

from __future__ import annotations

import contextlib
import os
from typing import Callable, Iterable, Iterator, Optional

import gdb

from .. import _abi as abi, gdb_setting
from ..live import Live, Look
from ..ui import ctrlc
from ..ui.console import plain, say
from . import arrival, displaced, hooks, memory, thunk_file, x86_64
from .area_unwinder import AreaUnwinder
from .instruction_steps import InstructionSteps
from .line_steps import LineSteps
from .original_code import ShownCode
from .patched_area import Area, Hook, Patch, read_area
from .plans import Plans
from .software_watch import SoftwareWatch
from .standing import (
    Standing, expect_none, is_any_running, step, write, write_saved)

MAPPED = "cstrace_patches_mapped"


class MappedBreakpoint(gdb.Breakpoint):
    """The shim calls this function before and after it maps areas, when none
    of the code that they patch has run."""

    def __init__(self, patches: Patches) -> None:
        super().__init__(MAPPED, internal=True)
        self.silent = True
        self._patches = patches

    @ctrlc.handed_on
    def stop(self) -> bool:
        call, function, to = (int(gdb.parse_and_eval(r)) % 2**64
                              for r in x86_64.ARGUMENTS)
        try:
            if call == abi.CST_PATCHES_WANTED:
                self._patches.make_plans()
            elif call == abi.CST_PATCHES_MAPPED:
                self._patches.write()
            elif not x86_64.lead(function, to):
                say("libraries that the program opens are not patched: its "
                    "dynamic linker is another than libc's")
        except Exception as e:  # never stop the user's program for it
            self._patches.error = str(e)
        return False


class Patches:
    """What is patched of the program that gdb runs."""

    def __init__(self, plans: Plans) -> None:
        self.plans = plans
        self._breakpoint: Optional[MappedBreakpoint] = None
        self._pid = 0
        self._areas: list[Area] = []
        # Files that gdb has, by an area's begin and its plan's sum.
        self._symbols: dict[tuple[int, int], str] = {}
        self._n_symbols = 0
        self._slots: dict[int, tuple[bytes, bytes]] = {}  # old, new
        # Called when files were patched as the program has mapped them.
        self.tell_more: Callable[[], None] = lambda: None
        self._unwinder = AreaUnwinder()
        self._shown = ShownCode()
        self.standing = Standing(self._unwinder)
        self.steps = InstructionSteps(
            self._settle_at, self._write_again, self.standing)
        self.line_steps = LineSteps(self.standing)
        self.software_watch = SoftwareWatch(self.standing, self.steps)
        self._unwinder.look = self.steps.look
        self._unwinder.is_passed = self.line_steps.look
        self._unwinder.leave_jump = self.line_steps.leave_jump
        self._moves: dict[int, int] = {}  # by thread: where it goes on
        self._is_resting = False  # no patch is written for now
        self._staying: set[tuple[int, int]] = set()  # but for these
        self._left_out: set[tuple[int, int]] = set()  # area, function
        self._late: set[tuple[int, int]] = set()  # of these: for now
        self._notice: Optional[arrival.Notice] = None
        self._led: Optional[tuple[arrival.Notice, bytes]] = None  # old bytes
        self.error: Optional[str] = None

    def watch(self) -> None:
        """The shim is in the process, and has yet to map the areas."""
        if self.plans.folder is not None:
            self._listen()
            self._unwinder.register()

    def _listen(self) -> None:
        if self._breakpoint is None:
            self._breakpoint = MappedBreakpoint(self)

    def _listen_no_more(self) -> None:
        if self._breakpoint is not None and self._breakpoint.is_valid():
            self._breakpoint.delete()
        self._breakpoint = None

    # ---- at a stop ---------------------------------------------------------------

    def _table(self) -> Iterator[abi.cst_patched]:
        address = hooks.symbol_address("cstrace_patched")
        if address is None:
            return
        raw = memory.read(self._pid, address,
                          memoryview(abi.cst_patched_table()).nbytes)
        table = abi.cst_patched_table.from_buffer_copy(raw)
        for i in range(min(table.n, len(table.all))):
            yield table.all[i]

    def make_plans(self) -> None:
        """The process is about to map areas for what it has mapped."""
        self._pid = gdb.selected_inferior().pid
        if not any(where.area_size for where in self._table()):
            self._set_areas([])  # it may have become another program
            self._forget_symbols(self._symbols.keys())
        text = self.plans.add_mapped(self._pid)
        if text is not None:
            say("patching " + text)

    def _set_areas(self, areas: list[Area]) -> None:
        self._areas = areas
        self.steps.set_areas(areas)
        self.software_watch.set_areas(areas)
        self.line_steps.jumps = {p.address: p for area in areas
                                 for p in area.patches if p.is_short()}

    def _read_areas(self) -> list[Area]:
        """Returns those that are new."""
        self._pid = gdb.selected_inferior().pid
        there = {(w.area, w.sum): w for w in self._table() if w.area_size}
        old = [a for a in self._areas if a.key() in there]
        self._set_areas(old)
        starts = {area.start for area in self._areas}
        self._left_out = {one for one in self._left_out if one[0] in starts}
        self._late &= self._left_out
        known = {area.key() for area in self._areas}
        new = [area for area in (self._read(where) for key, where
                                 in there.items() if key not in known) if area]
        self._set_areas(old + new)
        self._look_at_breakpoints()
        self._unwinder.hooks.update(
            {at: hook for area in new for at, hook in area.hooks.items()})
        self._unwinder.look_for_shim(self._pid)
        for area in new:
            self._unwinder.slots.update(area.slots(self._pid))
        return new

    def _read(self, where: abi.cst_patched) -> Optional[Area]:
        assert self.plans.folder is not None
        name = os.path.join(self.plans.folder,
                            os.path.basename(where.plan.decode()))
        with contextlib.suppress(FileNotFoundError):  # of an earlier attach
            with open(name, "rb") as f:
                plan = f.read()
            if plan[-8:] == where.sum.to_bytes(8, "little"):
                return read_area(plan, where)
        return None

    def write(self) -> None:
        """Writes the patches of all areas that are new."""
        new = self._read_areas()
        self._write_areas(new)
        self._tell_gdb()
        if new:
            self.tell_more()

    def read_midway(self, notice: Optional[arrival.Notice]) -> None:
        """The program runs already, and has mapped the areas: finds what can be
        patched where its threads stand."""
        self._notice = notice
        self._pid = gdb.selected_inferior().pid
        self._set_areas([])
        self._moves = {}
        if self.plans.folder is None:
            return
        self._unwinder.register()
        self._set_areas([a for a in self._read_areas()
                         if self._is_as_planned(a)])
        self._find_places()

    def _find_places(self) -> None:
        found = self._look(is_undone=False)
        self._moves = found.moves
        left = found.left - self._left_out
        self._late |= left
        self._left_out |= left
        if left:
            say("%d function%s left out up to a stop where no thread stands in "
                "the bytes that change" % (len(left), " is" if len(left) == 1
                                           else "s are"))

    def entered(self) -> dict[int, int]:
        """Returns for each patched function the first place behind its begin
        that reports it."""
        return {hook.function: hook.patch.address + 1 for area in self._areas
                for hook in area.hooks.values() if hook.is_entry()
                and (area.start, hook.patch.function) not in self._left_out}

    def write_midway(self) -> None:
        """Writes all patches that were read, and leads the program's hooks to
        the shim."""
        self._write_slots()
        self._move(self._moves)
        self._write_areas(self._areas)
        self._write_notice()
        self.tell()
        self._tell_gdb()

    def _write_notice(self) -> None:
        """The program's dynamic linker tells of libraries from now on."""
        notice, self._notice = self._notice, None
        if notice is None:
            return
        inferior = gdb.selected_inferior()
        old = bytes(inferior.read_memory(notice.function, x86_64.LEAD_SIZE))
        with arrival.selected_kept():
            inside = [thread for thread in arrival.threads() if 0 <
                      _pc_of(thread) - notice.function < x86_64.LEAD_SIZE]
        if not inside and x86_64.lead(*notice):
            self._led = notice, old
            self._listen()

    def hears_of_libraries(self) -> bool:
        """Are libraries that the program opens patched?"""
        return self._breakpoint is not None

    def _undo_notice(self) -> None:
        led, self._led = self._led, None
        if led is not None:
            self._notice, old = led
            gdb.selected_inferior().write_memory(self._notice.function, old)
            self._listen_no_more()

    def _write_areas(self, areas: list[Area]) -> None:
        if self._is_resting:
            return
        self._shown.set(self._areas)
        for area in areas:
            write(p for p in area.patches
                  if (area.start, p.function) not in self._left_out)

    @staticmethod
    def _is_as_planned(area: Area) -> bool:
        """Its patches are to be written, or there: a gdb was killed."""
        if not area.patches:
            return False
        first = min(p.address for p in area.patches)
        end = max(p.address + len(p.old) for p in area.patches)
        code = bytes(gdb.selected_inferior().read_memory(first, end - first))
        if all(code.startswith((p.old, p.new), p.address - first)
               for p in area.patches):
            return True
        say("%s was not patched: its code differs from the file's (if a "
            "recorder was killed: `cstrace record -p %d` puts it back; else "
            "restart the program)" % (gdb.solib_name(first) or "the program",
                                      gdb.selected_inferior().pid))
        return False

    def _look(self, is_undone: bool) -> Look:
        """Which threads go on elsewhere once the code has changed, and in which
        functions one stands nevertheless."""
        table = hooks.symbol_address("cstrace_patched")
        all_threads = gdb.selected_inferior().threads()
        if (table is None or self.plans.folder is None or not self._areas
                or any(t.is_running() for t in all_threads)):
            return Look({}, set())
        with Live(self._pid) as live:
            return live.look([t.ptid[1] for t in all_threads], table,
                             self.plans.folder, is_undone)

    def is_in_place(self) -> bool:
        """Is the process of now patched, and are its patches not resting?"""
        return (bool(self._areas) and not self._is_resting
                and self._is_selected())

    def _is_selected(self) -> bool:
        """Is it gdb's process of now?  It may have become a fork child that gdb
        has followed, or a checkpoint, which has all that its parent had."""
        pid = gdb.selected_inferior().pid
        if pid and pid != self._pid and self._areas and all(
                i.pid != self._pid for i in gdb.inferiors()) and all(
                area.is_mapped(pid) for area in self._areas):
            self._pid = pid
        return pid == self._pid

    def expect_return(self, address: int, hook: Hook) -> None:
        """A thread is to call the shim for that end, as if from there."""
        self._unwinder.hooks[address] = hook

    def areas(self) -> dict[int, Area]:
        """For each patched function, by its address: the area that has it."""
        return {hook.function: area for area in self._areas
                for hook in area.hooks.values()}

    def put_back(self) -> None:
        """At a stop: writes patches that were away for a thread's sake."""
        if not self.is_in_place():
            return
        self.standing.put_back(self._may_write)
        if self._late:
            self._write_late()

    def _write_late(self) -> None:
        if is_any_running():
            return
        found = self._look(is_undone=False)
        free = set() if found.moves else self._late - found.left
        self._late -= free
        self._left_out -= free
        for area in self._areas:
            write(p for p in area.patches
                  if (area.start, p.function) in free)

    def _may_write(self, patches: list[Patch]) -> bool:
        """Is no thread in the bytes of these, nor will it come back there?"""
        if is_any_running():
            return False
        found = self._look(is_undone=False)
        return not found.moves and not any(
            (area.start, p.function) in found.left
            for area in self._areas for p in patches if p in area.patches)

    def _write_again(self, patches: list[Patch]) -> None:
        """At a stop: these were away, and are written now, or with their function
        at a later stop where no thread is in it."""
        if not patches or len(gdb.selected_inferior().threads()) == 1:
            write(patches)
            return
        is_running = is_any_running()
        found = self._look(is_undone=False)
        for area in self._areas:
            own = [p for p in patches if p in area.patches]
            for function in {p.function for p in own}:
                key = area.start, function
                if not is_running and not found.moves and (
                        key not in found.left):
                    write(p for p in own if p.function == function)
                    continue
                self._late.add(key)
                self._left_out.add(key)
                if not is_running:
                    self._restore(area, function)

    @staticmethod
    def _move(moves: dict[int, int]) -> None:
        if not moves:
            return
        with arrival.selected_kept():
            for thread in gdb.selected_inferior().threads():
                if thread.ptid[1] in moves:
                    thread.switch()
                    gdb.execute("set var $pc = %#x" % moves[thread.ptid[1]],
                                to_string=True)

    # ---- hooks -------------------------------------------------------------------

    def _write_slots(self) -> None:
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
                self._slots[address] = (old, new)
                inferior.write_memory(address, new)

    def _undo_slots(self) -> None:
        inferior = gdb.selected_inferior()
        for address, (old, new) in self._slots.items():
            with contextlib.suppress(gdb.MemoryError):  # a library went away
                if bytes(inferior.read_memory(address, 8)) == new:
                    inferior.write_memory(address, old)
        self._slots = {}

    # ---- breakpoints -------------------------------------------------------------

    def _look_at_breakpoints(self) -> list[tuple[Area, int]]:
        """Finds the functions that a breakpoint is inside a patch of, and are
        not known to be so."""
        stops = {location.address for b in gdb.breakpoints()
                 for location in getattr(b, "locations", ())
                 if b.is_valid()}
        found = []
        for area in self._areas:
            for p in area.patches:
                key = (area.start, p.function)
                if (key not in self._left_out - self._late and any(
                        p.address + i in stops
                        for i in range(1, len(p.old)))):
                    self._late.discard(key)
                    self._left_out.add(key)
                    found.append((area, p.function))
        return found

    def breakpoint_changed(self) -> None:
        """A breakpoint inside a patch would be one of a jump's bytes."""
        self.software_watch.look()
        if not self._areas or not self._is_selected():
            return
        for area, function in self._look_at_breakpoints():
            if not self._is_resting:
                self._restore(area, function)

    def settle(self, may_step: bool) -> bool:
        """Moves the selected thread out of a trampoline, at a stop that no step
        has made: to the instruction of the function that it would run next in
        the trampoline.  The function's patches are away until it returns.
        Where the thread is in the trampoline's own instructions, it steps
        through these first, if may_step.  Returns whether it has."""
        if not self.is_in_place():
            return False
        pc = int(gdb.newest_frame().pc())
        found = displaced.own_place(self._areas, pc)
        if found is not None:
            self._settle_at(*found)
            return False
        to = displaced.next_place(self._areas, pc, int(
            gdb.newest_frame().read_register("rsp")) % 2**64)
        if to is None or (to and not may_step) or not step(to):
            return False
        if self.standing.hook() is not None:
            self.standing.settle(is_users=True)
        else:
            self.settle(False)
        return True

    def before_step(self, is_over_calls: bool) -> None:
        """gdb is about to run some instructions, one by one."""
        # For a watchpoint gdb steps through what is called, too.
        if not self.before_going_on() and self.is_in_place() and _stands():
            self.steps.begin(is_over_calls)

    def before_line_step(self) -> None:
        """gdb is about to step by lines, in a child or a checkpoint perhaps."""
        if (self._areas and not self._is_resting and _stands()
                and not self.before_going_on()):
            self.line_steps.begin()

    def before_going_on(self) -> bool:
        """gdb is about to let the selected thread go on: does it execute one
        instruction after the other, for a watchpoint?"""
        return (self.is_in_place() and _stands()
                and self.software_watch.begin())

    def end_steps(self, is_step: bool) -> bool:
        """At a stop: returns whether the thread has moved since that, or has run
        a trampoline."""
        has_run = bool(self._areas) and self.line_steps.end()
        has_run |= self.software_watch.end()
        if not self.is_in_place():
            return has_run
        if is_step and self.line_steps.come_out():
            return True
        return self.steps.end(is_step) or has_run

    def before_continue(self) -> None:
        """gdb is about to let the threads run: patches that are away come back,
        and who stands in their place goes on in the trampoline."""
        if not self.is_in_place() or is_any_running():
            return
        found = self._look(is_undone=False)
        gdb.newest_frame().select()
        self._move(found.moves)
        selected = gdb.selected_thread()
        threads = {t.global_num: t for t in gdb.selected_inferior().threads()}
        for back in self.standing.away():
            if any((area.start, p.function) in found.left
                   for area in self._areas for p in back.lifted
                   if p in area.patches):
                continue
            if back.thread in threads:
                threads[back.thread].switch()
                copy = displaced.copy_of(self._areas, back.stands_at())
                if copy is not None:
                    gdb.execute("set var $pc = %#x" % copy, to_string=True)
            write(back.lifted)
            back.delete()
        selected.switch()

    def _settle_at(self, area: Area, own: int) -> None:
        if is_any_running():
            return  # in the bytes that would change, perhaps
        patch = next((p for p in area.patches if p.is_written(own)), None)
        if patch is not None:  # first: a landing may be what is at own
            self._restore(area, patch.function)
        gdb.execute("set var $pc = %#x" % own, to_string=True)
        write_saved()
        if patch is not None:
            self.standing.put_back_later(
                [p for p in area.patches if p.function == patch.function])

    def _leave_landings(self, area: Area, function: int) -> None:
        """Moves on the threads that are between a short jump and its landing,
        as these bytes are about to change."""
        landings = {p.address: displaced.landing_target(p.new, p.address)
                    for p in area.patches if p.function == function
                    and p.kind == abi.CST_PATCH_LANDING
                    and self._is_there(p)}
        threads = [t for t in gdb.selected_inferior().threads()
                   if landings and t.is_stopped()]
        if not threads:
            return
        moves = {}
        with arrival.selected_kept():
            for thread in threads:
                thread.switch()
                pc = int(gdb.newest_frame().pc())
                if pc in landings:
                    moves[thread.ptid[1]] = landings[pc]
        self._move(moves)

    def _restore(self, area: Area, function: Optional[int]) -> None:
        if function is not None:
            self._leave_landings(area, function)
        inferior = gdb.selected_inferior()
        for p in area.patches:
            if function in (None, p.function) and (
                    function is not None
                    or (area.start, p.function) not in self._left_out):
                inferior.write_memory(p.address, p.old)

    def tell(self) -> None:
        """Says what was not patched, once."""
        error, self.error = self.error, None
        if error is not None:
            say("the program was not patched: " + error)
        if self.plans.folder is None:
            return
        path = os.path.join(self.plans.folder, "refused")  # the shim's answers
        with contextlib.suppress(OSError, ValueError):
            with open(path, encoding="utf-8", errors="replace") as f:
                for line in f:
                    code, name, why = line.rstrip("\n").split("\t")
                    say("%s was not patched: %s%s" % (
                        plain(name) or "the program", why, ": " + os.strerror(
                            int(code)) if int(code) else ""))
            os.unlink(path)

    def _tell_gdb(self) -> None:
        """Gives gdb a symbol file for each area, so that it unwinds from there
        and steps over it.  Not at a stop before gdb has printed the place: it
        sets all breakpoints anew with each file that comes or goes, and would
        lose which of a breakpoint's locations it stopped at."""
        keys = {area.key() for area in self._areas}
        self._forget_symbols(self._symbols.keys() - keys)
        for area in self._areas:
            if area.key() not in self._symbols:
                self._add_symbols(area)

    def _add_symbols(self, area: Area) -> None:
        assert self.plans.folder is not None
        path = os.path.join(self.plans.folder, "area%d.o" % self._n_symbols)
        frames = bytes(gdb.selected_inferior().read_memory(*area.frames))
        with open(path, "wb") as f:
            f.write(thunk_file.content(area.code, area.frames[0], frames))
        _quietly("add-symbol-file %s -o 0" % path)
        self._symbols[area.key()] = path
        self._n_symbols += 1

    def _forget_symbols(self, keys: Iterable[tuple[int, int]]) -> None:
        for key in list(keys):
            _quietly("remove-symbol-file " + self._symbols.pop(key))

    # ---- the end -----------------------------------------------------------------

    def rest(self) -> None:
        """The program's own code is back until go_on()."""
        if not self.is_in_place():
            return
        with arrival.selected_kept():
            for thread in gdb.selected_inferior().threads():
                if thread.is_stopped():
                    thread.switch()
                    found = self.steps.step_to_own()
                    if found is not None:
                        gdb.execute("set var $pc = %#x" % found[1],
                                    to_string=True)
                        write_saved()
        expect_none(self._pid)
        self._staying = self._take_away()
        self._is_resting = True

    def go_on(self) -> None:
        if self._is_resting:
            self._is_resting = False
            self._left_out -= self._staying
            self._find_places()
            self.write_midway()

    def undo(self) -> None:
        """Writes the program's own code back; a thread that is in an area goes
        on there."""
        self._take_away()
        self._set_areas([])
        self._is_resting, self._notice = False, None

    def _take_away(self) -> set[tuple[int, int]]:
        """Returns the functions whose patches stay, for a thread's sake."""
        staying: set[tuple[int, int]] = set()
        if self._is_selected() and not self._is_resting:
            self._undo_slots()
            self._undo_notice()
            found = self._look(is_undone=True)
            staying = {key for key in found.left if self._is_written(key)}
            self._left_out |= staying
            self._move(found.moves)
            for area in self._areas:
                self._restore(area, None)
        self.standing.forget()
        self._shown.set([])
        return staying

    def _is_written(self, key: tuple[int, int]) -> bool:
        return any(self._is_there(p) for area in self._areas if area.start == key[0]
                   for p in area.patches if p.function == key[1])

    def _is_there(self, p: Patch) -> bool:
        return memory.read(self._pid, p.address, len(p.new)) == p.new

    def process_ended(self) -> None:
        self.tell()
        self.line_steps.process_ended()
        self.standing.forget()
        self._forget_symbols(self._symbols.keys())
        self._set_areas([])
        self._slots, self._pid = {}, 0
        self._notice = self._led = None
        self._is_resting = False
        self._late = set()
        self._unwinder.hooks, self._unwinder.slots = {}, set()
        self._shown.set([])
        self._listen_no_more()


def _stands() -> bool:
    """Is a thread selected, and stopped?"""
    try:
        thread = gdb.selected_thread()
    except SystemError:  # gdb has lost the process
        return False
    return thread is not None and thread.is_stopped()


def _pc_of(thread: gdb.InferiorThread) -> int:
    thread.switch()
    return int(gdb.newest_frame().pc())


def _quietly(command: str) -> None:
    with contextlib.suppress(gdb.error), gdb_setting.changed("confirm", "off"):
        gdb.execute(command, to_string=True)
