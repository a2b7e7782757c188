# SPDX-License-Identifier: MIT
"""A fault in a trampoline, after the thread was set back to the function's own
place.  gdb has not seen the thread stop there: `info program` would have the
trampoline's address, and where an inlined call begins, `bt` would have that call's
frame, too.  So the thread has the fault again, and what gdb prints of that is read,
as it would name the signal twice."""

from __future__ import annotations

import contextlib
import os
import re
from typing import Iterator, Optional

import gdb

from .. import gdb_setting
from .console import writes_to_stdout

# These come again with their instruction; others are raised behind it.
_FAULTS = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL")
_MOST_FRAMES = 64
_STDOUT = 1


def _is_fault(signal: str) -> bool:
    """Has an instruction raised it?  A process may have sent it."""
    try:
        return signal in _FAULTS and int(
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
        finally:
            gdb.flush()
            os.dup2(own, _STDOUT)
            os.close(own)
        f.seek(0)
        return f.read()


def raise_again(signal: str) -> Optional[str]:
    """In hook-stop, behind that signal: the selected thread has it again.  Returns
    where gdb says that it is; None: gdb is about to say it."""
    if (not _is_fault(signal) or not writes_to_stdout()
            or gdb.parameter("non-stop") or _is_called_by_gdb()):
        return None
    with _without_breakpoints(int(gdb.newest_frame().pc())), (
            gdb_setting.changed("scheduler-locking", "on")):
        text = _printed("signal 0")
    return re.sub(r"\A\n[^\n]* received signal %s, [^\n]*\n" % signal, "", text)
