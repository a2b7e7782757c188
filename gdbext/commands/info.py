# SPDX-License-Identifier: MIT

from __future__ import annotations

from typing import Any

import gdb

from ..ui import options
from ..ui.console import run_long
from .base import FORMAT, TraceCommand


class InfoCommand(TraceCommand):
    """Say what the trace holds.

    Usage: cstrace info [-format text|json|csv]

    The command that was recorded, how many calls, threads and functions,
    what was lost, and which files the names are from.

      -format F   for programs: numbers without units, times in nanoseconds"""

    name = "cstrace info"
    options = [FORMAT]

    def run(self, values: dict[str, Any], rest: str) -> None:
        options.no_more(rest, self.name)
        trace = self.session.trace()
        output = values.get("format", "text")
        run_long(lambda write: trace.info(output, write))
        if output != "text":
            return
        if trace is self.session.loaded and not trace.is_complete():
            gdb.write("complete    no: the file was cut short, or is being "
                      "written\n")
