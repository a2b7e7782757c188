# SPDX-License-Identifier: MIT

from __future__ import annotations

import os
from typing import Any, NamedTuple, Optional

import gdb

from ..answers import Call, Source
from ..session.naming import symbol_places
from ..ui import options
from ..ui.console import plain, say
from .base import TraceCommand

_BEFORE, _LINES = 5, 10  # as `list` does


class _Place(NamedTuple):
    file: str
    line: int


def _address(function: str) -> Optional[int]:
    """The address of a function that gdb's tables spell in another way."""
    try:
        found = gdb.decode_line(function)[1]
    except gdb.error:
        return None
    return found[0].pc if found else None


def _symbol_at(addr: Optional[int]) -> Optional[gdb.Symbol]:
    block = gdb.block_for_pc(addr) if addr is not None else None
    while block is not None and block.function is None:
        block = block.superblock
    return block.function if block is not None else None


def _own_place(call: Call, is_live: bool, source: Source) -> Optional[_Place]:
    """Where the function is written, as gdb's symbols have it, or the debug
    information of the program that was traced."""
    symbol = (gdb.lookup_global_symbol(call.function)
              or gdb.lookup_static_symbol(call.function))
    if symbol is None:
        symbol = _symbol_at(call.addr if is_live
                            else _address(call.function))
    if symbol is not None and symbol.symtab is not None:
        return _Place(symbol.symtab.fullname(), symbol.line)
    if source.own_file is not None and source.own_line:
        return _Place(source.own_file, source.own_line)
    return None


def _write_lines(place: _Place, first: int) -> bool:
    """Ten lines, by gdb where it knows the file; False: nobody has it."""
    last = first + _LINES - 1
    try:
        gdb.execute('list "%s":%d,%d' % (place.file, first, last))
        return True
    except gdb.error:
        pass
    try:
        with open(place.file, encoding="utf-8", errors="replace") as f:
            lines = f.read().splitlines()[first - 1:last]
    except OSError:
        return False
    gdb.write("".join("%d\t%s\n" % (n, line)
                      for n, line in enumerate(lines, first)))
    return True


def _show(what: str, place: _Place, first: int) -> None:
    gdb.write("%s %s:%d\n" % (plain(what), plain(place.file), place.line))
    if not _write_lines(place, max(first, 1)):
        say("the source file is not here: `set substitute-path` says where")


def _show_exception(row: Call, source: Source) -> None:
    """It has one place, that of the `throw` or the handler."""
    if source.call_file is not None and row.line:
        _show("%s is at" % row.name, _Place(found_file(source.call_file), row.line),
              row.line - _BEFORE)
    else:
        say("nothing tells where %s is" % row.name)


class ListCommand(TraceCommand):
    """Show the source where a call was made, and of the function.

    Usage: cstrace list ID

    ID is a call's number as rows have it (1.42).  Where an exception is
    thrown or caught, only that place is shown.  `list` goes on from there."""

    name = "cstrace list"

    def run(self, values: dict[str, Any], rest: str) -> None:
        id, more = options.first_word(rest)
        options.no_more(more, self.name)
        if not id:
            raise gdb.GdbError("cstrace list: which call?  As in: "
                               "cstrace list 1.42")
        trace = self.session.trace()
        call, source = trace.call(id), trace.source(id, symbol_places())
        if call.is_exception:
            _show_exception(call, source)
            return
        own = _own_place(call, self.session.is_recording(), source)
        if source.call_file is not None and call.line:
            _show("%s was called at" % call.name,
                  _Place(found_file(source.call_file), call.line),
                  call.line - _BEFORE)
        else:
            say("nothing tells where %s was called" % call.name)
        if own is not None:
            _show("%s is at" % call.name, own, own.line - 1)
        else:
            say("no debug information tells where %s is" % call.name)


def found_file(file: str) -> str:
    """The full path of a file named as it was compiled."""
    if os.path.isabs(file):
        return file
    try:
        found = gdb.decode_line('"%s":1' % file)[1]
    except gdb.error:
        return file
    return found[0].symtab.fullname() if found else file
