# SPDX-License-Identifier: MIT
"""What all cstrace commands share."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import Any, Iterator, Optional

import gdb

from .. import engine, options
from ..engine import EXISTS, INTERRUPTED, CstraceError
from ..options import Option
from ..session import Session


def _as_ours(text: str) -> str:
    """A message says whose it is."""
    return text if text.startswith("cstrace") else "cstrace: " + text


@contextmanager
def user_errors() -> Iterator[None]:
    """The engine's refusals and ours as gdb shows them: one line, no
    traceback."""
    try:
        yield
    except CstraceError as e:
        text = "interrupted" if e.status == INTERRUPTED else str(e)
        if e.status == EXISTS:
            text += ": -force replaces it"
        raise gdb.GdbError(_as_ours(text)) from None
    except gdb.GdbError as e:
        raise gdb.GdbError(_as_ours(str(e))) from None


class TraceCommand(gdb.Command):
    """A command below `cstrace`, with options."""

    name = ""
    options: list[Option] = []
    rest: Any = gdb.COMPLETE_NONE  # what may follow the options

    def __init__(self, session: Session) -> None:
        super().__init__(self.name, gdb.COMMAND_DATA)
        self.session = session

    def invoke(self, arg: str, from_tty: bool) -> None:
        self.dont_repeat()
        with user_errors():
            values, rest = options.parse(arg or "", self.options, self.name)
            self.run(values, rest)

    def run(self, values: dict[str, Any], rest: str) -> None:
        raise NotImplementedError

    def complete(self, text: str, word: Optional[str]) -> Any:
        return options.complete(text, word, self.options, self.rest)

    def functions(self) -> Any:
        """For a REGEX of the trace's functions: their names, those that mean
        themselves; the program's, before there is a trace."""
        try:
            names = self.session.trace().functions()
        except (gdb.GdbError, CstraceError):
            return gdb.COMPLETE_SYMBOL
        short = {name.partition("(")[0] for name in names}
        return sorted(name for name in short if _PLAIN.fullmatch(name)
                      and (self.session.settings["std"]
                           or not name.startswith(_STD)))


_PLAIN = re.compile(r"[\w:~]+")
_STD = ("std::", "__gnu_cxx::")

DEPTH = Option("depth", options.read_count)
FILTER = Option("filter", options.read_text, gdb.COMPLETE_SYMBOL)
EXCLUDE = Option("exclude", options.read_text, gdb.COMPLETE_SYMBOL)
MIN_TIME = Option("min-time", options.read_time_ns)
THREAD = Option("thread", options.read_thread)
FROM = Option("from", options.read_text)
ALL = Option("all", None)
FORCE = Option("force", None)
FORMAT = Option("format", options.read_one_of(engine.OUTPUTS),
                list(engine.OUTPUTS))
NAMES = Option("names", options.read_one_of(engine.NAMES), list(engine.NAMES))


def choice_of(values: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The named options as arguments of Session.choice()."""
    found = {n: values[n] for n in names if n in values}
    if "thread" in found:
        found["process"], found["thread"] = values["thread"]
    if "min_time" in values:
        found["min_ns"] = values["min_time"]
    if "from" in values:
        found["root"] = values["from"]
    if "names" in values:
        found["names"] = values["names"]
    if "all" in values:
        found["is_all"] = True
    return found
