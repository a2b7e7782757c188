# SPDX-License-Identifier: MIT
"""Ctrl-C in the middle of what our handlers ask gdb: it stops the program,
and the trace is whole."""

import pytest

from lib_build import TESTS, build, build_library
from lib_term import PROMPT, Terminal
from lib_tree import rows

SCRIPT = TESTS / "gdb" / "in_gdb_ctrl_c.py"


def stop_in(t, name, caller):
    """`run`, with a Ctrl-C there."""
    library = build_library("ctrl_c.c", is_traced=False)
    t.ask("source %s" % SCRIPT)
    t.ask("python ctrl_c_in('%s', '%s', '%s')" % (library, name, caller))
    t.send("run\n")
    seen = t.wait("received signal SIGINT", PROMPT)
    assert "Ctrl-C in " + name in seen
    assert "Python Exception" not in seen


# Is libcstrace.so in it; what is loaded; where can it end?
BEGIN = [("parse_and_eval", "find"), ("objfiles", "tell_debug_files"),
         ("decode_line", "watch_ends")]
# The program's own hooks are known by breakpoints; then names are asked.
STATIC = [("parse_and_eval", "is_static_with_hooks"),
          ("objfiles", "tell_debug_files"), ("parse_and_eval", "breakpoints"),
          ("objfiles", "breakpoints"), ("block_for_pc", "answer_all"),
          ("find_pc_line", "answer_all")]


@pytest.mark.parametrize("name, caller", BEGIN)
def test_while_the_recording_begins(tmp_path, name, caller):
    with Terminal(tmp_path, build("spin.c")) as t:
        t.ask("set cstrace live off")
        t.ask("cstrace start")
        stop_in(t, name, caller)
        t.ask("break tick")
        t.ask("continue")
        called = rows(t.ask("cstrace show -depth 2"))
        assert [row.text.split("  ")[0] for row in called] == ["main", "spin"]


@pytest.mark.parametrize("name, caller", STATIC)
def test_in_a_static_program(tmp_path, name, caller):
    with Terminal(tmp_path, build("spin.c", "-static")) as t:
        t.ask("set cstrace live off")
        t.ask("cstrace start")
        stop_in(t, name, caller)
        t.ask("break poll")
        t.ask("continue")
        called = rows(t.ask("cstrace show -last 3"))
        assert [row.text.split("  ")[0] for row in called][-3:] \
            == ["tick", "tick", "tick"]
