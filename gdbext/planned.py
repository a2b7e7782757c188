# SPDX-License-Identifier: MIT
"""The engine's plans of how a program without hooks is patched."""

from __future__ import annotations

import ctypes as C
import os
from typing import Any, Callable, Optional

from . import _abi as abi
from .engine import _LINE, _call, _shown, library
from .requests import Choice, as_bytes

Planned = abi.cst_planned


def plan_file(path: str, folder: str, functions: Optional[str],
              min_size: int, calls: int,
              tell: Callable[[str], None]) -> Planned:
    """Plans how a file's functions are patched; the plan goes into the
    folder.  calls: abi.CST_CALLS_NONE and the like.  `tell` gets a line before
    that, if it takes long."""
    wish = abi.cst_plan_wish(functions=as_bytes(functions), min_size=min_size,
                             is_for_gdb=1, calls=calls)
    out = Planned()
    if library().cst_plan_takes_long(as_bytes(path), C.byref(wish)):
        tell("the plan of %s takes a while, once" % os.path.basename(path))
    _call("cst_plan_file", as_bytes(path), C.byref(wish), as_bytes(folder),
          C.byref(out))
    return out


def _paths(paths: list[str]) -> Any:
    return (C.c_char_p * len(paths))(*map(as_bytes, paths))


def plan_border(paths: list[str], folder: str,
                callers: list[str]) -> list[Planned]:
    """Plans the functions of libraries that are not traced for calls from the
    callers, which are."""
    wish = abi.cst_plan_wish(is_for_gdb=1, n_callers=len(callers),
                             callers=_paths(callers))
    out = (Planned * len(paths))()
    _call("cst_plan_border", C.byref(wish), _paths(paths), len(paths),
          as_bytes(folder), out)
    return list(out)


def plan_text(plans: list[Planned], paths: list[str]) -> str:
    """What these plans come to, in words."""
    out = C.create_string_buffer(16 * _LINE)
    n = len(plans)
    library().cst_plan_text((Planned * n)(*plans), _paths(paths), n, out,
                            len(out))
    return _shown(out.value)


def plan_wants(path: str, modules: Optional[str]) -> bool:
    """Is a library at that path patched?  modules: those of the system's
    folders that are."""
    return bool(_call("cst_plan_wants", as_bytes(path), as_bytes(modules)))


def inlined(path: str, word: str, choice: Choice) -> int:
    """In how many places the functions of a file without hooks were inlined
    that the word names."""
    n: int = library().cst_file_inlined(as_bytes(path), None, as_bytes(word),
                                        choice.names)
    return n


def is_launcher(path: str) -> bool:
    """Is what this program runs meant, rather than itself?"""
    return bool(library().cst_is_launcher(as_bytes(path)))
