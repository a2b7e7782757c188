# SPDX-License-Identifier: MIT
"""A symbol file for each area, so that gdb unwinds from there and steps over
it: in each process that has the area, as gdb keeps files by program.  Where one
goes, gdb forgets what the user displays, and where `list` is: they stay for the next
run, which mostly has the same."""

from __future__ import annotations

import contextlib
import os
from typing import NamedTuple, Optional

import gdb

from .. import gdb_setting
from ..temp_folder import TempFolder
from . import thunk_file
from .patched_area import Area


class _Key(NamedTuple):
    space: gdb.Progspace
    area: tuple[int, int]


class AreaSymbols:
    """What gdb has of these files."""

    def __init__(self) -> None:
        self._paths: dict[_Key, str] = {}
        self._n_made = 0
        self._folder: Optional[TempFolder] = None  # gdb looks at each `run`

    def set(self, areas: list[Area]) -> None:
        """For the selected inferior.  Not at a stop before gdb has printed the
        place: it sets all breakpoints anew with each file that comes or goes,
        and would lose which of a breakpoint's locations it stopped at."""
        wanted = {_Key(gdb.current_progspace(), a.key()): a for a in areas}
        self._forget(wanted)
        for key in wanted.keys() - self._paths.keys():
            self._add(key, wanted[key])

    def forget(self) -> None:
        """The selected inferior has no areas any more, nor will it have any."""
        self._forget({})

    def close(self) -> None:
        """gdb ends."""
        if self._folder is not None:
            self._folder.close()
            self._folder = None

    def _add(self, key: _Key, area: Area) -> None:
        self._folder = self._folder or TempFolder("symbols")
        path = os.path.join(self._folder.path, "area%d.o" % self._n_made)
        frames = bytes(gdb.selected_inferior().read_memory(*area.frames))
        with open(path, "wb") as f:
            f.write(thunk_file.content(area.code, area.frames[0], frames))
        _quietly("add-symbol-file %s -o 0" % path)
        self._paths[key] = path
        self._n_made += 1

    def _forget(self, wanted: dict[_Key, Area]) -> None:
        here = gdb.current_progspace()
        for key in list(self._paths):
            is_old = key.space is here and key not in wanted
            if is_old:
                _quietly("remove-symbol-file " + self._paths[key])
            if is_old or not key.space.is_valid():
                del self._paths[key]


def _quietly(command: str) -> None:
    with contextlib.suppress(gdb.error), gdb_setting.changed("confirm", "off"):
        gdb.execute(command, to_string=True)
