# SPDX-License-Identifier: MIT
"""The shim's conditions to stop at, written into the traced process.  Their
layout is made from cstrace/control.h."""

from __future__ import annotations

from typing import Iterable, NamedTuple, Optional, Sequence

import gdb

from .. import _abi as abi
from . import memory
from .hooks import symbol_address

MOST = abi.CST_MAX_STOPS
_MOST_FUNCTIONS = abi.CST_STOP_SLOTS // 2
_FACTOR = 0x9e3779b97f4a7c15


class Condition(NamedTuple):
    """One condition, and the addresses of its functions."""

    called: frozenset[int] = frozenset()
    under: frozenset[int] = frozenset()
    is_any: bool = False  # every function is meant
    flags: int = abi.CST_STOP_ON
    thread: int = 0
    depth: int = 0
    longer_ns: int = 0
    nth: int = 0
    where: str = ""  # on the values at the entry
    returns: str = ""  # on the result
    title: str = ""  # to say whose it is

    def all_flags(self) -> int:
        return (self.flags | (abi.CST_STOP_VALUES if self.where else 0)
                | (abi.CST_STOP_RESULT if self.returns else 0))

    def needs_end(self) -> bool:
        """Is it about the end itself, and not when that comes?"""
        return bool(self.all_flags() & (abi.CST_STOP_RESULT
                                        | abi.CST_STOP_AT_EXIT))

    def needs_open(self) -> bool:
        return bool(self.all_flags() & ~(abi.CST_STOP_ON | abi.CST_STOP_VALUES)
                    or self.depth or self.longer_ns)


class _Functions:
    """The hash table of functions that the shim looks into."""

    def __init__(self, out: abi.cst_stops) -> None:
        self._slots = out.functions
        self._n = 0

    def of(self, address: int) -> abi.cst_stop_function:
        i = (address * _FACTOR) % 2**64 >> (64 - abi.CST_STOP_BITS)
        while self._slots[i].callee not in (0, address):
            i = (i + 1) % abi.CST_STOP_SLOTS
        if not self._slots[i].callee:
            self._n += 1
            if self._n > _MOST_FUNCTIONS:
                raise gdb.GdbError("the conditions name more than %d functions"
                                   % _MOST_FUNCTIONS)
            self._slots[i].callee = address
        return self._slots[i]


def _fill(out: abi.cst_stops, conditions: dict[int, Condition]) -> None:
    functions = _Functions(out)
    for i, c in conditions.items():
        out.is_on = 1
        out.needs_open |= c.needs_open()
        out.any |= c.is_any << i
        stop = out.stops[i]
        stop.flags, stop.thread, stop.depth = c.all_flags(), c.thread, c.depth
        stop.longer_ns, stop.count = c.longer_ns, c.nth
        for address in c.called:
            functions.of(address).called |= 1 << i
        for address in c.under:
            functions.of(address).under |= 1 << i


class _Tests:
    """The process's table of comparisons of values: for each hook that has asked,
    those that a condition takes there."""

    def __init__(self, pid: int, tests: int) -> None:
        self._pid = pid
        self._at = tests
        self._slots: dict[int, int] = {}  # the hook of each that is taken
        self._known: set[tuple[int, int]] = set()
        self._n = 0

    def clear(self) -> None:
        self._slots.clear()
        self._known.clear()
        self._n = 0
        memory.write(self._pid, self._at,
                     bytes(abi.cst_tests.places.size))

    def _add(self, tests: Sequence[abi.cst_test]) -> int:
        """Returns 1 + the first one's place."""
        if not tests or self._n + len(tests) > abi.CST_MAX_TESTS:
            return abi.CST_TEST_UNKNOWN
        size = memoryview(abi.cst_test()).nbytes
        memory.write(self._pid,
                     self._at + abi.cst_tests.tests.offset + self._n * size,
                     b"".join(map(bytes, tests)))
        self._n += len(tests)
        return self._n - len(tests) + 1

    def answer(self, place: int, hook: int,
               tests: Sequence[abi.cst_test]) -> bool:
        """Writes what the hook is to compare for the condition in this place; no
        tests: it cannot be decided.  False: there is no room."""
        if (place, hook) in self._known:
            return True  # another thread asked, too
        i = (hook * _FACTOR) % 2**64 >> (64 - abi.CST_TEST_BITS)
        while i in self._slots:
            i = (i + 1) % abi.CST_TEST_SLOTS
        if len(self._slots) >= abi.CST_TEST_SLOTS // 2:
            return False
        first = self._add(tests)
        self._slots[i] = hook
        self._known.add((place, hook))
        at = self._at + i * memoryview(abi.cst_test_place()).nbytes
        made = bytes(abi.cst_test_place(hook=hook, stop=place, first=first))
        memory.write(self._pid, at + 8, made[8:])
        memory.write(self._pid, at, made[:8])  # last: the program may run
        return first != abi.CST_TEST_UNKNOWN or not tests


class StopTable:
    """The conditions of one process, which stands still."""

    def __init__(self, pid: int, stops: int, tests: int, state: int) -> None:
        self.pid = self._pid = pid
        self._stops = stops
        self._state = state
        self._tests = _Tests(pid, tests)
        self.answer = self._tests.answer

    @classmethod
    def find(cls) -> Optional[StopTable]:
        """Returns those of the selected process, if it has the shim."""
        pid = gdb.selected_inferior().pid
        stops = symbol_address("cstrace_stops")
        tests = symbol_address("cstrace_tests")
        state = symbol_address("cstrace_state")
        if not pid or stops is None or tests is None or state is None:
            return None
        return cls(pid, stops, tests, state)

    def counts(self) -> list[tuple[int, int]]:
        """Returns for each place how often it was true, and how often
        nobody knew."""
        found = abi.cst_stops.from_buffer_copy(memory.read(
            self._pid, self._stops, memoryview(abi.cst_stops()).nbytes))
        return [(s.n_true, s.n_skipped) for s in found.stops]

    def silence(self, place: int) -> None:
        """Ends one condition, while the process may be running."""
        at = (abi.cst_stops.stops.offset
              + place * memoryview(abi.cst_stop()).nbytes
              + abi.cst_stop.flags.offset)
        memory.write(self._pid, self._stops + at, bytes(4))

    def write(self, conditions: dict[int, Condition],
              fresh: Iterable[int] = ()) -> None:
        """Sets the conditions of all places.  What is in `fresh` begins to
        count; the others go on."""
        out = abi.cst_stops(pid=self._pid)
        _fill(out, conditions)
        for i, (n_true, n_skipped) in enumerate(self.counts()):
            if i not in fresh:
                out.stops[i].n_true = n_true
                out.stops[i].n_skipped = n_skipped
        self._tests.clear()
        memory.write(self._pid, self._stops, bytes(out))
        memory.write(self._pid, self._state,
                     abi.CST_STATE_ASK.to_bytes(4, "little"))
