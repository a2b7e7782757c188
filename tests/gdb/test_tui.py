# SPDX-License-Identifier: MIT
"""`layout cstrace`: the tree beside the source, in gdb's TUI."""

import re
import shutil

import pytest

from lib_build import build
from lib_gdb import run_gdb
from lib_tmux import Screen

CALC, BEAT = "../../examples/calc.c", "../../examples/beat.c"

_ROW = re.compile(r"\+? *(?:[\d.]+ \w+\*?|open) +[\d.]+ +(\w+)")
needs_tmux = pytest.mark.skipif(not shutil.which("tmux"), reason="no tmux")


def names(screen):
    return [m[1] for m in (_ROW.match(r)
                           for r in screen.tree()) if m]


def stopped(screen):
    """In the second call of number() of 2*(3+4), 21 calls from the begin."""
    screen.ask("set cstrace fold off")
    screen.ask("layout cstrace")
    screen.ask("cstrace start")
    screen.ask("break number if $_cstrace_calls(\"number\") == 2")
    screen.send("run")
    screen.wait("cstrace: 21 calls")
    screen.ask("echo")


def calc(folder, **how):
    return Screen(folder, build(CALC), args=["2*(3+4)"], **how)


@needs_tmux
def test_the_tree_stands_beside_the_source_and_not_below(tmp_path):
    with calc(tmp_path, rows=40) as s:
        stopped(s)
        assert names(s)[-3:] == ["accept", "accept", "number"]
        assert any("strtod" in line for line in s.source())
        assert "1.21" in s.selected()
        console = s.seen().rpartition("In: number")[2]
        assert "calc.c:64" not in console and "Breakpoint 1, " in console


@needs_tmux
def test_next_shows_the_calls_that_it_made(tmp_path):
    with calc(tmp_path, rows=40) as s:
        stopped(s)
        s.send("next 4")  # over the call of skip_blanks()
        s.wait_until(lambda s: names(s)[-1] == "skip_blanks", "its row")
        s.ask("echo")


@needs_tmux
def test_it_follows_while_the_program_runs(tmp_path):
    with Screen(tmp_path, build(BEAT)) as s:
        s.ask("layout cstrace")
        s.ask("cstrace start")
        s.send("run")
        s.wait_until(lambda s: "measure" in names(s), "the first calls")
        before = s.seen()
        s.wait_until(lambda s: s.seen() != before, "more of them")
        assert "following" in s.seen()
        s.keys("C-c")
        s.wait("SIGINT")
        s.ask("echo")


@needs_tmux
def test_rows_come_to_the_console_as_well_where_that_is_asked_for(tmp_path):
    with Screen(tmp_path, build(BEAT)) as s:
        s.ask("layout cstrace")
        s.ask("set cstrace live on")
        s.ask("cstrace start")
        s.send("run")
        s.wait_until(lambda s: "measure" in s.seen().rpartition("(gdb)")[2],
                     "rows in the console")
        s.keys("C-c")
        s.wait("SIGINT")
        s.ask("echo")


@needs_tmux
def test_keys_scroll_and_fold(tmp_path):
    with calc(tmp_path) as s:
        stopped(s)
        s.ask("focus cstrace")
        s.keys("Up")
        s.wait_until(lambda s: "1.20" in s.selected(), "the row above")
        s.keys("PPage", "PPage")
        s.wait_until(lambda s: names(s)[0] == "main", "the first row")
        s.keys("NPage", "NPage", "NPage", "Down")
        s.wait("following")
        s.ask("cstrace window at 1.16")
        assert "1.16" in s.selected() and names(s)[-1] == "number"
        s.keys("Left")
        s.wait_until(lambda s: names(s)[-1] == "sum", "sum, folded")
        assert s.selected().startswith("+")
        s.keys("Left")
        s.wait_until(lambda s: "1.12" in s.selected(), "its caller")
        s.ask("cstrace window at 1.16")
        s.keys("Right")
        s.wait_until(lambda s: names(s)[-1] == "number", "sum, open")


@needs_tmux
def test_commands_move_and_are_repeated_by_an_empty_line(tmp_path):
    with calc(tmp_path) as s:
        stopped(s)
        s.ask("cstrace window top")
        assert "1.1 " in s.selected()
        s.send("cstrace window down 2")
        s.wait_until(lambda s: "1.3 " in s.selected(), "two below")
        s.send("")
        s.wait_until(lambda s: "1.5 " in s.selected(), "two more")
        s.ask("cstrace window up")
        assert "1.4 " in s.selected()
        s.ask("cstrace window end")
        s.wait("following")


