# SPDX-License-Identifier: MIT
"""The life of a trace in one gdb session: asked for by `cstrace start`, begun
with the process, kept after it for show, report and save."""

from __future__ import annotations

import contextlib
import os
import time
from typing import Any, Callable, ContextManager, Optional

import gdb

from .. import engine, locate, requests
from ..process import hooks, remote_files
from ..process.connection import (
    check_recordable, connection_name, core_path, foreign, is_native,
    is_remote)
from . import (
    core_traces, kept_traces, mistakes, naming, recording, remote)
from ..ui.console import (
    Output, report_color, report_fold, report_links, report_width, run_long,
    say, terminals)
from ..engine import CstraceError, losses
from ..requests import RecorderOptions
from ..trace import Trace
from ..ui.params import Settings
from ..process.preload import Preload
from .midway import Midway
from .patching import Patching
from .process_record import ProcessRecord
from .recording import Recording
from .samples import Samples
from .start_options import CHOOSING, StartOptions, recorded_options
from .step_report import StepReport
from .stops import Stops
from ..ui.stophooks import StopHooks
from .way import Goto
from ..ui.words import count, duration_text, saved_text, silent

CHUNK_BYTES = 65536
FLIGHT_ROWS = 20  # at a crash
_NEVER_NS = 2**58  # longer than any call takes
_LOADED_FIRST = "recording begins once the program's libraries are loaded"


