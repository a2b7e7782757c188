# SPDX-License-Identifier: MIT
"""Was the program compiled with -finstrument-functions, and where in its
code are the calls of the hooks?"""

from __future__ import annotations

import os
import re
import stat
from typing import Iterator, NamedTuple, Optional

import gdb

from .. import live, locate
from ..ui import ctrlc
from . import elf, x86_64
from .connection import is_remote

ENTER, EXIT = "__cyg_profile_func_enter", "__cyg_profile_func_exit"
NAMES = (ENTER, EXIT)

# What a program has that starts others.
STARTERS = ("execl", "execle", "execlp", "execv", "execve", "execvp",
            "execvpe", "fexecve", "execveat", "posix_spawn", "posix_spawnp",
            "system", "popen")

_NO_FILE = "system-supplied DSO at "  # is how gdb names the kernel's vDSO
_FIRST = "cstrace_control"  # the shim's symbol that others are found by

MISSING = ("%s has no -finstrument-functions hooks: compile it with "
           "gcc or clang -g -finstrument-functions")


def _may_be_known(name: str) -> bool:
    """Has a file that gdb has read perhaps such a symbol?"""
    return any(elf.may_know(path, name) for path in map(
        locate.file_name, gdb.objfiles())
               if path and not path.startswith(_NO_FILE))


def is_defined(name: str) -> bool:
    """Does gdb know the symbol by the program's files or libraries'?"""
    return any(elf.read(path).defines(name) for path in loaded()) or (
        symbol_address(name) is not None)


def _shim() -> Optional[gdb.Objfile]:
    """The one libcstrace.so that gdb has read."""
    found = [o for o in gdb.objfiles() if o.owner is None
             and locate.is_shim(locate.file_name(o) or "")]
    return found[0] if len(found) == 1 else None


def has_shim() -> bool:
    """Has the process libcstrace.so, as far as gdb knows?"""
    return gdb.selected_inferior().pid != 0 and _shim() is not None


def _address_in(shim: gdb.Objfile, name: str) -> Optional[int]:
    """Where that symbol of the shim's is, by its file's symbol table."""
    path = locate.file_name(shim) or ""
    wanted = elf.read(path).definition(name)
    first = elf.read(path).definition(_FIRST)
    if wanted is None or first is None:
        return None
    at = getattr(shim, "cstrace_first", None)
    if at is None:
        at = _parsed_address(_FIRST)
        if at is None or gdb.solib_name(at) != path:
            return None
        setattr(shim, "cstrace_first", at)
    return int(at) - first[1] + wanted[1]


def symbol_address(name: str) -> Optional[int]:
    """Where the symbol is now, or None.

    gdb takes milliseconds to say so, as a name may be that of a source file,
    too, and the files' symbol tables say most of it."""
    shim = _shim() if name.startswith("cstrace_") else None
    at = None if shim is None else _address_in(shim, name)
    if at is not None:
        return at
    if name.isidentifier() and not _may_be_known(name):
        return None
    return _parsed_address(name)


def _parsed_address(name: str) -> Optional[int]:
    # gdb's parser makes an error of Ctrl-C: no such symbol.
    with ctrlc.kept():
        try:
            return int(gdb.parse_and_eval("(unsigned long)&" + name))
        except gdb.error:
            return None


def program() -> Optional[str]:
    """The executable's file, or None when gdb has none."""
    return locate.file_name(gdb.current_progspace())


def is_libc(path: str) -> bool:
    name = os.path.basename(path)
    return name.startswith(("libc.so", "libc-", "ld-"))


def uses_hooks(path: str) -> bool:
    """Does the file import or define the hooks?  (libc and the shim define
    them for others.)"""
    if is_libc(path) or locate.is_shim(path):
        return False
    return elf.read(path).uses(ENTER)


def is_static_with_hooks(path: str) -> bool:
    """A static executable's hooks are known by its symbol table only."""
    return not elf.read(path).is_dynamic and symbol_address(ENTER) is not None


def has_own_hooks(path: str) -> bool:
    """Does a dynamic program define the hooks itself?  A preloaded shim's are
    never called then."""
    return elf.read(path).defines(ENTER) and not links_shim(path)


