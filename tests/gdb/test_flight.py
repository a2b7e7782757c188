# SPDX-License-Identifier: MIT
"""cstrace start -flight: the newest calls, as a flight recorder keeps them."""

import re
import subprocess

import pytest

CRASH = r"""
static volatile int n;

static void step(void) { n++; }
static void early(void) { for (int i = 0; i < 1000; i++) step(); }
static void middle(void) { for (int i = 0; i < 300000; i++) step(); }
static void die(int *p) { step(); *p = 1; }
static void work(void) { early(); middle(); die(0); }
int main(void) { work(); return 0; }
"""
OFF = "set cstrace live off"


@pytest.fixture
def crash(tmp_path):
    (tmp_path / "crash.c").write_text(CRASH)
    subprocess.run(["gcc", "-g", "-finstrument-functions", "crash.c", "-o",
                    "crash"], cwd=tmp_path, check=True)
    return tmp_path / "crash"


def rows(text):
    return re.findall(r"^ +\d+\.\d+ .* (1\.\d+) +(\w+)  ", text, re.M)


def test_at_a_crash_the_newest_are_shown_below_their_callers(gdb, crash):
    run = gdb(crash, OFF, "cstrace start -flight 512K", "run")
    assert run.out.index("Program received signal") < run.out.index(
        "the newest calls; `cstrace show -last 200` shows more")
    found = rows(run.out)
    assert found[:3] == [("1.1", "main"), ("1.2", "work"), ("1.1004", "middle")]
    assert found[-2:] == [("1.301005", "die"), ("1.301006", "step")]
    assert len(found) < 30


def test_older_ones_are_not_kept(gdb, crash, tmp_path):
    run = gdb(crash, OFF, "cstrace start -flight 128K", "run",
              "cstrace show -last 3", "kill", "cstrace status",
              "cstrace save x.txt", "cstrace show 1.1005")
    n, of = map(int, re.search(r"the newest (\d+) of (\d+) calls",
                               run.out).groups())
    assert of == 301006 and 1000 < n < of
    assert "forgotten  %d calls" % (of - n) in run.out
    assert "flight     the newest calls only, 128.0 KiB of them" in run.out
    assert "%d calls saved" % n in run.out


def test_all_of_a_short_run_is_kept(gdb, crash):
    run = gdb(crash, OFF, "cstrace start -flight", "run", "kill",
              "cstrace status")
    assert "calls      301006 (3 open" in run.out
    assert "forgotten" not in run.out
    assert "16.0 MiB of them" in run.out


def test_live_rows_are_not_repeated(gdb, crash):
    run = gdb(crash, "cstrace start -flight -depth 2", "run")
    assert "the newest calls" not in run.out
    assert "16.0 MiB" in gdb(crash, "cstrace start -flight -depth 2",
                             "cstrace status").out


def test_another_stop_is_no_crash(gdb, crash):
    run = gdb(crash, OFF, "break early", "cstrace start -flight", "run")
    assert "the newest calls" not in run.out


@pytest.mark.parametrize("size, answer", [
    ("much", '-flight wants a size, as 512K, 16M or 1G, not "much"'),
    ("0", "-flight: 0 is too little (4K or more)"),
    ("4000", "-flight: 4000 is too little (4K or more)"),
    ("2T", "-flight: 2T is too much"),
])
def test_a_bad_size_is_refused(gdb, crash, size, answer):
    run = gdb(crash, "cstrace start -flight " + size, "cstrace status")
    assert run.said() == [answer]
    assert "cstrace    off" in run.out


def test_it_begins_with_a_trace_only(gdb, crash):
    run = gdb(crash, OFF, "cstrace start -flight 1M", "run",
              "cstrace start -flight 2M", "cstrace sample")
    assert run.said()[-2:] == [
        "-flight cannot begin, nor change its size, in the middle of a trace: "
        "`cstrace stop` first",
        "samples do not go with `cstrace start -flight`: `cstrace stop` first"]


def test_it_is_completed(gdb, crash):
    run = gdb(crash, "complete cstrace start -fl")
    assert "cstrace start -flight" in run.lines()
