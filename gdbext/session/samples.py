# SPDX-License-Identifier: MIT
"""Samples of a session's program: `cstrace sample`, alone or beside calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

import gdb

from ..process import hooks, sampler
from ..process.connection import check_native, is_remote
from ..ui.console import say
from . import recording
from .start_options import Sampling, StartOptions

if TYPE_CHECKING:
    from .session import Session


class Samples:
    """What the user wants of them, and the sampler in the program."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.wanted: Optional[Sampling] = None
        self._signals = sampler.Signals()

    def start(self, wanted: Sampling) -> None:
        """`cstrace sample`."""
        session = self._session
        check_native("cstrace samples", "; `cstrace sample PROGRAM` there in a "
                     "shell" if is_remote() else "")
        if session.options is not None and session.options.flight_bytes:
            raise gdb.GdbError("samples do not go with `cstrace start "
                               "-flight`: `cstrace stop` first")
        self.wanted = wanted
        self._signals.quiet()
        is_live = bool(gdb.selected_inferior().pid)
        if not session.is_on():
            session.leftovers.tell()
            session.options = session.last_options = StartOptions(
                is_sampled=True)
            session.keep_hooks()
        try:
            if not is_live:
                self._announce()
                return
            if hooks.is_loading():
                raise gdb.GdbError("the program's libraries are not loaded "
                                   "yet: `cstrace sample` before `run`, or at "
                                   "a breakpoint")
            self._begin_now(wanted)
        except BaseException:
            self.wanted = None
            if session.options is not None and session.options.is_sampled:
                session.end_trace()
                session.disarm()
            raise

    def _announce(self) -> None:
        session = self._session
        path = hooks.program()
        if not session.refresh_preload() and path is not None:
            raise gdb.GdbError("the program cannot load libcstrace-sample.so: "
                               "is it static?  `cstrace sample -p PID` in a "
                               "shell samples it from outside")
        assert self.wanted is not None
        say("on: %s from the next `run`" % self.wanted.text())

    def _begin_now(self, wanted: Sampling) -> None:
        """In a stopped program."""
        session = self._session
        if session.recording is None or not session.recording.is_on:
            session.begin_trace(recording.SAMPLES,
                        is_stopped=recording.stands_still())
        assert session.recording is not None
        if not sampler.is_there():
            sampler.load()
        sampler.tell(session.recording.sample(wanted))
        sampler.begin()
        say("on: %s" % wanted.text())

    def loaded(self) -> None:
        """At its begin the program has loaded libcstrace-sample.so."""
        session = self._session
        r = session.recording
        if self.wanted is not None and r is not None and r.is_on:
            sampler.tell(r.sample(self.wanted))

    def stop(self) -> None:
        """`cstrace sample stop`."""
        session = self._session
        if self.wanted is None:
            raise gdb.GdbError("no samples are taken: `cstrace sample` begins")
        is_alone = session.options is not None and session.options.is_sampled
        if session.recording is not None:
            session.recording.recorder.sample_end()
        self.wanted = None
        if is_alone:
            session.stop()
        else:
            say("no more samples")

    def end(self) -> None:
        """Nothing is traced any more."""
        self.wanted = None
        self._signals.put_back()
