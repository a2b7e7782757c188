# SPDX-License-Identifier: MIT
"""Calls chosen by their values in gdb, of a program that runs and of a file."""

import re

import pytest

from lib_build import ROOT, build
from lib_cstrace import cstrace

FLAGS = ("-DCSTRACE", "-I%s" % (ROOT / "cshim/include"))
CALL = re.compile(r'parse\(text="(\w+)", base=(\d+)\)(?: = (-?\d+))?')


@pytest.fixture(name="program", scope="module")
def built_program():
    return build("values.c", *FLAGS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, program):
    """With "t.cst" of the program."""
    folder = tmp_path_factory.mktemp("where")
    done = cstrace(folder, "record", "-o", "t.cst", program)
    assert done.status == 0, done.err
    return folder


def found(out):
    return CALL.findall(out)


def test_while_the_program_stands(gdb, program):
    """An open call has no result yet."""
    run = gdb(program, "set cstrace live off", "cstrace start",
              "break strtol if $edx == 16", "run",
              "cstrace show -where 'parse.base == 16'",
              "cstrace show -where 'base == 16 && result >= 0'",
              "delete", "continue",
              "cstrace show -where \"base == 16 && text =~ '^[0-9]$'\"",
              "cstrace calls -where 'result < 0 && base == 10' -limit 2 parse",
              "cstrace show -where 'base == 16 && result > 9'",
              "cstrace report -where 'base == 16' -fields calls",
              "cstrace graph -where 'base == 16'")
    assert found(run.out) == [
        ("9", "16", ""), ("9", "16", "9"), ("4x", "10", "-1"),
        ("8x", "10", "-1"), ("25", "16", "37")]
    assert "no such calls (where base == 16 && result >= 0)" in run.out
    assert "# where base == 16 && result > 9: 1 of 65 calls" in run.out
    assert re.search(r"CALLS +FUNCTION\n +2 +parse\n", run.out)
    assert re.search(r"^ +2 .*% +parse$", run.out, re.M)


def test_the_command_shows_the_same(gdb, folder):
    run = gdb(None, "cstrace load %s/t.cst" % folder,
              "cstrace show -where 'base == 16'")
    done = cstrace(folder, "show", "--where", "base == 16", "t.cst")
    assert done.out and done.out in run.out


@pytest.mark.parametrize("words, part", [
    ("'base = 16'", "bad condition: expected ==, !=, <, <=, >, >= or =~ at "
                    "character 6, before '= 16'"),
    ("base == 16", "bad condition: expected a comparison (in quotes, if there "
                   "are blanks) at character 5, where it ends"),
    ("'bsae == 16'", "no function has a value 'bsae': did you mean base?"),
    ("'prase.base == 1'", "no function matches 'prase': did you mean parse?"),
    ("'base == 99'", "no such calls (where base == 99)"),
    ("a==1 -where b==1", "-where is there twice: it takes one"),
    ("", "-where needs a value")])
def test_mistakes(gdb, folder, words, part):
    run = gdb(None, "cstrace load %s/t.cst" % folder,
              "cstrace show -where " + words)
    assert part in run.out


def test_completion(gdb, folder):
    run = gdb(None, "cstrace load %s/t.cst" % folder,
              "complete cstrace show -wh", "complete cstrace calls -wh")
    assert run.lines()[-2:] == ["cstrace show -where", "cstrace calls -where"]


VISITS = re.compile(r"(leaf|visit|down)\(n=(-?\d+)\)")


def test_live_rows_of_a_trace_that_was_started_so(gdb):
    """Rows are written as calls begin; `show` has the same ones."""
    run = gdb(build("visits.c"),
              "cstrace start -where 'n == 100 || visit.n == 2'", "run",
              "echo ---\\n", "cstrace show", "cstrace show -all -depth 1")
    live, shown = run.out.split("---\n")
    shown, note, every = shown.partition("# where n == 100 || visit.n == 2: "
                                         "3 of 17 calls; -all shows")
    expected = [("visit", "2"), ("visit", "100"), ("leaf", "100")]
    assert note and VISITS.findall(live) == VISITS.findall(shown) == expected
    assert "main" in every


