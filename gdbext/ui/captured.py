# SPDX-License-Identifier: MIT
"""What gdb prints at a stop, read: it has no string of that, so what it writes to
goes elsewhere meanwhile.  A log is written beside the standard output, or in its
place; a front end has records there; the TUI is left meanwhile; `new-ui` has a
terminal of its own."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import select
import tty
from typing import Callable, Iterator, NamedTuple, Optional

import gdb

from .console import is_logging, is_mi, is_tui, uncounted, write

_STDOUT = 1
_PART = 4096  # that is read at once
_PATIENCE = 0.2  # seconds
_ESCAPED = re.compile(r'\\(?:([0-7]{3})|(.))')
_LETTERS = {"n": b"\n", "t": b"\t", "r": b"\r", "e": b"\033", "a": b"\a",
            "b": b"\b", "f": b"\f", "v": b"\v"}
_COLOUR = r"(?:\033\[[0-9;]*m)*"
# It has a window of its own in the TUI.
_SOURCE_LINE = re.compile(
    r"^%s(?:0x[0-9a-f]+%s\t)?%s\d+%s\t.*\r?\n" % ((_COLOUR,) * 4), re.M)
_RUNNING = re.compile(r"\d*\^running")  # behind a command's token
# A stop that comes again names its signal twice.
_SIGNAL = re.compile(r"\A\n[^\n]* received signal SIG\w+, [^\n]*\n")
_TWICE = re.compile(r'^(\*stopped,)((?:[\w-]+="[^"]*",)+)\2')


class Printed(NamedTuple):
    """That was not shown."""

    text: str
    records: str = ""  # a front end's, of others than text
    result: str = ""  # the record of a command that has not run the program
    others: tuple[tuple[int, str], ...] = ()  # other interfaces' terminals

    def show(self) -> None:
        for line in self.text.splitlines(keepends=True):
            write(line)
        write_records(self.records)
        for fd, shown in self.others:
            _write(fd, shown)


def write_records(records: str) -> None:
    if records:
        gdb.flush()
        _write(_STDOUT, records)


def _write(fd: int, text: str) -> None:
    with open(fd, "wb", closefd=False) as f:
        f.write(text.encode(errors="surrogateescape"))


def is_possible() -> bool:
    return not is_logging() or bool(_logs())


def printed(command: str) -> Printed:
    """Executes it, and returns what gdb has printed meanwhile, but that there
    has been a signal."""
    has_tui = is_tui()
    if has_tui:
        gdb.execute("tui disable")
    text, others = _printed(command, _logs() if is_logging() else [])
    if has_tui:
        gdb.execute("tui enable")
        text = _SOURCE_LINE.sub("", text, count=1)
    found = _of_records(text) if is_mi() else Printed(text)
    return found._replace(text=_SIGNAL.sub("", found.text), others=tuple(
        (fd, _once(shown)) for fd, shown in others.items() if shown))


def _printed(command: str, logs: list[int]) -> tuple[str, dict[int, str]]:
    """Returns what the first user interface has been shown, and the others."""
    others = _other_uis()
    with contextlib.ExitStack() as stack:
        ends = [stack.enter_context(_elsewhere(fd)) for fd in logs + others]
        end = stack.enter_context(_elsewhere(_STDOUT))
        with contextlib.suppress(gdb.error), uncounted():
            gdb.execute(command)  # a call that ends so, as it is to
    text, found = _all_of(end), [_all_of(fd) for fd in ends]
    n = len(logs)
    return (text or next(filter(None, found[:n]), ""),
            dict(zip(others, found[n:])))


class Changed:
    """What a command prints, from a hook before it to the one behind it, is shown
    as `change` gives it back."""

    def __init__(self, change: Callable[[str], str]) -> None:
        self._change = change
        self._open: Optional[contextlib.ExitStack] = None
        self._ends: list[tuple[int, int]] = []

    def begin(self) -> None:
        """No command that may fail: it would have no hook behind it."""
        self.end()
        self._open = stack = contextlib.ExitStack()
        if is_tui():
            gdb.execute("tui disable")
            stack.callback(gdb.execute, "tui enable")
        for fd in (_STDOUT, *(_logs() if is_logging() else ()), *_other_uis()):
            end = stack.enter_context(_elsewhere(fd))
            self._ends.append((fd, end))

    def end(self) -> None:
        if self._open is None:
            return
        self._open.close()
        self._open = None
        for fd, end in self._ends:
            _write(fd, self._change(_all_of(end)))
        self._ends = []


def _descriptors() -> Iterator[tuple[int, str]]:
    """gdb's, and what each is of."""
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # that of the folder itself
            yield int(name), os.readlink("/proc/self/fd/" + name)


