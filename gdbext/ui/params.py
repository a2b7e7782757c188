# SPDX-License-Identifier: MIT
"""`set cstrace ...` and `show cstrace ...`."""

from __future__ import annotations

from typing import Any, Callable, Optional

import gdb

from .. import _abi as abi, requests
from ..engine import CstraceError, check_choice
from ..process.plans import ROADS
from ..requests import make_choice
from .options import (
    listed, read_bytes, read_count, read_time_ns, the_regex)
from .words import instead

Changed = Callable[[str], None]


class _Setting(gdb.Parameter):
    """One setting.  Its first sentence is help's, for set and show alike."""

    def __init__(self, name: str, kind: int, default: Any, what: str, doc: str,
                 changed: Changed, *words: Any) -> None:
        self.set_doc = "Set %s." % what
        self.show_doc = "Show %s." % what
        self.__doc__ = doc
        self.key = name
        self._changed = changed
        self._is_ready = False
        super().__init__("cstrace " + name, gdb.COMMAND_DATA, kind, *words)
        self.value = default
        self._is_ready = True

    def get_set_string(self) -> str:
        if self._is_ready:
            self._changed(self.key)
        return ""

    def text(self) -> str:
        if isinstance(self.value, bool):
            return "on" if self.value else "off"
        return str(self.value)

    def row(self) -> str:
        """The value, for `show`."""
        return self.text()

    def get_show_string(self, _value: str) -> str:
        return "%s: %s" % (self.key, self.row())


class _Checked(_Setting):
    """A text that must make sense, or the old one stays."""

    def __init__(self, name: str, default: str, what: str, doc: str,
                 changed: Changed, kind: int, accept: Callable[[str], Any]
                 ) -> None:
        self._accept = accept
        self._old = default
        super().__init__(name, kind, default, what, doc, changed)

    def get_set_string(self) -> str:
        try:
            value = (self.value or "").strip()
            self._accept(value)
        except gdb.GdbError:
            self.value = self._old
            raise
        self._old = self.value = value
        return super().get_set_string()

    def text(self) -> str:
        return self.value or "gdb's own"


def _size(text: str) -> int:
    size = read_bytes(text)
    if size is None:
        raise gdb.GdbError('cstrace: "%s" is not a size: write 512M, 4G, or 0 '
                           'for no limit' % text)
    return size


def _pool(text: str) -> int:
    size = _size(text)
    if not 2**19 <= size <= 2**30:
        raise gdb.GdbError("cstrace: the pool may have 512K to 1G")
    return size


class _Chosen(_Checked):
    """One that chooses calls: a trace may have been begun with its own."""

    own: Callable[[str], Optional[str]] = staticmethod(lambda _name: None)

    def text(self) -> str:
        value = str(self.value or "")
        return value if value not in ("", "0") else "none"

    def row(self) -> str:
        own = _Chosen.own(self.key)
        return self.text() + (" (this trace: %s)" % own if own else "")


class _SetChosen(gdb.Command):
    """Stands before the setting's own `set`, to which gdb lets nobody add a
    completion of its values."""

    def __init__(self, setting: _Setting, values: Callable[[], Any]) -> None:
        self.__doc__ = "%s\n%s\ngdb's `with` does not take it%s." % (
            setting.set_doc, setting.__doc__,
            ": `cstrace show -%s X` does the same" % setting.key
            if isinstance(setting, _Chosen) else "")
        self._setting = setting
        self._values = values
        super().__init__("set cstrace " + setting.key, gdb.COMMAND_DATA)

    def invoke(self, arg: str, from_tty: bool) -> None:
        self._setting.value = arg
        self._setting.get_set_string()

    def complete(self, text: str, word: Optional[str]) -> Any:
        values = self._values()
        return (listed(word, sorted(values), text)
                if isinstance(values, (list, set)) else values)


def _regex(text: str) -> None:
    try:
        check_choice(make_choice(filter=the_regex(text)))
    except CstraceError as e:
        raise gdb.GdbError(str(e)) from None


def _time_ns(text: str) -> int:
    return read_time_ns("min-time", text) if text else 0


def _step_rows(text: str) -> Optional[int]:
    """None: rows are shown if live rows have not shown them."""
    if text == "auto":
        return None
    if text == "off":
        return 0
    if not text.isdecimal() or not 0 < int(text) <= 1000:
        raise gdb.GdbError('cstrace: step-report: "%s" is neither auto nor off '
                           'nor a number of rows, 1 to 1000' % text)
    return int(text)


