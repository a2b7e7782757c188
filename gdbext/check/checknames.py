# SPDX-License-Identifier: MIT
"""What became of a function when the program was made, by gdb's tables, and so
why it is not in a trace."""

from __future__ import annotations

import difflib
import os
import re
from typing import Any, Optional

import gdb
from elftools.elf.elffile import ELFFile

from .. import engine
from . import checkfile

_SYSTEM = re.compile(r"/usr/include/|.*/include/c\+\+/"
                     r"|.*/lib(/gcc/|/clang/|/llvm).*/include/")
_STD = re.compile(r"(std|__gnu_cxx|__cxxabiv1)::")
_CLONE = re.compile(r"(?<=.)\.(part|isra|constprop|lto_priv|llvm)\b.*")
_PLAIN = re.compile(r"\^?([\w:~]+)\$?")


class Name:
    """A function that was asked for."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.file: Optional[str] = None
        self.line = 0
        self.unit: Optional[checkfile.Unit] = None
        self.n_copies = self.n_copies_hooked = 0
        self.n_inlined = self.n_inlined_hooked = 0
        self.imported: Optional[str] = None  # its linkage name

    def is_hooked(self) -> bool:
        return self.n_copies_hooked + self.n_inlined_hooked > 0

    def is_std(self) -> bool:
        return bool(_STD.match(_qualified(self.name))
                    or self.file and _SYSTEM.match(self.file))

    def order(self) -> tuple[bool, bool, str]:
        return self.is_std(), self.unit is None, self.name


def _qualified(name: str) -> str:
    """A template's demangled name begins with its return type."""
    depth, start = 0, 0
    for i, c in enumerate(name):
        depth += (c == "<") - (c == ">")
        if c == "(" and not depth:
            break
        if c == " " and not depth:
            start = i + 1
    return name[start:]


def _function_blocks(address: int) -> list[Any]:
    """Those of the functions around the address, the innermost first."""
    found = []
    block = gdb.block_for_pc(address)
    while block is not None:
        if block.function is not None:
            found.append(block)
        block = block.superblock
    return found


def _owns(block: Any, enters: list[int]) -> bool:
    """Is one of the calls of the hooks the function's own, and not that of one
    inlined into it?"""
    for address in enters:
        inner = _function_blocks(address)
        if not inner or (inner[0].start, inner[0].function.name) == (
                block.start, block.function.name):
            return True
    return False


def _definition(block: Any) -> tuple[Optional[str], int]:
    if block is None or block.function.symtab is None:
        return None, 0
    return block.function.symtab.filename, block.function.line


class Finder:
    """Of one program.  bias is what gdb adds to the file's addresses."""

    def __init__(self, file: checkfile.File, bias: int) -> None:
        self._file = file
        self._bias = bias
        self._found: dict[tuple[str, Optional[str]], Name] = {}

    def _put(self, name: str, file: Optional[str], line: int) -> Name:
        key = (name, None if "(" in name else file)
        if file is None:  # gdb does not tell it of each place
            key = next((k for k in self._found if k[0] == name), key)
        known = self._found.setdefault(key, Name(name))
        if known.file is None and file is not None:
            known.file, known.line = file, line
        return known

    def _enters(self, start: int, end: int) -> list[int]:
        return [at + self._bias for at in self._file.enters(
            start - self._bias, end - self._bias)]

    def _take_copy(self, function: checkfile.Function, name: str) -> None:
        blocks = _function_blocks(function.start + self._bias)
        enters = self._enters(function.start + self._bias,
                              function.end + self._bias)
        outer = blocks[-1] if blocks and function.unit is not None else None
        known = self._put(name, *_definition(outer))
        known.unit = function.unit
        known.n_copies += 1
        known.n_copies_hooked += (bool(enters) if outer is None
                                  else _owns(outer, enters))

    def _take_alias(self, symbol: checkfile.Symbol, pattern: Any) -> None:
        """Another name of code that is found under one of them."""
        if not symbol.is_function or not symbol.is_defined:
            return
        function = self._file.function_at(symbol.address)
        if (function is None or function.name == symbol.name
                or "." in symbol.name[1:]):
            return
        name = engine.demangle(symbol.name)
        if pattern.search(name) and not any(k[0] == name
                                            for k in self._found):
            self._take_copy(function, name)

    def _take_inlined(self, word: str) -> None:
        """gdb finds inlined calls by their whole name only."""
        try:
            places = gdb.decode_line(word)[1] or ()
        except gdb.error:
            return
        for place in places:
            if not place.pc:
                continue
            blocks = _function_blocks(place.pc)
            for block in blocks[:-1]:
                short = re.split(r"[(<]", block.function.name)[0]
                if short == word or short.endswith("::" + word):
                    self._take_instance(block, place)
                    break

    def _take_instance(self, block: Any, place: Any) -> None:
        symbol = block.function
        name = symbol.linkage_name or symbol.name
        file = place.symtab and place.symtab.filename
        # As a symbol's line, gdb tells that of the call.
        known = self._put(engine.demangle(name), file, place.line)
        if known.unit is None:
            known.unit = self._file.unit_at(block.start - self._bias)
        known.n_inlined += 1
        known.n_inlined_hooked += _owns(block, self._enters(block.start,
                                                            block.end))

    def find(self, regex: str) -> list[Name]:
        pattern = re.compile(regex)
        for f in self._file.functions:
            name = engine.demangle(_CLONE.sub("", f.name))
            if pattern.search(name):
                self._take_copy(f, name)
        for s in self._file.symbols:
            self._take_alias(s, pattern)
        plain = _PLAIN.fullmatch(regex)
        if plain:
            self._take_inlined(plain.group(1))
        if not self._found:
            self._take_imported(pattern)
        return sorted(self._found.values(), key=Name.order)

    def _take_imported(self, pattern: Any) -> None:
        for s in self._file.symbols + self._file.exported:
            name = engine.demangle(s.name)
            if not s.is_defined and s.is_function and pattern.search(name):
                self._put(name, None, 0).imported = s.name


def near(file: checkfile.File, regex: str) -> Optional[str]:
    """The name that somebody may have meant."""
    wanted = _short(regex.lstrip("^"))
    by_short: dict[str, str] = {}
    for f in file.functions:
        name = engine.demangle(f.name)
        by_short.setdefault(_short(name), name)
    found = difflib.get_close_matches(wanted, by_short, 1, 0.7)
    return by_short[found[0]] if found else None


def _short(name: str) -> str:
    m = re.search(r"(\w+)$", re.split(r"[(<$]", name)[0])
    return m.group(1).lower() if m else ""


def excluded_by(producer: str, flag: str, text: Optional[str]
                ) -> Optional[str]:
    """The flag, as given to gcc, by which text is excluded."""
    for m in re.finditer(re.escape(flag) + r"(\S*)", producer):
        if text and any(w and w in text for w in m.group(1).split(",")):
            return m.group()
    return None


def owner(paths: list[str], symbol: str) -> Optional[str]:
    """The library that defines it."""
    for path in filter(os.path.isfile, paths):
        with open(path, "rb") as f:
            table = ELFFile(f).get_section_by_name(".dynsym")
            found = table and table.get_symbol_by_name(symbol)
            if found and found[0]["st_shndx"] != "SHN_UNDEF":
                return path
    return None
