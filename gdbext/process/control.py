# SPDX-License-Identifier: MIT
"""The shim's two control objects, poked and read in the traced process.  Their
layout is made from cstrace/control.h."""

from __future__ import annotations

import os
from typing import NamedTuple, Optional

import gdb

from .. import _abi as abi
from . import memory
from .connection import is_remote
from .hooks import symbol_address

_Fields = abi.cst_control


class Answer(NamedTuple):
    state: int
    errno: int


class Control:
    """The control objects of one process."""

    def __init__(self, pid: int, control: int, state: int) -> None:
        self._pid = pid
        self._control = control
        self._state = state
        self._path: Optional[bytes] = None
        self._retired = 0

    @classmethod
    def find(cls) -> Optional[Control]:
        """The objects of the selected process as it is now, if it has the shim."""
        pid = gdb.selected_inferior().pid
        control = symbol_address("cstrace_control")
        state = symbol_address("cstrace_state")
        if not pid or control is None or state is None:
            return None
        return cls(pid, control, state)

    def in_child(self, pid: int) -> Control:
        """These objects in a fork child, as long as it has not exec'd."""
        return Control(pid, self._control, self._state)

    def _read(self) -> _Fields:
        """OSError: nothing is mapped there; ValueError: less than all."""
        return _Fields.from_buffer_copy(memory.read(
            self._pid, self._control, memoryview(_Fields()).nbytes))

    def _write(self, address: int, data: bytes) -> None:
        memory.write(self._pid, address, data)

    def _put(self, field: str, value: int) -> None:
        place = getattr(_Fields, field)
        self._write(self._control + place.offset,
                    value.to_bytes(place.size, "little"))

    def version_error(self) -> Optional[str]:
        found = self._read()
        if (found.magic, found.layout) == (abi.CST_AREA_MAGIC, abi.CST_LAYOUT):
            return None
        return ("the libcstrace.so in the program is of another version than "
                "this gdb extension")

    def _set_state(self, state: int) -> None:
        self._write(self._state, state.to_bytes(4, "little"))

    def switch_on(self, mode: int, area_path: bytes,
                  is_file: int = 0) -> None:
        """The next event in the program looks at what is written here."""
        if is_file:
            self._put("is_file", is_file)
        if area_path != self._path:
            place = _Fields.area_path
            if len(area_path) >= place.size:
                raise gdb.GdbError("the area's path is too long")
            self._write(self._control + place.offset,
                        area_path.ljust(place.size, b"\0"))
            self._path = area_path
        self._put("mode", mode)
        # What it has answered so far was about the environment's area.
        self._put("answer_state", abi.CST_STATE_OFF)
        self._put("answer_errno", 0)
        self._set_state(abi.CST_STATE_ASK)

    def switch_off(self) -> None:
        """The program may go on to watch itself, which the shim sees to."""
        self._put("mode", abi.CST_MODE_OFF)
        self._set_state(abi.CST_STATE_ASK)

    def retire(self, start: int, end: int) -> None:
        """Code at [start, end) was unmapped: its sites are forgotten."""
        self._retired += 1
        self._put("retire_start", start)
        self._put("retire_end", end)
        self._put("retire_seq", self._retired)
        self._set_state(abi.CST_STATE_ASK)

    def is_taken(self, our_area: Optional[bytes]) -> bool:
        """Has it the area of another recorder, which it keeps for its
        life?"""
        if is_remote():
            return False  # gdb reads along with another reader
        ours = os.stat(our_area).st_ino if our_area else None
        try:
            with open("/proc/%d/maps" % self._pid, encoding="utf-8",
                      errors="surrogateescape") as maps:
                found = {int(line.split(None, 5)[4]) for line in maps
                         if "/memfd:cstrace" in line}
            control = self._read()
        except (OSError, ValueError):
            return False
        if control.is_file:
            return control.answer_state != abi.CST_STATE_OFF
        return bool(found - {ours})

    def area_path(self) -> bytes:
        """The area that some gdb has this process write into."""
        return self._read().area_path

    def is_at(self, area_path: bytes) -> bool:
        """Are they there still, as switch_on() left them?  Not after an
        exec."""
        try:
            found = self._read()
        except (OSError, ValueError):
            return False
        return (found.magic == abi.CST_AREA_MAGIC
                and found.area_path == area_path)

    def answer(self) -> Answer:
        found = self._read()
        return Answer(found.answer_state, found.answer_errno)
