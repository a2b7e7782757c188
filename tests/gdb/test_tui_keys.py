# SPDX-License-Identifier: MIT
"""The keys of `layout cstrace` that readline has otherwise."""

import pytest

from lib_build import build
from lib_tmux import Screen
from test_tui import CALC, calc, needs_tmux, stopped


def focused(screen):
    stopped(screen)
    screen.ask("focus cstrace")
    screen.ask("cstrace window at 1.17")


@needs_tmux
def test_enter_shows_the_source_of_one_call_after_the_other(tmp_path):
    with calc(tmp_path) as s:
        focused(s)
        s.keys("Up", "Enter")
        s.wait("1.16 sum was called at")
        s.wait_until(lambda s: any("value = sum()" in line
                                   for line in s.source()), "line 53")
        s.keys("Up", "Enter")
        s.wait("1.15 skip_blanks was called at")


@needs_tmux
def test_a_slash_asks_what_to_find_and_n_goes_on(tmp_path):
    with calc(tmp_path) as s:
        focused(s)
        s.keys("/")
        s.send("acc[e]pt")
        s.wait_until(lambda s: "1.20" in s.selected(), "the last one")
        s.keys("N", "N")
        s.wait_until(lambda s: "1.14" in s.selected(), "the second before")
        s.keys("n")
        s.wait_until(lambda s: "1.19" in s.selected(), "the one after that")


@needs_tmux
def test_g_goes_to_the_selected_call(tmp_path):
    with calc(tmp_path) as s:
        focused(s)
        s.ask("cstrace window at 1.12")
        s.keys("Up", "Down", "g")
        s.wait("In: factor")
        s.ask("echo")


@needs_tmux
def test_the_command_line_has_its_keys_where_it_is_used(tmp_path):
    with calc(tmp_path, rows=40) as s:
        focused(s)
        s.ask("cstrace window find number")
        s.ask("print /d 7 * 1000 + ng")  # n and g within a line
        s.wait('No symbol "ng"')
        s.keys("Up")
        s.send(" next 2")
        s.wait_until(lambda s: "L31" in s.seen(), "two lines on")
        s.send("next")  # a command went before it
        s.wait_until(lambda s: "L32" in s.seen(), "the next one")
        s.send("")  # and Enter does that again
        s.wait_until(lambda s: "L33" in s.seen(), "the one after that")


@needs_tmux
def test_lines_of_a_define_and_questions_are_no_keys_of_the_window(tmp_path):
    with calc(tmp_path, rows=40) as s:
        focused(s)
        s.ask("cstrace window find number")
        s.keys("Up")
        s.keys("/")
        s.keys("C-u")
        s.send(" define twice")
        s.wait("End with a line saying just")
        s.send("next 2")
        s.send("")
        s.send("end")
        s.ask("set confirm on")
        s.send("delete")
        s.wait("(y or n)")
        s.keys("Up")
        s.send("n")
        s.send("twice")
        s.wait_until(lambda s: "L31" in s.seen(), "two lines on")
        s.ask("info breakpoints")
        assert "in number at" in s.seen()
        s.ask("set confirm off")


@needs_tmux
def test_keys_are_typed_without_the_window(tmp_path):
    with calc(tmp_path) as s:
        focused(s)
        s.ask("cstrace window find number")
        s.ask("focus cmd")
        s.send("next")
        s.wait_until(lambda s: "L27" in s.seen(), "the next line")
        s.send("focus cstrace")
        s.keys("Enter")
        s.wait("was called at")
        s.ask("tui disable")
        s.send("next")
        s.wait("31")
        s.send("")
        s.wait("32")
        s.ask("layout src")
        s.send("next")
        s.wait_until(lambda s: "L33" in s.seen(), "the line after it")


@needs_tmux
@pytest.mark.parametrize("line", ["set editing-mode vi",
                                  '"g": backward-word'])
def test_a_users_inputrc_is_respected(tmp_path, line):
    (tmp_path / ".inputrc").write_text(line + "\n")
    with Screen(tmp_path, build(CALC), args=["2*(3+4)"]) as s:
        focused(s)
        s.keys("Up", "Enter")
        s.wait("1.16 sum was called at")


@needs_tmux
def test_single_key_mode_has_its_own_keys(tmp_path):
    with calc(tmp_path, rows=40) as s:
        focused(s)
        s.ask("cstrace window find number")
        s.keys("Up", "C-x", "s")
        s.wait("SingleKey")
        s.keys("n")
        s.wait_until(lambda s: "L27" in s.seen(), "the next line")
        s.keys("q")
        s.ask("echo")
