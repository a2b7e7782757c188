# SPDX-License-Identifier: MIT

from __future__ import annotations

from typing import Any

from ..ui import options
from .base import TraceCommand


class StopCommand(TraceCommand):
    """End the trace, and put back all that was changed.

    Usage: cstrace stop

    The program's hooks are idle again.  What was recorded stays, for
    `cstrace show`, `cstrace report` and `cstrace save`."""

    name = "cstrace stop"

    def run(self, values: dict[str, Any], rest: str) -> None:
        options.no_more(rest, self.name)
        self.session.stop()
