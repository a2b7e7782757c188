# SPDX-License-Identifier: MIT
"""`cstrace on F do ...`: what a call does when it happens, without a stop."""

import re

import pytest

from lib_build import FOUR, build
from lib_tree import own_sites, rows
from test_commands import refusal

QUIET = "set cstrace live off"


def names(text):
    return [own_sites(r.text).split("  ")[0] for r in rows(text)]


def shown(gdb, *triggers, args=(), variant=None):
    more = {"variant": variant} if variant else {}
    run = gdb(build("visits.c", **more), QUIET,
              *["cstrace on " + t for t in triggers], "cstrace start", "run",
              "set cstrace fold off", "cstrace show", args=args)
    assert "exited normally" in run.out
    return run


@pytest.mark.parametrize("variant", FOUR, ids=str)
def test_only_from_here_to_there(gdb, variant):
    run = shown(gdb, "visit -count 4 do start", "down -count 2 do stop",
                variant=variant)
    assert names(run.out) == ["main", "visit", "leaf", "visit", "leaf", "down",
                              "down"]
    assert re.search(r" 1\.8 +visit ", run.out)


def test_only_up_to_there(gdb):
    run = shown(gdb, "visit -count 2 do stop")
    assert names(run.out) == ["main", "visit", "leaf", "visit"]


def test_it_starts_again(gdb):
    run = shown(gdb, "visit do start", "leaf do stop")
    assert names(run.out) == ["main"] + ["visit", "leaf"] * 5 + [
        "down"] * 4 + ["visit", "leaf"]


def test_live_rows_begin_and_end_there(gdb):
    run = gdb(build("visits.c"), "cstrace on visit -count 4 do start",
              "cstrace on down -count 2 do stop", "cstrace start", "run")
    assert [n for n in names(run.out) if not n.startswith("<-")] == [
        "leaf", "visit", "leaf", "down", "down"]
    assert "trigger 1: from visit 1.8 < main 1.1 on" in run.said()


def test_each_run_waits_for_its_start(gdb):
    run = gdb(build("visits.c"), QUIET, "cstrace on down -count 3 do start",
              "cstrace start", "run", "run", "cstrace show")
    assert names(run.out) == ["main"] + ["down"] * 4 + ["visit", "leaf"]


def test_without_its_trigger_it_goes_on_at_once(gdb):
    run = gdb(build("visits.c"), QUIET, "cstrace on nap do start",
              "cstrace start", "break down", "run", "delete", "cstrace",
              "delete cstrace-on 1", "continue", "cstrace show")
    assert "calls are kept again where a trigger starts it" in run.out
    assert ("no trigger would start it: calls are kept from here on"
            in run.said())
    assert names(run.out) == ["main"] + ["down"] * 4 + ["visit", "leaf"]


def test_a_start_in_the_middle_of_a_trace(gdb):
    run = gdb(build("visits.c"), QUIET, "cstrace start", "break visit", "run",
              "delete", "cstrace on down -count 4 do start", "continue",
              "cstrace show")
    assert names(run.out) == ["main", "visit"] + ["down"] * 4 + ["visit",
                                                                 "leaf"]


@pytest.mark.parametrize("variant", FOUR[::3], ids=str)
def test_a_backtrace_stands_beside_the_call(gdb, variant):
    run = shown(gdb, "leaf -under down do backtrace", variant=variant)
    assert re.search(
        r"leaf  visits\.c:23\n.*backtrace: leaf 1\.17 < visit 1\.16 < down 1\.15 < "
        r"down 1\.14 < down 1\.13 < down 1\.12 < main 1\.1$", run.out, re.M)
    assert run.out.count("backtrace: ") == 1


def test_snapshots_have_what_came_before(gdb, tmp_path):
    run = shown(gdb, "visit -count 3 do snapshot %s/a.txt" % tmp_path,
                "down do snapshot %s/a.txt" % tmp_path)
    assert [p.name for p in sorted(tmp_path.glob("a*.txt"))] == [
        "a-2.txt", "a-3.txt", "a-4.txt", "a-5.txt", "a.txt"]
    assert names((tmp_path / "a.txt").read_text()) == [
        "main", "visit", "leaf", "visit", "leaf", "visit"]
    assert "trigger 1: 6 calls saved to %s/a.txt" % tmp_path in run.said()


def colored(text):
    """The rows that have a colour of their own, without what is behind."""
    return re.findall(r"\x1b\[1;3(\d)m([^\x1b]+)\x1b", text)


