# SPDX-License-Identifier: MIT
"""The shim comes into a program that was started without it: a thread that
holds no lock of libc's calls dlopen(), and then the shim's cstrace_attach().

The other threads run meanwhile, so that whatever the dynamic linker waits for is
let go."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import threading
import time
from typing import Iterator, NamedTuple, Optional

import gdb

from .. import gdb_setting, locate
from ..live import Live
from ..ui import captured
from ..ui.console import GuestThread
from . import hooks, inferior_call

_OLD = 1000  # CST_ATTACH_OLD of cstrace/attach.h
_LIMIT_S = 10.0  # for a safe place
_LOOK_S = 0.1  # between two looks, where no breakpoint is hit
_MOST_FRAMES = 64
_TRIES = 5
_NOW = 2  # RTLD_NOW
_PLANS_AT = 4096  # in the buffer
_SHOWN = 3  # threads in a message

# What the program's own mistakes raise stops the call, as it stops all else.
_FAULTS = ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGTRAP",
           "SIGINT", "SIGSYS")


class Busy(gdb.GdbError):
    """Another recorder has the process."""


class Notice(NamedTuple):
    """A jump that is to be written over an empty function of the dynamic
    linker, for libraries that the program opens to be patched."""

    function: int
    to: int


class _Unsafe(NamedTuple):
    thread: gdb.InferiorThread
    why: str

    def text(self) -> str:
        if not self.thread.is_valid():
            return "a thread that has ended was %s" % self.why
        self.thread.switch()
        name = gdb.newest_frame().name()
        return "thread %d is %s%s" % (
            self.thread.num, self.why, " (%s)" % name if name else "")


def threads() -> list[gdb.InferiorThread]:
    return [t for t in gdb.selected_inferior().threads() if t.is_valid()]


@contextlib.contextmanager
def selected_kept() -> Iterator[None]:
    """The user's thread and frame are selected again behind it."""
    thread = gdb.selected_thread()
    frame = gdb.selected_frame() if thread is not None else None
    level = frame.level() if frame is not None else 0
    try:
        yield
    finally:
        if thread is not None and thread.is_valid():
            thread.switch()
            if level:
                with contextlib.suppress(gdb.error):
                    gdb.execute("frame %d" % level, to_string=True)


@contextlib.contextmanager
def _signals_passed() -> Iterator[None]:
    """Signals that other threads get do not end our call."""
    found = re.findall(r"^(SIG\w+)\s+Yes\s+Yes\s+Yes\s", gdb.execute(
        "info signals", to_string=True), re.M)
    names = " ".join(name for name in found if name not in _FAULTS)
    if names:
        gdb.execute("handle %s nostop noprint" % names, to_string=True)
    try:
        yield
    finally:
        if names:
            gdb.execute("handle %s stop print" % names, to_string=True)


@contextlib.contextmanager
def _breakpoints_off() -> Iterator[None]:
    """Nor do other threads that come to the user's breakpoints."""
    those = [b for b in gdb.breakpoints() if b.enabled]
    for b in those:
        b.enabled = False
    try:
        yield
    finally:
        for b in those:
            if b.is_valid():
                b.enabled = True