def loaded() -> Iterator[str]:
    for objfile in gdb.objfiles():
        if objfile.is_valid() and objfile.owner is None:
            path = locate.file_name(objfile)
            if path:
                yield path


def _needs_shim(path: str) -> bool:
    libraries, _missing = elf.needed_files(path)
    return any(locate.is_shim(f)
               for f in [*elf.read(path).needed, *libraries])


def has_archive(path: str) -> bool:
    """Has the program libcstrace.a in it?  Then the symbol is in no library."""
    control = symbol_address("cstrace_control")
    return (control is not None and gdb.solib_name(control) is None
            and not _needs_shim(path))


def links_shim(path: str) -> bool:
    """Has the program the shim by its own linking?"""
    return _needs_shim(path) or has_archive(path)


def is_loading() -> bool:
    """Has the process yet to map its libraries, libcstrace.so among them?"""
    path, pid = program(), gdb.selected_inferior().pid
    if not path or not pid or not elf.read(path).is_dynamic:
        return False
    # What has no slash in its name is the kernel's vDSO.
    if any("/" in p and p != path and not os.path.basename(p).startswith("ld-")
           for p in loaded()):
        return False
    if is_remote():
        return True  # only the program knows its environment
    try:
        with open("/proc/%d/environ" % pid, "rb") as f:
            variables = f.read().split(b"\0")
    except OSError:
        return False
    preloaded = [os.fsdecode(v).partition("=")[2] for v in variables
                 if v.startswith(b"LD_PRELOAD=")]
    return links_shim(path) or any(
        map(locate.is_shim, re.split("[: ]", ":".join(preloaded))))


def in_shim(name: str) -> Optional[int]:
    """Where the libcstrace.so in the process has it."""
    control = symbol_address("cstrace_control")
    path = control is not None and gdb.solib_name(control)
    if control is None or not path:
        return None
    shim = elf.read(path)
    known, wanted = shim.definition("cstrace_control"), shim.definition(name)
    if known is None or wanted is None:
        return None
    return control - known[1] + wanted[1]


def is_shim_late() -> bool:
    """Was the shim loaded behind libc, so that no name leads to it?"""
    for path in loaded():  # in the dynamic linker's order
        if locate.is_shim(path):
            return False
        if is_libc(path) and not locate.is_loader(path):
            return True
    return False


def hook_address(name: str) -> Optional[int]:
    """That of the hook which the program calls.  Of a name that several
    libraries define gdb gives any."""
    if has_own_hooks(program() or ""):
        return symbol_address(name)
    return in_shim(name) or symbol_address(name)


def is_privileged(path: str) -> bool:
    """Does it run with more rights than we have?  The dynamic linker takes
    nothing from the environment then."""
    try:
        st = os.stat(path)
        is_setuid = st.st_mode & stat.S_ISUID and st.st_uid != os.geteuid()
        is_setgid = (st.st_mode & stat.S_ISGID and st.st_mode & stat.S_IXGRP
                     and st.st_gid != os.getegid())
        return bool(is_setuid or is_setgid
                    or "security.capability" in os.listxattr(path))
    except OSError:
        return False


class Verdict(NamedTuple):
    can_start: bool
    line: Optional[str]  # why not, or a warning


def check(is_live: bool, unpatched: Optional[str] = "") -> Verdict:
    """Can the program be traced, as far as its files tell?  unpatched: what to
    say of the program where it has no hooks; None: it needs none."""
    path = program()
    if path is None:
        return Verdict(True, None)
    if elf.read(path).machine != elf.EM_X86_64:
        return Verdict(False, "%s is not a program for 64-bit x86, the one "
                       "machine that cstrace knows so far" % path)
    shown = os.path.relpath(path)
    shown = path if shown.startswith("..") else "./" + shown
    if not is_live and is_privileged(path) and not links_shim(path):
        return Verdict(False, "%s runs with another user's rights (setuid, "
                       "setgid or capabilities), so libcstrace.so cannot get "
                       "into it: trace a copy without them" % shown)
    if unpatched is None or uses_hooks(path) or is_static_with_hooks(path):
        return Verdict(True, None)
    if elf.read(path).has_words and (elf.read(path).is_dynamic or
                                     has_archive(path)):
        return Verdict(True, None)
    missing_line = MISSING % shown + unpatched
    libraries, unknown = elf.needed_files(path)
    libraries = list(loaded()) if is_live else libraries
    with_hooks = [f for f in libraries if f != path
                  and (uses_hooks(f) or elf.read(f).has_words)]
    if with_hooks:
        return Verdict(True, "%s itself has no hooks: only calls in %s are "
                       "traced" % (shown, os.path.basename(with_hooks[0])))
    if elf.read(path).uses("dlopen") or unknown:
        return Verdict(True, missing_line +
                       " (going on, a library may have them)")
    if any(elf.read(path).uses(name) for name in STARTERS):
        return Verdict(True, "%s itself has no hooks: only what it starts can "
                       "be traced%s" % (shown, unpatched))
    return Verdict(False, missing_line)


