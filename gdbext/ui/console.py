# SPDX-License-Identifier: MIT
"""Where output goes: live rows past the pager, reports through it."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import signal
import threading
import time
from typing import Callable, Iterator, NamedTuple, Optional, TypeVar, cast

import gdb

from .. import engine, gdb_setting
from . import ctrlc
from ..engine import SINK_CALLBACK, SINK_FD, SINK_NONE, WIDTH_TERMINAL

T = TypeVar("T")


def plain(text: str) -> str:
    """The traced program's names and words, as a terminal may see them."""
    return "".join(
        c if c.isprintable() else "".join(
            "\\x%02x" % b for b in c.encode("utf-8", "surrogateescape"))
        for c in text)


def say(text: str) -> None:
    """One line of ours; a traceback has more."""
    line = "cstrace: %s\n" % "\n".join(map(plain, text.split("\n")))
    try:
        gdb.write(line)
    except KeyboardInterrupt:  # the pager's q
        if not ctrlc.is_kept():
            raise


def terminals() -> list[int]:
    """Which of gdb's own descriptors are one; not so once it was closed."""
    return [fd for fd in (0, 1, 2) if os.isatty(fd)]


@functools.cache
def is_mi() -> bool:
    """Does gdb speak its machine interface on standard output?"""
    try:
        with open("/proc/self/cmdline", "rb") as f:
            words = f.read().split(b"\0")
    except OSError:
        return False
    for word, following in zip(words, words[1:] + [b""]):
        if word == b"--args":
            return False
        name, equals, value = word.lstrip(b"-").partition(b"=")
        if (word.startswith(b"-") and name
                and b"interpreter".startswith(name)):
            return (value if equals else following).startswith(b"mi")
    return False


# One record of the machine interface, with its escapes.
_RECORD_BYTES = 65536


def _in_record(text: str) -> int:
    """How many bytes it takes there at most."""
    n = len(text)
    if text.isascii() and text.isprintable():
        return n + text.count('"') + text.count("\\")
    return 4 * len(text.encode("utf-8", "surrogateescape"))


def _records(text: str) -> Iterator[str]:
    """The text in pieces that front ends take, each of whole lines."""
    lines: list[str] = []
    n_bytes = 0
    for line in text.splitlines(keepends=True):
        n = _in_record(line.rstrip("\n")) + len("\\n")
        if n_bytes + n > _RECORD_BYTES - len('~""\n') and lines:
            yield "".join(lines)
            lines, n_bytes = [], 0
        lines.append(line)
        n_bytes += n
    if lines:
        yield "".join(lines)


def write(text: str) -> None:
    """Through gdb: to the pager, the log, or as console records."""
    for piece in _records(text) if is_mi() else (text,):
        gdb.write(piece)
        gdb.flush()


def is_tui() -> bool:
    try:
        shown = gdb.execute("info win", to_string=True)
    except gdb.error:
        return False
    return not shown.startswith("The TUI is not active")


def is_logging() -> bool:
    try:
        return bool(gdb.parameter("logging enabled"))
    except RuntimeError:
        return False


def writes_to_stdout() -> bool:
    """And nowhere else?"""
    return not (is_mi() or is_tui() or is_logging())


def _is_styled(fd: int) -> bool:
    """A terminal that shows colours, and a user who wants them."""
    return (bool(gdb.parameter("style enabled")) and os.isatty(fd)
            and os.environ.get("TERM", "dumb") != "dumb")


def _gdb_width() -> int:
    """Columns as gdb has them; 0: no limit."""
    return gdb.parameter("width") or 0


@contextlib.contextmanager
def uncounted() -> Iterator[None]:
    """gdb's pager counts no lines within, as of what nobody is shown: behind them
    it would ask for a key.  It counts even where it is off; and gdb takes the size
    from a command only that prints where others do."""
    sizes = {} if is_mi() else {
        name: gdb.parameter(name) or 0 for name in ("height", "width")}
    for name in sizes:
        gdb.execute("set %s 0" % name)
    try:
        yield
    finally:
        for name, size in sizes.items():
            gdb.execute("set %s %d" % (name, size))


