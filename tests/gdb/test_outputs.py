# SPDX-License-Identifier: MIT
"""Answers for programs: one JSON document, or CSV with a line of columns."""

import csv
import io
import json
import subprocess

import pytest

from lib_cstrace import compile_c, cstrace, record

SOURCE = """
static int leaf(int n) { return n + 1; }
static int extra(int n) { return n; }
static int branch(int n) { return leaf(n) + leaf(n + 1); }
int main(int argc, char **argv)
{
	int n = branch(1);
	if (argc > 1)
		n = extra(leaf(n));
	return n + leaf(2) > 0 ? 0 : 1;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With "a.cst" and "b.cst", of which b has two calls more."""
    folder = tmp_path_factory.mktemp("outputs")
    compile_c(folder, "app", SOURCE)
    record(folder, "a.cst", "app")
    record(folder, "b.cst", "app", "more")
    assert cstrace(folder, "expect", "--make", "a.cst", "a.golden").status == 0
    return folder


def asked(folder, *words):
    """The JSON document, and the rows of the CSV, which are in it as well."""
    done = cstrace(folder, *words, "--format", "json")
    table = cstrace(folder, *words, "--format", "csv")
    assert (done.err, table.err) == ("", "")
    assert done.status == table.status
    return (done.status, json.loads(done.out),
            list(csv.DictReader(io.StringIO(table.out), strict=True)))


def test_info(folder):
    status, found, rows = asked(folder, "info", "b.cst")
    assert status == 0
    assert found["calls"] == 7 and found["is_whole"] is True
    assert found["command"].endswith("app more")
    assert found["duration_ns"] > 0 and found["untraced"] == []
    assert found["modules"][0]["path"].endswith("/app")
    assert {row["key"]: row["value"] for row in rows}["calls"] == "7"
    assert list(rows[0]) == ["key", "value"]


def test_diff(folder):
    status, found, rows = asked(folder, "diff", "a.cst", "b.cst")
    assert status == 1
    assert (found["differs_in_flow"], found["differs_in_time"]) == (True, False)
    assert (found["calls_a"], found["calls_b"]) == (5, 7)
    parting = [row for row in found["rows"] if row["kind"] == "parting"]
    assert [(row["trace"], row["id"], row["function"], row["line"])
            for row in parting] == [("a", "1.5", "leaf", 10),
                                    ("b", "1.5", "leaf", 9)]
    calls = {(row["function"], row["line"]): (row["calls_a"], row["calls_b"])
             for row in found["rows"] if row["kind"] == "calls"}
    assert calls == {("leaf", 9): (0, 1), ("extra", 9): (0, 1)}
    assert [row["function"] for row in rows] == [
        row["function"] for row in found["rows"]]


def test_diff_of_equal_ones(folder):
    status, found, rows = asked(folder, "diff", "a.cst", "a.cst")
    assert (status, found["differs_in_flow"]) == (0, False)
    assert found["rows"] == rows == []


def test_diff_has_times(folder):
    words = "diff", "a.cst", "b.cst", "--times", "0"
    _, found, _ = asked(folder, *words)
    times = [row for row in found["rows"] if row["kind"] == "time"]
    assert found["differs_in_time"] is bool(times)
    for row in times:
        assert row["total_a_ns"] != row["total_b_ns"]


def test_expect_of_calls_that_differ(folder):
    status, found, rows = asked(folder, "expect", "b.cst", "a.golden")
    assert (status, found["matches"]) == (1, False)
    assert [(row["id"], row["function"], row["is_wrong"])
            for row in found["rows"]] == [("1.1", "main", False),
                                          ("1.6", "extra", True)]
    assert "but this call is made" in found["rows"][1]["message"]
    assert rows[1]["function"] == "extra"


def test_expect_of_calls_that_match(folder):
    status, found, rows = asked(folder, "expect", "a.cst", "a.golden")
    assert (status, found["matches"], found["rows"]) == (0, True, [])
    assert rows == []


