# SPDX-License-Identifier: MIT
"""One live process and the recorder that belongs to it, from the first
`cstrace start` (or `run`) to the process's end."""

from __future__ import annotations

import contextlib
import os
import time
from typing import Any, Iterator, Optional, cast

import gdb

from .. import _abi as abi, engine, requests
from ..breakpoints import inject, sync
from ..process import control, hooks
from ..ui import console, ctrlc
from . import naming, seeds
from ..ui.console import Output, say
from ..process.area_fd import door
from ..process.process_state import is_alive, parent_of
from ..recorder import Callbacks, Recorder
from ..requests import RecorderOptions
from ..trace import Trace

RING, BREAKPOINT, HANDSHAKE, HOOKS = "ring", "breakpoint", "handshake", "hooks"
SAMPLES = "samples"  # and no calls

PATIENCE_S = 0.1
HOOKS_COST = "about 150 us an event"

_MODE_NUMBERS = {
    RING: abi.CST_MODE_RING,
    BREAKPOINT: abi.CST_MODE_BREAKPOINT,
    HANDSHAKE: abi.CST_MODE_HANDSHAKE,
    HOOKS: abi.CST_MODE_OFF,
    SAMPLES: abi.CST_MODE_OFF,
}


def mode_number(mode: str) -> int:
    return _MODE_NUMBERS[mode]


def _has_frame() -> bool:
    """A thread in which gdb calls a function counts as stopped, without one."""
    try:
        gdb.newest_frame()
    except gdb.error:
        return False
    return True


def stands_still() -> bool:
    """Not so with `run &`, nor in non-stop mode while other threads go on, nor
    while the program runs a function that gdb calls."""
    thread = gdb.selected_thread()
    if thread is None:
        return True
    if not gdb.parameter("non-stop"):
        return thread.is_stopped() and _has_frame()
    return not any(t.is_running() for t in gdb.selected_inferior().threads())


