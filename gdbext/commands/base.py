# SPDX-License-Identifier: MIT
"""What all cstrace commands share."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import Any, Iterator, Optional, Union

import gdb

from .. import requests
from ..ui import options
from ..ui.console import plain, say
from ..engine import (
    EXISTS, INTERRUPTED, CstraceError, choice_text, losses)
from ..requests import Choice
from ..trace import Trace
from ..ui.options import Option
from ..ui.words import count
from ..session import mistakes
from ..session.session import Session


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
        allowed = [o._replace(completion=self.functions())
                   if o.read is options.read_function
                   else o._replace(completion=self.functions)
                   if o.name == "where" else o for o in self.options]
        return options.complete(text, word, allowed, self.rest)

    def functions(self) -> Any:
        return function_names(self.session)


def function_names(session: Session) -> Any:
    """For a REGEX of the trace's functions: their names, those that mean
    themselves, in full and as rows have them; the program's symbols, before
    there is a trace."""
    try:
        names = session.trace().functions()
    except (gdb.GdbError, CstraceError):
        return gdb.COMPLETE_SYMBOL
    found = {name for name in (n.partition("(")[0] for n in names)
             if re.fullmatch(_PLAIN, name) and (session.settings["std"]
                                            or not name.startswith(_STD))}
    return sorted(found | {"::".join(n.split("::")[-2:]) for n in found})


# Neither an exception's row nor what is left of "operator()".
_PLAIN = r"(?!(throw|catch)$)(?!.*\boperator$)[\w:~]+"
_STD = ("std::", "__gnu_cxx::")

DEPTH = Option("depth", options.read_count)
FILTER = Option("filter", options.read_function, gdb.COMPLETE_SYMBOL)
EXCLUDE = Option("exclude", options.read_function, gdb.COMPLETE_SYMBOL)
MIN_TIME = Option("min-time", options.read_time_ns)
THREAD = Option("thread", options.read_thread)
RANGE = Option("range", options.read_range)
BELOW = Option("below", options.read_text)
FROM = Option("from", options.read_function, gdb.COMPLETE_SYMBOL)
UNTIL = Option("until", options.read_function, gdb.COMPLETE_SYMBOL)
IN = Option("in", options.read_text, mistakes.source_names)
MODULE = Option("module", options.read_text, mistakes.module_names)
WHERE = Option("where", options.read_text)
# What chooses calls in every command that shows, sums up or saves them.
CHOICE = [DEPTH, FILTER, EXCLUDE, IN, MODULE, FROM, UNTIL, MIN_TIME,
          RANGE]
ALL = Option("all", None)
SAMPLES = Option("samples", None)
FORCE = Option("force", None)
FORMAT = Option("format", options.read_one_of(requests.OUTPUTS),
                list(requests.OUTPUTS))
NAMES = Option("names", options.read_one_of(requests.NAMES),
               list(requests.NAMES))


def choice_of(values: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The options that choose calls, and the named ones, as arguments of
    Session.choice()."""
    found = {_PARTS.get(n, n): value for n, value in values.items()
             if n in names or n in _CHOOSING}
    if "thread" in found:
        found["process"], found["thread"] = values["thread"]
    if "at" in values:
        found["at_ns"] = values["at"]
    if "names" in values:
        found["names"] = values["names"]
    if "samples" in values:
        found["samples"] = True
    if "all" in values:
        found["is_all"] = True
    return found


def write_note(trace: Trace, choice: Choice) -> None:
    """Behind the rows: what was left out of them, and by what."""
    note = trace.note(choice, choice.has_more)
    if note:
        gdb.write("# %s\n" % plain(note))
    for line in _wrong_words(trace, choice, choice.exclude, choice.until):
        gdb.write("# %s\n" % line)
    lacking = choice.where and trace.lacks(choice.where)
    if lacking:  # beside what some function has
        gdb.write("# %s\n" % plain(lacking))
    for line in losses(trace.status()):
        gdb.write("# %s\n" % line)


def _wrong_words(trace: Trace, choice: Choice,
                 *words: Union[str, bytes, None]) -> Iterator[str]:
    """Yields the words for functions that mean no function of the trace."""
    for word in words:
        if isinstance(word, bytes):
            word = word.decode("utf-8", "surrogateescape")
        if not word or word[0].isdigit():
            continue
        is_there, near = trace.has_function(word, choice)
        if not is_there:
            yield mistakes.no_function(word, near,
                                       trace.inlined(word, choice))


def _elsewhere(trace: Trace, choice: Choice) -> Iterator[str]:
    """Yields the file or module that has no function of the trace."""
    for what, where, word in (("file", "defined in", choice.file),
                              ("module", "in", choice.module)):
        if not word:
            continue
        name = word.decode("utf-8", "surrogateescape")
        is_there, near = trace.has_part(what, name)
        if not is_there:
            yield mistakes.nothing_in(where, name, near)


def tell_none(trace: Trace, choice: Choice, what: str,
              *words: Optional[str]) -> None:
    """An empty answer: the command has failed, unless there is nothing at
    all."""
    status = trace.status()
    if not status.n_calls:
        if status.n_samples:
            say("no calls, but %s: `cstrace report` sums them up"
                % count(status.n_samples, "sample"))
        elif status.sample_hz:
            say("no samples yet: they come while the program runs")
        else:
            say("no calls recorded: `cstrace check` tells why")
        return
    for line in _wrong_words(trace, choice, *words, choice.filter,
                             choice.from_):
        raise gdb.GdbError(line)
    for line in _elsewhere(trace, choice):
        raise gdb.GdbError(line)
    lacking = choice.where and trace.lacks(choice.where)
    if lacking:
        raise gdb.GdbError(plain(lacking))
    chosen = plain(choice_text(choice))
    # The choice hides calls, not the functions that a word names.
    if trace.hides_std() and not (any(words) and chosen):
        raise gdb.GdbError("no such %s but the C++ library's or system "
                           "headers', which `set cstrace std on` shows" % what)
    if choice.has_more:
        chosen += "; -all shows the others"
    raise gdb.GdbError("no such %s%s" % (what,
                                         " (%s)" % chosen if chosen else ""))


# Options that a choice has another word for.
_PARTS = {"in": "file", "from": "from_", "below": "root",
          "min_time": "min_ns", "range": "time_range"}
_CHOOSING = {option.name.replace("-", "_") for option in CHOICE} | {
    "below", "where"}
