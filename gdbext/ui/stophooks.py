# SPDX-License-Identifier: MIT
"""`define hook-stop` and `define hook-detach`: the only places where gdb lets
us act before it prints where it stopped, and before it lets go.

The user's own bodies are kept: they follow ours, and are put back."""

from __future__ import annotations

import os
from typing import Optional

import gdb

_CALL = 'python __import__("gdbext").%s()'


def _body(name: str) -> Optional[list[str]]:
    """The lines of a user-defined command, or None when there is none."""
    try:
        shown = gdb.execute("show user " + name, to_string=True)
    except gdb.error:
        return None
    lines = shown.rstrip("\n").split("\n")
    if not lines[0].startswith("User command"):
        return None
    return [line[2:] for line in lines[1:]]


def _define(name: str, lines: list[str], is_new: bool) -> None:
    # A front end would tell its user of each setting that is touched; one that
    # is behind a pipe is not asked anyway.
    is_asked = not is_new and gdb.parameter("confirm") and os.isatty(0)
    if is_asked:
        gdb.execute("set confirm off", to_string=True)
    try:
        gdb.execute("\n".join(["define " + name, *lines, "end"]),
                    to_string=True)
    finally:
        if is_asked:
            gdb.execute("set confirm on", to_string=True)


class StopHook:
    """One of gdb's hook commands, with ours in front."""

    def __init__(self, name: str, function: str) -> None:
        self._name = name
        self._call = _CALL % function

    def install(self) -> None:
        """Put ours in front, again if the user has defined the hook since."""
        body = _body(self._name)
        if body is None:
            _define(self._name, [self._call], is_new=True)
        elif self._call not in body:
            _define(self._name, [self._call, *body], is_new=False)

    def remove(self) -> None:
        body = _body(self._name)
        if body is not None and self._call in body:
            _define(self._name, [line for line in body if line != self._call],
                    is_new=False)
