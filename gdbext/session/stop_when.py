# SPDX-License-Identifier: MIT
"""The user's conditions to stop at, numbered like breakpoints."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple, Optional

import gdb

from .. import _abi as abi, engine, locate
from ..breakpoints.landing import Hit
from ..process import hooks
from ..process.patched_area import Planned
from ..process.stop_table import Condition
from ..ui.console import plain, say
from ..ui.words import duration_text

if TYPE_CHECKING:
    from .session import Session


class Wish(NamedTuple):
    """What `cstrace stop-when` was given."""

    function: str
    under: Optional[str] = None
    depth: int = 0
    longer_ns: int = 0
    nth: int = 0
    is_unwound: bool = False
    where: str = ""
    returns: str = ""

    def text(self) -> str:
        parts = [plain(self.function)]
        if self.under:
            parts.append("under " + plain(self.under))
        if self.depth:
            parts.append("depth %d" % self.depth)
        if self.longer_ns:
            parts.append("longer than " + duration_text(self.longer_ns))
        if self.is_unwound:
            parts.append("unwound")
        if self.where:
            parts.append("where " + plain(self.where))
        if self.returns:
            parts.append("returns " + plain(self.returns))
        if self.nth:
            parts.append("count %d" % self.nth)
        return ", ".join(parts)


class StopWhen:
    """One condition."""

    def __init__(self, number: int, wish: Wish) -> None:
        self.number = number
        self.wish = wish
        self.enabled = True
        self.place = -1  # none: it is disabled
        self.n_stops = 0
        self.n_true = 0  # when it was disabled


def _files(patched: list[str]) -> list[str]:
    """Returns the files whose functions are reported by hooks or patches."""
    program = hooks.program()
    found = dict.fromkeys([program] if program is not None else [])
    for objfile in gdb.objfiles():
        path = locate.file_name(objfile)
        if path and objfile.owner is None and hooks.uses_hooks(path):
            found[path] = None
    real = {os.path.realpath(path) for path in found}
    return [*found, *(path for path in patched if path not in real)]


def _select_with_source() -> None:
    """The innermost frame that has lines: above it are libc's and the
    unwinder's, which must go on."""
    frame: Optional[gdb.Frame] = gdb.newest_frame()
    while frame is not None and frame.find_sal().symtab is None:
        frame = frame.older()
    if frame is not None:
        frame.select()


