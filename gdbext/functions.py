# SPDX-License-Identifier: MIT
"""Functions for gdb's expressions and conditions: which call the selected
thread is in.  Each asks the recorder anew, so that it is right whenever gdb
evaluates it, as in the condition of a breakpoint."""

from __future__ import annotations

from typing import Any

import gdb

from .commands.base import user_errors
from .session.recording import Recording
from .session.session import Session


class _Function(gdb.Function):
    """One that asks the recorder about the selected thread."""

    name = ""

    def __init__(self, session: Session) -> None:
        super().__init__(self.name)
        self._session = session

    def invoke(self, *arguments: Any) -> Any:
        with user_errors():
            recording = self._session.recording
            thread = gdb.selected_thread()
            if recording is None or not recording.is_on or thread is None:
                raise gdb.GdbError("$%s: nothing is being recorded"
                                   % self.name)
            recording.take_all()
            return self.answer(recording, thread.ptid[1], *arguments)

    def answer(self, recording: Recording, tid: int, *words: Any) -> Any:
        raise NotImplementedError

    def _word(self, words: tuple[Any, ...]) -> str:
        """The name of a function, the only argument."""
        if len(words) != 1:
            raise gdb.GdbError('$%s wants the name of a function, as in '
                               '$%s("parse")' % (self.name, self.name))
        try:
            word = words[0].string()
        except gdb.error:
            raise gdb.GdbError('$%s wants a text: $%s("%s")' % (
                self.name, self.name, words[0])) from None
        return str(word)

    def _none(self, words: tuple[Any, ...]) -> None:
        if words:
            raise gdb.GdbError("$%s() takes no argument" % self.name)


class IdFunction(_Function):
    """$_cstrace_id(): the ID of the innermost call of the selected thread.

    Usage: $_cstrace_id()

    It is a string as rows have it, "1.42"; "" where no call is open.  As in:
    break parse if $_streq($_cstrace_id(), "1.42")"""

    name = "_cstrace_id"

    def answer(self, recording: Recording, tid: int, *words: Any) -> Any:
        self._none(words)
        calls = recording.recorder.stack(tid, 1)
        return calls[0].id if calls else ""


class DepthFunction(_Function):
    """$_cstrace_depth(): how many calls are open in the selected thread.

    Usage: $_cstrace_depth()

    It is 1 in main.  As in: break parse if $_cstrace_depth() > 100"""

    name = "_cstrace_depth"

    def answer(self, recording: Recording, tid: int, *words: Any) -> Any:
        self._none(words)
        return recording.recorder.n_open(tid)


class CallsFunction(_Function):
    """$_cstrace_calls("f"): how often a function was called so far.

    Usage: $_cstrace_calls("FUNCTION")

    FUNCTION is a name or a regular expression, as in `cstrace show`.  All
    threads count.  As in: break parse if $_cstrace_calls("parse") == 42"""

    name = "_cstrace_calls"

    def answer(self, recording: Recording, tid: int, *words: Any) -> Any:
        return recording.recorder.count(
            self._word(words), self._session.settings["names"])


class InFunction(_Function):
    """$_cstrace_in("f"): whether a function is open in the selected thread.

    Usage: $_cstrace_in("FUNCTION")

    It is 1 or 0.  FUNCTION is a name or a regular expression, as in `cstrace
    show`.  As in: break malloc if $_cstrace_in("parse")"""

    name = "_cstrace_in"

    def answer(self, recording: Recording, tid: int, *words: Any) -> Any:
        return recording.recorder.is_in(
            tid, self._word(words), self._session.settings["names"])


def register(session: Session) -> None:
    for function in (IdFunction, DepthFunction, CallsFunction, InFunction):
        function(session)
