# SPDX-License-Identifier: MIT
"""The section record: cstrace record against uftrace record, each from its
start to its closed file."""

import os
import time

import bench_build as build
import running
from table import median, rounds

SIZES = {"fib": 32, "wide": 600}
MOST_BYTES = {"fib": 4, "wide": 6}
OURS, PACKED = build.built("record.cst"), build.built("packed.cst")


class Whole:
    """One run, seen from outside: what is added to the program's own time is
    the price, all of it."""

    def __init__(self, command, env):
        began = time.monotonic_ns()
        running.run(command, running.environment(**env))
        took = time.monotonic_ns() - began
        with open(running.OUT) as f:
            words = dict(w.split("=") for w in f.read().split())
        os.unlink(running.OUT)
        self.calls = int(words["calls"])
        self.ns = took


def variants(name):
    program = [build.built("%s-O2" % name),
               *running.arguments(1, SIZES[name])]
    return {
        "plain": lambda: Whole(program, {}),
        "uftrace": lambda: Whole(
            ["uftrace", "record", "--no-libcall", "--no-event", "-d",
             running.UFTRACE_DATA, *program], {}),
        "ours": lambda: Whole(
            [build.COMMAND, "record", "-o", OURS, *program], {}),
    }


def _bytes(table, name, calls):
    """The bytes as it was recorded in a hurry, and packed again."""
    running.run([build.COMMAND, "save", OURS, PACKED])
    for what, path in (("recorded", OURS), ("saved", PACKED)):
        got = os.path.getsize(path) / calls
        table.row("  bytes a call, %s" % what, "%.1f" % got,
                  "32 uftrace record", got, ("<=", MOST_BYTES[name]), "bytes")
    os.unlink(PACKED)


def record(table):
    table.section("record", "ns a call, end to end, the file closed")
    for name in SIZES:
        got = rounds(variants(name))
        calls = got["ours"][0].calls
        plain = median(got["plain"], lambda r: r.ns)
        ours = (median(got["ours"], lambda r: r.ns) - plain) / calls
        peer = (median(got["uftrace"], lambda r: r.ns) - plain) / calls
        table.row("%s -O2, 1 thread" % name, "%.1f" % ours,
                  "%.1f uftrace record" % peer, peer / ours, (">=", 3))
        _bytes(table, name, calls)
    os.unlink(OURS)
