# SPDX-License-Identifier: MIT
"""A program without hooks: its functions are patched to report their calls.
The shim maps the new code as the program starts; gdb writes the patches, for only
gdb knows where its breakpoints are."""

from __future__ import annotations

import contextlib
import os
from typing import Callable, ContextManager, Iterator, Optional

import gdb

from .. import _abi as abi, engine
from ..gdb_setting import Held
from ..live import Live, Look
from ..ui import ctrlc
from ..ui.console import say
from . import arrival, displaced, hooks, memory, x86_64
from .area_symbols import AreaSymbols
from .area_unwinder import AreaUnwinder, KnownHooks
from .connection import is_native
from .instruction_steps import InstructionSteps, UnseenEnd
from .line_steps import MAPPED, LineSteps
from .original_code import ShownCode
from .patched_area import Area, Hook, Patch
from .patched_process import Key, PatchedProcess
from .plans import Plans
from .process_state import is_alive, parent_of
from .shown_place import ShownPlaces
from .software_watch import SoftwareWatch
from .standing import (
    Standing, begin, expect_none, is_any_running, step, take_away, with_code,
    write, write_saved)


class MappedBreakpoint(gdb.Breakpoint):
    """The shim calls this function before and after it maps areas, when none
    of the code that they patch has run."""

    def __init__(self, patches: Patches) -> None:
        super().__init__(MAPPED, internal=True)
        self.silent = True
        self._patches = patches

    @ctrlc.handed_on
    def stop(self) -> bool:
        self._hear(*(int(gdb.parse_and_eval(r)) % 2**64
                     for r in x86_64.ARGUMENTS))
        self._patches.line_steps.go_on(
            lambda at: self._hear(*at.arguments[:3]))
        return False

    def _hear(self, call: int, function: int, to: int) -> None:
        try:
            if call == abi.CST_PATCHES_WANTED:
                with self._patches.while_standing():
                    self._patches.make_plans()
            elif call == abi.CST_PATCHES_MAPPED:
                with self._patches.while_standing():
                    self._patches.write()
            elif not x86_64.lead(function, to):
                say("libraries that the program opens are not patched: its "
                    "dynamic linker is another than libc's")
        except Exception as e:  # never stop the user's program for it
            self._patches.error = str(e)


