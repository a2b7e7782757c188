# SPDX-License-Identifier: MIT
"""The cstrace commands, one file each."""

from __future__ import annotations

from ..session.mistakes import module_names, source_names
from ..session.session import Session
from ..ui.window import View
from . import (
    calls, check, clear, diff, expect, goto, graph, here, info, listing, load, log,
    overview, report, sample, save, show, start, status, stop,
    on, stop_when, window, zoom)
from .base import function_names


def register(session: Session, view: View) -> None:
    overview.CstraceCommand(session)
    for command in (start.StartCommand, stop.StopCommand,
                    sample.SampleCommand,
                    status.StatusCommand, status.InfoCommand, info.InfoCommand,
                    show.ShowCommand, report.ReportCommand,
                    graph.GraphCommand, listing.ListCommand, calls.CallsCommand,
                    here.HereCommand, goto.GotoCommand,
                    save.SaveCommand,
                    diff.DiffCommand, expect.ExpectCommand, load.LoadCommand,
                    clear.ClearCommand, check.CheckCommand):
        command(session)
    window.WindowCommand(session, view)
    log.register(session)
    stop_when.register(session)
    on.register(session)
    zoom.register(session)
    session.settings.complete_values(
        lambda: function_names(session), source_names, module_names)
