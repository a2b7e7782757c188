# SPDX-License-Identifier: MIT
"""What the engine answers about calls and threads."""

from __future__ import annotations

from typing import NamedTuple, Optional


class OpenCall(NamedTuple):
    """A call that is open in a stopped thread."""

    id: str
    name: str  # simple name
    function: str  # full name
    cfa: int  # of its frame; 0: not known
    addr: int  # the function's


class Thread(NamedTuple):
    """One that made calls: P and T of their IDs, the kernel's number."""

    process: int
    thread: int
    tid: int
    name: str

    def tag(self) -> str:
        """The thread's tag, as rows have it."""
        return "%st%d" % ("p%d:" % self.process if self.process > 1 else "",
                          self.thread)


class Call(NamedTuple):
    """One call's function, and where it was made."""

    function: str  # full name
    name: str  # simple name
    file: Optional[str]
    line: int  # 0: not known
    addr: int  # the function's
    is_exception: bool  # no call, but what one does at that line


class Source(NamedTuple):
    """Where a call is made and its function is written: full paths where the
    files are here.  None and 0: not known."""

    call_file: Optional[str]
    call_line: int
    own_file: Optional[str]
    own_line: int


class Way(NamedTuple):
    """How another run comes to a call (struct cst_way)."""

    id: str
    nth: int
    nth_call: int
    file_addr: int
    module: Optional[str]
    build_id: str
    name: str
    process: int
    thread: int
    kind: int
    path: tuple[str, ...]  # the functions that are open there, outermost first


class Parting(NamedTuple):
    """The first calls that differ; a name is None where the trace ends."""

    n_equal: int
    id_a: str
    name_a: Optional[str]
    id_b: str
    name_b: Optional[str]
