# SPDX-License-Identifier: MIT
"""Answers the recorder's questions for names from gdb's own tables, and tells
the engine where gdb would look for symbols."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Optional

import gdb

from ..ui import ctrlc
from ..ui.console import say
from ..engine import ASK_FUNCTION
from ..locate import file_name
from ..recorder import Recorder
from ..trace import Trace

if TYPE_CHECKING:
    from .recording import Recording


def function_block(addr: int) -> Optional[gdb.Block]:
    """The block of the function that physically holds addr; inlined ones are
    passed over."""
    block = gdb.block_for_pc(addr)
    found = None
    while block is not None and not (block.is_global or block.is_static):
        if block.function is not None:
            found = block
        block = block.superblock
    return found


def function_at(addr: int) -> Optional[gdb.Symbol]:
    """The function that physically holds addr."""
    block = function_block(addr)
    return block.function if block is not None else None


def _linkage_name(symbol: gdb.Symbol) -> Optional[str]:
    try:
        return symbol.linkage_name or symbol.name
    except UnicodeError:
        return None  # the engine reads the object's symbols itself


def _source(symbol: gdb.Symbol) -> Optional[str]:
    """Where the function's code is from. One that a system header declares,
    too, has that for its symtab, though it is the program's own."""
    try:
        begin = int(symbol.value().address)
        symtab = gdb.find_pc_line(begin).symtab or symbol.symtab
    except gdb.error:
        symtab = symbol.symtab
    return file_name(symtab) if symtab else None


def _answer_function(recorder: Recorder, id: int, addr: int) -> None:
    symbol = function_at(addr)
    if symbol is None:
        recorder.answer(id, None, None, 0)
        return
    recorder.answer(id, _linkage_name(symbol), _source(symbol), 0)


def _answer_line(recorder: Recorder, id: int, addr: int) -> None:
    line = gdb.find_pc_line(addr)
    if line.symtab is None:
        recorder.answer(id, None, None, 0)
    else:
        recorder.answer(id, None, file_name(line.symtab), line.line)


def _answer(recorder: Recorder, questions: list[Any]) -> None:
    for id, kind, addr in questions:
        answer = _answer_function if kind == ASK_FUNCTION else _answer_line
        try:
            answer(recorder, id, addr)
        except (gdb.error, RuntimeError, UnicodeError):
            recorder.answer(id, None, None, 0)


_waiting: list[Callable[[], None]] = []


def answer_waiting() -> None:
    """In the inferior that is asked about; see _in_inferior()."""
    while _waiting:
        _waiting.pop()()


def _in_inferior(num: int, answer: Callable[[], None]) -> None:
    """gdb looks addresses up in the program of the selected inferior, which
    need not be the one that runs: after an exec with follow-exec-mode new, or
    when the user has selected another."""
    thread = None
    if gdb.selected_inferior().num != num:
        thread = next((i.threads()[0] for i in gdb.inferiors()
                       if i.num == num and i.threads()), None)
    if thread is None:
        answer()
        return
    _waiting.append(answer)
    # The one way there and back that neither tells nor changes anything.
    gdb.execute("thread apply %d.%d -q python "
                "__import__('sys').modules['%s'].answer_waiting()"
                % (num, thread.num, __name__), to_string=True)


def answer_all(recording: Recording) -> int:
    """Answer what waits; returns how many there were."""
    recorder, n = recording.recorder, 0
    while True:
        # A question that was taken and not answered would be waited for.
        with ctrlc.kept():
            questions = recorder.questions()
            if not questions:
                return n
            _in_inferior(recording.inferior_num,
                         partial(_answer, recorder, questions))
        n += len(questions)


def drain(recording: Recording) -> None:
    """Take all that the program has written, names and all."""
    n_idle = 0
    while not recording.recorder.drain():
        # Questions are there whenever drain() says so; should they not be,
        # better a row without its name than a gdb that hangs.
        n_idle = 0 if answer_all(recording) else n_idle + 1
        if n_idle > 1000:
            return
    # With no live rows to draw, drain() does not wait for names.
    answer_all(recording)


def tell_debug_files(recorder: Recorder) -> None:
    """Separate debug files, which gdb has found and the engine would not."""
    for objfile in gdb.objfiles():
        owner = objfile.owner
        if owner is None:
            continue
        module, debug_file = file_name(owner), file_name(objfile)
        if module and debug_file:
            recorder.debug_file(module, debug_file)


def symbol_places() -> list[str]:
    """What gdb has read, then where it would look for debug files."""
    files = [file_name(objfile) for objfile in gdb.objfiles()]
    folders = (gdb.parameter("debug-file-directory") or "").split(":")
    return [place for place in files + folders if place]


def load_trace(path: str) -> Trace:
    """A saved trace, with the names that can be found here."""
    trace = Trace.load(path)
    trace.rename(symbol_places(), lambda text: say(
        text + "; `set debug-file-directory` says where to look"))
    return trace
