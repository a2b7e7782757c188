# SPDX-License-Identifier: MIT
"""The section own: what the uses of cstrace.h cost."""

import os

import bench_build as build
import running
from table import median, rounds

TIMES = 1000000
USES = {"span": "a span", "values": "a span with two values",
        "message": "a message", "counter": "a counter",
        "function": "a function by macro"}


def _run(prefix=(), **more):
    """What own.c wrote: name -> ns."""
    out = build.built("own.out")
    running.run([*prefix, build.built("own"), str(TIMES), out],
                env=running.environment(**more))
    with open(out) as f:
        return {name: float(value) for name, value in
                (word.split("=") for word in f.read().split())}


def _recorded():
    path = build.built("own.cst")
    try:
        return _run([build.COMMAND, "record", "-o", path, "--"])
    finally:
        if os.path.exists(path):
            os.remove(path)


def own(table):
    table.section("own", "ns a use of cstrace.h: nobody watches, against "
                         "without the library")
    got = rounds({"without": _run,
                  "idle": lambda: _run(LD_PRELOAD=build.SHIM),
                  "watched": _recorded})
    for use, words in USES.items():
        idle, without, watched = (median(got[name], lambda run: run[use])
                                  for name in ("idle", "without", "watched"))
        table.row(words, "%.1f ns" % idle, "%.1f without" % without,
                  idle, ("<=", 5), unit="ns")
        table.row("", "%.1f ns" % watched, "watched by cstrace record",
                  watched, unit="ns")
    callback = median(got["idle"], lambda run: run["callback"])
    table.row("a callback at the entry", "%.1f ns" % callback, "no tracer",
              callback, unit="ns")
