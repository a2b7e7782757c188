# SPDX-License-Identifier: MIT
"""What hits at which the program does not stop cost: the time of gdb's own
thread."""

from __future__ import annotations

import time

import gdb

# gdb's own work on a stop takes less; what is more than this before a hit was
# for something else, such as a prompt, or symbols.
_STOP_MAX_NS = 500_000


class HitClock:
    """One for hits that are at most one after the other."""

    def __init__(self) -> None:
        # This thread's time at the end of the last hit: what gdb does from
        # there to the end of the next one is for that one.  0: the program
        # stood still in between.
        self._base_ns = 0

    def connect(self) -> None:
        gdb.events.cont.connect(self._resumed)

    def disconnect(self) -> None:
        gdb.events.cont.disconnect(self._resumed)

    def _resumed(self, _event: gdb.ContinueEvent) -> None:
        self._base_ns = 0

    def begin(self) -> None:
        """A hit begins."""
        now = time.thread_time_ns()
        self._base_ns = max(self._base_ns or now, now - _STOP_MAX_NS)

    def end(self) -> int:
        """It ends: returns what it has cost."""
        now = time.thread_time_ns()
        cost_ns, self._base_ns = now - self._base_ns, now
        return cost_ns
