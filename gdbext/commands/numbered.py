# SPDX-License-Identifier: MIT
"""What has a number of ours is listed, deleted, disabled and enabled by gdb's own
words, as breakpoints are."""

from __future__ import annotations

import re
from typing import Any, Callable, Mapping, Protocol, Sequence

import gdb

from ..session.session import Session
from ..ui import options
from ..ui.console import say
from .base import TraceCommand, user_errors


class Numbered(Protocol):
    """A list of such things, by their numbers."""

    @property
    def all(self) -> Mapping[int, Any]:
        ...

    def delete(self, number: int) -> None:
        ...

    def enable(self, number: int, is_enabled: bool) -> None:
        ...


def write_list(items: Numbered, lines: Callable[[Any], Sequence[str]],
               none: str) -> None:
    """Each with its lines: what it is, and below that what else is known of it;
    none: the line that is shown if there is none."""
    if not items.all:
        say(none)
        return
    gdb.write("Num  Enb  What\n")
    for number, one in items.all.items():
        what, *more = lines(one)
        # A logpoint in place has its breakpoint off.
        is_on = getattr(one, "is_on", one.enabled)
        gdb.write("%-4d %-4s %s\n" % (number, "y" if is_on else "n", what))
        for line in more:
            gdb.write("          %s\n" % line)


class InfoCommand(TraceCommand):
    """One that lists such things; `none` and lines() are as for write_list()."""

    none = ""

    def __init__(self, session: Session, items: Numbered) -> None:
        super().__init__(session)
        self._items = items

    def lines(self, one: Any) -> Sequence[str]:
        raise NotImplementedError

    def run(self, values: dict[str, Any], rest: str) -> None:
        options.no_more(rest, self.name)
        write_list(self._items, self.lines, self.none)


def _numbers(text: str, items: Numbered, command: str, what: str) -> list[int]:
    """The numbers of "1 3-5", all that there are for none."""
    found: list[int] = []
    for word in text.split():
        m = re.fullmatch(r"(\d+)(?:-(\d+))?", word)
        if not m:
            raise gdb.GdbError('%s: "%s" is not the number of a %s'
                               % (command, word, what))
        first, last = int(m.group(1)), int(m.group(2) or m.group(1))
        there = [n for n in items.all if first <= n <= last]
        if not there:
            raise gdb.GdbError("%s: no %s %s; `info %s` lists them"
                               % (command, what, word, command.split()[1]))
        found += there
    return found or list(items.all)


class _EachCommand(gdb.Command):
    """One of gdb's own words, for these things."""

    def __init__(self, verb: str, name: str, what: str, items: Numbered,
                 do: Callable[[int], None]) -> None:
        self._name = "%s %s" % (verb, name)
        self._what = what
        self.__doc__ = "%s %ss, all without a number.\n\nUsage: %s [NUMBER...]" % (
            verb.capitalize(), what, self._name)
        self._items = items
        self._do = do
        super().__init__(self._name, gdb.COMMAND_BREAKPOINTS,
                         gdb.COMPLETE_NONE)

    def invoke(self, arg: str, from_tty: bool) -> None:
        self.dont_repeat()
        with user_errors():
            if not self._items.all and not arg:
                say("there is no %s" % self._what)
            for number in _numbers(arg, self._items, self._name, self._what):
                self._do(number)


def each_commands(name: str, what: str, items: Numbered) -> None:
    """`delete NAME`, `disable NAME` and `enable NAME`; what: one of them."""
    _EachCommand("delete", name, what, items, items.delete)
    _EachCommand("disable", name, what, items,
                 lambda n: items.enable(n, False))
    _EachCommand("enable", name, what, items,
                 lambda n: items.enable(n, True))
