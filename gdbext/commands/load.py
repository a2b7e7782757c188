# SPDX-License-Identifier: MIT

from __future__ import annotations

from typing import Any

import gdb

from ..ui import options
from .base import TraceCommand


class LoadCommand(TraceCommand):
    """Read a saved trace into this session.

    Usage: cstrace load FILE
           cstrace load

    FILE is what `cstrace save FILE.cst` or `cstrace record` wrote.  It takes
    the place of what was recorded, for show, report and save.

    Functions that have no name in it, because the program was stripped where
    it was recorded, are looked up in the file with the same build-id: one that
    gdb has read, one in a folder of `debug-file-directory`, or the one at the
    program's path.

    A gdb that dies leaves what it has recorded in a file that the next one
    reports.  Without FILE: where those are.  The five newest are kept, each
    for a week."""

    name = "cstrace load"
    rest = gdb.COMPLETE_FILENAME

    def run(self, values: dict[str, Any], rest: str) -> None:
        path, more = options.first_word(rest)
        if not path:
            if not self.session.leftovers.list():
                raise gdb.GdbError("cstrace load: which file?")
            return
        options.no_more(more, self.name)
        self.session.load(path)
