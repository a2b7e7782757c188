# SPDX-License-Identifier: MIT
"""The names that a condition on values may have, for completion: functions, and
what gdb knows of their arguments."""

from __future__ import annotations

import re
from typing import Any, Iterator, Optional

import gdb

# An option with a condition that is being written: its quote is open.
_OPEN = r"""^(.*?)(?:^|\s)-(?:where|returns)\s+(?:"([^"]*)|'([^']*))$"""
_PATH = r"(?:[\w:~]+\.)*[\w:~]*$"


def _function(name: str) -> Optional[gdb.Block]:
    """The outermost block of the first function of this name."""
    if not re.fullmatch(r"[\w:~]+", name):
        return None
    try:
        _, places = gdb.decode_line(name)
    except gdb.error:
        return None
    block = gdb.block_for_pc(places[0].pc) if places else None
    while block is not None and block.function is None:
        block = block.superblock
    return block


def _arguments(block: gdb.Block) -> dict[str, gdb.Type]:
    return {s.name: s.type for s in block
            if s.is_argument and s.name and s.type is not None}


def _fields(type_: gdb.Type) -> list[str]:
    type_ = type_.strip_typedefs()
    if type_.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        type_ = type_.target().strip_typedefs()
    if "vector<" in str(type_):
        return ["size"]
    if type_.code != gdb.TYPE_CODE_STRUCT:
        return []
    return [f.name for f in type_.fields() if f.name and not f.is_base_class]


def _values(block: gdb.Block, path: list[str]) -> Iterator[str]:
    """What may stand behind these parts of a path."""
    arguments = _arguments(block)
    if not path:
        yield from arguments
        yield "result"
    elif len(path) == 1 and path[0] in arguments:
        yield from _fields(arguments[path[0]])


def _functions(choice: Any, begun: str) -> list[str]:
    """Functions that begin so: the trace's, or those that gdb has."""
    found = choice() if callable(choice) else choice
    if isinstance(found, (list, tuple)):
        return [name for name in found if name.startswith(begun)]
    if not begun:
        return []
    lines = gdb.execute("complete break " + begun, to_string=True) or ""
    found = (line[len("break "):].partition("(")[0]
             for line in lines.splitlines())
    return sorted({name for name in found if re.fullmatch(r"[\w:~]+", name)})


def names(text: str, functions: Any = ()) -> Optional[list[str]]:
    """What the line's last word may be, with what stands before it of a path;
    None: the line does not end in a condition."""
    found = re.match(_OPEN, text, re.S)
    if found is None:
        return None
    path_found = re.search(_PATH, found[2] or found[3] or "")
    assert path_found is not None
    path = path_found[0].split(".")[:-1]
    for word in found[1].split():
        block = _function(word) if word[0] != "-" else None
        if block is not None:
            return [".".join([*path, name])
                    for name in _values(block, path)]
    if not path:
        return ["result", *_functions(functions, path_found[0])]
    block = _function(path[0])
    if block is None:
        return ["result"]
    return [".".join([*path, name]) for name in _values(block, path[1:])]


def complete(text: str, word: Optional[str],
             functions: Any) -> Optional[list[str]]:
    """For gdb.Command.complete(), with a word; None: no condition is open.
    gdb may take all that the quote holds for the word."""
    found = names(text, functions)
    path = re.search(_PATH, text)
    if found is None or word is None or path is None:
        return None
    typed = path[0]
    cut = len(typed) - len(word)
    before = word[:len(word) - len(typed)] if cut < 0 else ""
    return [before + n[max(cut, 0):] for n in found if n.startswith(typed)]
