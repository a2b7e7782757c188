# SPDX-License-Identifier: MIT

from __future__ import annotations

import os
from typing import Any

import gdb

from .. import requests
from ..ui import options
from ..ui.console import run_long
from ..session.naming import load_trace
from ..ui.options import Option
from .base import ALL, CHOICE, FORMAT, WHERE, TraceCommand, choice_of


class DiffCommand(TraceCommand):
    """Compare a saved trace with what was recorded.

    Usage: cstrace diff [-counts] [-limit N] [-times P] [-sort KEY]
                        [-percent] [-depth N] [-filter REGEX]
                        [-exclude REGEX] [-in FILE] [-module M]
                        [-from WHERE] [-until WHERE] [-min-time T]
                        [-where CONDITION] [-all]
                        [-format text|json|csv] FILE

    First the call at which the flows part: "-" marks what only FILE (A) has,
    "+" what only the recorded trace (B) has, "~" a call with other calls
    below it.  Then a row for each place that calls a function more or less
    often.  Times and addresses do not count, lines may have moved.

      -counts      only how often each call is made: where threads share work
                   out among them, their flows are others in each run
      -limit N     so many rows of each table, 20 without it, 0 for all
      -times P     also the functions whose total changed by more than P percent
      -sort KEY    the order of the rows: calls or total, by how much the calls
                   of the function or their total time changed; change or
                   percent, by what the row shows; name
      -percent     how many percent more or fewer calls, not how many
      -depth N, -filter, -exclude, -in, -module, -min-time, -from, -until,
      -where       as `cstrace show`: which calls are compared
      -all         all calls, whatever `cstrace start` and the settings say
      -format F    for programs: all rows in one table, times in nanoseconds"""

    name = "cstrace diff"
    rest = gdb.COMPLETE_FILENAME
    options = [Option("counts", None), Option("limit", options.read_count),
               Option("times", options.read_count),
               Option("sort", options.read_one_of(requests.DIFF_SORTS),
                      list(requests.DIFF_SORTS)),
               Option("percent", None),
               *CHOICE, WHERE, ALL, FORMAT]

    def run(self, values: dict[str, Any], rest: str) -> None:
        path, more = options.first_word(rest)
        if not path:
            raise gdb.GdbError("cstrace diff: which file?  As in: "
                               "cstrace diff before.cst")
        options.no_more(more, self.name)
        trace = self.session.trace()
        choice = self.session.choice(**choice_of(values, ()))
        output = values.get("format", "text")
        diff = requests.Diff(
            by="counts" in values, percent=values.get("times", -1),
            limit=values.get("limit", 20 if output == "text" else 0),
            output=output, sort=values.get("sort"),
            shows_percent="percent" in values)
        older = load_trace(os.path.expanduser(path))
        try:
            run_long(lambda write: trace.diff(older, diff, choice, write))
        finally:
            older.free()
