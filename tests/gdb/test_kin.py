# SPDX-License-Identifier: MIT
"""Every way to have children or to become another program, by `cstrace record`
and by gdb: each process's calls, below those that were open when it began."""

import collections
import json

import pytest

from lib_build import build
from lib_cstrace import command
from lib_formats import chrome
from lib_record import compiled, record
from test_record_file import alone

LEAVES = {"main": 1, "main leaf": 1}  # a program that was started
WORK = {"": 1, " leaf": 2}  # of work()


def below(path, *trees):
    """Their calls, below that one."""
    return {path + name: n for tree in trees for name, n in tree.items()}


def total(*trees):
    return dict(sum(map(collections.Counter, trees), collections.Counter()))


def times(n, tree):
    return {name: n * count for name, count in tree.items()}


def opened(*names):
    """Calls that never end, each below the last."""
    return {" ".join(names[:i + 1]) + "?": 1 for i in range(len(names))}


def run(name):
    """main and the way it goes, to their ends."""
    return {"main": 1, "main " + name: 1}


def worked(path, n=1):
    return times(n, below(path + " work", WORK))


TREES = {
    "popen": total(run("by_popen"), times(2, {"main by_popen leaf": 1}),
                   worked("main by_popen"),
                   {"main": 1, "main say": 1, "main say leaf": 1}),
    "spawn": total(run("by_spawn"), worked("main by_spawn"), LEAVES),
    # The child runs on its parent's stack until it execs.
    "vfork": total(run("by_vfork"), {"main by_vfork leaf": 1,
                                     "main by_vfork become!": 1},
                   worked("main by_vfork"), LEAVES),
    "thread": total(opened("main", "by_thread"),
                    opened("exec_beside", "become"), LEAVES),
    "descriptor": total(opened("main", "by_descriptor"), LEAVES),
    "pool": total(run("pool"), worked("main pool", 1 + 1 + 2 + 3 + 4),
                  times(4, opened("main", "pool"))),
    "crowd": total(run("crowd"), times(100, total(
        {"main crowd fork_late": 1}, opened("main", "crowd", "fork_late"),
        worked("main crowd fork_late")))),
    "beside": total(run("from_thread"), worked("main from_thread"),
                    {"fork_beside": 1}, opened("fork_beside"),
                    worked("fork_beside")),
    "return": total(times(2, total(run("through_return"),
                                   {"main through_return returns_twice": 1},
                                   worked("main through_return")))),
    "clone": total(run("by_clone"), worked("main by_clone"), {"in_clone": 1},
                   worked("in_clone")),
    "close": total(run("close_all"), opened("main", "close_all"),
                   worked("main close_all")),
    "kill": total(run("killed"), opened("main", "killed"),
                  worked("main killed")),
}

SHORT = {"return": "", "unwound": "!", "open": "?"}


def tree_of(calls):
    """How often each call was made, by its callers' names and its own."""
    paths, found = {None: ()}, collections.Counter()
    for call in calls:
        path = paths[call["parent"]] + (call["function"],)
        paths[call["id"]] = path
        found[" ".join(path) + SHORT[call["end"]]] += 1
    return dict(found)


@pytest.mark.parametrize("way", TREES)
def test_recorded(tmp_path, way):
    done, found = record(tmp_path, build("kin.c"), way)
    assert done.returncode == 3
    assert tree_of(found) == TREES[way]


def test_a_family_of_forks(tmp_path):
    _done, found = record(tmp_path, build("kin.c"), "family")
    families = [c for c in found if c["function"] == "family"
                and c["end"] == "return"]
    assert len({c["process"] for c in found}) == 15  # 1 + 2 + 4 + 8
    # Each child ends the call that it made, and none of those it began with.
    assert sorted(c["depth"] for c in families) == (
        [2] + [3] * 2 + [4] * 4 + [5] * 8)


@pytest.mark.parametrize("follow", ["parent", "child"])
@pytest.mark.parametrize("way", ["popen", "vfork", "thread", "pool", "clone"])
def test_in_gdb(gdb, tmp_path, way, follow):
    (tmp_path / "end").touch()
    gdb(build("kin.c"), "set cstrace live off",
        "set follow-fork-mode " + follow, "cstrace start", "run",
        "shell flock end true", "cstrace save t.jsonl", args=[way])
    lines = (tmp_path / "t.jsonl").read_text().splitlines()
    assert tree_of(map(json.loads, lines)) == TREES[way]


# Each child is over before the next begins, and leaves calls open.
ONE_BY_ONE = """
    #include <stdlib.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static void leave(int how) { if (how % 2) _exit(0); exit(0); }
    int main(void)
    {
        for (int i = 0; i < 8; i++) {
            if (!fork())
                leave(i);
            wait(NULL);
        }
        return 0;
    }
    """


@pytest.mark.parametrize("how", ["record", "gdb", "alone"])
def test_what_a_child_leaves_open_ends_with_it(gdb, tmp_path, how):
    """And what it was forked with is its own from then on."""
    program = compiled(tmp_path, ONE_BY_ONE, "one_by_one")
    trace = "t.area" if how == "alone" else "t.cst"
    if how == "record":
        assert command("record", "-o", "t.cst", program,
                       cwd=tmp_path).returncode == 0
    elif how == "gdb":
        gdb(program, "set cstrace live off", "cstrace start", "run",
            "cstrace save t.cst")
    else:
        alone(tmp_path, program, path=trace)
    done = command("save", trace, "t.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    spans = {}
    events, _tracks = chrome((tmp_path / "t.json").read_bytes())
    for e in events:
        spans.setdefault(e["pid"], []).append((e["ts"], e["ts"] + e["dur"]))
    parent, *children = spans.values()
    assert len(parent) == 1 and [len(s) for s in children] == [2] * 8
    assert all(parent[0][0] <= begin <= end <= parent[0][1]
               for child in children for begin, end in child)
    for child, following in zip(children, children[1:]):
        assert max(end for _, end in child) \
            <= min(begin for begin, _ in following)
