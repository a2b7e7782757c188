# SPDX-License-Identifier: MIT

from __future__ import annotations

from typing import Any

import gdb

from .. import requests
from ..answers import Thread
from ..ui import options
from ..ui.console import run_long
from ..ui.options import Option
from .base import ALL, NAMES, TraceCommand

_LAST = 5


class HereCommand(TraceCommand):
    """Show the selected thread's open calls, and its last ones.

    Usage: cstrace here [-last N] [-all] [-names simple|full]

    First the calls that are open, the outermost first, each with its ID and
    the time that it has taken so far; then the last calls that have returned
    before this point, which `backtrace` cannot show.  For another thread:
    `thread 2`, then `cstrace here`.

      -last N      only the last N calls that have returned (5; 0: none)
      -all         all calls, whatever `cstrace start` and the settings say
      -names full  with parameters and templates' arguments"""

    name = "cstrace here"
    options = [Option("last", options.read_count), ALL, NAMES]

    def run(self, values: dict[str, Any], rest: str) -> None:
        options.no_more(rest, self.name)
        recording = self.session.recording
        thread = gdb.selected_thread()
        if recording is None or not recording.is_on:
            raise gdb.GdbError("nothing is being recorded: `cstrace show` has "
                               "what was")
        if thread is None or not thread.is_stopped():
            raise gdb.GdbError("the selected thread does not stand still: "
                               "`interrupt` stops it")
        recording.take_all()
        own: dict[str, Any] = {"is_all": True} if "all" in values else {}
        if "names" in values:
            own["names"] = values["names"]
        choice = self.session.choice(**own)
        look = self.session.report_look()
        look.names = choice.names
        recorder = recording.recorder
        n, made_calls = run_long(lambda write: recorder.here(
            thread.ptid[1], look, choice, write))
        if made_calls is None:
            raise gdb.GdbError("thread %d has made no calls that are "
                               "recorded" % thread.num)
        if not n:
            hidden = "" if "all" in values else self.session.standing_text()
            gdb.write("# no open call is shown (%s); -all shows those that are "
                      "hidden\n" % hidden if hidden else "# no call is open\n")
        self._write_last(values.get("last", _LAST), look, own, made_calls)

    def _write_last(self, last: int, look: requests.Look, own: dict[str, Any],
                    thread: Thread) -> None:
        choice = self.session.choice(process=thread.process,
                                     thread=thread.thread, last=last, **own)
        if not last:
            return
        trace = self.session.trace()
        look.thread = False
        calls = requests.Calls(None, is_ended=True)
        gdb.write("# The last calls before this point\n")
        if not run_long(lambda write: trace.calls(calls, look, choice, write)):
            gdb.write("# none has returned\n")
