# SPDX-License-Identifier: MIT
"""What the dynamic section of a 64-bit little-endian ELF file says: the
libraries it needs and the names it uses.

gdb's API has none of this.  A file that is not understood is an empty one, as
gdb may have any as its program."""

from __future__ import annotations

import contextlib
import os
import struct
from functools import lru_cache
from typing import BinaryIO, NamedTuple, Optional

EM_X86_64 = 62
PT_LOAD, PT_DYNAMIC, PT_INTERP, PT_NOTE = 1, 2, 3, 4
DT_NEEDED, DT_STRTAB, DT_SYMTAB, DT_STRSZ = 1, 5, 6, 10
DT_RPATH, DT_RUNPATH = 15, 29
SHT_SYMTAB = 2


class Elf(NamedTuple):
    machine: int
    interpreter: str  # the loader's path; "": it has none
    needed: tuple[str, ...]
    runpath: tuple[str, ...]
    first: int  # the lowest address it is linked for
    strings: bytes  # all dynamic symbol names, and more
    symbols: bytes  # the dynamic symbols, as they lie in the file
    symbols_at: int  # the address they are linked for
    has_words: bool  # it uses cstrace.h
    names: bytes  # of all its symbols

    @property
    def is_dynamic(self) -> bool:
        return bool(self.interpreter)

    def uses(self, name: str) -> bool:
        return b"\0" + name.encode() + b"\0" in self.strings

    def definition(self, name: str) -> Optional[tuple[int, int]]:
        """Where the value of a symbol for others stands (as linked), and
        the value; None: not defined here."""
        # A linker may have written it as the end of a longer one.
        wanted = name.encode() + b"\0"
        if wanted not in self.strings:
            return None
        for i, (at, _info, _other, section, value, _size) in enumerate(
                struct.iter_unpack("<IBBHQQ", self.symbols)):
            if section and self.strings.startswith(wanted, at):
                return self.symbols_at + i * 24 + 8, value
        return None

    def defines(self, name: str) -> bool:
        return self.definition(name) is not None


# The copies of files that are not on this machine, by their paths there.
copies: dict[str, str] = {}

_NOTHING = Elf(0, "", (), (), 0, b"", b"", 0, False, b"")

# The head and name of the note that cstrace.h leaves.
_WORDS = struct.pack("<3I8s", 8, 8, 1, b"cstrace")


class _Image:
    """A file, addressed as it will be in memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = os.fstat(file.fileno()).st_size
        self.head = self.at(0, 64)
        if self.head[:6] != b"\x7fELF\x02\x01":
            raise ValueError("not a 64-bit little-endian ELF file")
        phoff, = struct.unpack_from("<Q", self.head, 32)
        phentsize, phnum = struct.unpack_from("<HH", self.head, 54)
        table = self.at(phoff, phentsize * phnum)
        self.headers = [struct.unpack_from("<IIQQQQQ", table, i * phentsize)
                        for i in range(phnum)]

    def at(self, offset: int, size: int) -> bytes:
        if offset >= self._size:
            return b""
        self._file.seek(offset)
        return self._file.read(min(size, self._size))

    def read(self, addr: int, size: int) -> bytes:
        for kind, _flags, offset, vaddr, _paddr, filesz, _ in self.headers:
            if kind == PT_LOAD and vaddr <= addr < vaddr + filesz:
                return self.at(offset + addr - vaddr,
                               min(size, vaddr + filesz - addr))
        return b""

    def first(self) -> int:
        """The page of the lowest address."""
        starts = [h[3] for h in self.headers if h[0] == PT_LOAD]
        return min(starts, default=0) & ~0xfff

    def has_note(self, head: bytes) -> bool:
        return any(head in self.at(h[2], h[5])
                   for h in self.headers if h[0] == PT_NOTE)

    def symbol_names(self) -> bytes:
        """The names in symbol tables that are not loaded."""
        shoff, = struct.unpack_from("<Q", self.head, 40)
        size, n = struct.unpack_from("<HH", self.head, 58)
        table = self.at(shoff, size * n) if shoff else b""
        sections = [struct.unpack_from("<2I4QII", table, i * size)
                    for i in range(n)] if table else []
        return b"".join(self.at(*sections[s[6]][4:6]) for s in sections
                        if s[1] == SHT_SYMTAB and s[6] < n)

    def segment(self, wanted: int) -> bytes:
        for kind, _flags, offset, _va, _pa, filesz, _ in self.headers:
            if kind == wanted:
                return self.at(offset, filesz)
        return b""


def _string(strings: bytes, at: int) -> str:
    end = strings.find(b"\0", at)
    return strings[at:end].decode("utf-8", "replace")


def _parse(file: BinaryIO) -> Elf:
    image = _Image(file)
    machine, = struct.unpack_from("<H", image.head, 18)
    dynamic = image.segment(PT_DYNAMIC)
    pairs = list(struct.iter_unpack("<QQ", dynamic[:len(dynamic) // 16 * 16]))
    tags: dict[int, int] = {tag: value for tag, value in pairs}
    strings_at, symbols_at = tags.get(DT_STRTAB, 0), tags.get(DT_SYMTAB, 0)
    strings = image.read(strings_at, tags.get(DT_STRSZ, 0))
    # Their number is written nowhere, but linkers put the names behind them.
    symbols = image.read(symbols_at, max(strings_at - symbols_at, 0))

    def all_of(*wanted: int) -> tuple[str, ...]:
        return tuple(_string(strings, v) for t, v in pairs if t in wanted)

    return Elf(machine, _string(image.segment(PT_INTERP) + b"\0", 0), all_of(DT_NEEDED),
               all_of(DT_RUNPATH, DT_RPATH), image.first(), strings,
               symbols[:len(symbols) // 24 * 24], symbols_at,
               image.has_note(_WORDS), image.symbol_names())


@lru_cache(maxsize=256)
def _read(path: str, _mtime_ns: int, _size: int) -> Elf:
    try:
        with open(path, "rb") as f:
            return _parse(f)
    except (OSError, ValueError, struct.error, KeyError):
        return _NOTHING


def _key(path: str) -> Optional[tuple[str, int, int]]:
    path = path.removeprefix("target:")
    path = copies.get(path, path)
    try:
        st = os.stat(path)
    except OSError:
        return None
    return path, st.st_mtime_ns, st.st_size


def read(path: str) -> Elf:
    """The file's dynamic section."""
    key = _key(path)
    return _read(*key) if key else _NOTHING


