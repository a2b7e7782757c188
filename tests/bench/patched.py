# SPDX-License-Identifier: MIT
"""The section patched: what a call adds to a program without hooks whose
functions are patched, against the same source compiled with hooks, and against
uftrace, which patches too."""

import os
import re
import shutil

import bench_build as build
import running
from table import median, rounds

# With hooks a unit of work makes more calls.  Both are to make about as many, for
# the first calls from each place cost more than those to come.
SIZES = {"fib": (38, 32), "wide": (2600, 296)}
TRACE = build.built("patched.cst")


def _cpu(program, size):
    took = running.plain(program, 1, size)
    return took.cpu * took.calls


def _recorded(program, size):
    done = running.run([build.COMMAND, "record", "-o", TRACE,
                        build.built(program), *running.arguments(1, size)])
    took = running.Took(running.OUT)
    calls = re.search(r"cstrace: (\d+) calls in ", done.stderr)
    os.unlink(TRACE)
    if not calls or "lost" in done.stderr:
        raise build.Failed("%s was not recorded as a whole" % program)
    return took.cpu * took.calls, int(calls.group(1))


def _uftrace(program, size):
    """Returns None where it does not get through."""
    shutil.rmtree(running.UFTRACE_DATA, ignore_errors=True)
    try:
        running.run(["uftrace", "record", "-P", ".", "--no-libcall",
                     "--no-event", "-d", running.UFTRACE_DATA,
                     build.built(program), *running.arguments(1, size)])
        took = running.Took(running.OUT)
    except build.Failed:
        return None
    return took.cpu * took.calls


def _row(table, name):
    plain, hooked = "plain-%s-O2" % name, "%s-O2" % name
    size, hooked_size = SIZES[name]
    got = rounds({
        "alone": lambda: _cpu(plain, size),
        "alone less": lambda: _cpu(plain, hooked_size),
        "patched": lambda: _recorded(plain, size),
        "hooks": lambda: _recorded(hooked, hooked_size),
        "uftrace": lambda: _uftrace(plain, size),
    })
    alone = median(got["alone"])
    ours, hooks = ((median(got[way], lambda run: run[0]) - median(got[than]))
                   / got[way][0][1] for way, than in (
                       ("patched", "alone"), ("hooks", "alone less")))
    table.row("%s -O2" % name, "%.1f ns" % ours, "%.1f hooks" % hooks,
              ours / hooks, ("<=", 1.1))
    if None in got["uftrace"]:
        table.row("", "", "uftrace record -P .: fails", 0)
        return
    peer = (median(got["uftrace"]) - alone) / got["patched"][0][1]
    table.row("", "", "%.1f uftrace record -P ." % peer, peer / ours,
              (">=", 5))


def patched(table):
    table.section("patched", "what a call adds to the program's own processor "
                             "time;\nwithout hooks the compiler has inlined "
                             "more, so that more work makes as many calls")
    for name in SIZES:
        _row(table, name)
