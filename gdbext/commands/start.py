# SPDX-License-Identifier: MIT

from __future__ import annotations

import os
import re
from typing import Any, Optional

import gdb

from .. import engine
from ..process import plans
from ..session import mistakes
from ..ui import options
from ..ui.options import Option
from ..session.start_options import StartOptions
from .base import CHOICE, RANGE, WHERE, TraceCommand, choice_of

USUAL_FLIGHT = 16 << 20


class StartCommand(TraceCommand):
    """Begin to trace calls.

    Usage: cstrace start [-sync] [-depth N] [-filter REGEX]
                         [-exclude REGEX] [-in FILE] [-module M]
                         [-from FUNCTION] [-until FUNCTION] [-min-time T]
                         [-where CONDITION] [-keep-depth N] [-keep-time T]
                         [-keep-size N] [-no-args] [-flight [SIZE]]
                         [-patch | -hooks] [-functions REGEX]
                         [-modules REGEX] [-border] [-to FILE]

    Before `run`, the trace begins with the program; each further `run`
    begins a new one.  In a stopped program it begins there, with the calls
    that are open in every thread.  Files that were compiled without the hooks
    are patched in memory: the program and its libraries, but for those in the
    system's folders.  That begins with `run`.
    What the program forks, spawns and execs is in the same trace.
    A program of gdbserver must have been started with libcstrace.so; where it
    was not, this command says how to.

      -sync           show each call before its function goes on: exact order
                      with the program's own output, at a price for each call
                      (see `help set cstrace sync-method`)
      -depth N        show only N levels of calls (0: all)
      -filter REGEX   show only these functions and what they call
      -exclude REGEX  do not record these functions
      -in FILE        show only functions defined in this source file
      -module M       show only functions of this library or program
      -from FUNCTION  show nothing before the first call of this one
      -until FUNCTION   and nothing behind the first call of this one then,
                      which is the last row
      -min-time T     show only calls that last T (10us, 1.5ms, 2s) or longer
      -where CONDITION  show only calls with such arguments, each in a row:
                      'parse.base == 16'; arguments are recorded then, as
                      with `set cstrace args on`
      -keep-depth N   do not record calls below N levels of their stack
      -keep-time T    do not record calls of less than T
      -keep-size N    do not record functions of less than N bytes of code;
                      or -size N
      -no-args        record no arguments and results, whatever `set cstrace
                      args` and `results` say
      -flight [SIZE]  keep the newest calls only, so many bytes of them (16M),
                      in memory, as a flight recorder does; the last of them
                      are shown when a signal kills the program, those of any
                      moment by `cstrace show -last 200`
      -patch          patch all functions without hooks, also those of files
                      that have some (see `help set cstrace road`)
      -hooks          patch none: only functions with hooks are traced
      -functions REGEX  of functions without hooks only these are patched
      -modules REGEX  patch such libraries of the system's folders, too
      -border         also trace calls of traced functions into libraries that
                      are not traced, as malloc(), write()
      -to FILE        save there when the trace ends

    REGEX is a function's name as rows have it; else the last part of one
    (`order` of Shop::order); else a regular expression, searched in names
    without parameters (with `set cstrace names full` in those with them), as
    is /REGEX/ in any case.  But for -exclude and -keep, options choose what
    is shown and saved; all is recorded, `cstrace show -all` has it.  What
    is not given here is as `set cstrace filter`, `exclude`, `depth`,
    `min-time`, `in` and `module` have it.

    While a trace is on, options of this command act on it at once, and those
    that choose what is shown on what it has recorded, too."""

    name = "cstrace start"
    options = [Option("sync", None),
               *(o for o in CHOICE if o is not RANGE),
               WHERE,
               Option("keep-depth", options.read_count),
               Option("keep-time", options.read_time_ns),
               Option("keep-size", options.read_count),
               Option("size", options.read_count),
               Option("no-args", None),
               Option("flight", options.read_flight, default=USUAL_FLIGHT),
               Option("patch", None),
               Option("hooks", None),
               Option("functions", options.read_function,
                      gdb.COMPLETE_SYMBOL),
               Option("modules", options.read_text, mistakes.module_names),
               Option("border", None),
               Option("to", options.read_text, gdb.COMPLETE_FILENAME)]

    def run(self, values: dict[str, Any], rest: str) -> None:
        options.no_more(rest, self.name)
        to = values.get("to")
        if to is not None:
            to = os.path.abspath(os.path.expanduser(to))
            _check_target(to)
        for name in ("from", "until"):
            if values.get(name, "")[:1].isdigit():
                raise gdb.GdbError("-%s wants a function, not \"%s\": no call "
                                   "has a number yet" % (name, values[name]))
        _check_where(values.get("where"))
        if "size" in values:
            values["keep_size"] = values["size"]
        self.session.start(StartOptions(
            sync="sync" in values, to=to, no_args="no_args" in values,
            road=_road(values), functions=values.get("functions"),
            modules=values.get("modules"),
            border="border" in values or None,
            flight_bytes=values.get("flight", 0), **choice_of(
                values, ("keep_depth", "keep_time", "keep_size"))))


def _road(values: dict[str, Any]) -> Optional[str]:
    """None: as the setting has it."""
    if "hooks" in values and ("patch" in values or "functions" in values
                              or "modules" in values):
        raise gdb.GdbError("-hooks leaves nothing to patch: it goes neither "
                           "with -patch nor with -functions and -modules")
    return next((road for road in plans.ROADS if road in values), None)


def _check_where(where: Optional[str]) -> None:
    """Rows are written when calls begin."""
    if where is None:
        return
    engine.check_condition(where)
    bare = re.sub(r"\"[^\"]*\"|'[^']*'", "", where)
    if re.search(r"\bresult\b", bare):
        raise gdb.GdbError("cstrace start: what a call returns is not known "
                           "when its row is written: `cstrace show -where` "
                           "knows it")


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
