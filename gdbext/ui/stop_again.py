# SPDX-License-Identifier: MIT
"""A stop in a trampoline, after the thread was set back to the function's own
place.  gdb has not seen the thread stop there: behind a fault `info program` would
have the trampoline's address, and where an inlined call begins, `bt` would have that
call's frame, too; behind a step gdb would take the place for another function's.  So
the thread stops again, and what gdb prints of that is read, as it would name a
signal twice."""

from __future__ import annotations

import contextlib
import re
import signal
from typing import Iterator, Optional

import gdb

from .. import engine, gdb_setting
from ..process import inferior_call
from ..process.instruction_steps import UnseenEnd
from ..process.patches import Patches
from ..process.shown_place import ShownPlaces
from . import captured
from .captured import Printed
from .console import is_mi, say

# These come again with their instruction; others are raised behind it.
_FAULTS = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL")
_SAVED = "_cstrace_signal"  # gdb's variable
_ROOM = 16384  # bytes of stack that are surely enough for the shim
_OWN = re.compile(r"^Breakpoint -\d+, ", re.M)


def _is_fault(name: str) -> bool:
    """Has an instruction raised it?  A process may have sent it."""
    try:
        return name in _FAULTS and int(
            gdb.parse_and_eval("$_siginfo.si_code")) > 0
    except gdb.error:
        return False


def _at(address: int) -> list[gdb.Breakpoint]:
    """The user's breakpoints there that are on."""
    return [b for b in gdb.breakpoints() if b.is_valid() and b.enabled and any(
        at.address == address for at in getattr(b, "locations", ()))]


@contextlib.contextmanager
def _off(breakpoints: list[gdb.Breakpoint]) -> Iterator[None]:
    """They are, and were on."""
    for b in breakpoints:
        b.enabled = False
    try:
        yield
    finally:
        for b in breakpoints:
            if b.is_valid():
                b.enabled = True


@contextlib.contextmanager
def _alone(address: Optional[int]) -> Iterator[None]:
    """No other thread goes on, and those of the user's breakpoints are off that
    the thread has hit before, at that address."""
    with _off(_at(address) if address else []), (
            gdb_setting.changed("scheduler-locking", "on")):
        yield


@contextlib.contextmanager
def _signal_kept() -> Iterator[None]:
    """What is known of the signal that has stopped the thread, as the address."""
    gdb.set_convenience_variable(_SAVED, gdb.parse_and_eval("$_siginfo"))
    try:
        yield
    finally:
        with contextlib.suppress(gdb.error):  # the process is gone
            gdb.execute("set var $_siginfo = $" + _SAVED, to_string=True)
        gdb.set_convenience_variable(_SAVED, None)


def _sent(name: str, command: str) -> Printed:
    """Executes the command with that signal pending, which stops the selected
    thread before it executes anything."""
    tid = gdb.selected_thread().ptid[1]
    at = engine.thread_registers(tid)
    if at is None:
        return Printed("")
    with engine.thread_signal(tid, signal.Signals[name], at) as is_sent:
        return captured.printed(command) if is_sent else Printed("")


def _raised_in_call(name: str, pc: int) -> Printed:
    """gdb calls this very place, and gives the thread back all that it has had
    before.  A command that lets the thread go on would lose gdb's account of the
    call that is under way."""
    with inferior_call.undone():
        return _sent(name, "call ((void (*)(void)) %#x)()" % pc)


def raise_again(name: str, is_called: bool, shown: ShownPlaces) -> (
        Optional[Printed]):
    """At a stop by that signal: the selected thread has it again, in a function
    that gdb calls if is_called.  Returns where gdb says that it is; None: gdb is
    about to say it."""
    if not _is_fault(name) or not captured.is_possible():
        return None
    pc = int(gdb.newest_frame().pc())
    with _alone(pc), shown.really_there():
        if is_called:
            return _raised_in_call(name, pc)
        if shown.has_selected():
            with _signal_kept():
                return _sent(name, "signal 0")
        return captured.printed("signal 0")


class _Survived(gdb.FinishBreakpoint):
    """Where the stack has room again, if the program comes back to there: it has
    had enough for itself."""

    def __init__(self) -> None:
        frame = gdb.newest_frame()
        end = int(frame.read_register("rsp")) + _ROOM
        while int(frame.read_register("rsp")) < end:
            older = frame.older()
            if older is None or not older.older():
                break
            frame = older
        super().__init__(frame, internal=True)
        self.is_hit = False

    def stop(self) -> bool:
        self.is_hit = True
        return True

    def out_of_scope(self) -> None:
        pass


def fault_alone(name: str, patches: Patches) -> Optional[Printed]:
    """At that signal, where the selected thread's stack has ended in the shim:
    without patches it goes on for some calls, to where it ends for the program
    alone.  Returns the like; None: the thread has stayed."""
    if (not _is_fault(name) or not captured.is_possible()
            or len(gdb.selected_inferior().threads()) != 1):
        return None
    try:
        end = _Survived()
    except (ValueError, gdb.error):
        return None
    users = [b for b in gdb.breakpoints() if b.enabled and b.visible]
    with _off(users), patches.own_code():
        printed = captured.printed("signal 0")
    if end.is_hit:
        say("the stack had no room for the recorder: without it the program has "
            "gone on to here; `continue`")
        printed = printed._replace(text=_OWN.sub("", printed.text))
    if end.is_valid():
        end.delete()
    return printed


def select_visible() -> None:
    """Selects the frame that gdb alone would show behind a signal: that of no
    inlined call whose code begins there."""
    frame = gdb.newest_frame()
    pc = frame.pc()
    while frame.type() == gdb.INLINE_FRAME and _begins(frame, pc):
        frame = frame.older()
    frame.select()


def _begins(frame: gdb.Frame, pc: int) -> bool:
    block = frame.block()
    while block.function is None:
        block = block.superblock
    before = gdb.block_for_pc(pc - 1)
    while before is not None and (before.start, before.end) != (
            block.start, block.end):
        before = before.superblock
    return block.start == pc or before is None


def _stops(address: int) -> bool:
    """Does gdb stop at a breakpoint of the user's there?"""
    return any(not b.condition and not b.ignore_count and b.type in (
        gdb.BP_BREAKPOINT, gdb.BP_HARDWARE_BREAKPOINT) for b in _at(address))


def step_again(end: UnseenEnd, shown: ShownPlaces) -> Optional[Printed]:
    """In hook-stop, behind a step that has ended so: it ends again, where the
    selected thread is.  Returns the like."""
    pc = int(gdb.newest_frame().pc())
    if not captured.is_possible() or not (
            end.is_in_frame or end.is_new and _stops(pc)):
        return None
    with _alone(None if end.is_new else pc), shown.really_there():
        # A front end is shown the text of a console's steps only.
        return _sent("SIGTRAP", 'interpreter-exec console "stepi"' if is_mi()
                     else "stepi")
