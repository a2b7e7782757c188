# SPDX-License-Identifier: MIT
"""`cstrace stop-when`: conditions on calls that the hooks decide."""

import re
import subprocess

import pytest

from lib_build import FOUR, build

ON = ("set cstrace live off", "cstrace start")


def numbers(run):
    """The argument n at each stop."""
    return re.findall(r"^n = (-?\d+)$", run.out, re.M)


@pytest.mark.parametrize("options, mode, expected", [
    ("visit", "", ["0", "1", "2"]),
    ("leaf -count 4", "", ["3"]),
    ("visit -under down", "", ["100"]),
    ("visit -under main -count 2", "", ["1"]),
    ("down -depth 4", "", ["1", "0"]),
    ("down -depth 4 -count 2", "", ["0"]),
    ("nap -longer 200ms", "naps", ["3", "7"]),
    ("/^lea|^vis/ -count 4", "", ["1"]),
])
def test_it_stops_where_all_is_true(gdb, options, mode, expected):
    steps = ["info args", "continue"] * 3
    run = gdb(build("visits.c"), *ON, "cstrace stop-when " + options, "run",
              *steps, "kill", args=(mode,))
    assert numbers(run) == expected


@pytest.mark.parametrize("variant", FOUR, ids=str)
def test_the_stop_is_in_the_users_frame(gdb, variant):
    run = gdb(build("visits.c", variant=variant), *ON,
              "cstrace stop-when leaf -under down", "run", "bt 2", "finish")
    assert "stop 1: leaf, under down; hit 1" in run.said()
    assert re.findall(r"^#(\d+) .*?(\w+)(?: \[[\d.]+\])? \(",
                      run.out, re.M)[:3] == [
        ("0", "leaf"), ("0", "leaf"), ("1", "visit")]
    assert "Value returned is $1 = 200" in run.out


def test_a_call_that_is_jumped_out_of(gdb):
    run = gdb(build("visits.c"), *ON, "cstrace stop-when risky -unwound",
              "run", "info args", "continue", args=("jumps",))
    assert "stop 1: risky, unwound; left by a jump; hit 1" in run.said()
    assert numbers(run) == ["2"]
    assert "exited normally" in run.out


@pytest.mark.parametrize("variant", FOUR[::2], ids=str)
def test_a_call_that_an_exception_leaves(gdb, variant):
    run = gdb(build("throw.cc", variant=variant), *ON,
              "cstrace stop-when /./ -unwound -count 1", "run", "bt",
              "continue")
    assert re.search(r"; left by (an exception|a jump)$", run.out, re.M)
    assert re.search(r"^#\d+ .* at .*throw\.cc", run.out, re.M)


@pytest.mark.parametrize("is_traced", [True, False])
def test_a_function_without_a_name(gdb, tmp_path, is_traced):
    """It stops by the one that rows show, with hooks and without."""
    program = tmp_path / "nameless"
    with_names = build("visits.c", is_traced=is_traced)
    subprocess.run(["strip", "-o", program, with_names], check=True)
    symbols = subprocess.run(["nm", with_names], capture_output=True, text=True,
                             check=True).stdout
    address = re.search(r"^0*([0-9a-f]+) . visit$", symbols, re.M)[1]
    word = "nameless+0x" + address
    run = gdb(program, *ON, "cstrace stop-when " + word, "run",
              "cstrace here", "delete cstrace-stops", "continue")
    assert "stop 1: %s; hit 1" % word in run.said()
    assert re.search(r"s +1\.\d+ +%s\b" % re.escape(word), run.out)
    assert "no function matches" not in run.out
    wrong = gdb(program, *ON, "cstrace stop-when nameless+0xfffffff0")
    assert "no function matches 'nameless+0xfffffff0' so far" in wrong.out


def test_they_are_listed_disabled_and_deleted(gdb):
    run = gdb(build("visits.c"), *ON, "cstrace stop-when leaf",
              "cstrace stop-when visit -count 3", "cstrace stop-when down",
              "disable cstrace-stops 1", "delete cstrace-stops 3", "run",
              "info args", "info cstrace-stops", "continue",
              "info cstrace-stops", "delete cstrace-stops",
              "info cstrace-stops")
    assert numbers(run) == ["2"]
    # The program has taken its counts with it.
    assert re.search(r"^2    y    visit, count 3\n +stopped 1 time\n", run.out,
                     re.M)
    assert re.search(r"^1    n    leaf\n +true 0 times, stopped 0 times\n"
                     r"2    y    visit, count 3\n"
                     r" +true 3 times, stopped 1 time\n", run.out, re.M)
    assert "no conditions: `cstrace stop-when FUNCTION` sets one" in run.said()
    assert "exited normally" in run.out


def test_they_count_anew_in_each_run(gdb):
    run = gdb(build("visits.c"), *ON, "cstrace stop-when leaf -count 2",
              "run", "info args", "run", "info args", "continue")
    assert numbers(run) == ["1", "1"]


def test_a_fork_child_is_not_stopped(gdb):
    run = gdb(build("visits.c"), *ON, "cstrace stop-when visit -count 2",
              "run", "info args", "continue", args=("forks",))
    assert numbers(run) == ["1"]
    assert "exited normally" in run.out


def test_all_threads_count(gdb):
    run = gdb(build("visits.c"), *ON, "cstrace stop-when visit -count 25",
              "run", "info args", "continue", args=("threads",))
    assert numbers(run) == ["3004"]
    assert "exited normally" in run.out


@pytest.mark.parametrize("command, line", [
    ("cstrace stop-when", "cstrace stop-when: at which function?"),
    ("cstrace stop-when leaf -count x", '-count wants a number, not "x"'),
    ("cstrace stop-when leaf -longer 3", "-longer wants a time with its unit"),
    ("cstrace stop-when leaf -above x", "no option -above; there is -under"),
    ("cstrace stop-when lef", "no function matches 'lef' so far"),
    ("cstrace stop-when leaf", "it acts while a trace is on"),
    ("cstrace stop-when /(/", "("),
    ("delete cstrace-stops 9", "no condition 9; `info cstrace-stops` lists"),
    ("delete cstrace-stops x", '"x" is not the number of a condition'),
    ("delete cstrace-stops", "cstrace: there is no condition"),
    ("delete cstrace-stop-when", "cstrace: there is no condition"),
    ("delete cstrace-stop-when 1", "no condition 1; `info cstrace-stops`"),
    ("info cstrace-stop-when", "no conditions: `cstrace stop-when FUNCTION`"),
    ("disable cstrace-stop-when x", '"x" is not the number of a condition'),
    ("complete cstrace stop-when -u", "cstrace stop-when -under"),
    ("complete cstrace stop-when vis", "cstrace stop-when visit"),
])
def test_mistakes_and_help(gdb, command, line):
    assert line in gdb(build("visits.c"), command).out
