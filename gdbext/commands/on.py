# SPDX-License-Identifier: MIT

from __future__ import annotations

import re
from typing import Any, Optional, Sequence

import gdb

from ..recorder import COLORS
from ..session.session import Session
from ..session.triggers import ACTIONS, DEFAULT_FILE, Trigger, Triggers
from ..ui import options
from ..ui.console import say
from ..ui.words import count, duration_text
from .base import TraceCommand
from .numbered import InfoCommand, each_commands
from .stop_when import CONDITIONS, check_functions, check_values, wish_of

_USAGE = "cstrace on FUNCTION [conditions] do " + "|".join(ACTIONS)


def _split(text: str) -> tuple[str, str, str]:
    """The function, the action and what follows it: "F do ACTION FILE"."""
    found = re.fullmatch(r"(?s)(.*?)(?:^|\s)do(?:\s+(\S+)\s*(.*))?", text)
    if found is None or not found[2]:
        raise gdb.GdbError("cstrace on: do what?  %s" % _USAGE)
    if not found[1].strip():
        raise gdb.GdbError("cstrace on: at which function?  %s" % _USAGE)
    if found[2] not in ACTIONS:
        raise gdb.GdbError('cstrace on: nothing is called "%s"; there is %s'
                           % (found[2], ", ".join(ACTIONS)))
    return found[1], found[2], found[3].strip()


def _how(action: str, how: str, is_unwound: bool) -> str:
    """What the action takes: a file's name, a colour, or nothing."""
    if action == "snapshot":
        return options.unquote(how) or DEFAULT_FILE
    if action == "color":
        if how not in COLORS:
            raise gdb.GdbError("cstrace on: color takes one of %s"
                               % ", ".join(COLORS))
        if is_unwound:
            raise gdb.GdbError("cstrace on: a call that is unwound gets no "
                               "color: leave -unwound out")
    elif how:
        raise gdb.GdbError('cstrace on: "%s" is too much behind %s'
                           % (how, action))
    return how


class OnCommand(TraceCommand):
    """Do something at a call that meets conditions; the program goes on.

    Usage: cstrace on FUNCTION [-under F] [-depth N] [-longer T] [-count N]
                      [-unwound] [-where CONDITION] [-returns CONDITION]
                      do ACTION

    FUNCTION, F and the conditions are those of `cstrace stop-when`: the
    hooks decide, in nanoseconds.  ACTION is one of

      start      keep and show calls from here on; until the first start
                 none are, but those that are open then are kept
      stop       keep and show none from behind this call's entry on
      backtrace  a line in the tree with the calls that are open, which are
                 then kept
      snapshot [FILE]
                 save what was recorded so far; the format is as for `cstrace
                 save`, the name snapshot.cst or the next that is free
      color C    the call's row is red, green, yellow, blue, magenta or cyan
                 where rows have colors, live and in `cstrace show`; not with
                 -unwound, and not in saved files

    So `cstrace on load do start` and `cstrace on draw do stop` trace only
    from here to there; what is not kept is recorded all the same, which
    takes its time, and has its IDs.  At a hit the program waits for gdb, about
    200 us (a snapshot takes as long as to save it); a trigger that has taken
    more than `set cstrace log-budget` in a run is disabled.  They act while a
    trace is on, but not on the way of `cstrace goto`.

    They are numbered: `info cstrace-on` lists them, `delete`, `disable` and
    `enable cstrace-on N` are as for breakpoints."""

    name = "cstrace on"
    options = CONDITIONS
    rest = gdb.COMPLETE_SYMBOL

    def __init__(self, session: Session, triggers: Triggers) -> None:
        super().__init__(session)
        self._triggers = triggers

    def run(self, values: dict[str, Any], rest: str) -> None:
        word, action, how = _split(rest)
        function = options.the_regex(word)
        assert function is not None
        how = _how(action, how, bool(values.get("unwound")))
        check_functions(self._triggers, function, values.get("under"))
        wish = wish_of(function, values)
        check_values(self._triggers, wish, self.name)
        made = self._triggers.make(wish, action, how)
        if action == "start":
            self._triggers.mute_until_start()
        say("trigger %d: %s%s" % (
            made.number, made.text(),
            "" if self.session.is_on() else
            "; it acts while a trace is on (`cstrace start`)"))

    def complete(self, text: str, word: Optional[str]) -> Any:
        before = text.split()
        if text[-1:].isspace() or not before:
            typed = ""
        else:
            typed = before.pop()
        if before and before[-1] == "do":
            return options.listed(word, list(ACTIONS), typed)
        if before[-2:] == ["do", "color"]:
            return options.listed(word, list(COLORS), typed)
        return super().complete(text, word)


class InfoOnCommand(InfoCommand):
    """List the triggers, with what each has cost.

    Usage: info cstrace-on"""

    name = "info cstrace-on"
    none = "no triggers: `%s` sets one" % _USAGE

    def lines(self, one: Trigger) -> Sequence[str]:
        each = (", %s each" % duration_text(one.cost_ns // one.n_stops)
                if one.n_stops else "")
        return one.text(), "done %s%s" % (count(one.n_stops, "time"), each)


def register(session: Session) -> None:
    triggers = Triggers(session)
    OnCommand(session, triggers)
    InfoOnCommand(session, triggers)
    each_commands("cstrace-on", "trigger", triggers)
