# SPDX-License-Identifier: MIT
"""The sections hook and live: what a call costs.  They share their runs: a
configuration is measured once, by all that its sections want."""

import bench_build as build
import running
from table import median, rounds

# What gdb does once is not a call's cost: its own reading of a large program's
# debug information, which goes on beside the program's first quarter of a
# second, the names of 7000 places, the exit.
SIZES = {"fib": 32, "wide": 600}
LARGER = {"fib": 34, "wide": 600}  # with 8 threads
PROGRAMS = [(name, level) for name in SIZES for level in build.LEVELS]


def _variants(program, threads, size, names):
    """The ways to run one workload."""
    every = {
        "no-op": lambda: running.plain(program, threads, size),
        "bare": lambda: running.plain(program, threads, size,
                                      LD_PRELOAD=build.built("bare.so")),
        "alone": lambda: running.handed_back(program, threads, size),
        "gdb no-op": lambda: running.under_gdb(program, threads, size),
        "uftrace": lambda: running.uftrace(program, threads, size),
        "ours": lambda: running.traced(program, threads, size),
    }
    return {name: every[name] for name in names}


def _wanted(sections, name, threads):
    """uftrace is slow, and its hook the same with more threads."""
    names = {"ours"}
    if "hook" in sections:
        names |= {"no-op", "bare"}
        if threads == 1:
            names.add("uftrace")
    if "live" in sections and threads == 1:
        names |= {"gdb no-op", "alone"}
    return sorted(names)


class Calls:
    """Runs a configuration at most once."""

    def __init__(self, sections):
        self._sections = sections
        self._results = {}

    def of(self, name, level, threads):
        key = (name, level, threads)
        if key not in self._results:
            program = "%s-%s" % (name, level)
            wanted = _wanted(self._sections, name, threads)
            sizes = LARGER if threads == 8 else SIZES
            self._results[key] = rounds(_variants(
                program, threads, sizes[name], wanted))
        return self._results[key]


def _wall(run):
    return run.wall


def _cpu(run):
    return run.cpu


def _label(name, level, threads):
    return "%s -%s, %d thread%s" % (name, level, threads,
                                    "" if threads == 1 else "s")


def _alone(got):
    """One thread's wall time and, in brackets, its processor time. They
    differ where it waited for the reader or for a processor."""
    return "%.1f ns (%.1f)" % (median(got["ours"], _wall),
                               median(got["ours"], _cpu))


def hook(table, calls):
    table.section("hook", "ns a call, the reader in gdb draining; time of the "
                          "program,\nin brackets its processor time (with "
                          "several threads that alone: they share\nthe "
                          "processors with gdb)")
    for threads in (1, 2, 8):
        key = _wall if threads == 1 else _cpu
        for name, level in PROGRAMS:
            got = calls.of(name, level, threads)
            ours, bare = median(got["ours"], key), median(got["bare"], key)
            noop = median(got["no-op"], key)
            shown = _alone(got) if threads == 1 else "%.1f ns" % ours
            table.row(_label(name, level, threads), shown,
                      "%.1f bare shim (%.1f no-op)" % (bare, noop),
                      ours / bare, ("<=", 1.25))
            if "uftrace" in got:
                peer = median(got["uftrace"], key)
                table.row("", "", "%.1f uftrace record" % peer, peer / ours,
                          (">=", 3.3))


def _live_alone(table, calls):
    for name, level in PROGRAMS:
        got = calls.of(name, level, 1)
        ours = median(got["ours"], _wall)
        alone = median(got["alone"], _wall)
        noop = median(got["gdb no-op"], _wall)
        table.row(_label(name, level, 1), _alone(got),
                  "%.1f hooks alone (%.1f no-op)" % (alone, noop),
                  ours / alone, ("<=", 1.5))


def _live_threads(table, calls):
    for threads in (2, 8):
        for name, level in PROGRAMS:
            got = calls.of(name, level, threads)["ours"]
            both = median(got, lambda run: run.cpu + run.gdb_cpu)
            table.row(_label(name, level, threads), "%.1f ns" % both,
                      "%.1f program + %.1f gdb" % (
                          median(got, _cpu),
                          median(got, lambda run: run.gdb_cpu)),
                      both, ("<=", 50), "ns")


def _live_rows(table):
    """With rows on a terminal, which takes few of them, against none."""
    for name in SIZES:
        program, size = "%s-O2" % name, SIZES[name]
        got = rounds({live: lambda live=live: running.watched(
            program, 1, size, live) for live in ("on", "off")})
        for what, key, goal in (
                ("rows on a terminal", _wall, ("<=", 1.25)),
                ("gdb's processor time", lambda run: run.gdb_cpu, None)):
            on, off = median(got["on"], key), median(got["off"], key)
            table.row("%s -O2, %s" % (name, what), "%.1f ns" % on,
                      "%.1f live off" % off, on / off, goal)


def live(table, calls):
    table.section("live", "in gdb with `set cstrace live off`; hooks alone: "
                          "our shim,\nchunks handed back unread; with threads "
                          "the processor time of program and gdb")
    _live_alone(table, calls)
    _live_threads(table, calls)
    _live_rows(table)
