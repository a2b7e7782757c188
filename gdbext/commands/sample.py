# SPDX-License-Identifier: MIT

from __future__ import annotations

from typing import Any

import gdb

from .. import requests
from ..ui import options
from ..ui.console import run_long
from ..ui.options import Option
from ..session.start_options import Sampling
from .base import TraceCommand

_WORDS = ["status", "stop"]
_TOP = 10
USUAL_HZ = 997  # a prime: no rhythm of the program's


class SampleCommand(TraceCommand):
    """Take samples of where the program is; it needs no hooks.

    Usage: cstrace sample [-hz N] [-cpu | -wall] [-for T]
           cstrace sample status
           cstrace sample stop

    Before `run`, samples are taken from the program's begin on; in a stopped
    program, from the next `continue`.  With `cstrace start` they go into the
    trace of the calls, else into a trace of their own.

    `cstrace report` then says where the time went (-samples, where there are
    calls, too), `cstrace graph` by whom that was called, and `cstrace save`
    makes a page, a flame graph or pprof's .pb.gz of it.

      -hz N    so many a second, of each thread (997)
      -cpu     of the time for which a thread has a processor: the default
      -wall    of the time on the clock: where threads wait, too
      -for T   end after so long, as in 10s
      status   the functions that took most time so far, and where each thread
               was at its last sample
      stop     end, and keep what was taken"""

    name = "cstrace sample"
    rest = _WORDS
    options = [Option("hz", options.read_count), Option("cpu", None),
               Option("wall", None), Option("for", options.read_time_ns)]

    def run(self, values: dict[str, Any], rest: str) -> None:
        word = rest.strip()
        if word and word not in _WORDS:
            raise gdb.GdbError('cstrace sample: "%s" is too much; there is %s'
                               % (word, " and ".join(_WORDS)))
        if word and values:
            raise gdb.GdbError("cstrace sample %s takes no options" % word)
        if "cpu" in values and "wall" in values:
            raise gdb.GdbError("either -cpu or -wall")
        if word == "stop":
            self.session.samples.stop()
        elif word == "status":
            self._status()
        else:
            hz = values.get("hz", USUAL_HZ)
            if not 0 < hz <= 20000:
                raise gdb.GdbError("-hz wants a number from 1 to 20000, not "
                                   "%d" % hz)
            self.session.samples.start(Sampling(hz, "wall" in values,
                                         values.get("for", 0)))

    def _status(self) -> None:
        trace = self.session.trace()
        if not trace.status().n_samples:
            raise gdb.GdbError("no samples yet")
        choice = self.session.choice(samples=True)
        report = requests.Report(limit=_TOP, fields="self,total,share,error")
        run_long(lambda write: trace.report(report, choice, write))
        gdb.write("\n")
        run_long(lambda write: trace.stacks(choice, write))