def _other_uis() -> list[int]:
    """The terminals of gdb's user interfaces but the first: it reads and writes
    them."""
    return [fd for fd, path in _descriptors()
            if fd > 2 and os.isatty(fd) and not path.endswith("/ptmx")
            and fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDWR]


def _once(shown: str) -> str:
    """What another user interface has been shown already is left out."""
    lines = shown.splitlines(keepends=True)
    if not any(line.startswith("*stopped") for line in lines):
        return _SIGNAL.sub("", shown)
    named = max((n for n, line in enumerate(lines) if line.startswith('~"')
                 and " received signal SIG" in line), default=-1)
    return "".join(_TWICE.sub(r"\1\2", line) for n, line in enumerate(lines)
                   if not line.startswith("*running")
                   and (n > named or not line.startswith('~"')))


def _logs() -> list[int]:
    """gdb's descriptors of its log."""
    path = os.path.realpath(gdb.parameter("logging file"))
    return [fd for fd, its_path in _descriptors() if its_path == path]


@contextlib.contextmanager
def _elsewhere(fd: int) -> Iterator[int]:
    """Yields what can be read behind that, of what is written to fd within."""
    own = os.dup(fd)
    to, read_from = _file(fd)
    gdb.flush()
    os.dup2(to, fd)
    os.close(to)
    try:
        yield read_from
    finally:
        gdb.flush()
        os.dup2(own, fd)
        os.close(own)


def _file(fd: int) -> tuple[int, int]:
    """Returns a descriptor to write to, which is a terminal if fd is one, for
    its colours, and one to read from when that is closed."""
    if not os.isatty(fd):
        to = os.memfd_create("cstrace", os.MFD_CLOEXEC)
        return to, os.dup(to)
    read_from, to = os.openpty()
    tty.setraw(to)
    # Nobody reads meanwhile: what is too much is lost.
    os.set_blocking(to, False)
    return to, read_from


def _all_of(fd: int) -> str:
    found = b""
    with contextlib.suppress(OSError):  # of a file
        os.lseek(fd, 0, os.SEEK_SET)
    with contextlib.suppress(OSError):  # a terminal ends so
        # It does not end where somebody else has opened it meanwhile.
        while select.select([fd], [], [], _PATIENCE)[0]:
            part = os.read(fd, _PART)
            if not part:
                break
            found += part
    os.close(fd)
    return found.decode(errors="surrogateescape")


def _of_records(lines: str) -> Printed:
    """For a front end the program has not run since it was shown to run."""
    text, records, result = "", "", ""
    for line in lines.splitlines(keepends=True):
        if line.startswith('~"'):
            text += _unescaped(line.rstrip()[2:-1])
        elif _RUNNING.match(line):
            result = line.replace("^running", "^done")
        elif not line.startswith(("*running", "(gdb)")):
            records += _TWICE.sub(r"\1\2", line)
    return Printed(text, records, result)


def _unescaped(text: str) -> str:
    def of(match: re.Match[str]) -> str:
        octal, letter = match.groups()
        raw = bytes([int(octal, 8)]) if octal else _LETTERS.get(
            letter, letter.encode())
        return raw.decode("latin-1")

    raw = text.encode(errors="surrogateescape").decode("latin-1")
    return _ESCAPED.sub(of, raw).encode("latin-1").decode(
        errors="surrogateescape")