@pytest.mark.parametrize("variant", FOUR[::3], ids=str)
def test_a_color_for_the_row_of_the_call(gdb, tmp_path, variant):
    run = gdb(build("visits.c", variant=variant), "set cstrace color on",
              "cstrace on visit -count 3 do color red",
              "cstrace on down -returns '> 0' -count 2 do color cyan",
              "cstrace start", "run", "echo shown\\n", "cstrace show",
              "set cstrace fold off", "cstrace show",
              "cstrace save %s/t.txt" % tmp_path)
    live, shown = run.out.split("shown\n")
    assert [c for c, _ in colored(shown)] in (["1", "6"] * 2, ["6", "1"] * 2)
    assert {(c, re.sub(r"^<- |\W.*", "", t)) for c, t in colored(live)} == {
        ("1", "visit"), ("6", "down")}
    assert "\x1b" not in (tmp_path / "t.txt").read_text()


def test_a_color_makes_no_other_row(gdb):
    run = gdb(build("visits.c"), QUIET,
              "cstrace on leaf -count 2 do color red", "cstrace start", "run",
              "cstrace show")
    assert "\x1b" not in run.out


def test_a_snapshot_that_cannot_be_saved_disables_it(gdb):
    run = shown(gdb, "visit do snapshot /nowhere/a.txt")
    assert len([s for s in run.said() if s.startswith(
        "trigger 1 is disabled: cannot ")]) == 1


def test_a_call_that_is_jumped_out_of(gdb):
    run = shown(gdb, "risky -unwound do backtrace", args=("jumps",))
    assert re.search(r"backtrace: risky 1\.\d+ < main 1\.1$", run.out, re.M)


def test_one_that_costs_too_much_is_disabled(gdb):
    run = gdb(build("visits.c"), QUIET, "set cstrace log-budget 1us",
              "cstrace on visit do backtrace", "cstrace start", "run",
              "info cstrace-on", "cstrace show", "enable cstrace-on 1",
              "info cstrace-on")
    assert re.search(r"^cstrace: trigger 1 is disabled: its 1 hit took .* "
                     r"\(`set cstrace log-budget`; `enable cstrace-on 1` goes "
                     r"on\)$", run.out, re.M)
    assert run.out.count("backtrace: ") == 1
    assert re.search(r"^1    n    visit: backtrace\n +done 1 time, \S+ \S+ "
                     r"each$", run.out, re.M)
    assert re.search(r"^1    y    visit: backtrace$", run.out, re.M)


def test_with_stops_and_other_triggers(gdb):
    run = gdb(build("visits.c"), QUIET, "cstrace on visit do backtrace",
              "cstrace stop-when visit -count 2", "cstrace start", "run",
              "info args", "disable cstrace-on 1", "continue",
              "info cstrace-on", "delete cstrace-on", "info cstrace-on")
    assert re.search(r"^n = 1$", run.out, re.M)
    assert re.search(r"^1    n    visit: backtrace\n +done 2 times", run.out,
                     re.M)
    assert any(s.startswith("no triggers: `cstrace on FUNCTION ")
               for s in run.said())


def test_goto_does_not_pull_them(gdb):
    run = gdb(build("visits.c"), QUIET, "cstrace start", "run",
              "cstrace on down do start", "cstrace goto 1.4", "info args",
              "kill")
    assert re.search(r"^n = 1$", run.out, re.M)
    assert "in 1.4 visit" in run.said()


@pytest.mark.parametrize("command, line", [
    ("cstrace on", "cstrace on: do what?  cstrace on FUNCTION [conditions] do "
     "start|stop|backtrace|snapshot|color"),
    ("cstrace on visit do", "cstrace on: do what?  cstrace on FUNCTION "
     "[conditions] do start|stop|backtrace|snapshot|color"),
    ("cstrace on do start", "cstrace on: at which function?  cstrace on "
     "FUNCTION [conditions] do start|stop|backtrace|snapshot|color"),
    ("cstrace on visit do dance", 'cstrace on: nothing is called "dance"; '
     "there is start, stop, backtrace, snapshot, color"),
    ("cstrace on visit do color", "cstrace on: color takes one of red, green, "
     "yellow, blue, magenta, cyan"),
    ("cstrace on visit -unwound do color red", "cstrace on: a call that is "
     "unwound gets no color: leave -unwound out"),
    ("cstrace on visit do start now", 'cstrace on: "now" is too much behind '
     "start"),
    ("cstrace on visit -depth x do start", '-depth wants a number, not "x"'),
    ("cstrace on visit -sometimes do start", "cstrace on: no option "
     "-sometimes; there is -under, -depth, -longer, -count, -unwound, "
     "-where, -returns"),
    ("delete cstrace-on 7", "delete cstrace-on: no trigger 7; `info "
     "cstrace-on` lists them"),
])
def test_a_mistake_is_one_line(gdb, command, line):
    assert refusal(gdb, command).replace("cstrace: ", "", 1) in (
        line, "cstrace: " + line)
