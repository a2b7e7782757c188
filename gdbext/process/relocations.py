# SPDX-License-Identifier: MIT
"""Where the loader puts the addresses of the hooks: GOT slots, from the
relocations of a file, by pyelftools.

Imported when a running program is to be looked at: the import costs more than
all else that is done at start-up."""

from __future__ import annotations

from functools import lru_cache

import gdb
from typing import Any

MISSING = ("pyelftools is needed to find the hooks of a running program: "
           "install python3-pyelftools (or `cstrace start` before `run`)")

_TABLES = ("JMPREL", "RELA", "REL")


@lru_cache(maxsize=256)
def _slots(path: str, _mtime_ns: int,
           names: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    found: dict[str, list[int]] = {name: [] for name in names}
    try:
        with open(path, "rb") as f:
            for segment in ELFFile(f).iter_segments("PT_DYNAMIC"):
                _read_tables(segment, found)
    except (OSError, ELFError, KeyError, ValueError):
        pass  # damaged: what was found so far
    return {name: tuple(slots) for name, slots in found.items()}


def _read_tables(segment: Any, found: dict[str, list[int]]) -> None:
    names: dict[int, str] = {0: ""}
    tables = segment.get_relocation_tables()
    for kind in _TABLES:
        if kind not in tables:
            continue
        for relocation in tables[kind].iter_relocations():
            symbol = relocation["r_info_sym"]
            if symbol not in names:
                names[symbol] = segment.get_symbol(symbol).name
            if names[symbol] in found:
                found[names[symbol]].append(relocation["r_offset"])


def slots(path: str, mtime_ns: int,
          names: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """The file's slots for each name, as addresses it is linked for."""
    try:
        return _slots(path, mtime_ns, names)
    except ImportError:
        raise gdb.GdbError(MISSING) from None