@lru_cache(maxsize=4096)
def _may_know(path: str, mtime_ns: int, size: int, name: str) -> bool:
    file, wanted = _read(path, mtime_ns, size), name.encode() + b"\0"
    return not file.machine or wanted in file.strings or wanted in file.names


def may_know(path: str, name: str) -> bool:
    """Is that perhaps a symbol of the file's, be it its own or another's?"""
    key = _key(path)
    return key is None or _may_know(*key, name)


_SYSTEM = ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64",
           "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")
# Has the folders that musl looks in; its libc is in the loader.
_MUSL_FOLDERS = "/etc/ld-musl-x86_64.path"
_MUSLS_OWN = ("libc.so", "libc.musl-", "ld-musl-")


def all_needed(path: str) -> list[str]:
    """The real paths of all libraries that path is loaded with."""
    loader = read(path).interpreter
    found: list[str] = []
    todo = [path]
    while todo:
        for name in needed_files(todo.pop(), loader)[0]:
            file = os.path.realpath(name)
            if file not in found:
                found.append(file)
                todo.append(file)
    return found


def _folders(loader: str) -> list[str]:
    """Where the loader looks by itself."""
    if not _is_musl(loader):
        return list(_SYSTEM)
    with contextlib.suppress(OSError):
        with open(_MUSL_FOLDERS, encoding="utf-8") as f:
            return f.read().replace("\n", ":").split(":")
    return ["/lib", "/usr/local/lib", "/usr/lib"]


def _is_musl(loader: str) -> bool:
    return os.path.basename(loader).startswith("ld-musl-")


def needed_files(path: str,
                 loader: Optional[str] = None) -> tuple[list[str], list[str]]:
    """The files of the libraries that path needs itself, as the loader (None:
    its own) would find them, and the names of those that were not found."""
    elf = read(path)
    loader = elf.interpreter if loader is None else loader
    origin = os.path.dirname(os.path.realpath(path))
    folders = []
    for entry in elf.runpath:
        folders += entry.replace("${ORIGIN}", origin).replace(
            "$ORIGIN", origin).split(":")
    folders += os.environ.get("LD_LIBRARY_PATH", "").split(":")
    found, missing = [], []
    for name in elf.needed:
        places = [name] if "/" in name else [
            os.path.join(f, name) for f in [*folders, *_folders(loader)] if f]
        if _is_musl(loader) and name.startswith(_MUSLS_OWN):
            places = [loader]
        place = next((p for p in places if os.path.exists(p)), None)
        if place:
            found.append(place)
        else:
            missing.append(name)
    return found, missing
