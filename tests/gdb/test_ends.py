# SPDX-License-Identifier: MIT
"""How a program ends: the tree is whole, and gdb says what it always says,
after our last row."""

import re

import pytest

from lib_build import FOUR, build
from lib_tree import live_tree, outcome, own_sites, rows, tree

SAVE = ("cstrace save t.txt", "cstrace save t.jsonl")

# How far it comes before it ends inside of end().
CUT = """
    main{0}
      middle  ends.c:50{0}
        leaf  ends.c:43{1}
        end  ends.c:44{0}
          leaf  ends.c:23{1}
    """
WHOLE = """
    main
      middle  ends.c:50
        leaf  ends.c:43
        end  ends.c:44
          leaf  ends.c:23
          leaf  ends.c:38
        leaf  ends.c:45
    """

SAYS = {
    "return": "[Inferior 1 (process N) exited normally]",
    "exit": "[Inferior 1 (process N) exited with code 03]",
    "_exit": "[Inferior 1 (process N) exited with code 04]",
    "quick_exit": "[Inferior 1 (process N) exited with code 05]",
    "abort": "Program received signal SIGABRT, Aborted.",
    "segv": "Program received signal SIGSEGV, Segmentation fault.",
    "kill": "Program terminated with signal SIGKILL, Killed.",
}


def expected(how):
    if how == "return":
        return tree(WHOLE)
    return tree(CUT.format("  (open)", ""))


def position(out, message):
    before, after = message.split("N") if "N)" in message else (message, "")
    return out.index(before)


@pytest.mark.parametrize("variant", FOUR, ids=str)
@pytest.mark.parametrize("how", SAYS)
def test_the_tree_is_whole_however_it_ends(gdb, tmp_path, how, variant):
    run = gdb(build("ends.c", variant=variant), "cstrace start", "run",
              "kill", *SAVE, args=[how])
    assert outcome(tmp_path) == expected(how)
    assert own_sites(live_tree(run.out)) == expected(how)


@pytest.mark.parametrize("how", ["return", "exit", "_exit", "quick_exit"])
def test_the_last_row_stands_before_gdbs_own_words(gdb, how):
    run = gdb(build("ends.c"), "cstrace start", "run", args=[how])
    last = [row for row in rows(run.out)][-1]
    assert run.out.rindex(last.text) < position(run.out, SAYS[how])


@pytest.mark.parametrize("how", SAYS)
def test_gdb_says_what_it_says_without_us(gdb, how):
    with_us = gdb(build("ends.c"), "set cstrace live off", "cstrace start",
                  "run", "info program", "p $_exitcode", args=[how])
    without = gdb(build("ends.c"), "run", "info program", "p $_exitcode",
                  args=[how], loader=None)

    def told(run):
        return [re.sub("0x[0-9a-f]+", "ADDRESS", line)
                for line in run.lines()
                if not line.startswith(("cstrace: ", "\tUsing the running"))
                and "process " not in line and "Thread " not in line]

    assert told(with_us) == told(without)
    assert position(with_us.out, SAYS[how]) > 0


@pytest.mark.parametrize("how, status", [("return", 0), ("exit", 3),
                                         ("_exit", 4)])
def test_the_exit_code_is_the_programs(gdb, how, status):
    run = gdb(build("ends.c"), "cstrace start", "run",
              "python gdb.execute('quit %d' % gdb.parse_and_eval("
              "'$_exitcode'))", args=[how])
    assert run.status == status


def test_what_pthread_exit_skips_has_not_returned(gdb, tmp_path):
    run = gdb(build("ends.c"), "cstrace start", "run", *SAVE,
              args=["thread_exit"])
    assert "exited normally" in run.out
    lines = outcome(tmp_path).replace("(open)", "NOT").replace(
        "(unwound)", "NOT")
    assert lines == tree(CUT.format("  NOT", ""))


def test_kill_keeps_what_was_recorded(gdb, tmp_path):
    gdb(build("ends.c"), "break end", "cstrace start", "run", "kill", *SAVE)
    assert outcome(tmp_path) == tree("""
        main  (open)
          middle  ends.c:50  (open)
            leaf  ends.c:43
            end  ends.c:44  (open)
        """)


def test_the_end_of_gdb_saves_too(gdb, tmp_path):
    """-to: the program stands at a breakpoint when gdb ends."""
    gdb(build("ends.c"), "break end", "cstrace start -to t.txt", "run")
    assert [row.text.split("  ")[0] for row in rows(
        (tmp_path / "t.txt").read_text())] == ["main", "middle", "leaf", "end"]