_LINKED_PROGRAMS = ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper")
_LINKED_TERMS = ("xterm-kitty", "foot", "alacritty", "wezterm", "contour",
                 "xterm-ghostty")
_LINKED_BY = ("KONSOLE_VERSION", "KITTY_WINDOW_ID", "WT_SESSION", "DOMTERM")


def _knows_links() -> bool:
    """Does the terminal know OSC 8?  The command's options ask likewise."""
    env = os.environ
    term = env.get("TERM", "")
    if term.startswith(("screen", "tmux")):
        return False
    vte = env.get("VTE_VERSION", "")
    return (vte.isascii() and vte.isdigit() and int(vte) >= 5000
            or env.get("TERM_PROGRAM") in _LINKED_PROGRAMS
            or term.startswith(_LINKED_TERMS)
            or any(env.get(name) for name in _LINKED_BY))


class Sink(NamedTuple):
    kind: int
    fd: int
    color: bool
    width: int = 0  # columns, 0: rows are not cut; or WIDTH_TERMINAL
    links: bool = False

    def is_watched(self) -> bool:
        """Do rows go to somebody's eyes: a terminal, an editor's console?"""
        if self.kind == SINK_CALLBACK:
            return is_mi() or os.isatty(1)
        return self.kind == SINK_FD and os.isatty(self.fd)


class Output:
    """The live rows' way out: `set cstrace output`, or gdb's own output."""

    def __init__(self) -> None:
        self._fd = -1
        self.name = ""
        self._lock = threading.Lock()
        self._waiting: list[str] = []
        self._is_posted = False
        # Has gdb rows still to write, or does it wait for a front end to take
        # them?  Its own thread, where flush() follows, need not look.
        self.busy = ctypes.c_uint32(0)
        self.written_ns = 0  # when rows went through gdb, monotonic

    def open(self, name: str) -> None:
        """Send live rows to a terminal or file; "" is gdb's own output."""
        fd = -1
        if name:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOCTTY
            fd = os.open(os.path.expanduser(name), flags | os.O_CLOEXEC, 0o666)
        self.close()
        self._fd, self.name = fd, name

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self.name = -1, ""

    def sink(self, color: str, links: str) -> Sink:
        """How rows go out as gdb stands now; color and links are on, off or
        auto."""
        if self._fd >= 0:
            kind, fd = SINK_FD, self._fd
        elif not writes_to_stdout():
            width = 0 if is_mi() or is_logging() else _gdb_width()
            return Sink(SINK_CALLBACK, -1, color == "on", width, links == "on")
        else:
            kind, fd = SINK_FD, 1
        is_auto = color == "auto" and _is_styled(fd)
        is_cut = fd == self._fd or _gdb_width()
        return Sink(kind, fd, color == "on" or is_auto,
                    WIDTH_TERMINAL if is_cut else 0,
                    links == "on" or links == "auto" and is_auto
                    and _knows_links())

    def take(self, text: str) -> None:
        """Rows for gdb's own streams, on the recorder's thread."""
        with self._lock:
            self._waiting.append(text)
            self.busy.value = 1
            if self._is_posted:
                return
            self._is_posted = True
        gdb.post_event(self._posted)

    @ctrlc.handed_on
    def _posted(self) -> None:
        with self._lock:
            self._is_posted = False
        self.flush()

    def flush(self) -> None:
        """In gdb's thread: write what take() was given."""
        if not self._waiting:
            return
        with self._lock:
            texts, self._waiting = self._waiting, []
        self.written_ns = time.monotonic_ns()
        try:
            self._write("".join(texts))
        finally:
            with self._lock:
                self.busy.value = bool(self._waiting)

    @staticmethod
    def _write(text: str) -> None:
        if is_mi():
            write(text)
            return
        with gdb_setting.changed("pagination", "off"):
            gdb.write(text)
            gdb.flush()


def report_color(color: str) -> bool:
    """Are show's rows coloured?"""
    if color != "auto":
        return color == "on"
    return _is_styled(1) and not is_logging() and not is_mi()


def report_fold(fold: str) -> bool:
    """Are show's rows folded?"""
    if fold != "auto":
        return fold == "on"
    return (os.isatty(1) or is_mi()) and not is_logging()


