# SPDX-License-Identifier: MIT
"""Filters hide calls; they never bend the tree and never renumber."""

import re

import pytest

from lib_build import FOUR, build
from lib_cstrace import compile_c, cstrace, record
from lib_tree import live_tree, outcome, own_sites, read_jsonl, tree

QUIET = "set cstrace live off"
SAVE = ("cstrace save t.txt", "cstrace save t.jsonl")

DEPTH_2 = """
    main
      spread  calls.c:47
      down  calls.c:49
      compare
      compare
      compare
      through  calls.c:51
      leaf  calls.c:53
      leaf  calls.c:53
    """
ONLY_SPREAD = """
    spread  calls.c:47
      pair  calls.c:38
        leaf  calls.c:16
        leaf  calls.c:16
      leaf  calls.c:40
      leaf  calls.c:40
    """
CASES = {
    "-depth 2": DEPTH_2,
    "-depth 1": "main",
    "-filter ^spread$": ONLY_SPREAD,
    "-filter ^spread$ -depth 2": """
        spread  calls.c:47
          pair  calls.c:38
          leaf  calls.c:40
          leaf  calls.c:40
        """,
    "-filter pair|through": """
        pair  calls.c:38
          leaf  calls.c:16
          leaf  calls.c:16
        through  calls.c:51
          leaf  calls.c:33
        """,
    "-exclude down|compare|leaf": """
        main
          spread  calls.c:47
            pair  calls.c:38
          through  calls.c:51
        """,
    "-exclude spread|through|down|compare -depth 3": """
        main
          pair  calls.c:38
            leaf  calls.c:16
            leaf  calls.c:16
          leaf  calls.c:40
          leaf  calls.c:40
          leaf  calls.c:33
          leaf  calls.c:53
          leaf  calls.c:53
        """,
    "-filter spread -exclude pair": """
        spread  calls.c:47
          leaf  calls.c:16
          leaf  calls.c:16
          leaf  calls.c:40
          leaf  calls.c:40
        """,
    "-min-time 1000s": "",
    "-filter nosuch": "",
}


@pytest.mark.parametrize("options", CASES)
def test_filters_at_the_start(gdb, tmp_path, options):
    run = gdb(build("calls.c"), "cstrace start " + options, "run", *SAVE)
    expected = tree(CASES[options]) if CASES[options] else ""
    assert own_sites(live_tree(run.out)) == expected
    if expected:
        assert outcome(tmp_path) == expected


@pytest.mark.parametrize("variant", FOUR, ids=str)
def test_an_excluded_inlined_function_leaves_its_callees(gdb, tmp_path,
                                                         variant):
    gdb(build("inlined.c", variant=variant),
        "cstrace start -exclude put_two|always", "run", *SAVE)
    assert outcome(tmp_path) == tree("""
        main
          physical  inlined.c:37
            put  inlined.c:17
            put  inlined.c:18
            put  inlined.c:23
            put  inlined.c:31
            put  inlined.c:31
            put  inlined.c:32
          put  inlined.c:23
        """)


def by_id(path):
    return {call["id"]: call for call in read_jsonl(path)}


HIDING = ["-depth 2", "-filter spread", "-min-time 1ns",
          "-filter leaf -depth 1"]


@pytest.mark.parametrize("options", HIDING)
def test_hidden_calls_keep_the_others_numbers(gdb, tmp_path, options):
    gdb(build("calls.c"), QUIET, "cstrace start " + options, "run",
        "cstrace save few.jsonl", "cstrace save -all all.jsonl")
    few, everything = by_id(tmp_path / "few.jsonl"), by_id(
        tmp_path / "all.jsonl")
    assert len(everything) == 18 and few
    for call_id, call in few.items():
        for key in ("function", "line", "start_ns", "duration_ns", "end"):
            assert call[key] == everything[call_id][key], call_id


def test_show_and_save_have_choices_of_their_own(gdb, tmp_path):
    run = gdb(build("calls.c"), QUIET, "cstrace start -depth 1", "run",
              "cstrace save t.txt -depth 2", "cstrace save t.jsonl -depth 2",
              "cstrace show ^spread$")
    assert outcome(tmp_path) == tree(DEPTH_2)
    # -depth 1 of `start` holds where the command says nothing of depth
    assert own_sites(live_tree(run.out)) == "spread  calls.c:47\n"