class Recording:
    """One process, from its begin to its end; while is_on, a trace of it is
    recorded."""

    is_remote = False

    def __init__(self, mode: str, options: RecorderOptions,
                 output: Output, is_stopped: bool) -> None:
        inferior = gdb.selected_inferior()
        self.pid = inferior.pid
        self.inferior_num = inferior.num
        self.mode = mode
        self.output = output
        # The recorder's thread may have something to say at once.
        self._is_posted = False
        self._messages: list[str] = []
        self.recorder = Recorder(options, Callbacks(
            self._wanted, output.take, self._message, output.busy))
        self.is_on = True
        self.is_outlived = False  # gdb has none of its processes any more
        self.is_let_go = False  # the user has detached from it
        self.error: Optional[str] = None
        self._control: Optional[control.Control] = None
        self._others: dict[int, control.Control] = {}  # by inferior
        self.area_path = self._open_area(options)
        self._breakpoints: list[gdb.Breakpoint] = []
        self._ends: dict[str, sync.DrainBreakpoint] = {}
        self._has_execed = False
        self._is_paused = False
        self.is_resting = False  # no calls are recorded for now
        self._is_answer_reported = False
        self._live_key: Optional[tuple[Any, ...]] = None
        self._ranges: dict[str, tuple[int, int]] = {}
        if is_stopped:
            self.pause()
        self.refresh_modules()

    def _open_area(self, options: RecorderOptions) -> bytes:
        """What the shim is given as the path of the area."""
        return door.open(self.recorder.area_path()).encode()

    def hand_over(self) -> None:
        """Another user's process cannot open what gdb has open."""
        path = self.recorder.area_path_for(self.pid)
        if path.startswith(b"@"):
            self.area_path = path

    def is_alive(self) -> bool:
        return is_alive(self.pid)

    # ---- from the recorder's thread --------------------------------------

    def _wanted(self) -> None:
        if not self._is_posted:
            self._is_posted = True
            gdb.post_event(self._answer)

    def _message(self, text: str) -> None:
        self._messages.append(text)
        gdb.post_event(self.tell_messages)

    # ---- in gdb's thread --------------------------------------------------

    @ctrlc.handed_on
    def _answer(self) -> None:
        self._is_posted = False
        if self.recorder is not None:
            naming.answer_all(self)

    @ctrlc.handed_on
    def tell_messages(self) -> None:
        messages, self._messages = self._messages, []
        for text in messages:
            say(text)

    def put_message(self, word: str, template: str, text: str,
                    file: Optional[str] = None, line: int = 0) -> None:
        """Put a row with this text where the selected thread stands."""
        pid, tid, _ = gdb.selected_thread().ptid
        while not self.recorder.message(pid, tid, file, line, word, template,
                                        text):
            naming.answer_all(self)

    def fail(self, error: Exception) -> None:
        """Something went wrong where the program must go on: reported once."""
        if self.error is None:
            self.error = str(error)
            self._messages.append("%s" % error)

    def take_all(self) -> None:
        """Draw all that the program has written; a failure is reported,
        not raised."""
        if self.recorder is None or not self.is_on:
            return
        try:
            naming.drain(self)
        except Exception as e:
            self.fail(e)
        self.output.flush()
        self.tell_messages()
        self._look_at_answer()

    def stopped(self) -> None:
        """The program stands still: what gdb does from here on is none of
        its time."""
        if not self.is_on:
            return
        if not gdb.parameter("non-stop") or stands_still():
            self.pause()
        self.take_all()

    def has_drawn_since(self, ns: int) -> bool:
        """Are there new rows on gdb's terminal?  ns: of the monotonic clock."""
        return (self.recorder is not None and not self.output.name
                and max(self.output.written_ns,
                        self.recorder.drawn_ns()) >= ns)

    def _look_at_answer(self) -> None:
        """Did the shim manage to open the area?"""
        if self._control is None or self._is_answer_reported:
            return
        try:
            answer = self._control.answer()
        except (OSError, ValueError):
            return  # the process has just ended
        if answer.errno:
            self._is_answer_reported = True
            say("the program could not open the recorder's memory: %s"
                % os.strerror(answer.errno))

    def live(self, is_live: bool, color: str, links: str, fold: str,
             look: requests.Look,
             choice: requests.Choice, key: tuple[Any, ...]) -> None:
        """Tell the recorder how and where rows go, if that has changed."""
        sink = self.output.sink(color, links) if is_live else console.NO_SINK
        if (sink, key) == self._live_key:
            return
        look.color, look.width = sink.color, sink.width
        look.links = sink.links
        look.fold = fold == "on" or fold == "auto" and sink.is_watched()
        gdb.flush()
        self.recorder.live(is_live, sink.kind, sink.fd, look, choice)
        self._live_key = (sink, key)

    def sample(self, wanted: Any) -> str:
        """How it is sampled (a Sampling); the path that the sampler is to
        have."""
        return self.recorder.sample(wanted.hz, wanted.is_wall, wanted.for_ns)

    # ---- the process's side ------------------------------------------------

    def switch_on(self) -> None:
        """Let the program write, in this mode."""
        if self.mode == SAMPLES:
            return
        if self.mode == HOOKS:
            self._breakpoints = inject.breakpoints(self)
            return
        if self._control is None:
            self._control = control.Control.find()
        if self._control is None:
            raise gdb.GdbError("the program has no libcstrace.so in it")
        wrong = self._control.version_error()
        if wrong:
            raise gdb.GdbError(wrong)
        self._control.switch_on(_MODE_NUMBERS[self.mode], self.area_path)
        if self.mode == BREAKPOINT and not self._breakpoints:
            self._breakpoints = [sync.EntryBreakpoint(self)]

    def switch_off(self) -> None:
        """Makes the program's hooks idle, and deletes our breakpoints."""
        door.shut()
        self._hooks_off()
        self._delete_breakpoints()

    def _hooks_off(self) -> None:
        for each in [self._control, *self._others.values()]:
            try:
                if each is not None:
                    each.switch_off()
            except OSError:
                pass  # the process has ended

    def let_go(self, inferior: gdb.Inferior) -> None:
        """gdb is about to detach from it: the trace goes on with what else
        gdb holds of it."""
        others = [i for i in gdb.inferiors() if i.pid and i.num != inferior.num
                  and self._is_in_area(i)]
        if not others:
            self.switch_off()
            self.is_let_go = True
        elif self._is_in_area(inferior):
            control = self._control_of(inferior)
            if control is not None:
                control.switch_off()

    def _delete_breakpoints(self) -> None:
        for b in [*self._breakpoints, *self._ends.values()]:
            if b.is_valid():
                b.delete()
        self._breakpoints, self._ends = [], {}

    def n_hits(self) -> int:
        return sum(b.n_hits for b in self._breakpoints)

    def watch_ends(self) -> None:
        """Break where gdb would otherwise be too late; call again when more
        is loaded."""
        was_attached = gdb.selected_inferior().was_attached
        for place in sync.DrainBreakpoint.PLACES:
            if (self.is_on and place not in self._ends
                    and not (was_attached and place
                             in sync.DrainBreakpoint.NOT_IN_ATTACHED)
                    and sync.DrainBreakpoint.is_possible(place)):
                self._ends[place] = sync.DrainBreakpoint(place, self)

    def pause(self) -> None:
        if self.is_on and not self._is_paused and not self.is_outlived:
            self._is_paused = True
            self.recorder.pause()

    def resume(self) -> None:
        if self.is_on and self._is_paused and not self.is_resting:
            self._is_paused = False
            self.recorder.resume()

    @contextlib.contextmanager
    def standing(self) -> Iterator[None]:
        """gdb has the program stand still without a word to the user: all that
        was written is drawn, and what is done meanwhile takes none of the
        program's time."""
        is_begin = not self._is_paused and not gdb.parameter("non-stop")
        if is_begin:
            self.pause()
        try:
            self.take_all()
            yield
        finally:
            if is_begin:
                self.resume()

    def rest(self) -> None:
        """The program stands still: its hooks are idle until go_on(), and the
        time until then is none of its own."""
        self.pause()
        self.is_resting = True
        for b in self._breakpoints:
            b.enabled = False
        self._hooks_off()

    def go_on(self) -> None:
        self.is_resting = False
        for b in self._breakpoints:
            b.enabled = True
        if self.mode == HOOKS:
            return
        for each in [self._control, *self._others.values()]:
            if each is not None:
                each.switch_on(_MODE_NUMBERS[self.mode], self.area_path)

    # ---- other programs, other processes ------------------------------------

    def look_for_exec(self) -> None:
        """Before gdb's tables are used: are they of another program now?"""
        if (self._control is None or self._control.is_at(self.area_path)
                or not self.is_alive()):
            return
        self._control = None
        self._has_execed = True
        self._ranges = {}
        self.recorder.exec()
        self.take_all()

    def rebind(self) -> None:
        """After an exec: the new program's shim takes the same area."""
        if self._control is None and self.is_on and self.mode != HOOKS:
            self.switch_on()

    def adopt(self, inferior: gdb.Inferior, found: control.Control) -> None:
        """Another process that gdb runs joins the trace."""
        if (not self.is_on or self.mode == HOOKS
                or inferior.num in self._others):
            return
        self._others[inferior.num] = found
        if found.is_at(self.area_path):
            return  # a fork child of ours
        wrong = found.version_error()
        if wrong:
            say(wrong)
            return
        found.switch_on(_MODE_NUMBERS[self.mode], self.area_path)
        say("inferior %d is traced, too: into the same trace" % inferior.num)

    def forget_inferior(self, num: int) -> None:
        """It has ended."""
        self._others.pop(num, None)

    def heir(self) -> Optional[gdb.Inferior]:
        """Another process that gdb holds and that writes into our area; or
        that will: a vfork child is seen after its exec."""
        others = [i for i in gdb.inferiors()
                  if i.pid and i.num != self.inferior_num]
        for inferior in others:
            if self._is_in_area(inferior):
                return inferior
        for inferior in others:
            if parent_of(inferior.pid) == self.pid:
                return inferior
        return None

    def _control_of(self, inferior: gdb.Inferior) -> Optional[control.Control]:
        if inferior.num in self._others or self._control is None:
            return self._others.get(inferior.num)
        return self._control.in_child(inferior.pid)

    def _is_in_area(self, inferior: gdb.Inferior) -> bool:
        found = self._control_of(inferior) if self.mode != HOOKS else None
        return found is not None and found.is_at(self.area_path)

    def move(self, heir: gdb.Inferior) -> None:
        """The process has ended, and gdb stays with another: its fork child,
        or one that was adopted."""
        self._control = self._control_of(heir)
        self._others.pop(heir.num, None)
        self.pid, self.inferior_num = heir.pid, heir.num
        self.look_for_exec()
        self.refresh_modules()

    def is_under_way(self) -> bool:
        """With follow-exec-mode new an exec ends the inferior, and the process
        goes on as that of another."""
        return (gdb.parameter("follow-exec-mode") == "new"
                and not self.is_let_go and self.is_alive())

    def is_blind(self) -> bool:
        """Was a program exec'ed whose hooks lead nowhere?"""
        path = hooks.program()
        return (self._has_execed and self._control is None
                and path is not None and hooks.uses_hooks(path))

    def n_running(self) -> int:
        """Processes that write, whether gdb holds them or not."""
        return self.recorder.status().n_running

    def wait_for_others(self) -> int:
        """Most end with the process that gdb had, or a moment later; returns
        how many do not."""
        end = time.monotonic() + PATIENCE_S
        while True:
            n = self.n_running()
            if not n or time.monotonic() > end:
                self.take_all()
                return n
            time.sleep(PATIENCE_S / 20)

    def outlive(self, look: requests.Look, choice: requests.Choice) -> None:
        """All of gdb's processes have ended, and others go on: without rows,
        which nobody could tell from what is typed at the prompt."""
        self.is_outlived = True
        self._live_key = None
        self.recorder.live(False, engine.SINK_NONE, -1, look, choice)
        self.resume()

    # ---- modules -----------------------------------------------------------

    def refresh_modules(self) -> None:
        self.recorder.process(self.pid)
        naming.tell_debug_files(self.recorder)
        ranges: dict[str, tuple[int, int]] = {}
        for start, end, _offset, path in hooks.mappings(self.pid):
            low, high = ranges.get(path, (start, end))
            ranges[path] = (min(low, start), max(high, end))
        # What was unmapped stays known until its objfile is freed.
        self._ranges.update(ranges)

    def forget_module(self, path: str) -> None:
        """Its code was unmapped: what comes there later is another."""
        place = self._ranges.pop(os.path.realpath(path), None)
        if place is None:
            return
        self.take_all()
        self.recorder.unmapped(*place)
        if self._control is not None and self.is_on:
            try:
                self._control.retire(*place)
            except OSError:
                pass

    # A program of gdbserver can end where gdb has not read all of its calls.

    def drained_at(self, place: str) -> None:
        """All calls were read when the program came to that function."""

    def missing_end(self, how: Optional[str]) -> Optional[str]:
        """Why the last calls are not in the trace, if they are not; how: the
        end in gdb's words."""
        return None

    # ---- begin and end -------------------------------------------------------

    def begin_again(self, mode: str, options: RecorderOptions,
                    is_stopped: bool) -> None:
        """Another trace of the same process."""
        self.mode = mode
        self.area_path = self._open_area(options)
        self.recorder.begin(options)
        self.is_on = True
        self.error, self._live_key, self._is_paused = None, None, False
        if is_stopped:
            self.pause()
        self.refresh_modules()

    def plant_seeds(self, patched: dict[int, int]) -> tuple[int, int]:
        return seeds.plant(self.recorder, patched)

    def end(self) -> Trace:
        """End the trace; the process may go on, with idle hooks."""
        self.take_all()
        self.is_on = self._is_paused = self.is_resting = False
        return self.recorder.end()

    def process_ended(self) -> None:
        """Gives the recorder what it still has to know of the process."""
        self._delete_breakpoints()
        try:
            self.recorder.process(self.pid, has_ended=True)
        except engine.CstraceError:
            pass

    def close(self) -> None:
        self._delete_breakpoints()
        door.shut()
        # Nobody uses it from here on.
        recorder, self.recorder = self.recorder, cast(Recorder, None)
        if recorder is not None:
            recorder.close()
