# SPDX-License-Identifier: MIT
"""Reads and writes the memory of a process that stands still.

Through /proc: gdb's own reads and writes go to whatever inferior is selected,
and tell the user of memory that changed."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import Iterator


@contextmanager
def opened(pid: int, flags: int) -> Iterator[int]:
    """A file descriptor, for os.pread() and os.pwrite() at addresses."""
    fd = os.open("/proc/%d/mem" % pid, flags | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


def read(pid: int, address: int, size: int) -> bytes:
    """OSError: nothing is mapped there.  May return less than `size`."""
    with opened(pid, os.O_RDONLY) as fd:
        return os.pread(fd, size, address)


def write(pid: int, address: int, data: bytes) -> None:
    with opened(pid, os.O_WRONLY) as fd:
        os.pwrite(fd, data, address)
