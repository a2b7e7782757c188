# SPDX-License-Identifier: MIT
"""`set cstrace step-report`: at a stop, what was called since the last one."""

import re

import pytest

from lib_build import build, line_of
from lib_gdb import setting_registers
from lib_mi import FrontEnd, said, stop_of
from lib_tree import own_sites, rows

ON = ("set cstrace live off", "cstrace start")
CALLS = "break visits.c:%d" % line_of("visits.c", "visit(i);")


def told(run):
    return [line for line in run.said() if "since the last stop" in line]


def test_next_tells_what_the_line_has_called(gdb):
    run = gdb(build("visits.c"), *ON, "break visit", "run", "delete",
              "next", "next", "finish", "next")
    assert told(run)[0] == "1 call since the last stop"
    report = run.out.index("since the last stop")
    assert re.match(r" +\S+ +\S+ [nu]s  1\.3  +leaf  visits\.c:23\n"
                    r"25\s+sink \+= twice;",
                    run.out[run.out.index("\n", report) + 1:])
    # Then nothing was called by the next line, nor by the one after.
    assert run.out.count("leaf  visits.c:23") == 1


def test_calls_are_folded_and_stand_before_the_location(gdb):
    run = gdb(build("visits.c"), *ON, CALLS, "run", "delete",
              "advance down", "until visit", "continue")
    assert told(run) == ["11 calls since the last stop",
                         "5 calls since the last stop"]
    first = run.out.partition("cstrace: 5 calls")[0]
    found = [re.fullmatch(r"(visit|leaf)(?:  x(\d))?  visits.c:\d+",
                          own_sites(r.text)) for r in rows(first)]
    counts = {name: [int(f[2] or 1) for f in found if f and f[1] == name]
              for name in ("visit", "leaf")}
    # One that was much slower than the others has a row of its own.
    assert all(sorted(n) in ([5], [1, 4]) for n in counts.values()), counts
    assert re.search(r"open +\S+ +down .*\ndown \(n=3\) at", run.out)


def test_no_more_rows_than_fit(gdb):
    run = gdb(build("visits.c"), *ON, "set cstrace step-report 2", "break main",
              "run", "advance %d" % line_of("visits.c", '"naps"'), "kill")
    assert told(run) == ["16 calls since the last stop; 1 level, `cstrace show "
                         "-from 1.2` shows all"]
    assert [own_sites(r.text) for r in rows(run.out)] == [
        "visit  x5  visits.c:101", "down  visits.c:102"]


def test_the_first_rows_where_one_level_is_too_much(gdb):
    run = gdb(build("visits.c"), *ON, "set cstrace step-report 1",
              "break main", "run", "advance puts", "advance printf", "kill",
              args=("naps",))
    assert re.search(r"calls since the last stop; the first 1 row, `cstrace "
                     r"show -from 1.2` shows them", run.out)


def test_only_the_selected_threads_calls(gdb):
    run = gdb(build("visits.c"), *ON, "break visits.c:%d"
              % line_of("visits.c", "return NULL;"), "run", "continue",
              "kill", args=("threads",))
    assert told(run) == ["21 calls since the last stop"]
    assert re.search(r" 3\.1 +worker ", run.out)


@pytest.mark.parametrize("value", ["auto", "off"])
def test_quiet_where_live_rows_have_told_it_or_it_is_off(gdb, value):
    live = "on" if value == "auto" else "off"
    run = gdb(build("visits.c"), "set cstrace live " + live, "cstrace start",
              "set cstrace step-report " + value, CALLS, "run", "next",
              "continue", "kill")
    assert not told(run)


def test_live_rows_in_a_file_have_not_told_it(gdb, tmp_path):
    run = gdb(build("visits.c"), "set cstrace output %s" % (tmp_path / "rows"),
              "cstrace start", CALLS, "run", "next", "kill")
    assert told(run) == ["2 calls since the last stop"]


def test_calls_made_by_hand_are_not_told(gdb):
    run = gdb(build("visits.c"), *ON, CALLS, "run", "delete",
              "print visit(3)", "next", "next", "kill")
    assert told(run) == ["2 calls since the last stop"]


def test_a_condition_that_calls_does_not_hide_what_came_before(gdb):
    run = gdb(build("visits.c"), *ON, CALLS, "run", "delete",
              "break down if leaf(0) == 0", "continue", "kill",
              **setting_registers())
    assert len(told(run)) == 1
    # One that the machine held up is a row by itself.
    visits = re.findall(r"[nu]s\*? +1\.\d+ +visit(?:  x(\d))?  ", run.out)
    assert sum(int(n or 1) for n in visits) == 5


def test_only_counted_where_they_are_very_many(gdb):
    run = gdb(build("visits.c"), *ON, "break main", "run",
              "python import gdbext.session.step_report as s",
              "python s._MOST_CALLS = 3", "advance down", "kill")
    assert told(run) == ["11 calls since the last stop; `cstrace show -from "
                         "1.2` shows them"]


@pytest.mark.parametrize("value", ["many", "0", "-3", "1001", "1 2", '""'])
def test_a_wrong_value_changes_nothing(gdb, value):
    run = gdb(None, "set cstrace step-report 7",
              "set cstrace step-report " + value, "show cstrace step-report")
    assert re.search(r"step-report: .* is neither auto nor off nor a number of "
                     r"rows, 1 to 1000$", run.out, re.M)
    assert "step-report: 7" in run.out


def test_calls_that_are_kept_for_their_time_are_not_told(gdb):
    """Their numbers are not counts."""
    program = build("rarely.c", "-pthread", is_traced=False)
    run = gdb(program, "set cstrace live off", "cstrace start -keep-time 1us",
              "break seldom", "run", *["continue"] * 3)
    assert told(run) == [] and "no call" not in run.out


def test_front_ends_hear_nothing_of_it(tmp_path):
    with FrontEnd(tmp_path, build("visits.c"), is_async=True) as f:
        f.start("visit")
        f.until_stop()
        f.console("set cstrace step-report 9")
        last = f.go("-exec-finish")
        assert "function-finished" in stop_of(last)
        assert "since the last stop" not in said(last)
