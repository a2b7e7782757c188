# SPDX-License-Identifier: MIT
"""The IDs of the calls that the frames of `backtrace` are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Optional

import gdb
from gdb.FrameDecorator import FrameDecorator

from ..answers import OpenCall
from ..process import x86_64

if TYPE_CHECKING:
    from ..session.recording import Recording

# What most backtraces need; and more than anybody reads: frames that lie
# farther out have no ID.
_FIRST_CALLS, _MOST_CALLS = 200, 20000


class _Named(FrameDecorator):
    """A frame with the ID behind its function's name: number [1.42]."""

    def __init__(self, base: Any, name: str, id: str = "") -> None:
        super().__init__(base)
        self._name = name
        self._id = " [%s]" % id if id else ""

    def function(self) -> Any:
        name = super().function()
        return ((name if isinstance(name, str) else self._name) + self._id)


def _is_nameless(frame: gdb.Frame) -> bool:
    """gdb leaves the name of such a frame out, where there is a frame filter,
    and writes "??" without one."""
    return frame.type() == gdb.NORMAL_FRAME and frame.name() is None


def _cfa(frame: gdb.Frame) -> Optional[int]:
    """The canonical frame address; inlined functions have that of the function
    that they are in.  None: gdb does not go on beyond this frame."""
    physical: Optional[gdb.Frame] = frame
    while physical is not None and physical.type() == gdb.INLINE_FRAME:
        physical = physical.older()
    older = physical.older() if physical is not None else None
    if older is None:
        return None
    return int(older.read_register(x86_64.SP_REGISTER)) % 2**64


def _bare(name: str) -> str:
    return name.partition("(")[0].rpartition("::")[2]


def _is_of(call: OpenCall, frame: gdb.Frame, recording: Recording) -> bool:
    """Is this call one of the frame's function?"""
    if frame.type() == gdb.INLINE_FRAME:
        return _bare(frame.name() or "") == _bare(call.name)
    return recording.recorder.function(frame.pc()) == call.addr


class Matcher:
    """Finds the calls of frames, innermost first.  A call's frame is known by
    its address, so that a frame whose call has not been reported yet (its hook
    is still to come), or is not recorded, has none."""

    def __init__(self, recording: Recording, tid: int) -> None:
        self._recording = recording
        self._tid = tid
        self._n = 0  # calls that were fetched
        self._depth = recording.recorder.n_open(tid)
        self._by_cfa: dict[int, list[OpenCall]] = {}
        self._outermost: list[OpenCall] = []
        self._fetch(_FIRST_CALLS)

    def _fetch(self, most: int) -> None:
        """Beyond those that were fetched before."""
        calls = self._recording.recorder.stack(self._tid,
                                               min(self._depth, most))
        for call in calls[self._n:]:
            self._by_cfa.setdefault(call.cfa, []).append(call)
        self._n = len(calls)
        if self._n == self._depth:
            self._outermost = calls[-1:]

    def _calls(self, cfa: Optional[int]) -> list[OpenCall]:
        """The calls of the frame that has this address."""
        if cfa not in self._by_cfa and self._n < min(self._depth, _MOST_CALLS):
            self._fetch(_MOST_CALLS)
        return self._outermost if cfa is None else self._by_cfa.get(cfa, [])

    def call(self, frame: gdb.Frame) -> Optional[OpenCall]:
        if frame.type() not in (gdb.NORMAL_FRAME, gdb.INLINE_FRAME):
            return None
        calls = self._calls(_cfa(frame))
        for call in calls:
            if _is_of(call, frame, self._recording):
                calls.remove(call)
                return call
        return None


def decorated(frames: Iterator[Any], recording: Recording) -> Iterator[Any]:
    """The frames, those of calls with their IDs."""
    matcher: Optional[Matcher] = None
    for frame in frames:
        if matcher is None:
            recording.take_all()
            matcher = Matcher(recording, gdb.selected_thread().ptid[1])
        inner = frame.inferior_frame()
        try:
            call = matcher.call(inner)
        except gdb.error:
            call = None  # its registers cannot be read
        if call is not None:
            yield _Named(frame, inner.name() or call.name, call.id)
        else:
            yield _Named(frame, "??") if _is_nameless(inner) else frame