class Session:
    """What cstrace does in this gdb: one trace under way (recording), or one
    that is kept, and what the user has asked for."""

    def __init__(self) -> None:
        self.settings: Settings  # set by register()
        self.output = Output()
        self.options: Optional[StartOptions] = None  # None: not asked for
        self.samples = Samples(self)
        self.last_options = StartOptions()  # of the trace that is kept
        self.recording: Optional[Recording] = None
        self.kept: Optional[Trace] = None  # ended, or loaded
        self.loaded: Optional[Trace] = None  # by `cstrace load`, the last one
        self.patching = Patching(self)
        self.stops = Stops(self.patching.patches)
        self.patching.patches.tell_more = self.stops.refresh
        self.patching.patches.while_standing = self._standing
        self.steps = StepReport(self)
        self.goto = Goto(self)
        self.is_muted = False  # a trigger decides where calls are kept
        # Is the tree in a window, where live rows need not be as well?
        self.is_in_window: Callable[[], bool] = lambda: False
        self._wants_rows_too = False
        self.has_begun_midway = False  # the trace, not with the program
        # Called when a recording, or what it records, may have changed.
        self.tell_change: Callable[[], None] = lambda: None
        self.preload = Preload()
        self.midway = Midway(self)
        self.process_record = ProcessRecord(self)
        self.leftovers = kept_traces.Leftovers()
        self._terminals = terminals()
        self._hooks = StopHooks()

    # ---- what the user sees of it -------------------------------------------

    def is_on(self) -> bool:
        return self.options is not None

    def is_recording(self) -> bool:
        return self.recording is not None and self.recording.is_on

    def look(self) -> requests.Look:
        s = self.settings
        times = ("off", "elapsed", "wall")
        return requests.Look(timestamp=times.index(s["timestamp"]),
                           duration=s["duration"], callsite=s["callsite"],
                           fold=s["fold"] == "on", id=s["id"],
                           thread=s["thread"],
                           names=requests.NAMES.index(s["names"]))

    def saved_look(self, has_ids: bool = False) -> requests.Look:
        """The look of a saved file, by which runs of a program are compared."""
        look = self.look()
        look.id = has_ids
        return look

    def report_look(self) -> requests.Look:
        look = self.look()
        look.color = report_color(self.settings["color"])
        look.fold = report_fold(self.settings["fold"])
        look.width = report_width()
        look.links = report_links(self.settings["links"])
        return look

    def choice(self, is_all: bool = False, **own: Any) -> requests.Choice:
        """What stands for all commands, with what this one says in its
        place."""
        standing = {} if is_all else self.standing()
        if "from_" in own or "until" in own:  # they are one span
            standing = {key: value for key, value in standing.items()
                        if key not in ("from_", "until")}
        choice = requests.make_choice(
            **{"std": self.settings["std"],
               "names": self.settings["names"], **standing, **own})
        choice.has_more = any(value and key not in own
                              for key, value in standing.items())
        return choice

    def standing(self) -> dict[str, Any]:
        """What the trace's own options choose, else the settings."""
        values = {key: self.settings.chosen(name)
                  for key, name in CHOOSING.items()}
        values.update((self.options or self.last_options).choice())
        return values

    def standing_text(self) -> str:
        """"filter ^sum, depth 3", or ""."""
        return engine.choice_text(requests.make_choice(**self.standing()))

    def kept_only_text(self) -> str:
        """"keep-depth 3": what is not recorded of the trace there is."""
        return (self.options or self.last_options).keeping_text()

    def own_of_trace(self, name: str) -> Optional[str]:
        """What the trace was begun with in place of this setting."""
        key = next((k for k, n in CHOOSING.items() if n == name), None)
        own = (self.options or self.last_options).choice()
        if key not in own:
            return None
        text = engine.choice_text(requests.make_choice(**{key: own[key]}))
        return text.partition(" ")[2] or "all"

    def trace(self) -> Trace:
        """What is recorded, up to now."""
        self.look_at_outlived()
        r = self.recording
        if r is not None and r.is_on:
            r.take_all()
            return r.recorder.trace()
        if self.kept is None and connection_name() == "core":
            self.load(core_traces.path_for(core_path()))
        if self.kept is None:
            if self.is_on():
                raise gdb.GdbError("nothing is recorded yet: `run` the "
                                   "program")
            raise gdb.GdbError("nothing is recorded yet: `cstrace start`, "
                               "then `run`")
        return self.kept

    # ---- start -----------------------------------------------------------------

    def start(self, options: StartOptions) -> None:
        """`cstrace start`."""
        engine.check_choice(requests.make_choice(**options.choice()))
        if self.options is not None and self.options.is_sampled:
            raise gdb.GdbError("samples are being taken: `cstrace sample stop` "
                               "first (`cstrace start` and then `cstrace "
                               "sample` give calls and samples in one trace)")
        is_live = bool(gdb.selected_inferior().pid)
        if is_remote():
            remote.check(options, is_live)
        if self.is_on():
            if (is_live and self.recording is None
                    and gdb.selected_inferior().was_attached):
                self.begin_attached()
            self._start_again(options)
            return
        self.leftovers.tell()
        check_recordable()
        for line in self.patching.begin(options, is_live):
            say(line)
        self.options = self.last_options = options
        try:
            self.keep_hooks()
            if is_live and hooks.is_loading():
                say("on (%s mode): %s" % (self.mode(), _LOADED_FIRST))
            elif is_live:
                self.midway.begin()
            else:
                self._announce(self.preload.install())
            self._tell_mistakes(options.choice())
        except BaseException:
            self.end_trace()  # first: it wants the plans
            self.disarm()
            raise

    def _start_again(self, options: StartOptions) -> None:
        """While it is on: the options are for what comes, and for what is
        shown of all that was recorded."""
        given: dict[str, Any] = {**options.choice(), **options.keeping()}
        assert self.options is not None
        if options.to is not None:
            given["to"] = options.to
        if options.no_args:
            given["no_args"] = True
        given.update(self.patching.change(options))
        if options.sync and not self.options.sync:
            if self.is_recording():
                raise gdb.GdbError("-sync cannot begin in the middle of a "
                                   "trace: `cstrace stop` first")
            given["sync"] = True
        if options.flight_bytes and (options.flight_bytes
                                     != self.options.flight_bytes):
            if self.is_recording():
                raise gdb.GdbError("-flight cannot begin, nor change its size, "
                                   "in the middle of a trace: `cstrace stop` "
                                   "first")
            given["flight_bytes"] = options.flight_bytes
        if not given:
            say("already on: %s" % self.summary())
            return
        self.options = self.last_options = o = self.options._replace(**given)
        if self.recording is not None and options.keeping():
            self.apply_keeping()
        self.apply_settings()
        if options.patching():
            self.patching.refresh()
        chosen = ", ".join(filter(None, (self.standing_text(),
                                         o.keeping_text())))
        say("on, as before%s: %s" % (", now with " + chosen if chosen else "",
                                     self.summary()))
        self._tell_mistakes(options.choice())

    def _tell_mistakes(self, words: dict[str, Any]) -> None:
        """What is chosen by a name that nothing has."""
        trace = None
        if any(words.values()):
            try:
                trace = self.trace()
            except (gdb.GdbError, CstraceError):
                pass
        for line in mistakes.lines(words, self.choice(), trace):
            say(line)

    def _announce(self, is_preloaded: bool) -> None:
        path = hooks.program()
        if path is None:
            say("on: recording begins with the next `run`")
        elif hooks.has_own_hooks(path):
            say("on: recording begins with `run`, by breakpoints on the hooks "
                "that the program defines itself (libcstrace.so's are not "
                "called then): %s" % recording.HOOKS_COST)
        elif is_preloaded or hooks.links_shim(path):
            say("on (%s mode): recording begins with `run`" % self.mode())
        else:
            say("on: recording begins with `run`, by breakpoints on the "
                "program's own hooks (a static program cannot take "
                "libcstrace.so): %s" % recording.HOOKS_COST)

    def mode(self) -> str:
        if self.options is not None and self.options.is_sampled:
            return recording.SAMPLES
        if self.options is None or not self.options.sync:
            return recording.RING
        if self.settings["sync-method"] == "handshake":
            return recording.HANDSHAKE
        return recording.BREAKPOINT

    def recorder_options(self, mode: str) -> RecorderOptions:
        assert self.options is not None
        path = hooks.program() or ""
        # gdb.parameter("args") does not know what --args was given.
        shown = gdb.execute("show args", to_string=True)
        arguments = shown.partition('"')[2].rpartition('"')[0]
        folder, is_own = locate.spool_dir()
        return RecorderOptions(
            mode=recording.mode_number(mode), spool_dir=folder,
            spool_name=kept_traces.file_name(path) if is_own else None,
            limit_bytes=self.settings.size("limit"),
            pool_chunks=self._pool_bytes() // CHUNK_BYTES,
            is_elsewhere=int(is_remote()),
            wait_limit_ms=self.settings["wait-limit"],
            command=(path + " " + arguments).strip(), module=path,
            keep_depth=self.options.keep_depth or 0,
            keep_bytes=self.options.keep_size or 0,
            keep_ns=self.options.keep_time or 0,
            flight_bytes=self.options.flight_bytes)

    def _pool_bytes(self) -> int:
        size = self.settings.size("pool")
        return min(size, remote.MOST_BYTES) if is_remote() else size

    def _drop_kept(self, by: str = "a new trace") -> None:
        """Frees the trace of the last run, unless `cstrace goto` needs it; by:
        what the user has in its place."""
        old, self.kept = self.kept, None
        if self.goto.way is not None and old is not None:
            self.goto.refer_to(old)
            return
        if self.goto.way is None:
            self.goto.forget_reference()
        if old is not None:
            n, n_samples = old.status().n_calls, old.status().n_samples
            old.free()
            if n or n_samples:
                say("%s replaces the old one (%s)" % (
                    by, count(n, "call") if n else count(n_samples,
                                                         "sample")))

    def begin_trace(self, mode: str, is_stopped: bool) -> Recording:
        """A trace of the selected process, on the recorder it has."""
        self._drop_kept()
        assert self.options is not None
        self.last_options = self.options
        options = self.recorder_options(mode)
        self.finish_outlived()
        if self.recording is None:
            kind = remote.RemoteRecording if is_remote() else Recording
            self.recording = kind(mode, options, self.output, is_stopped)
        else:
            self.recording.begin_again(mode, options, is_stopped)
        self.apply_settings()
        return self.recording

    def begin_with_process(self, has_shim: bool) -> None:
        """The process was just started: its hooks are the shim's, or never
        will be (a static program, one with hooks of its own)."""
        is_sampled = self.mode() == recording.SAMPLES
        mode = (self.mode() if has_shim or is_sampled else recording.HOOKS)
        self.goto.is_under_way, self.has_begun_midway = True, False
        recorded = self.begin_trace(mode, is_stopped=False)
        self.process_record.has_left_gap = False
        try:
            recorded.switch_on()
            if has_shim:
                self.patching.watch()
            if mode not in (recording.HOOKS, recording.SAMPLES):
                self.stops.begin()
        except (gdb.GdbError, OSError) as e:
            say(str(e))
            self.end_trace()

    def begin_attached(self) -> None:
        """gdb attached to a process after `cstrace start`."""
        try:
            check_recordable()
            assert self.options is not None
            if is_remote():
                remote.check(self.options, True)
            for line in self.patching.begin(self.options, True):
                say(line)
            self.midway.begin()
        except gdb.GdbError as e:
            self.end_trace()
            say(str(e))

    # ---- while it runs -----------------------------------------------------------

    def _standing(self) -> ContextManager[None]:
        return (contextlib.nullcontext() if self.recording is None
                else self.recording.standing())

    def apply_settings(self) -> None:
        """Look, choice and sink of the live rows, as they are now."""
        if (self.recording is None or self.options is None
                or self.recording.is_outlived or not self.is_recording()):
            return
        s = self.settings
        self.recording.recorder.what(s["what"])
        is_on, functions = s.args()
        self.recording.recorder.values(requests.Values(
            (is_on or self.options.where is not None)
            and not self.options.no_args,
            s["results"] and not self.options.no_args, s["members"],
            int(s["text-bytes"]), functions, self.patching.plans.folder))
        key = tuple(s[n] for n in ("live", "callsite", "timestamp", "duration",
                                   "fold", "std", "color", "links", "names",
                                   "id", "thread"))
        key += tuple(sorted(self.standing().items()))
        is_live = (s["live"] and self.goto.way is None
                   and not self.is_muted and self._wants_rows())
        key += (*self.options.keeping().items(), is_live)
        self.recording.live(is_live, s["color"], s["links"], s["fold"],
                            self.look(), self.choice(), key)
        self.tell_change()

    def _wants_rows(self) -> bool:
        """In the window of the TUI they are not in gdb's console, unless the
        user has asked for that, too."""
        if not self.is_in_window():
            self._wants_rows_too = False
        return (not self.is_in_window() or self._wants_rows_too
                or bool(self.output.name))

    def apply_keeping(self) -> None:
        """Which calls are kept from here on."""
        if self.recording is None or self.options is None:
            return
        o = self.options
        self.recording.recorder.keep(
            o.keep_depth or 0, o.keep_size or 0,
            _NEVER_NS if self.is_muted else o.keep_time or 0)

    def setting_changed(self, name: str) -> None:
        if name in ("preload", "road"):
            (self.refresh_preload if name == "preload"
             else self.patching.refresh)()
            return
        if name == "live":
            self._wants_rows_too = self.is_in_window()
        key = next((k for k, n in CHOOSING.items() if n == name), None)
        if key is not None:  # it is for the trace there is, too
            unset: dict[str, Any] = {key: None}
            self.last_options = self.last_options._replace(**unset)
            if self.options is not None:
                self.options = self.options._replace(**unset)
        try:
            self.apply_settings()
        except CstraceError as e:
            raise gdb.GdbError(str(e)) from None
        if key is not None:
            self._tell_mistakes({key: self.settings.chosen(name)})

    def open_output(self, name: str) -> None:
        try:
            # Rows on their way must not meet a closed file.
            if (self.recording is not None and self.is_recording()
                    and self.output.name):
                self.recording.live(False, "off", "off", "off", self.look(),
                                    self.choice(), ())
            self.output.open(name)
        except OSError as e:
            raise gdb.GdbError("cstrace: cannot open %s: %s"
                               % (name, e.strerror))

    def refresh_preload(self) -> bool:
        """LD_PRELOAD for the next run, as setting, state and program say;
        returns whether that will take what is in it."""
        if self.settings["preload"] or self.is_on():
            return self.preload.install(self.samples.wanted is not None)
        self.preload.remove()
        return False

    def keep_hooks(self, is_prompt: bool = True) -> None:
        """The user may have defined a hook-stop since."""
        if self.is_on():
            self._hooks.install(is_prompt)
        if is_prompt:
            self.keep_line_hooks()

    def keep_line_hooks(self) -> None:
        """Is something traced, or may the shim stand before libc's functions?
        Then steps by lines are seen."""
        self._hooks.keep_lines(self.is_on() or hooks.has_shim())

    def tidy(self) -> None:
        """At the prompt: the user may have selected another inferior."""
        self.preload.tidy()
        self.keep_hooks()
        self.look_at_outlived()

    # ---- stop ----------------------------------------------------------------------

    def disarm(self) -> None:
        self.options = None
        self.patching.plans.forget()
        self.samples.end()
        self._hooks.remove()
        self.keep_line_hooks()
        self.refresh_preload()
        self.tell_change()

    def stop(self) -> None:
        """`cstrace stop`."""
        if not self.is_on():
            raise gdb.GdbError("cstrace is not on: `cstrace start` begins")
        was_recording = self.is_recording()
        self.end_trace()
        self.disarm()
        if was_recording:
            say("off: %s" % self.kept_summary())
        else:
            say("off")

    def end_trace(self) -> None:
        """End the trace under way; the process may live on."""
        r = self.recording
        if r is None or not r.is_on:
            return
        self.stops.end()
        self.patching.patches.undo_all()
        r.switch_off()
        self.kept = r.end()
        self.tell_change()
        if r.is_outlived:
            self.recording = None
            r.close()
        self._save_to()

    def _save_to(self) -> None:
        options = self.last_options
        if options.to is None or self.kept is None:
            return
        try:
            look, choice = self.saved_look(), self.choice()
            n = self.kept.save(options.to, None, look, choice)
            say(saved_text(n, options.to, self.kept, look, choice))
        except CstraceError as e:
            say(str(e))

    def process_ended(self, how: Optional[str] = None) -> None:
        """The recorded process has ended; how: in the words that gdb printed."""
        r = self.recording
        if r is None:
            return
        begin = time.monotonic_ns()
        r.take_all()
        if how and r.has_drawn_since(begin):
            say(how)
        was_on = r.is_on
        missing = r.missing_end(how) if was_on and not r.is_let_go else None
        if missing:
            say(missing)
        self.stops.end()
        self.patching.patches.process_ended()
        r.process_ended()
        if r.is_blind():
            say("%s was exec'ed without libcstrace.so (LD_PRELOAD was not "
                "passed on): its calls are not in the trace"
                % hooks.program())
        n_running = 0 if r.is_let_go or not was_on else r.wait_for_others()
        if n_running:
            r.outlive(self.look(), self.choice())
            say("%s; %s running on, recorded until `cstrace stop` or the next "
                "`run`" % (self.summary(),
                           "another process is" if n_running == 1
                           else "%d other processes are" % n_running))
            return
        try:
            if was_on:
                self.kept = r.end()
            self.tell_change()
        finally:
            self.recording = None
            r.close()
        if was_on and self.goto.way is not None:
            assert self.kept is not None
            self.goto.program_ended(self.kept)
        elif was_on:
            self._tell_end()
            self._save_to()

    def look_at_outlived(self) -> None:
        """Ends a trace whose processes, which gdb does not have, ended by now."""
        r = self.recording
        if r is not None and r.is_outlived and not r.n_running():
            self.finish_outlived()

    def finish_outlived(self) -> None:
        """Ends a trace that goes on though gdb's process has ended."""
        r = self.recording
        if r is None or not r.is_outlived:
            return
        self.kept = r.end()
        self.recording = None
        r.close()
        self._tell_end()
        self._save_to()

    def _tell_end(self) -> None:
        line = None
        assert self.kept is not None
        status, then = self.kept.status(), "show"
        if not status.n_calls and status.n_samples:
            then = "report"
        elif not status.n_calls:
            line = ("no samples: the program was too brief, or only waited: "
                    "-hz 9999 and -wall see more" if self.samples.wanted
                    else self.patching.why_nothing())
        say(line or "%s; `cstrace %s`, `cstrace save FILE`"
            % (self.kept_summary(), then))

    def show_flight(self) -> None:
        """The program was stopped by a signal that would kill it: the newest
        calls, unless live rows have them."""
        if (self.options is None or not self.options.flight_bytes
                or not self.is_recording() or self.settings["live"]):
            return
        trace = self.trace()
        say("the newest calls; `cstrace show -last 200` shows more")
        run_long(lambda write: trace.show(
            self.report_look(), self.choice(last=FLIGHT_ROWS), write))

    def let_go(self) -> None:
        """gdb is about to detach: the program goes on with idle hooks."""
        if self.recording is not None:
            self.recording.take_all()
            self.patching.patches.undo()
            self.recording.let_go(gdb.selected_inferior())

    def close(self) -> None:
        """gdb ends, and its trace with it; but not if its terminal was closed:
        that may have been an accident."""
        if self.recording is not None:
            try:
                self.end_trace()
            finally:
                if self.recording is not None:
                    self.recording.close()
                self.recording = None
        if terminals() == self._terminals:
            if self.kept is not None:
                self.kept.free()
            self.goto.forget_reference()
        self.output.close()
        self.preload.close()
        self.patching.plans.close()
        self.patching.patches.close()
        remote_files.close()

    def clear(self) -> None:
        """Forget what was recorded; a trace under way goes on from here."""
        self.goto.forget_reference()
        r = self.recording
        if r is not None and self.is_recording():
            r.take_all()
            r.recorder.end().free()
            r.begin_again(r.mode, self.recorder_options(r.mode),
                          is_stopped=recording.stands_still())
            r.plant_seeds(self.patching.patches.entered())
            self.apply_keeping()
            self.apply_settings()
        old, self.kept = self.kept, None
        if old is not None:
            old.free()

    def load(self, path: str) -> None:
        if self.is_recording():
            raise gdb.GdbError("a trace is being recorded: `cstrace stop` "
                               "first")
        new = naming.load_trace(os.path.expanduser(path))
        self._drop_kept("the loaded trace")
        self.kept = self.loaded = new
        self.last_options = recorded_options(new)
        say("%s: %s%s" % (path, self.kept_summary(),
                          "" if new.is_complete() else "; it was cut short, or "
                          "is being written: this is what is complete"))

    # ---- in words --------------------------------------------------------------------

    def summary(self) -> str:
        """How it is on, for one line."""
        if self.recording is None or not self.is_recording():
            if (gdb.selected_inferior().pid and not is_native()
                    and not is_remote()):
                return foreign()
            return (_LOADED_FIRST if hooks.is_loading() else
                    "recording begins with the next `run`")
        status = self.recording.recorder.status()
        if self.recording.mode == recording.SAMPLES:
            return "%s so far" % count(status.n_samples, "sample")
        return "%s mode, %s so far%s" % (
            self.recording.mode, count(status.n_calls, "call"),
            "; none come while gdb records the program"
            if self.recording.is_resting else
            "; calls are kept again where a trigger starts it"
            if self.is_muted else "")

    def kept_summary(self) -> str:
        assert self.kept is not None
        s = self.kept.status()
        of = (" of %d processes" % s.n_processes if s.n_processes > 1
              else "")
        what = " and ".join(count(n, word) for n, word in (
            (s.n_calls, "call"), (s.n_samples, "sample"),
            (0 if s.n_calls else s.n_other, "row")) if n)
        if s.n_forgotten:
            what = "the newest %d of %s" % (
                s.n_calls, count(s.n_calls + s.n_forgotten, "call"))
        return "%s in %s%s, %s%s" % (
            what or "0 calls", count(s.n_threads, "thread"), of,
            duration_text(s.duration_ns),
            "".join(", " + words for words in losses(s) + silent(s))
            + mistakes.uncalled(self.kept, self.choice()))
