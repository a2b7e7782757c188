# SPDX-License-Identifier: MIT

from __future__ import annotations

from typing import Any

import gdb

from ..session.session import Session
from ..session.zoom import MOST_CALLS, Zoom
from ..ui import options
from ..ui.console import say
from ..ui.options import Option
from .base import TraceCommand
from .stop_when import CONDITIONS, check_functions, check_values, wish_of


class ZoomCommand(TraceCommand):
    """Show the arguments of chosen calls in the tree, printed by gdb.

    Usage: cstrace zoom REGEX [-under F] [-depth N] [-count N]
                        [-where CONDITION] [-results] [-budget N]
           cstrace zoom -off
           cstrace zoom

    At each call of these functions gdb prints the arguments, by the user's
    own pretty-printers, into a line of the tree, and the program goes on.
    REGEX, -under, -depth, -count and -where choose the calls as those of
    `cstrace stop-when` do.  Without anything, it tells what there is.

      -results   and what they return, in a line behind each of the calls
      -budget N  no more than N calls in a run (1000); then, or when its calls
                 have taken more than `set cstrace log-budget`, it ends with
                 a line that says so
      -off       no more of it

    A call costs a stop that gdb does not show, 200 us and more, with -results
    three of them.  There is one zoom at a time; it acts while a trace is on
    (`cstrace start`)."""

    name = "cstrace zoom"
    options = [*(o for o in CONDITIONS if o.name in ("under", "depth",
                                                     "count", "where")),
               Option("results", None),
               Option("budget", options.read_count), Option("off", None)]
    rest = gdb.COMPLETE_SYMBOL

    def __init__(self, session: Session, zoom: Zoom) -> None:
        super().__init__(session)
        self._zoom = zoom

    def run(self, values: dict[str, Any], rest: str) -> None:
        function = options.the_regex(rest)
        if "off" in values:
            if function or len(values) > 1:
                raise gdb.GdbError("cstrace zoom: -off stands alone")
            say("zoom is off" if self._zoom.end() else self._zoom.text())
            return
        if not function:
            if values:
                raise gdb.GdbError("cstrace zoom: on which functions?  As in: "
                                   "cstrace zoom parse -under main")
            say(self._zoom.text())
            return
        budget = values.get("budget", MOST_CALLS)
        if not budget:
            raise gdb.GdbError("-budget: 0 calls are none; -off ends it")
        check_functions(self._zoom, function, values.get("under"))
        wish = wish_of(function, values)
        check_values(self._zoom, wish, self.name)
        self._zoom.set(wish, budget, "results" in values)
        say("zoom on %s%s" % (
            wish.text(), "" if self.session.is_on() else
            "; it acts while a trace is on (`cstrace start`)"))


def register(session: Session) -> None:
    ZoomCommand(session, Zoom(session))
