# SPDX-License-Identifier: MIT

from __future__ import annotations

from typing import Any

import gdb

from .. import requests
from ..ui import options
from ..ui.console import run_long
from ..ui.options import Option
from .base import (
    ALL, CHOICE, FORMAT, NAMES, THREAD, WHERE, TraceCommand, choice_of,
    tell_none, write_note)

UNDER = Option("under", options.read_function, gdb.COMPLETE_SYMBOL)


class CallsCommand(TraceCommand):
    """List the calls of a function, a row for each.

    Usage: cstrace calls [-sort time|duration|id|caller|thread] [-limit N]
                         [-last N] [-under WHERE] [-thread T]
                         [-min-time T] [-range A..B] [-from WHERE]
                         [-until WHERE] [-depth N] [-filter REGEX]
                         [-exclude REGEX] [-in FILE] [-module M]
                         [-where CONDITION] [-all]
                         [-names simple|full] [-no-id] [-no-thread]
                         [-format text|json|csv] FUNCTION

    A row has the call's time, duration, ID and values, its caller and the
    line that it was called from.  FUNCTION is a name or a REGEX, as in
    `cstrace show`.

      -sort KEY    the order of the rows: time without it; duration begins
                   with the longest call, caller sorts by name and line
      -limit N     only the first N rows (0: all)
      -last N      only the last N calls of FUNCTION
      -under WHERE only calls that are made beneath a call of this function,
                   or beneath the call that has this number; it takes the
                   place of -filter
      -thread T    only this thread's calls: t2 or p2:t1, as in rows, or its
                   kernel's number
      -min-time, -range, -from, -until, -depth, -filter, -exclude, -in, -module
                   as `cstrace show`
      -where CONDITION  only calls with such values, as in `cstrace show`:
                   'base == 16 && result < 0'
      -all         all calls, whatever `cstrace start` and the settings say
      -names full  with parameters and templates' arguments
      -no-id, -no-thread   without these columns
      -format F    for programs: times in nanoseconds, values as JSON"""

    name = "cstrace calls"
    rest = property(TraceCommand.functions)
    options = [Option("sort", options.read_one_of(requests.CALLS_SORTS),
                      list(requests.CALLS_SORTS)),
               Option("limit", options.read_count),
               Option("last", options.read_count),
               UNDER, THREAD, *CHOICE, WHERE, ALL, NAMES,
               Option("no-id", None), Option("no-thread", None), FORMAT]

    def run(self, values: dict[str, Any], rest: str) -> None:
        function = options.the_regex(rest)
        if function is None:
            raise gdb.GdbError("cstrace calls: which function?  As in: "
                               "cstrace calls parse")
        if "under" in values and "filter" in values:
            raise gdb.GdbError("-under takes the place of -filter: give one "
                               "of them")
        trace = self.session.trace()
        choice = self.session.choice(**choice_of(values, ("last", "thread")))
        look = self.session.report_look()
        look.names = choice.names
        look.id &= "no_id" not in values
        look.thread &= "no_thread" not in values
        calls = requests.Calls(function, output=values.get("format", "text"), **{
            key: values[key] for key in ("sort", "limit", "under")
            if key in values})
        n = run_long(lambda write: trace.calls(calls, look, choice, write))
        if n == 0:
            tell_none(trace, choice, "calls", function, calls.under)
        elif calls.output == "text":
            write_note(trace, choice)
