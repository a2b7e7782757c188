# SPDX-License-Identifier: MIT
"""`cstrace zoom`: gdb prints the arguments of chosen calls into the tree, with
the user's pretty-printers; the hooks choose the calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

import gdb

from ..breakpoints.hit_clock import HitClock
from .. import _abi as abi
from ..breakpoints.landing import Hit, when_arguments_are_there
from ..breakpoints.returning import when_returned
from ..breakpoints.logpoint import value_text
from ..engine import CstraceError, simple_name
from ..process.stop_table import Condition
from ..ui.console import plain, say
from ..ui.words import count, duration_text
from .stop_when import StopWhen, StopWhens, Wish

if TYPE_CHECKING:
    from .session import Session

MOST_CALLS = 1000  # without -budget
_MOST_TEXT = 2000


def _function(frame: gdb.Frame) -> Optional[gdb.Block]:
    """The block with the parameters of the frame's function."""
    try:
        block: Optional[gdb.Block] = frame.block()
    except RuntimeError:
        return None  # no debug information
    while block is not None and block.function is None:
        block = block.superblock
    return block


def _argument(symbol: gdb.Symbol, frame: gdb.Frame) -> str:
    try:
        text = value_text(symbol.value(frame), "")
    except (gdb.error, ValueError) as e:
        text = "<%s>" % e
    return "%s=%s" % (symbol.name, text)


def call_name(frame: gdb.Frame) -> str:
    return simple_name(frame.name() or "?")


def call_text(frame: gdb.Frame) -> str:
    """"parse(s="12+3", base=10)"."""
    name = call_name(frame)
    block = _function(frame)
    if block is None:
        return name + "(?)"
    text = "%s(%s)" % (name, ", ".join(
        _argument(s, frame) for s in block if s.is_argument))
    return text if len(text) <= _MOST_TEXT else text[:_MOST_TEXT] + "..."


class Zoom(StopWhens):
    """At most one, number 1."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._clock = HitClock()
        self._budget = MOST_CALLS
        self._has_results = False
        self._result_place = -1  # none
        self._n = self._cost_ns = 0
        self._is_spent = False
        session.stops.at_begin(self._begin)

    def set(self, wish: Wish, budget: int, has_results: bool) -> None:
        """In place of the one that there was."""
        self.end()
        self._budget = budget
        self._has_results = has_results
        self._begin()
        self._keep(StopWhen(1, wish))
        self._clock.connect()

    def end(self) -> bool:
        """Returns whether there was one."""
        was_on = bool(self.all)
        if was_on:
            self.delete(1)
            self._clock.disconnect()
        return was_on

    def text(self) -> str:
        for one in self.all.values():
            each = (", %s each" % duration_text(self._cost_ns // self._n)
                    if self._n else "")
            return "zoom on %s: %s so far%s%s" % (
                one.wish.text(), count(self._n, "call"), each,
                "; its budget is spent" if self._is_spent else "")
        return "no zoom: `cstrace zoom REGEX` sets one"

    def _begin(self) -> None:
        """Each run has the whole budget."""
        self._n = self._cost_ns = 0
        self._is_spent = False

    def _set(self, one: StopWhen) -> None:
        one.place = self._session.stops.add(
            lambda: self._now(one), lambda hit: self._hit(one, hit),
            passes=True)

        if self._has_results:
            self._result_place = self._session.stops.add(
                lambda: self._at_end(one), lambda hit: self._returns(hit),
                passes=True)

    def _unset(self, one: StopWhen) -> None:
        super()._unset(one)
        if self._result_place >= 0:
            self._session.stops.remove(self._result_place)
        self._result_place = -1

    def _now(self, one: StopWhen) -> Optional[Condition]:
        return None if self._is_spent else self._condition(one.wish, one.number)

    def _at_end(self, one: StopWhen) -> Optional[Condition]:
        """The ends of the same calls."""
        condition = self._now(one)
        return condition and condition._replace(
            flags=condition.flags | abi.CST_STOP_AT_EXIT)

    # ---- a hit ---------------------------------------------------------------

    def _hit(self, one: StopWhen, hit: Hit) -> None:
        if self._is_spent or self._session.goto.way is not None:
            return
        self._clock.begin()
        self._n += 1
        try:
            if hit.is_entry:
                when_arguments_are_there(
                    self._session.stops.standing,
                    lambda f: self._write(call_name(f), call_text(f)))
            else:
                self._write(one.wish.function, "%s, %s" % (
                    one.wish.text(), duration_text(hit.ns)))
        except (CstraceError, gdb.error, gdb.GdbError, OSError) as e:
            self._spend(one, str(e))
            return
        self._cost_ns += self._clock.end()
        budget_ns = self._session.settings.budget_ns()
        if self._n >= self._budget:
            self._spend(one, "%s, as many as its budget (-budget N)"
                        % count(self._n, "call"))
        elif budget_ns and self._cost_ns > budget_ns:
            self._spend(one, "%s took %s (`set cstrace log-budget`)" % (
                count(self._n, "call"), duration_text(self._cost_ns)))

    def _returns(self, hit: Hit) -> None:
        """A call is about to end: its result is there when it has."""
        if (self._is_spent or hit.is_jump
                or self._session.goto.way is not None):
            return
        self._clock.begin()
        try:
            when_returned(self._write_result)
        except (CstraceError, gdb.error, gdb.GdbError, OSError, ValueError):
            pass  # nothing is known of the caller
        self._cost_ns += self._clock.end()

    def _write_result(self, name: str, value: Optional[gdb.Value]) -> None:
        if value is not None:
            name = simple_name(name)
            self._write(name, "%s = %s" % (
                name, value_text(value, "")[:_MOST_TEXT]))

    def _spend(self, one: StopWhen, why: str) -> None:
        self._is_spent = True
        self._session.stops.silence(one.place)
        if self._result_place >= 0:
            self._session.stops.silence(self._result_place)
        say("zoom on %s ends in this run: %s" % (plain(one.wish.function), why))

    def _write(self, name: str, text: str) -> None:
        r = self._session.recording
        if r is not None and r.is_on:
            r.put_message("zoom", name, text)