def shown(gdb, command):
    run = gdb(build("calls.c"), QUIET, "cstrace start", "run", command)
    return own_sites(live_tree(run.out))


def test_show_a_function_and_what_it_calls(gdb):
    assert shown(gdb, "cstrace show ^spread$") == tree(ONLY_SPREAD)


def test_show_the_last_calls_with_their_callers(gdb):
    lines = shown(gdb, "cstrace show -last 3").splitlines()
    assert lines[-2:] == ["  leaf  calls.c:53", "  leaf  calls.c:53"]
    assert lines[0] == "main" and 3 <= len(lines) <= 6


def test_show_around_a_call(gdb):
    text = shown(gdb, "cstrace show -around 1.4")
    assert text.startswith("main\n  spread  calls.c:47\n    pair")


def test_show_one_thread(gdb):
    run = gdb(build("crew.c"), QUIET, "cstrace start", "run",
              "cstrace show -thread 1", args=[3, 2])
    assert own_sites(live_tree(run.out)) == "main\n"


REPORT = re.compile(r"^ *(\d+)(?: +[\d.]+ \w+){5} +[\d.]+%  (\S.*)$", re.M)


def reported(gdb, command, source="calls.c", args=()):
    run = gdb(build(source), QUIET, "cstrace start", "run", command,
              args=args)
    return [(name, int(calls)) for calls, name in REPORT.findall(run.out)]


def test_report_counts_every_call(gdb):
    assert dict(reported(gdb, "cstrace report")) == {
        "main": 1, "spread": 1, "pair": 1, "leaf": 7, "down": 4,
        "compare": 3, "through": 1}


def test_report_sorts_and_limits(gdb):
    assert reported(gdb, "cstrace report -sort calls -limit 3") \
        == [("leaf", 7), ("down", 4), ("compare", 3)]
    assert reported(gdb, "cstrace report -limit 1") == [("main", 1)]


def test_report_takes_a_regex(gdb):
    assert reported(gdb, "cstrace report ^[ld]") in (
        [("leaf", 7), ("down", 4)], [("down", 4), ("leaf", 7)])


def test_report_tells_callers_and_callees(gdb):
    assert dict(reported(gdb, "cstrace report -callers leaf")) == {
        "pair": 2, "spread": 2, "through": 1, "main": 2}
    assert dict(reported(gdb, "cstrace report -callees ^spread$")) == {
        "pair": 1, "leaf": 2}


def test_report_by_callsite(gdb):
    rows = dict(reported(gdb, "cstrace report -by callsite ^down$"))
    assert sorted(rows.values()) == [1, 3]
    assert all(re.fullmatch(r"down  calls\.c:\d+", row) for row in rows)


def test_report_counts_over_threads(gdb):
    assert dict(reported(gdb, "cstrace report", "crew.c", (4, 5))) == {
        "main": 1, "member": 4, "two": 20, "one": 40}


UNITS = {"ns": 1, "us": 1000, "ms": 1000000, "s": 1000000000}


def test_reports_times_add_up(gdb, tmp_path):
    """Self times sum up to main's total, and totals agree with the calls."""
    run = gdb(build("calls.c"), QUIET, "cstrace start", "run",
              "cstrace report", "cstrace save t.jsonl")
    times = {}
    for line in run.lines():
        found = re.findall(r"([\d.]+) (ns|us|ms|s)\b", line)
        if REPORT.match(line) and len(found) == 5:
            name = line.rsplit("  ", 1)[1]
            times[name] = [float(n) * UNITS[unit] for n, unit in found]
    main = next(c for c in read_jsonl(tmp_path / "t.jsonl")
                if c["function"] == "main")
    assert times["main"][0] == pytest.approx(main["duration_ns"], rel=1e-3)
    total_self = sum(t[1] for t in times.values())
    assert total_self == pytest.approx(main["duration_ns"], rel=1e-2)


def test_fold_joins_equal_leaves(gdb):
    run = gdb(build("calls.c"), "set cstrace fold on", QUIET,
              "cstrace start", "run", "cstrace show")
    folded = [line.strip() for line in run.lines() if "  x" in line]
    assert [line.rsplit("leaf", 1)[-1] for line in folded
            if "leaf" in line][-1] == "  x2  calls.c:53"


