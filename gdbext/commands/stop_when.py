# SPDX-License-Identifier: MIT

from __future__ import annotations

import re
from typing import Any, Optional, Sequence

import gdb

from ..session import mistakes
from ..session.session import Session
from ..session.stop_when import StopWhen, StopWhens, Wish
from ..ui import options
from ..ui.console import plain, say
from ..ui.options import Option
from ..ui.words import count
from .base import TraceCommand
from .numbered import InfoCommand, each_commands


CONDITIONS = [Option("under", options.read_function, gdb.COMPLETE_SYMBOL),
              Option("depth", options.read_count),
              Option("longer", options.read_time_ns),
              Option("count", options.read_count),
              Option("unwound", None),
              Option("where", options.read_condition),
              Option("returns", options.read_condition)]


def wish_of(function: str, values: dict[str, Any]) -> Wish:
    """What the options of CONDITIONS say."""
    return Wish(function, values.get("under"), values.get("depth", 0),
                values.get("longer", 0), values.get("count", 0),
                "unwound" in values, values.get("where", ""),
                _returns(values.get("returns", "")))


def _returns(text: str) -> str:
    """`-1` and `< 0` are short for conditions on the result."""
    text = text.strip()
    if re.match(r"[=!]=|=~|[<>]", text):
        return "result " + text
    if text and not re.search(r"[=!]=|=~|[<>]", text):
        return "result == " + text
    return text


def check_functions(whens: StopWhens, *words: Optional[str]) -> None:
    """Says of each word if no call of it will be seen, as far as is known."""
    for word in filter(None, words):
        n, n_seen = whens.n_functions(word)
        if not n:
            say(mistakes.inlined(word) or
                "no function matches '%s' so far: a library may have it"
                % plain(word))
        elif not n_seen:
            say("no function that matches '%s' is patched, so that conditions "
                "do not see its calls: `cstrace check --patch` in a shell tells why"
                % plain(word))


def check_values(whens: StopWhens, wish: Wish, command: str) -> None:
    """Refuses what the program cannot decide, and says where it cannot."""
    n, why = whens.check_values(wish)
    if n:
        say("%s: at %s it is not decided: %s"
            % (command, count(n, "function"), why))
    n = whens.n_unseen_ends(wish) if wish.longer_ns else 0
    if n:
        say("%s: at %s some ends are not seen, for they have no patch"
            % (command, count(n, "function")))


class StopWhenCommand(TraceCommand):
    """Stop the program at a call that meets all conditions.

    Usage: cstrace stop-when FUNCTION [-under F] [-depth N] [-longer T]
                             [-count N] [-unwound] [-where CONDITION]
                             [-returns CONDITION]

    FUNCTION and F are names or regular expressions, as REGEX of `cstrace
    start`.  The program stops in the function's frame as the call begins.

      -under F   only while F is open in the thread
      -depth N   only if the call is at least N levels deep in its thread
      -longer T  at the end of a call that took longer (10us, 1.5ms, 2s)
      -unwound   where a call is left by longjmp or an exception
      -where CONDITION
                 only if its arguments are so: 'base == 16 && text != NULL'
      -returns CONDITION
                 at the end of a call that returns it: -1, '< 0', NULL, or
                 'result.x > 3'
      -count N   only the N-th time that all else is true in this run

    Values are compared as in `cstrace show -where`, but in the program, which
    takes integers, enums, bools, characters, pointers, texts (also =~
    '^BEGIN'), fields of small structs, and .size of a vector.  What it cannot
    decide is refused, with the reason.

    The hooks decide, in nanoseconds, where a breakpoint's condition takes
    gdb about 100 us each time; so a trace must be on (`cstrace start`).
    What was open before the condition was set is not known to -under,
    -depth, -longer, -unwound and -returns: set them before `run`.

    They are numbered: `info cstrace-stops` lists them, `delete`, `disable`
    and `enable cstrace-stops N` are as for breakpoints."""

    name = "cstrace stop-when"
    options = CONDITIONS
    rest = gdb.COMPLETE_SYMBOL

    def __init__(self, session: Session, whens: StopWhens) -> None:
        super().__init__(session)
        self._whens = whens

    def run(self, values: dict[str, Any], rest: str) -> None:
        function = options.the_regex(rest)
        if not function:
            raise gdb.GdbError("cstrace stop-when: at which function?  As in: "
                               "cstrace stop-when parse -count 3")
        check_functions(self._whens, function, values.get("under"))
        wish = wish_of(function, values)
        check_values(self._whens, wish, self.name)
        made = self._whens.add(wish)
        say("stop %d: %s%s" % (
            made.number, made.wish.text(),
            "" if self.session.is_on() else
            "; it acts while a trace is on (`cstrace start`)"))


class InfoStopsCommand(InfoCommand):
    """List the conditions to stop at.

    Usage: info cstrace-stops"""

    name = "info cstrace-stops"
    none = "no conditions: `cstrace stop-when FUNCTION` sets one"

    def __init__(self, session: Session, whens: StopWhens) -> None:
        super().__init__(session, whens)
        self._whens = whens

    def lines(self, one: StopWhen) -> Sequence[str]:
        n = self._whens.n_true(one)
        return one.wish.text(), "%sstopped %s" % (
            "" if n is None else "true %s, " % count(n, "time"),
            count(one.n_stops, "time"))


def register(session: Session) -> None:
    whens = StopWhens(session)
    StopWhenCommand(session, whens)
    InfoStopsCommand(session, whens)
    each_commands("cstrace-stops", "condition", whens)
    # gdb takes no notice of a word behind `delete` that it does not know.
    for verb in ("info", "delete", "disable", "enable"):
        gdb.execute("alias -a -- %s cstrace-stop-when = %s cstrace-stops"
                    % (verb, verb))
