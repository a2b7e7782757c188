# SPDX-License-Identifier: MIT

from __future__ import annotations

from typing import Any

import gdb

from .. import engine, options
from ..console import run_long, say
from ..options import Option
from .base import ALL, DEPTH, EXCLUDE, FILTER, TraceCommand, choice_of


class ReportCommand(TraceCommand):
    """Show a row for each function: calls, total, self, mean and max time.

    Usage: cstrace report [-sort total|self|calls|max] [-limit N]
                          [-depth N] [-filter REGEX] [-exclude REGEX]
                          [-all] [REGEX]

    With REGEX, only functions whose name it is found in.

      -sort WHAT   the column to order by, total without it
      -limit N     only the first N rows
      -all         all calls, whatever `cstrace start` was told to show"""

    name = "cstrace report"
    rest = gdb.COMPLETE_SYMBOL
    options = [Option("sort", options.read_one_of(engine.SORTS),
                      list(engine.SORTS)),
               Option("limit", options.read_count),
               DEPTH, FILTER, EXCLUDE, ALL]

    def run(self, values: dict[str, Any], rest: str) -> None:
        trace = self.session.trace()
        choice = self.session.choice(**choice_of(
            values, ("depth", "filter", "exclude")))
        regex = options.the_regex(rest)
        n = run_long(lambda write: trace.report(
            values.get("sort", "total"), values.get("limit", 0), regex,
            choice, write))
        if n == 0:
            say("no such functions" if trace.status().n_calls
                else "no calls recorded")
