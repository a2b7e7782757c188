# SPDX-License-Identifier: MIT
"""The section start: from `run` to main, and to the first row; and how long a
process that runs already stands still."""

import contextlib
import os
import re
import select
import shutil
import subprocess
import time

import bench_build as build
import running
from bench_build import Failed
from table import median, rounds

PROGRAM = "wide-O0"
MARK = "python import time; print('MARK', time.monotonic(), flush=True)"


def _marks(output):
    return [float(line.split()[1]) for line in output.split("\n")
            if line.startswith("MARK ")]


def _to_main(program, args, words, with_cstrace):
    """Milliseconds to the breakpoint at main, from `run` and from the start
    of gdb."""
    began = time.monotonic()
    done = running.run(running.gdb_command(
        program, args, [*words, "break main", MARK, "run", MARK, "kill"],
        with_cstrace), stdout=subprocess.PIPE)
    marks = _marks(done.stdout)
    if len(marks) != 2:
        raise Failed("gdb did not come to main")
    return (marks[1] - marks[0]) * 1e3, (marks[1] - began) * 1e3


def _is_row(line):
    return b"first" in line and not line.startswith(b"MARK")


def _read_row(fd, limit_s):
    """What came up to the first row, and when that was."""
    got, end = b"", time.monotonic() + limit_s
    while True:
        left = end - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            raise Failed("no row came while the program waited")
        piece = os.read(fd, 65536)
        now = time.monotonic()
        if not piece:
            raise Failed("gdb ended without a row")
        got += piece
        if any(_is_row(line) for line in got.split(b"\n")[:-1]):
            return got.decode(errors="replace"), now


def _to_row():
    """Milliseconds from `run` to the first row of a program that waits."""
    command = running.gdb_command("waiting", [],
                                  ["cstrace start", MARK, "run"], True)
    with subprocess.Popen(command, env=running.environment(),
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as gdb:
        try:
            output, now = _read_row(gdb.stdout.fileno(), 30)
        finally:
            gdb.stdin.close()
            gdb.stdout.read()
            gdb.wait(running.LIMIT_S)
    return (now - _marks(output)[0]) * 1e3


# A breakpoint in libc, as ours: gdb reads libc's debug information for it.
LIBC_READ = "python gdb.Breakpoint('_exit', internal=True).enabled = False"


def _git(words, is_first=False):
    """Milliseconds from there to the end of git, which nobody recompiled."""
    if is_first:
        shutil.rmtree(build.built("cache"), ignore_errors=True)
    done = running.run(running.gdb_command(
        shutil.which("git"), ["--version"], [
            "set cstrace live off", MARK, *words, "run", MARK],
        True), stdout=subprocess.PIPE)
    marks = _marks(done.stdout)
    if len(marks) != 2 or "git version" not in done.stdout:
        raise Failed("gdb did not run git")
    return (marks[1] - marks[0]) * 1e3


def _still():
    """Milliseconds that a busy process stands still at most while
    `cstrace record -p` comes and goes."""
    trace = build.built("attached.cst")
    with subprocess.Popen([build.built("plain-wide-O2"),
                           *running.arguments(1, 1 << 24)],
                          env=running.environment()) as busy:
        try:
            said = running.run([build.COMMAND, "record", "-p", str(busy.pid),
                                "--for", "300ms", "-o", trace]).stderr
        finally:
            busy.kill()
            with contextlib.suppress(FileNotFoundError):
                os.unlink(trace)
    found = re.search(r"stood still .*?([\d.]+) ms", said)
    if not found:
        raise Failed("nobody said how long the process stood still")
    return float(found[1])


def start(table):
    table.section("start", "ms more than plain gdb takes from `run` to main")
    args = running.arguments(1, 1)
    got = rounds({
        "plain": lambda: _to_main(PROGRAM, args, [], False),
        "ours": lambda: _to_main(PROGRAM, args, ["cstrace start"], True),
        "plain waiting": lambda: _to_main("waiting", [], [], False)[0],
        "row": _to_row,
        "git": lambda: _git([LIBC_READ]),
        "git first": lambda: _git(["cstrace start"], is_first=True),
        "git again": lambda: _git(["cstrace start"]),
        "still": _still,
    })
    for name in ("plain", "ours"):
        got[name + " whole"] = [whole for _, whole in got[name]]
        got[name] = [from_run for from_run, _ in got[name]]
    took = {name: median(runs) for name, runs in got.items()}
    for what, ours, plain, goal in (
            ("`run` to main, wide", "ours", "plain", ("<=", 150)),
            ("`run` to the first row", "row", "plain waiting", ("<=", 150)),
            ("gdb's start to main, wide", "ours whole", "plain whole", None)):
        table.row(what, "%.0f ms" % took[ours], "%.0f ms plain to main"
                  % took[plain], took[ours] - took[plain], goal, "ms")
    for what, ours in (("git, patched", "git first"),
                       ("git, its plan known", "git again")):
        table.row(what, "%.0f ms" % took[ours], "%.0f ms plain gdb"
                  % took["git"], took[ours] - took["git"], ("<=", 500), "ms")
    table.row("`record -p`, stands still", "%.0f ms" % took["still"], "",
              took["still"], ("<=", 200), "ms")
