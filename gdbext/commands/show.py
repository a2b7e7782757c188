# SPDX-License-Identifier: MIT

from __future__ import annotations

from typing import Any

from ..ui import options
from ..ui.console import run_long, say
from ..ui.options import Option
from .base import (
    ALL, BELOW, CHOICE, NAMES, THREAD, WHERE, TraceCommand, choice_of,
    tell_none, write_note)


class ShowCommand(TraceCommand):
    """Show the recorded calls as a tree.

    Usage: cstrace show [-last N] [-around ID] [-at TIME] [-below ID]
                        [-thread T]
                        [-from WHERE] [-until WHERE] [-range A..B]
                        [-in FILE] [-module M]
                        [-depth N] [-filter REGEX] [-exclude REGEX]
                        [-min-time T] [-where CONDITION] [-all]
                        [-names simple|full]
                        [-no-id] [-no-thread] [-unfold ID]
                        [ID | REGEX]

    With ID (1.42, as rows have it), show only that call and the calls beneath
    it; with REGEX only the functions that it names, or whose name it is found
    in, and the calls beneath them; /REGEX/ is never taken for a name.

      -last N      only the last N calls (0: all)
      -around ID   the call with this number (1.42), its callers, neighbours
      -at TIME     the calls around this time: 0.000012 as rows have it, 12us
      -below ID    only this call and what it calls
      -from WHERE  only what begins with the first call of a function, or with
                   the call that has this number, or later
      -until WHERE   the last one: the first call of a function after that, or
                   the call with this number
      -thread T    only this thread's calls: t2 or p2:t1, as in rows, or its
                   kernel's number
      -range A..B  only calls that begin then, and those around the first
                   of them: 1.2s..1.4s, 20ms.., ..1.4 (as in START)
      -depth N, -filter, -exclude, -in, -module, -min-time
                   as `cstrace start`, in its place
      -where CONDITION  only calls with such values, each in a row:
                   'parse.base == 16', "result < 0 && name =~ '^tmp'"; there
                   are == != < <= > >= =~ (a regex), && || ! and brackets;
                   `result` is what the call returned
      -all         all calls, whatever `cstrace start` and the settings say
      -names full  with parameters and templates' arguments
      -no-id, -no-thread   without these columns
      -unfold ID   only the calls that the folded row with this number stands
                   for, each in a row of its own

    Options may stand behind REGEX, too.  The last line tells what is left
    out of the rows, and by what."""

    name = "cstrace show"
    rest = property(TraceCommand.functions)
    options = [Option("last", options.read_count),
               Option("around", options.read_text),
               Option("at", options.read_moment_ns),
               BELOW, THREAD, *CHOICE, WHERE, ALL, NAMES,
               Option("no-id", None), Option("no-thread", None),
               Option("unfold", options.read_text)]

    def run(self, values: dict[str, Any], rest: str) -> None:
        regex = options.the_regex(rest)
        if regex is not None and options.is_id(regex):
            values["below"] = regex
        elif regex is not None:
            values["filter"] = regex
        trace = self.session.trace()
        choice = self.session.choice(**choice_of(
            values, ("last", "around", "thread", "unfold")))
        look = self.session.report_look()
        look.names = choice.names
        look.id &= "no_id" not in values
        look.thread &= "no_thread" not in values
        much = trace.announcement("", "txt", choice)
        if much:
            say(much)
        n = run_long(lambda write: trace.show(look, choice, write))
        if n == 0:
            tell_none(trace, choice, "calls")
        write_note(trace, choice)
