# SPDX-License-Identifier: MIT
"""LD_PRELOAD of the programs that gdb will run: the shim in it, in front of
the user's own entries, and back to what it was."""

from __future__ import annotations

from typing import NamedTuple, Optional

import gdb

from .. import locate, temp_folder
from . import area_fd, elf, hooks
from .connection import is_remote

VARIABLE = "LD_PRELOAD"
ASAN_VARIABLE = "ASAN_OPTIONS"
_ASAN_OPTION = "verify_asan_link_order=0"


def _read(variable: str = VARIABLE) -> Optional[str]:
    shown = gdb.execute("show environment " + variable, to_string=True)
    name, equals, value = shown.rstrip("\n").partition(" = ")
    return value if equals and name == variable else None


def _write(value: Optional[str], variable: str = VARIABLE) -> None:
    if value is None:
        gdb.execute("unset environment " + variable, to_string=True)
    else:
        gdb.execute("set environment %s = %s" % (variable, value),
                    to_string=True)


def _runtime(program: elf.Elf) -> list[str]:
    """gcc's ASan wants to be the first library of all."""
    return [n for n in program.needed if n.startswith("libasan.so")]


def _is_wanted(path: Optional[str]) -> bool:
    """Is it to take the shim, or to hand it on to what it runs?  One that
    links the library gets ours of that name; the archive stays the only one
    in a shared program."""
    if path is None:
        return False
    program = elf.read(path)
    if program.machine != elf.EM_X86_64:
        return False
    return program.is_dynamic != hooks.has_archive(path)


def _has_shim(value: Optional[str]) -> bool:
    return any(map(locate.is_shim, (value or "").replace(" ", ":").split(":")))


class _Value(NamedTuple):
    """What the variable is in one inferior's environment."""

    users: Optional[str]
    ours: str


class _Asan:
    """A program built with ASan's shared runtime wants that to be the first
    library of all, and ends where it is not. For the program that gdb runs
    LD_PRELOAD sees to that; what it runs in turn is not to check the order."""

    def __init__(self) -> None:
        self._users: dict[int, Optional[str]] = {}  # by inferior

    def allow(self) -> None:
        """In the selected inferior. The user's own options come later, and so
        count."""
        users = _read(ASAN_VARIABLE)
        if users is None or not users.startswith(_ASAN_OPTION):
            self._users[gdb.selected_inferior().num] = users
            _write(":".join(filter(None, (_ASAN_OPTION, users))),
                   ASAN_VARIABLE)

    def put_back(self) -> None:
        num = gdb.selected_inferior().num
        if num not in self._users:
            return
        users = self._users.pop(num)
        if (_read(ASAN_VARIABLE) or "").startswith(_ASAN_OPTION):
            _write(users, ASAN_VARIABLE)


class Preload:
    """Owns the variable from install() to remove()."""

    def __init__(self) -> None:
        self._values: dict[int, _Value] = {}  # by inferior
        self._asan = _Asan()
        self._is_removed = False
        self._link: Optional[str] = None
        self._sampler: Optional[str] = None

    def _users(self, now: Optional[str]) -> Optional[str]:
        """The variable without what we have put into it; `clone-inferior`
        may have copied that from another."""
        for value in self._values.values():
            if now == value.ours:
                return value.users
        return now  # untouched, or changed by the user since

    def install(self, is_sampled: bool = False) -> bool:
        """Make the selected inferior's next run take the shim, and the sampler;
        call again for another program.  Returns whether it will."""
        self._is_removed = False
        num = gdb.selected_inferior().num
        now = _read()
        users = self._users(now)
        path = hooks.program()
        if path is None or not _is_wanted(path):
            self._put_back()
            return False
        if is_remote() and _has_shim(users):
            self._put_back()  # the library as that machine has it
            return True
        if self._link is None:
            self._link = temp_folder.path_without_blanks(locate.shim())
        entries = _runtime(elf.read(path)) + [self._link]
        if is_sampled:
            if self._sampler is None:
                self._sampler = temp_folder.path_without_blanks(
                    locate.sampler())
            entries.append(self._sampler)
        if users:
            entries.append(users)
        value = _Value(users, ":".join(entries))
        self._values[num] = value
        if now != value.ours:
            _write(value.ours)
        if is_remote():  # that way is one of this machine
            gdb.execute("unset environment " + area_fd.VARIABLE,
                        to_string=True)
        else:
            gdb.execute("set environment %s = %s" % (area_fd.VARIABLE,
                                                     area_fd.door.path()),
                        to_string=True)
        self._asan.allow()
        return True

    def _put_back(self) -> None:
        value = self._values.pop(gdb.selected_inferior().num, None)
        if value is None:
            return
        if _read() == value.ours:
            _write(value.users)
        self._asan.put_back()
        gdb.execute("unset environment " + area_fd.VARIABLE, to_string=True)

    def remove(self) -> None:
        """From the selected inferior; from another when it is selected next:
        gdb 13 tells the user of each switch."""
        self._is_removed = True
        self.tidy()

    def tidy(self) -> None:
        if not self._is_removed:
            return
        self._put_back()
        if not self._values:
            self.close()

    def close(self) -> None:
        if self._link is not None:
            temp_folder.remove_link(self._link)
            self._link = None
        if self._sampler is not None:
            temp_folder.remove_link(self._sampler)
            self._sampler = None