class Arrival:
    """In the selected inferior, once."""

    def __init__(self) -> None:
        self._pid = gdb.selected_inferior().pid

    # ---- a safe place ------------------------------------------------------------

    def _look(self) -> list[_Unsafe]:
        """Selects a thread that can make a call; returns [], or why each
        cannot."""
        chosen = gdb.selected_thread()
        found = []
        with Live(self._pid) as live:
            for thread in sorted(threads(), key=lambda t: t != chosen):
                why = live.unsafe(thread.ptid[1])
                if not why:
                    thread.switch()
                    return []
                found.append(_Unsafe(thread, why))
        return found

    def _select_safe(self) -> None:
        end = time.monotonic() + _LIMIT_S
        while True:
            found = self._look()
            if not found:
                return
            is_ours = not gdb.selected_inferior().was_attached
            left = end - time.monotonic()
            if is_ours or left < 0:
                break
            _run_back(left)
        raise gdb.GdbError(
            "no thread is where libcstrace.so can be loaded: %s%s; %s" % (
                "; ".join(f.text() for f in found[:_SHOWN]),
                " and %d more" % (len(found) - _SHOWN)
                if len(found) > _SHOWN else "",
                "go on to the program's own code (`finish`), and again "
                "`cstrace start`" if is_ours else
                "`cstrace start` again, or after `detach` `cstrace sample -p "
                "%d`" % self._pid))

    @contextlib.contextmanager
    def _steering(self) -> Iterator[inferior_call.Calls]:
        with selected_kept(), _signals_passed(), _breakpoints_off(), \
                gdb_setting.changed("scheduler-locking", "off"):
            self._select_safe()
            try:
                with inferior_call.calls(self._libc) as calls:
                    yield calls
            except gdb.error as e:
                if isinstance(e, gdb.GdbError):
                    raise
                raise gdb.GdbError("the program did not load libcstrace.so: "
                                   "%s" % " ".join(str(e).split())) from None

    # ---- calls -------------------------------------------------------------------

    def _libc(self, name: str) -> int:
        with Live(self._pid) as live:
            address = live.libc(name)
        if not address:
            raise gdb.GdbError("its libc has no %s()" % name)
        return address

    def load(self) -> None:
        """GdbError: why that is not possible."""
        shim = os.path.realpath(locate.shim())
        with Live(self._pid) as live:
            why = live.obstacle(shim)
            if not why and not gdb.parameter("breakpoint always-inserted"):
                why = live.loader_obstacle()
        if why:
            raise gdb.GdbError("process %d: %s" % (self._pid, why))
        with self._steering() as call:
            path = call.put(os.fsencode(shim) + b"\0")
            if not call(self._libc("dlopen"), path, _NOW):
                raise gdb.GdbError("the program cannot load libcstrace.so: "
                                   + self._dl_error(call))

    def _dl_error(self, call: inferior_call.Calls) -> str:
        at = call(self._libc("dlerror"))
        if not at:
            return "dlopen() failed"
        return str(gdb.Value(at).cast(
            gdb.lookup_type("char").pointer()).string(errors="replace"))

    def attach(self, area_path: bytes, folder: str) -> Optional[Notice]:
        """The shim is there: it takes the recorder's memory, and maps the areas
        of the plans in the folder.  Busy: it has another's."""
        for left in reversed(range(_TRIES)):
            try:
                return self._attach(area_path, folder)
            except Busy:
                raise
            except gdb.GdbError as e:
                # gdb 13.1 gives up so where threads come and go.
                if not left or "Command aborted" not in str(e):
                    raise
        return None

    def _attach(self, area_path: bytes, folder: str) -> Optional[Notice]:
        with self._steering() as call:
            end = time.monotonic() + _LIMIT_S
            while True:
                area = call.put(area_path + b"\0")
                plans = call.put(os.fsencode(folder) + b"\0", _PLANS_AT)
                answer = call(self._shims("cstrace_attach"), area,
                              plans) & 0xffffffff
                if answer != _OLD:
                    break
                left = end - time.monotonic()
                within = self._renew(call)
                if within and left < 0:
                    raise Busy("%s: that of an earlier recorder"
                               % "; ".join(u.text() for u in within[:_SHOWN]))
                if within:
                    _run_back(left)
            notice = self._ask_notice(call) if folder and not answer else None
        if answer == errno.EBUSY:
            raise Busy("another recorder has it")
        if answer:
            raise gdb.GdbError("libcstrace.so in process %d: %s" % (
                self._pid, os.strerror(answer)))
        return notice

    def _ask_notice(self, call: inferior_call.Calls) -> Optional[Notice]:
        at = call.put(bytes(8))
        function = call(self._shims("cstrace_tell_opened"), at)
        raw = gdb.selected_inferior().read_memory(at, 8)
        return (Notice(function, int.from_bytes(raw, "little")) if function
                else None)

    @staticmethod
    def _shims(name: str) -> int:
        address = hooks.in_shim(name)
        if address is None:
            raise gdb.GdbError("the libcstrace.so in the program is of another "
                               "version than this gdb extension")
        return address

    def _renew(self, call: inferior_call.Calls) -> list[_Unsafe]:
        """Forgets the area of an earlier recorder.  Returns the other threads
        that are within the shim, for which nothing was done."""
        caller = gdb.selected_thread()
        all_threads = threads()
        table = self._shims("cstrace_patched")
        with Live(self._pid) as live:
            within = [_Unsafe(t, "in libcstrace.so") for t in all_threads
                      if t != caller and live.is_in_shim(t.ptid[1], table)]
        if within:
            return within
        pointers = []
        for thread in all_threads:
            thread.switch()
            pointers.append(int(gdb.parse_and_eval("$fs_base")))
        caller.switch()
        n = len(pointers)
        if 8 * n > inferior_call.BUFFER_SIZE:
            raise gdb.GdbError("process %d has too many threads" % self._pid)
        raw = b"".join(p.to_bytes(8, "little") for p in pointers)
        with gdb_setting.changed("scheduler-locking", "on"):
            call(self._shims("cstrace_renew"), call.put(raw), n)
        return []


