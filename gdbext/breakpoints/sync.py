# SPDX-License-Identifier: MIT
"""Breakpoints of our own that never stop the session: at the shim's no-op
target (sync mode), and where the program or a library ends (the last rows
and names come before that)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gdb

from ..process import x86_64
from ..session import naming
from ..ui import ctrlc
from ..process.hooks import is_defined

if TYPE_CHECKING:
    from ..session.recording import Recording

TARGET = "cstrace_hook_enter"


class EntryBreakpoint(gdb.Breakpoint):
    """Each entry is drawn before the function goes on.  Exits have no
    breakpoint: the next entry, or the next stop, draws them."""

    def __init__(self, recording: Recording) -> None:
        super().__init__(TARGET, internal=True)
        self.silent = True
        self._recording = recording
        self.n_hits = 0

    @ctrlc.handed_on
    def stop(self) -> bool:
        # Every microsecond here is the program's: parse_and_eval() is the
        # cheapest way to a register.
        evaluate = gdb.parse_and_eval
        callee, caller, number = x86_64.ARGUMENTS
        recording = self._recording
        try:
            done = recording.recorder.hit(
                int(evaluate(callee)), int(evaluate(caller)),
                int(evaluate(number)))
            if done == 0:
                naming.drain(recording)
            recording.output.flush()
            self.n_hits += 1
        except Exception as e:  # never stop the user's program for it
            recording.fail(e)
        return False


# Mangled: gdb's C knows no "::".
_SANITIZER_EXIT = "_ZN11__sanitizer14internal__exitEi"


class DrainBreakpoint(gdb.Breakpoint):
    """Where something ends that rows and names must not come after."""

    # _exit: exit(), quick_exit() and _Exit() end there as well.
    # execve: as do the other functions of its family.
    # dlclose: afterwards gdb knows nothing of the library's lines, as after
    # an exec of all the program's.
    # A sanitizer that has made its report goes its own way.
    PLACES = ("_exit", "execve", "dlclose", _SANITIZER_EXIT)
    # A process that was there before gdb would die of a breakpoint in these
    # if gdb was killed.
    NOT_IN_ATTACHED = ("_exit", "execve", _SANITIZER_EXIT)

    def __init__(self, place: str, recording: Recording) -> None:
        super().__init__(place, internal=True)
        self.silent = True
        self._place = place
        self._recording = recording

    @staticmethod
    def is_possible(place: str) -> bool:
        """Else gdb would tell the user that it is pending: also while a
        second inferior starts, whose symbols are there before they count."""
        if not is_defined(place):
            return False
        try:
            return bool(gdb.decode_line(place)[1])
        except gdb.error:
            return False

    @ctrlc.handed_on
    def stop(self) -> bool:
        if self._place == "dlclose":  # elsewhere the program is about to end
            with self._recording.standing():
                pass
        else:
            self._recording.take_all()
        self._recording.drained_at(self._place)
        return False


class FullBreakpoint(gdb.Breakpoint):
    """Where a program on another machine has no room for more calls before
    they are read."""

    TARGET = "cstrace_hook_full"

    def __init__(self, recording: Recording) -> None:
        super().__init__(self.TARGET, internal=True)
        self.silent = True
        self._recording = recording

    @ctrlc.handed_on
    def stop(self) -> bool:
        with self._recording.standing():
            pass
        return False
