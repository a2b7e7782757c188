# SPDX-License-Identifier: MIT
"""gdb's events, handed to the session.  Nothing here may raise: gdb would
print a traceback in the middle of the user's work."""

from __future__ import annotations

import contextlib
import os
import re
import time
import traceback
from typing import Any, Callable, Iterator, Optional

import gdb

from .. import locate
from ..breakpoints.syscall_catch import SyscallCatches
from ..process import hooks
from . import ctrlc, frames, reason, stop_again
from .captured import Changed, Printed, write_records
from .console import is_mi, say
from ..process.control import Control
from ..process.patches import Patches, stands
from ..process.standing import Back
from ..engine import CstraceError
from ..session.recording import RING, Recording, stands_still
from ..session.remote import missing_shim
from ..process.deepbind import Redirect
from ..process.connection import foreign, is_native, is_remote
from ..session.session import Session

# What ends a program unless it has a handler, and is a mistake of its own.
_DEADLY = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSYS")
_TICK_NS = 20_000_000

# In what `info program` prints; a front end has records.
_OURS = re.compile(
    r'^(?:~")?It stopped at breakpoint -\d+\.(?:\\n")?\r?\n', re.M)
_PLACE = re.compile(r"\bProgram stopped at (0x[0-9a-f]+)\.")


def _in_words(e: Exception) -> str:
    if isinstance(e, OSError) and e.filename and e.strerror:
        return "cannot open %s: %s" % (os.fsdecode(e.filename), e.strerror)
    return str(e)


def _guarded(function: Callable[..., None]) -> Callable[..., None]:
    @ctrlc.handed_on
    def call(self: "Events", *arguments: Any) -> None:
        try:
            function(self, *arguments)
        except (CstraceError, gdb.error, OSError) as e:
            say(_in_words(e))
        except Exception:
            say(traceback.format_exc().strip().replace("\n", "\n  "))

    return call


def _going(function: Callable[[Any, Patches], None]) -> Callable[..., None]:
    """The user lets the selected thread go on."""
    @_guarded
    def call(self: "Events") -> None:
        if not self.is_again:
            patches = self.patches()
            patches.shown.hold()
            self.gone_on = gdb.selected_thread() if stands() else None
            function(self, patches)

    return call


