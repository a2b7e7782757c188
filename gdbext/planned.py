# SPDX-License-Identifier: MIT
"""The engine's plans of how a program without hooks is patched."""

from __future__ import annotations

import ctypes as C
import os
from typing import Callable, Optional

from . import _abi as abi
from .engine import _LINE, _call, _shown, library
from .requests import Choice, as_bytes

Planned = abi.cst_planned


def plan_file(path: str, folder: str, functions: Optional[str],
              min_size: int, tell: Callable[[str], None]) -> Planned:
    """Plans how a file's functions are patched; the plan goes into the
    folder.  `tell` gets a line before that, if it takes long."""
    wish = abi.cst_plan_wish(functions=as_bytes(functions), min_size=min_size,
                             is_for_gdb=1)
    out = Planned()
    if library().cst_plan_takes_long(as_bytes(path), C.byref(wish)):
        tell("the plan of %s takes a while, once" % os.path.basename(path))
    _call("cst_plan_file", as_bytes(path), C.byref(wish), as_bytes(folder),
          C.byref(out))
    return out


def plan_border(path: str, folder: str, callers: list[str]) -> Planned:
    """Plans the functions of a library that is not traced for calls from
    these files, which are."""
    n = len(callers)
    wish = abi.cst_plan_wish(
        is_for_gdb=1, n_callers=n,
        callers=(C.c_char_p * n)(*map(as_bytes, callers)))
    out = Planned()
    _call("cst_plan_file", as_bytes(path), C.byref(wish), as_bytes(folder),
          C.byref(out))
    return out


def plan_text(plans: list[Planned], paths: list[str]) -> str:
    """What these plans come to, in words."""
    out = C.create_string_buffer(16 * _LINE)
    n = len(plans)
    library().cst_plan_text((Planned * n)(*plans), (C.c_char_p * n)(
        *map(as_bytes, paths)), n, out, len(out))
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
