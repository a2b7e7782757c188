# SPDX-License-Identifier: MIT
"""Copies of the files that gdb has read from the machine that the program is on:
what is asked of a file is asked of its copy."""

from __future__ import annotations

import os
from typing import Any, Optional

import gdb

from .. import engine, locate
from ..temp_folder import TempFolder
from . import elf

_folder: Optional[TempFolder] = None
_known: dict[str, str] = {}  # copies, by build-id


def _place() -> str:
    global _folder
    if _folder is None:
        _folder = TempFolder("copies")
    return _folder.path


def _fetched(path: str, name: str) -> Optional[str]:
    to = os.path.join(_place(), name)
    try:
        gdb.execute('remote get "%s" "%s"' % (path, to), to_string=True)
    except gdb.error:
        return None  # gdb knows its names all the same
    return to


def _copy(objfile: Any) -> Optional[str]:
    """The path of a file of this machine with the same contents."""
    path, build_id = locate.file_name(objfile), objfile.build_id
    if not path or not path.startswith("/") or not build_id:
        return None
    if (not locate.is_elsewhere(objfile)
            or engine.build_id(path) == build_id):
        return path
    if build_id not in _known:
        found = _fetched(path, "%d-%s" % (len(_known),
                                          os.path.basename(path)))
        if found is None:
            return None
        _known[build_id] = found
    elf.copies[path] = _known[build_id]
    return _known[build_id]


def copies() -> list[str]:
    """Returns those of all files that gdb has; fetches what is not here."""
    found = [_copy(o) for o in gdb.objfiles() if o.owner is None]
    return [path for path in found if path]


def close() -> None:
    """Removes them."""
    global _folder
    _known.clear()
    elf.copies.clear()
    folder, _folder = _folder, None
    if folder is not None:
        folder.close()
