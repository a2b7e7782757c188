# SPDX-License-Identifier: MIT
"""Numbers, as our lines have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..engine import Status


def count(n: int, noun: str) -> str:
    return "%d %s%s" % (n, noun, "" if n == 1 else "s")


def cut_off(n: int) -> str:
    """The words on processes that gave away what recording needs."""
    return "%d process%s cut off by a sandbox (seccomp, PR_SET_TSC)" % (
        n, "" if n == 1 else "es")


def duration_text(ns: int) -> str:
    for size, unit in ((10**9, "s"), (10**6, "ms"), (10**3, "us")):
        if ns >= size:
            return "%.1f %s" % (ns / size, unit)
    return "%d ns" % ns


def age_text(seconds: float) -> str:
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return count(int(seconds // size), unit)
    return count(max(int(seconds), 0), "second")


def lost_text(s: Status) -> str:
    lost = (s.n_lost_full + s.n_lost_sites + s.n_lost_threads
            + s.n_lost_holes)
    parts = []
    if lost:
        parts.append(", %s lost" % count(lost, "record"))
    if s.n_dropped:
        parts.append(", %s not kept (too deep or short)"
                     % count(s.n_dropped, "call"))
    if s.n_lost_limit:
        parts.append(", %s not kept (size limit)"
                     % count(s.n_lost_limit, "call"))
    if s.n_past_exec:
        parts.append(", %s executed without libcstrace.so"
                     % count(s.n_past_exec, "program"))
    if s.n_ended:
        parts.append(", %s" % cut_off(s.n_ended))
    return "".join(parts)
