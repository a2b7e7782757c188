# SPDX-License-Identifier: MIT
"""The shim's two control objects, poked and read in the traced process.

Mirrors struct cst_control of layout.h."""

from __future__ import annotations

import os
import struct
from typing import NamedTuple, Optional

import gdb

from .hooks import symbol_address

MAGIC = 0x31616572615F7463
LAYOUT = 3
STATE_ASK, STATE_ON, STATE_OFF, STATE_SYNC = range(4)
MODE_OFF, MODE_RING, MODE_BREAKPOINT, MODE_HANDSHAKE = range(4)

_HEAD = struct.Struct("<QII")
_AT_MODE, _AT_RETIRE, _AT_RETIRE_SEQ, _AT_ANSWER, _AT_PATH = 12, 16, 32, 36, 48
_AT_IS_FILE = 44
_PATH_SIZE = 256


class Answer(NamedTuple):
    state: int
    errno: int


class Control:
    """The control objects of one process.

    They are reached through /proc: gdb's own reads and writes go to whatever
    inferior is selected, and tell the user of memory that changed."""

    def __init__(self, pid: int, control: int, state: int) -> None:
        self._pid = pid
        self._control = control
        self._state = state
        self._path: Optional[bytes] = None
        self._retired = 0

    @classmethod
    def find(cls) -> Optional[Control]:
        """Those of the selected process as it stands, if the shim is in it."""
        pid = gdb.selected_inferior().pid
        control = symbol_address("cstrace_control")
        state = symbol_address("cstrace_state")
        if not pid or control is None or state is None:
            return None
        return cls(pid, control, state)

    def in_child(self, pid: int) -> Control:
        """The same objects in a fork child, as long as it has not exec'd."""
        return Control(pid, self._control, self._state)

    def _read(self, address: int, size: int) -> bytes:
        fd = os.open("/proc/%d/mem" % self._pid, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.pread(fd, size, address)
        finally:
            os.close(fd)

    def _write(self, address: int, data: bytes) -> None:
        fd = os.open("/proc/%d/mem" % self._pid, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.pwrite(fd, data, address)
        finally:
            os.close(fd)

    def version_error(self) -> Optional[str]:
        magic, layout, _mode = _HEAD.unpack(
            self._read(self._control, _HEAD.size))
        if (magic, layout) == (MAGIC, LAYOUT):
            return None
        return ("the libcstrace.so in the program is of another version than "
                "this gdb extension")

    def _set_state(self, state: int) -> None:
        self._write(self._state, struct.pack("<I", state))

    def switch_on(self, mode: int, area_path: bytes) -> None:
        """The next event in the program looks at what is written here."""
        if area_path != self._path:
            if len(area_path) >= _PATH_SIZE:
                raise gdb.GdbError("the area's path is too long")
            self._write(self._control + _AT_PATH,
                        area_path.ljust(_PATH_SIZE, b"\0"))
            self._path = area_path
        self._write(self._control + _AT_MODE, struct.pack("<I", mode))
        # What it has answered so far was about the environment's area.
        self._write(self._control + _AT_ANSWER,
                    struct.pack("<Ii", STATE_OFF, 0))
        self._set_state(STATE_ASK)

    def switch_off(self) -> None:
        self._write(self._control + _AT_MODE, struct.pack("<I", MODE_OFF))
        self._set_state(STATE_OFF)

    def retire(self, start: int, end: int) -> None:
        """Code at [start, end) was unmapped: its sites are forgotten."""
        self._retired += 1
        self._write(self._control + _AT_RETIRE,
                    struct.pack("<QQ", start, end))
        self._write(self._control + _AT_RETIRE_SEQ,
                    struct.pack("<I", self._retired))
        self._set_state(STATE_ASK)

    def is_taken(self, our_area: Optional[bytes]) -> bool:
        """Has it the area of another recorder, which it keeps for its
        life?"""
        ours = os.stat(our_area).st_ino if our_area else None
        try:
            with open("/proc/%d/maps" % self._pid, encoding="utf-8",
                      errors="surrogateescape") as maps:
                found = {int(line.split(None, 5)[4]) for line in maps
                         if "/memfd:cstrace" in line}
            (is_file,) = struct.unpack("<I", self._read(
                self._control + _AT_IS_FILE, 4))
        except OSError:
            return False
        if is_file:
            return self.answer().state != STATE_OFF
        return bool(found - {ours})

    def area_path(self) -> bytes:
        """What some gdb has told this process to write into."""
        data = self._read(self._control + _AT_PATH, _PATH_SIZE)
        return data.partition(b"\0")[0]

    def is_at(self, area_path: bytes) -> bool:
        """Are they there still, as switch_on() left them?  Not after an
        exec."""
        try:
            return (_HEAD.unpack(self._read(self._control, _HEAD.size))[0]
                    == MAGIC and self.area_path() == area_path)
        except (OSError, struct.error):
            return False

    def answer(self) -> Answer:
        return Answer(*struct.unpack("<Ii", self._read(
            self._control + _AT_ANSWER, 8)))
