# SPDX-License-Identifier: MIT
"""gdb's `record`: it steps through the program, to run it backwards later.  Its
calls are not recorded meanwhile: those that run backwards would come again, and
gdb cannot step through all that libcstrace.so does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gdb

from ..ui.console import say
from .recording import SAMPLES

if TYPE_CHECKING:
    from .session import Session


def is_on() -> bool:
    """A recording of branches alone runs nothing backwards."""
    found = gdb.current_recording()
    return found is not None and found.method == "full"


class ProcessRecord:
    """What gdb does with the process that is traced."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.has_left_gap = False  # in the trace there is

    def begins(self) -> None:
        """gdb is about to record."""
        r = self._session.recording
        if (r is None or not r.is_on or r.is_resting or r.mode == SAMPLES
                or is_on()):
            return
        r.take_all()
        self._session.patching.patches.rest()
        r.rest()
        self.has_left_gap = True
        say("no calls are recorded while gdb records the program: `record "
            "stop` lets them go on")

    def look(self) -> None:
        """Calls are recorded again, if gdb records no more."""
        r = self._session.recording
        if r is None or not r.is_resting or is_on():
            return
        self._session.patching.patches.go_on()
        r.go_on()
        say("calls are recorded again")
