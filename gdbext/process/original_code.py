# SPDX-License-Identifier: MIT
"""`disassemble`, `x/i` and the like show a patched program's own instructions,
where gdb lets us (since gdb 13)."""

from __future__ import annotations

import bisect
import importlib
from typing import Any, Optional

try:  # gdb itself has another module of that name
    disassembler: Any = importlib.import_module("gdb.disassembler")
except ImportError:
    disassembler = None

from .patched_area import Area

_ARCHITECTURE = "i386:x86-64"
_LONGEST = 16  # bytes, of an instruction


class Original:
    """The bytes that patches have replaced."""

    def __init__(self) -> None:
        self._areas: list[Area] = []  # that were not looked into yet
        self._starts: list[int] = []
        self._bytes: list[bytes] = []

    def set(self, areas: list[Area]) -> None:
        self._areas, self._starts, self._bytes = areas, [], []

    def _index_behind(self, address: int) -> int:
        """Returns that of the first place there or behind it."""
        if self._areas:
            found = sorted((p.address, p.old) for a in self._areas
                           for p in a.patches)
            self._areas = []
            self._starts = [at for at, _ in found]
            self._bytes = [old for _, old in found]
        return bisect.bisect_left(self._starts, address)

    def is_near(self, address: int) -> bool:
        i = self._index_behind(address + _LONGEST)
        return i > 0 and self._starts[i - 1] + _LONGEST > address

    def restore(self, address: int, data: bytearray) -> None:
        """Puts them into what was read at the address."""
        i = self._index_behind(address + len(data))
        while i > 0 and self._starts[i - 1] + _LONGEST > address:
            i -= 1
            for k, byte in enumerate(self._bytes[i]):
                at = self._starts[i] + k - address
                if 0 <= at < len(data):
                    data[at] = byte


def _classes() -> Any:
    """Returns our disassembler: gdb before 13 has no such classes to derive
    from."""
    class Info(disassembler.DisassembleInfo):
        """Reads the original bytes."""

        def __init__(self, info: Any, original: Original) -> None:
            super().__init__(info)
            self._original = original

        def read_memory(self, length: int, offset: int = 0) -> Any:
            data = bytearray(super().read_memory(length, offset))
            self._original.restore(self.address + offset, data)
            return bytes(data)

    class OriginalCode(disassembler.Disassembler):
        """Stands before gdb's own."""

        def __init__(self, original: Original) -> None:
            super().__init__("cstrace")
            self._original = original

        def __call__(self, info: Any) -> Any:
            if not self._original.is_near(info.address):
                return None
            return disassembler.builtin_disassemble(Info(info, self._original))

    return OriginalCode


class ShownCode:
    """What gdb shows of the code."""

    def __init__(self) -> None:
        self._original = Original()
        self._is_registered = False

    def _register(self, made: Optional[Any]) -> None:
        before = disassembler.register_disassembler(made, _ARCHITECTURE)
        if before is not None and before.name != "cstrace":
            disassembler.register_disassembler(before, _ARCHITECTURE)

    def set(self, areas: list[Area]) -> None:
        """Shows the original code of all patches in these areas."""
        self._original.set(areas)
        if disassembler is None or bool(areas) == self._is_registered:
            return
        self._is_registered = bool(areas)
        self._register(_classes()(self._original) if areas else None)
