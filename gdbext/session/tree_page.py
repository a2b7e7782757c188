# SPDX-License-Identifier: MIT
"""A page of a trace's rows: the last ones, or those around a call.  It is made
in a few milliseconds, however long the trace is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from ..requests import Calls, Look
from ..engine import CstraceError
from ..trace import Trace

if TYPE_CHECKING:
    from .session import Session

_STYLE = r"\x1b\[[0-9;]*m"
_ID = r"(?:(\d+):)?(\d+)\.(\d+)"
_START = r" *(\d+)\.(\d{6}) "
_FEWEST, _MOST = 200, 12_800  # calls that are looked at for one page
_MOST_ROWS = 3000


class Row(NamedTuple):
    """One call, or several that are folded into one row."""

    text: str  # with its colours
    plain: str
    id: str
    depth: int  # in blanks

    def lane(self) -> str:
        return self.id.rpartition(".")[0]


def _numbers(id: str) -> Optional[tuple[str, int]]:
    """What stands before the call's own number, and that; None for a call
    that was open when the trace began."""
    m = re.fullmatch(_ID, id)
    return (id.rpartition(".")[0], int(m[3])) if m else None


def _rows(lines: list[str]) -> list[Row]:
    """The rows of a tree; notes, which begin with "#", are left out."""
    found: list[Row] = []
    at_id = at_call = 0
    for line in lines:
        plain = re.sub(_STYLE, "", line)
        if plain.startswith("#"):
            heading = re.search(r"(ID) +.*?(CALL)", plain)
            if heading is not None:
                at_id, at_call = heading.start(1), heading.start(2)
                at_id = 0 if at_id == len("# ") else at_id
            continue
        id = plain[at_id:].partition(" ")[0].rstrip("*")
        name = plain[at_call:]
        found.append(Row(line, plain, id, len(name) - len(name.lstrip())))
    return found


class TreePage:
    """The rows that a window scrolls in."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.rows: list[Row] = []
        self.is_newest = True  # the last row is the trace's last one
        self.width = 80
        self._n_last = _FEWEST  # calls that the last rows took

    def trace(self) -> Optional[Trace]:
        """Without a word to the program, which may run; None: there is none."""
        s = self._session
        if s.recording is not None and s.recording.is_on:
            return s.recording.recorder.trace()
        return s.kept

    def _look(self) -> Look:
        """What the settings say."""
        s = self._session
        look = s.look()
        look.color = s.report_look().color
        look.fold = s.settings["fold"] != "off"
        look.id = True
        look.width = self.width
        return look

    def _read(self, trace: Trace, look: Look, **own: Any) -> list[str]:
        """Whole lines, up to _MOST_ROWS."""
        texts: list[str] = []
        n_lines = 0

        def write(text: str) -> bool:
            nonlocal n_lines
            texts.append(text)
            n_lines += text.count("\n")
            return n_lines < _MOST_ROWS

        try:
            trace.show(look, self._session.choice(**own), write)
        except CstraceError:
            if n_lines < _MOST_ROWS:
                raise
        text = "".join(texts)
        return text[:text.rfind("\n") + 1].splitlines()

    def _start_ns(self, trace: Trace, id: str) -> int:
        """When the call began, to a microsecond: 0 where it is not shown."""
        look = Look(timestamp=1, id=True)
        for line in self._read(trace, look, is_all=True, from_=id, until=id):
            m = re.match(_START, line)
            if m is not None:
                return int(m[1]) * 10**9 + int(m[2]) * 1000
        return 0

    def read_last(self, n_rows: int) -> None:
        """At least so many rows, if there are that many among the last
        calls."""
        trace = self.trace()
        self.is_newest = True
        self.rows = []
        if trace is None or not trace.status().n_calls:
            return
        n = max(_FEWEST, n_rows, self._n_last // 4)
        while True:
            self.rows = _rows(self._read(trace, self._look(), last=n))
            self._n_last = n
            if (len(self.rows) >= n_rows or n >= _MOST
                    or n >= trace.status().n_calls):
                return
            n *= 4

    def read_around(self, id: str, n_rows: int) -> None:
        """So many rows on both sides of the call."""
        trace, numbers = self.trace(), _numbers(id)
        if trace is None:
            return
        if numbers is None:
            self.rows = _rows(self._read(trace, self._look(), around=id))
            self.is_newest = False
            return
        n = max(_FEWEST, n_rows)
        while True:
            is_complete = self._read_span(trace, *numbers, n)
            if is_complete or n >= _MOST or len(self.rows) >= 3 * n_rows:
                return
            n *= 4

    def _read_span(self, trace: Trace, lane: str, number: int, n: int) -> bool:
        """From n calls before this one to n calls behind it, and what other
        threads do meanwhile; is that all there is?"""
        first, last = max(1, number - n), "%s.%d" % (lane, number + n)
        is_newest = not trace.has_call(last)
        begin = self._start_ns(trace, "%s.%d" % (lane, first))
        if first == 1:
            begin = 0
        end = 0 if is_newest else self._start_ns(trace, last)
        lines = self._read(trace, self._look(),
                           **({"time_range": (begin, end)} if begin or end
                              else {}))
        self.rows = _rows(lines)
        self.is_newest = is_newest and len(lines) < _MOST_ROWS
        return first == 1 and is_newest

    def index_of(self, id: str) -> int:
        """The row of the call, or the one that stands for it."""
        wanted = _numbers(id)
        found = 0
        for n, row in enumerate(self.rows):
            if row.id == id:
                return n
            own = _numbers(row.id)
            if wanted and own and own[0] == wanted[0] and own[1] < wanted[1]:
                found = n
        return found

    def find(self, function: str, id: str, is_later: bool) -> Optional[str]:
        """The ID of the function's next call after this one, or of the last
        one before it; with no id: of its newest one."""
        trace = self.trace()
        if trace is None:
            return None
        own: dict[str, Any] = {"last": 1}
        limit = 0
        if id and is_later:
            own, limit = {"from_": id}, 2
        elif id:
            own = {"until": id, "last": 2}
        texts: list[str] = []

        def write(text: str) -> bool:
            texts.append(text)
            return True

        trace.calls(Calls(function, limit=limit, output="csv"),
                    self._session.look(), self._session.choice(**own), write)
        return next((i for i in _ids_of("".join(texts)) if i != id), None)


def _ids_of(csv: str) -> list[str]:
    lines = csv.splitlines()
    if not lines:
        return []
    at = lines[0].split(",").index("id")
    return [line.split(",")[at] for line in lines[1:]]
