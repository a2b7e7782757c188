# SPDX-License-Identifier: MIT
"""Reads and writes the memory of a process that stands still.

Through /proc: gdb's own reads and writes go to whatever inferior is selected,
and tell the user of memory that changed.  Where the process is on another
machine they are the only way."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import Iterator

import gdb

from ..ui import ctrlc
from .connection import is_remote


_elsewhere: set[int] = set()


def set_elsewhere(pid: int, is_elsewhere: bool) -> None:
    """Whether this process is on another machine, though gdb may have lost
    it."""
    if is_elsewhere:
        _elsewhere.add(pid)
    else:
        _elsewhere.discard(pid)


def _is_here(pid: int) -> bool:
    return pid not in _elsewhere and not is_remote()


def _check(pid: int) -> gdb.Inferior:
    inferior = gdb.selected_inferior()
    if inferior.pid != pid or not is_remote():
        raise OSError("process %d is not the selected one" % pid)
    return inferior


def _remote_read(pid: int, address: int, size: int) -> bytes:
    with ctrlc.kept():  # gdb gives up half-way otherwise
        try:
            return bytes(_check(pid).read_memory(address, size))
        except gdb.error as e:
            raise OSError(str(e)) from None


def _remote_write(pid: int, address: int, data: bytes) -> None:
    with ctrlc.kept():
        try:
            _check(pid).write_memory(address, data)
        except gdb.error as e:
            raise OSError(str(e)) from None


@contextmanager
def opened(pid: int, flags: int) -> Iterator[int]:
    """A file descriptor, for os.pread() and os.pwrite() at addresses."""
    fd = os.open("/proc/%d/mem" % pid, flags | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


def read(pid: int, address: int, size: int) -> bytes:
    """OSError: nothing is mapped there, or the process has ended.  May return
    less than `size`."""
    if not _is_here(pid):
        return _remote_read(pid, address, size)
    with opened(pid, os.O_RDONLY) as fd:
        raw = os.pread(fd, size, address)
    if size and not raw:  # what the kernel says of one that is ending
        raise ProcessLookupError("process %d has ended" % pid)
    return raw


def write(pid: int, address: int, data: bytes) -> None:
    if not _is_here(pid):
        _remote_write(pid, address, data)
        return
    with opened(pid, os.O_WRONLY) as fd:
        os.pwrite(fd, data, address)


def mapped_ranges(pid: int) -> list[tuple[int, int]]:
    """(start, end) of all that is mapped, in order."""
    with open("/proc/%d/maps" % pid, encoding="utf-8",
              errors="surrogateescape") as maps:
        ranges = [line.split(None, 1)[0].split("-") for line in maps]
    return [(int(start, 16), int(end, 16)) for start, end in ranges]


def mapping_start(pid: int, address: int) -> int:
    """OSError: nothing is mapped there."""
    for start, end in mapped_ranges(pid):
        if start <= address < end:
            return start
    raise OSError("nothing is mapped at %#x" % address)
