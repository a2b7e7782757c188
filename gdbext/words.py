# SPDX-License-Identifier: MIT
"""Numbers, as our lines have them."""

from __future__ import annotations


def count(n: int, noun: str) -> str:
    return "%d %s%s" % (n, noun, "" if n == 1 else "s")


def cut_off(n: int) -> str:
    """Of processes that gave away what recording takes."""
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