def _budget_ns(text: str) -> int:
    return read_time_ns("log-budget", text) if text else 0


def _text_bytes(text: str) -> None:
    if not text.isdecimal() or not 0 < int(text) <= abi.CST_TEXT_BYTES_MAX:
        raise gdb.GdbError("cstrace: of a text there may be 1 to %d bytes"
                           % abi.CST_TEXT_BYTES_MAX)


def _args(text: str) -> None:
    if not text:
        raise gdb.GdbError("cstrace: args is on, off or a regular expression "
                           "that functions' names match")
    if text not in ("on", "off"):
        _regex(text)


_AT_ONCE = ("\nIt acts at once, while the program runs as well; what was "
            "recorded\nstays, `cstrace show -all` has it.  Options of "
            "commands come first.")


class Settings:
    """The settings' values, for the rest of the extension."""

    def __init__(self, changed: Changed,
                 open_output: Callable[[str], None]) -> None:
        self._all: dict[str, _Setting] = {}
        self._changed = changed
        self._add_rows()
        self._add_choices()
        self._add_recording(open_output)

    def _flag(self, name: str, default: bool, what: str, doc: str) -> None:
        self._add(_Setting(name, gdb.PARAM_BOOLEAN, default, what, doc,
                           self._changed))

    def _enum(self, name: str, words: tuple[str, ...], what: str,
              doc: str) -> None:
        self._add(_Setting(name, gdb.PARAM_ENUM, words[0], what, doc,
                           self._changed, words))

    def _choice(self, name: str, what: str, doc: str,
                accept: Callable[[str], Any]) -> None:
        self._add(_Chosen(name, "", what, doc + _AT_ONCE, self._changed,
                          gdb.PARAM_STRING_NOESCAPE, accept))

    def _add_rows(self) -> None:
        """How rows look."""
        self._flag("live", True, "whether calls are shown while the program runs",
                   "Off, they are only recorded: `cstrace show` and `cstrace save` "
                   "have all of them.")
        self._flag("callsite", True, "whether rows show where the call stands",
                   "File and line of the call itself.")
        self._enum("names", requests.NAMES, "how functions are named",
                   "simple: Shop::order, std::sort<...>, with parameters only where "
                   "two\nfunctions of the trace would else have the same name.\n"
                   "full: with all parameters and templates' arguments.")
        self._flag("id", True, "whether rows show each call's ID",
                   "1.42 is call 42 of thread 1, for `cstrace show 1.42`.  Saved "
                   "rows have\nnone without `cstrace save -id`.")
        self._flag("frame-ids", True, "whether `backtrace` shows each call's ID",
                   "It stands behind the function's name, in brackets.")
        self._flag("thread", True, "whether rows show each call's thread",
                   "Where there are several threads: a line says which thread t2 is, "
                   "whose\nIDs begin with 2; rows without IDs have a column with t2.")
        self._enum("timestamp", ("elapsed", "off", "wall"),
                   "the time that rows begin with",
                   "elapsed: since the trace began, stops left out.\n"
                   "wall: the time of day.\noff: none.")
        self._flag("duration", True, "whether rows show how long a call took",
                   "Time spent at gdb's prompt is not counted.")
        self._enum("color", ("auto", "on", "off"), "whether rows are coloured",
                   "auto: on a terminal, unless `set style enabled off`.")
        self._enum("links", ("auto", "on", "off"),
                   "whether places are links to their files",
                   "auto: where the terminal is known to show links (OSC 8).")
        self._enum("fold", ("auto", "on", "off"),
                   "whether calls that repeat are one row",
                   "Neighbours that call the same function, sequences of such that "
                   "repeat, and\nfunctions that call themselves or each other are "
                   "one row with its count.\nCalls that are open, unwound or slow "
                   "(ten times the mean) stay rows of\ntheir own.\n"
                   "auto: on a terminal, live and in `cstrace show`; not in pipes "
                   "and files.")
        steps = _Checked(
            "step-report", "auto",
            "how many rows tell at a stop what was called",
            "After next, step, until, advance, finish and continue: the calls "
            "of the\nselected thread since the last stop, folded, and only as "
            "many levels of\nthem as fit.  The location stands below them.\n"
            "N: so many rows.  off: none.\n"
            "auto: 10 rows, where live rows have not shown them already.",
            self._changed, gdb.PARAM_STRING_NOESCAPE, _step_rows)
        self._add(steps)
        _SetChosen(steps, lambda: ["auto", "off", "10", "30"])
        self._flag("std", False, "whether calls of the C++ library are shown",
                   "Off, functions in std:: and those that system headers define "
                   "are\nhidden; user code that they call is shown in their place.")

    def _add_choices(self) -> None:
        """Which calls are shown."""
        self._choice("filter", "the functions that are shown, with what they call",
                     "A name or a regular expression; without one, all are shown.",
                     _regex)
        self._choice("exclude", "the functions that are not recorded from now on",
                     "A name or a regular expression; their callees stay.  Without "
                     "one,\nall are recorded.  Calls that were recorded before are "
                     "hidden.", _regex)
        self._choice("depth", "how many levels of calls are shown",
                     "0 or nothing: all.",
                     lambda text: read_count("depth", text or "0"))
        self._choice("min-time", "how long a call must last to be shown",
                     "A time with its unit: 10us, 1.5ms, 2s.  0 or nothing: any.",
                     _time_ns)
        self._choice("in", "the source file whose functions are shown",
                     "Its name, or the end of its path: shop.cc, src/shop.cc.  "
                     "Without one,\nthose of all files.", str)
        self._choice("module", "the object file whose functions are shown",
                     "The program's name or a library's: libz, libz.so.1.  Without "
                     "one, those\nof all.", str)

    def _add_recording(self, open_output: Callable[[str], None]) -> None:
        """Where live rows go, and how calls come to be recorded."""
        self._add(_Checked(
            "output", "", "the terminal or file that live rows go to",
            "Without an argument they go where gdb's own output goes.  A "
            "file\nis appended to.", self._changed, gdb.PARAM_OPTIONAL_FILENAME,
            open_output))
        self._enum("sync-method", ("auto", "breakpoint", "handshake"),
                   "how `cstrace start -sync` waits for each call's row",
                   "breakpoint (auto): gdb's breakpoints, about 100 us an event.\n"
                   "handshake: the program waits for the reader, about 10 us; gdb "
                   "does not\nstop it.")
        self._enum("road", ROADS, "how functions come to report their calls",
                   "auto: by hooks in each file that was compiled with them, and "
                   "by patches\nin the memory of the process in the others, from "
                   "the next `run` on.\n"
                   "hooks: only by hooks (-finstrument-functions).\n"
                   "patch: as auto, but functions without hooks are patched in "
                   "files with\nhooks, too, and in shells and other programs "
                   "that run others.")
        self._flag("preload", True, "whether programs are run with the shim in them",
                   "The shim is idle until `cstrace start`, which can so come at "
                   "any time.\nOff, LD_PRELOAD is touched from `cstrace start` to "
                   "`cstrace stop` only.")
        self._add_values()
        self._add_limits()

    def _add_values(self) -> None:
        """What is recorded with a call."""
        self._add(_Checked(
            "args", "on", "whether calls are recorded with their arguments",
            "on, off, or a name or regular expression: of these functions "
            "only.\nRows show them as parse(s=\"12+3\", base=10), as far as the "
            "program's\ndebug information says where they are at the hook.  Off, "
            "a call costs less.",
            self._changed, gdb.PARAM_STRING_NOESCAPE, _args))
        self._flag("members", False, "whether methods' arguments have members "
                   "of *this, too",
                   "The first four of them that are numbers, pointers or texts. "
                   " Rows show them as\nadd(this=0x55..., members={n=3, "
                   "name=\"a\"}, x=5).  Methods that were called in\nthis trace "
                   "before it was set go on without.")
        self._add(_Checked(
            "text-bytes", "32",
            "how many bytes of a text are recorded with a call",
            "At most 200.  Functions that were called in this trace before it "
            "was set go\non as before.", self._changed,
            gdb.PARAM_STRING_NOESCAPE, _text_bytes))
        self._flag("results", True, "whether calls are recorded with results",
                   "Rows show them as parse(...) = 12, where the code behind "
                   "the hook says where\nthey are.  If `args` is a regular "
                   "expression, those of its functions only.")
        self._flag("what", True, "whether an exception's own what() is called",
                   "For its text, where it is thrown and caught.  Off, the text is the "
                   "one\nthat std::runtime_error or std::logic_error was made with, if "
                   "it is one.")

    def _add_limits(self) -> None:
        """How much a recording may take."""
        self._add(_Checked(
            "limit", "4G", "how large a trace may become on disk",
            "With the limit reached the program runs on and is no longer\n"
            "recorded.  0: no limit.", self._changed, gdb.PARAM_STRING_NOESCAPE,
            _size))
        self._add(_Setting(
            "wait-limit", gdb.PARAM_ZUINTEGER, 10000,
            "how long the program waits for a stopped reader, in milliseconds",
            "Then calls are lost, and counted.  0: the usual 10 seconds.",
            self._changed))
        self._add(_Checked(
            "log-budget", "10s",
            "how much of gdb's time a logpoint's hits may take in a run",
            "Then it is disabled, before the program gets nowhere.  0: no "
            "limit.", self._changed, gdb.PARAM_STRING_NOESCAPE, _budget_ns))
        self._add(_Checked(
            "pool", "96M", "the memory between program and reader",
            "It grows when it must; a larger one rides out longer pauses. With "
            "gdbserver at most 4M are used: that is what gdb reads at once.",
            self._changed, gdb.PARAM_STRING_NOESCAPE, _pool))

    def _add(self, setting: _Setting) -> None:
        self._all[setting.key] = setting

    def __getitem__(self, name: str) -> Any:
        return self._all[name].value

    def chosen(self, name: str) -> Any:
        """A setting that chooses calls, as a part of a choice."""
        text = self._all[name].value or ""
        if name == "depth":
            return int(text or 0)
        if name == "min-time":
            return _time_ns(text)
        return the_regex(text)

    def args(self) -> tuple[bool, Optional[str]]:
        """Whether arguments are wanted, and of which functions (a regex;
        None: all)."""
        text = self._all["args"].value
        if text in ("on", "off"):
            return text == "on", None
        return True, the_regex(text)

    def complete_values(self, functions: Callable[[], Any],
                        sources: Callable[[], Any],
                        modules: Callable[[], Any]) -> None:
        """Each returns names, or one of gdb's completions."""
        for name, values in (("filter", functions), ("exclude", functions),
                             ("in", sources), ("module", modules)):
            _SetChosen(self._all[name], values)

    def tell_own(self, own: Callable[[str], Optional[str]]) -> None:
        """Sets the function that returns what the trace has in place of a setting,
        or None."""
        _Chosen.own = staticmethod(own)

    def size(self, name: str) -> int:
        return read_bytes(self._all[name].value) or 0

    def budget_ns(self) -> int:
        """Returns what a logpoint may cost in a run; 0: anything."""
        return _budget_ns(self._all["log-budget"].value)

    def step_rows(self) -> Optional[int]:
        """Returns how many rows a stop has at most; None: as it fits."""
        return _step_rows(self._all["step-report"].value)

    def names(self) -> list[str]:
        return list(self._all)

    def rows(self) -> list[str]:
        width = max(map(len, self._all))
        return ["%-*s  %s" % (width, name, setting.row())
                for name, setting in self._all.items()]


