# SPDX-License-Identifier: MIT
"""An object file that tells gdb of code that no file holds: how to unwind from
it, and a name that makes gdb step through it as if it was not there (gdb's own rule
for compilers' return thunks)."""

from __future__ import annotations

import struct

NAME = "__x86_return_thunk"
_NAMES = b"\0.text\0.eh_frame\0.symtab\0.strtab\0.shstrtab\0"
_STRINGS = b"\0" + NAME.encode() + b"\0"
_HEADER_SIZE, _SECTION_SIZE = 64, 64
_PROGBITS, _SYMTAB, _STRTAB, _NOBITS = 1, 2, 3, 8
_ALLOC, _EXEC = 2, 4


def _section(name: str, kind: int, flags: int, address: int, offset: int,
             size: int, link: int = 0, info: int = 0, entry: int = 0) -> bytes:
    at = _NAMES.index(b"\0" + name.encode() + b"\0") + 1 if name else 0
    return struct.pack("<IIQQQQIIQQ", at, kind, flags, address, offset, size,
                       link, info, 8 if entry else 1, entry)


def content(code: tuple[int, int], frames_at: int, frames: bytes) -> bytes:
    """The file; code is its address and size, frames_at that of the frames."""
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x12, 0, 1, *code)
    parts = [frames, symbols, _STRINGS, _NAMES]
    offsets, at = [], _HEADER_SIZE
    for part in parts:
        at += -at % 8
        offsets.append(at)
        at += len(part)
    table = at + -at % 8
    sections = [
        bytes(_SECTION_SIZE),
        _section(".text", _NOBITS, _ALLOC | _EXEC, code[0], _HEADER_SIZE,
                 code[1]),
        _section(".eh_frame", _PROGBITS, _ALLOC, frames_at, offsets[0],
                 len(frames)),
        _section(".symtab", _SYMTAB, 0, 0, offsets[1], len(symbols), 4, 1, 24),
        _section(".strtab", _STRTAB, 0, 0, offsets[2], len(_STRINGS)),
        _section(".shstrtab", _STRTAB, 0, 0, offsets[3], len(_NAMES))]
    out = bytearray(struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 62, 1, 0, 0, table, 0,
        _HEADER_SIZE, 0, 0, _SECTION_SIZE, len(sections), 5))
    for offset, part in zip(offsets, parts):
        out += bytes(offset - len(out)) + part
    out += bytes(table - len(out)) + b"".join(sections)
    return bytes(out)
