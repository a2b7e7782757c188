# SPDX-License-Identifier: MIT

from __future__ import annotations

from typing import Any, Callable, Optional

import gdb

from ..session.naming import symbol_places
from ..session.session import Session
from ..ui import options
from ..ui.console import say
from ..ui.window import View
from .base import TraceCommand, user_errors
from .listing import found_file

_WORDS = ["up", "down", "top", "end", "fold", "open", "find", "next",
          "previous", "at", "source", "goto"]
_WITHOUT = ("top", "end", "fold", "open", "next", "previous")


class WindowCommand(TraceCommand):
    """Move in the tree of `layout cstrace`, and to the source.

    Usage: cstrace window up [N]
           cstrace window down [N]
           cstrace window top | end
           cstrace window fold | open
           cstrace window find REGEX
           cstrace window next | previous
           cstrace window at ID
           cstrace window source [ID]
           cstrace window goto [ID]

    `layout cstrace` shows the tree beside the source.  It follows the program
    while that runs, until another row is selected.

      up, down  select the row N (1) above or below
      top, end  the first row; the last one, to follow again
      fold      hide what is beneath the selected row; at a row that has
                nothing beneath it, select its caller
      open      show it again
      find      the newest call of these functions, named as in `cstrace show`
      next, previous
                the call of them after the selected one, or before it
      at        the call with this number
      source    the line where the selected call was made
      goto      run the program again and stop in the selected call, as
                `cstrace goto`

    An empty line repeats up, down, next, previous and source.  After `focus
    cstrace` the arrow keys and PgUp, PgDn select, too, Left folds and Right
    opens.  Enter then shows the source, g goes to the call, / finds, n and N
    go on: until another command is typed, and again from the next of the
    arrow keys on."""

    name = "cstrace window"

    def __init__(self, session: Session, view: View) -> None:
        super().__init__(session)
        self._view = view
        self._function = ""  # that was looked for
        view.show_source = self._source_by_mouse

    def invoke(self, arg: str, from_tty: bool) -> None:
        """Without TraceCommand's options, and most words may be repeated."""
        with user_errors():
            word, rest = options.first_word(arg or "")
            if word not in ("up", "down", "next", "previous", "source"):
                self.dont_repeat()
            self._do(word, rest.strip())

    def _do(self, word: str, rest: str) -> None:
        found = ([word] if word in _WORDS
                 else [w for w in _WORDS if word and w.startswith(word)])
        if len(found) != 1:
            raise gdb.GdbError("cstrace window: which way?  There is %s"
                               % ", ".join(found or _WORDS))
        if found[0] in _WITHOUT:
            options.no_more(rest, "%s %s" % (self.name, found[0]))
        if not self._view.is_visible():
            raise gdb.GdbError("the window is not there: `layout cstrace` "
                               "shows it")
        self._view.use()
        act: Callable[[str], None] = getattr(self, "_" + found[0])
        act(rest)

    def _up(self, rest: str) -> None:
        self._view.move(-self._count(rest))

    def _down(self, rest: str) -> None:
        self._view.move(self._count(rest))

    @staticmethod
    def _count(rest: str) -> int:
        return options.read_count("N", rest) if rest else 1

    def _top(self, rest: str) -> None:
        self._view.top()

    def _end(self, rest: str) -> None:
        self._view.follow()

    def _fold(self, rest: str) -> None:
        self._view.fold(True)

    def _open(self, rest: str) -> None:
        self._view.fold(False)

    def _find(self, rest: str) -> None:
        function = options.the_regex(rest)
        if function is None:
            raise gdb.GdbError("cstrace window find: which function?  As in: "
                               "cstrace window find parse")
        self._function = function
        self._view.can_go_on = True
        self._look_for(False, True)

    def _next(self, rest: str) -> None:
        self._look_for(True)

    def _previous(self, rest: str) -> None:
        self._look_for(False)

    def _look_for(self, is_later: bool, is_new: bool = False) -> None:
        if not self._function:
            raise gdb.GdbError("cstrace window find REGEX comes first")
        if not self._view.find(self._function, is_later, is_new):
            where = ("" if is_new else " after this one" if is_later
                     else " before this one")
            raise gdb.GdbError("no call of %s%s" % (self._function, where))

    def _at(self, rest: str) -> None:
        if not rest:
            raise gdb.GdbError("cstrace window at: which call?  As in: "
                               "cstrace window at 1.42")
        self.session.trace().call(rest)  # is it one?
        self._view.to(rest)

    def _id(self, rest: str) -> str:
        row = self._view.selected()
        if not rest and row is None:
            raise gdb.GdbError("there is no call in the window")
        return rest or (row.id if row else "")

    def _goto(self, rest: str) -> None:
        self.session.goto.start(self._id(rest), False)

    def _source(self, rest: str) -> None:
        id = self._id(rest)
        trace = self.session.trace()
        call, source = trace.call(id), trace.source(id, symbol_places())
        if source.call_file is None or not call.line:
            raise gdb.GdbError("nothing tells where %s was called" % call.name)
        file = found_file(source.call_file)
        # What `list` writes from here would go past the TUI.  The source
        # window follows it: it begins behind what was listed.
        before = max(1, call.line - self._view.height() // 2 - 1)
        gdb.execute('list "%s":%d,%d' % (file, before, before), to_string=True)
        say("%s %s was called at %s:%d" % (id, call.name, file, call.line))

    def _source_by_mouse(self, id: str) -> None:
        try:
            with user_errors():
                self._source(id)
        except (gdb.error, gdb.GdbError) as e:
            gdb.write("%s\n" % e)

    def complete(self, text: str, word: Optional[str]) -> Any:
        first, blank, _ = text.lstrip().partition(" ")
        if not blank:
            return options.listed(word, _WORDS, first)
        return self.functions() if first == "find" else gdb.COMPLETE_NONE
