# SPDX-License-Identifier: MIT
"""The way by which programs that gdb does not hold find the area: a descriptor
of gdb's that keeps its number, named in the environment of what gdb runs.

The traced program's children and what they exec inherit the variable; while
nothing is recorded the descriptor leads nowhere."""

from __future__ import annotations

import os

VARIABLE = "CSTRACE_AREA"  # the shim's config.c reads it


class Door:
    """Shut until opened; there is one."""

    def __init__(self) -> None:
        self._fd = -1

    def path(self) -> str:
        if self._fd < 0:
            self._fd = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        return "/proc/%d/fd/%d" % (os.getpid(), self._fd)

    def _lead_to(self, path: bytes | str, flags: int) -> None:
        fd = os.open(path, flags | os.O_CLOEXEC)
        try:
            os.dup2(fd, self._fd, inheritable=False)
        finally:
            os.close(fd)

    def open(self, area_path: bytes) -> str:
        """Lead to the area; returns the path."""
        path = self.path()
        self._lead_to(area_path, os.O_RDWR)
        return path

    def shut(self) -> None:
        if self._fd >= 0:
            self._lead_to(os.devnull, os.O_RDONLY)


door = Door()