def slots_of(path: str) -> list[tuple[int, str]]:
    """The words of the file that lead to the hooks, by the addresses it is
    linked for, each with the hook's name."""
    found = live.hook_slots(path, os.stat(path).st_mtime_ns)
    return [(address, name) for name, addresses in zip(NAMES, found)
            for address in addresses]


def slots() -> dict[int, str]:
    """All such words of the process, by their addresses in it."""
    found = {}
    for path in loaded():
        base = load_address(path) if uses_hooks(path) else None
        if base is not None:
            found.update({base + address: name
                          for address, name in slots_of(path)})
    return found


class Targets:
    """Addresses that a call of one of the hooks can go to, in the process as
    it stands now."""

    def __init__(self) -> None:
        self.slots: dict[int, str] = {}
        self._defined = {symbol_address(n): n for n in NAMES}
        self._is_ambiguous = len(self._defined) < len(NAMES)
        self.slots.update(slots())

    def name(self, code: bytes, at: int, pc: int,
             memory: "Memory") -> Optional[str]:
        """Which hook the call instruction code[at:], at pc, calls; "" when it
        calls one of the two but they are one and the same."""
        slot = x86_64.call_slot(code, at, pc)
        if slot is not None:
            return self.slots.get(slot)
        target = x86_64.call_target(code, at, pc)
        if target is None:
            return None
        if target in self._defined:
            return "" if self._is_ambiguous else self._defined[target]
        slot = x86_64.stub_slot(memory.read(target, 16), target)
        return self.slots.get(slot) if slot is not None else None


class Memory:
    """The process's memory, where an unreadable place is empty; so is one below
    address 0, which a frame of an overwritten stack leads to."""

    def __init__(self) -> None:
        self._inferior = gdb.selected_inferior()

    def read(self, address: int, size: int) -> bytes:
        try:
            return bytes(self._inferior.read_memory(address % 2**64, size))
        except gdb.MemoryError:
            return b""

    def word(self, address: int) -> int:
        return int.from_bytes(self.read(address, 8), "little")


def _remote_mappings() -> list[tuple[int, int, int, str]]:
    """Returns what the other machine has mapped."""
    try:
        text = gdb.execute("info proc mappings", to_string=True)
    except gdb.error:
        return []
    found = []
    for line in text.splitlines():
        fields = line.split(None, 5)
        if len(fields) == 6 and fields[5].startswith("/"):
            start, end, _size, offset = (int(f, 16) for f in fields[:4])
            found.append((start, end, offset, fields[5]))
    return found


def mappings(pid: int) -> list[tuple[int, int, int, str]]:
    """(start, end, file offset, path) of what is mapped from files."""
    if is_remote():
        return _remote_mappings()
    found = []
    try:
        with open("/proc/%d/maps" % pid, encoding="utf-8",
                  errors="surrogateescape") as maps:
            for line in maps:
                fields = line.rstrip("\n").split(None, 5)
                if len(fields) == 6 and fields[5].startswith("/"):
                    start, _, end = fields[0].partition("-")
                    found.append((int(start, 16), int(end, 16),
                                  int(fields[2], 16), fields[5]))
    except OSError:
        pass
    return found


def load_address(path: str) -> Optional[int]:
    """What is added to the file's addresses, or None when not mapped."""
    real = os.path.realpath(path)
    starts = [start for start, _end, offset, mapped
              in mappings(gdb.selected_inferior().pid)
              if mapped == real and offset == 0]
    if not starts:
        return None
    return min(starts) - elf.read(real).first
