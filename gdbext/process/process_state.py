# SPDX-License-Identifier: MIT
"""What the kernel tells of a process."""

from __future__ import annotations


def _stat(pid: int) -> list[bytes]:
    """/proc/PID/stat from the process's state on; []: it has ended."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as f:
            return f.read().rpartition(b")")[2].split()
    except OSError:
        return []


def is_alive(pid: int) -> bool:
    """A zombie is not."""
    found = _stat(pid)
    return bool(found) and found[0] not in b"ZX"


def parent_of(pid: int) -> int:
    """0: the process has ended."""
    found = _stat(pid)
    return int(found[1]) if found else 0