def _own_frames(live: Live, thread: gdb.InferiorThread) -> Iterator[int]:
    """Where the thread comes back to code of a file that is neither libc's nor
    the dynamic linker's.  Behind code without call frame information, as a JIT
    makes it, gdb guesses: a breakpoint there could be in anything."""
    thread.switch()
    frame = gdb.newest_frame().older()
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return
        if frame.type() == gdb.NORMAL_FRAME and live.is_return(frame.pc()):
            yield frame.pc()
        frame = frame.older()


class _BackBreakpoint(gdb.Breakpoint):
    """Stops where a thread comes back to; nothing is printed."""

    def __init__(self, pc: int) -> None:
        super().__init__("*%#x" % pc, internal=True)
        self.silent = True


class _Waker(GuestThread):
    """Stops the program when the time is up."""

    def __init__(self, wait_s: float) -> None:
        super().__init__(daemon=True)
        self._wait_s = wait_s
        self._is_over = threading.Event()
        self.has_stopped_it = False

    def run(self) -> None:
        if not self._is_over.wait(self._wait_s):
            gdb.post_event(self._interrupt)

    def _interrupt(self) -> None:
        thread = gdb.selected_thread()
        if (not self._is_over.is_set() and thread is not None
                and thread.is_running()):
            self.has_stopped_it = True
            gdb.execute("interrupt")

    def end(self) -> None:
        self._is_over.set()


def _run_back(left_s: float) -> None:
    """Lets the program run until a thread is back in code of its own, or for a
    while: in a JIT's code nobody knows where it comes back to.  GdbError: the
    program stopped otherwise, or ended."""
    events: list[gdb.StopEvent] = []
    with Live(gdb.selected_inferior().pid) as live:
        pcs = {pc for t in threads() for pc in _own_frames(live, t)}
    stops = [_BackBreakpoint(pc) for pc in pcs]
    waker = _Waker(min(left_s, _LOOK_S))
    gdb.events.stop.connect(events.append)
    waker.launch()
    try:
        seen = captured.printed("continue")
    finally:
        waker.end()
        gdb.events.stop.disconnect(events.append)
        for stop in stops:
            if stop.is_valid():
                stop.delete()
    if not gdb.selected_inferior().pid:
        raise gdb.GdbError("the program has ended")
    if not events:
        raise gdb.GdbError("the program cannot go on")
    last = events[-1]
    if isinstance(last, gdb.BreakpointEvent) or (
            isinstance(last, gdb.SignalEvent) and last.stop_signal == "SIGINT"
            and waker.has_stopped_it):  # and not Ctrl-C
        return
    seen.show()
    raise gdb.GdbError("the program stopped before libcstrace.so was loaded: "
                       "`cstrace start` again")
