# SPDX-License-Identifier: MIT
"""Numbers and names, as our lines have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable, Optional

if TYPE_CHECKING:
    from .. import requests
    from ..engine import Status
    from ..trace import Trace


def count(n: int, noun: str) -> str:
    return "%d %s%s" % (n, noun, "" if n == 1 else "s")


def near(word: str, names: Iterable[str]) -> Optional[str]:
    """The name that was probably meant."""
    import difflib  # later than gdb's start

    found = difflib.get_close_matches(word, list(names), 1)
    return found[0] if found else None


def instead(word: str, names: list[str]) -> str:
    """Behind a word that is none of the names: which it may be."""
    found = near(word.lstrip("-"), [n.lstrip("-") for n in names])
    if found is None:
        return "; there is " + (", ".join(names) or "none")
    return ": did you mean %s?" % next(n for n in names
                                       if n.lstrip("-") == found)


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


def silent(s: Status) -> list[str]:
    """In a summary: processes whose calls are missing (engine.untraced() has
    the causes)."""
    words = []
    if s.losses.n_past_exec:
        words.append("%s executed without libcstrace.so"
                     % count(s.losses.n_past_exec, "program"))
    if s.losses.n_ended:
        words.append("%d process%s cut off by a sandbox (seccomp, PR_SET_TSC)"
                     % (s.losses.n_ended, "" if s.losses.n_ended == 1 else "es"))
    return words


def saved_text(n: int, path: str, trace: Trace, look: requests.Look,
               choice: requests.Choice, form: Optional[str] = None) -> str:
    """The line on n saved calls, or rows; with what was left out."""
    is_folded = look.fold and (form or path.rpartition(".")[2]) == "txt"
    is_of_samples = path.endswith(".pb.gz") and not trace.status().n_calls
    note = trace.note(choice, choice.has_more)
    if note[:1].isdigit():  # their number stands in front already
        note = note.partition("; ")[2]
    noun = ("row" if is_folded else "sample" if is_of_samples else "call")
    return "%s saved to %s%s" % (count(n, noun), path,
                                 " (%s)" % note if note else "")
