# SPDX-License-Identifier: MIT
"""Keys for the tree's window.  gdb 13 gives a window that is written in Python
those that scroll it, and all others to readline.  Where gdb has readline as a
library, some keys are bound there: each types a command into the empty command
line, so that gdb does it as if the user had typed it."""

from __future__ import annotations

import ctypes as C
from typing import Any, Callable, Optional

import gdb

from . import ctrlc

# What a key types; a blank at the end waits for more.
_LINES = {
    "\n": "cstrace window source",
    "\r": "cstrace window source",
    "g": "cstrace window goto",
    "n": "cstrace window next",
    "N": "cstrace window previous",
    "/": "cstrace window find ",
}
# The second one is of `set editing-mode vi`.
_KEYMAPS = (b"emacs", b"vi-insert")

_FUNCTION = C.CFUNCTYPE(C.c_int, C.c_int, C.c_int)


class _Readline:
    """The one that gdb itself reads its command line with."""

    def __init__(self) -> None:
        """AttributeError, OSError, ValueError: there is none to be found."""
        lib = C.CDLL(None)
        name = C.c_char_p.in_dll(lib, "rl_readline_name").value
        if name != b"gdb":
            raise ValueError("another program's")
        self._end = C.c_int.in_dll(lib, "rl_end")
        self._prompt = C.c_char_p.in_dll(lib, "rl_prompt")
        self.insert_text = self._function(lib, "rl_insert_text", C.c_int,
                                          C.c_char_p)
        self.keymap = self._function(lib, "rl_get_keymap_by_name", C.c_void_p,
                                     C.c_char_p)
        self.bind = self._function(lib, "rl_bind_key_in_map", C.c_int, C.c_int,
                                   C.c_void_p, C.c_void_p)
        self.bound = self._function(lib, "rl_function_of_keyseq", C.c_void_p,
                                    C.c_char_p, C.c_void_p, C.c_void_p)
        self.insert = _FUNCTION(("rl_insert", lib))
        self.newline = _FUNCTION(("rl_newline", lib))

    @staticmethod
    def _function(lib: Any, name: str, result: Any, *arguments: Any) -> Any:
        return C.CFUNCTYPE(result, *arguments)((name, lib))

    def is_line_empty(self) -> bool:
        """At gdb's own prompt, and at no question or line of a `define`."""
        prompt = (self._prompt.value or b"").decode(errors="replace")
        return self._end.value == 0 and prompt == gdb.parameter("prompt")


def _address(function: Any) -> Optional[int]:
    return C.cast(function, C.c_void_p).value


class Keys:
    """is_wanted tells whether the window has the focus and knows what to do
    with this key.  left is called when a line goes to gdb that was typed."""

    def __init__(self, is_wanted: Callable[[str], bool],
                 left: Callable[[], None]) -> None:
        self._is_wanted = is_wanted
        self._left = left
        self._readline: Optional[_Readline] = None
        try:
            self._readline = _Readline()
        except (AttributeError, OSError, ValueError):
            pass  # linked statically, or another library instead
        # Readline keeps the address: it has to stay where it is.
        self._pressed = _FUNCTION(self._press)
        self._is_bound = False

    def bind(self, is_bound: bool) -> None:
        """A key that the user has bound to anything else stays so."""
        r = self._readline
        if r is None or is_bound == self._is_bound:
            return
        self._is_bound = is_bound
        ours = _address(self._pressed)
        for name in _KEYMAPS:
            keymap = r.keymap(name)
            for key in _LINES if keymap else ():
                usual = _address(self._usual(key))
                old, new = (usual, ours) if is_bound else (ours, usual)
                if r.bound(key.encode(), keymap, None) == old:
                    r.bind(ord(key), new, keymap)

    def _usual(self, key: str) -> Any:
        assert self._readline is not None
        return (self._readline.newline if key in "\r\n"
                else self._readline.insert)

    @ctrlc.handed_on
    def _press(self, n: int, code: int) -> int:
        """Called by readline, in gdb's thread; it must not raise."""
        r, key, line = self._readline, chr(code), ""
        assert r is not None
        try:
            line = self._line(key)
        except Exception:
            pass  # gdb knows nothing of a window
        if not line:
            return int(self._usual(key)(n, code))
        r.insert_text(line.encode())
        return 0 if line.endswith(" ") else int(r.newline(1, ord("\n")))

    def _line(self, key: str) -> str:
        """What the key types; nothing where it is the command line's."""
        assert self._readline is not None
        if self._readline.is_line_empty():
            return _LINES[key] if self._is_wanted(key) else ""
        if key in "\r\n":
            self._left()
        return ""


def has_focus(window: str) -> bool:
    """Is it the window that gdb gives the scrolling keys to?"""
    return any(line.split()[:1] == [window] and "(has focus)" in line
               for line in gdb.execute("info win", to_string=True).split("\n"))
