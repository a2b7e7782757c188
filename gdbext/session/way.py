# SPDX-License-Identifier: MIT
"""On the way to a recorded call: the program runs again, without rows and
without the user's breakpoints, up to that call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

import gdb

from .. import _abi as abi, engine
from ..breakpoints.landing import Hit
from ..answers import Parting, Way
from ..engine import CstraceError
from ..trace import Trace
from ..process import hooks
from ..process.connection import connection_name
from ..process.stop_table import Condition
from ..ui.console import plain, say
from ..ui.words import count

if TYPE_CHECKING:
    from .session import Session

_UNKNOWN = -1
_MOST_LOOKS = 1000  # for the call among rows of logpoints


def refusal(way: Way) -> Optional[str]:
    """Why no run comes to this call, from what the record has of it."""
    if way.process > 1:
        return ("%s is a call of another process, or after an exec: gdb can "
                "run only the first program again" % way.id)
    if way.kind:
        return ("%s is no call, but \"%s\": take the ID of the call that it "
                "stands in" % (way.id, plain(way.name)))
    if way.module is None:
        return "nothing tells which file %s is in" % plain(way.name)
    now, then = engine.build_id(file_of(way) or ""), way.build_id
    if now and then and now != then:
        return ("%s has been built anew since the record: run it again first"
                % file_of(way))
    return None


def file_of(way: Way) -> Optional[str]:
    """The object file of the call's function, here."""
    program = hooks.program()
    if way.module and program and (way.module.rpartition("/")[2]
                                   == program.rpartition("/")[2]):
        return program
    return way.module


class OnTheWay:
    """From the command to the stop in the call, or to the program's end."""

    def __init__(self, session: Session, way: Way, is_exit: bool,
                 is_complete: bool) -> None:
        self._session = session
        self.way = way
        self._is_exit = is_exit
        # Nobody knows which functions were left out of the record.
        self._is_complete = is_complete
        self._place = _UNKNOWN
        self._disabled: list[gdb.Breakpoint] = []

    # ---- the condition -------------------------------------------------------

    def _condition(self) -> Optional[Condition]:
        way = self.way
        flags = abi.CST_STOP_ON
        if self._is_exit:
            flags |= abi.CST_STOP_AT_EXIT
        if not self._is_complete:
            return Condition(is_any=True, flags=flags,
                                   thread=way.thread, nth=way.nth_call)
        base = hooks.load_address(file_of(way) or "")
        if base is None:
            return None  # the library is not there so far
        return Condition(called=frozenset({base + way.file_addr}),
                               flags=flags, thread=way.thread, nth=way.nth)

    # ---- begin and end ---------------------------------------------------------

    def begin(self) -> None:
        self._place = self._session.stops.add(self._condition, self._arrived)
        for b in gdb.breakpoints():
            if b.enabled and b.visible:
                b.enabled = False
                self._disabled.append(b)

    def rest(self) -> None:
        """The program stands still: the user's breakpoints are back."""
        disabled, self._disabled = self._disabled, []
        for b in disabled:
            if b.is_valid():
                b.enabled = True

    def end(self) -> None:
        self.rest()
        if self._place != _UNKNOWN:
            self._session.stops.remove(self._place)
        self._place = _UNKNOWN
        self._session.goto.way = None

    # ---- what came of it ---------------------------------------------------------

    def _arrived(self, hit: Hit) -> None:
        session, way = self._session, self.way
        self.end()
        try:
            line = self._compared(session.trace(), hit)
        except (CstraceError, gdb.GdbError) as e:
            line = "%s: %s" % (way.name, e)
        n = len(gdb.selected_inferior().threads())
        if n > 1:
            line += "; the other %s may stand elsewhere than then" % (
                "thread" if n == 2 else "%d threads" % (n - 1))
        say(line)
        gdb.execute("frame")

    def _compared(self, now: Trace, hit: Hit) -> str:
        """How this run got here, against the record."""
        way = self.way
        what = "%s %s%s" % (way.id, plain(way.name),
                            ", which has returned" if hit.has_left else
                            ", at its end" if self._is_exit else "")
        here = self._call_here(now)
        if here.path == way.path and here.nth_call == way.nth_call:
            return "in %s%s" % (what, "" if here.id == way.id else
                                "; it is %s in this run" % here.id)
        parting = self._parting(now)
        return ("not %s as recorded, but %s %s, %s: %s" % (
            way.id, here.id, plain(here.name),
            "called by other functions" if here.path != way.path
            else "the same path of calls",
            parting or "nothing tells why"))

    def _call_here(self, now: Trace) -> Way:
        """The call that the program is in.  At its begin it is the newest one.
        At its end others came behind it: then it is the one with as many calls
        before it.  Rows of logpoints have IDs, too, but count as no calls."""
        thread = self.way.thread
        newest = now.newest(1, thread)
        number = int(self.way.id.rpartition(".")[2])
        is_sought = self._is_exit and self._is_complete
        if self._is_complete:
            number = min(number, newest) if self._is_exit else newest
        for _ in range(_MOST_LOOKS):
            here = now.way("%d.%d" % (thread, number))
            off = self.way.nth_call - here.nth_call if is_sought else 0
            if here.kind and off <= 0:
                off = -1
            if not off or number + off < 1 or (
                    is_sought and number + off > newest):
                break
            number += off
        return here

    def _parting(self, now: Trace) -> str:
        then = self._session.goto.reference
        found = then and then.parting(now, 1, self.way.thread)
        if not found:
            return ""
        return parting_text(found)

    def ended(self, now: Trace) -> None:
        """The program has ended without it."""
        self.end()
        way = self.way
        parting = self._parting(now)
        say("the run ended before %s %s%s" % (
            way.id, plain(way.name), ": " + parting if parting else ""))


