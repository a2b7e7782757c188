# SPDX-License-Identifier: MIT
"""The user's triggers: what a call does when it happens.  The hooks decide as
they do for conditions to stop at, and the program goes on by itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Optional

import gdb

from ..breakpoints.hit_clock import HitClock
from ..breakpoints.landing import Hit
from ..engine import CstraceError
from ..process.stop_table import Condition
from ..ui.console import plain, say
from ..ui.words import count, duration_text, saved_text
from . import naming
from .stop_when import StopWhen, StopWhens, Wish

if TYPE_CHECKING:
    from .session import Session

ACTIONS = ("start", "stop", "backtrace", "snapshot", "color")
DEFAULT_FILE = "snapshot.cst"
_MOST_CALLERS = 32


class Trigger(StopWhen):
    """One trigger."""

    def __init__(self, number: int, wish: Wish, action: str,
                 how: str) -> None:
        super().__init__(number, wish)
        self.action = action
        self.how = how  # the path of snapshots, or the colour
        self.cost_ns = 0
        self.is_spent = False

    def text(self) -> str:
        return "%s: %s%s" % (self.wish.text(), self.action,
                             " " + plain(self.how) if self.how else "")


def _free_name(path: str) -> str:
    """The path or, where there is such a file, that with the next number."""
    base, ending = os.path.splitext(path)
    n = 1
    while os.path.lexists(path):
        n += 1
        path = "%s-%d%s" % (base, n, ending)
    return path


class Triggers(StopWhens):
    """All triggers; they stay from run to run."""

    title = "trigger"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._clock = HitClock()
        session.stops.at_begin(self._begun)

    def make(self, wish: Wish, action: str, how: str) -> Trigger:
        """Sets a new trigger; how: the path of snapshots, or the colour."""
        made = Trigger(self._n_made + 1, wish, action, how)
        if not self.all:
            self._clock.connect()
        try:
            self._keep(made)
        finally:
            if not self.all:
                self._clock.disconnect()
        self._look_at_starts()
        return made

    def delete(self, number: int) -> None:
        super().delete(number)
        if not self.all:
            self._clock.disconnect()
        self._look_at_starts()

    def enable(self, number: int, is_enabled: bool) -> None:
        one = self.all[number]
        assert isinstance(one, Trigger)
        if is_enabled and one.is_spent:
            self._unset(one)
            one.is_spent, one.cost_ns = False, 0
        super().enable(number, is_enabled)
        self._look_at_starts()

    def _set(self, one: StopWhen) -> None:
        assert isinstance(one, Trigger)
        trigger: Trigger = one
        one.place = self._session.stops.add(
            lambda: self._now(trigger), lambda hit: self._hit(trigger, hit),
            passes=True)

    def _now(self, one: Trigger) -> Optional[Condition]:
        return None if one.is_spent else self._condition(one.wish, one.number)

    # ---- start and stop ------------------------------------------------------

    def _has_start(self) -> bool:
        return any(isinstance(t, Trigger) and t.action == "start"
                   and t.enabled and not t.is_spent
                   for t in self.all.values())

    def _begun(self) -> None:
        """A process is recorded from here on: what comes before a start is
        not kept."""
        for t in self.all.values():
            if isinstance(t, Trigger):
                t.n_stops, t.cost_ns, t.is_spent = 0, 0, False
        self._session.is_muted = False
        self._mute(self._has_start() and self._session.goto.way is None)

    def _look_at_starts(self) -> None:
        """A trigger was made, deleted, enabled or disabled: calls are kept from
        here on if none is left that would start it."""
        if self._session.is_muted and not self._has_start():
            self._mute(False)
            if self._session.is_recording():
                say("no trigger would start it: calls are kept from here on")

    def mute_until_start(self) -> None:
        """From here on, in a trace under way."""
        if self._session.is_recording():
            self._mute(True)

    def _mute(self, is_muted: bool) -> None:
        session, r = self._session, self._session.recording
        if is_muted == session.is_muted:
            return
        session.is_muted = is_muted
        if r is None or not r.is_on:
            return
        r.take_all()
        session.apply_keeping()
        session.apply_settings()

    # ---- a hit ---------------------------------------------------------------

    def _hit(self, one: Trigger, hit: Hit) -> None:
        if one.is_spent or self._session.goto.way is not None:
            return
        self._clock.begin()
        try:
            one.n_stops += 1
            self._do(one, hit)
        except (CstraceError, gdb.error, gdb.GdbError, OSError) as e:
            self._spend(one, str(e))
        one.cost_ns += self._clock.end()
        budget_ns = self._session.settings.budget_ns()
        if budget_ns and one.cost_ns > budget_ns and not one.is_spent:
            self._spend(one, "its %s took %s (`set cstrace log-budget`; `enable "
                        "cstrace-on %d` goes on)" % (
                            count(one.n_stops, "hit"),
                            duration_text(one.cost_ns), one.number))

    def _spend(self, one: Trigger, why: str) -> None:
        one.is_spent, one.enabled = True, False
        self._session.stops.silence(one.place)
        say("trigger %d is disabled: %s" % (one.number, why))

    def _do(self, one: Trigger, hit: Hit) -> None:
        if one.action == "start":
            self._start(one)
        elif one.action == "stop":
            self._mute(True)
        elif one.action == "snapshot":
            self._snapshot(one)
        elif one.action == "color":
            self._color(one, hit)
        else:
            self._backtrace(one)

    def _start(self, one: Trigger) -> None:
        """Rows begin with what is called next: a line has what is open."""
        was_muted = self._session.is_muted
        self._mute(False)
        if (was_muted and self._session.settings["live"]
                and not self._session.output.name):
            say("trigger %d: from %s on" % (one.number, self._open_calls()))

    def _open_calls(self) -> str:
        """"leaf 1.3 < visit 1.2 < main 1.1", of the selected thread."""
        r = self._session.recording
        assert r is not None
        tid = gdb.selected_thread().ptid[1]
        calls = r.recorder.stack(tid, _MOST_CALLERS)
        text = " < ".join("%s %s" % (c.name, c.id) for c in calls)
        n_more = r.recorder.n_open(tid) - len(calls)
        return (text + (" < %d more" % n_more if n_more > 0 else "")
                or "no open call")

    def _snapshot(self, one: Trigger) -> None:
        session, path = self._session, _free_name(one.how)
        trace, look = session.trace(), session.saved_look()
        choice = session.choice()
        n = trace.save(path, None, look, choice)
        say("trigger %d: %s" % (
            one.number, saved_text(n, path, trace, look, choice)))

    def _color(self, one: Trigger, hit: Hit) -> None:
        """The row of the call that was entered here, or has ended."""
        r = self._session.recording
        if r is None or not r.is_on:
            return
        pid, tid, _ = gdb.selected_thread().ptid
        while not r.recorder.mark(pid, tid, not hit.is_entry, one.how):
            naming.answer_all(r)

    def _backtrace(self, one: Trigger) -> None:
        """The calls that are open, into the tree."""
        r = self._session.recording
        if r is None or not r.is_on:
            return
        r.take_all()
        r.put_message("backtrace", one.wish.function, self._open_calls())