class Events:
    """Connected once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._redirect = Redirect()
        self._catches = SyscallCatches()
        self._hopeless = 0  # a process that could not be recorded
        self._attached = 0  # the process that gdb has attached to last
        self._is_due = False  # that one is to be recorded
        self.gone_on: Optional[gdb.InferiorThread] = None
        self._calls: list[tuple[int, int, int]] = []  # gdb's, by thread
        self.is_again = False
        self._due = ""  # the signal that the thread is to have again
        # Of a call that has stopped: thread, address, signal.
        self._stopped_call: Optional[tuple[Any, int, str]] = None
        self._result = ""  # a front end's, of `info program`
        self._told = Changed(self._own_words)  # what that command prints

    def connect(self) -> None:
        e = gdb.events
        e.new_objfile.connect(self.new_objfile)
        e.cont.connect(self.cont)
        e.stop.connect(self.stop)
        e.exited.connect(self.exited)
        e.clear_objfiles.connect(self.clear_objfiles)
        e.inferior_call.connect(self.inferior_call)
        e.gdb_exiting.connect(self.gdb_exiting)
        e.before_prompt.connect(self.before_prompt)
        e.breakpoint_created.connect(self.breakpoint_changed)
        e.breakpoint_modified.connect(self.breakpoint_changed)
        e.breakpoint_deleted.connect(self.breakpoint_deleted)
        # free_objfile came with gdb 13
        free_objfile = getattr(e, "free_objfile", None)
        if free_objfile is not None:
            free_objfile.connect(self.free_objfile)

    def patches(self) -> Patches:
        return self._session.patching.patches

    # ---- called by our hooks, see session.Session -----------------------------

    @_guarded
    def stopped(self) -> None:
        """The program stopped; gdb has not printed where, but of a signal that
        it came."""
        self._catches.stopped()
        r = self._session.recording
        if r is None or self.is_again:
            return
        begin = time.monotonic_ns()
        r.stopped()  # first: until then the clock goes on
        self._session.process_record.look()
        self.patches().tell()
        why, away = reason.stop(), self._session.stops.standing.away()
        has_moved = self._end_steps(why)
        self.patches().put_back()
        is_stack_end = (why.signal is not None
                        and not frames.may_step(why.signal.name)
                        and self.patches().show_function())
        if is_stack_end:
            r.take_all()
        elif (why.signal is not None or why.is_asked) and frames.is_in_hook():
            frames.leave_hook(why.signal.name if why.signal else "")
            r.take_all()
        elif self._settle(why) or has_moved:
            r.take_all()
        if (r.mode == RING and not gdb.parameter("non-stop")
                and self._leave_others()):
            r.take_all()  # else their rows came behind the location
        place = (self._fault_alone(why) if is_stack_end else None
                 ) or self._raise_again(why, away)
        self._session.steps.stopped()
        if why.signal is not None:
            self._tell_again(r, why.signal.text(), begin)
        elif why.is_step:
            place = self._step_again()
        self.patches().shown.hold()
        if place is not None:
            place.show()

    def _step_again(self) -> Optional[Printed]:
        """Does gdb not know where the step has begun, or ended?"""
        patches = self.patches()
        end = patches.unseen_end()
        if end is None:
            return None
        with self._again():
            return stop_again.step_again(end, patches.shown)

    def _raise_again(self, why: reason.Stop, before: list[Back]) -> (
            Optional[Printed]):
        """Has the thread just been set back at a fault?"""
        inferiors, gone_on = gdb.inferiors(), self.gone_on
        shown = self.patches().shown
        self.gone_on = None
        if why.signal is None or not (shown.has_selected() or any(
                back.is_of_selected() and back not in before
                for back in self._session.stops.standing.away())):
            return None
        if (not shown.has_selected()
                and gdb.selected_thread() != gone_on and not len(
                    inferiors) == len(inferiors[0].threads()) == 1):
            # Behind another stop gdb would select the former thread again.
            stop_again.select_visible()
            self._due = why.signal.name
            return None
        with self._again():
            return self._raised(why.signal.name)

    def _fault_alone(self, why: reason.Stop) -> Optional[Printed]:
        if why.signal is None or gdb.selected_thread().ptid in self._calls:
            return None
        with self._again():
            return stop_again.fault_alone(why.signal.name, self.patches())

    def _raise_due(self) -> None:
        """gdb has printed where the thread is."""
        name, self._due = self._due, ""
        if name:
            with self._again():
                self._raised(name)

    def _raised(self, name: str) -> Optional[Printed]:
        # gdb keeps an account of a call under way.
        thread = gdb.selected_thread().ptid
        is_called = thread in self._calls
        if is_called:
            self._stopped_call = thread, gdb.newest_frame().pc(), name
        return stop_again.raise_again(name, is_called, self.patches().shown)

    @contextlib.contextmanager
    def _again(self) -> Iterator[None]:
        """What gdb does now is done for it to know the place, and to print it."""
        self.is_again = True
        try:
            yield
        finally:
            self.is_again = False

    def _end_steps(self, why: reason.Stop) -> bool:
        """Has a `stepi` moved the thread, or what it did at a patch?"""
        return is_native() and self.patches().end_steps(why.is_step)

    def _settle(self, why: reason.Stop) -> bool:
        """Does the thread stand in a trampoline, where something has stopped
        it?  Then it moves."""
        may_step = (frames.may_step(why.signal.name) if why.signal is not None
                    else not why.is_step and not gdb.parameter("non-stop"))
        return self.patches().settle(why.is_asked or may_step)

    def _leave_others(self) -> bool:
        """Are other threads in a hook, or a trampoline?  Then they leave it."""
        has_left = frames.leave_other_hooks()
        return self.patches().leave_others() or has_left

    @staticmethod
    def _tell_again(r: Recording, text: str, begin: int) -> None:
        """gdb's own words scroll away behind rows, those of the reader's last
        tick included."""
        if r.mode == RING:
            begin -= _TICK_NS
        if r.has_drawn_since(begin):
            say(text)

    @_guarded
    def detaching(self) -> None:
        self._session.let_go()

    @_going
    def stepping(self, patches: Patches) -> None:
        patches.before_step(is_over_calls=False)

    @_going
    def stepping_over(self, patches: Patches) -> None:
        patches.before_step(is_over_calls=True)

    @_going
    def stepping_lines(self, patches: Patches) -> None:
        patches.before_line_step()

    @_going
    def continuing(self, patches: Patches) -> None:
        patches.end_steps(is_step=False)  # there was none, but for a mistake
        if patches.before_going_on():
            return
        # gdb 13 crashes at `info program` where the thread that has stopped
        # last is no more, as it may be before there are patches.  A signal's
        # handler sees the place.
        if patches.standing.away() and reason.stop().signal is None:
            patches.before_continue()

    @_going
    def going_on(self, patches: Patches) -> None:
        patches.before_going_on()

    @_going
    def jumping(self, patches: Patches) -> None:
        patches.shown.leave()

    @_guarded
    def telling_program(self) -> None:
        """Before `info program`."""
        if not reason.is_user_asking():
            return
        self._show_place_of_call()
        text = reason.program() if stands() else ""
        if self._own_words(text) != text:
            self._told.begin()

    def _own_words(self, text: str) -> str:
        """gdb names each breakpoint that it has looked at, ours, too, and has a
        thread's place in a trampoline."""
        def own(match: re.Match[str]) -> str:
            place = self.patches().steps.place_of(int(match[1], 16))
            return match[0] if place is None else (
                "Program stopped at %#x." % place)

        return re.sub(_PLACE, own, re.sub(_OURS, "", text))

    def _show_place_of_call(self) -> None:
        """gdb keeps where a call has stopped first."""
        was, self._stopped_call = self._stopped_call, None
        if was is None or not stands() or was[:2] != (
                gdb.selected_thread().ptid, gdb.newest_frame().pc()):
            return
        frame = gdb.selected_frame()
        with self._again():
            found = self._raised(was[2])
        self._result = found.result if found is not None else ""
        if frame.is_valid():
            frame.select()

    @_guarded
    def told_program(self) -> None:
        """gdb gives no result of a command that has run the program."""
        self._told.end()
        result, self._result = self._result, ""
        write_records(result)

    @_guarded
    def recording(self) -> None:
        self._session.process_record.begins()

    @_guarded
    def recorded(self) -> None:
        self._session.process_record.look()

    # ---- gdb's events ----------------------------------------------------------

    @_guarded
    def new_objfile(self, event: gdb.NewObjFileEvent) -> None:
        s = self._session
        path = locate.file_name(event.new_objfile) or ""
        inferior = gdb.selected_inferior()
        r = s.recording
        if path and path == hooks.program():
            s.refresh_preload()
            if not inferior.pid:
                s.patching.refresh()
        if not inferior.pid:
            return
        if r is not None and r.is_outlived:
            s.finish_outlived()
            r = None
        if path and hooks.uses_hooks(path):
            self._redirect.look(inferior.pid)
        if s.midway.is_arriving:
            return  # `cstrace start` knows of it
        if r is None:
            self._maybe_begin(inferior, path)
        elif r.pid == inferior.pid:
            r.inferior_num = inferior.num  # see is_under_way()
            with r.standing():
                self._loaded(r, path)
        else:
            self._maybe_adopt(r, inferior)
        if locate.is_sampler(path):
            s.samples.loaded()
        if s.recording is not None:
            s.recording.watch_ends()

    def _loaded(self, r: Recording, path: str) -> None:
        s = self._session
        r.look_for_exec()
        r.refresh_modules()
        s.midway.loaded(path)
        if locate.is_shim(path):
            r.rebind()
        elif path and hooks.uses_hooks(path):
            s.stops.refresh()

    def _maybe_adopt(self, r: Recording, inferior: gdb.Inferior) -> None:
        """Another inferior has loaded something: was it the shim?"""
        self.patches().look_at_child()
        if not inferior.was_attached and is_native():
            found = Control.find()
            if found is not None:
                r.adopt(inferior, found)

    def _maybe_begin(self, inferior: gdb.Inferior, loaded: str) -> None:
        """Was this the library that has the shim, or a static program?"""
        s = self._session
        if not s.is_on() or inferior.pid == self._hopeless:
            return
        if not is_native() and not is_remote():
            self._hopeless = inferior.pid
            say(foreign())
            return
        if inferior.was_attached:
            return  # seeds are wanted, see stop()
        path = hooks.program() or ""
        has_shim = Control.find() is not None
        if not has_shim and is_remote():
            if hooks.is_libc(loaded) and not locate.is_loader(loaded):
                self._hopeless = inferior.pid
                say(missing_shim())
            return
        if not has_shim and not hooks.is_static_with_hooks(path):
            return
        try:
            s.begin_with_process(has_shim and not hooks.has_own_hooks(path))
        except (CstraceError, OSError):
            self._hopeless = inferior.pid  # reported once, not for each library
            raise

    @_guarded
    def free_objfile(self, event: Any) -> None:
        r = self._session.recording
        path = locate.file_name(event.objfile)
        if r is None or not path or r.pid != gdb.selected_inferior().pid:
            return
        with r.standing():
            r.look_for_exec()
            r.forget_module(path)

    @_guarded
    def breakpoint_changed(self, breakpoint: gdb.Breakpoint) -> None:
        self.patches().breakpoint_changed()

    @_guarded
    def breakpoint_deleted(self, breakpoint: gdb.Breakpoint) -> None:
        self.patches().software_watch.look(breakpoint.number)

    @_guarded
    def clear_objfiles(self, event: Any) -> None:
        """An exec, or the user's `file`."""
        r = self._session.recording
        if r is not None and r.pid == gdb.selected_inferior().pid:
            r.look_for_exec()

    @_guarded
    def cont(self, event: gdb.ContinueEvent) -> None:
        s = self._session
        self._told.end()
        self._catches.gone_on()
        s.keep_hooks(is_prompt=False)  # a script has no prompt at which to look
        s.steps.resumed()
        if not self.is_again:
            self._stopped_call = None
            self.patches().shown.gone_on(event.inferior_thread)
        if s.recording is not None:
            if not self.is_again:  # gdb's output is elsewhere
                s.apply_settings()
            s.recording.resume()

    @_guarded
    def stop(self, event: gdb.StopEvent) -> None:
        """After the location was printed: a net below hook-stop, which a
        user's own may have replaced."""
        s = self._session
        self._catches.stopped()
        if s.recording is not None:
            s.recording.stopped()
        s.stops.tell()
        if self.is_again:
            return
        self.patches().line_steps.end()  # if nothing is traced
        if not s.is_on():
            s.keep_line_hooks()
        self._raise_due()
        if s.is_on() and s.recording is None and not s.midway.is_arriving:
            self._attached_stop(gdb.selected_inferior())
        if (isinstance(event, gdb.SignalEvent)
                and event.stop_signal in _DEADLY):
            s.show_flight()

    def _attached_stop(self, inferior: gdb.Inferior) -> None:
        """`cstrace start` came before the attach.  gdb may not have finished
        that yet: it would lose what the program is to call for us."""
        if not inferior.pid or not inferior.was_attached:
            return
        if inferior.pid == self._attached or is_remote():
            self._is_due = False
            self._session.begin_attached()
            return
        self._attached, self._is_due = inferior.pid, True
        gdb.post_event(self._begin_due)

    @_guarded
    def _begin_due(self) -> None:
        s = self._session
        is_due, self._is_due = self._is_due, False
        if (not is_due or not s.is_on() or s.recording is not None
                or gdb.selected_inferior().pid != self._attached):
            return
        if stands_still():
            s.begin_attached()
        else:
            say("recording begins when the program stops next")

    @_guarded
    def inferior_call(self, event: Any) -> None:
        """`call f()` runs the program without cont and stop."""
        is_begin = isinstance(event, gdb.InferiorCallPreEvent)
        if is_begin:
            self._catches.gone_on()
            if not self.is_again:
                self._stopped_call = None
            self._calls.append(event.ptid)
        else:
            self._catches.stopped()
            if event.ptid in self._calls:
                self._calls.remove(event.ptid)
        r = self._session.recording
        if r is None:
            return
        if is_begin:
            r.resume()
        else:
            r.stopped()
            self._session.steps.called()
            if is_mi() and self.patches().shown.has_any():
                # Then gdb has given the thread its registers back.
                gdb.post_event(self._hold)

    @_guarded
    def _hold(self) -> None:
        self.patches().shown.hold()

    @_guarded
    def exited(self, event: gdb.ExitedEvent) -> None:
        s = self._session
        self._catches.stopped()
        r = s.recording
        if r is None or r.is_outlived:
            return
        self._attached = 0
        r.forget_inferior(event.inferior.num)
        if event.inferior.num != r.inferior_num:
            return
        heir = r.heir()
        if heir is not None:
            r.move(heir)
        elif not r.is_under_way():
            if r.is_alive():
                s.let_go()  # by a detach that did not come by our hook
            s.process_ended(reason.end(event))

    @_guarded
    def before_prompt(self) -> None:
        """The user may have changed the environment, or asked for more."""
        self._told.end()
        self._begin_due()
        # A step that was given a wrong argument has not begun.
        self.patches().end_steps(is_step=False)
        self.patches().shown.hold()
        r = self._session.recording
        if r is not None:
            r.tell_messages()
            self._session.process_record.look()
        self._session.tidy()
        self._session.leftovers.tell_the_user()

    @_guarded
    def gdb_exiting(self, event: Any) -> None:
        self._told.end()
        self._session.close()


events: Optional[Events] = None


def register(session: Session) -> None:
    global events
    if events is None:
        events = Events(session)
        events.connect()
