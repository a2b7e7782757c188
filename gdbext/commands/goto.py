# SPDX-License-Identifier: MIT

from __future__ import annotations

from typing import Any

import gdb

from ..ui import options
from ..ui.options import Option
from .base import TraceCommand


class GotoCommand(TraceCommand):
    """Run the program again, and stop inside a recorded call.

    Usage: cstrace goto ID [-exit]

    ID is a call's number as rows have it (1.42).  The program runs from its
    beginning as with `run`, which asks first if it is under way, and stops as
    the call has begun, in its own frame: `info args`, `bt`, `next` and
    `finish` are as at a breakpoint.

      -exit  stop at the call's end

    The hooks count the calls, so the way there takes as long as recording
    it.  Break- and catchpoints are disabled and rows are not shown until
    then.  The calls that are open there are compared with the record's: what
    depends on time, input or other threads may come otherwise, and then
    cstrace says where the runs differ.  Each thread's calls are counted on
    their own."""

    name = "cstrace goto"
    options = [Option("exit", None)]

    def run(self, values: dict[str, Any], rest: str) -> None:
        id, more = options.first_word(rest)
        options.no_more(more, self.name)
        if not id:
            raise gdb.GdbError("cstrace goto: which call?  As in: "
                               "cstrace goto 1.42")
        self.session.goto.start(id, "exit" in values)