def test_expect_of_a_thread_that_never_came(folder):
    (folder / "two.golden").write_text(
        (folder / "a.golden").read_text() + "\nthread 2:\n  main\n")
    status, found, _ = asked(folder, "expect", "a.cst", "two.golden")
    assert (status, len(found["rows"])) == (1, 1)
    assert "no thread in the trace is this one" in found["rows"][0]["message"]
    assert found["rows"][0]["function"] is None


def test_report_by_callsite(folder):
    status, found, rows = asked(folder, "report", "b.cst", "--by", "callsite",
                                "^leaf$", "--sort", "calls")
    assert status == 0
    assert sorted(row["line"] for row in found["rows"]) == [4, 9, 10]
    assert sum(row["calls"] for row in found["rows"]) == 4
    assert all(row["file"].endswith("app.c") for row in rows)


def test_check(folder):
    status, found, rows = asked(folder, "check", "app")
    assert (status, found["is_good"]) == (0, True)
    kinds = [row["kind"] for row in found["rows"]]
    assert kinds[0] == "verdict" and kinds[-1] == "unit"
    assert "4 of 4 functions" in found["rows"][0]["text"]
    assert found["rows"][-1]["functions_with_hooks"] == 4
    assert {row["name"] for row in rows if row["kind"] == "fact"} >= {
        "file", "hooks", "debug info", "symbols"}


def test_check_of_what_cannot_be_traced(folder):
    subprocess.run(["gcc", "-g", "-static", "app.c", "-o", "alone"],
                   cwd=folder, check=True)
    status, found, rows = asked(folder, "check", "alone")
    assert (status, found["is_good"]) == (1, False)
    assert "no -finstrument-functions hooks" in found["rows"][0]["text"]
    assert rows[0]["advice"].startswith("compile it with gcc or clang")
    status, found, _ = asked(folder, "check", "app.c")
    assert (status, len(found["rows"])) == (1, 1)


def test_check_of_what_is_patched(folder):
    subprocess.run(["gcc", "-g", "app.c", "-o", "plain"], cwd=folder,
                   check=True)
    status, found, rows = asked(folder, "check", "plain")
    assert (status, found["is_good"]) == (0, True)
    assert "is patched in memory" in found["rows"][0]["text"]
    assert "cstrace check --patch plain" in rows[0]["advice"]


def test_check_of_functions(folder):
    status, found, rows = asked(folder, "check", "app", "^(leaf|extra)$")
    assert (status, found["is_good"]) == (0, True)
    assert [(row["name"], row["line"]) for row in found["rows"][1:]] == [
        ("extra", 3), ("leaf", 2)]
    assert all("calls the hooks" in row["text"] for row in rows[1:])
    status, found, _ = asked(folder, "check", "app", "^nope$")
    assert (status, found["is_good"]) == (1, False)
    assert found["rows"][-1]["text"] == "no function matches"


def test_check_in_gdb_has_the_same_rows(gdb, folder):
    for regex in "", "^(leaf|extra)$":
        words = [regex] if regex else []
        run = gdb(folder / "app", "echo <<<\\n",
                  "cstrace check -format json " + regex)
        text = run.out.split("<<<\n")[1]
        found = json.loads(text[:text.rindex("}") + 1])
        _, of_command, _ = asked(folder, "check", "app", *words)
        assert found["is_good"] is of_command["is_good"]
        assert [(row["kind"], row["name"], row["line"])
                for row in found["rows"]] == [
            (row["kind"], row["name"], row["line"])
            for row in of_command["rows"]]
    run = gdb(folder / "app", "echo <<<\\n", "cstrace check -format csv")
    text = run.out.split("<<<\n")[1]
    assert list(csv.DictReader(io.StringIO(text), strict=True))[0][
        "kind"] == "verdict"


@pytest.mark.parametrize("command", ["info", "report", "graph", "diff b.cst",
                                     "expect a.golden"])
def test_in_gdb(gdb, folder, command):
    name, *rest = command.split()
    files = [str(folder / word) for word in rest]
    run = gdb(None, "cstrace load %s/a.cst" % folder, "echo <<<\\n",
              " ".join(["cstrace", name, "-format json", *files]))
    text = run.out.split("<<<\n")[1]
    assert json.loads(text[:text.rindex("}") + 1])
