# SPDX-License-Identifier: MIT
"""The sections sync, stop-when and log: what costs gdb's own ways a stop."""

import bench_build as build
import running
from table import median, rounds

PROGRAM, CALLS = "loop-O0", 1000


def _floor():
    """gdb, two breakpoints whose condition is false."""
    return running.under_gdb(
        PROGRAM, 1, CALLS,
        "set environment LD_PRELOAD " + build.built("targets.so"),
        "set breakpoint pending on",
        "break bench_enter if 0", "break bench_exit if 0")


def _ours(method):
    return running.traced(PROGRAM, 1, CALLS,
                          ["set cstrace sync-method " + method], " -sync")


def sync(table):
    table.section("sync", "us an event (an entry or an exit), rows to gdb's "
                          "output;\nfloor: gdb's breakpoints on two no-op "
                          "functions, condition `if 0`")
    got = rounds({"floor": _floor, "breakpoint": lambda: _ours("breakpoint"),
                  "handshake": lambda: _ours("handshake")})
    took = {name: median(runs, lambda run: run.wall / 2000)
            for name, runs in got.items()}
    floor = took["floor"]
    table.row("breakpoint, an event", "%.1f us" % took["breakpoint"],
              "%.1f us floor" % floor, took["breakpoint"] / floor,
              ("<=", 1.25))
    table.row("breakpoint, a stop", "%.1f us" % (2 * took["breakpoint"]),
              "%.1f us floor" % floor, 2 * took["breakpoint"] / floor)
    table.row("handshake, an event", "%.1f us" % took["handshake"],
              "%.1f us floor" % floor, floor / took["handshake"], (">=", 8))


MANY = 10_000_000


def conditions(table):
    """Each is true for no call."""
    table.section("stop-when", "us for a call that a condition is not true "
                               "for; gdb's own: `break turn if 0`, and "
                               "`if n == N`")
    got = rounds({
        "gdb": lambda: running.under_gdb(PROGRAM, 1, CALLS, "break turn if 0"),
        "gdb value": lambda: running.under_gdb(
            PROGRAM, 1, CALLS, "break turn if n == %d" % MANY),
        "stop-when": lambda: running.traced(
            PROGRAM, 1, MANY,
            ["cstrace stop-when turn -count %d" % (MANY + 1)]),
        "value": lambda: running.traced(
            PROGRAM, 1, MANY,
            ["cstrace stop-when turn -where 'n == %d'" % MANY]),
    })
    took = {name: median(runs, lambda run: run.wall / 1000)
            for name, runs in got.items()}
    table.row("stop-when -count", "%.3f us" % took["stop-when"],
              "%.1f us gdb" % took["gdb"], took["gdb"] / took["stop-when"])
    table.row("stop-when -where", "%.3f us" % took["value"],
              "%.1f us gdb" % took["gdb value"],
              took["gdb value"] / took["value"])


LOG_CALLS = 300_000


def _logged(program, options=""):
    """A call with its row, its value and the line."""
    return running.traced(
        program, 1, LOG_CALLS, ("set cstrace live off",
                                "cstrace log turn, n is {n}"),
        options).wall / 1000


def logs(table):
    table.section("log", "us a call with a logpoint at the function's entry, "
                         "a value in\nits line; gdb's own: `dprintf`")
    got = rounds({
        "gdb": lambda: running.under_gdb(
            PROGRAM, 1, CALLS, 'dprintf turn,"n is %u\\n",n').wall / 1000,
        "hooks": lambda: _logged(PROGRAM),
        "patched": lambda: _logged("plain-loop-O0", " -functions ^turn$"),
    })
    took = {name: median(runs) for name, runs in got.items()}
    for name in ("hooks", "patched"):
        table.row(name, "%.3f us" % took[name], "%.1f us dprintf" % took["gdb"],
                  took["gdb"] / took[name], (">=", 500))