class SetPrefix(gdb.Command):
    """Set how calls are traced and shown.

    Usage: set cstrace SETTING VALUE

    `help set cstrace` lists the settings, `show cstrace` their values."""

    def __init__(self) -> None:
        super().__init__("set cstrace", gdb.COMMAND_DATA, gdb.COMPLETE_NONE,
                         True)
        self.settings: Optional[Settings] = None

    def invoke(self, arg: str, from_tty: bool) -> None:
        names = self.settings.names() if self.settings else []
        word = arg.split()[0] if arg.split() else ""
        start = 'no setting "%s"' % word if word else "which setting?"
        raise gdb.GdbError("set cstrace: " + start + instead(word, names))


class ShowPrefix(gdb.Command):
    """Show how calls are traced and shown: all settings.

    Usage: show cstrace [SETTING]"""

    def __init__(self) -> None:
        super().__init__("show cstrace", gdb.COMMAND_DATA, gdb.COMPLETE_NONE,
                         True)
        self.settings: Optional[Settings] = None

    def invoke(self, arg: str, from_tty: bool) -> None:
        if self.settings is None:
            return
        if arg.split():
            word = arg.split()[0]
            raise gdb.GdbError('show cstrace: no setting "%s"%s'
                               % (word, instead(word, self.settings.names())))
        gdb.write("\n".join(self.settings.rows()) + "\n")


def register(changed: Changed, open_output: Callable[[str], None]) -> Settings:
    set_prefix, show_prefix = SetPrefix(), ShowPrefix()
    settings = Settings(changed, open_output)
    set_prefix.settings = show_prefix.settings = settings
    return settings
