# SPDX-License-Identifier: MIT
"""Calls chosen by their values, by each command that shows or sums them up."""

import csv
import io
import json
import re

import pytest

from lib_build import ROOT, build
from lib_formats import cstrace, record_program

FLAGS = ("-DCSTRACE", "-I%s" % (ROOT / "cshim/include"))
ROWS = ("show", "--no-duration", "--timestamp", "off", "--no-callsite",
        "--no-id", "t.cst")


@pytest.fixture(scope="module", name="folder")
def folder_with_a_trace(tmp_path_factory):
    return record_program(tmp_path_factory.mktemp("where"),
                          build("values.c", *FLAGS))


def shown(folder, where, *options):
    """The rows of `cstrace show --where`, and the notes behind them."""
    done = cstrace(folder, *ROWS, "--where", where, *options)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    return ([line for line in lines if line[:1] != "#"],
            [line for line in lines if line[:1] == "#" and "One" not in line
             and "CALL" not in line])


def failed(folder, status, *words):
    """What a command says that ends with this status."""
    done = cstrace(folder, *words)
    assert (done.returncode, done.stdout) == (status, "")
    return done.stderr


def test_show_has_the_calls_that_meet_the_condition(folder):
    assert shown(folder, "parse.base == 16") == (
        ['parse(text="9", base=16) = 9', 'parse(text="25", base=16) = 37'],
        ["# where parse.base == 16: 2 of 65 calls"])
    rows, _ = shown(folder, "result < 0")
    assert rows == ['parse(text="%dx", base=10) = -1' % i
                    for i in range(4, 33, 4)]
    rows, _ = shown(folder, "text =~ '^3' && !(result >= 0)")
    assert rows == ['parse(text="32x", base=10) = -1']


def test_spans_and_messages_have_values_too(folder):
    """Each that meets it stands below the nearest that does."""
    rows, notes = shown(folder, "line.number == 8 || text == '8x'")
    assert rows == ["span line(number=8)",
                    '  parse(text="8x", base=10) = -1']
    assert notes == ["# where line.number == 8 || text == '8x': 1 of 65 "
                     "calls"]


def test_equal_calls_stay_rows_of_their_own(folder):
    rows, _ = shown(folder, "base == 10", "--fold")
    assert len(rows) == 30 and not any("(...)" in row for row in rows)


def test_it_goes_with_other_conditions(folder):
    rows, _ = shown(folder, "base == 10", "--last", "2")
    assert rows == ['parse(text="31", base=10) = 31',
                    'parse(text="32x", base=10) = -1']
    assert failed(folder, 1, "show", "--where", "base == 10", "--exclude",
                  "parse", "t.cst") == (
        "cstrace: no such calls (exclude parse, where base == 10)\n")


def test_the_list_of_calls(folder):
    done = cstrace(folder, "calls", "--where", "result == -1", "--format",
                   "json", "t.cst", "parse")
    rows = json.loads(done.stdout)["rows"]
    assert [row["args"]["text"] for row in rows] == [
        "%dx" % i for i in range(4, 33, 4)]
    assert {row["result"] for row in rows} == {-1}
    done = cstrace(folder, "calls", "--where", "base == 16", "--format", "csv",
                   "t.cst", "parse")
    cells = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [json.loads(row["args"]) for row in cells] == [
        {"text": "9", "base": 16}, {"text": "25", "base": 16}]
    done = cstrace(folder, "calls", "--where", "base == 16", "t.cst", "parse")
    assert re.findall(r"parse\(.*?\) = \d+", done.stdout) == [
        'parse(text="9", base=16) = 9', 'parse(text="25", base=16) = 37']


@pytest.mark.parametrize("command", ("report", "graph"))
def test_sums_are_of_these_calls(folder, command):
    done = cstrace(folder, command, "--where", "parse.result >= 0", "--format",
                   "json", "t.cst")
    assert [(row["function"], row["calls"])
            for row in json.loads(done.stdout)["rows"]] == [("parse", 24)]


def test_files_have_these_calls(folder):
    done = cstrace(folder, "save", "--where", "base == 16", "t.cst",
                   "some.jsonl")
    assert done.returncode == 0, done.stderr
    lines = (folder / "some.jsonl").read_text().splitlines()
    assert [json.loads(line)["result"] for line in lines] == [9, 37]


def test_nothing_that_meets_it(folder):
    assert failed(folder, 1, "show", "--where", "base == 12", "t.cst") == (
        "cstrace: no such calls (where base == 12)\n")


@pytest.mark.parametrize("command", (
    ("show", "t.cst"), ("calls", "t.cst", "parse"), ("report", "t.cst"),
    ("graph", "t.cst")), ids=lambda words: words[0])
def test_a_name_that_no_function_has(folder, command):
    assert failed(folder, 1, *command, "--where", "bsae == 16") == (
        "cstrace: no function has a value 'bsae': did you mean base?\n")
    assert failed(folder, 1, *command, "--where", "parse.txt == ''") == (
        "cstrace: parse() has no value 'txt': did you mean text?\n")
    assert failed(folder, 1, *command, "--where", "prase.base == 16") == (
        "cstrace: no function matches 'prase': did you mean parse?\n")


def test_a_name_beside_one_that_is_right_is_named(folder):
    rows, notes = shown(folder, "base == 16 || bsae == 16")
    assert len(rows) == 2
    assert notes[1:] == [
        "# no function has a value 'bsae': did you mean base?"]


@pytest.mark.parametrize("command", (
    ("show", "t.cst"), ("calls", "t.cst", "parse"), ("report", "t.cst"),
    ("graph", "t.cst"), ("save", "t.cst", "x.jsonl")),
    ids=lambda words: words[0])
def test_what_is_no_condition_is_refused(folder, command):
    assert failed(folder, 2, *command, "--where", "base = 16") == (
        "cstrace: bad condition: expected ==, !=, <, <=, >, >= or =~ at "
        "character 6, before '= 16'\n")
    assert failed(folder, 2, *command, "--where", "") == (
        "cstrace: bad condition: expected the name of a value at character 1, "
        "where it ends\n")


def test_two_conditions_are_one(folder):
    assert failed(folder, 2, "show", "--where", "base == 1", "--where",
                  "base == 2", "t.cst") == (
        "cstrace show: --where is there twice: one condition can have several "
        "parts, with && and ||\n")
