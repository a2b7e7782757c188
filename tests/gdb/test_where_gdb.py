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
