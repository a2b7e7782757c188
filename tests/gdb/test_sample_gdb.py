# SPDX-License-Identifier: MIT
"""cstrace sample in gdb: samples of a program that has no hooks."""

import re

import pytest

from lib_build import build
from lib_gdb import wait_for
from lib_term import Terminal

FLAGS = ("-O2", "-fomit-frame-pointer")


def program(is_traced=False):
    return build("sampled.c", *FLAGS, is_traced=is_traced)


def names(run, heading="# +SELF"):
    """The functions of the rows below the heading, in order."""
    rows = re.split(heading, run.out)[1].splitlines()[1:]
    return [row.split()[-1] for row in rows if "%" in row]


def test_samples_from_the_begin_on(gdb):
    run = gdb(program(), "cstrace sample", "run", "cstrace report",
              args=["plain", 1000])
    assert names(run)[:3] == ["four", "two", "one"]
    assert run.said()[0] == "on: 997 samples a second of CPU time from the " \
        "next `run`"
    assert re.search(r"^\d+ samples in 1 thread, .*; `cstrace report`",
                     run.said()[-1])
    assert "received signal" not in run.out and "done" in run.lines()


def test_a_profile_has_samples(gdb):
    run = gdb(program(), "cstrace sample", "run", "cstrace save t.pb.gz",
              args=["plain", 300])
    assert re.fullmatch(r"\d+ samples saved to t.pb.gz", run.said()[-1])


def test_samples_beside_calls(gdb):
    run = gdb(program(is_traced=True), "set cstrace live off", "cstrace start",
              "cstrace sample -hz 1999", "run", "cstrace report -samples",
              "cstrace report", args=["plain", 1000])
    assert names(run)[:3] == ["four", "two", "one"]
    assert re.search(r"^ +1000 .* four$", run.out, re.M)
    assert re.search(r"3\d\d\d calls and \d+ samples in 1 thread", run.out)


def test_who_waits_is_seen_and_left_alone(gdb):
    app = build("sleeps.c", is_traced=False)
    run = gdb(app, "handle SIGUSR1 nostop noprint", "cstrace sample -wall",
              "run", "cstrace report -sort total", args=[60])
    assert "0 waits were cut short" in run.lines()
    assert {"in_poll", "in_epoll", "in_handler"} <= set(
        names(run, "# +SELF|# +TOTAL"))


def test_stopped_and_begun_again(gdb):
    """The program has the sampler: nothing is called in it."""
    run = gdb(program(), "cstrace sample -wall", "break main", "run",
              "cstrace sample stop", "cstrace sample -hz 499", "continue",
              "cstrace sample status", args=["plain", 1000])
    assert run.said()[:3] == [
        "on: 997 samples a second on the clock from the next `run`",
        run.said()[1], "on: 499 samples a second of CPU time"]
    assert names(run)[:3] == ["four", "two", "one"]
    assert re.search(r"^# t1: sampled \(\d+\), at .* s\n_start$", run.out, re.M)


def test_asked_while_the_program_runs(tmp_path):
    with Terminal(tmp_path, program(), args=["threads", 10**9], rows=500,
                  commands=("set confirm off",)) as gdb:
        gdb.ask("cstrace sample")
        gdb.ask("run &")
        wait_for(lambda: re.search(r"% +four\r?$(.|\n)*^# t\d+: sampled(.|\n)*"
                                   r"^ +all\r?$", gdb.ask(
                                       "cstrace sample status"), re.M),
                 "the threads' stacks")
        gdb.ask("kill")


def test_gdb_tells_of_the_signals_again(gdb):
    run = gdb(program(), "info signals SIG61", "cstrace sample",
              "info signals SIG61", "run", "cstrace sample stop",
              "info signals SIG61", args=["nothing"])
    rows = [line.split()[1:4] for line in run.lines()
            if line.startswith("SIG61")]
    assert rows == [["Yes", "Yes", "Yes"], ["No", "No", "Yes"],
                    ["Yes", "Yes", "Yes"]]


def test_before_the_first_sample(gdb):
    """The run has not gone on yet: nothing is wrong with the program."""
    run = gdb(program(), "cstrace sample", "break main", "run",
              "cstrace report", "cstrace show", "cstrace graph",
              args=["nothing"])
    assert run.said().count(
        "no samples yet: they come while the program runs") == 3
    assert "cstrace check" not in run.out


@pytest.mark.parametrize("command, said", [
    ("cstrace sample -hz 0", "-hz wants a number from 1 to 20000, not 0"),
    ("cstrace sample -cpu -wall", "either -cpu or -wall"),
    ("cstrace sample often", 'cstrace sample: "often" is too much; there is '
     "status and stop"),
    ("cstrace sample stop", "no samples are taken: `cstrace sample` begins"),
    ("cstrace sample status -hz 3", "cstrace sample status takes no options"),
])
def test_what_does_not_go(gdb, command, said):
    assert gdb(program(), command).said() == [said] or said in \
        gdb(program(), command).out
