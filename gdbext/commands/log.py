# SPDX-License-Identifier: MIT
"""`cstrace log` sets a logpoint: it takes LOCATION, TEMPLATE and COND apart.
What a logpoint is and does stands in breakpoints/logpoint.py, one that needs no
stop in session/in_place.py."""

from __future__ import annotations

import re
from typing import Optional, Sequence

import gdb

from ..breakpoints.logpoint import Logpoint, Logpoints
from ..session.session import Session
from ..ui.console import plain, say
from .base import TraceCommand, user_errors
from .numbered import InfoCommand, each_commands, write_list

_USAGE = "cstrace log LOCATION, TEMPLATE [if COND]"
_NONE = "no logpoints: `%s` sets one" % _USAGE
_TOKEN = r"""(?s)"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\boperator *(?:\(\)|\[\]|,|[-+*/%^&|~!=<>]+)|."""


def _split(text: str) -> tuple[str, str]:
    """The location, up to a comma outside brackets, and the rest."""
    depth = at = 0
    for m in re.finditer(_TOKEN, text):
        depth += (m.group() in "([<") - (m.group() in ")]>")
        if m.group() == "," and depth <= 0:
            return text[:m.start()].strip(), text[m.end():].strip()
        at = m.end()
    return text[:at].strip(), ""


def _split_condition(text: str) -> tuple[str, Optional[str]]:
    """The template and what stands behind the last "if" outside braces; "" is a
    condition that was forgotten.  A template in quotes may hold any word."""
    quoted = re.match(r'(?s)"((?:\\.|[^"\\])*)"(?:\s+if\b\s*(.*))?$', text)
    if quoted:
        return re.sub(r"\\(.)", r"\1", quoted.group(1)), quoted.group(2)
    depth, found = 0, -1
    for m in re.finditer(r"[{}]|\sif(?:\s|$)", text):
        if m.group() in "{}":
            depth += 1 if m.group() == "{" else -1
        elif depth <= 0:
            found = m.start()
    if found < 0:
        return text, None
    return text[:found].rstrip(), text[found + 3:].strip()


class LogCommand(TraceCommand):
    """Put a line into the tree whenever the program gets to a place.

    Usage: cstrace log LOCATION, TEMPLATE [if COND]

    LOCATION is what `break` takes: a function, FILE:LINE, *ADDRESS; after
    `set breakpoint pending on` also one in a library to come.  The program
    does not stop there; the text stands in the tree at its time and depth,
    live and in all that is saved.  Without a trace it is written to the
    console.

      {expression}    its value there, as `print` has it
      {expression:x}  in one of print's formats (x, d, u, o, t, a, c, f, z);
                      s is a text without its quotes
      {$caller}       the function that called this one
      {$depth}        how many calls of the thread are open in the tree
      {$thread}       the thread's tag, t2
      {{ and }}       braces
      if COND         only where this is true; a TEMPLATE that has the word
                      "if" in it stands in double quotes

    At a FUNCTION whose expressions are arguments that the trace has (or
    fields of theirs, {at.x}), with COND comparing these to numbers, it is
    in place: no stop, about a microsecond a hit.  Anything else is a
    breakpoint, at which gdb evaluates in 100 to 300 us; one that has cost
    more than `set cstrace log-budget` in a run is disabled.  The
    command says which of the two it is, and `info cstrace-log` what each
    has cost.  `disable`, `enable` and `delete cstrace-log N` are as for
    breakpoints.

    As in: cstrace log shop.cc:42, order {id} of {name:s}, {$caller} if id > 9"""

    name = "cstrace log"
    rest = gdb.COMPLETE_LOCATION

    def __init__(self, session: Session, points: Logpoints) -> None:
        super().__init__(session)
        self._points = points

    def invoke(self, arg: str, from_tty: bool) -> None:
        """Without TraceCommand's options: a location may begin with "-"."""
        self.dont_repeat()
        with user_errors():
            if not arg.strip():
                write_list(self._points, lambda one: _lines(
                    self._points, one), _NONE)
                return
            location, text = _split(arg)
            template, condition = _split_condition(text)
            if not location:
                raise gdb.GdbError("%s: there is no location before the comma"
                                   % _USAGE)
            if condition == "":
                raise gdb.GdbError("no condition stands behind \"if\"; a text "
                                   "with that word stands in double quotes")
            if not template:
                raise gdb.GdbError("%s: \"%s\" has no template behind a comma"
                                   % (_USAGE, location))
            made = self._points.add(location, template, condition)
        say("logpoint %d in %s, %s" % (made.own_number, made.place(),
                                       made.way_text()))


def _lines(points: Logpoints, point: Logpoint) -> Sequence[str]:
    points.count(point)
    only_if = ["only if " + plain(point.only_if)] if point.only_if else []
    return ["in %s: %s" % (point.place(), plain(point.template)), *only_if,
            point.way_text(), point.cost_text()]


class InfoLogCommand(InfoCommand):
    """List the logpoints, with what each has cost.

    Usage: info cstrace-log"""

    name = "info cstrace-log"
    none = _NONE

    def __init__(self, session: Session, points: Logpoints) -> None:
        super().__init__(session, points)
        self._points = points

    def lines(self, one: Logpoint) -> Sequence[str]:
        return _lines(self._points, one)


def register(session: Session) -> None:
    points = Logpoints(session)
    LogCommand(session, points)
    InfoLogCommand(session, points)
    each_commands("cstrace-log", "logpoint", points)
