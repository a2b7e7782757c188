# SPDX-License-Identifier: MIT
"""The section values: what a call costs whose arguments and result are copied,
and how large it is in the file."""

import os

import bench_build as build
import running
from table import median, rounds

LOOPS = 100
# What is called, and how much longer a call may take than without its values.
CALLS = {"ints": ("two integers", 1.4), "texts": ("one short C string", 3)}
MOST_BYTES = 12
# Two thousand functions with pointers and numbers.
WIDE = "wide-O2"


def _recorded(program, size, *options):
    """What a run took, and its bytes a call in the file."""
    path = build.built("values.cst")
    try:
        running.run([build.COMMAND, "record", *options, "-o", path, "--",
                     build.built(program), *running.arguments(1, size)])
        took = running.Took(running.OUT)
        return took, os.path.getsize(path) / took.calls
    finally:
        if os.path.exists(path):
            os.remove(path)


def _rows(table, name, level):
    words, goal = CALLS[name]
    program = "values-%s-%s" % (name, level)
    got = rounds({"with": lambda: _recorded(program, LOOPS, "--args"),
                  "without": lambda: _recorded(program, LOOPS)})
    for what, key, wanted in (
            ("", lambda run: run[0].cpu, ("<=", goal)),
            (", until read", lambda run: run[0].wall, None)):
        ours, bare = (median(got[n], key) for n in ("with", "without"))
        table.row("%s -%s%s" % (words, level, what), "%.1f ns" % ours,
                  "%.1f without values" % bare, ours / bare, wanted)


def _in_gdb(table):
    """The default in gdb."""
    got = rounds({
        "with": lambda: running.traced(WIDE, 1, 600,
                                       before=("set cstrace live off",)),
        "without": lambda: running.traced(WIDE, 1, 600)})
    ours, bare = (median(got[n], lambda run: run.cpu)
                  for n in ("with", "without"))
    table.row("many functions, in gdb", "%.1f ns" % ours,
              "%.1f without values" % bare, ours / bare, None)


def values(table):
    table.section("values", "a call with its arguments and its result: the "
                            "program's own\nprocessor time, then the time "
                            "until the reader has followed; and bytes a call")
    for name in CALLS:
        for level in build.LEVELS:
            _rows(table, name, level)
    _in_gdb(table)
    got = rounds({"with": lambda: _recorded(WIDE, 600, "--args"),
                  "without": lambda: _recorded(WIDE, 600)})
    ours, bare = (median(got[n], lambda run: run[1])
                  for n in ("with", "without"))
    table.row("a program of many functions", "%.1f B" % ours,
              "%.1f B without values" % bare, ours, ("<=", MOST_BYTES), "B")
