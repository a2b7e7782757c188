# SPDX-License-Identifier: MIT
"""gdb's own settings, while something is done that wants them otherwise."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

import gdb


@contextmanager
def changed(name: str, value: str) -> Iterator[None]:
    """The setting has this value within, and its own one behind it.  One that
    has the value already is left alone: a front end tells its user of each
    setting that is touched."""
    found = gdb.parameter(name)
    before = found if isinstance(found, str) else "on" if found else "off"
    if before == value:
        yield
        return
    gdb.execute("set %s %s" % (name, value), to_string=True)
    try:
        yield
    finally:
        gdb.execute("set %s %s" % (name, before), to_string=True)
