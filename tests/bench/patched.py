# SPDX-License-Identifier: MIT
"""The section patched: what a call adds to a program without hooks whose
functions are patched, against the same source compiled with hooks, and against
uftrace, which patches too.  With REAL=1 Lua as well, from Debian's source."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import bench_build as build
import running
from table import rounds

# With hooks a unit of work makes more calls.  Both are to make about as many, for
# the first calls from each place cost more than those to come.
SIZES = {"fib": (38, 32), "wide": (2600, 296)}
TRACE = build.built("patched.cst")
# What others on the machine take from a run is never less than nothing, so that
# the shortest of some tell.
N_ROUNDS = 7


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
        "clock": lambda: running.plain("clock-O2", 1, 10 ** 7).cpu,
    }, N_ROUNDS)
    alone = min(got["alone"])
    ours, hooks = ((min(got[way])[0] - min(got[than]))
                   / got[way][0][1] for way, than in (
                       ("patched", "alone"), ("hooks", "alone less")))
    table.row("%s -O2" % name, "%.1f ns" % ours, "%.1f hooks" % hooks,
              ours / hooks, ("<=", 1.1))
    clock = min(got["clock"])
    table.row("", "", "%.1f two readings of the clock" % clock, ours / clock)
    if None in got["uftrace"]:
        table.row("", "", "uftrace record -P .: fails", 0)
        return
    peer = (min(got["uftrace"]) - alone) / got["patched"][0][1]
    table.row("", "", "%.1f uftrace record -P ." % peer, peer / ours,
              (">=", 5))


def _idle(table):
    """What gcc -fpatchable-function-entry=5 costs while nobody traces."""
    size = SIZES["fib"][0]
    got = rounds({name: lambda name=name: _cpu(name + "-fib-O2", size)
                  for name in ("roomy", "plain")}, 25)
    calls = _recorded("plain-fib-O2", size)[1]
    more = (min(got["roomy"]) - min(got["plain"])) / calls
    table.row("fib -O2, room for patches", "%.2f ns" % more, "idle", more,
              ("<=", 0.5), "ns")


LUA = """
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
local all = {}
for i = 1, 100000 do all[i] = tostring(fib(i % 10)) end
table.sort(all)
io.stderr:write("cpu ", os.clock(), "\\n")
"""


def _lua_run(command):
    """Its processor time in ns, and how many calls were recorded."""
    done = running.run([*command, "-"], input=LUA)
    cpu = re.search(r"^cpu (.*)$", done.stderr, re.M)
    calls = re.search(r"cstrace: (\d+) calls in ", done.stderr)
    return float(cpu[1]) * 1e9, int(calls[1]) if calls else 0


def _lua(table):
    sys.path.append(os.path.join(build.ROOT, "tests", "fidelity"))
    import real
    with tempfile.TemporaryDirectory() as folder:
        source = real.fetch(pathlib.Path(folder))
        files = [str(p) for p in source.glob("*.c") if p.name != "luac.c"]
        programs = {}
        for name, flags in (("alone", ["-g"]), ("hooks", build.HOOKS)):
            programs[name] = os.path.join(folder, name)
            subprocess.run([build.CC, "-O2", "-w", "-DLUA_USE_POSIX", *flags,
                            *files, "-lm", "-o", programs[name]], check=True)
        record = [build.COMMAND, "record", "-o", TRACE]
        got = rounds({"alone": lambda: _lua_run([programs["alone"]]),
                      "patched": lambda: _lua_run([*record,
                                                   programs["alone"]]),
                      "hooks": lambda: _lua_run([*record,
                                                 programs["hooks"]])},
                     N_ROUNDS)
    alone = min(got["alone"])[0]
    ours, hooks = ((min(got[way])[0] - alone)
                   / got[way][0][1] for way in ("patched", "hooks"))
    table.row("Lua -O2", "%.1f ns" % ours, "%.1f hooks" % hooks, ours / hooks,
              ("<=", 1.1))


def patched(table):
    table.section("patched", "what a call adds to the program's own processor "
                             "time, by the shortest runs;\nwithout hooks the "
                             "compiler has inlined more, so that more work "
                             "makes as many calls")
    for name in SIZES:
        _row(table, name)
    if os.environ.get("REAL"):
        _lua(table)
    _idle(table)
