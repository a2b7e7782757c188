# SPDX-License-Identifier: MIT
"""The trace that a recorder has written of the program of a core file: the core
itself has the calls of programs that ran without a reader only."""

from __future__ import annotations

import glob
import os
from typing import Iterator, Optional

import gdb

from ..engine import CstraceError
from ..trace import Trace
from ..ui.console import say
from . import kept_traces

_MOST_FILES = 50
_SLACK_S = 60  # the recorder ends the trace when the kernel writes the core


def _candidates(core: str) -> Iterator[str]:
    """Traces that are no older than the core, the newest first: beside the
    core, in this folder, and those that gdbs left."""
    folders = {os.path.dirname(os.path.abspath(core)), os.getcwd()}
    paths = [left.path for left in kept_traces.find()]
    for folder in folders:
        paths += glob.glob(os.path.join(glob.escape(folder), "*.cst"))
    written = {p: os.path.getmtime(p) for p in paths if os.path.isfile(p)}
    oldest = os.path.getmtime(core) - _SLACK_S
    newest = sorted(written, key=lambda p: -written[p])[:_MOST_FILES]
    yield from (p for p in newest if written[p] >= oldest)


def _is_of(path: str, program: str, tid: int) -> bool:
    """Whether it has calls of that thread, and of this program."""
    try:
        trace = Trace.load(path)
    except CstraceError:
        return False
    command = trace.command().split()
    is_of = (bool(command) and os.path.basename(command[0]) == program
             and any(t.tid == tid for t in trace.threads()))
    trace.free()
    return is_of


def _find(core: str) -> Optional[str]:
    thread = gdb.selected_thread()
    program = os.path.basename(gdb.current_progspace().filename or "")
    if thread is None or not os.path.exists(core):
        return None
    return next((p for p in _candidates(core)
                 if _is_of(p, program, thread.ptid[1])), None)


def path_for(core: str) -> str:
    """The core that gdb has open, if calls are in it, or the trace that has
    them."""
    try:
        Trace.load(core).free()
    except CstraceError:
        path = _find(core)
        if path is None:
            raise
        say("the program of %s was recorded: its calls are in %s"
            % (core, path))
        return path
    return core
