# SPDX-License-Identifier: MIT
"""What was called since the last stop, shown at the next one: after `next` over
a line the calls that this line made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Optional

import gdb

from ..answers import Thread
from ..engine import CstraceError
from ..trace import Trace
from ..ui.console import is_mi, plain, say
from ..ui.words import count

if TYPE_CHECKING:
    from .session import Session

# At a stop so many calls are shown at most; more are only counted.
_MOST_CALLS = 200_000
_MOST_LEVELS = 8
_MOST_THREADS = 256


class _Base(NamedTuple):
    """Where the program stood still the last time."""

    recording: int  # which, by id()
    elapsed_ns: int
    newest: dict[tuple[int, int], int]  # the last call's number by thread


class _Rows:
    """The first rows of a tree, without its head."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._rest = ""
        self.lines: list[str] = []

    def write(self, text: str) -> bool:
        """Returns whether more is wanted."""
        *lines, self._rest = (self._rest + text).split("\n")
        self.lines += [line for line in lines if line[:1] != "#"]
        return not self.has_more()

    def has_more(self) -> bool:
        return len(self.lines) > self._most


class StepReport:
    """What was called between two stops."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._base: Optional[_Base] = None
        self._stands_still = False

    def _most_rows(self) -> int:
        """0: nothing is shown."""
        session = self._session
        most = session.settings.step_rows()
        if most is None:  # live rows have shown it already
            is_drawn = session.settings["live"] and not session.output.name
            return 0 if is_drawn else 10
        return most

    # ---- stops and what is between -------------------------------------------

    def stopped(self) -> None:
        """The program has come to a stop, and what it did was read."""
        if self._stands_still:
            return
        self._stands_still = True
        most = 0 if is_mi() or self._session.goto.way is not None else (
            self._most_rows())
        base = self._base
        self._base = None
        recording = self._session.recording
        if not most or recording is None or not recording.is_on:
            return
        trace = self._session.trace()
        if base is not None and base.recording == id(recording):
            self._tell(trace, base, most)
        self._base = self._now(trace)

    def resumed(self) -> None:
        """It goes on."""
        self._stands_still = False

    def called(self) -> None:
        """A call that the user made at the prompt has ended; one that gdb
        made, for a condition, is none of that."""
        if self._stands_still:
            self.begin()

    def begin(self) -> None:
        """The next report is of what is called from here on."""
        recording = self._session.recording
        self._base = None
        if recording is not None and recording.is_on and self._most_rows():
            self._stands_still = True
            self._base = self._now(self._session.trace())

    def _now(self, trace: Trace) -> _Base:
        newest = {}
        for t in trace.threads()[:_MOST_THREADS]:
            newest[t.process, t.thread] = trace.newest(t.process, t.thread)
        return _Base(id(self._session.recording), trace.status().duration_ns,
                     newest)

    # ---- the report ------------------------------------------------------------

    @staticmethod
    def _thread(trace: Trace) -> Optional[Thread]:
        thread = gdb.selected_thread()
        if thread is None:
            return None
        for t in reversed(trace.threads()):
            if t.tid == thread.ptid[1]:
                return t
        return None

    def _tell(self, trace: Trace, base: _Base, most: int) -> None:
        thread = self._thread(trace)
        options = self._session.options
        if thread is None or options is None or options.keep_time:
            return  # calls that are too short to be kept have numbers, too
        before = base.newest.get((thread.process, thread.thread), 0)
        n = trace.newest(thread.process, thread.thread) - before
        if n <= 0:
            return
        first = "%s%d.%d" % (
            "%d:" % thread.process if thread.process > 1 else "",
            thread.thread, before + 1)
        more = "`cstrace show -from %s` shows them" % first
        if n > _MOST_CALLS:
            say("%s since the last stop; %s" % (count(n, "call"), more))
            return
        rows, levels = self._fitting(trace, base, thread, first, most)
        if not rows.lines:
            return  # all are hidden by the choice that stands
        note = ""
        if rows.has_more():
            note = "; the first %s, %s" % (count(most, "row"), more)
        elif levels:
            note = "; %s, %s" % (count(levels, "level"),
                                 more.replace("them", "all"))
        say("%s since the last stop%s" % (count(n, "call"), note))
        for line in rows.lines[:most]:
            gdb.write(line + "\n")

    def _fitting(self, trace: Trace, base: _Base, thread: Thread, first: str,
                 most: int) -> tuple[_Rows, int]:
        """The rows that fit, and how many levels of calls these are; 0:
        all."""
        rows = self._rows(trace, base, thread, first, most, 0)
        if not rows.has_more():
            return rows, 0
        fitting, levels = rows, 0
        for depth in range(1, _MOST_LEVELS):
            rows = self._rows(trace, base, thread, first, most, depth)
            if rows.has_more() and levels:
                break
            fitting, levels = rows, depth
            if rows.has_more():
                break
        return fitting, levels

    def _rows(self, trace: Trace, base: _Base, thread: Thread, first: str,
              most: int, depth: int) -> _Rows:
        look = self._session.report_look()
        look.fold, look.thread = True, False
        own: dict[str, Any] = {"depth": depth} if depth else {}
        choice = self._session.choice(
            process=thread.process, thread=thread.thread, from_=first,
            time_range=(base.elapsed_ns, 0), **own)
        rows = _Rows(most)
        try:
            trace.show(look, choice, rows.write)
        except CstraceError as e:
            if not rows.has_more():
                say(plain(str(e)))
        return rows
