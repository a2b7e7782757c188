# SPDX-License-Identifier: MIT
"""The calls of one function as a list, in gdb and by the command."""

import csv
import io
import json
import re

import pytest

from lib_build import ROOT, build
from lib_cstrace import cstrace

ROW = re.compile(r"^ *[\d.]+ +[\d.]+ \w+\*? +([\d.]+) +(.*)$", re.M)


def rows(text):
    """Each row's ID, and what stands behind it."""
    return ROW.findall(text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With "shop.cst": 2 clerks and main serve 6 orders."""
    folder = tmp_path_factory.mktemp("calls")
    done = cstrace(folder, "record", "-o", "shop.cst", build("shop.cc"))
    assert done.status == 0, done.err
    return folder


def listed(folder, *words):
    """The rows of `cstrace calls --format json`."""
    done = cstrace(folder, "calls", "--format", "json", *words)
    assert (done.status, done.err) == (0, "")
    return json.loads(done.out)["rows"]


def traced(folder, trace="shop.cst"):
    """All calls of the trace, the library's too, by ID."""
    done = cstrace(folder, "save", "--format", "jsonl", "--std", trace, "-")
    return {call["id"]: call for call in map(json.loads, done.out.splitlines())}


def test_each_call_with_its_caller(folder):
    """In order of time, as the trace has them."""
    calls = traced(folder)
    expected = [i for i, c in calls.items() if c["name"] == "Shop::total"]
    found = listed(folder, "--std", "shop.cst", "Shop::total")
    assert [row["id"] for row in found] == expected and len(expected) == 6
    for row in found:
        call = calls[row["id"]]
        assert row["caller"] == calls[call["parent"]]["function"]
        for key in ("parent", "start_ns", "duration_ns", "end", "function",
                    "name", "symbol", "module", "file", "line", "process",
                    "thread"):
            assert row[key] == call[key]


def test_a_row_of_text_names_caller_and_line(folder):
    done = cstrace(folder, "calls", "shop.cst", "Shop::total")
    assert (done.status, done.err) == (0, "")
    found = rows(done.out)
    assert [i for i, _ in found] == [
        r["id"] for r in listed(folder, "shop.cst", "Shop::total")]
    for _, text in found:
        assert re.fullmatch(
            r"Shop::total  from Shop::serve\(Order\)  shop.cc:\d+", text)
    assert "CALL  (FROM)\n" in done.out


def test_a_caller_that_is_hidden_is_passed_over(folder):
    """The nearest one that is shown is named, and the line in it."""
    found = listed(folder, "--exclude", "Shop::serve", "shop.cst",
                   "Shop::total")
    assert {row["caller_name"] for row in found} == {"Clerk::operator()",
                                                     "main"}
    serves = listed(folder, "--under", "Clerk::operator()", "shop.cst",
                    "Shop::serve")
    assert {row["line"] for row in serves} <= {row["line"] for row in found}


@pytest.mark.parametrize("key, order", [
    ("time", lambda row: row["start_ns"]),
    ("duration", lambda row: -row["duration_ns"]),
    ("id", lambda row: [int(n) for n in row["id"].split(".")]),
    ("caller", lambda row: (row["caller_name"], row["line"],
                            row["start_ns"])),
    ("thread", lambda row: (int(row["id"].split(".")[0]), row["start_ns"]))])
def test_the_order(folder, key, order):
    found = listed(folder, "--sort", key, "shop.cst", "/^Shop::(total|serve)$/")
    assert len(found) == 6 + 8
    assert found == sorted(found, key=order)
    first = listed(folder, "--sort", key, "--limit", "4", "shop.cst",
                   "/^Shop::(total|serve)$/")
    assert first == found[:4]


def test_the_limit_is_said(folder):
    done = cstrace(folder, "calls", "--limit", "2", "shop.cst", "Shop::total")
    assert len(rows(done.out)) == 2
    assert done.out.endswith("# 2 of 6 calls\n")


def test_the_last_ones(folder):
    """They are the last of the function, not of all calls; then sorted."""
    every = listed(folder, "shop.cst", "Shop::total")
    assert listed(folder, "--last", "2", "shop.cst",
                  "Shop::total") == every[-2:]
    assert listed(folder, "--last", "2", "--sort", "duration", "shop.cst",
                  "Shop::total") == sorted(
                      every[-2:], key=lambda row: -row["duration_ns"])


def test_many_calls_are_cut_to_the_limit(folder):
    """More of them than are kept at a time."""
    cstrace(folder, "record", "-o", "many.cst", build("many.c"))
    names = [c["name"] for c in traced(folder, "many.cst").values()]
    name = max(set(names), key=names.count)
    assert names.count(name) > 4096
    every = listed(folder, "--sort", "duration", "many.cst", name)
    assert len(every) == names.count(name)
    assert listed(folder, "--sort", "duration", "--limit", "5", "many.cst",
                  name) == every[:5]
    by_time = listed(folder, "many.cst", name)
    assert listed(folder, "--last", "5", "many.cst", name) == by_time[-5:]


def test_under_a_function_or_an_id(folder):
    every = listed(folder, "shop.cst", "Shop::total")
    clerks = listed(folder, "--under", "Clerk::operator()", "shop.cst",
                    "Shop::total")
    assert clerks == [r for r in every if not r["id"].startswith("1.")]
    # A call does not lie under itself.
    inner = listed(folder, "--under", "Shop::serve", "shop.cst", "Shop::serve")
    assert [row["caller_name"] for row in inner] == ["Shop::serve"]
    parent = inner[0]["parent"]
    assert listed(folder, "--under", parent, "shop.cst",
                  "Shop::serve") == inner


def test_a_thread(folder):
    every = listed(folder, "shop.cst", "Shop::serve")
    thread = every[0]["id"].partition(".")[0]
    found = listed(folder, "--thread", thread, "shop.cst", "Shop::serve")
    assert found == [r for r in every if r["id"].startswith(thread + ".")]


def test_values(folder):
    """Arguments and results, as text, as JSON and in order of duration."""
    program = build("valued.c", "-DCSTRACE", "-I%s" % (ROOT / "cshim/include"))
    done = cstrace(folder, "record", "-o", "valued.cst", program)
    assert done.status == 0, done.err
    done = cstrace(folder, "calls", "valued.cst", "scale")
    assert [re.sub(r"  from.*", "", text) for _, text in rows(done.out)] == [
        'scale(by=1, what="b") = 1', 'scale(by=2, what="c") = 4',
        'scale(by=3, what="b") = 3', 'scale(by=4, what="c") = 8',
        'scale(by=5, what="b") = 5']
    for sort in ("time", "duration"):
        found = listed(folder, "--sort", sort, "valued.cst", "scale")
        assert len(found) == 5
        for row in found:
            by, what = row["args"]["by"], row["args"]["what"]
            assert row["result"] == by * (1 if what == "b" else 2)
    found = listed(folder, "valued.cst", "round")
    assert [row["args"] for row in found] == [{"i": n} for n in range(1, 6)]


def test_csv_has_what_json_has(folder):
    done = cstrace(folder, "calls", "--format", "csv", "shop.cst",
                   "Shop::total")
    lines = list(csv.DictReader(io.StringIO(done.out)))
    expected = listed(folder, "shop.cst", "Shop::total")
    assert [line["id"] for line in lines] == [row["id"] for row in expected]
    assert set(lines[0]) == set(expected[0])


@pytest.mark.parametrize("words, part", [
    (["nope"], "no function matches 'nope'"),
    (["Shop::totla"], "did you mean Shop::total?"),
    (["--under", "nope", "Shop::total"], "no function matches 'nope'"),
    (["--under", "1.999999", "Shop::total"], "no call 1.999999"),
    (["--sort", "size", "Shop::total"], "bad value 'size' for --sort"),
    (["--under", "main", "--filter", "main", "f"], "give one of them"),
    (["--filter", "Shop::total", "Shop::serve"],
     "no such calls (filter Shop::total)"),
    (["_M_get_node"], "C++ library's"),
    (["("], "regex")])
def test_mistakes(folder, words, part):
    done = cstrace(folder, "calls", *words[:-1], "shop.cst", words[-1])
    assert done.status in (1, 2) and done.out == ""
    assert part in done.err and len(done.err.splitlines()) == 1


def test_which_function(folder):
    done = cstrace(folder, "calls", "shop.cst")
    assert done.status == 2 and "which function?" in done.err


def test_in_gdb(gdb, folder):
    run = gdb(None, "cstrace load %s/shop.cst" % folder,
              "cstrace calls -sort duration -limit 3 -under main Shop::total")
    done = cstrace(folder, "calls", "--sort", "duration", "--limit", "3",
                   "--under", "main", "shop.cst", "Shop::total")
    assert done.out and done.out in run.out


def test_while_the_program_stands(gdb):
    """A call that is open has no duration yet; gdb's stop is marked."""
    run = gdb(build("../../examples/calc.c"), "set cstrace live off", "cstrace start",
              "break number", "run", "cstrace calls factor",
              "continue", "delete", "continue", "cstrace calls number",
              args=["1+2"])
    assert re.search(r"open +1\.5 +factor  from product  calc\.c:60", run.out)
    assert len(re.findall(r"number  from factor  calc\.c:52", run.out)) == 2


@pytest.mark.parametrize("words, part", [
    ("", "which function?"),
    ("-sort size f", "-sort wants one of time, duration, id, caller, thread"),
    ("-under a -filter b f", "-under takes the place of -filter"),
    ("-limit x f", '-limit wants a number, not "x"'),
    ("nope", "no function matches 'nope'")])
def test_mistakes_in_gdb(gdb, folder, words, part):
    run = gdb(None, "cstrace load %s/shop.cst" % folder,
              "cstrace calls " + words)
    assert part in run.out


def test_completion_in_gdb(gdb, folder):
    run = gdb(None, "cstrace load %s/shop.cst" % folder,
              "complete cstrace calls -so", "complete cstrace calls -sort d",
              "complete cstrace calls Shop::tot",
              "complete cstrace calls -under Shop::to")
    assert run.lines()[-4:] == [
        "cstrace calls -sort", "cstrace calls -sort duration",
        "cstrace calls Shop::total", "cstrace calls -under Shop::total"]
