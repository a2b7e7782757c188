# SPDX-License-Identifier: MIT
"""A program that gdbserver has.  Its shim keeps the calls in memory of its own,
as a flight recorder does; gdb reads them there whenever the program stands
still, and stops it where they would be overwritten."""

from __future__ import annotations

from functools import partial
from typing import Callable, Optional

import gdb

from .. import locate, requests
from ..breakpoints import sync
from ..engine import CstraceError
from ..process import control, hooks, memory, remote_files
from ..process.connection import connection_type, is_remote
from ..ui import ctrlc
from ..ui.console import Output, say
from .recording import Recording, mode_number
from .start_options import StartOptions

_READ_FLIGHT = 3  # cst_control.is_file: a flight that a debugger reads

# More takes longer to read than a user likes to wait.
MOST_BYTES = 4 << 20

_AGAIN = ("; start it on its machine by\n"
          "  gdbserver --wrapper env LD_PRELOAD=%s -- HOST:PORT PROGRAM\n"
          "or, with `target extended-remote`, type\n"
          "  set environment LD_PRELOAD %s\n"
          "before `run` (it is cstrace's library as that machine has it)")


def missing_shim() -> str:
    """The program runs without it: what the user has to type."""
    path = locate.shim()
    return "the program has no libcstrace.so in it" + _AGAIN % (path, path)


def check(options: StartOptions, is_live: bool) -> None:
    """What goes with a program of gdbserver?"""
    if options.sync:
        raise gdb.GdbError("-sync is for programs on this machine: those of "
                           "`target %s` show their calls at each stop"
                           % connection_type())
    if gdb.parameter("non-stop"):
        raise gdb.GdbError("`set non-stop off` first: the calls of `target %s` "
                           "are read while all threads stand still"
                           % connection_type())
    remote_files.copies()
    if is_live and not hooks.is_loading() and control.Control.find() is None:
        raise gdb.GdbError(missing_shim())


class RemoteRecording(Recording):
    """Nothing here asks this machine's kernel."""

    is_remote = True

    def __init__(self, mode: str, options: requests.RecorderOptions,
                 output: Output, is_stopped: bool) -> None:
        pid = gdb.selected_inferior().pid
        memory.set_elsewhere(pid, True)
        self._memory = requests.Memory(partial(memory.read, pid),
                              partial(memory.write, pid))
        self._has_execed_other = False
        self._is_at_end = False  # its last calls were read
        super().__init__(mode, options, output, is_stopped)

    def _open_area(self, options: requests.RecorderOptions) -> bytes:
        return b"%dK" % (options.pool_chunks * 64)

    def is_alive(self) -> bool:
        return False  # its end is what gdb says it is

    def heir(self) -> Optional[gdb.Inferior]:
        return None

    def refresh_modules(self) -> None:
        for path in remote_files.copies():
            self.recorder.copy_of(path)
        super().refresh_modules()

    # ---- reading -----------------------------------------------------------

    def _is_there(self) -> bool:
        return (gdb.selected_inferior().pid == self.pid and is_remote()
                and not self._has_execed_other)

    def _fetch(self) -> bool:
        """Returns whether there was something to read."""
        at = hooks.symbol_address("cstrace_area") if self._is_there() else None
        if at is None:
            return False
        area = int.from_bytes(memory.read(self.pid, at, 8), "little")
        if area:  # it is made at the program's first event
            self.recorder.fetch(area, self._memory)
        return area != 0

    def _tell(self) -> bool:
        self.recorder.fetch(0, self._memory)
        return True

    def _try(self, exchange: Callable[[], bool]) -> bool:
        try:
            with ctrlc.kept():
                return exchange()
        except (OSError, CstraceError) as e:
            self.fail(e)
            return False

    def take_all(self) -> None:
        if not self.is_on:
            return
        has_read = self._try(self._fetch)
        super().take_all()
        if has_read:
            self._try(self._tell)

    # ---- the process's side ------------------------------------------------

    def switch_on(self) -> None:
        self._control = self._control or control.Control.find()
        if self._control is None:
            raise gdb.GdbError(missing_shim())
        wrong = self._control.version_error()
        if wrong:
            raise gdb.GdbError(wrong)
        self._control.switch_on(mode_number(self.mode), self.area_path,
                                _READ_FLIGHT)
        if not self._breakpoints:
            self._breakpoints = [sync.FullBreakpoint(self)]

    def look_for_exec(self) -> None:
        """The new program's calls would be in an area of their own."""
        if (self._control is None or self._has_execed_other
                or self._control.is_at(self.area_path)):
            return
        self._has_execed_other = True
        if self.is_on:
            say("the program has exec'ed another one: with `target %s` only "
                "the first one's calls are recorded" % connection_type())

    def rebind(self) -> None:
        pass

    # ---- its end -----------------------------------------------------------

    def drained_at(self, place: str) -> None:
        self._is_at_end = place != "dlclose"

    def resume(self) -> None:
        self._is_at_end = False
        super().resume()

    def missing_end(self, how: Optional[str]) -> Optional[str]:
        if self._is_at_end or self._has_execed_other or self._is_paused:
            return None  # all was read, be it before `kill`
        return ("%s: calls since gdb last read them are not in the trace" % (
            "the connection to the program was lost" if how is None else
            "the program ended where gdb could not stop it"))

    def close(self) -> None:
        super().close()
        memory.set_elsewhere(self.pid, False)
