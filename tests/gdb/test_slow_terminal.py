# SPDX-License-Identifier: MIT
"""Live rows where they cannot be drawn as fast as they come."""

import re

import pytest

from lib_build import build
from lib_gdb import wait_for
from lib_term import PROMPT, Terminal
from lib_tree import rows

N_STEPS = 60000
N_CALLS = 2 + N_STEPS + N_STEPS // 3 + N_STEPS // 3 * 2 * 2
NOTE = r"# ([\d,]+) rows? not shown; `cstrace show -from (\S+)`\r?\n"
IN_FULL = "set cstrace fold off"


def left_out(text):
    return sum(int(n.replace(",", ""))
               for n, _id in re.findall(NOTE, text))


def drawn(text):
    """The rows of calls."""
    return [row for row in rows(re.sub(NOTE, "", text)) if not row.is_close]


def check_count(text):
    """Every call is drawn or counted, and so is every closing row: of calls
    that were open in one of the pictures."""
    n = len(rows(re.sub(NOTE, "", text))) + left_out(text)
    assert N_CALLS <= n < N_CALLS + 1000


def check_callers(text):
    """Each row stands below its caller's, which is drawn or repeated behind
    the last note.  Returns the rows that are repeated."""
    heading, around, again = "", [], []
    for line in text.splitlines():
        if re.match("#.*  CALL", line):
            heading = line + "\n"
        if re.match(NOTE, line + "\n"):
            around = []
        between = re.match("# ... ([0-9,]+) calls in between", line)
        if between:
            around += ["..."] * int(between[1].replace(",", ""))
        for row in rows(heading + re.sub("^#", " ", line)):
            assert row.depth <= len(around), "no caller above: " + line
            around[row.depth:] = [] if row.is_close else [row.text]
            again += [row] if line[0] == "#" else []
    return again


def test_nobody_reads_and_the_program_goes_on(tmp_path):
    """What is not shown is counted, and the last rows are there."""
    end = tmp_path / "end"
    with Terminal(tmp_path, build("flood.c"),
                  args=[str(end), str(N_STEPS)]) as t:
        t.ask("cstrace start")
        t.send("run\n")
        wait_for(end.exists, "the program to come to its end")
        seen = t.wait("exited normally", PROMPT)
        assert "%d calls in 1 thread" % N_CALLS in seen.replace(",", "")
        check_count(seen)
        check_callers(seen)
        assert left_out(seen) > N_CALLS // 2
        assert [row.text.split()[0] for row in drawn(seen)[-4:]] \
            == ["step", "leaf", "leaf", "done"]


@pytest.mark.parametrize("fold", ["off", "on"])
@pytest.mark.parametrize("depth", [1, 30])
def test_rows_behind_a_note_have_their_callers(tmp_path, fold, depth):
    with Terminal(tmp_path, build("nested.c"), args=[9000, depth],
                  commands=("set cstrace fold " + fold,)) as t:
        t.ask("cstrace start")
        seen = t.ask("run")
        assert left_out(seen) > 0
        again = [row.text.split()[0] for row in check_callers(seen)]
        assert again[:2] == ["main", "down"]
        assert again.count("work") == len(re.findall(NOTE, seen))
        assert "stopped by SIGABRT" in seen


@pytest.mark.parametrize("n_threads", [1, 3])
def test_hidden_calls_are_not_counted(tmp_path, n_threads):
    """Calls are passed in a flood, but it is known which would have rows."""
    n = 300000 // n_threads
    with Terminal(tmp_path, build("flood_std.cc"), args=[n, n_threads]) as t:
        t.ask("cstrace start")
        seen = t.ask("run")
        t.ask("cstrace save whole.txt")
        shown = len(rows(re.sub(NOTE, "", seen))) + left_out(seen)
        visible = len(rows((tmp_path / "whole.txt").read_text()))
        assert 0 <= shown - visible < 2000
        assert left_out(seen) > n // 2


def test_the_note_names_the_first_that_is_missing(tmp_path):
    end = tmp_path / "end"
    with Terminal(tmp_path, build("flood.c"),
                  args=[str(end), str(N_STEPS)]) as t:
        t.ask("cstrace start")
        seen = t.ask("run")
        first = re.search(NOTE, seen).group(2)
        before = seen[:re.search(NOTE, seen).start()]
        shown = [int(n) for n in re.findall(r"  1\.(\d+) ", before)]
        assert first == "1.%d" % (max(shown, default=0) + 1)
        assert "no call" not in t.ask("cstrace show -last 3 -from %s" % first)


def test_a_pipe_has_all_rows(gdb, tmp_path):
    run = gdb(build("flood.c"), IN_FULL, "cstrace start", "run",
              args=[str(tmp_path / "end"), str(N_STEPS)])
    assert len(drawn(run.out)) == N_CALLS
    assert not left_out(run.out)


def test_a_file_has_all_rows(tmp_path):
    out = tmp_path / "rows"
    with Terminal(tmp_path, build("flood.c"),
                  args=[str(tmp_path / "end"), str(N_STEPS)]) as t:
        t.ask("set cstrace output %s" % out)
        t.ask("cstrace start")
        t.ask("run")
    text = out.read_text()
    assert len(drawn(text)) == N_CALLS
    assert not left_out(text)
