# SPDX-License-Identifier: MIT

from __future__ import annotations

from typing import Any

import gdb

from .. import engine, requests
from ..ui import options
from ..ui.console import run_long
from ..ui.options import Option
from .base import (
    ALL, CHOICE, FORMAT, NAMES, SAMPLES, THREAD, WHERE, TraceCommand,
    choice_of, tell_none, write_note)


def _read_fields(name: str, word: str) -> str:
    keys: dict[str, Any] = {name: word}
    engine.check_report(requests.Report(**keys))
    return word


class ReportCommand(TraceCommand):
    """Show a row for each function: how many calls, and their times.

    Usage: cstrace report [-sort KEYS] [-fields KEYS] [-limit N]
                          [-by function|callsite|thread] [-thread T]
                          [-callers REGEX | -callees REGEX]
                          [-depth N] [-filter REGEX] [-exclude REGEX]
                          [-in FILE] [-module M] [-from WHERE] [-until WHERE]
                          [-min-time T] [-range A..B]
                          [-where CONDITION] [-all]
                          [-names simple|full] [-samples]
                          [-format text|json|csv] [REGEX]

    With REGEX, only rows of functions whose name it is found in.

    TOTAL is the time from entry to exit, that of recursive calls counted
    once; SELF leaves out what the calls beneath took; MEAN, MIN and MAX are
    of single calls; SHARE is the part of all rows' SELF; SIZE, which is not
    shown unless asked for, is how many bytes of code the function has.
    Messages and counters have rows of their own below: how many TIMES each
    came, and the LAST, smallest and largest value of a counter.

      -sort KEYS   the columns to order by, as self or calls,mean; total
                   without it; also size and function
      -fields KEYS only these columns, as calls,total,self,share,size
      -limit N     only the first N rows (0: all)
      -by WHAT     a row for each function, place of a call (callsite) or
                   thread
      -thread T    only what this thread called
      -callers REGEX   a row for each function that calls one of these, with
                       those calls
      -callees REGEX   a row for each function that one of these calls, with
                       those calls
      -depth N, -filter, -exclude, -in, -module, -min-time, -from, -until,
      -where       as `cstrace show`: which calls are counted
      -samples     the samples, where there are calls, too
      -all         all calls, whatever `cstrace start` and the settings say
      -names full  with parameters and templates' arguments
      -format F    for programs: times in nanoseconds, a unit a column"""

    name = "cstrace report"
    rest = property(TraceCommand.functions)
    options = [Option("sort", _read_fields,
                      [*requests.FIELDS, "function"]),
               Option("fields", _read_fields, list(requests.FIELDS)),
               Option("limit", options.read_count),
               Option("by", options.read_one_of(requests.REPORT_BY),
                      list(requests.REPORT_BY)),
               Option("callers", options.read_function, gdb.COMPLETE_SYMBOL),
               Option("callees", options.read_function, gdb.COMPLETE_SYMBOL),
               THREAD, *CHOICE, WHERE, ALL, SAMPLES, FORMAT, NAMES]

    def run(self, values: dict[str, Any], rest: str) -> None:
        trace = self.session.trace()
        choice = self.session.choice(**choice_of(values, ("thread",)))
        report = requests.Report(regex=options.the_regex(rest),
                               output=values.get("format", "text"), **{
            key: values[key] for key in ("sort", "fields", "limit", "by",
                                         "callers", "callees")
            if key in values})
        n = run_long(lambda write: trace.report(report, choice, write))
        if n == 0:
            tell_none(trace, choice, "functions", report.regex,
                      report.callers, report.callees)
        elif report.output == "text":
            write_note(trace, choice)
