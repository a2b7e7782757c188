# SPDX-License-Identifier: MIT

from __future__ import annotations

from typing import Any

from .. import options
from ..console import run_long
from .base import TraceCommand


class InfoCommand(TraceCommand):
    """Say what the trace holds.

    Usage: cstrace info

    The command that was recorded, how many calls, threads and functions,
    what was lost, and which files the names are from."""

    name = "cstrace info"

    def run(self, values: dict[str, Any], rest: str) -> None:
        options.no_more(rest, self.name)
        run_long(self.session.trace().info)
