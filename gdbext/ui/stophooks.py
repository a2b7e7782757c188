# SPDX-License-Identifier: MIT
"""`define hook-stop` and the like: the only places where gdb lets us act before
it prints where it stopped, before it lets go, before it records.

The user's own bodies are kept: they follow ours, and are put back."""

from __future__ import annotations

import itertools
import os
from contextlib import nullcontext
from typing import Optional

import gdb

from .. import gdb_setting

_CALL = 'python __import__("gdbext").at("%s")'


def _body(name: str) -> Optional[list[str]]:
    """The lines of a user-defined command, or None when there is none.  Asked for
    one, gdb takes what begins so for it, as hook-nexti for hook-next."""
    lines = iter(gdb.execute("show user", to_string=True).split("\n"))
    if 'User command "%s":' % name not in lines:
        return None
    return [line[2:] for line in itertools.takewhile(
        lambda line: line.startswith("  "), lines)]


def _define(name: str, lines: list[str], is_new: bool) -> None:
    # Nobody is asked where gdb is behind a pipe.
    is_asked = not is_new and os.isatty(0)
    with gdb_setting.changed("confirm", "off") if is_asked else nullcontext():
        gdb.execute("\n".join(["define " + name, *lines, "end"]),
                    to_string=True)


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


class StopHooks:
    """All that say to cstrace what gdb does."""

    def __init__(self) -> None:
        self._hooks = [StopHook("hook-stop", "stopped"),
                       StopHook("hook-detach", "detaching")]
        self._line_hooks = [StopHook("hook-" + name, "stepping_lines")
                            for name in ("step", "next", "until")]
        self._has_line_hooks = False
        # All ways to record come to this target; an end has no event.
        self._command_hooks = [StopHook("hook-stepi", "stepping"),
                               StopHook("hook-nexti", "stepping_over"),
                               StopHook("hook-continue", "continuing"),
                               *(StopHook("hook-" + name, "going_on")
                                 for name in ("finish", "advance", "signal")),
                               StopHook("hook-jump", "jumping"),
                               StopHook("info hook-program", "telling_program"),
                               StopHook("info hookpost-program",
                                        "told_program"),
                               StopHook("target hook-record-full", "recording"),
                               StopHook("record hookpost-stop", "recorded")]

    def install(self, is_prompt: bool) -> None:
        """Something is traced.  While a command may run, its hook is not
        changed."""
        for hook in [*self._hooks, *(self._command_hooks if is_prompt else [])]:
            hook.install()

    def keep_lines(self, is_wanted: bool) -> None:
        """Are steps by lines to be seen?"""
        if is_wanted or self._has_line_hooks:
            for hook in self._line_hooks:
                hook.install() if is_wanted else hook.remove()
        self._has_line_hooks = is_wanted

    def remove(self) -> None:
        """Nothing is traced.  See keep_lines(), too."""
        for hook in [*self._hooks, *self._command_hooks]:
            hook.remove()
