# SPDX-License-Identifier: MIT
"""Threads: each has its tree and its name, and no call is lost or doubled."""

import re
from collections import Counter

import pytest

from lib_build import FOUR, build
from lib_tree import json_trees, own_sites, read_jsonl, rows, saved_trees, tree

SAVE = ("cstrace save t.txt", "cstrace save t.jsonl")

MEMBER = tree("""
    member
      two  crew.c:39
        one  crew.c:27
        one  crew.c:28
      two  crew.c:39
        one  crew.c:27
        one  crew.c:28
    """)


def own_trees(trees):
    return {name: own_sites(text) for name, text in trees.items()}


@pytest.mark.parametrize("n_threads", [2, 8])
@pytest.mark.parametrize("variant", FOUR, ids=str)
def test_each_thread_has_its_tree(gdb, tmp_path, variant, n_threads):
    gdb(build("crew.c", variant=variant), "cstrace start", "run", *SAVE,
        args=[n_threads, 2])
    trees = own_trees(json_trees(read_jsonl(tmp_path / "t.jsonl")))
    assert Counter(trees.values()) == {MEMBER: n_threads, "main\n": 1}


def test_each_thread_has_the_name_it_gave_itself(gdb, tmp_path):
    """A thread's first call is older than its name."""
    gdb(build("crew.c"), "cstrace start", "run", *SAVE, args=[8, 2])
    names = ["crew-%d" % (i + 1) for i in range(8)]
    assert own_trees(saved_trees(tmp_path / "t.txt")) == dict(
        {name: MEMBER for name in names}, crew="main\n")


def test_live_rows_name_their_thread(gdb):
    run = gdb(build("crew.c"), "cstrace start", "run", args=[3, 2])
    # While the first one is alone it needs no name.
    alone = [row.text for row in rows(run.out) if not row.tid]
    assert not alone or re.fullmatch(r"main(  \S+)?", *alone)
    threads = {row.tid for row in rows(run.out) if row.tid}
    assert len(threads) == 4
    for tid in threads:
        names = {row.thread for row in rows(run.out) if row.tid == tid}
        assert names & {"crew", "crew-1", "crew-2", "crew-3"}


def test_a_single_thread_is_not_named(gdb, tmp_path):
    run = gdb(build("calls.c"), "cstrace start", "run", *SAVE)
    assert {row.thread for row in rows(run.out)} == {""}
    assert "[" not in (tmp_path / "t.txt").read_text()


def test_ids_count_by_thread_in_order_of_first_calls(gdb, tmp_path):
    gdb(build("crew.c"), "cstrace start", "run", *SAVE, args=[4, 3])
    calls = read_jsonl(tmp_path / "t.jsonl")
    by_ordinal = {}
    for call in calls:
        ordinal, number = call["id"].split(".")
        by_ordinal.setdefault(int(ordinal), []).append(int(number))
    assert sorted(by_ordinal) == [1, 2, 3, 4, 5]
    assert by_ordinal[1] == [1]  # main's
    for ordinal in range(2, 6):
        assert by_ordinal[ordinal] == list(range(1, 11))


def expected(out):
    """What the program says that it called."""
    numbers = re.search(r"member (\d+) two (\d+) one (\d+)", out).groups()
    return dict(zip(("member", "two", "one"), map(int, numbers)), main=1)


def check_lossless(run, path):
    calls = read_jsonl(path)  # checks that no ID is there twice
    assert Counter(call["function"] for call in calls) == expected(run.out)
    assert {call["end"] for call in calls} == {"return"}
    parents = {call["id"]: call["function"] for call in calls}
    above = Counter((call["function"], parents.get(call["parent"]))
                    for call in calls)
    assert above["one", "two"] == expected(run.out)["one"]
    assert above["two", "member"] == expected(run.out)["two"]


@pytest.mark.parametrize("n_threads, n_rounds", [(1, 20000), (4, 5000),
                                                 (16, 2000), (48, 500)])
def test_nothing_is_lost_with_a_small_pool(gdb, tmp_path, n_threads, n_rounds):
    """512 KiB are eight chunks: fewer than threads, filled many times."""
    run = gdb(build("crew.c", variant=FOUR[1]), "set cstrace live off",
              "set cstrace pool 512K", "cstrace start", "run",
              "cstrace save t.jsonl", "cstrace status",
              args=[n_threads, n_rounds])
    check_lossless(run, tmp_path / "t.jsonl")
    assert re.search(r"^lost +none$", run.out, re.M)


def test_nothing_is_lost_live(gdb, tmp_path):
    run = gdb(build("crew.c", variant=FOUR[1]), "set cstrace pool 512K",
              "cstrace start", "run", "cstrace save t.jsonl", args=[4, 2000])
    check_lossless(run, tmp_path / "t.jsonl")
    live = Counter(row.text.split("  ")[0] for row in rows(run.out)
                   if not row.is_close)
    assert live == expected(run.out)


def test_nothing_is_lost_when_it_is_stopped_midway(gdb, tmp_path):
    run = gdb(build("crew.c"), "set cstrace live off",
              "set cstrace pool 512K", "break two", "ignore 1 1500",
              "cstrace start", "run", "info threads", "delete", "continue",
              "cstrace save t.jsonl", args=[4, 2000])
    assert "Breakpoint 1, " in run.out
    check_lossless(run, tmp_path / "t.jsonl")


@pytest.mark.parametrize("method", ["breakpoint", "handshake"])
def test_nothing_is_lost_or_doubled_in_sync(gdb, tmp_path, method):
    run = gdb(build("crew.c"), "set cstrace live off",
              "set cstrace sync-method " + method, "cstrace start -sync",
              "run", "cstrace save t.jsonl", args=[4, 50])
    check_lossless(run, tmp_path / "t.jsonl")