@needs_tmux
def test_find_goes_from_call_to_call(tmp_path):
    with calc(tmp_path) as s:
        stopped(s)
        s.ask("cstrace window find product")
        assert "1.17 " in s.selected()
        s.ask("cstrace window previous")
        assert "1.4 " in s.selected()
        s.ask("cstrace window previous")
        s.wait("no call of product before this one")
        s.ask("cstrace window next")
        assert "1.17 " in s.selected()
        s.ask("cstrace window next")
        s.wait("no call of product after this one")


@needs_tmux
def test_source_shows_where_the_call_was_made(tmp_path):
    with calc(tmp_path) as s:
        stopped(s)
        s.ask("cstrace window at 1.5")
        s.send("cstrace window source")
        s.wait("calc.c:60")
        s.wait_until(lambda s: any("double value = factor()" in line
                                   for line in s.source()), "line 60")
        s.ask("focus cstrace")
        s.ask("cstrace window source 1.2")
        s.wait("1.2 skip_blanks was called at")


@needs_tmux
def test_goto_runs_to_the_selected_call(tmp_path):
    with calc(tmp_path) as s:
        stopped(s)
        s.ask("cstrace window at 1.12")
        s.send("cstrace window goto")
        s.wait("In: factor")
        s.ask("echo")


@needs_tmux
def test_clicks_select_and_show_the_source(tmp_path):
    with calc(tmp_path) as s:
        stopped(s)
        row = next(r for r in s.tree() if " factor" in r)
        s.click(row)
        s.wait_until(lambda s: "factor" in s.selected(), "a row selected")
        s.click(row)
        s.wait("factor was called at")
        s.ask("echo")


@needs_tmux
def test_another_size_shows_as_many_rows_and_columns(tmp_path):
    with calc(tmp_path, rows=50) as s:
        stopped(s)
        assert "main" in names(s)
        s.resize(90, 24)
        s.ask("echo")
        s.wait_until(lambda s: s.tree() and "1.21" in s.tree()[-1]
                     and "main" not in str(s.tree()), "the smaller window")
        assert max(map(len, s.seen().splitlines())) <= 90
        s.resize(150, 50)
        s.ask("echo")
        s.wait_until(lambda s: "main" in names(s), "the larger window")


@needs_tmux
def test_rows_are_live_again_without_the_window(tmp_path):
    with calc(tmp_path) as s:
        stopped(s)
        s.ask("tui disable")
        s.send("continue")
        s.wait("exited normally")
        assert re.search(r"^ *[\d.]+ .* accept  calc.c", s.seen(), re.M)
        s.send("cstrace window up")
        s.wait("`layout cstrace`")


@pytest.mark.parametrize("words, told", [
    ("", "which way?  There is up, down"),
    ("sideways", "which way?  There is up, down"),
    ("up", "the window is not there: `layout cstrace` shows it"),
    ("top 3", '"3" is too much'),
])
def test_bad_input_is_told(gdb, words, told):
    run = gdb(None, "cstrace window " + words)
    assert told in run.out


@needs_tmux
@pytest.mark.parametrize("words, told", [
    ("find", "find: which function?"),
    ("next", "find REGEX comes first"),
    ("find nothing", "no call of nothing"),
    ("at", "at: which call?"),
    ("at 1.999", "1.999"),
    ("up x", '"x"'),
])
def test_bad_input_is_told_in_the_window(tmp_path, words, told):
    with calc(tmp_path) as s:
        stopped(s)
        s.send("cstrace window " + words)
        s.wait(told)
        assert "1.21" in s.selected()


def test_completion(gdb):
    run = gdb(build(CALC), "complete cstrace window s",
              "complete cstrace window find produ")
    assert "cstrace window source" in run.out
    assert "cstrace window find product" in run.out


def test_a_front_end_sees_nothing_of_it(tmp_path):
    run = run_gdb(tmp_path, build(CALC), "interpreter-exec mi \"-gdb-version\"",
                  "cstrace start", "run", args=["1"])
    assert run.status == 0 and "layout" not in run.out
