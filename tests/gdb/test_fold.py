# SPDX-License-Identifier: MIT
"""Calls that repeat are one row: live, in show, and without gdb."""

import re

import pytest

from lib_build import build
from lib_cstrace import cstrace
from lib_term import PROMPT, Terminal
from lib_tree import rows

FOLDED = "# Equal calls are one row (x3), each below and right of its caller\n"
BACK = "\033[1A\033[2K"  # one line up, which is emptied
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
              "cstrace show -unfold 1.9999999",
              "echo unfolded\n", "cstrace show -unfold 1.2",
              args=flood(tmp_path))
    shown, unfolded = run.out.split("unfolded\n")
    assert "no call 1.9999999 in this trace\n" in shown
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


# ---- what is one row ------------------------------------------------------------

@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With what the shop and loops.c call."""
    folder = tmp_path_factory.mktemp("fold")
    for name in ("shop.cc", "loops.c"):
        done = cstrace(folder, "record", "-o", name + ".cst", "--", build(name))
        assert done.status in (0, 1), done
    return folder


def show(folder, name, *words):
    return cstrace(folder, "show", *words, name + ".cst").out


def name_of(row):
    return re.sub(r"  (x\d|\(loop of|\S+:\d).*", "", row.text)


def counts(text):
    n = {}
    for row in rows(text):
        times = re.search(r"  x(\d+)", row.text)
        n[name_of(row)] = n.get(name_of(row), 0) + int(times[1] if times else 1)
    return n


def places(text):
    """For each function the lines that it is called from."""
    found = {}
    for row in rows(text):
        at = re.search(r"  (\S+):(\d+)(?:-(\d+))?(?:  \(|$)", row.text)
        if at:
            lines = range(int(at[2]), int(at[3] or at[2]) + 1)
            found.setdefault(name_of(row), set()).update(
                (at[1], line) for line in lines)
    return found


@pytest.mark.parametrize("name", ["shop.cc", "loops.c"])
def test_folded_rows_stand_for_all_calls_and_name_their_lines(folder, name):
    """But those of a recursion, whose row has the first call's line."""
    whole, text = show(folder, name), show(folder, name, "--fold")
    assert text.startswith(FOLDED) and len(rows(text)) < len(rows(whole))
    assert counts(text) == counts(whole)
    named = places(text)
    for function, lines in places(whole).items():
        if not re.search(r"(?m)  %s  x\d+, \d+ deep" % re.escape(function), text):
            assert lines <= named[function]


def test_functions_that_call_each_other_are_a_row_each(folder):
    text = show(folder, "loops.c", "--fold")
    assert re.search(r"  is_even  x5, 5 deep  loops.c:\d+\n.* "
                     r"    is_odd  x5, 5 deep  loops.c:\d+\n", text)
    id = next(row.id for row in rows(text) if row.text.startswith("is_even"))
    unfolded = rows(show(folder, "loops.c", "--unfold", id))
    assert [row.text.split()[0] for row in unfolded] == [
                           "is_even", "is_odd"] * 5
    assert [row.depth for row in unfolded] == list(range(1, 11))


def test_calls_from_many_lines_are_one_row(folder):
    text = show(folder, "loops.c", "--fold")
    # a machine that is busy may make one of them slow
    row = re.search(r" (\S+) +put  x[78]  loops.c:\d+-\d+\n", text)
    assert row, text
    unfolded = rows(show(folder, "loops.c", "--unfold", row[1]))
    lines = [re.search(r":(\d+)$", r.text)[1] for r in unfolded]
    assert len(set(lines)) == len(lines) >= 7


def test_a_loop_that_ends_amid_a_round_is_one(folder):
    text = show(folder, "loops.c", "--fold")
    assert re.search(r" take  x\d{3}  \(loop of 2\)  .*\n.* handle  x\d{3}  ",
                     text)
    assert counts(text)["take"] == 201 and counts(text)["handle"] == 200
    # slow ones stand behind it, and do not divide it
    assert len(rows(text)) < 30
    assert text.count(" (loop of ") == 1


def test_a_folded_tree_is_no_golden_tree(folder):
    (folder / "folded.txt").write_text(show(folder, "loops.c", "--fold"))
    done = cstrace(folder, "expect", "loops.c.cst", "folded.txt")
    assert done.status == 2 or done.status == 1
    assert "folded.txt:1: its rows are folded: save the tree without --fold" \
        in done.err


def test_a_terminal_is_folded(tmp_path):
    """Live and in show, without being asked; the counts are those of all
    calls."""
    with Terminal(tmp_path, build("flood.c"), args=flood(tmp_path),
                  commands=("set cstrace fold auto",)) as t:
        t.ask("cstrace start")
        seen = t.ask("run")
        assert len(rows(seen)) < 200 and FOLDED.strip() in seen
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


def counted(t, function, n):
    """What is seen until its count has been printed n times more."""
    return "".join(t.wait(r"\d+ +%s  x\d+  [^\n]*\n" % function)
                   for _ in range(n))


def test_an_idle_loop_is_one_line_that_counts_up(tmp_path):
    """A count that has grown is written over the last one, while nobody else
    writes."""
    with Terminal(tmp_path, build("chatty.c"), args=["quiet"],
                  commands=("set cstrace fold auto",
                            "set confirm off")) as t:
        t.ask("cstrace start")
        t.send("run\n")
        # The loop's first row, then its count on a line of its own, again.
        seen = counted(t, "work", 12)
        assert BACK in seen
        # It comes as soon as it has grown: a machine that is busy shows it
        # later, but not each time.
        starts = [float(s) for s in
                  re.findall(r"(\d+\.\d+) +\S+ \S+ +\S+ +work  x", seen)]
        assert len(starts) == 12
        assert min(b - a for a, b in zip(starts, starts[1:])) < 0.9
        t.interrupt()
        t.wait("SIGINT", PROMPT)
        t.ask("kill")


def test_what_the_program_writes_is_not_written_over(tmp_path):
    with Terminal(tmp_path, build("chatty.c"),
                  commands=("set cstrace fold auto",
                            "set confirm off")) as t:
        t.ask("cstrace start")
        t.send("run\n")
        seen = counted(t, "work", 4)
        assert BACK not in seen
        rounds = [int(n) for n in re.findall(r"round (\d+)\n", seen)]
        assert rounds == list(range(len(rounds))) and rounds
        t.interrupt()
        t.wait("SIGINT", PROMPT)
        t.ask("kill")
