# SPDX-License-Identifier: MIT
"""Names of the user's that nothing in the program has: a filter of such a name
looks like a program that makes no calls."""

from __future__ import annotations

import os
from typing import Any, Iterator, Optional

import gdb

from .. import engine, locate, planned
from ..trace import Trace
from ..requests import Choice
from ..process import elf, hooks
from ..ui.console import plain
from ..ui.words import count, near

_FUNCTIONS = ("filter", "exclude", "from_", "until")


def no_function(word: str, near: str, n_inlined: int) -> str:
    """n_inlined: in how many places the compiler inlined it."""
    return "no function matches '%s'%s" % (
        plain(word), ": it was inlined in " + count(n_inlined, "place")
        if n_inlined else ": did you mean %s?" % near if near else "")


def inlined(word: str) -> str:
    """That calls of the word's functions are not seen in the program, as it
    has no hooks; or ""."""
    program = hooks.program()
    n = planned.inlined(program, word, Choice()) if program else 0
    return no_function(word, "", n) if n else ""


def nothing_in(where: str, word: str, near: str) -> str:
    """That a trace has no function there, in the words of the command."""
    return "no function of the trace is %s '%s'%s" % (
        where, plain(word), ": did you mean %s?" % near if near else "")


def uncalled(trace: Trace, choice: Choice) -> str:
    """That nothing is shown, as the call that it begins with was not made; or
    ""."""
    word = (choice.from_ or b"").decode("utf-8", "surrogateescape")
    if (not word or word[0].isdigit() or not trace.status().n_calls
            or trace.has_function(word, choice)[0]):
        return ""
    return ", but '%s' was never called: only -all shows them" % plain(word)


def _libraries(program: str) -> list[str]:
    needed, _missing = elf.needed_files(program)
    loaded = [locate.file_name(o) for o in gdb.objfiles() if o.owner is None]
    return [f for f in dict.fromkeys([*needed, *loaded]) if f and f != program]


def _files(program: str) -> Iterator[str]:
    """Where functions with hooks are: files, and their debug files."""
    files = [program, *filter(hooks.uses_hooks, _libraries(program))]
    yield from files
    for objfile in gdb.objfiles():
        owner = objfile.owner
        if owner is not None and locate.file_name(owner) in files:
            yield locate.file_name(objfile) or ""


def _function(program: str, word: str, choice: Choice) -> Optional[str]:
    found = [engine.file_has_function(f, word, choice)
             for f in _files(program)]
    known = [f for f in found if f is not None]
    if not known or any(is_there for is_there, _near in known):
        return None
    return no_function(word, next((near for _, near in known if near), ""),
                       planned.inlined(program, word, choice))


_SYSTEM = ("/usr/include/", "/usr/lib/")


def source_names() -> set[str]:
    """The names of the program's source files, as far as gdb knows them."""
    try:
        text = gdb.execute("info sources .", to_string=True)
    except gdb.error:
        return set()
    # "/bin/app:" stands above those of an object file.
    paths = (path for line in text.splitlines() if line[-1:] != ":"
             for path in line.split(", "))
    return {os.path.basename(path) for path in paths
            if path[:1] == "/" and path[-1:] != ">"
            and not path.startswith(_SYSTEM)}


def module_names() -> set[str]:
    """The names of the program and its libraries."""
    program = hooks.program()
    if program is None:
        return set()
    return {os.path.basename(f) for f in [program, *_libraries(program)]}


def _near(word: str, names: set[str]) -> str:
    found = near(os.path.basename(word), sorted(names))
    return ": did you mean %s?" % plain(found) if found else ""


def _source(word: str) -> Optional[str]:
    try:
        gdb.decode_line('"%s":1' % word)
    except gdb.error as e:
        if "No source file named" in str(e):
            return "no source file is called '%s'%s" % (
                plain(word), _near(word, source_names()))
    return None


def _module(word: str) -> Optional[str]:
    names = module_names()
    last = os.path.basename(word)
    if any(name == last or name.startswith(last + ".so") for name in names):
        return None
    return "no program or library is called '%s' so far%s" % (
        plain(word), _near(word, names))


def lines(words: dict[str, Any], choice: Choice,
          trace: Optional[Trace]) -> list[str]:
    """What to say of words for parts of a choice, by their keys."""
    program, notes = hooks.program(), []
    for key, word in words.items():
        if not word or program is None:
            continue
        if key in _FUNCTIONS and not word[0].isdigit() and not (
                trace and trace.has_function(word, choice)[0]):
            notes.append(_function(program, word, choice))
        elif key == "file":
            notes.append(_source(word))
        elif key == "module":
            notes.append(_module(word))
    return [line for line in notes if line]
