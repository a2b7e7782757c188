# SPDX-License-Identifier: MIT

from __future__ import annotations

from typing import Any

from .. import requests
from ..ui import options
from ..ui.console import run_long
from ..ui.options import Option
from .base import (
    ALL, BELOW, CHOICE, DEPTH, FORMAT, NAMES, SAMPLES, THREAD, WHERE,
    TraceCommand, choice_of, tell_none, write_note)


class GraphCommand(TraceCommand):
    """Fold all recorded calls into one tree of functions.

    Usage: cstrace graph [-depth N] [-limit N] [-min-share P]
                         [-sort total|self|calls] [-below ID] [-thread T]
                         [-filter REGEX] [-exclude REGEX] [-in FILE]
                         [-module M] [-from WHERE] [-until WHERE]
                         [-min-time T] [-range A..B]
                         [-where CONDITION] [-all]
                         [-names simple|full] [-samples]
                         [-format text|json|csv] [FUNCTION]

    A row for each path of functions, over all threads: CALLS made on it,
    their TOTAL time, SELF without what they call, and SHARE, the part of the
    whole time that TOTAL is.  Recursive calls are counted in the row of the
    function above.

    With FUNCTION (a regex) two trees, merged over all places where it is
    called: its callers, each below the function that it calls, with
    FUNCTION's calls and times that come from there; and what FUNCTION calls.

      -depth N       only N levels of the tree (0: all)
      -limit N       only the N rows with most time (0: all)
      -min-share P   only rows with at least P percent of the time, as in 0.5
      -sort WHAT     the order below each caller, total without it
      -below ID      only this call and what it calls
      -filter, -exclude, -in, -module, -min-time, -from, -until,
      -where         as `cstrace show`: which calls are in the tree
      -samples       the samples, where there are calls, too
      -all           all calls, whatever `cstrace start` and the settings say
      -names full    with parameters and templates' arguments
      -format F      for programs: times in nanoseconds, a unit a column"""

    name = "cstrace graph"
    rest = property(TraceCommand.functions)
    options = [DEPTH,
               Option("limit", options.read_count),
               Option("min-share", options.read_share_ppm),
               Option("sort", options.read_one_of(requests.GRAPH_SORTS),
                      list(requests.GRAPH_SORTS)),
               BELOW, THREAD, *(o for o in CHOICE if o is not DEPTH),
               WHERE, ALL, SAMPLES, FORMAT, NAMES]

    def run(self, values: dict[str, Any], rest: str) -> None:
        trace = self.session.trace()
        depth = values.pop("depth", 0)  # of the tree, not of the calls
        choice = self.session.choice(**choice_of(values, ("thread",)))
        graph = requests.Graph(
            sort=values.get("sort", "total"), limit=values.get("limit", 0),
            depth=depth,
            min_share_ppm=values.get("min_share", 0),
            function=options.the_regex(rest),
            output=values.get("format", "text"))
        n = run_long(lambda write: trace.graph(graph, choice, write))
        if n == 0:
            tell_none(trace, choice, "functions" if graph.function else "calls",
                      graph.function)
        elif graph.output == "text":
            write_note(trace, choice)
