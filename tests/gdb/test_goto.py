# SPDX-License-Identifier: MIT
"""`cstrace goto ID`: the program runs again and stops inside that very call."""

import re

import pytest

from lib_build import FOUR, build
from lib_cstrace import cstrace
from lib_tree import read_jsonl

QUIET = ("set cstrace live off", "cstrace start", "run",
         "cstrace save t.jsonl")


def ids_of(tmp_path, function):
    return [c["id"] for c in read_jsonl(tmp_path / "t.jsonl")
            if c["function"] == function]


def visits(n):
    """The ID of visit(n): main calls visit, which calls leaf."""
    return "1.%d" % (2 + 2 * n)


@pytest.mark.parametrize("variant", FOUR, ids=str)
def test_it_stops_in_that_call(gdb, tmp_path, variant):
    run = gdb(build("visits.c", variant=variant), *QUIET,
              "cstrace goto " + visits(3), "bt", "info args", "finish")
    assert ids_of(tmp_path, "visit")[3] == visits(3)
    assert "in %s visit" % visits(3) in run.said()
    frames = re.findall(r"^#(\d+) .*?(\w+)(?: \[[\d.]+\])? \(",
                        run.out, re.M)
    assert frames == [("0", "visit"), ("0", "visit"), ("1", "main")]
    assert "Value returned is $1 = 9" in run.out
    if variant.level == "-O0":
        assert "n = 3" in run.lines()


@pytest.mark.parametrize("variant", FOUR, ids=str)
def test_exit_stops_at_its_end(gdb, variant):
    run = gdb(build("visits.c", variant=variant), *QUIET,
              "cstrace goto -exit " + visits(2), "cstrace show -last 1")
    assert "in 1.6 visit, at its end" in run.said()
    assert re.search(r"^#0 .*(visit|main) \(", run.out, re.M)
    # What came before is recorded; nothing behind it is.
    assert re.findall(r"\b1\.\d+\b", run.out)[-1] == "1.7"


def test_from_call_to_call_and_on_to_the_end(gdb):
    """The record stays that of the complete run."""
    run = gdb(build("visits.c"), *QUIET, "cstrace goto 1.8", "info args",
              "cstrace goto 1.4", "info args", "cstrace goto 1.17",
              "info args", "continue", "cstrace goto 1.10", "info args")
    assert re.findall(r"^n = (-?\d+)$", run.out, re.M) == [
        "3", "1", "100", "4"]
    assert "exited normally" in run.out


def test_breakpoints_are_passed_and_come_back(gdb):
    run = gdb(build("visits.c"), *QUIET, "break leaf", "cstrace goto 1.6",
              "continue", "info args")
    assert run.out.index("in 1.6 visit") < run.out.index("Breakpoint 1, leaf")
    assert "n = 2" in run.lines()


def test_catchpoints_are_passed_and_come_back(gdb):
    run = gdb(build("visits.c"), *QUIET, "catch syscall", "catch fork",
              "disable 2", "cstrace goto 1.6", "info breakpoints", "continue")
    there = run.out.index("in 1.6 visit")
    assert "Catchpoint 1 (call to syscall" not in run.out[:there]
    assert re.search(r"^1 +catchpoint +keep y ", run.out, re.M)
    assert re.search(r"^2 +catchpoint +keep n ", run.out, re.M)
    assert "Catchpoint 1 (call to syscall" in run.out[there:]


def test_rows_are_shown_from_there_on(gdb):
    run = gdb(build("visits.c"), "cstrace start", "run", "echo AGAIN\\n",
              "cstrace goto 1.8", "echo THERE\\n", "continue")
    on_the_way = run.out[run.out.index("AGAIN\n"):run.out.index("THERE\n")]
    assert "visit  " not in on_the_way
    assert "down" in run.out[run.out.index("THERE\n"):]


def test_a_crash_is_approached_again(gdb):
    run = gdb(build("visits.c"), "set cstrace live off", "cstrace start",
              "run", "cstrace goto 1.16", "info args", "bt", args=("crashes",))
    assert "Program received signal SIGABRT" in run.out
    assert "in 1.16 visit" in run.said()
    assert "n = 100" in run.lines()


def test_a_loaded_record_of_the_command(gdb, tmp_path):
    program = build("visits.c")
    assert cstrace(tmp_path, "record", "-o", "t.cst", "--",
                   program).status == 0
    run = gdb(program, "cstrace load t.cst", "set cstrace live off",
              "cstrace goto 1.8", "info args")
    assert "in 1.8 visit" in run.said()
    assert "n = 3" in run.lines()


@pytest.mark.parametrize("option, call", [("-keep-depth 2", "1.8"),
                                          ("-exclude leaf", "1.5")])
