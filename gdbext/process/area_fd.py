# SPDX-License-Identifier: MIT
"""Programs that gdb does not debug find the area by a descriptor of gdb's, whose
path is in an environment variable.

The traced program's children, and what they exec, inherit the variable.  The
descriptor keeps its number; while nothing is recorded it is of /dev/null."""

from __future__ import annotations

import os

VARIABLE = "CSTRACE_AREA"  # the shim's config.c reads it


class Door:
    """The descriptor: of the area when open, of /dev/null when shut."""

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
