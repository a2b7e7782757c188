# SPDX-License-Identifier: MIT
"""Logpoints: breakpoints that put a line into the tree and never stop."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Optional

import gdb

from .. import engine
from ..session import in_place
from ..session.in_place import OWN, Field, NotInPlace, Part
from ..engine import CstraceError
from ..ui import ctrlc
from ..ui.console import plain, say
from ..ui.words import count, duration_text
from .hit_clock import HitClock
from .inlined_entry import InlinedEntry, inlined_entry

if TYPE_CHECKING:
    from ..session.session import Session

_FORMATS = "xduotacfzs"
_FIELD = r"(?s)(.*[^:]):([%s])" % _FORMATS
_QUOTED = r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'"""
_IN_QUOTES = r'(?s)"(.*)"((?:\.\.\.)?)'


def _field(text: str) -> Field:
    m = re.fullmatch(_FIELD, text)
    expression, form = (m.group(1), m.group(2)) if m else (text, "")
    if not expression.strip():
        raise gdb.GdbError("{%s} names no expression; {{ is a brace" % text)
    return Field(expression.strip(), form)


def _format_hint(expression: str) -> str:
    """Says of {n:q} that q is no format."""
    m = re.fullmatch(r"(?s).*[^:]:(\w+)", expression)
    return ("  %s is no format: these are %s" % (
        m.group(1), ", ".join(_FORMATS)) if m else "")


def _check_variable(expression: str) -> None:
    """{$calle} would be "void" at each hit."""
    if not re.fullmatch(r"\$[A-Za-z_]\w*", expression):
        return
    try:
        value = gdb.parse_and_eval(expression)
    except gdb.error:
        return  # a register: no program runs
    if value.type.code == gdb.TYPE_CODE_VOID:
        raise gdb.GdbError(
            "{%s}: %s has no value; cstrace knows %s, and gdb what `set "
            "%s = ...` has set" % (expression, expression, ", ".join(OWN),
                                   expression))


def _has_member(type_: gdb.Type, name: str) -> bool:
    """The members of anonymous members and of base classes are its own."""
    fields = type_.strip_typedefs().fields()
    return not fields or any(
        one.name == name or ((not one.name or one.is_base_class)
                             and _has_member(one.type, name))
        for one in fields)


def _check_member(expression: str, place: str) -> None:
    """gdb's parser does not look {this->x} up."""
    m = re.fullmatch(r"(\w+)\s*(?:->|\.)\s*([A-Za-z_]\w*)", expression)
    try:
        found = gdb.decode_line(place)[1] if m else None
    except gdb.error:
        return
    block = gdb.block_for_pc(found[0].pc) if found else None
    symbol = gdb.lookup_symbol(m.group(1), block)[0] if m and block else None
    if m is None or symbol is None or symbol.type is None:
        return
    held = symbol.type.strip_typedefs()
    if held.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF):
        held = held.target().strip_typedefs()
    if (held.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
            and not _has_member(held, m.group(2))):
        raise gdb.GdbError("{%s}: There is no member named %s."
                           % (expression, m.group(2)))


def _brace_end(text: str, at: int) -> int:
    """Returns where the brace opened before at is closed; -1: nowhere."""
    depth = 1
    while at < len(text):
        quoted = re.compile(_QUOTED).match(text, at)
        if quoted:
            at = quoted.end()
            continue
        depth += (text[at] == "{") - (text[at] == "}")
        if not depth:
            return at
        at += 1
    return -1


def parse_template(text: str) -> list[Part]:
    """Splits "n is {n:x}" into its texts and fields.  {{ and }} stand for
    braces.  Raises gdb.GdbError for a brace without its other half."""
    parts: list[Part] = []
    plain, at = "", 0
    while at < len(text):
        c = text[at]
        if c in "{}" and text[at:at + 2] == c * 2:
            plain += c
            at += 2
        elif c == "{":
            end = _brace_end(text, at + 1)
            if end < 0:
                raise gdb.GdbError("\"%s\" has no }" % text[at:])
            parts += [plain, _field(text[at + 1:end])]
            plain, at = "", end + 1
        elif c == "}":
            raise gdb.GdbError("a } without {: }} is a brace")
        else:
            plain += c
            at += 1
    return [p for p in (*parts, plain) if p]


