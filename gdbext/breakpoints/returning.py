# SPDX-License-Identifier: MIT
"""What a call returns, as gdb knows it behind its end; the program goes on."""

from __future__ import annotations

from typing import Callable, Optional

import gdb

from ..ui import ctrlc, frames

Returned = Callable[[str, Optional[gdb.Value]], None]


class _Return(gdb.FinishBreakpoint):
    """Where the call returns to."""

    def __init__(self, user: gdb.Frame, returned: Returned) -> None:
        super().__init__(user, internal=True)
        self.silent = True
        self._name = user.name() or "?"
        self._returned = returned
        self._is_over = False

    @ctrlc.handed_on
    def stop(self) -> bool:
        if not self._is_over:
            self._over()
            self._returned(self._name, self.return_value)
        return False

    def out_of_scope(self) -> None:
        """It was left in another way."""
        self._over()

    def _over(self) -> None:
        self._is_over = True
        gdb.post_event(self._delete)  # not here: gdb is in it

    def _delete(self) -> None:
        if self.is_valid():
            self.delete()


def when_returned(call: Returned) -> None:
    """In the hook of an exit: calls it with the function's name and what it
    returns (None: nothing), once it has returned."""
    _Return(frames.users(gdb.newest_frame()), call)
