# SPDX-License-Identifier: MIT
"""Calls that repeat are one row: live, in show, and without gdb."""

import re

import pytest

from lib_build import build
from lib_cstrace import cstrace
from lib_term import PROMPT, Terminal
from lib_tree import rows

QUIET = "set cstrace live off"
N_STEPS = 600
N_CALLS = {"main": 1, "step": 600, "leaf": 600 + 400, "done": 1}


def folded(text):
    """How often each function is called, by the counts of its rows."""
    counts = {}
    for row in rows(text):
        if not row.is_close:
            name = row.text.split()[0]
            times = re.search(r"  x(\d+)", row.text)
            counts[name] = counts.get(name, 0) + int(times[1] if times else 1)
    return counts


def check_folded(text):
    """Few rows, that stand for all calls.  A machine that is busy makes some
    calls slow, which have rows of their own."""
    assert folded(text) == N_CALLS
    assert len(rows(text)) < 100
    assert re.search(r"  step  x\d{2,}", text)


def flood(tmp_path):
    return [str(tmp_path / "end"), str(N_STEPS)]


def test_show_folds_on_request_and_unfolds(gdb, tmp_path):
    run = gdb(build("flood.c"), QUIET, "cstrace start", "run",
              "set cstrace fold on", "cstrace show",
              "echo unfolded\n", "cstrace show -unfold 1.2",
              args=flood(tmp_path))
    shown, unfolded = run.out.split("unfolded\n")
    check_folded(shown)
    steps = [row for row in rows(unfolded) if row.text.startswith("step")]
    assert len(steps) > 10 and not any(" x" in row.text for row in steps)
    assert set(folded(unfolded)) == {"step", "leaf"}


def test_a_pipe_is_not_folded(gdb, tmp_path):
    run = gdb(build("flood.c"), "cstrace start", "run", "cstrace show",
              args=flood(tmp_path))
    assert folded(run.out)["step"] == 2 * N_STEPS
    assert len(rows(run.out)) == 2 * sum(N_CALLS.values())


def test_without_gdb(tmp_path):
    assert cstrace(tmp_path, "record", "-o", "t.cst", str(build("flood.c")),
                   *flood(tmp_path)).status == 0
    check_folded(cstrace(tmp_path, "show", "--fold", "t.cst").out)
    unfolded = cstrace(tmp_path, "show", "--unfold", "1.2", "t.cst").out
    assert set(folded(unfolded)) == {"step", "leaf"}
    assert "  step  x" not in unfolded
    wrong = cstrace(tmp_path, "show", "--unfold", "x", "t.cst")
    assert "'x' is not a call's ID" in wrong.err


def test_a_terminal_is_folded(tmp_path):
    """Live and in show, without being asked; the counts are those of all
    calls."""
    with Terminal(tmp_path, build("flood.c"), args=flood(tmp_path),
                  commands=("set cstrace fold auto",)) as t:
        t.ask("cstrace start")
        seen = t.ask("run")
        assert len(rows(seen)) < 200
        assert "exited normally" in seen
        check_folded(t.ask("cstrace show"))


def test_a_loop_on_the_terminal_counts_up(tmp_path):
    """A round that goes as the one before is no new row until the count is
    due, or at a stop; an open call is shown at a stop in any case."""
    with Terminal(tmp_path, build("waits.c"),
                  commands=("set cstrace fold auto",)) as t:
        t.ask("cstrace start")
        t.send("run\n")
        t.wait("open.*heard")
        for _ in range(3):
            t.send("more\n")
        t.wait(r"<- heard")
        for _ in range(50):  # until it waits for input, not between rounds
            t.interrupt()
            seen = t.wait("SIGINT", PROMPT)
            if re.search(r"open +1\.\d+ +heard", seen):
                break
            t.go_on()
        else:
            pytest.fail("an open call is not shown at a stop")
        t.go_on()
        t.send("q\n")
        seen = t.wait("exited normally", PROMPT)
        assert re.search(r"<- main", seen)
