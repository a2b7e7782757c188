# SPDX-License-Identifier: MIT
"""The sync mode: each row is out before its function goes on, in exact order
with what the program itself writes."""

import collections
import re

import pytest

from lib_build import FOUR, build
from lib_tree import outcome, read_jsonl, rows

METHODS = ("breakpoint", "handshake")
SAVE = ("cstrace save t.txt", "cstrace save t.jsonl")


def interleaving(out):
    """Entries as function names, the program's lines as they are."""
    found = []
    for line in out.splitlines():
        if line.startswith("said "):
            found.append(line)
        for row in rows(line):
            if not row.is_close:
                found.append(row.text.split("  ")[0])
    return found


def expected():
    found = ["main", "say", "said main 0"]
    for n in (0, 10, 20):
        for name, number in (("outer", n), ("inner", n), ("inner", n + 1)):
            found += [name, "say", "said %s %d" % (name, number)]
    return found


@pytest.mark.parametrize("variant", FOUR, ids=str)
@pytest.mark.parametrize("method", METHODS)
def test_rows_and_output_interleave_exactly(gdb, tmp_path, method, variant):
    run = gdb(build("talk.c", variant=variant),
              "set cstrace sync-method " + method, "cstrace start -sync",
              "run", *SAVE)
    assert "exited normally" in run.out
    assert interleaving(run.out) == expected()


@pytest.mark.parametrize("method", METHODS)
def test_the_tree_is_that_of_ring_mode(gdb, tmp_path, method):
    trees = []
    for options in ("", " -sync"):
        gdb(build("calls.c"), "set cstrace live off",
            "set cstrace sync-method " + method, "cstrace start" + options,
            "run", *SAVE)
        trees.append(outcome(tmp_path))
    assert trees[0] == trees[1]


@pytest.mark.parametrize("method", METHODS)
def test_sync_from_the_middle(gdb, method):
    run = gdb(build("talk.c"), "set cstrace sync-method " + method,
              "break outer if n == 10", "run", "cstrace start -sync",
              "delete", "continue")
    after = run.out[run.out.index("cstrace: on"):]
    assert interleaving(after)[:7] == ["main", "outer", "say", "said outer 10",
                                       "inner", "say", "said inner 10"]


@pytest.mark.parametrize("method", METHODS)
def test_sync_ends_with_stop(gdb, method):
    run = gdb(build("talk.c"), "set cstrace sync-method " + method,
              "break outer if n == 10", "cstrace start -sync", "run",
              "cstrace stop", "delete", "continue")
    after = run.out[run.out.index("cstrace: off"):]
    assert interleaving(after) == [e for e in expected()[12:]
                                   if e.startswith("said")]
    assert "exited normally" in after


@pytest.mark.parametrize("method", METHODS)
def test_a_filter_does_not_disturb_the_order(gdb, method):
    run = gdb(build("talk.c"), "set cstrace sync-method " + method,
              "cstrace start -sync -exclude say", "run")
    assert interleaving(run.out) == [e for e in expected() if e != "say"]


def test_status_names_the_mode(gdb):
    for method in METHODS:
        run = gdb(build("talk.c"), "set cstrace live off", "break inner",
                  "set cstrace sync-method " + method, "cstrace start -sync",
                  "run", "cstrace status")
        assert re.search("^mode +%s$" % method, run.out, re.M)


@pytest.mark.parametrize("variant", FOUR, ids=str)
@pytest.mark.parametrize("method", METHODS)
def test_handlers_at_any_moment(gdb, tmp_path, method, variant):
    """gdb tells some hits twice when a signal comes."""
    run = gdb(build("alarms.c", variant=variant), "set cstrace live off",
              "handle SIGALRM nostop noprint pass",
              "set cstrace sync-method " + method, "cstrace start -sync",
              "run", SAVE[1])
    told = re.search(r"^(work \d+ .*)$", run.out, re.M)[1].split()
    calls = read_jsonl(tmp_path / "t.jsonl")
    assert collections.Counter(c["function"] for c in calls) == dict(
        zip(told[::2], map(int, told[1::2])))
    names = {c["id"]: c["function"] for c in calls}
    callers = {"main": {None}, "work": {"main", "work"},
               "handler": {"main", "work"},
               "in_handler": {"handler", "in_handler"}}
    for c in calls:
        assert names.get(c["parent"]) in callers[c["function"]], c
        assert c["end"] == "return"