@pytest.mark.parametrize("options, line", [
    ("-where 'result == 3'", "cstrace start: what a call returns is not known "
     "when its row is written: `cstrace show -where` knows it"),
    ("-where 'n = 3'", "cstrace: bad condition: expected ==, !=, <, <=, >, >= "
     "or =~ at character 3, before '= 3'"),
    ("-where", "cstrace start: -where needs a value"),
])
def test_a_start_with_a_bad_condition(gdb, options, line):
    run = gdb(build("visits.c"), "cstrace start " + options, "cstrace status")
    assert line in run.out and "cstrace    off" in run.out


def test_live_by_the_command(tmp_path):
    done = cstrace(tmp_path, "live", "--where", "n == 100", build("visits.c"))
    assert VISITS.findall(done.out.replace(" = 300", "")) == [
        ("visit", "100"), ("leaf", "100")]
    done = cstrace(tmp_path, "live", "--where", "n = 100", build("visits.c"))
    assert done.status == 2 and "bad condition: expected" in done.err


@pytest.fixture(name="two", scope="module")
def two_traces(tmp_path_factory):
    """a.cst and b.cst, with other naps."""
    folder = tmp_path_factory.mktemp("two")
    for name, more in (("a.cst", ()), ("b.cst", ("naps",))):
        done = cstrace(folder, "record", "--args", "-o", name,
                       build("visits.c"), *more)
        assert done.status == 0, done.err
    return folder


@pytest.mark.parametrize("where, status, line", [
    ("leaf.n > 1", 0, "# where leaf.n > 1: 4 of 17 calls in A, 4 of 25"),
    ("nap.n > 5", 1, "+ thread 1: 2 calls, from nap"),
    ("lef.n > 1", 2, "no function matches 'lef': did you mean leaf?"),
    ("leaf.n", 2, "bad condition: expected a comparison"),
])
def test_two_traces_are_compared_by_such_calls(gdb, two, where, status, line):
    done = cstrace(two, "diff", "--where", where, "a.cst", "b.cst")
    assert done.status == status and line in done.out + done.err
    run = gdb(None, "cstrace load %s/b.cst" % two,
              "cstrace diff -where '%s' %s/a.cst" % (where, two))
    assert line in run.out


def test_an_expected_tree_of_such_calls(gdb, two):
    done = cstrace(two, "expect", "--make", "--where", "leaf.n > 2", "a.cst",
                   "leaf.golden")
    assert done.status == 0, done
    assert (two / "leaf.golden").read_text() == (
        "options:\n  where leaf.n > 2\n\nleaf  x3\n")
    assert cstrace(two, "expect", "b.cst", "leaf.golden").status == 0
    run = gdb(None, "cstrace load %s/b.cst" % two,
              "cstrace expect %s/leaf.golden" % two,
              "cstrace expect -where 'leaf.n > 3' %s/leaf.golden" % two)
    assert "the calls are those of" in run.out
    assert "expected leaf x3, but the thread makes no more" in run.out
    (two / "leaf.golden").write_text("options:\n  where n = 2\n\nleaf\n")
    done = cstrace(two, "expect", "b.cst", "leaf.golden")
    assert done.status == 2 and "bad condition: expected" in done.err


@pytest.mark.parametrize("line, expected", [
    ("stop-when number -where 'b", ["big"]),
    ("stop-when fields -where 'p.x > 3 && at.", [
        "p.x > 3 && at." + f for f in ("label", "note", "x", "y")]),
    ("show -where 'number.l", ["number.low"]),
    ("calls number -where 'i == 3 && lo", ["i == 3 && low"]),
    ("on library -where 'v.", ["v.size"]),
    ("start -where 'resu", ["result"]),
    ("diff -where 'nothing.", []),
])
def test_names_are_completed_in_a_condition(gdb, line, expected):
    run = gdb(build("picks.cc", "-std=c++17"), "complete cstrace " + line)
    begin = "cstrace " + line[:line.index("'") + 1]
    assert [one.rstrip("' ") for one in run.out.splitlines()
            if one.startswith(begin)] == [begin + word for word in expected]