def test_calls_count_unless_they_were_excluded(gdb, option, call):
    """A call that was not kept has its number, too."""
    run = gdb(build("visits.c"), "set cstrace live off",
              "cstrace start " + option, "run", "cstrace goto " + call,
              "info args")
    assert "in %s visit" % call in run.said()
    assert "n = 3" in run.lines()


@pytest.mark.parametrize("where", ["leaf", "visit"])
def test_rows_of_logpoints_are_no_other_calls(gdb, where):
    """Set behind the record, so that its own rows have other IDs now."""
    run = gdb(build("visits.c"), *QUIET, "cstrace log %s, n {n}" % where,
              "cstrace goto 1.8", "info args")
    assert "in 1.8 visit; it is 1.11 in this run" in run.said()
    assert "n = 3" in run.lines()


@pytest.mark.parametrize("where, now", [("leaf", "1.11"), ("visit", "1.11"),
                                        ("down", "1.8")])
def test_nor_at_the_end_of_a_call(gdb, where, now):
    run = gdb(build("visits.c"), *QUIET, "cstrace log %s, n {n}" % where,
              "cstrace goto -exit 1.8", "info args", "cstrace show " + now)
    other = "" if now == "1.8" else "; it is %s in this run" % now
    assert "in 1.8 visit, at its end" + other in run.said()
    assert "n = 3" in run.lines()
    assert re.search(r" %s +visit" % now.replace(".", r"\."), run.out)


def test_rows_of_logpoints_in_the_record_alone(gdb):
    """They had IDs then, and are gone now."""
    run = gdb(build("visits.c"), "set cstrace live off", "cstrace start",
              "cstrace log leaf, n {n}", "run", "delete",
              "delete cstrace-log", "cstrace goto -exit 1.11", "info args",
              "cstrace goto 1.11", "info args")
    assert "in 1.11 visit, at its end; it is 1.8 in this run" in run.said()
    assert "in 1.11 visit; it is 1.8 in this run" in run.said()
    assert run.lines().count("n = 3") == 2


def test_each_thread_counts_its_own_calls(gdb, tmp_path):
    run = gdb(build("visits.c"), *QUIET, "cstrace goto 3.6", "info args",
              args=("threads",))
    assert ids_of(tmp_path, "visit").index("3.6") == 12
    assert [line for line in run.said() if line.startswith("in 3.6 visit")]
    assert "n = 2002" in run.lines()


@pytest.mark.parametrize("how, words", [
    ("differs", "not 1.9 as recorded, but 1.10 visit, the same path of calls: "
     "the runs differ after 2 equal calls: then 1.3 visit, now 1.3 leaf"),
    ("fewer", "the run ended before 1.9 visit: the runs differ after 2 equal "
     "calls: then 1.3 visit, now no more calls"),
])
def test_a_run_that_differs_is_told_of(gdb, how, words):
    run = gdb(build("visits.c"), "set cstrace live off", "cstrace start",
              "run", "cstrace goto 1.9", args=(how,))
    assert words in run.said()


@pytest.mark.parametrize("commands, line", [
    (["cstrace goto 1.8"], "nothing is recorded yet"),
    ([*QUIET, "cstrace goto"], "which call?  As in: cstrace goto 1.42"),
    ([*QUIET, "cstrace goto visit"], "'visit' is not a call's ID"),
    ([*QUIET, "cstrace goto 1.99999"], "no call 1.99999 in this trace"),
    ([*QUIET, "cstrace goto 7.1"], "no thread 7 in this trace"),
    ([*QUIET, "cstrace goto 1.8 x"], '"x" is too much'),
    ([*QUIET, "cstrace goto 1.8 -entry"], "no option -entry; there is -exit"),
    (["break down", "run", *QUIET[:2], "continue", "cstrace goto 1.1"],
     "the trace began in the middle of the program"),
])
def test_what_it_refuses(gdb, commands, line):
    run = gdb(build("visits.c"), *commands)
    assert line in run.out
    assert "cstrace: in 1." not in run.out


def test_calls_of_a_fork_child_are_refused(gdb):
    run = gdb(build("visits.c"), *QUIET, "cstrace goto 2:1.1",
              "cstrace goto 1.8", "info args", args=("forks",))
    assert "2:1.1 is a call of another process" in run.out
    # The child passes the place, too, and is not stopped by it.
    assert "in 1.8 visit" in run.said() and "n = 3" in run.lines()


def test_options_are_completed(gdb):
    run = gdb(None, "complete cstrace goto -", "complete cstrace got")
    assert "cstrace goto -exit" in run.lines()
    assert "cstrace goto" in run.lines()