class StopWhens:
    """All conditions; they stay from run to run."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.all: dict[int, StopWhen] = {}
        self._n_made = 0
        # Functions of that name, and what is called by it at the border.
        self._known: dict[tuple[str, str], tuple[set[int], set[int]]] = {}

    def _in_file(self, path: str, word: str) -> set[int]:
        if (path, word) not in self._known:
            choice = self._session.choice()
            self._known[path, word] = (
                set(engine.file_functions(path, word, choice)),
                set(engine.file_called(path, word, choice)))
        own, called = self._known[path, word]
        return own | called & self._session.patching.plans.border(path).keys()

    def _files(self) -> list[str]:
        return _files(self._session.patching.plans.files())

    def _addresses(self, word: Optional[str]) -> frozenset[int]:
        """In the process that is there now."""
        found: set[int] = set()
        for path in self._files() if word else ():
            base = hooks.load_address(path)
            if base is not None:
                found.update(base + a for a in self._in_file(path, word or ""))
        return frozenset(found)

    def n_functions(self, word: str) -> tuple[int, int]:
        """In the files that gdb knows of, and how many of them are reported by
        hooks or patches."""
        n = n_seen = 0
        for path in self._files():
            found = self._in_file(path, word)
            planned = self._session.patching.plans.functions(path, True)
            n += len(found)
            n_seen += len(found if planned is None else planned.keys() & found)
        return n, n_seen

    # ---- values --------------------------------------------------------------

    def check_values(self, wish: Wish) -> tuple[int, str]:
        """Can the program compare them?  Returns at how many functions it
        cannot, and why; CstraceError: at none."""
        n_good, reasons = 0, []
        for text in filter(None, (wish.where, wish.returns)):
            engine.check_condition(text)
        for path in self._files() if wish.where or wish.returns else ():
            addresses = self._in_file(path, wish.function)
            if not addresses:
                continue
            planned = self._planned(path)
            if self._session.patching.plans.has(path):
                addresses &= planned.keys()  # others are not traced at all
            tester = engine.Tester(path=path)
            try:
                for address in addresses:
                    reason = self._why_not(tester, wish, address,
                                           planned.get(address))
                    n_good += not reason
                    reasons += [reason] if reason else []
            finally:
                tester.close()
        if reasons and not n_good:
            raise engine.CstraceError(reasons[0])
        return len(reasons), reasons[0] if reasons else ""

    def n_unseen_ends(self, wish: Wish) -> int:
        """At how many functions does the program not see all ends?"""
        n = 0
        for path in self._files():
            planned = self._planned(path)
            n += sum(planned[address].misses_ends for address
                     in self._in_file(path, wish.function) & planned.keys())
        return n

    def _planned(self, path: str) -> dict[int, Planned]:
        plans = self._session.patching.plans
        return {**(plans.functions(path) or {}), **plans.border(path)}

    @staticmethod
    def _why_not(tester: engine.Tester, wish: Wish, address: int,
                 planned: Optional[Planned]) -> str:
        try:
            if wish.where:
                tester.tests(wish.where, address, False,
                             planned.entry if planned else 0)
            if wish.returns:
                tester.tests(wish.returns, address, True,
                             abi.CST_PATCHED_EXIT if planned else 0)
        except engine.CstraceError as e:
            return str(e)
        return ""

    # ---- the list ------------------------------------------------------------

    title = "stop"

    def _condition(self, wish: Wish, number: int) -> Optional[Condition]:
        flags = abi.CST_STOP_ON
        if wish.under:
            flags |= abi.CST_STOP_UNDER
        if wish.is_unwound:
            flags |= abi.CST_STOP_UNWOUND
        return Condition(
            called=self._addresses(wish.function),
            under=self._addresses(wish.under), flags=flags, depth=wish.depth,
            longer_ns=wish.longer_ns, nth=wish.nth,
            where=wish.where, returns=wish.returns,
            title="%s %d" % (self.title, number))

    def add(self, wish: Wish) -> StopWhen:
        made = StopWhen(self._n_made + 1, wish)
        self._keep(made)
        return made

    def _keep(self, made: StopWhen) -> None:
        """Sets one that is new, of the next number."""
        self._known.clear()  # the program may have been built anew
        self._set(made)
        self._n_made += 1
        self.all[made.number] = made

    def _set(self, one: StopWhen) -> None:
        one.place = self._session.stops.add(
            lambda: self._condition(one.wish, one.number),
            lambda hit: self._landed(one, hit))

    def _unset(self, one: StopWhen) -> None:
        if one.place >= 0:
            one.n_true = self.n_true(one) or 0
            self._session.stops.remove(one.place)
        one.place = -1

    def delete(self, number: int) -> None:
        self._unset(self.all.pop(number))

    def enable(self, number: int, is_enabled: bool) -> None:
        one = self.all[number]
        if is_enabled and one.place < 0:
            self._set(one)
        elif not is_enabled:
            self._unset(one)
        one.enabled = is_enabled

    def n_true(self, one: StopWhen) -> Optional[int]:
        """How often it was true in this run; None: the program, which has
        counted, is gone."""
        if one.place < 0:
            return one.n_true
        return self._session.stops.n_true(one.place)

    # ---- a hit ---------------------------------------------------------------

    def _landed(self, one: StopWhen, hit: Hit) -> None:
        one.n_stops += 1
        say("stop %d: %s%s" % (one.number, one.wish.text(),
                               self._how(one, hit)))
        if hit.is_jump:
            _select_with_source()
        gdb.execute("frame")

    def _how(self, one: StopWhen, hit: Hit) -> str:
        how = ""
        if one.wish.is_unwound:
            is_jump = hit.is_jump and not hit.is_exception
            how = "; left by a jump" if is_jump else "; left by an exception"
        elif not hit.is_entry and one.wish.longer_ns:
            how = "; it took " + duration_text(hit.ns)
        if hit.has_left:
            how += "; it has returned"
        n = self.n_true(one)
        return how + ("" if one.wish.nth or n is None else "; hit %d" % n)
