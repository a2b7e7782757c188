# SPDX-License-Identifier: MIT
"""What the engine is asked for, as the structs of engine.h: how rows look, which
calls are meant, what a recorder does, what a table has."""

from __future__ import annotations

from typing import NamedTuple, Optional

from . import _abi as abi

SORTS = ("total", "self", "calls", "max")  # enum cst_sort
DIFF_SORTS = ("calls", "total", "change", "percent", "name")
CALLS_SORTS = ("time", "duration", "id", "caller", "thread")
REPORT_BY = ("function", "callsite", "thread")
FIELDS = ("calls", "total", "self", "mean", "min", "max", "share", "size")
OUTPUTS = ("text", "json", "csv")
NAMES = ("simple", "full")


def as_bytes(text: Optional[str]) -> Optional[bytes]:
    """For a pointer to a string; a name of a file need not be UTF-8."""
    if text is None:
        return None
    return text.encode("utf-8", "surrogateescape").replace(b"\0", b"")


class Look(abi.cst_look):
    """How rows look."""


class Choice(abi.cst_choice):
    """Which calls are shown; None and 0 choose nothing."""

    # Set where what stands for all commands is part of it.
    has_more = False


def make_choice(filter: Optional[str] = None, exclude: Optional[str] = None,
                min_ns: int = 0, depth: int = 0, std: bool = False,
                names: str = "simple",
                process: int = 0, thread: int = 0, last: int = 0,
                around: Optional[str] = None,
                root: Optional[str] = None, from_: Optional[str] = None,
                until: Optional[str] = None, file: Optional[str] = None,
                module: Optional[str] = None,
                time_range: tuple[int, int] = (0, 0),
                unfold: Optional[str] = None,
                at_ns: Optional[int] = None, samples: bool = False,
                where: Optional[str] = None) -> Choice:
    return Choice(filter=as_bytes(filter), exclude=as_bytes(exclude),
                  min_ns=min_ns, depth=depth, std=std,
                  names=NAMES.index(names), thread=thread,
                  process=process, last=last, around=as_bytes(around),
                  root=as_bytes(root), from_=as_bytes(from_),
                  until=as_bytes(until), file=as_bytes(file),
                  module=as_bytes(module), range_from_ns=time_range[0],
                  range_until_ns=time_range[1], unfold=as_bytes(unfold),
                  samples=samples, where=as_bytes(where),
                  at_ns=at_ns or 0, has_at=at_ns is not None)


class RecorderOptions(NamedTuple):
    mode: int
    spool_dir: str
    spool_name: Optional[str]  # None: a file without a name
    limit_bytes: int
    pool_chunks: int
    wait_limit_ms: int
    command: str
    module: str
    keep_depth: int = 0
    keep_bytes: int = 0
    keep_ns: int = 0
    flight_bytes: int = 0

    def packed(self) -> abi.cst_recorder_options:
        return abi.cst_recorder_options(**{
            name: as_bytes(value) if isinstance(value, str) else value
            for name, value in self._asdict().items()})


class Report(NamedTuple):
    """What a report has rows for, and their order."""

    sort: Optional[str] = None
    limit: int = 0
    by: str = "function"
    regex: Optional[str] = None
    callers: Optional[str] = None
    callees: Optional[str] = None
    output: str = "text"
    fields: Optional[str] = None

    def packed(self) -> abi.cst_report:
        return abi.cst_report(
            sort_keys=as_bytes(self.sort), fields=as_bytes(self.fields),
            limit=self.limit,
            by=REPORT_BY.index(self.by), output=OUTPUTS.index(self.output),
            regex=as_bytes(self.regex), callers=as_bytes(self.callers),
            callees=as_bytes(self.callees))


class Diff(NamedTuple):
    """What two traces are compared for."""

    by_counts: bool = False
    limit: int = 0
    percent: Optional[int] = None
    output: str = "text"
    sort: Optional[str] = None
    shows_percent: bool = False

    def packed(self) -> abi.cst_diff:
        return abi.cst_diff(by=self.by_counts, limit=self.limit,
                     percent=-1 if self.percent is None else self.percent,
                     output=OUTPUTS.index(self.output),
                     sort=DIFF_SORTS.index(self.sort) + 1 if self.sort else 0,
                     shows_percent=self.shows_percent)


class Graph(NamedTuple):
    """What a graph shows, and the order of its rows."""

    sort: str = "total"
    limit: int = 0
    depth: int = 0
    min_share_ppm: int = 0
    function: Optional[str] = None
    output: str = "text"

    def packed(self) -> abi.cst_graph:
        return abi.cst_graph(
            sort=SORTS.index(self.sort), limit=self.limit, depth=self.depth,
            min_share_ppm=self.min_share_ppm,
            output=OUTPUTS.index(self.output), function=as_bytes(self.function))


class Calls(NamedTuple):
    """Which function's calls a list has, and the order of its rows."""

    function: Optional[str]
    sort: str = "time"
    limit: int = 0
    under: Optional[str] = None
    output: str = "text"
    is_ended: bool = False  # only calls that have ended

    def packed(self) -> abi.cst_calls:
        return abi.cst_calls(
            sort=CALLS_SORTS.index(self.sort), limit=self.limit,
            output=OUTPUTS.index(self.output), function=as_bytes(self.function),
            under=as_bytes(self.under), is_ended=self.is_ended)
