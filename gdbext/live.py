# SPDX-License-Identifier: MIT
"""What the engine sees of a process that runs already, and that gdb has
stopped."""

from __future__ import annotations

import ctypes as C
from functools import lru_cache
from typing import NamedTuple

from . import _abi as abi
from .engine import _call, _shown, library
from .requests import as_bytes

_MOST_LEFT = 4096
_MOST_SLOTS = 64


class Look(NamedTuple):
    """What to do before patches are written or taken back."""

    moves: dict[int, int]  # by thread: where it goes on instead
    left: set[tuple[int, int]]  # area, function: stay as they are


class Live:
    """Its modules, as they were when this was made."""

    def __init__(self, pid: int) -> None:
        self._live = C.c_void_p()
        _call("cst_live_open", pid, C.byref(self._live))

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *_what: object) -> None:
        library().cst_live_close(self._live)

    def obstacle(self, shim: str) -> str:
        """Why the process cannot load the shim; "": it can."""
        return _shown(library().cst_live_obstacle(self._live, as_bytes(shim)))

    def loader_obstacle(self) -> str:
        """Why it cannot call dlopen(); gdb has no breakpoints inserted."""
        return _shown(library().cst_live_loader_obstacle(self._live))

    def unsafe(self, tid: int) -> str:
        """What keeps the thread from a call of libc's; "": nothing."""
        return _shown(library().cst_live_unsafe(self._live, tid))

    def is_in_shim(self, tid: int, table: int) -> bool:
        """table: the address of cstrace_patched."""
        return bool(library().cst_live_is_in_shim(self._live, tid, table))

    def is_return(self, pc: int) -> bool:
        """Does a call return to there, in code of the program's own or of a
        library that is not libc's?"""
        return bool(library().cst_live_is_return(self._live, pc))

    def libc(self, name: str) -> int:
        """The address of a function of libc's; 0: it has none."""
        address: int = library().cst_live_libc(self._live, as_bytes(name))
        return address

    def look(self, tids: list[int], table: int, folder: str,
             is_undone: bool) -> Look:
        """tids: all threads, which stand still; table: the address of
        cstrace_patched."""
        threads = (C.c_uint32 * len(tids))(*tids)
        pcs = (C.c_uint64 * len(tids))()
        left = (abi.cst_code_left * _MOST_LEFT)()
        what = abi.cst_live_look(threads=threads, n_threads=len(tids),
                                 is_undone=is_undone, table=table,
                                 folder=as_bytes(folder))
        n = _call("cst_live_look", self._live, C.byref(what), pcs, left,
                  len(left))
        return Look({tid: pc for tid, pc in zip(tids, pcs) if pc},
                    {(one.area, one.function) for one in left[:n]})


@lru_cache(maxsize=256)
def hook_slots(path: str, _mtime_ns: int) -> tuple[tuple[int, ...],
                                                   tuple[int, ...]]:
    """Where in the file the dynamic linker puts the addresses of the hooks of
    entries and of exits, as addresses that the file is linked for."""
    out = (abi.cst_hook_slot * _MOST_SLOTS)()
    n = min(library().cst_hook_slots(as_bytes(path), out, len(out)), len(out))
    entries, exits = (tuple(s.address for s in out[:n] if s.is_exit == kind)
                      for kind in (0, 1))
    return entries, exits
