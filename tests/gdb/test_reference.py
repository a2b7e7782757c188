# SPDX-License-Identifier: MIT
"""Call for call against the truth: a recorder that does nothing clever, and a
program that writes down itself what it calls."""

import os
import re
import subprocess
import sys

import pytest

from lib_build import FOUR, TARGETS, TESTS, VARIANTS, build, build_library
from lib_tree import read_jsonl

sys.path.insert(0, str(TESTS / "reference"))

import tree as reference  # noqa: E402

QUIET = "set cstrace live off"
# binutils do not get clang's inlined chains at -O2 right.
FIXED = [v for v in VARIANTS if not v.is_pie
         and (v.compiler, v.level) != ("clang", "-O2")]
SAVE = ("cstrace save t.jsonl",)
N_SEEDS = 30 if os.environ.get("CSTRACE_TEST_LONG") == "1" else 3


def recorded_otherwise(program, folder, args):
    recorder = build_library(str(TESTS / "reference" / "recorder.c"),
                             is_traced=False)
    path = folder / "events"
    env = dict(os.environ, LD_PRELOAD=str(recorder),
               CSTRACE_REFERENCE=str(path))
    subprocess.run([str(program), *map(str, args)], env=env, cwd=folder,
                   stdout=subprocess.DEVNULL, check=True, timeout=240)
    return reference.trees(program, path)


def place(call):
    if call["file"] is None or call["file"].startswith("./"):
        return None
    name = os.path.basename(call["file"])
    return "%s:%d" % (name, call["line"]) if call["line"] else name


def traced(path):
    """The calls from our JSON lines, depth by the parents' links."""
    depths, found = {}, {}
    for call in read_jsonl(path):
        if "kind" in call:  # an exception is no call
            continue
        parent = call["parent"]
        depths[call["id"]] = 0 if parent is None else depths[parent] + 1
        found.setdefault(call["thread"], []).append(
            (depths[call["id"]], call["function"], place(call)))
    return found


def only_known(calls, program_files):
    """Places in the C library are known where its debug information is."""
    return [(depth, name, where if where and where.split(":")[0]
             in program_files else None) for depth, name, where in calls]


def first_difference(expected, got):
    for i, (a, b) in enumerate(zip(expected, got)):
        if a != b:
            return "call %d\n%s\nbut\n%s" % (
                i + 1, "\n".join(expected[max(0, i - 8):i + 1]),
                "\n".join(got[max(0, i - 8):i + 1]))
    return "%d calls, not %d" % (len(got), len(expected))


def compare(gdb, folder, source, args, variant, *settings, has_lines=True):
    program = build(source, variant=variant)
    expected = recorded_otherwise(program, folder, args)
    gdb(program, QUIET, *settings, "cstrace start", "run", *SAVE, args=args)
    got = traced(folder / "t.jsonl")
    assert len(got) == len(expected)
    files = {where.split(":")[0] for calls in expected.values()
             for _, _, where in calls if where}
    files &= {path.name for path in TARGETS.iterdir()} if has_lines else set()
    theirs = [only_known(calls, files) for calls in expected.values()]
    ours = [only_known(calls, files) for calls in got.values()]
    for mine, other in zip(sorted(ours, key=str), sorted(theirs, key=str)):
        expected, got = (["%s%s %s" % ("  " * depth, name, where)
                          for depth, name, where in calls]
                         for calls in (other, mine))
        assert got == expected, first_difference(expected, got)
    return sum(map(len, ours))


@pytest.mark.parametrize("variant", FIXED, ids=str)
@pytest.mark.parametrize("source, args, n_calls", [
    ("calls.c", (), 18), ("inlined.c", (), 12), ("life.c", (), 8),
    ("crew.c", (4, 50), 605)], ids=str)
def test_same_as_the_plain_recorder(gdb, tmp_path, variant, source, args,
                                    n_calls):
    assert compare(gdb, tmp_path, source, args, variant) == n_calls


@pytest.mark.parametrize("variant", FIXED, ids=str)
def test_same_as_the_plain_recorder_in_the_library(gdb, tmp_path, variant):
    # addr2line mistakes its headers for the program's file.
    n = compare(gdb, tmp_path, "sorted.cc", (), variant, "set cstrace std on",
                has_lines=False)
    assert n > 1000


def written_down(path):
    found = []
    for line in path.read_text().splitlines():
        depth, name, number = line.split()
        found.append("%s%s %s" % ("  " * int(depth), name, number))
    return found


def seen(path):
    calls, = traced(path).values()
    found = []
    for depth, name, where in calls:
        known = where and where.startswith("oracle.cc:")
        number = where.split(":")[1] if known else "0"
        found.append("%s%s %s" % ("  " * depth, re.sub(r"\(.*", "", name),
                                  number))
    return found


def check_oracle(gdb, folder, variant, seed, *settings, n_calls=3000,
                 options=""):
    run = gdb(build("oracle.cc", variant=variant), QUIET, *settings,
              "cstrace start" + options, "run", *SAVE,
              args=[seed, n_calls, "log"])
    assert "exited normally" in run.out
    expected, got = written_down(folder / "log"), seen(folder / "t.jsonl")
    assert expected == got, first_difference(expected, got)


@pytest.mark.parametrize("variant", FOUR, ids=str)
@pytest.mark.parametrize("seed", range(1, N_SEEDS + 1))
def test_same_as_the_program_says(gdb, tmp_path, variant, seed):
    """Exceptions, longjmp, recursion, callbacks and inlining at random."""
    check_oracle(gdb, tmp_path, variant, seed)


def test_same_as_the_program_says_with_a_small_pool(gdb, tmp_path):
    check_oracle(gdb, tmp_path, FOUR[0], 7, "set cstrace pool 512K",
                 n_calls=60000)


@pytest.mark.parametrize("method", ["breakpoint", "handshake"])
def test_same_as_the_program_says_in_sync(gdb, tmp_path, method):
    check_oracle(gdb, tmp_path, FOUR[0], 8,
                 "set cstrace sync-method " + method, n_calls=800,
                 options=" -sync")
