# SPDX-License-Identifier: MIT
"""What a file tells of itself before it runs: where its code calls the hooks,
which functions and units do, by pyelftools.

Imported when `cstrace check` is used.  The words for all this are in
commands/check.py, and those of the cstrace command's check are the same."""

from __future__ import annotations

import bisect
import os
import re
import struct
from typing import Any, Iterator, NamedTuple, Optional

from elftools.common.exceptions import DWARFError, ELFError
from elftools.elf.elffile import ELFFile

from .. import locate
from ..process import elf, hooks, relocations, x86_64

PROGRAM, LIBRARY, OBJECT = "program", "library", "object file"
SANITIZERS = (("address", "__asan_init"), ("thread", "__tsan_init"),
              ("memory", "__msan_init"), ("leak", "__lsan_init"),
              ("undefined", "__ubsan_handle_"))

# What compilers and linkers bring in by themselves, or split off.
_MADE_UP = re.compile(
    r"(_init|_fini|_start|(de)?register_tm_clones|__do_global_dtors_aux"
    r"|frame_dummy|_dl_relocate_static_pie|__libc_csu_(init|fini)"
    r"|__cyg_profile_func_(enter|exit))$|.*\.cold|_GLOBAL__"
    r"|__static_initialization_and_|__cxx_global_var_init|_sub_[ID]_"
    r"|asan\.module_|_ZT[hv]")
_CALLS = re.compile(rb"[\xe8\xe9]|\xff[\x15\x25]")
_EXECUTABLE, _EXCLUDED_SECTION = 4, ".plt"


class Site(NamedTuple):
    address: int
    is_exit: bool


class Symbol(NamedTuple):
    name: str  # linkage name, without a version
    address: int
    size: int
    is_function: bool
    is_defined: bool


class Unit:
    """A unit of the debug information."""

    def __init__(self, name: str, producer: str, version: int,
                 is_assembler: bool) -> None:
        self.name = name
        self.producer = producer
        self.version = version
        self.is_assembler = is_assembler
        self.n_functions = self.n_hooked = 0

    def is_rust(self) -> bool:
        """Of a compiler that knows no such hooks?"""
        return "rustc version" in self.producer

    def is_instrumented(self) -> bool:
        return (self.n_hooked > 0
                or "-finstrument-functions" in self.producer)


class Function(NamedTuple):
    name: str
    start: int
    end: int
    unit: Optional[Unit]
    n_enter: int


