# SPDX-License-Identifier: MIT
"""Libraries that bind past the preload: opened with RTLD_DEEPBIND, or by
dlmopen() into a namespace with a C library of its own.

Both find libc's empty hooks first.  So in the process's memory, before such
a library is bound, libc's symbols are given the address of the shim's hooks:
an entry of a symbol table holds a difference to where the library lies, and may
lead anywhere.  Nothing is changed on disk, and no code."""

from __future__ import annotations

import os
import struct
from typing import Any

from .. import locate
from . import elf, hooks, memory


class Redirect:
    """Leads the hooks of such libraries to the shim, in any process."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[elf.Elf, tuple[Any, ...]]] = {}

    def _hooks_of(self, path: str) -> tuple[Any, ...]:
        file = elf.read(path)
        if path not in self._known or self._known[path][0] is not file:
            self._known[path] = (file, tuple(map(file.definition,
                                                 hooks.NAMES)))
        return self._known[path][1]

    def look(self, pid: int) -> None:
        """Called when a library is mapped that uses the hooks.  Looks at all C
        libraries each time: that of a namespace comes and goes with it."""
        places = [(start - elf.read(path).first, path)
                  for start, _end, offset, path in hooks.mappings(pid)
                  if offset == 0 and (hooks.is_libc(path)
                                      or locate.is_shim(path))]
        shim = next((p for p in places if locate.is_shim(p[1])), None)
        if shim is None:
            return
        ours = [d and shim[0] + d[1] for d in self._hooks_of(shim[1])]
        with memory.opened(pid, os.O_RDWR) as fd:
            for bias, path in places:
                for empty, target in zip(self._hooks_of(path), ours):
                    if path != shim[1] and empty and target:
                        _lead(fd, bias, empty, target)


def _lead(fd: int, bias: int, empty: tuple[int, int], target: int) -> None:
    at, value = empty
    # Something else there: leave it alone.
    if os.pread(fd, 8, bias + at) == struct.pack("<Q", value):
        away = target - bias & (1 << 64) - 1
        os.pwrite(fd, struct.pack("<Q", away), bias + at)
