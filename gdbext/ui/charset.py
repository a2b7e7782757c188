# SPDX-License-Identifier: MIT
"""The letters of names."""

from __future__ import annotations

import codecs

import gdb


def widen() -> None:
    """Let gdb hand us words that are not ASCII.

    It reads what the user types in its host charset, and where that is plain
    ASCII (LC_ALL=C) it fails with a traceback before a command of ours is
    called.  The names of functions and files are UTF-8, which holds ASCII; a
    charset that the user has set stays."""
    try:
        is_ascii = codecs.lookup(gdb.host_charset()).name == "ascii"
    except LookupError:
        return
    if is_ascii and gdb.parameter("host-charset") == "auto":
        gdb.execute("set host-charset UTF-8", to_string=True)
