# SPDX-License-Identifier: MIT
"""The hooks' frames are none of the user's: a signal that stops the program in
a hook shows the function that called it, as a breakpoint would."""

from __future__ import annotations

import contextlib
import itertools
import re
from typing import TYPE_CHECKING, Any, Iterator, Optional

import gdb

from .. import engine, locate
from ..process import arrival, hooks, x86_64
from ..process.connection import is_native
from ..process.standing import Standing
from . import frame_ids

if TYPE_CHECKING:
    from ..session.recording import Recording
    from ..session.session import Session

_HOOK = r"(__cyg_profile_func_(enter|exit)(@plt)?|cstrace_\w+)$"

# What an instruction of the hook's own has raised, it would raise again.
_FAULTS = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGSYS")


def is_hooks(frame: gdb.Frame) -> bool:
    """Does it belong to the shim, or to hooks without a source?"""
    if frame.type() != gdb.NORMAL_FRAME:
        return False
    library = gdb.solib_name(frame.pc())
    if library and locate.is_shim(library):
        return True
    return (re.match(_HOOK, frame.name() or "") is not None
            and frame.find_sal().symtab is None)


def _calls_hook(frame: gdb.Frame) -> bool:
    """Does it stand behind a direct call of a hook, as in a static program?"""
    at = frame.pc() - _CALL_BYTES
    code = hooks.Memory().read(at, _CALL_BYTES)
    target = x86_64.call_target(code, 0, at)
    return target is not None and target in map(hooks.symbol_address,
                                                hooks.NAMES)


_CALL_BYTES = 5  # of a direct one

# Knows of hooks that trampolines call.
_standing: Optional[Standing] = None

# A hook calls no deeper.
_MOST_FRAMES = 16


def users(newest: gdb.Frame) -> gdb.Frame:
    """The innermost frame that is the user's.  In a static program the shim's
    functions are any, known by the call around them alone."""
    users, frame = newest, newest
    for _ in range(_MOST_FRAMES):
        older = frame.older()
        if older is None or frame.type() != gdb.NORMAL_FRAME:
            break
        is_known = is_hooks(frame)
        if not is_known and frame.find_sal().symtab is not None:
            break
        if is_known or _calls_hook(older):
            users = older
        frame = older
    return users


def is_in_hook() -> bool:
    try:
        newest = gdb.newest_frame()
        return users(newest) != newest
    except gdb.error:
        return False  # no process, or its thread is running


def may_step(signal: str) -> bool:
    """May the thread go on for a few instructions at this signal?"""
    return signal not in _FAULTS and is_native()


def leave_hook(signal: str) -> None:
    """In hook-stop, after this signal: let the thread stand in the function
    whose hook it is in, or at least select that one's frame.  It may wait for
    a chunk: what is there must have been read."""
    if may_step(signal):
        _step_out(is_users=True)
    users(gdb.newest_frame()).select()


def _step_out(is_users: bool) -> Optional[bool]:
    """Steps the selected thread out; it may have written a record.  Returns
    whether it is out; None: it was in no hook."""
    newest = gdb.newest_frame()
    user = users(newest)
    if user == newest:
        return None
    tid = gdb.selected_thread().ptid[1]
    found = _standing and _standing.trampoline(newest)
    pc, sp = found[:2] if found else (
        user.pc(), int(user.read_register(x86_64.SP_REGISTER)) % 2**64)
    is_out = engine.step_out(tid, pc, sp)
    # gdb does not know that it moved.
    gdb.execute("maintenance flush register-cache", to_string=True)
    if _standing:
        _standing.settle(is_users)
    return is_out


# Each takes a look at its registers.
_MOST_THREADS = 32


def _leave(thread: gdb.InferiorThread) -> Optional[bool]:
    """What _step_out() returns of a thread that stands there by itself."""
    thread.switch()
    with contextlib.suppress(gdb.error):  # its frames are left out as they are
        if not (_standing and _standing.is_to_stop()):
            return _step_out(is_users=False)
    return None


def leave_other_hooks() -> bool:
    """In hook-stop: the user may select any thread, and gdb shows its innermost
    frame at once.  Returns whether one was in a hook."""
    own = gdb.selected_thread()
    others = [t for t in gdb.selected_inferior().threads()
              if t.num != own.num and t.is_stopped()] if own else []
    with arrival.selected_kept():
        are_out = [(t, _leave(t)) for t in others[:_MOST_THREADS]]
        # One may have waited for a lock that another one had.
        for thread, is_out in are_out:
            if is_out is False:
                _leave(thread)
    return any(is_out is not None for _, is_out in are_out)


def _can_read_arguments() -> bool:
    """Has the innermost frame all its memory?  Behind a filter gdb 13 gives up
    at an argument that has none, as where the stack has ended."""
    try:
        frame = gdb.newest_frame()
        block = frame.block()
        while block.function is None:
            block = block.superblock
        for symbol in block:
            if symbol.is_argument:
                symbol.value(frame).fetch_lazy()
    except gdb.MemoryError:
        return False
    except (gdb.error, RuntimeError):  # no process, or no debug information
        pass
    return True


class HookFilter:
    """Leaves the hooks' frames out of `backtrace`, where they are the
    innermost, and shows the calls' IDs.  Else gdb is not to take its slower
    way through filters."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.name = "cstrace"
        self.priority = 100
        self._is_wanted = True

    @property
    def enabled(self) -> bool:
        return self._is_wanted and (is_in_hook() or (
            self._recording() is not None and _can_read_arguments()))

    @enabled.setter
    def enabled(self, is_wanted: bool) -> None:
        self._is_wanted = is_wanted

    def _recording(self) -> Optional[Recording]:
        """The recording whose IDs are shown."""
        recording = self._session.recording
        return (recording if recording is not None and recording.is_on
                and self._session.settings["frame-ids"] else None)

    def filter(self, frames: Iterator[Any]) -> Iterator[Any]:
        innermost = users(gdb.newest_frame())
        found = itertools.dropwhile(lambda d: d.inferior_frame() != innermost,
                                    frames)
        recording = self._recording()
        return (found if recording is None
                else frame_ids.decorated(found, recording))


def register(session: Session) -> None:
    global _standing  # pylint: disable=global-statement
    _standing = session.stops.standing
    frame_filter = HookFilter(session)
    gdb.frame_filters[frame_filter.name] = frame_filter
