# SPDX-License-Identifier: MIT
"""LD_PRELOAD of the programs that gdb will run: the shim in it, in front of
the user's own entries, and back to what it was."""

from __future__ import annotations

from typing import Optional

import gdb

from . import elf, hooks, locate

VARIABLE = "LD_PRELOAD"


def _read() -> Optional[str]:
    shown = gdb.execute("show environment " + VARIABLE, to_string=True)
    name, equals, value = shown.rstrip("\n").partition(" = ")
    return value if equals and name == VARIABLE else None


def _write(value: Optional[str]) -> None:
    if value is None:
        gdb.execute("unset environment " + VARIABLE, to_string=True)
    else:
        gdb.execute("set environment %s = %s" % (VARIABLE, value),
                    to_string=True)


def _runtime(program: elf.Elf) -> list[str]:
    """gcc's ASan wants to be the first library of all."""
    return [n for n in program.needed if n.startswith("libasan.so")]


def _is_wanted(path: Optional[str]) -> bool:
    """Can the program take the shim, and has it not linked it itself?"""
    if path is None:
        return False
    program = elf.read(path)
    if program.machine != elf.EM_X86_64 or not program.is_dynamic:
        return False
    return not hooks.links_shim(path)


class Preload:
    """Owns the variable from install() to remove()."""

    def __init__(self) -> None:
        self._users: Optional[str] = None
        self._ours: Optional[str] = None  # the value we wrote
        self._link: Optional[str] = None
        self._shim: Optional[str] = None

    def is_installed(self) -> bool:
        return self._ours is not None and _read() == self._ours

    def install(self) -> bool:
        """Make the next run take the shim; call again for another program.
        Returns whether it will."""
        now = _read()
        if self._ours is None or now != self._ours:
            self._users = now  # untouched, or changed by the user since
        path = hooks.program()
        if not _is_wanted(path):
            self._put_back(now)
            return False
        if self._link is None:
            self._shim = locate.shim()
            self._link = locate.path_without_blanks(self._shim)
        entries = _runtime(elf.read(path)) + [self._link]
        if self._users:
            entries.append(self._users)
        self._ours = ":".join(entries)
        if now != self._ours:
            _write(self._ours)
        return True

    def _put_back(self, now: Optional[str]) -> None:
        if self._ours is not None and now == self._ours:
            _write(self._users)
        self._ours = None

    def remove(self) -> None:
        self._put_back(_read())
        if self._link is not None and self._shim is not None:
            locate.remove_link(self._link, self._shim)
            self._link = None
