# SPDX-License-Identifier: MIT
"""The one module that knows the processor: registers that hold a hook's
arguments, and what its call instructions look like."""

from __future__ import annotations

import re
import struct
from typing import Iterator, Optional

import gdb

ARGUMENTS = ("$rdi", "$rsi", "$rdx")
FOURTH_ARGUMENT = "$rcx"
STACK_POINTER, FRAME_POINTER = "$sp", "$rbp"
SP_REGISTER = "rsp"
WORD = 8

_ENDBR64 = b"\xf3\x0f\x1e\xfa"
_CALL_SIZES = (5, 6)
_PREFIXES = bytes([0xf2, 0x3e, *range(0x40, 0x50)])  # bnd, notrack, REX


def _displacement(code: bytes, at: int) -> Optional[int]:
    if at + 4 > len(code):
        return None
    return struct.unpack_from("<i", code, at)[0]


def is_call(code: bytes) -> bool:
    """Does the code begin with a call?"""
    code = code.lstrip(_PREFIXES)
    return code[:1] == b"\xe8" or code[:1] == b"\xff" and (
        code[1:2] != b"" and code[1] >> 3 & 7 == 2)


def call_target(code: bytes, at: int, pc: int) -> Optional[int]:
    """Where `call rel32` at code[at:] (its address is pc) goes."""
    if code[at:at + 1] != b"\xe8":
        return None
    d = _displacement(code, at + 1)
    return None if d is None else (pc + 5 + d) % 2**64


def call_slot(code: bytes, at: int, pc: int) -> Optional[int]:
    """The memory word that `call *rel32(%rip)` goes through.  With -fno-plt
    a linker may turn it into `addr32 call rel32`, which is call_target()'s
    behind the prefix."""
    if code[at:at + 2] != b"\xff\x15":
        return None
    d = _displacement(code, at + 2)
    return None if d is None else (pc + 6 + d) % 2**64


def stub_slot(code: bytes, pc: int) -> Optional[int]:
    """The GOT slot that a PLT entry jumps through."""
    at = 4 if code.startswith(_ENDBR64) else 0
    if code[at:at + 1] == b"\xf2":  # bnd
        at += 1
    if code[at:at + 2] != b"\xff\x25":
        return None
    d = _displacement(code, at + 2)
    return None if d is None else (pc + at + 6 + d) % 2**64


def calls(code: bytes) -> Iterator[tuple[int, int]]:
    """(offset, size) of whatever may be a call instruction."""
    for first, size in ((b"\xe8", 5), (b"\xff\x15", 6)):
        at = code.find(first)
        while at >= 0:
            yield at, size
            at = code.find(first, at + 1)


def call_before(return_address: int) -> Iterator[tuple[int, int]]:
    """(address, size) of the call instructions that may return there."""
    for size in _CALL_SIZES:
        yield return_address - size, size


# What compilers write between functions.
_PADDING = re.compile(r"(data16 |cs )*(nop|int3|xchg +%ax,%ax)")


LEAD_SIZE = 14  # of the jump that lead() writes


def lead(function: int, to: int) -> bool:
    """Writes a jump over a function that does nothing, and the padding behind
    it.  Returns whether there was room.  gdb may have a breakpoint there."""
    jump = b"\xff\x25\0\0\0\0" + struct.pack("<Q", to)
    inferior = gdb.selected_inferior()
    code = inferior.architecture().disassemble(
        function, function + LEAD_SIZE - 1)
    names = [line["asm"] for line in code if line["asm"] != "endbr64"]
    if not names or not names[0].startswith("ret") or not all(
            _PADDING.match(name) for name in names[1:]):
        return False
    inferior.write_memory(function, jump)
    return True
