# SPDX-License-Identifier: MIT
"""Gives the frames of trampolines the identity of the function that they are a
part of: so gdb takes what they call for calls of that function, which `step` and
`next` pass over."""

from __future__ import annotations

from typing import Any, Optional

import gdb
from gdb.unwinder import Unwinder, register_unwinder

# All but rip and rsp: a trampoline has changed none where it calls the shim.
_KEPT = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "r8", "r9", "r10",
         "r11", "r12", "r13", "r14", "r15")
_NAME = "cstrace-patches"


class _FrameId:
    def __init__(self, sp: Any, pc: Any) -> None:
        self.sp, self.pc = sp, pc


class AreaUnwinder(Unwinder):
    """Knows the places where trampolines call the shim: for each return address
    the function's address, and whether its frame is found by rbp."""

    def __init__(self) -> None:
        super().__init__(_NAME)
        self.places: dict[int, tuple[int, bool]] = {}

    def register(self) -> None:
        register_unwinder(None, self, replace=True)

    def __call__(self, pending: Any) -> Optional[Any]:
        if not self.places:
            return None
        place = self.places.get(int(pending.read_register("rip")) % 2**64)
        if place is None:
            return None
        function, is_framed = place
        base = pending.read_register("rbp" if is_framed else "rsp")
        word = gdb.lookup_type("unsigned long")
        cfa = gdb.Value(int(base) % 2**64 + 16).cast(word)
        returns = cfa.cast(word.pointer()) - 1
        info = pending.create_unwind_info(
            _FrameId(cfa, gdb.Value(function).cast(word)))
        info.add_saved_register("rip", returns.dereference())
        info.add_saved_register("rsp", cfa)
        for name in _KEPT:
            info.add_saved_register(name, pending.read_register(name))
        return info
