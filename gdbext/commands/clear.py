# SPDX-License-Identifier: MIT

from __future__ import annotations

from typing import Any

from ..ui import options
from .base import TraceCommand


class ClearCommand(TraceCommand):
    """Forget what was recorded.

    Usage: cstrace clear

    A trace that is under way goes on, from here."""

    name = "cstrace clear"

    def run(self, values: dict[str, Any], rest: str) -> None:
        options.no_more(rest, self.name)
        self.session.clear()