def report_links(links: str) -> bool:
    """Are show's places links?  gdb's pager takes what it does not know for
    text, and would ask too soon."""
    if links != "auto":
        return links == "on"
    is_paged = gdb.parameter("pagination") and gdb.parameter("height")
    return report_color("auto") and _knows_links() and not is_paged


def report_width() -> int:
    """Columns that show's rows are cut to: on a terminal only."""
    if not os.isatty(1) or is_logging() or is_mi():
        return 0
    return _gdb_width()


_PROGRESS_NS = (1_000_000_000, 200_000_000)  # to the first line, between them


class _Progress:
    """A line on gdb's terminal that says how far a long call has come."""

    def __init__(self) -> None:
        is_seen = (os.isatty(1) and os.isatty(2) and not is_mi()
                   and os.environ.get("TERM", "dumb") != "dumb")
        self._due = (time.monotonic_ns() + _PROGRESS_NS[0]
                     if is_seen and not is_tui() else 0)
        self._is_written = False

    def tick(self) -> None:
        if not self._due or time.monotonic_ns() < self._due:
            return
        self._due = time.monotonic_ns() + _PROGRESS_NS[1]
        percent, n_calls = engine.progress()
        if percent >= 0:
            os.write(2, b"\r\033[Kcstrace: %d %% of %d calls read"
                     % (percent, n_calls))
            self._is_written = True

    def end(self) -> None:
        """Something else is written from here on."""
        self._due = 0
        if self._is_written:
            os.write(2, b"\r\033[K")
            self._is_written = False


class GuestThread(threading.Thread):
    """A thread inside gdb."""

    def launch(self) -> None:
        # Threads inside gdb must not take its signals: SIGCHLD above all.
        old = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            self.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, old)


class _Job(GuestThread):
    """A long engine call on a thread of its own, so that gdb's thread stays
    free to write, to page and to see Ctrl-C."""

    def __init__(self, call: Callable[[Callable[[str], bool]], T]) -> None:
        super().__init__(daemon=True)
        self._job = call
        self._ready = threading.Condition()
        self._text: Optional[str] = None
        self._is_over = False
        self._is_cancelled = False
        self.result: Optional[T] = None
        self.error: Optional[BaseException] = None

    def run(self) -> None:
        try:
            self.result = self._job(self._write)
        except BaseException as e:  # handed over to gdb's thread
            self.error = e
        with self._ready:
            self._is_over = True
            self._ready.notify_all()

    def _write(self, text: str) -> bool:
        with self._ready:
            while self._text is not None and not self._is_cancelled:
                self._ready.wait()
            if not self._is_cancelled:
                self._text = text
                self._ready.notify_all()
            return not self._is_cancelled

    def next_text(self, tick: Callable[[], None]) -> Optional[str]:
        """The next block, or None at the end.  tick() is called while there is
        none."""
        with self._ready:
            while not ctrlc.take():
                if self._text is not None or self._is_over:
                    break
                tick()
                self._ready.wait(0.1)
            else:
                raise KeyboardInterrupt
            text, self._text = self._text, None
            self._ready.notify_all()
            return text

    def cancel(self) -> None:
        with self._ready:
            self._is_cancelled = True
            self._ready.notify_all()
        while self.is_alive():
            engine.interrupt()
            self.join(0.05)


@ctrlc.held
def run_long(call: Callable[[Callable[[str], bool]], T]) -> T:
    """Run call(write) and write what it gives, with the pager.  Ctrl-C and
    the pager's q end it: KeyboardInterrupt, unless the call has come to its
    end all the same and what it made is there.  It is held, as an exception at
    any other moment could leave the lock taken that the thread waits for."""
    job, progress = _Job(call), _Progress()
    job.launch()
    try:
        while True:
            text = job.next_text(progress.tick)
            progress.end()
            if text is None:
                break
            write(text)
        job.join()
    except KeyboardInterrupt:
        job.cancel()
        if job.error is not None:
            raise
    except BaseException:
        job.cancel()
        raise
    finally:
        progress.end()
    if job.error is not None:
        raise job.error
    return cast(T, job.result)


NO_SINK = Sink(SINK_NONE, -1, False)
