# SPDX-License-Identifier: MIT
"""What the engine is asked for, as the structs of engine.h: how rows look, which
calls are meant, what a recorder does, what a table has."""

from __future__ import annotations

import ctypes as C
from typing import Any, Callable, NamedTuple, Optional, cast

from . import _abi as abi

_COPY = cast(Any, dict(abi.cst_memory._fields_)["copy"])

GRAPH_SORTS = ("total", "self", "calls")  # enum cst_sort
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


def _pack(struct: Any, request: Any,
          **words: tuple[Optional[str], ...]) -> Any:
    """The request's fields as the struct's of the same names; one of words
    stands for its place among these."""
    def packed(name: str, value: Any) -> Any:
        if name in words:
            return words[name].index(value)
        is_text = value is None or isinstance(value, str)
        return as_bytes(value) if is_text else value

    return struct(**{name: packed(name, value)
                     for name, value in request._asdict().items()})


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
    is_elsewhere: int = 0

    def packed(self) -> abi.cst_recorder_options:
        return _pack(abi.cst_recorder_options, self)


class Values(NamedTuple):
    """Which values of calls are recorded."""

    args: bool
    results: bool
    members: bool
    text_bytes: int
    functions: Optional[str]  # a regex; None: of all
    plans: Optional[str]  # the folder with those of a patched program

    def packed(self) -> abi.cst_values:
        return _pack(abi.cst_values, self)


class Memory:
    """That of a process that is elsewhere.  Both functions raise OSError."""

    def __init__(self, read: Callable[[int, int], bytes],
                 write: Callable[[int, bytes], None]) -> None:
        def copy(_arg: int, address: int, data: int, size: int,
                 is_write: int) -> int:
            try:
                if is_write:
                    write(address, C.string_at(data, size))
                    return 0
                found = read(address, size)
            except OSError:
                return -1
            C.memmove(data, found, len(found))
            return 0 if len(found) == size else -1

        self.packed = abi.cst_memory(copy=_COPY(copy))


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
        return _pack(abi.cst_report, self, by=REPORT_BY, output=OUTPUTS)


class Diff(NamedTuple):
    """What two traces are compared for."""

    by: bool = False  # True: by counts of calls alone
    limit: int = 0
    percent: int = -1
    output: str = "text"
    sort: Optional[str] = None
    shows_percent: bool = False

    def packed(self) -> abi.cst_diff:
        return _pack(abi.cst_diff, self, output=OUTPUTS,
                     sort=(None, *DIFF_SORTS))


class Graph(NamedTuple):
    """What a graph shows, and the order of its rows."""

    sort: str = "total"
    limit: int = 0
    depth: int = 0
    min_share_ppm: int = 0
    function: Optional[str] = None
    output: str = "text"

    def packed(self) -> abi.cst_graph:
        return _pack(abi.cst_graph, self, sort=GRAPH_SORTS, output=OUTPUTS)


class Calls(NamedTuple):
    """Which function's calls a list has, and the order of its rows."""

    function: Optional[str]
    sort: str = "time"
    limit: int = 0
    under: Optional[str] = None
    output: str = "text"
    is_ended: bool = False  # only calls that have ended

    def packed(self) -> abi.cst_calls:
        return _pack(abi.cst_calls, self, sort=CALLS_SORTS, output=OUTPUTS)
