# SPDX-License-Identifier: MIT
"""A trace that begins in the middle of a run: the shim comes into the program if
it is not there, and the program's calls are led to it."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Iterator, Optional

import gdb

from .. import temp_folder
from ..process import elf, hooks
from ..process.arrival import Arrival
from ..process.connection import is_remote
from ..process.control import Control
from ..ui.console import say
from ..ui.words import count
from . import recording
from .recording import Recording

if TYPE_CHECKING:
    from .session import Session


class Midway:
    """How such a trace begins."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.is_arriving = False  # the shim: the program runs for our sake
        self._is_joined = False  # the shim wants to be called

    @contextlib.contextmanager
    def _arriving(self) -> Iterator[None]:
        self.is_arriving = True
        try:
            yield
        finally:
            self.is_arriving = False

    def begin(self) -> None:
        """Begins a trace of the selected process.  gdb.GdbError: why there is
        none."""
        s = self._session
        mode = s.mode()
        s.finish_outlived()
        self._is_joined, why = False, None
        if mode != recording.SAMPLES or Control.find() is None:
            why = self._load()
        if why is not None:
            self._check_hooks(why)
            mode = recording.HOOKS
        s.has_begun_midway = True
        recorded = s.begin_trace(mode, is_stopped=recording.stands_still())
        if mode not in (recording.HOOKS, recording.SAMPLES):
            why = self._join(recorded)
        patches = s.patching.patches
        n_calls, n_threads = recorded.plant_seeds(patches.entered())
        if self._is_joined:
            patches.write_midway()
            recorded.recorder.patched()
        recorded.switch_on()
        if recorded.mode not in (recording.HOOKS, recording.SAMPLES):
            s.stops.begin()
        recorded.watch_ends()
        say("on (%s mode)" % mode if why is None else
            "on, by breakpoints on the program's own hooks (%s): %s"
            % (why, recording.HOOKS_COST))
        if n_calls:
            say("%s open in %s" % (count(n_calls, "call"),
                                   count(n_threads, "thread")))
        # Their rows come after these lines and before the prompt.
        gdb.flush()
        recorded.take_all()
        s.steps.begin()

    def _check_hooks(self, why: str) -> None:
        """Raises gdb.GdbError unless the program has hooks that breakpoints can
        be on."""
        if self._session.patching.plans.folder is not None:
            raise gdb.GdbError(why)
        if hooks.symbol_address(hooks.ENTER) is None:
            raise gdb.GdbError(hooks.MISSING % "the program")

    def _load(self) -> Optional[str]:
        """Sees to it that the shim is in the process; why it is not to be
        used.  gdb.GdbError: the one in it is not ours."""
        if hooks.has_own_hooks(hooks.program() or ""):
            return "it defines them itself"
        found = Control.find()
        if found is not None:
            wrong = found.version_error()
            if wrong:
                raise gdb.GdbError(wrong)
            return None
        if (is_remote() or not recording.stands_still()
                or not elf.read(hooks.program() or "").is_dynamic):
            return "it was started without libcstrace.so"
        try:
            with self._arriving():
                Arrival().load()
        except gdb.GdbError as e:
            return str(e)
        return None

    def loaded(self, path: str) -> None:
        """The program has loaded a file."""
        patching = self._session.patching
        if (self._is_joined and patching.plans.folder is not None
                and not patching.patches.hears_of_libraries()
                and os.path.isfile(path) and not patching.plans.has(path)
                and patching.plans.wants_library(path)):
            say("%s was opened since, and is not patched: `cstrace stop` and "
                "`cstrace start` take it in" % os.path.basename(path))

    def _is_led(self, recorded: Recording) -> bool:
        """Do the program's calls of the hooks lead to the shim already?"""
        shim = Control.find()
        if self._session.patching.plans.folder is not None or (
                shim is not None
                and shim.is_taken(recorded.recorder.area_path())):
            return False
        memory = hooks.Memory()
        return not hooks.is_shim_late() or all(
            memory.word(slot) == hooks.in_shim(name)
            for slot, name in hooks.slots().items())

    def _join(self, recorded: Recording) -> Optional[str]:
        """The shim takes the recorder's memory, and the program's calls are led
        to it.  Returns None, or why that cannot be: then the trace is made by
        breakpoints."""
        s = self._session
        if (is_remote() or not recording.stands_still()
                or self._is_led(recorded)):
            return None
        try:
            recorded.hand_over()
            if s.patching.plans.folder is not None:
                temp_folder.share(s.patching.plans.folder, recorded.pid)
            with self._arriving():
                notice = Arrival().attach(recorded.area_path,
                                          s.patching.plans.folder or "")
        except gdb.GdbError as e:
            self._check_hooks(str(e))
            recorded.recorder.end().free()
            recorded.begin_again(recording.HOOKS,
                                 s.recorder_options(recording.HOOKS),
                                 recording.stands_still())
            s.apply_settings()
            return str(e)
        s.patching.patches.read_midway(notice)
        self._is_joined = True
        return None