def _is_text(type_: gdb.Type) -> bool:
    """A pointer to characters is shown as its text, without the address."""
    type_ = type_.strip_typedefs()
    if type_.code != gdb.TYPE_CODE_PTR:
        return False
    target = type_.target().strip_typedefs()
    return target.sizeof == 1 and target.code in (gdb.TYPE_CODE_INT,
                                                  gdb.TYPE_CODE_CHAR)


def value_text(value: gdb.Value, form: str) -> str:
    """The value as gdb prints it, by its pretty-printers; in one of gdb's
    formats, or with s without quotes."""
    if form == "s":
        return _without_quotes(str(value.format_string(address=False))
                               or str(value.format_string()))
    if form:
        return str(value.format_string(format=form))
    if _is_text(value.type) and int(value):
        return str(value.format_string(address=False))
    return str(value.format_string())


def _without_quotes(text: str) -> str:
    m = re.fullmatch(_IN_QUOTES, text)
    return m.group(1) + m.group(2) if m else text


class Logpoint(gdb.Breakpoint):
    """One of them, with its own number and the count of its hits."""

    def __init__(self, number: int, location: str, template: str,
                 condition: Optional[str], table: "Logpoints") -> None:
        super().__init__(location, internal=True)
        self.silent = True
        self.own_number = number
        self.where = location
        self.template = template
        self.only_if = condition
        self.is_on = True  # as the user wants it
        self.is_in_place = False  # the recorder has it: no breakpoint now
        self.plan: Optional[in_place.Plan] = None
        self.why_not = ""  # it is not in place
        self.forget_hits()
        self.is_spent = False
        self._table = table
        self.parts = parse_template(template)
        try:
            self._check()
        except BaseException:
            self.delete()
            raise

    def _check(self) -> None:
        """gdb parses an expression at the place when it is made a condition:
        what has no meaning there is refused now, not at each hit.  A place that
        waits for its library cannot be asked, and gdb takes a condition for a
        sign that it need not wait: it would disable the breakpoint."""
        if self.pending:
            return
        expressions = [p.expression for p in self.parts
                       if isinstance(p, Field) and p.expression not in OWN]
        for expression in [*expressions,
                           *([self.only_if] if self.only_if else [])]:
            try:
                self.condition = expression
            except gdb.error as e:
                raise gdb.GdbError("{%s}: %s%s" % (
                    expression, e, _format_hint(expression))
                                   if expression != self.only_if else
                                   "if %s: %s" % (expression, e)) from None
            _check_variable(expression)
            _check_member(expression, self.where)
        self.condition = ""

    # ---- at a hit -----------------------------------------------------------

    def _part_text(self, part: Part) -> str:
        if isinstance(part, str):
            return part
        if part.expression in OWN:
            return self._table.own(part.expression)
        try:
            return value_text(self._table.value(part.expression), part.format)
        except (gdb.error, ValueError) as e:
            return "<%s>" % e

    def _is_wanted(self) -> bool:
        if self.only_if is None:
            return True
        try:
            return bool(self._table.value(self.only_if))
        except gdb.error:
            return False  # as it reads memory that is not there

    @ctrlc.handed_on
    def stop(self) -> bool:
        """A hit.  Returns False: the program goes on, whatever happens."""
        if self.is_spent or not self._table.begin_hit():
            return False
        try:
            self.n_passes += 1
            if self._is_wanted():
                self.n_hits += 1
                self._table.write(self, "".join(map(self._part_text,
                                                    self.parts)))
            self._table.end_hit(self)
        except Exception as e:
            self._table.disable(self, "%s" % e)
        finally:
            self._table.is_at_hit = False
        return False

    def forget_hits(self) -> None:
        """It is counted from here on."""
        self.n_hits = self.n_passes = 0
        self.cost_ns = self.first_ns = 0

    # ---- for the list -------------------------------------------------------

    def place(self) -> str:
        """"serve at shop.cc:63", as far as gdb knows it now."""
        try:
            found = gdb.decode_line(self.where)[1]
        except gdb.error:
            found = None
        if not found or found[0].symtab is None:
            return self.where
        function = in_place.function_at(found[0].pc)
        name = (function.name.partition("(")[0] + " at "
                if function is not None else "")
        more = len(found) - 1
        return "%s%s:%d%s" % (
            name, os.path.basename(found[0].symtab.filename), found[0].line,
            " and %s" % count(more, "other place") if more else "")

    def cost_text(self) -> str:
        """"120 us a hit; 4000 hits so far": the time of gdb's own thread, or in
        place that of the reader.  A breakpoint's first one, at which gdb reads
        symbols, is left out of the mean."""
        if not self.n_passes:
            return "no hits so far"
        has_first = self.first_ns and self.n_passes > 1
        mean = duration_text((self.cost_ns - (self.first_ns if has_first else 0))
                             // (self.n_passes - bool(has_first)))
        if self.only_if is None:
            return "%s a hit; %s so far" % (mean, count(self.n_hits, "hit"))
        return "%s each time that it gets there; %s in %s so far" % (
            mean, count(self.n_hits, "hit"), count(self.n_passes, "time"))

    # ---- in place -------------------------------------------------------------

    def way_text(self) -> str:
        """How it works."""
        if not self.why_not:
            return "in place: the program does not stop"
        if self.why_not == in_place.NO_TRACE:
            return "in place while a trace is on, else by a breakpoint"
        return "by a breakpoint: %s" % plain(self.why_not)

    def look(self, session: "Session") -> None:
        """Finds out whether it can be in place, in the program that there
        is."""
        self.plan = None
        try:
            self.plan = in_place.plan(self.where, self.parts, self.only_if,
                                      session)
            in_place.check(self.plan, session)
            self.why_not = ""
        except (NotInPlace, CstraceError, gdb.error, OSError) as e:
            self.why_not = str(e)


class Logpoints:
    """All logpoints of the session, by their numbers."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self.all: dict[int, Logpoint] = {}
        self._n = 0
        self._pid = 0
        self._tags: dict[int, str] = {}  # of threads, by kernel's number
        self._places: dict[int, tuple[Optional[str], int]] = {}
        self._inlined: dict[int, Optional[InlinedEntry]] = {}  # by place
        self._clock = HitClock()
        self.is_at_hit = False
        self._seen: Optional[tuple[object, ...]] = None
        session.tell_change = self.settle

    def add(self, location: str, template: str,
            condition: Optional[str]) -> Logpoint:
        """Sets one.  Raises gdb.GdbError where it cannot work."""
        parse_template(template)
        may_wait = gdb.parameter("breakpoint pending") is True
        try:
            # Not of "-function f -line 3", which only breakpoints know.
            if not may_wait and not location.startswith("-"):
                gdb.decode_line(location)
        except gdb.error as e:
            why = str(e).rstrip(".")
            raise gdb.GdbError("%s (`set breakpoint pending on` waits for a "
                               "library that has it)" % why) from None
        made = Logpoint(self._n + 1, location, template, condition, self)
        if made.pending and not may_wait:
            made.delete()
            raise gdb.GdbError("no place is \"%s\"" % location)
        self._n += 1
        if not self.all:
            self._clock.connect()
        self.all[self._n] = made
        self._settle_one(made)
        return made

    def delete(self, number: int) -> None:
        """Deletes one that there is."""
        one = self.all.pop(number)
        self._leave_place(one)
        one.delete()
        if not self.all:
            self._clock.disconnect()

    def enable(self, number: int, is_enabled: bool) -> None:
        """Enables or disables one; enabled again, it has its whole budget."""
        found = self.all[number]
        found.is_on = found.enabled = is_enabled
        if is_enabled:
            found.is_spent = False
            found.forget_hits()
        self._settle_one(found)

    def disable(self, point: Logpoint, why: str) -> None:
        """Disables it at a hit, where gdb lets nobody change a breakpoint: it
        is done behind it."""
        point.is_spent = True
        point.is_on = False

        def now() -> None:
            if point.is_valid() and not point.is_on:
                point.enabled = False

        gdb.post_event(now)
        say("logpoint %d is disabled: %s" % (point.own_number, why))

    # ---- in place -----------------------------------------------------------

    def settle(self) -> None:
        """The recording, or what it records, may have changed."""
        session, r = self._session, self._session.recording
        for point in self.all.values():
            self.count(point)
        seen = (r.recorder if r is not None and r.is_on else None,
                session.options, session.settings.args(),
                session.standing().get("exclude"))
        if seen != self._seen:
            self._seen = seen
            for point in self.all.values():
                self._settle_one(point)

    def count(self, point: Logpoint) -> None:
        """Takes over what the reader has counted of one in place."""
        r = self._session.recording
        if point.is_in_place and r is not None and r.recorder is not None:
            point.n_passes, point.n_hits, point.cost_ns = \
                r.recorder.point_counts(point.own_number)

    def _settle_one(self, point: Logpoint) -> None:
        """Into its place, or back to its breakpoint."""
        self._leave_place(point)
        point.look(self._session)
        r, made = self._session.recording, point.plan
        if (made is None or point.why_not or not point.is_on
                or r is None or not r.is_on):
            return
        r.recorder.point(point.own_number, point.template, made.condition,
                         made.parts, made.places)
        point.forget_hits()
        point.is_in_place = True
        point.enabled = False

    def _leave_place(self, point: Logpoint) -> None:
        r = self._session.recording
        if not point.is_in_place:
            return
        self.count(point)
        if r is not None and r.recorder is not None:
            r.recorder.drop_point(point.own_number)
        point.is_in_place = False
        point.enabled = point.is_on and not point.is_spent

    # ---- at a hit -----------------------------------------------------------

    def begin_hit(self) -> bool:
        """Hits in another process are counted anew.  Returns False at one in a
        function that an expression at a hit calls: its text would have to call
        it again."""
        if self.is_at_hit:
            return False
        self.is_at_hit = True
        self._clock.begin()
        pid = gdb.selected_inferior().pid
        if pid != self._pid:
            self._pid = pid
            self._tags, self._places, self._inlined = {}, {}, {}
            for point in self.all.values():
                point.forget_hits()
        return True

    def end_hit(self, point: Logpoint) -> None:
        """Adds the cost, and ends it for a logpoint that costs too much."""
        point.cost_ns += self._clock.end()
        if point.n_passes == 1:
            point.first_ns = point.cost_ns
        budget_ns = self._session.settings.budget_ns()
        if budget_ns and point.cost_ns > budget_ns:
            self.disable(point, "its %s took %s (`set cstrace log-budget`; "
                         "`enable cstrace-log %d` goes on)" % (
                             count(point.n_hits, "hit"),
                             duration_text(point.cost_ns), point.own_number))

    def write(self, point: Logpoint, text: str) -> None:
        """Into the tree; without a trace, where gdb's own words go."""
        r = self._session.recording
        if r is None or not r.is_on:
            gdb.write("log %d: %s\n" % (point.own_number, plain(text)))
            return
        r.put_message("log", point.template, text, *self._place())

    def _inlined_entry(self) -> Optional[InlinedEntry]:
        frame = gdb.newest_frame()
        pc = frame.pc()
        if pc not in self._inlined:
            self._inlined[pc] = inlined_entry(frame)
        return self._inlined[pc]

    def value(self, expression: str) -> gdb.Value:
        """What it is at the place of this hit."""
        entry = self._inlined_entry()
        if entry is not None:
            expression = entry.rewritten(expression, gdb.newest_frame())
        return gdb.parse_and_eval(expression)

    def _place(self) -> tuple[Optional[str], int]:
        pc = int(gdb.parse_and_eval("$pc"))
        if pc not in self._places:
            sal = gdb.find_pc_line(pc)
            self._places[pc] = (sal.symtab.filename if sal.symtab else None,
                                sal.line)
        return self._places[pc]

    def own(self, name: str) -> str:
        """What cstrace knows of the place: the calling function, the depth in
        the tree, the thread's tag."""
        if name == "$caller":
            older = gdb.newest_frame()
            if self._inlined_entry() is None:
                older = older.older()
            name = older.name() if older is not None else None
            return engine.simple_name(name) if name else "?"
        r = self._session.recording
        pid, tid, _ = gdb.selected_thread().ptid
        if name == "$depth":
            if r is None or not r.is_on:
                return "?"
            r.take_all()  # until then there may be questions
            return str(r.recorder.depth(pid, tid))
        if tid not in self._tags and r is not None and r.is_on:
            r.take_all()  # these may be its first calls
            self._tags = {t.tid: t.tag() for t in r.recorder.trace().threads()}
        return self._tags.get(tid) or str(tid)
