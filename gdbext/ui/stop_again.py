# SPDX-License-Identifier: MIT
"""A stop in a trampoline, after the thread was set back to the function's own
place.  gdb has not seen the thread stop there: behind a fault `info program` would
have the trampoline's address, and where an inlined call begins, `bt` would have that
call's frame, too; behind a step gdb would take the place for another function's.  So
the thread stops again, and what gdb prints of that is read, as it would name a
signal twice."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from typing import Iterator, Optional

import gdb

from .. import engine, gdb_setting
from .console import writes_to_stdout

# These come again with their instruction; others are raised behind it.
_FAULTS = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL")
_MOST_FRAMES = 64
_STDOUT = 1


def _is_fault(name: str) -> bool:
    """Has an instruction raised it?  A process may have sent it."""
    try:
        return name in _FAULTS and int(
            gdb.parse_and_eval("$_siginfo.si_code")) > 0
    except gdb.error:
        return False


def _is_called_by_gdb() -> bool:
    """Is it in a function that the user calls at the prompt?  gdb keeps an
    account of that call, which a command within would lose."""
    frame: Optional[gdb.Frame] = gdb.newest_frame()
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return False
        if frame.type() == gdb.DUMMY_FRAME:
            return True
        frame = frame.older()
    return False


@contextlib.contextmanager
def _without_breakpoints(address: int) -> Iterator[None]:
    """The thread has hit those there before."""
    here = [b for b in gdb.breakpoints() if b.is_valid() and b.enabled and any(
        at.address == address for at in getattr(b, "locations", ()))]
    for b in here:
        b.enabled = False
    try:
        yield
    finally:
        for b in here:
            if b.is_valid():
                b.enabled = True


def _printed(command: str) -> str:
    """Executes it, and returns what gdb has written to its standard output: it
    has no string of what it prints at a stop."""
    own = os.dup(_STDOUT)
    with os.fdopen(os.memfd_create("cstrace", os.MFD_CLOEXEC), "w+",
                   encoding="utf-8", errors="surrogateescape") as f:
        gdb.flush()
        os.dup2(f.fileno(), _STDOUT)
        try:
            gdb.execute(command)
        except gdb.error:  # a call that ends so, as it is to do
            pass
        finally:
            gdb.flush()
            os.dup2(own, _STDOUT)
            os.close(own)
        f.seek(0)
        return f.read()


def _printed_in_call(name: str, pc: int) -> str:
    """A call of this very place by gdb: a signal stops it before it executes
    anything, and gdb gives the thread back all that it has had."""
    tid = gdb.selected_thread().ptid[1]
    with gdb_setting.changed("unwindonsignal", "on"), (
            gdb_setting.changed("language", "c")):
        return (_printed("call ((void (*)(void)) %#x)()" % pc)
                if engine.thread_signal(tid, signal.Signals[name]) else "")


def raise_again(name: str) -> Optional[str]:
    """In hook-stop, behind that signal: the selected thread has it again.  Returns
    where gdb says that it is; None: gdb is about to say it."""
    if (not _is_fault(name) or not writes_to_stdout()
            or gdb.parameter("non-stop")):
        return None
    pc = int(gdb.newest_frame().pc())
    with _without_breakpoints(pc), (
            gdb_setting.changed("scheduler-locking", "on")):
        text = (_printed_in_call(name, pc) if _is_called_by_gdb()
                else _printed("signal 0"))
    return re.sub(r"\A\n[^\n]* received signal %s, [^\n]*\n" % name, "",
                  text) or None


def step_again(is_unseen: bool) -> Optional[str]:
    """In hook-stop, behind a step: the selected thread ends it where it is, with
    a signal that comes before it executes anything; is_unseen: gdb does not know
    that it has come to a breakpoint there.  Returns the like."""
    if not writes_to_stdout() or gdb.parameter("non-stop"):
        return None
    pc, tid = int(gdb.newest_frame().pc()), gdb.selected_thread().ptid[1]
    with contextlib.nullcontext() if is_unseen else _without_breakpoints(pc), (
            gdb_setting.changed("scheduler-locking", "on")):
        return (_printed("stepi") if engine.thread_signal(tid, signal.SIGTRAP)
                else None)