def test_the_look_can_be_bare(gdb):
    run = gdb(build("calls.c"), QUIET, "set cstrace timestamp off",
              "set cstrace duration off", "set cstrace callsite off",
              "set cstrace id off",
              "cstrace start", "run", "cstrace show ^pair$")
    assert run.out.endswith("\npair\n  leaf\n  leaf\n"
                            "# filter ^pair$: 3 of 18 calls\n")


def test_colour_only_when_asked_for(gdb):
    for setting, has_colour in (("auto", False), ("on", True),
                                ("off", False)):
        run = gdb(build("calls.c"), "set cstrace color " + setting,
                  "cstrace start", "run", "cstrace save t.txt")
        assert ("\033[" in run.out) == has_colour


def test_save_tells_what_nobody_asked_to_hide(gdb):
    said = gdb(build("sort.cc"), QUIET, "cstrace start -to to.txt", "run",
               "cstrace save t.jsonl", "cstrace save t.cst",
               "cstrace save -depth 1 one.txt", "set cstrace std on",
               "cstrace save all.txt").said()
    saved = [line for line in said if " saved to " in line]
    whole = int(re.match(r"(\d+) calls saved to t.cst$", saved[2])[1])
    for line, name in zip(saved, ("to.txt", "t.jsonl")):
        found = re.match(r"(\d+) calls saved to \S*%s \((\d+) library "
                         r"calls hidden: `set cstrace std on`\)$"
                         % name, line)
        assert int(found[1]) + int(found[2]) == whole
    assert saved[3:] == [
        "1 call saved to one.txt (depth 1: 1 of %d calls; %d library "
        "calls hidden: `set cstrace std on`)"
        % (whole, int(found[2])), "%d calls saved to all.txt" % whole]


FORK = """
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static void forked(void) {}
static void *first(void *a) { return a; }
static void *second(void *a) { return a; }
int main(void)
{
    void *(*member)(void *) = fork() ? first : second;
    pthread_t t;

    forked();
    pthread_create(&t, 0, member, 0);
    pthread_join(t, 0);
    wait(0);
    return 0;
}
"""


def test_a_thread_of_one_process(gdb, tmp_path):
    compile_c(tmp_path, "app", FORK)
    record(tmp_path, "t.cst", "app")
    out = cstrace(tmp_path, "show", "t.cst").out
    tid = re.search(r"# p2:t2: app \((\d+)\)", out)[1]
    for words, names in (
            ("2", {"first", "second"}), ("1:2", {"first"}),
            ("2:2", {"second"}), (tid, {"second"}), ("2:" + tid, {"second"}),
            ("2:0", {"main", "forked", "second"}), ("t2", {"first"}),
            ("p2:t2", {"second"})):
        out = cstrace(tmp_path, "show", "--thread", words, "t.cst").out
        in_gdb = gdb(None, "cstrace load t.cst",
                     "cstrace show -thread " + words).out
        assert out and in_gdb.endswith(out)
        assert set(re.findall(
            r" [\d:.s]*\d +(\w+)  \S+:\d+$", out, re.M)) == names
    for words in "3:1", "1:" + tid:
        done = cstrace(tmp_path, "show", "--thread", words, "t.cst")
        assert done.err == "cstrace: no thread %s: the trace has 4\n" % words
    for words in ":1", "1:", "a:1", "t", "p2:", "p2:2":
        assert cstrace(tmp_path, "show", "--thread", words, "t.cst").status == 2


def test_save_with_fold_tells_rows(gdb, tmp_path):
    """Not in the formats that fold nothing."""
    said = gdb(build("calls.c"), QUIET, "cstrace start", "run",
               "set cstrace fold on", "cstrace save t.txt",
               "cstrace save t.jsonl", "cstrace save -format jsonl x.txt",
               "cstrace save t.out -format txt").said()
    n_rows = sum(line[0] == " " for line in
                 (tmp_path / "t.txt").read_text().splitlines())
    assert n_rows < 18
    assert [line for line in said if " saved to " in line] \
        == ["%d rows saved to t.txt" % n_rows,
            "18 calls saved to t.jsonl", "18 calls saved to x.txt",
            "%d rows saved to t.out" % n_rows]
