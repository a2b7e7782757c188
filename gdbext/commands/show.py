# SPDX-License-Identifier: MIT

from __future__ import annotations

from typing import Any

from .. import options
from ..console import run_long, say
from ..options import Option
from .base import (ALL, DEPTH, EXCLUDE, FILTER, FROM, MIN_TIME, NAMES, THREAD,
                   TraceCommand, choice_of)


class ShowCommand(TraceCommand):
    """Show the recorded calls as a tree.

    Usage: cstrace show [-last N] [-around ID] [-from ID] [-thread N]
                        [-depth N] [-filter REGEX] [-exclude REGEX]
                        [-min-time T] [-all] [-names simple|full]
                        [-no-id] [-no-thread] [REGEX]

    With REGEX, show only the functions whose name it is found in and the
    calls beneath them.

      -last N      only the last N calls (0: all)
      -around ID   the call with this number (1.42), its callers, neighbours
      -from ID     only this call and what it calls
      -thread N    only this thread's calls: T of a call's number T.N, P:T of
                   P:T.N, or its kernel's number
      -depth N, -filter, -exclude, -min-time   as `cstrace start`, in its
                   place
      -all         all calls, whatever `cstrace start` was told to show
      -names full  with parameters and templates' arguments
      -no-id, -no-thread   without these columns"""

    name = "cstrace show"
    rest = property(TraceCommand.functions)
    options = [Option("last", options.read_count),
               Option("around", options.read_text),
               FROM, THREAD, DEPTH, FILTER, EXCLUDE, MIN_TIME, ALL, NAMES,
               Option("no-id", None), Option("no-thread", None)]

    def run(self, values: dict[str, Any], rest: str) -> None:
        regex = options.the_regex(rest)
        if regex is not None:
            values["filter"] = regex
        trace = self.session.trace()
        choice = self.session.choice(**choice_of(
            values, ("last", "around", "thread", "depth", "filter",
                     "exclude")))
        look = self.session.report_look()
        look.names = choice.names
        look.id &= "no_id" not in values
        look.thread &= "no_thread" not in values
        n = run_long(lambda write: trace.show(look, choice, write))
        if n == 0:
            say("no such calls" if trace.status().n_calls
                else "no calls recorded")
