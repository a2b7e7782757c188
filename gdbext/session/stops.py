# SPDX-License-Identifier: MIT
"""The conditions at which the hooks are to stop the program: kept from run to
run, and written into each process that is recorded."""

from __future__ import annotations

from typing import Callable, Optional

import gdb

from ..breakpoints.landing import Hit, Question, StopBreakpoint
from ..breakpoints.unpatched_end import UnpatchedEnds
from ..engine import CstraceError, Tester
from ..process.patches import Patches
from ..process.stop_table import MOST, Condition, StopTable
from ..ui.console import say

# Returns the condition of a place for the process that is there now; None: the
# process has no such function so far.
Resolve = Callable[[], Optional[Condition]]
Landed = Callable[[Hit], None]


class Stops:
    """Places 0 to MOST - 1, each free or with a condition."""

    def __init__(self, patches: Patches) -> None:
        self.standing = patches.standing
        self._ends = UnpatchedEnds(patches)
        self._resolve: dict[int, Resolve] = {}
        self._landed: dict[int, Landed] = {}
        # What is done at a hit where the program goes on by itself.
        self._passed: dict[int, Landed] = {}
        self._begun: list[Callable[[], None]] = []
        self._fresh: set[int] = set()
        self._process: Optional[StopTable] = None
        self._breakpoint: Optional[StopBreakpoint] = None
        self._hit: Optional[Hit] = None
        self._conditions: dict[int, Condition] = {}  # of the process
        self._tester: Optional[Tester] = None  # of its files
        self._reported: set[tuple[int, str]] = set()

    def add(self, resolve: Resolve, landed: Landed,
            passes: bool = False) -> int:
        """Returns the place of a condition; landed() is called when the
        session has stopped for it or, with `passes`, at the hit, in the hook:
        the program goes on then."""
        for place in range(MOST):
            if place not in self._resolve:
                break
        else:
            raise gdb.GdbError("there are %d conditions already" % MOST)
        self._resolve[place] = resolve
        (self._passed if passes else self._landed)[place] = landed
        self._fresh.add(place)
        try:
            self.refresh()
        except BaseException:
            self.remove(place)
            raise
        return place

    def remove(self, place: int) -> None:
        self._resolve.pop(place, None)
        self._landed.pop(place, None)
        self._passed.pop(place, None)
        self.standing.expect_no_more(place)
        self.refresh()

    def silence(self, place: int) -> None:
        """No more hits of this one from here on, though the program may be
        running; its condition must be None then."""
        if self._process is not None:
            self._process.silence(place)

    def at_begin(self, call: Callable[[], None]) -> None:
        """Has a function called when a process begins to be recorded."""
        self._begun.append(call)

    # ---- the process -----------------------------------------------------------

    def begin(self) -> None:
        """The selected process is recorded from here on."""
        self._process = StopTable.find()
        self._reported.clear()
        self._fresh = set(self._resolve)
        for call in self._begun:
            call()
        self.refresh()

    def end(self) -> None:
        """It is recorded no longer, or has ended."""
        process, self._process = self._process, None
        if process is not None:
            try:
                process.write({})
            except OSError:
                pass  # it is gone
        self._delete_breakpoint()
        self._close_tester()

    def refresh(self) -> None:
        """Conditions, or the functions that there are, have changed."""
        if self._process is None:
            return
        conditions = {}
        for place, resolve in self._resolve.items():
            condition = resolve()
            if condition is not None:
                conditions[place] = condition
        if not conditions and self._breakpoint is None:
            return
        self._conditions = conditions
        self._close_tester()  # files may have come
        self._process.write(conditions, self._fresh)
        self._fresh -= conditions.keys()
        if not conditions:
            self._delete_breakpoint()
        elif self._breakpoint is None:
            self._breakpoint = StopBreakpoint(
                gdb.selected_inferior().pid, self.standing, self._wants,
                self._has_landed, self._asked)
        if self._breakpoint is not None:
            self._ends.set({f for c in conditions.values() if c.needs_end()
                            for f in c.called}, self._breakpoint,
                           self._has_landed)

    def _delete_breakpoint(self) -> None:
        self._ends.clear()
        b, self._breakpoint = self._breakpoint, None
        if b is not None and b.is_valid():
            b.delete()

    def n_true(self, place: int) -> Optional[int]:
        """How often the condition was true; None: the program is gone."""
        if self._process is None:
            return None
        try:
            return self._process.counts()[place][0]
        except OSError:
            return None

    # ---- values ----------------------------------------------------------------

    def _close_tester(self) -> None:
        tester, self._tester = self._tester, None
        if tester is not None:
            tester.close()

    def _asked(self, q: Question) -> None:
        """A hook wants to know how a condition's values are compared."""
        process, condition = self._process, self._conditions.get(q.place)
        if process is None or condition is None:
            return
        text = condition.returns if q.is_exit else condition.where
        try:
            if self._tester is None:
                self._tester = Tester(process.pid)
            tests = self._tester.tests(text, q.callee, q.is_exit, q.hook)
            if not process.answer(q.place, q.hook, tests):
                raise CstraceError("the conditions are looked at in too many "
                                   "places of the program")
        except CstraceError as e:
            process.answer(q.place, q.hook, ())
            if (q.place, str(e)) not in self._reported:
                self._reported.add((q.place, str(e)))
                say("%s: in some calls it is not decided: %s" % (
                    condition.title, e))

    # ---- hits --------------------------------------------------------------------

    def _wants(self, hit: Hit) -> bool:
        """Is the program to stop?"""
        if hit.place in self._passed:
            self._passed[hit.place](hit)
        return hit.place in self._landed

    def _has_landed(self, hit: Hit) -> None:
        self._hit = hit

    def tell(self) -> None:
        """The session has stopped: calls landed(), if it is for a condition."""
        hit, self._hit = self._hit, None
        if hit is not None and hit.place in self._landed:
            has_left = self.standing.settle(is_users=True)
            self._landed[hit.place](hit._replace(has_left=has_left))
