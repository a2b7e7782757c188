# SPDX-License-Identifier: MIT

from __future__ import annotations

from typing import Any

import gdb

from .. import options
from ..console import run_long
from .base import TraceCommand


class InfoCommand(TraceCommand):
    """Say what the trace holds.

    Usage: cstrace info

    The command that was recorded, how many calls, threads and functions,
    what was lost, and which files the names are from."""

    name = "cstrace info"

    def run(self, values: dict[str, Any], rest: str) -> None:
        options.no_more(rest, self.name)
        trace = self.session.trace()
        run_long(trace.info)
        if trace is self.session.loaded and not trace.is_whole():
            gdb.write("whole       no: the file was cut short, or is being "
                      "written\n")
