# SPDX-License-Identifier: MIT

from __future__ import annotations

import os
from typing import Any

import gdb

from .. import engine, options
from ..options import Option
from ..session import StartOptions
from .base import DEPTH, EXCLUDE, FILTER, MIN_TIME, TraceCommand


class StartCommand(TraceCommand):
    """Begin to trace calls.

    Usage: cstrace start [-sync] [-depth N] [-filter REGEX]
                         [-exclude REGEX] [-min-time T] [-to FILE]

    Before `run`, the trace begins with the program; each further `run`
    begins a new one.  In a stopped program it begins there, with the calls
    that are open in every thread.
    What the program forks, spawns and execs is in the same trace.

      -sync           show each call before its function goes on: exact order
                      with the program's own output, at a price for each call
                      (see `help set cstrace sync-method`)
      -depth N        show only N levels of calls (0: all)
      -filter REGEX   show only these functions and what they call
      -exclude REGEX  do not record these functions
      -min-time T     show only calls that last T (10us, 1.5ms, 2s) or longer
      -to FILE        save there when the trace ends

    REGEX is searched in the demangled name.  -depth, -filter and -min-time
    choose what is shown and saved; all is recorded, `cstrace show -all` has
    it."""

    name = "cstrace start"
    options = [Option("sync", None), DEPTH, FILTER, EXCLUDE, MIN_TIME,
               Option("to", options.read_text, gdb.COMPLETE_FILENAME)]

    def run(self, values: dict[str, Any], rest: str) -> None:
        options.no_more(rest, self.name)
        to = values.get("to")
        if to is not None:
            to = os.path.abspath(os.path.expanduser(to))
            _check_target(to)
        self.session.start(StartOptions(
            sync="sync" in values, depth=values.get("depth", 0),
            filter=values.get("filter"), exclude=values.get("exclude"),
            min_ns=values.get("min_time", 0), to=to))


def _check_target(path: str) -> None:
    """Say now, not at the end, that the file will not be written."""
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise gdb.GdbError("cannot save to %s: there is no folder %s"
                           % (path, folder))
    if not os.access(folder, os.W_OK):
        raise gdb.GdbError("cannot save to %s: no permission to write in %s"
                           % (path, folder))
    formats = engine.formats()
    if os.path.splitext(path)[1][1:].lower() not in formats:
        raise gdb.GdbError("cannot tell a format from %s: let it end in %s"
                           % (path, " or ".join("." + f for f in formats)))
