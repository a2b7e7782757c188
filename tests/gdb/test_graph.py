# SPDX-License-Identifier: MIT
"""All calls as one folded tree, in gdb and in the command."""

import csv
import io
import json
import re

import pytest

from lib_build import build
from lib_cstrace import cstrace

ROW = re.compile(r"^ *(\d+)(?:  +[\d.]+ \w+){2} +[\d.]+%  ( *)(\S.*)$", re.M)


def paths(text):
    """Each row's calls and path, simple names: (6, "total serve")."""
    found, path = [], []
    for calls, indent, name in ROW.findall(text):
        name = re.sub(r"\(.*", "", name).split("::")[-1] or name
        path[len(indent) // 2:] = [name]
        found.append((int(calls), " ".join(path)))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With "shop.cst": 2 clerks and main serve 6 orders."""
    folder = tmp_path_factory.mktemp("graph")
    done = cstrace(folder, "record", "-o", "shop.cst", build("shop.cc"))
    assert done.status == 0, done.err
    return folder


def test_the_callers_and_callees_of_a_function(folder):
    done = cstrace(folder, "graph", "shop.cst", "shop::Shop::total")
    callers, callees = done.out.split("# Callees\n")
    assert (done.status, done.err) == (0, "")
    assert sorted(paths(callers)) == [
        (1, "total serve serve"), (1, "total serve serve main"),
        (5, "total serve operator"), (6, "total"), (6, "total serve")]
    assert paths(callees)[0] == (6, "total")
    assert (6, "total apply") in paths(callees)


def test_the_whole_tree_adds_up_to_the_report(folder):
    """Each call is in one row, and its own time as well."""
    tree = json.loads(cstrace(folder, "graph", "--format", "json",
                              "shop.cst").out)["rows"]
    report = json.loads(cstrace(folder, "report", "--format", "json",
                                "shop.cst").out)["rows"]
    sums = {}
    for row in tree:
        if not row["is_recursive"]:
            calls, self_ns = sums.get(row["symbol"], (0, 0))
            sums[row["symbol"]] = (calls + row["calls"],
                                   self_ns + row["self_ns"])
    assert sums == {row["symbol"]: (row["calls"], row["self_ns"])
                    for row in report}
    nodes = {row["node"]: row for row in tree}
    for row in tree:
        if row["above"] is not None:
            assert row["depth"] == nodes[row["above"]]["depth"] + 1


def test_csv_has_what_json_has(folder):
    words = ("graph", "shop.cst", "--limit", "9", "--format")
    rows = json.loads(cstrace(folder, *words, "json").out)["rows"]
    lines = csv.DictReader(io.StringIO(cstrace(folder, *words, "csv").out))
    assert [line["function"] for line in lines] == [
        row["function"] for row in rows]
    assert len(rows) == 9


def test_what_is_left_out_is_counted(folder):
    all_rows = len(ROW.findall(cstrace(folder, "graph", "shop.cst").out))
    done = cstrace(folder, "graph", "--limit", "4", "shop.cst")
    assert len(ROW.findall(done.out)) == 4
    assert ("# %d rows are left out; --limit 0 shows them\n" % (all_rows - 4)
            in done.out)
    done = cstrace(folder, "graph", "--depth", "1", "shop.cst")
    assert {path for _, path in paths(done.out)} >= {"main"}
    assert all(" " not in path for _, path in paths(done.out))
    assert " rows are left out; --depth 0 shows them\n" in done.out


def test_a_function_that_is_not_there(folder):
    done = cstrace(folder, "graph", "shop.cst", "nope")
    assert (done.out, done.err) == ("", "cstrace: no function matches 'nope'\n")
    assert cstrace(folder, "graph", "shop.cst", "(").status == 2
    done = cstrace(folder, "graph", "--min-share", "101", "shop.cst")
    assert "bad value '101' for --min-share" in done.err


def test_in_gdb(gdb, folder):
    run = gdb(None, "cstrace load %s/shop.cst" % folder,
              "cstrace graph -sort calls -depth 2 ^main$")
    done = cstrace(folder, "graph", "--sort", "calls", "--depth", "2",
                   "shop.cst", "^main$")
    text = done.out.replace("--std", "`set cstrace std on`")
    assert " left out; --depth 0 shows" in text
    assert text.replace("--depth", "-depth") in run.out


@pytest.mark.parametrize("words, part", [
    ("-min-share x", 'wants a percentage, as 1 or 0.5, not "x"'),
    ("-sort max", "-sort wants one of total, self, calls"),
    ("-format xml", "-format wants one of text, json, csv"),
    ("nope", "no function matches 'nope'")])
def test_mistakes_in_gdb(gdb, folder, words, part):
    run = gdb(None, "cstrace load %s/shop.cst" % folder,
              "cstrace graph " + words)
    assert part in run.out