class Goto:
    """`cstrace goto`: the way under way, and the record that it was found in."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.way: Optional[OnTheWay] = None
        self.is_under_way = False  # the program runs on that way
        self.reference: Optional[Trace] = None

    def _trace_of(self, id: str) -> Trace:
        """The trace that there is or, if that is of a run up to some call, the
        one before it."""
        session = self._session
        trace = session.trace()
        if self.reference is None or (
                trace.has_call(id) and not session.process_record.has_left_gap):
            return trace
        return self.reference

    def start(self, id: str, is_exit: bool) -> None:
        """Runs the program again, up to this call."""
        session = self._session
        trace = self._trace_of(id)
        way = trace.way(id)
        wrong = refusal(way) or self._program_refusal(trace, way.thread)
        if wrong:
            raise gdb.GdbError(wrong)
        status = trace.status()
        if not session.is_on():
            session.start(session.last_options._replace(to=None))
        if self.way is not None:
            self.way.end()
        self.way = OnTheWay(session, way, is_exit, not status.losses.n_dropped)
        self.is_under_way = False
        try:
            self.way.begin()
            gdb.execute("run", from_tty=True)
        except BaseException:
            if self.way is not None:
                self.way.end()
            raise
        if self.way is not None:
            self.way.rest()
            say("stopped on the way to %s: `continue` goes on to it" % id)

    def _program_refusal(self, trace: Trace, thread: int) -> Optional[str]:
        session = self._session
        if connection_name() == "remote":
            return ("gdb cannot run the program of `target remote` again: "
                    "`target extended-remote` and `run` can")
        if gdb.selected_inferior().was_attached:
            return "gdb has not run this program, and so cannot run it again"
        if (trace.has_call("%d.s1" % thread) or session.has_begun_midway
                and trace is not session.loaded):
            return ("the trace began in the middle of the program: nothing "
                    "counts the calls before it")
        if (session.process_record.has_left_gap and trace is not self.reference
                and trace is not session.loaded):
            return ("no calls were recorded while gdb recorded the program: "
                    "nothing counts those")
        path = hooks.program()
        if path is None:
            return "gdb has no program to run: `file` names it"
        if hooks.has_own_hooks(path) or not (
                hooks.links_shim(path) or session.preload.install()):
            return ("libcstrace.so cannot get into %s, and breakpoints on its "
                    "own hooks do not count" % path)
        return None

    def program_ended(self, now: Trace) -> None:
        """The program has ended on the way to a call, unless it was killed to
        begin it."""
        if self.is_under_way and self.way is not None:
            self.way.ended(now)

    def refer_to(self, old: Trace) -> None:
        """A run up to some call has fewer calls than the one before it."""
        known = self.reference
        if known is not None and (
                self._session.process_record.has_left_gap
                or known.status().n_calls > old.status().n_calls):
            old.free()
            return
        self.forget_reference()
        self.reference = old

    def forget_reference(self) -> None:
        old, self.reference = self.reference, None
        if old is not None:
            old.free()


def parting_text(p: Parting) -> str:
    """"the runs differ after 12 equal calls: then 1.13 parse, now 1.13 eval"."""
    def side(id: str, name: Optional[str]) -> str:
        return "%s %s" % (id, plain(name)) if name else "no more calls"

    return "the runs differ after %s: then %s, now %s" % (
        count(p.n_equal, "equal call"), side(p.id_a, p.name_a),
        side(p.id_b, p.name_b))