class Patches:
    """What is patched of the program that gdb runs."""

    def __init__(self, plans: Plans) -> None:
        self.plans = plans
        self._breakpoint: Optional[MappedBreakpoint] = None
        self._now = PatchedProcess(0)  # gdb's selected one, or the last
        self._kin = {0: self._now}  # all that are patched
        self._symbols = AreaSymbols()
        # Called when files were patched as the program has mapped them.
        self.tell_more: Callable[[], None] = lambda: None
        # What is done in this is no time of the program's.
        self.while_standing: Callable[[], ContextManager[None]] = (
            contextlib.nullcontext)
        self._unwinder = AreaUnwinder()
        self._shown = ShownCode()
        self.standing = Standing(self._unwinder)
        in_line = Held("displaced-stepping", "off")
        self.steps = InstructionSteps(
            self._settle_at, self._write_again, self.standing, in_line)
        self.line_steps = LineSteps(self.standing, in_line)
        self.shown = ShownPlaces(self.steps.covered)
        self.software_watch = SoftwareWatch(self.standing, self.steps)
        self._unwinder.look = self.steps.look
        self._unwinder.watched_place = self.software_watch.place_of
        self._unwinder.is_passed = self.line_steps.look
        self._unwinder.leave_jump = self.line_steps.leave_jump
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
        raw = memory.read(self._now.pid, address,
                          memoryview(abi.cst_patched_table()).nbytes)
        table = abi.cst_patched_table.from_buffer_copy(raw)
        for i in range(min(table.n, len(table.all))):
            yield table.all[i]

    def make_plans(self) -> None:
        """The process is about to map areas for what it has mapped."""
        self._enter()
        if not any(where.area_size for where in self._table()):
            self._set_areas([])  # it may have become another program
        text = self.plans.add_mapped(self._now.pid)
        if text is not None:
            say("patching " + text)

    def _set_areas(self, areas: list[Area]) -> None:
        self._now.areas = areas
        self.steps.set_areas(areas)
        self.software_watch.set_areas(areas)
        self.line_steps.jumps = {p.address: p for area in areas
                                 for p in area.patches if p.is_short()}

    def _read_areas(self) -> list[Area]:
        """Returns those that are new."""
        there = {(w.area, w.sum): w for w in self._table() if w.area_size}
        old = [a for a in self._now.areas if a.key() in there]
        self._set_areas(old)
        self._now.forget_left_out()
        known = {area.key() for area in self._now.areas}
        new = [area for area in (self._read(where) for key, where
                                 in there.items() if key not in known) if area]
        self._set_areas(old + new)
        self._now.find_broken()
        self._unwinder.hooks.add(new)
        for area in new:
            self._unwinder.slots.update(area.slots(self._now.pid))
        return new

    def _read(self, where: abi.cst_patched) -> Optional[Area]:
        assert self.plans.folder is not None
        name = os.path.join(self.plans.folder,
                            os.path.basename(where.plan.decode()))
        with contextlib.suppress(FileNotFoundError):  # of an earlier attach
            with open(name, "rb") as f:
                plan = f.read()
            if plan[-8:] == where.sum.to_bytes(8, "little"):
                return Area(plan, where)
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
        self._kin.pop(gdb.selected_inferior().pid, None)
        self._enter()
        self._now.notice = notice
        if self.plans.folder is None:
            return
        self._unwinder.register()
        self._set_areas([a for a in self._read_areas()
                         if self._is_as_planned(a)])
        self._find_places()

    def _leave_out(self, functions: set[Key]) -> None:
        """Up to a stop where no thread stands in the bytes that change."""
        self._now.late |= functions
        self._now.left_out |= functions

    def _find_places(self, is_said: bool = True) -> None:
        found = self._look(is_undone=False)
        self._now.moves = found.moves
        left = found.left - self._now.left_out
        self._leave_out(left)
        if left and is_said:
            say("%d function%s left out up to a stop where no thread stands in "
                "the bytes that change" % (len(left), " is" if len(left) == 1
                                           else "s are"))

    def entered(self) -> dict[int, int]:
        """Returns for each patched function the first place behind its begin
        that reports it."""
        return {hook.function: hook.patch.address + 1 for area in self._now.areas
                for hook in area.hooks.values() if hook.is_entry()
                and (area.start, hook.patch.function) not in self._now.left_out}

    def write_midway(self) -> None:
        """Writes all patches that were read, and leads the program's hooks to
        the shim."""
        self._now.lead_slots()
        self._move(self._now.moves)
        self._write_areas(self._now.areas)
        if self._now.lead_notice():
            self._listen()
        self.tell()
        self._tell_gdb()

    def hears_of_libraries(self) -> bool:
        """Are libraries that the program opens patched?"""
        return self._breakpoint is not None

    def _write_areas(self, areas: list[Area]) -> None:
        if self._now.is_resting:
            return
        self._shown.set(self._now.areas)
        for area in areas:
            write(p for p in area.patches
                  if (area.start, p.function) not in self._now.left_out)

    @staticmethod
    def _is_as_planned(area: Area) -> bool:
        """Its patches are to be written, or there: a gdb was killed."""
        if not area.patches:
            return False
        first = area.patches[0].address
        with contextlib.suppress(gdb.MemoryError):  # it is another file
            if all(code in (p.old, p.new)
                   for p, code in with_code(area.patches)):
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
        if (table is None or self.plans.folder is None or not self._now.areas
                or any(t.is_running() for t in all_threads)):
            return Look({}, set())
        with Live(self._now.pid) as live:
            return live.look([t.ptid[1] for t in all_threads], table,
                             self.plans.folder, is_undone)

    def is_in_place(self) -> bool:
        """Is the process of now patched, and are its patches not resting?"""
        return (self._is_selected() and bool(self._now.areas)
                and not self._now.is_resting)

    def _enter(self) -> None:
        """The selected process is patched, or will be."""
        pid = gdb.selected_inferior().pid
        self._switch_to(self._kin.setdefault(pid, PatchedProcess(pid)))

    def _switch_to(self, process: PatchedProcess) -> None:
        self._now = process
        self._kin = {pid: one for pid, one in self._kin.items()
                     if one is process or is_alive(pid)}
        self._set_areas(process.areas)
        self._unwinder.look_for_shim(process.pid)

    def _is_selected(self) -> bool:
        """Is it gdb's process of now?  That may have become a fork child, which
        has all that its parent had, or a checkpoint, or its parent again."""
        pid = gdb.selected_inferior().pid
        if pid not in (0, self._now.pid):
            found = self._kin.get(pid) or self._child(pid)
            if found is not None:
                self._switch_to(found)
        return bool(pid == self._now.pid)

    def _child(self, pid: int) -> Optional[PatchedProcess]:
        """The process, if it is a child of one that is patched: gdb has both,
        or follows the child."""
        is_followed = all(
            i.pid not in self._kin for i in gdb.inferiors() if i.pid)
        parent = self._now if is_followed else self._kin.get(parent_of(pid))
        if (parent is None or not parent.areas
                or hooks.symbol_address("cstrace_patched") is None
                or not all(area.is_mapped(pid) for area in parent.areas)):
            return None
        self._kin[pid] = parent.child(pid)
        return self._kin[pid]

    def _each(self) -> Iterator[PatchedProcess]:
        """Selects each process that is patched, that of now first."""
        if self._is_selected():
            yield self._now
        others = [i for i in gdb.inferiors() if i.pid != self._now.pid
                  and i.pid in self._kin and i.threads()]
        if not others:
            return
        with arrival.selected_kept():
            for inferior in others:
                inferior.threads()[0].switch()
                if self._is_selected():
                    yield self._now
        self._is_selected()

    def look_at_child(self) -> None:
        """gdb may have another process beside that of the areas."""
        if self.is_in_place():
            self._tell_gdb()

    def expect_return(self, address: int, hook: Hook) -> None:
        """A thread is to call the shim for that end, as if from there."""
        self._unwinder.hooks.expect(address, hook)

    def areas(self) -> dict[int, Area]:
        """For each patched function, by its address: the area that has it."""
        return {hook.function: area for area in self._now.areas
                for hook in area.hooks.values()}

    def put_back(self) -> None:
        """At a stop: writes patches that were away for a thread's sake."""
        if not self.is_in_place():
            return
        self.standing.put_back(self._may_write)
        if self._now.late:
            self._write_late()

    def _write_late(self) -> None:
        if is_any_running():
            return
        found = self._look(is_undone=False)
        free = set() if found.moves else self._now.late - found.left
        self._now.late -= free
        self._now.left_out -= free
        for area in self._now.areas:
            write(p for p in area.patches
                  if (area.start, p.function) in free)

    def _may_write(self, patches: list[Patch]) -> bool:
        """Is no thread in the bytes of these, nor will it come back there?"""
        if is_any_running():
            return False
        found = self._look(is_undone=False)
        return not found.moves and not any(
            (area.start, p.function) in found.left
            for area in self._now.areas for p in patches if p in area.patches)

    def _write_again(self, patches: list[Patch]) -> None:
        """At a stop: these were away, and are written now, or with their function
        at a later stop where no thread is in it."""
        if not patches or len(gdb.selected_inferior().threads()) == 1:
            write(patches)
            return
        is_running = is_any_running()
        found = self._look(is_undone=False)
        for area in self._now.areas:
            own = [p for p in patches if p in area.patches]
            for function in {p.function for p in own}:
                key = area.start, function
                if not is_running and not found.moves and (
                        key not in found.left):
                    write(p for p in own if p.function == function)
                    continue
                self._leave_out({key})
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

    # ---- breakpoints -------------------------------------------------------------

    def breakpoint_changed(self) -> None:
        """A breakpoint inside a patch would be one of a jump's bytes."""
        self.software_watch.look()
        self._is_selected()
        broken = {pid: found for pid, found in (
            (pid, one.find_broken()) for pid, one in self._kin.items()) if found}
        for process in self._each() if broken else ():
            for area, function in broken.get(process.pid, ()):
                if not process.is_resting:
                    self._restore(area, function)

    def settle(self, may_step: bool) -> bool:
        """Moves the selected thread out of a trampoline, at a stop that no step
        has made: to the instruction of the function that it would run next in
        the trampoline.  The function's patches are away until it returns.
        Where the thread is in the trampoline's own instructions, it steps
        through these first, if may_step.  Returns whether it has."""
        if not self.is_in_place():
            return False
        if is_any_running():  # no code can change
            if may_step and self.steps.leave():
                return True
            self._show()
            return False
        pc = int(gdb.newest_frame().pc())
        found = displaced.own_place(self._now.areas, pc)
        if found is not None:
            self._settle_at(*found)
            return False
        to = displaced.next_place(self._now.areas, pc, int(
            gdb.newest_frame().read_register("rsp")) % 2**64)
        if to is None or (to and not may_step) or not step(to):
            return False
        if self.standing.hook() is not None:
            self.standing.settle(is_users=True)
        else:
            self.settle(False)
        return True

    def show_function(self) -> bool:
        """At a fault, as where its stack has ended: is the selected thread in the
        shim, for a patched function?  gdb is shown that one."""
        found = None
        with contextlib.suppress(OSError):  # nothing is mapped at its stack
            found = self.is_in_place() and (self._unwinder.in_function(
                gdb.newest_frame()) or self._in_entry())
        if not found:
            return False
        hook, registers = found
        pid = gdb.selected_inferior().pid
        self.shown.show({**registers, "rip": begin(pid, hook)
                         if hook.is_entry() else hook.next})
        return True

    def _in_entry(self) -> Optional[tuple[Hook, dict[str, int]]]:
        """The like for a thread that is about to call the shim."""
        at = engine.thread_registers(gdb.selected_thread().ptid[1])
        to = at and displaced.next_place(self._now.areas, at.pc, at.sp)
        hook = self._unwinder.hooks.get(to or 0)
        if at is None or hook is None or not hook.is_entry():
            return None
        registers = displaced.before_entry(
            self._now.pid, hook.patch.trampoline, at)
        return None if registers is None else (hook, registers)

    def _show(self) -> None:
        own = self.steps.place_of(int(gdb.newest_frame().pc()))
        if own is not None:
            self.shown.show({"rip": own})

    def leave_others(self) -> bool:
        """At a stop: threads that are in a trampoline, but for the selected one,
        go on to their functions' own code.  Returns whether one has."""
        own = gdb.selected_thread() if self.is_in_place() else None
        others = [t for t in gdb.selected_inferior().threads()
                  if own is not None and t.num != own.num and t.is_stopped()
                  and self._is_in_trampoline(t)]
        has_run = False
        with arrival.selected_kept():
            for thread in others:
                thread.switch()
                has_run |= not self.standing.is_to_stop() and self.steps.leave()
        return has_run

    def _is_in_trampoline(self, thread: gdb.InferiorThread) -> bool:
        at = engine.thread_registers(thread.ptid[1])
        return at is not None and any(
            area.is_code(at.pc) for area in self._now.areas)

    def before_step(self, is_over_calls: bool) -> None:
        """gdb is about to run some instructions, one by one."""
        # For a watchpoint gdb steps through what is called, too.
        if (not self.before_going_on(is_over_calls) and self.is_in_place()
                and stands()):
            self.steps.begin(is_over_calls)

    def before_line_step(self) -> None:
        """gdb is about to step by lines, in a child or a checkpoint perhaps."""
        if not stands() or not is_native() or self.before_going_on():
            return
        # gdb looks for the frame of a watched variable before each
        # instruction, and does not find it from within a trampoline.
        is_watched = self.is_in_place() and self.software_watch.has_hardware()
        if is_watched:
            self.steps.begin(is_over_calls=True)
        elif not self.is_in_place():
            self._unwinder.look_for_shim(gdb.selected_inferior().pid)
            self._unwinder.register()
        self.line_steps.begin(may_jump=not is_watched)

    def before_going_on(self, is_over_calls: bool = False) -> bool:
        """gdb is about to let the selected thread go on: does it execute one
        instruction after the other, for a watchpoint?"""
        if not self.is_in_place() or not stands():
            return False
        self.standing.stepped()
        return self.software_watch.begin(is_over_calls)

    def end_steps(self, is_step: bool) -> bool:
        """At a stop: returns whether the thread has moved since that, or has run
        a trampoline."""
        has_run = self.line_steps.end()
        has_run |= self.software_watch.end()
        if not self.is_in_place():
            return has_run
        if is_step and self.line_steps.come_out():
            return True
        return self.steps.end(is_step) or has_run

    def unseen_end(self) -> Optional[UnseenEnd]:
        """See InstructionSteps."""
        return self.steps.unseen_end() if self.is_in_place() else None

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
                   for area in self._now.areas for p in back.lifted
                   if p in area.patches):
                continue
            if back.thread in threads:
                threads[back.thread].switch()
                copy = displaced.copy_of(self._now.areas, back.stands_at())
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

    @staticmethod
    def _restore(area: Area, function: int) -> None:
        take_away(p for p in area.patches if p.function == function)

    def tell(self) -> None:
        """Says what was not patched, once."""
        error, self.error = self.error, None
        if error is not None:
            say("the program was not patched: " + error)
        for line in self.plans.refusals():
            say(line)

    def _tell_gdb(self) -> None:
        if self.plans.folder is not None:
            self._symbols.set(self._now.areas)

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
        self._now.staying = self._take_away()
        self._now.is_resting = True

    @contextlib.contextmanager
    def own_code(self) -> Iterator[None]:
        """Within, the code is the program's own, and the selected thread is where
        gdb was shown it.  Behind it the thread is where it has come to."""
        self.shown.leave()
        self.rest()
        try:
            yield
        finally:
            if self._is_selected():
                self.go_on(is_said=False)

    def go_on(self, is_said: bool = True) -> None:
        """The patches are back.  The selected thread stays in its own code."""
        if not self._now.is_resting:
            return
        self._now.is_resting = False
        self._now.left_out -= self._now.staying
        self._find_places(is_said)
        if self._now.moves.pop(gdb.selected_thread().ptid[1], None):
            pc = int(gdb.newest_frame().pc())
            self._leave_out({(area.start, p.function) for area in self._now.areas
                             for p in area.patches if p.has(pc)})
        self.write_midway()

    def undo(self) -> None:
        """Writes the program's own code back; a thread that is in an area goes
        on there."""
        self._take_away()
        self._set_areas([])
        self._now.is_resting, self._now.notice = False, None

    def undo_all(self) -> None:
        """In all processes that gdb has."""
        for _ in self._each():
            self.undo()

    def _take_away(self) -> set[Key]:
        """Returns the functions whose patches stay, for a thread's sake."""
        staying: set[Key] = set()
        if self._is_selected() and not self._now.is_resting:
            self._now.undo_slots()
            if self._now.undo_notice():
                self._listen_no_more()
            if self._now.areas:
                expect_none(self._now.pid)
            found = self._look(is_undone=True)
            staying = {key for key in found.left if self._is_written(key)}
            self._now.left_out |= staying
            self._move(found.moves)
            for area in self._now.areas:
                take_away(p for p in area.patches
                          if (area.start, p.function) not in found.left)
        self.standing.forget()
        self._shown.set([area for one in self._kin.values()
                         if one is not self._now for area in one.areas])
        return staying

    def _is_written(self, key: Key) -> bool:
        return any(p.is_there(self._now.pid) for area in self._now.areas
                   if area.start == key[0]
                   for p in area.patches if p.function == key[1])

    def close(self) -> None:
        """gdb ends."""
        self._symbols.close()

    def process_ended(self) -> None:
        self.tell()
        self.line_steps.process_ended()
        self.standing.forget_all()
        self.shown.gone_on(None)
        if self.plans.folder is None:
            self._symbols.forget()
        self._now = PatchedProcess(0)
        self._kin = {0: self._now}
        self._set_areas([])
        self._unwinder.hooks, self._unwinder.slots = KnownHooks(), set()
        self._shown.set([])
        self._listen_no_more()


def stands() -> bool:
    """Is a thread selected, and stopped?"""
    try:
        thread = gdb.selected_thread()
    except SystemError:  # gdb has lost the process
        return False
    return thread is not None and thread.is_stopped()
