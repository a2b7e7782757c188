# SPDX-License-Identifier: MIT
"""Temporary folders, which the next run of cstrace removes if gdb dies."""

from __future__ import annotations

import ctypes as C
import os

from .engine import _LINE, CstraceError, _call, library
from .requests import as_bytes


class TempFolder:
    """One that is this gdb's until close()."""

    def __init__(self, word: str, is_for_preload: bool = False) -> None:
        out = C.create_string_buffer(4 * _LINE)
        self._lock = _call("cst_folder_make", as_bytes(word), is_for_preload,
                           out, len(out))
        self.path = out.value.decode(errors="surrogateescape")

    def close(self) -> None:
        """Removes it with its files."""
        library().cst_folder_remove(as_bytes(self.path), self._lock)


def share(path: str, pid: int) -> None:
    """Lets another user's process read what is in the folder now."""
    library().cst_folder_share(as_bytes(path), pid)


def sweep() -> None:
    """Removes those of owners who died."""
    library().cst_folder_sweep()


_links: dict[str, TempFolder] = {}


def path_without_blanks(path: str) -> str:
    """Another name of the file that LD_PRELOAD can hold: it splits at blanks
    and colons."""
    if not any(c in path for c in " :\t\n"):
        return path
    try:
        folder = TempFolder("link", is_for_preload=True)
    except CstraceError:
        return path
    link = os.path.join(folder.path, os.path.basename(path))
    os.symlink(path, link)
    _links[link] = folder
    return link


def remove_link(link: str) -> None:
    """Undo path_without_blanks()."""
    folder = _links.pop(link, None)
    if folder is not None:
        folder.close()
