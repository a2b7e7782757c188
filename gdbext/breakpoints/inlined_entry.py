# SPDX-License-Identifier: MIT
"""What the names of an expression are at the entry of an inlined function.

gdb shows breakpoints of the user's the inlined function there, and all others
the function that it was inlined into, whose variables are other ones even where
they have the same names."""

from __future__ import annotations

import re
from typing import Iterable, Optional

import gdb
import gdb.types

_TOKEN = re.compile(
    r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[$\w]+|->|::|\s+|.""", re.S)
_VARIABLE = "_cstrace_%s"  # gdb's variable for one of the program's


def _name_of(symbol: gdb.Symbol) -> str:
    return str(symbol.print_name)


def _variables(blocks: Iterable[gdb.Block]) -> dict[str, gdb.Symbol]:
    """Finds them by name; those of inner blocks hide the others."""
    found: dict[str, gdb.Symbol] = {}
    for block in blocks:
        for symbol in block:
            if symbol.is_argument or symbol.is_variable:
                found.setdefault(_name_of(symbol), symbol)
    return found


class InlinedEntry:
    """The variables of an inlined function whose frame gdb hides."""

    def __init__(self, inner: list[gdb.Block],
                 outer: list[gdb.Block]) -> None:
        self._own = _variables(inner)
        self._others = set(_variables(outer)) - set(self._own)
        this = self._own.get("this")
        self._class = (this.type.target().strip_typedefs()
                       if this is not None and this.type is not None else None)

    def _variable(self, name: str, frame: gdb.Frame) -> str:
        """Names the value of one for gdb's parser."""
        value = self._own[name].value(frame)
        at = None if value.is_optimized_out else value.address
        gdb.set_convenience_variable(_VARIABLE % name,
                                     value if at is None else at)
        return ("$%s" if at is None else "(*$%s)") % (_VARIABLE % name)

    def _word(self, name: str, frame: gdb.Frame) -> str:
        if name in self._own:
            return self._variable(name, frame)
        if self._class is not None and gdb.types.has_field(self._class, name):
            return "(%s->%s)" % (self._variable("this", frame), name)
        if name in self._others:
            raise gdb.error("No symbol \"%s\" in current context." % name)
        return name

    def rewritten(self, expression: str, frame: gdb.Frame) -> str:
        """The expression as it has to be evaluated in the frame.  Raises
        gdb.error for a variable of the outer function."""
        tokens = _TOKEN.findall(expression)
        solid = [i for i, token in enumerate(tokens) if not token.isspace()]
        for at, i in enumerate(solid):
            before = tokens[solid[at - 1]] if at else ""
            after = tokens[solid[at + 1]] if at + 1 < len(solid) else ""
            if (re.fullmatch(r"[A-Za-z_]\w*", tokens[i])
                    and before not in (".", "->", "::") and after != "::"):
                tokens[i] = self._word(tokens[i], frame)
        return "".join(tokens)


def _is(block: gdb.Block, function: Optional[gdb.Symbol]) -> bool:
    """Symbols are new objects each time, and never equal."""
    one = block.function
    return (one is not None and function is not None
            and (one.linkage_name, one.line, one.symtab.filename)
            == (function.linkage_name, function.line,
                function.symtab.filename))


def inlined_entry(frame: gdb.Frame) -> Optional[InlinedEntry]:
    """None: gdb hides nothing of the frame."""
    shown = frame.function()
    block = gdb.block_for_pc(frame.pc())
    inner: list[gdb.Block] = []
    while block is not None and not _is(block, shown):
        if block.is_static or block.is_global:
            return None
        inner.append(block)
        block = block.superblock
    if block is None or all(one.function is None
                            for one in inner):
        return None
    outer: list[gdb.Block] = []
    while block is not None and not block.is_static:
        outer.append(block)
        block = block.superblock
    # The blocks around the place where it was inlined are not its own.
    n = 1 + next(i for i, one in enumerate(inner) if one.function)
    return InlinedEntry(inner[:n], inner[n:] + outer)
