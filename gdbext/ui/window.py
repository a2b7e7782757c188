# SPDX-License-Identifier: MIT
"""The tree in a window of gdb's TUI: `layout cstrace`.  gdb makes and ends
TreeWindow objects; View is what they show, and outlives them."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Optional

import gdb

from ..engine import CstraceError
from ..session.tree_page import Row, TreePage
from . import ctrlc
from .console import GuestThread, plain
from .keys import Keys, has_focus
from .words import count

if TYPE_CHECKING:
    from ..session.session import Session

_LAYOUT = "cstrace {-horizontal src 1 cstrace 1} 2 status 0 cmd 1"
_TICK_S = 0.1
_SHARE = 5  # of the time at most one part goes into drawing
_REVERSE, _NORMAL = "\x1b[7m", "\x1b[0m"
_GUTTER = 2  # columns: a mark, and the one that stays free at the right


class _Ticker(GuestThread):
    """Has gdb's thread look at the trace while the program runs.  It touches
    nothing of the engine's, which may be closed at any moment."""

    def __init__(self, look: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._look = look
        self._is_over = threading.Event()
        self._is_posted = False

    def run(self) -> None:
        while not self._is_over.wait(_TICK_S):
            if not self._is_posted:
                self._is_posted = True
                gdb.post_event(self._posted)

    @ctrlc.handed_on
    def _posted(self) -> None:
        self._is_posted = False
        if not self._is_over.is_set():
            self._look()

    def end(self) -> None:
        self._is_over.set()


class View:
    """Which rows are shown, and which of them is selected."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._page = TreePage(session)
        self.window: Optional[TreeWindow] = None
        self._ticker: Optional[_Ticker] = None
        self._folded: set[str] = set()
        self._rows: list[Row] = []  # those of the page that are not folded away
        self._selected = 0
        self._top = 0
        self._is_following = True
        self._key: Any = None  # of what was read last
        self._rest_until = 0.0
        self._error = ""
        self._is_over = False
        self.show_source: Callable[[str], None] = lambda id: None
        self.can_go_on = False  # is there something that was looked for?
        self._had_focus = False
        self._is_used = False  # rather than the command line
        self._keys = Keys(self._wants, self._left)

    # ---- is it there? ------------------------------------------------------

    def use(self) -> None:
        """Most keys are the window's, if it has the focus, until the user types
        a command that has nothing to do with it."""
        self._is_used = True

    def _wants(self, key: str) -> bool:
        if not self.is_visible() or not self._rows:
            return False
        had_focus, self._had_focus = self._had_focus, has_focus("cstrace")
        if self._had_focus and not had_focus:
            self.use()
        return self._had_focus and (
            key == "/"  # with which no command of gdb's begins
            or self._is_used and (self.can_go_on or key not in "nN"))

    def _left(self) -> None:
        self._is_used = False
        self._had_focus = self.is_visible() and has_focus("cstrace")

    def is_visible(self) -> bool:
        return (self.window is not None and not self._is_over
                and self.window.tui.is_valid())

    def height(self) -> int:
        return max(1, self.window.tui.height) if self.window else 20

    @ctrlc.handed_on
    def running(self, is_running: bool) -> None:
        """The program goes on, or stands still."""
        wants = is_running and self.is_visible()
        if wants and self._ticker is None:
            self._ticker = _Ticker(self._tick)
            self._ticker.launch()
        elif not wants and self._ticker is not None:
            self._ticker.end()
            self._ticker = None
        if not is_running:
            self.refresh()

    def _tick(self) -> None:
        if not self.is_visible():
            self.running(False)
            self._session.apply_settings()  # rows have their old way again
        elif time.monotonic() >= self._rest_until:
            begin = time.monotonic()
            self.refresh()
            end = time.monotonic()
            self._rest_until = end + _SHARE * (end - begin)

    def connect(self) -> None:
        """To gdb's events, behind the session, which has taken all by then."""
        e = gdb.events
        e.cont.connect(lambda event: self.running(True))
        e.stop.connect(lambda event: self.running(False))
        e.exited.connect(lambda event: self.running(False))
        e.gdb_exiting.connect(lambda event: self._end())
        e.before_prompt.connect(self.refresh)
        self._session.is_in_window = self.is_visible

    def _end(self) -> None:
        """The session is closed: nothing of it may be asked any more."""
        self._keys.bind(False)
        self._is_over = True
        self.running(False)

    # ---- what is in it -----------------------------------------------------

    def _current_key(self) -> Any:
        s = self._session
        r = s.recording
        if r is not None and r.is_on:
            status = r.recorder.status()
            what: Any = (id(r), status.n_calls, status.n_open)
        else:
            what = id(s.kept) if s.kept is not None else None
        return (what, self._page.width, self.height(), str(s.standing()),
                tuple(s.settings[n] for n in (
                    "callsite", "timestamp", "duration", "fold", "std",
                    "color", "names", "thread")))

    @ctrlc.handed_on
    def refresh(self, is_forced: bool = False) -> None:
        """Read what has changed, and draw it."""
        self._keys.bind(self.is_visible())
        if not self.is_visible() or self.window is None:
            return
        self._page.width = max(10, self.window.tui.width - _GUTTER)
        key = self._current_key()
        if key != self._key or is_forced:
            try:
                self._read()
                self._error = ""
            except (CstraceError, gdb.error) as e:
                self._rows, self._error = [], str(e)
            self._key = key
        self.draw()

    def _read(self) -> None:
        if self._is_following or not self._rows:
            self._page.read_last(self.height())
            self._choose_rows()
            self._selected = len(self._rows) - 1
        elif self._key is None or self._key[1:] != self._current_key()[1:]:
            self._read_around(self._rows[self._selected].id)
        self._selected = max(0, min(self._selected, len(self._rows) - 1))

    def _read_around(self, id: str) -> None:
        self._page.read_around(id, self.height())
        self._choose_rows()
        self._select(id)

    def _choose_rows(self) -> None:
        """Without what is beneath rows that are folded."""
        self._rows = []
        hiding: dict[str, int] = {}  # by thread: deeper rows are hidden
        for row in self._page.rows:
            lane = row.lane()
            if row.depth > hiding.get(lane, row.depth):
                continue
            hiding.pop(lane, None)
            if row.id in self._folded:
                hiding[lane] = row.depth
            self._rows.append(row)

    def _select(self, id: str) -> None:
        at = self._page.index_of(id)
        places = {row.id: n for n, row in enumerate(self._rows)}
        while at > 0 and self._page.rows[at].id not in places:
            at -= 1  # it is folded away
        self._selected = places.get(self._page.rows[at].id,
                                    0) if self._page.rows else 0
        self._top = self._selected - self.height() // 2

    # ---- drawing -----------------------------------------------------------

    def draw(self) -> None:
        if not self.is_visible() or self.window is None:
            return
        height = self.height()
        if self._selected < self._top or self._is_following:
            self._top = self._selected - (
                height - 1 if self._is_following else 0)
        self._top = max(self._selected - height + 1,
                        min(self._top, len(self._rows) - height), 0)
        shown = self._rows[self._top:self._top + height]
        lines = [self._line(row, n == self._selected)
                 for n, row in enumerate(shown, self._top)]
        if not lines:
            lines = [plain(self._error or "no calls are recorded")[
                :self._page.width]]
        self.window.show("\n".join(lines), self._title())

    def _line(self, row: Row, is_selected: bool) -> str:
        mark = "+" if row.id in self._folded else " "
        if is_selected:
            return _REVERSE + mark + row.plain + _NORMAL
        return mark + row.text

    def _title(self) -> str:
        trace = self._page.trace()
        if trace is None:
            return "cstrace"
        what = "cstrace: " + count(trace.status().n_calls, "call")
        return what + (", following" if self._is_following else "")

    # ---- what the user does with it ----------------------------------------

    def selected(self) -> Optional[Row]:
        return self._rows[self._selected] if self._rows else None

    def move(self, by: int) -> None:
        """The selection, by rows; past the last one it follows again."""
        if not self._rows:
            return
        to = self._selected + by
        if not 0 <= to < len(self._rows):
            to = self._more(by, to)
        if by > 0 and to >= len(self._rows) and self._page.is_newest:
            self.follow()
            return
        self._is_following = False
        self._selected = max(0, min(to, len(self._rows) - 1))
        self.draw()

    def _more(self, by: int, to: int) -> int:
        """Read on from the page's end; returns where the move leads there."""
        if by > 0 and self._page.is_newest:
            return to
        id = self._rows[self._selected].id
        self._read_around(id)
        return self._selected + by

    def follow(self) -> None:
        self._is_following = True
        self.refresh(True)

    def to(self, id: str) -> None:
        """Select the call with this ID; or the row that it is folded into."""
        self._is_following = False
        self._read_around(id)
        self._key = self._current_key()
        self.draw()

    def top(self) -> None:
        trace = self._page.trace()
        if trace is not None and trace.status().n_calls:
            self.to("1.1")
            self.move(-len(self._rows))

    def find(self, function: str, is_later: bool, is_new: bool) -> bool:
        """Select a call of the function; False: there is none."""
        row = self.selected()
        id = self._page.find(function, "" if is_new or row is None else row.id,
                             is_later)
        if id is None:
            return False
        self.to(id)
        return True

    def fold(self, is_folded: bool) -> None:
        """Hide or show what is beneath the selected row.  Where there is
        nothing to hide, folding goes to the caller."""
        row = self.selected()
        if row is None:
            return
        if not is_folded:
            self._folded.discard(row.id)
        elif self._has_rows_beneath(row):
            self._folded.add(row.id)
        else:
            row = self._caller_of(row)
        self._is_following = False
        self._choose_rows()
        self._selected = self._rows.index(row)
        self.draw()

    def _has_rows_beneath(self, row: Row) -> bool:
        following = next((other for other in self._rows[self._selected + 1:]
                          if other.lane() == row.lane()), row)
        return following.depth > row.depth

    def _caller_of(self, row: Row) -> Row:
        return next((other for other in reversed(self._rows[:self._selected])
                     if other.lane() == row.lane()
                     and other.depth < row.depth), row)

    def click(self, y: int) -> None:
        """A first one selects the row, a second one shows its source."""
        at = self._top + y
        if at >= len(self._rows):
            return
        if at == self._selected and not self._is_following:
            self.show_source(self._rows[at].id)
        else:
            self._is_following = False
            self._selected = at
            self.draw()


class TreeWindow:
    """What gdb calls.  It ends with the layout that has it."""

    def __init__(self, tui: Any, view: View) -> None:
        self.tui = tui
        self._view = view
        self._shown = ""
        view.window = self

    def show(self, text: str, title: str) -> None:
        if (text, title) != (self._shown, self.tui.title):
            self._shown = text
            self.tui.title = title
            self.tui.write(text, True)

    @ctrlc.handed_on
    def render(self) -> None:
        """gdb has made it, or changed its size: it is empty."""
        self._shown = ""
        self._view.refresh()

    def close(self) -> None:
        if self._view.window is self:
            self._view.window = None
            self._view.refresh()  # has its keys no more

    @ctrlc.handed_on
    def vscroll(self, n: int) -> None:
        self._view.use()
        self._view.move(n)

    @ctrlc.handed_on
    def hscroll(self, n: int) -> None:
        """Left folds, right opens."""
        self._view.use()
        self._view.fold(n < 0)

    @ctrlc.handed_on
    def click(self, x: int, y: int, button: int) -> None:
        self._view.use()
        if button == 1:
            self._view.click(y)


def register(session: Session) -> View:
    """The layout, where gdb has a TUI."""
    view = View(session)
    if hasattr(gdb, "register_window_type"):
        gdb.register_window_type("cstrace",
                                 lambda tui: TreeWindow(tui, view))
        try:
            gdb.execute("tui new-layout " + _LAYOUT, to_string=True)
        except gdb.error:
            pass  # a gdb without it
    return view