class File:
    """A file, looked through."""

    def __init__(self, path: str, debug_path: Optional[str]) -> None:
        self.path = path
        self.debug_path = debug_path
        self.units: list[Unit] = []
        self.is_unread = False  # it has debug information all the same
        self.symbols: list[Symbol] = []
        self.functions: list[Function] = []
        self.sites: list[Site] = []
        self.no_unit = Unit("", "", 0, False)
        self._ranges: list[tuple[int, int, Unit]] = []
        self._range_starts: list[int] = []
        self._function_starts: list[int] = []
        with open(path, "rb") as f:
            self._look(ELFFile(f))

    # ---- what kind of file -------------------------------------------------

    def _look(self, file: ELFFile) -> None:
        segments = [s["p_type"] for s in file.iter_segments()]
        has_interpreter = "PT_INTERP" in segments
        kind = file["e_type"]
        self.is_pie = kind == "ET_DYN" and (has_interpreter
                                            or _has_pie_flag(file))
        self.kind = (OBJECT if kind == "ET_REL" else LIBRARY
                     if kind == "ET_DYN" and not self.is_pie else PROGRAM)
        self.is_dynamic = has_interpreter or self.kind == LIBRARY
        self.is_stripped = (file.get_section_by_name(".symtab") is None
                            and self.debug_path is None)
        self._with_debug(file, self._read_names)
        self.hooks = self._supply()
        self._read_sites(file)
        self._count()

    def _with_debug(self, file: ELFFile, look: Any) -> None:
        if self.debug_path is None:
            look(file, file)
            return
        with open(self.debug_path, "rb") as f:
            look(file, ELFFile(f))

    def _read_names(self, file: ELFFile, debug: ELFFile) -> None:
        table = (file.get_section_by_name(".symtab")
                 or debug.get_section_by_name(".symtab")
                 or file.get_section_by_name(".dynsym"))
        self.symbols = list(_symbols(table, self.kind == OBJECT))
        self.exported = list(_symbols(file.get_section_by_name(".dynsym"),
                                      False))
        try:
            self._read_units(debug)
        except (DWARFError, ELFError, LookupError, ValueError, TypeError,
                AttributeError, AssertionError, struct.error):
            # Damaged, or packed in a way of its own: what was found so far.
            self.is_unread = not self.units
        self._ranges.sort(key=lambda r: r[:2])
        self._range_starts = [r[0] for r in self._ranges]

    def _supply(self) -> str:
        """Who defines the hooks: "imported", "own", "archive" or ""."""
        found = ""
        for s in self.symbols + self.exported:
            if s.name == "cstrace_control" and s.is_defined:
                return "archive"
            if s.name == hooks.ENTER:
                found = "own" if s.is_defined else found or "imported"
        return found

    def uses(self, *names: str) -> bool:
        return any(s.name in names and not s.is_defined
                   for s in self.symbols + self.exported)

    def sanitizers(self) -> list[str]:
        names = [s.name for s in self.symbols + self.exported]
        return [kind for kind, begin in SANITIZERS
                if any(n.startswith(begin) for n in names)]

    # ---- units -------------------------------------------------------------

    def _read_units(self, file: ELFFile) -> None:
        if not file.has_dwarf_info():
            return
        dwarf = file.get_dwarf_info()
        for cu in dwarf.iter_CUs():
            top = cu.get_top_DIE()
            if top.tag not in ("DW_TAG_compile_unit", "DW_TAG_skeleton_unit"):
                continue
            unit = Unit(_text(dwarf, top, "DW_AT_name"),
                        _text(dwarf, top, "DW_AT_producer"), cu["version"],
                        _value(top, "DW_AT_language") == 0x8001)
            self.units.append(unit)
            self._ranges += [(start, end, unit) for start, end
                             in _ranges(dwarf, cu, top) if start < end]

    def unit_at(self, address: int) -> Optional[Unit]:
        if self.kind == OBJECT:  # its sections have no addresses yet
            return self.units[0] if len(self.units) == 1 else None
        i = bisect.bisect_right(self._range_starts, address)
        for start, end, unit in reversed(self._ranges[max(i - 8, 0):i]):
            if start and start <= address < end:
                return unit
        return None

    # ---- calls of the hooks ------------------------------------------------

    def _targets(self, file: ELFFile) -> tuple[dict[int, bool],
                                               dict[int, bool]]:
        """Functions and stubs, and words of memory, that lead to a hook."""
        slots = {at: name == hooks.EXIT for name, found in relocations.slots(
            self.path, os.stat(self.path).st_mtime_ns, hooks.NAMES).items()
            for at in found}
        functions: dict[int, bool] = {}
        for s in self.symbols + self.exported:
            if s.is_defined and s.name in hooks.NAMES:
                # In a static libc both are one empty function.
                functions[s.address] = (functions.get(s.address, True)
                                        and s.name == hooks.EXIT)
        for section in file.iter_sections():
            if not section.name.startswith(_EXCLUDED_SECTION):
                continue
            code, base = section.data(), section["sh_addr"]
            for at in range(0, len(code), 8):
                slot = x86_64.stub_slot(code[at:at + 16], base + at)
                if slot in slots:
                    functions[base + at] = slots[slot]
        return functions, slots

    def _read_sites(self, file: ELFFile) -> None:
        if self.kind == OBJECT:
            self.sites = sorted(_relocated(file))
            return
        functions, slots = self._targets(file)
        if not functions and not slots:
            return
        for section in file.iter_sections():
            if (section["sh_type"] == "SHT_PROGBITS"
                    and section["sh_flags"] & _EXECUTABLE
                    and not section.name.startswith(_EXCLUDED_SECTION)):
                self.sites += _scan(section.data(), section["sh_addr"],
                                    functions, slots)
        self.sites.sort()

    def enters(self, start: int, end: int) -> list[int]:
        """Addresses of the calls of the entry hook in [start, end)."""
        i = bisect.bisect_left(self.sites, (start,))
        found = []
        while i < len(self.sites) and self.sites[i].address < end:
            if not self.sites[i].is_exit:
                found.append(self.sites[i].address)
            i += 1
        return found

    def _count(self) -> None:
        by_start: dict[int, Symbol] = {}
        for s in self.symbols:
            if (s.is_function and s.is_defined and s.size
                    and not _MADE_UP.match(s.name)):
                old = by_start.setdefault(s.address, s)
                if s.name < old.name:
                    by_start[s.address] = s
        for start in sorted(by_start):
            s = by_start[start]
            unit = self.unit_at(start)
            n = len(self.enters(start, start + s.size))
            self.functions.append(Function(s.name, start, start + s.size, unit,
                                           n))
            counted = unit or self.no_unit
            counted.n_functions += 1
            counted.n_hooked += n > 0
        self._function_starts = [f.start for f in self.functions]

    def function_at(self, address: int) -> Optional[Function]:
        i = bisect.bisect_right(self._function_starts, address) - 1
        if i >= 0 and address < self.functions[i].end:
            return self.functions[i]
        return None


# ---- pieces of files -----------------------------------------------------------


def _has_pie_flag(file: ELFFile) -> bool:
    for segment in file.iter_segments("PT_DYNAMIC"):
        return any(tag["d_val"] & 0x8000000
                   for tag in segment.iter_tags("DT_FLAGS_1"))
    return False


