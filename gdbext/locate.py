# SPDX-License-Identifier: MIT
"""Where the built libraries are, and where a recorded trace may be kept."""

from __future__ import annotations

import os
import stat
from typing import Any, Optional

from . import gdb_setting

ENGINE = "libcstrace-engine.so"
SHIM = "libcstrace.so"
SAMPLER = "libcstrace-sample.so"
COMMAND = "cstrace"

# statfs's f_type cannot be read from Python: /proc/mounts tells instead.
_IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs")


def _folders() -> list[str]:
    override = os.environ.get("CSTRACE_LIBDIR")
    if override:
        return [override]
    package = os.path.dirname(os.path.realpath(__file__))
    parent = os.path.dirname(package)
    return [os.path.join(parent, "build"), parent,
            os.path.join(package, "lib")]


def _find(name: str) -> str:
    from .engine import CstraceError

    folders = _folders()
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return os.path.realpath(path)
    raise CstraceError("%s is not in %s: build it first: make"
                       % (name, folders[0]))


def engine() -> str:
    return _find(ENGINE)


def shim() -> str:
    return _find(SHIM)


def sampler() -> str:
    return _find(SAMPLER)


def is_sampler(path: str) -> bool:
    return os.path.basename(path) == SAMPLER


def command() -> str:
    """The cstrace command of this installation."""
    folders = _folders()
    for folder in folders:
        for place in (folder, os.path.join(folder, "..", "..", "bin")):
            path = os.path.join(place, COMMAND)
            if os.path.isfile(path) and os.access(path, os.X_OK):
                return os.path.realpath(path)
    return _find(COMMAND)


def is_shim(path: str) -> bool:
    """Is this file, by its name, the shim?"""
    name = os.path.basename(path)
    return name == SHIM or name.startswith(SHIM + ".")


def is_loader(path: str) -> bool:
    """Is it, by its name, the dynamic linker?"""
    return os.path.basename(path).startswith("ld-")


def _filesystem(path: str) -> str:
    best, kind = "", ""
    path = os.path.realpath(path)
    with open("/proc/mounts", encoding="utf-8", errors="replace") as mounts:
        for line in mounts:
            fields = line.split(" ")
            point = fields[1].replace("\\040", " ")
            inside = path == point or path.startswith(point.rstrip("/") + "/")
            if inside and len(point) >= len(best):
                best, kind = point, fields[2]
    return kind


def _is_ours(folder: str) -> bool:
    """A real folder of our own that nobody else can write into."""
    try:
        st = os.lstat(folder)
    except OSError:
        return False
    return (stat.S_ISDIR(st.st_mode) and st.st_uid == os.geteuid()
            and not st.st_mode & 0o022
            and os.access(folder, os.W_OK | os.X_OK))


def _is_usable(folder: str) -> bool:
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError:
        return False
    return _is_ours(folder)


def _places() -> list[str]:
    override = os.environ.get("CSTRACE_CACHE")
    if override:
        return [override] if os.path.isabs(override) else []
    base = os.environ.get("XDG_CACHE_HOME")
    home = os.path.expanduser("~")
    if not base and os.path.isdir(home):  # that one is not ours to make
        base = os.path.join(home, ".cache")
    places = [os.path.join(base, "cstrace")] if base else []
    places.append("/var/tmp/cstrace-%d" % os.geteuid())
    return [folder for folder in places if os.path.isabs(folder)]


def _caches() -> list[str]:
    return list(filter(_is_usable, _places()))


def old_caches() -> list[str]:
    """The folders with caches that exist by now."""
    return list(filter(_is_ours, _places()))


def spool_dir() -> tuple[str, bool]:
    """A folder for what is recorded: on a disk rather than in memory, where
    there is the choice; and is it the user's own?"""
    found = _caches()
    for folder in found:
        if _filesystem(folder) not in _IN_MEMORY:
            return folder, True
    return (found[0], True) if found else (_temporary(), False)


def _temporary() -> str:
    import tempfile  # imports much: later than gdb's start

    return tempfile.gettempdir()


def plain_path(path: Optional[str]) -> Optional[str]:
    """Without gdb's mark of a file on the machine that the program is on."""
    return path.removeprefix("target:") if path else path


def is_elsewhere(of: Any) -> bool:
    """Has gdb read the file from the machine that the program is on?"""
    try:
        return (of.filename or "").startswith("target:")
    except UnicodeDecodeError:
        return False


def file_name(of: Any) -> Optional[str]:
    """of.filename of a program space or object file.  gdb raises where the name
    is not in its character set: then its bytes are asked for."""
    try:
        return plain_path(of.filename)
    except UnicodeDecodeError:
        pass
    with gdb_setting.changed("host-charset", "ISO-8859-1"):
        return os.fsdecode(of.filename.encode("iso-8859-1"))
