# SPDX-License-Identifier: MIT
"""gdb's own settings, while something is done that wants them otherwise."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

import gdb


@contextmanager
def changed(name: str, value: str) -> Iterator[None]:
    """The setting has this value within, and its own one behind it.  One that
    has the value already is left alone: a front end tells its user of each
    setting that is touched."""
    before = change(name, value)
    try:
        yield
    finally:
        change(name, before)


def change(name: str, value: str) -> str:
    """Returns what it was.  None is gdb's word for a setting that may be auto."""
    found = gdb.parameter(name)
    before = found if isinstance(found, str) else (
        "auto" if found is None else "on" if found else "off")
    if before != value:
        gdb.execute("set %s %s" % (name, value), to_string=True)
    return before


class Held:
    """A setting that has another value as long as somebody wants it so."""

    def __init__(self, name: str, value: str) -> None:
        self._name, self._value = name, value
        self._holders: set[object] = set()
        self._own = ""

    def hold(self, who: object) -> None:
        if not self._holders:
            self._own = change(self._name, self._value)
        self._holders.add(who)

    def release(self, who: object) -> None:
        if self._holders == {who}:
            change(self._name, self._own)
        self._holders.discard(who)