def _symbols(table: Any, is_object: bool) -> Iterator[Symbol]:
    """Those of a table; of an object file's by section and offset."""
    for s in table.iter_symbols() if table is not None else ():
        section = s["st_shndx"]
        if not s.name:
            continue
        is_defined = section != "SHN_UNDEF"
        at = s["st_value"]
        if is_object and isinstance(section, int):
            at += section << 40
        kind = s["st_info"]["type"]
        yield Symbol(s.name[:1] + s.name[1:].partition("@")[0], at,
                     s["st_size"],
                     kind in ("STT_FUNC", "STT_LOOS")  # STT_GNU_IFUNC
                     or is_object and not is_defined and kind == "STT_NOTYPE",
                     is_defined)


def _scan(code: bytes, base: int, functions: dict[int, bool],
          slots: dict[int, bool]) -> Iterator[Site]:
    for m in _CALLS.finditer(code):
        at, size = m.start(), m.end() - m.start() + 4
        if at + size > len(code):
            return
        distance, = struct.unpack_from("<i", code, at + size - 4)
        to = base + at + size + distance
        is_exit = (functions if size == 5 else slots).get(to)
        if is_exit is not None:
            yield Site(base + at, is_exit)


def _relocated(file: ELFFile) -> Iterator[Site]:
    """In an object file the linker is told of each call."""
    for table in file.iter_sections():
        if table["sh_type"] != "SHT_RELA":
            continue
        index = table["sh_info"]
        if not file.get_section(index)["sh_flags"] & _EXECUTABLE:
            continue
        symbols = file.get_section(table["sh_link"])
        for r in table.iter_relocations():
            name = symbols.get_symbol(r["r_info_sym"]).name
            if name in hooks.NAMES:
                yield Site((index << 40) + r["r_offset"] - 1,
                           name == hooks.EXIT)


def _value(die: Any, name: str) -> Any:
    attribute = die.attributes.get(name)
    return None if attribute is None else attribute.value


def _indexed(dwarf: Any, top: Any, section: str, base: str, first: int,
             index: int, size: int) -> int:
    """An entry of a table of DWARF 5 that is reached by number."""
    found = getattr(dwarf, section, None)
    if found is None:
        raise KeyError(section)
    start = _value(top, base)
    stream = found.stream
    stream.seek((first if start is None else start) + index * size)
    return int.from_bytes(stream.read(size), "little")


def _text(dwarf: Any, top: Any, name: str) -> str:
    attribute = top.attributes.get(name)
    if attribute is None:
        return ""
    value = attribute.value
    if attribute.form.startswith("DW_FORM_strx") and isinstance(value, int):
        value = dwarf.get_string_from_table(_indexed(
            dwarf, top, "debug_str_offsets_sec", "DW_AT_str_offsets_base", 8,
            value, 4))
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _address(dwarf: Any, top: Any, name: str) -> Optional[int]:
    attribute = top.attributes.get(name)
    if attribute is None:
        return None
    if attribute.form.startswith("DW_FORM_addrx") \
            and attribute.value == attribute.raw_value:
        return _indexed(dwarf, top, "debug_addr_sec", "DW_AT_addr_base", 8,
                        attribute.raw_value, 8)
    return attribute.value


def _ranges(dwarf: Any, cu: Any, top: Any) -> Iterator[tuple[int, int]]:
    low = _address(dwarf, top, "DW_AT_low_pc")
    at = top.attributes.get("DW_AT_ranges")
    if at is None:
        high = top.attributes.get("DW_AT_high_pc")
        if low is not None and high is not None:
            yield low, (high.value if high.form == "DW_FORM_addr"
                        else low + high.value)
        return
    base = low or 0
    offset = at.value
    if at.form == "DW_FORM_rnglistx" and at.value == at.raw_value:
        first = _value(top, "DW_AT_rnglists_base")
        offset = first + _indexed(dwarf, top, "debug_rnglists_sec",
                                  "DW_AT_rnglists_base", 12, at.raw_value, 4)
    for entry in dwarf.range_lists().get_range_list_at_offset(offset, cu):
        if hasattr(entry, "base_address"):
            base = entry.base_address
        elif getattr(entry, "is_absolute", False):
            yield entry.begin_offset, entry.end_offset
        else:
            yield base + entry.begin_offset, base + entry.end_offset


def debug_size(path: str) -> int:
    with open(path, "rb") as f:
        section = ELFFile(f).get_section_by_name(".debug_info")
        return 0 if section is None else section.data_size


# ---- libraries -----------------------------------------------------------------


class Libraries(NamedTuple):
    with_hooks: list[str]
    without: list[str]
    missing: list[str]
    paths: list[str]
    has_shim: bool


def libraries(path: str) -> Libraries:
    """All that the file needs, and what those need."""
    todo, seen, missing = [path], [], []
    names: dict[str, bool] = {}
    while todo:
        found, unknown = elf.needed_files(todo.pop(0))
        missing += [n for n in unknown if n not in missing]
        for f in found:
            name = os.path.basename(f)
            if name not in names:
                names[name] = hooks.uses_hooks(f)
                seen.append(f)
                todo.append(f)
    shim = [n for n in [*names, *missing] if locate.is_shim(n)]
    return Libraries([n for n in names if names[n]],
                     [n for n in names if not names[n]
                      and not locate.is_shim(n)],
                     missing, seen, bool(shim))
