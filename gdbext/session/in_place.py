# SPDX-License-Identifier: MIT
"""Logpoints that ask only for what is recorded of a call: the reader writes their
texts, and the program does not stop."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, Optional, Union

import gdb

from .. import _abi as abi, engine, locate, requests
from ..engine import CstraceError
from ..recorder import PointPart
from . import recording

if TYPE_CHECKING:
    from ..process.plans import Plans
    from .session import Session

OWN = {"$caller": abi.CST_POINT_CALLER, "$depth": abi.CST_POINT_DEPTH,
       "$thread": abi.CST_POINT_THREAD}  # gdb evaluates all other $names

NO_TRACE = "no trace is on"

_NAME = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
_COMPARISON = re.compile(
    r"\s*(!?)\s*(%s)\s*(?:(==|!=|<=|>=|<|>)\s*(-?\d+|0x[0-9a-fA-F]+|\w+)\s*)?$"
    % _NAME)
_INT_MAX = 2**31 - 1  # beyond it C compares by rules of its own
_COUNTED = (abi.CST_TEST_OF_INTEGER, abi.CST_TEST_OF_CHAR,
            abi.CST_TEST_OF_BOOL)
_POINTERS = (abi.CST_TEST_OF_POINTER, abi.CST_TEST_OF_TEXT)


class Field(NamedTuple):
    """{expression:format}"""

    expression: str
    format: str  # one of gdb's letters, or ""


Part = Union[str, Field]


class NotInPlace(Exception):
    """Why gdb has to evaluate it."""


class Place(NamedTuple):
    """A function, by its linkage name, and where its body begins."""

    function: str
    file: Optional[str]
    line: int


class Plan(NamedTuple):
    """What the reader is given."""

    parts: list[PointPart]
    condition: Optional[str]
    places: list[Place]
    at: list[tuple[str, int]]  # the functions: files, and addresses in them
    has_values: bool


# ---- where ------------------------------------------------------------------


def function_at(pc: int) -> Optional[gdb.Symbol]:
    """The function with that code, or the one inlined there."""
    block = gdb.block_for_pc(pc)
    while block is not None and block.function is None:
        block = block.superblock
    return block.function if block is not None else None


def _is_inlined(pc: int) -> bool:
    """Is the code there that of a function inlined into another one?"""
    block, n = gdb.block_for_pc(pc), 0
    while block is not None:
        n += block.function is not None
        block = block.superblock
    return n > 1


def _is_name_of(location: str, function: gdb.Symbol) -> bool:
    """Is the location a name of the function, and nothing else, as a line or a
    label in it would be?"""
    word = location.partition("(")[0].replace(" ", "")
    name = function.name.partition("(")[0].replace(" ", "")
    return bool(word) and (("::" + name).endswith("::" + word)
                           or ("::" + re.sub(r"<.*>$", "", name)).endswith(
                               "::" + word))


def _is_word(location: str) -> bool:
    return re.match(r"[A-Za-z_]", location) is not None


def _places(location: str) -> tuple[list[Place], list[tuple[str, int]]]:
    try:
        found = gdb.decode_line(location)[1] or ()
    except gdb.error:
        found = ()
    places: dict[str, Place] = {}
    at: set[tuple[str, int]] = set()
    for sal in found:
        if sal.symtab is None and not _is_word(location):
            raise NotInPlace("%s is no function's name" % location)
        if sal.symtab is None:  # as libc's accept() is, beside one's own
            raise NotInPlace("a function without debug information is called "
                             "%s, too" % location)
        function = function_at(sal.pc)
        if places and function is not None and not _is_name_of(location,
                                                               function):
            raise NotInPlace("%s is a name of %s, too"
                             % (location, function.name))
        if function is None or not _is_name_of(location, function):
            raise NotInPlace("%s is no function's name" % location)
        places[function.linkage_name] = Place(
            function.linkage_name, sal.symtab.filename, sal.line)
        path = locate.file_name(sal.symtab.objfile) or ""
        at.update((path, address) for address in engine.file_functions(
            path, function.name, requests.make_choice(names="full")))
    if not at:
        raise NotInPlace("%s is not known so far" % location)
    return list(places.values()), sorted(at)


# ---- what -------------------------------------------------------------------


class _Values:
    """The arguments that all of the functions are recorded with."""

    def __init__(self, at: list[tuple[str, int]], plans: Plans) -> None:
        self._at = at
        self._plans = plans
        self.n = 0

    def _hook(self, path: str, address: int) -> int:
        functions = self._plans.functions(path)
        if functions is None:
            return 0  # it has hooks of its own
        if address not in functions:
            raise NotInPlace("it is not patched")
        return functions[address].entry

    def look(self, name: str) -> abi.cst_test_value:
        """What it is.  Raises NotInPlace where it is not recorded."""
        found = None
        if not re.fullmatch(_NAME, name):
            raise NotInPlace("gdb evaluates {%s}" % name)
        for path, address in self._at:
            tester = engine.Tester(path=path)
            try:
                value = tester.value(name, address, self._hook(path, address))
            except CstraceError as e:
                raise NotInPlace(str(e)) from None
            finally:
                tester.close()
            if found and (found.type, found.size) != (value.type, value.size):
                raise NotInPlace("'%s' is not of one type" % name)
            found = value
        self.n += 1
        assert found is not None
        return found


def _part(part: Part, values: _Values) -> PointPart:
    if isinstance(part, str):
        return PointPart(abi.CST_POINT_TEXT, part)
    if part.expression in OWN:
        return PointPart(OWN[part.expression])
    value = values.look(part.expression)
    if part.format not in ("", "s") and (part.format not in "duxo"
                                         or value.type not in _COUNTED):
        raise NotInPlace("gdb writes {%s:%s}" % part)
    return PointPart(abi.CST_POINT_VALUE, part.expression, part.format,
                            value.size)


def _comparison(text: str, values: _Values) -> str:
    """In the language of `show -where`, where that decides as C does."""
    no = NotInPlace("gdb decides \"%s\"" % text.strip())
    m = _COMPARISON.match(text)
    if not m or (m[1] and m[3]):
        raise no
    name, relation, word = m[2], m[3] or ("==" if m[1] else "!="), m[4] or "0"
    value = values.look(name)
    is_equal = relation in ("==", "!=")
    number = int(word, 0) if re.fullmatch(r"-?\d+|0x\w+", word) else None
    if value.type in _POINTERS and is_equal and (number == 0
                                                 or word == "NULL"):
        return "%s %s NULL" % (name, relation)
    if value.type == abi.CST_TEST_OF_ENUM and is_equal and number is None:
        return "%s %s %s" % (name, relation, word)
    if (value.type in _COUNTED and number is not None
            and abs(number) <= _INT_MAX and (value.is_signed or number >= 0)):
        return "%s %s %d" % (name, relation, number)
    raise no


def _condition(text: Optional[str], values: _Values) -> Optional[str]:
    if text is None:
        return None
    return " || ".join(" && ".join(_comparison(one, values)
                                   for one in both.split("&&"))
                       for both in text.split("||"))


def plan(location: str, parts: list[Part], condition: Optional[str],
         session: Session) -> Plan:
    """Raises NotInPlace."""
    places, at = _places(location)
    plans = session.patching.plans
    if (any(plans.functions(path) is not None for path, _address in at)
            and any(_is_inlined(sal.pc)
                    for sal in gdb.decode_line(location)[1] or ())):
        raise NotInPlace("inlined calls of %s are not recorded" % location)
    values = _Values(at, plans)
    made = [_part(part, values) for part in parts]
    return Plan(made, _condition(condition, values), places, at, values.n > 0)


# ---- when -------------------------------------------------------------------


def _has(at: list[tuple[str, int]], word: str, session: Session) -> set[bool]:
    """Does the word stand for the functions?"""
    return {address in engine.file_functions(path, word, session.choice())
            for path, address in at}


def check(made: Plan, session: Session) -> None:
    """Raises NotInPlace where the trace does not have what it asks for."""
    r, o = session.recording, session.options
    if o is None or o.is_sampled:
        raise NotInPlace(NO_TRACE)
    if r is not None and r.mode in (recording.HOOKS, recording.SAMPLES):
        raise NotInPlace("this program's calls come without arguments")
    is_on, functions = session.settings.args()
    if (made.has_values and functions is not None
            and r is not None and r.is_remote):
        raise NotInPlace("its first calls have no arguments, as `set cstrace "
                         "args` chooses functions")
    if made.has_values and (not is_on or o.no_args
                            or (functions is not None and
                                False in _has(made.at, functions, session))):
        raise NotInPlace("the trace has no arguments of it")
    exclude = session.standing().get("exclude")
    if o.keep_size or (exclude and True in _has(made.at, exclude, session)):
        raise NotInPlace("the trace may not have all calls of it")
