# SPDX-License-Identifier: MIT

from __future__ import annotations

from typing import Any

import gdb

from ..ui import options
from ..ui.console import plain
from ..engine import Status, losses, untraced, version
from ..trace import Trace
from ..session.recording import HOOKS
from ..session.session import Session
from ..ui.words import count, duration_text
from .base import TraceCommand


def _size(n: int) -> str:
    for size, unit in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if n >= size:
            return "%.1f %s" % (n / size, unit)
    return "%d bytes" % n


_MOST_THREADS = 20


def _thread_rows(trace: Trace) -> list[tuple[str, str]]:
    """Which thread each tag of the rows is."""
    threads = trace.threads()
    if len(threads) < 2:
        return []
    rows = [("", "%s: %s (%d)" % (t.tag(), plain(t.name), t.tid))
            for t in threads[:_MOST_THREADS]]
    if len(threads) > len(rows):
        rows.append(("", "and %d more" % (len(threads) - len(rows))))
    return rows


def _rows(s: Status, has_area: bool,
          trace: Trace) -> list[tuple[str, str]]:
    seeds = (" and %d from before the trace" % s.n_seeds if s.n_seeds
             else "")
    rows = [
        ("calls", "%d%s (%d open, %d unwound)" % (
            s.n_calls, seeds, s.n_open, s.n_unwound)),
        ("threads", "%d in %d process%s" % (
            s.n_threads, s.n_processes, "" if s.n_processes == 1 else "es")),
        *_thread_rows(trace),
        ("functions", "%d, called from %s" % (s.n_functions,
                                              count(s.n_sites, "place"))),
        ("time", duration_text(s.duration_ns)),
        *([("forgotten", "%s, older than these"
            % count(s.n_forgotten, "call"))] if s.n_forgotten else []),
        ("lost", ", ".join(losses(s)) or "none"),
        *(("untraced", line) for line in untraced(s)),
        ("kept", _size(s.spool_bytes)),
    ]
    if has_area:
        rows.append(("running", "%d process%s" % (
            s.n_running, "" if s.n_running == 1 else "es")))
        rows.append(("area", "%s, the program waited %s for the reader"
                     % (_size(s.area_bytes), count(s.n_waits, "time"))))
    if s.n_calls:
        rows.append(("each call", "%s from one to the next, %.1f bytes" % (
            duration_text(s.duration_ns // (s.n_calls + s.n_forgotten)),
            s.spool_bytes / s.n_calls)))
    return rows


def _chosen(session: Session) -> list[tuple[str, str]]:
    chosen = session.standing_text()
    kept = session.kept_only_text()
    rows = [("recorded", "with " + kept)] if kept else []
    if not chosen:
        return rows
    return rows + [("shown", "%s; `cstrace show -all` has the others"
             % plain(chosen))]


def _flight(session: Session) -> list[tuple[str, str]]:
    n = (session.options or session.last_options).flight_bytes
    return ([("flight", "the newest calls only, %s of them" % _size(n))]
            if n else [])


def write_status(session: Session) -> None:
    session.look_at_outlived()
    r = session.recording
    if r is not None:
        r.take_all()
    state = "on, " + session.summary() if session.is_on() else "off"
    lines = [("cstrace", state)]
    if r is not None and r.is_on:
        lines.append(("mode", r.mode))
        lines += _rows(r.recorder.status(), r.mode != HOOKS,
                       r.recorder.trace())
        lines += _chosen(session)
        if r.error:
            lines.append(("trouble", r.error))
    elif session.kept is not None:
        lines.append(("trace of", plain(session.kept.command())
                      or "?"))
        lines += _rows(session.kept.status(), False, session.kept)
        lines += _chosen(session)
    lines += _flight(session)
    lines.append(("version", version()))
    gdb.write("".join("%-10s %s\n" % line for line in lines))


class StatusCommand(TraceCommand):
    """Show whether calls are traced, how, and what was recorded.

    Usage: cstrace status

    The row "each call" is what a call takes on the average, the program's own
    work included, and the room that it takes on disk. The last row is the
    version of cstrace."""

    name = "cstrace status"

    def run(self, values: dict[str, Any], rest: str) -> None:
        options.no_more(rest, self.name)
        write_status(self.session)


class InfoCommand(TraceCommand):
    """Show whether calls are traced, how, and what was recorded.

    Usage: info cstrace"""

    name = "info cstrace"

    def run(self, values: dict[str, Any], rest: str) -> None:
        options.no_more(rest, self.name)
        write_status(self.session)
