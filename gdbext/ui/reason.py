# SPDX-License-Identifier: MIT
"""Why the program stopped or ended, in words: in some cases gdb has printed it
before our last rows."""

from __future__ import annotations

import re
import signal as signals
from typing import NamedTuple, Optional

import gdb

# "It stopped at signal SIGINT, Interrupt.", "It stopped with signal ..."
_SIGNAL = r"(?m)^It .*\b(SIG\w+), (.+)\.$"


class Signal(NamedTuple):
    name: str
    meaning: str

    def text(self) -> str:
        where = ""
        if len(gdb.selected_inferior().threads()) > 1:
            thread = gdb.selected_thread()
            where = ' in thread %d "%s"' % (thread.num, thread.name)
        return "stopped by %s, %s%s" % (self.name, self.meaning, where)


class Stop(NamedTuple):
    """Why the selected thread has stopped."""

    signal: Optional[Signal]
    is_step: bool  # behind a step
    is_asked: bool  # the user has interrupted it, in non-stop mode


def stop() -> Stop:
    thread = gdb.selected_thread()
    if thread is None or not thread.is_stopped():
        return Stop(None, False, False)
    text = _text()
    found = re.search(_SIGNAL, text)
    return Stop(Signal(found[1], found[2]) if found else None,
                "It stopped after being stepped." in text,
                bool(text) and "It stopped " not in text)


class _Own:
    """A question of ours: hooks of the command are the user's."""

    is_asked = False


def is_user_asking() -> bool:
    """Is it the user who executes `info program`?"""
    return not _Own.is_asked


def _text() -> str:
    """gdb's own words; none at a breakpoint that has commands: behind each command
    of ours gdb would execute these, before it prints the place."""
    return "" if _has_commands() else program()


def program() -> str:
    """What `info program` prints."""
    _Own.is_asked = True
    try:
        return gdb.execute("info program", to_string=True)
    finally:
        _Own.is_asked = False


def _has_commands() -> bool:
    try:
        pc = gdb.newest_frame().pc()
    except gdb.error:  # the program is gone
        return False
    return any(b.is_valid() and b.enabled and b.commands and any(
        at.enabled and at.address == pc for at in getattr(b, "locations", ()))
        for b in gdb.breakpoints())


def end(event: gdb.ExitedEvent) -> Optional[str]:
    """How the program has ended; None if gdb made it."""
    code = getattr(event, "exit_code", None)
    if code is not None:
        return "exited with code %d" % code if code else "exited normally"
    number = gdb.convenience_variable("_exitsignal")
    if number is None:
        return None
    try:
        name = signals.Signals(int(number)).name
    except ValueError:
        name = "signal %d" % int(number)
    meaning = signals.strsignal(int(number))
    return "ended by %s%s" % (name, ", " + meaning if meaning else "")
