# SPDX-License-Identifier: MIT
"""Runs the real gdb in batch mode, and sees to it that it ends well."""

import functools
import os
import re
import select
import signal
import subprocess
import time
from typing import NamedTuple

import pytest

from lib_build import ROOT, build, build_library
from lib_debug import gdb_words

LIMIT_S = 240
LOADER = str(ROOT / "cstrace.py")
# Most tests compare rows that have no arguments and no results.
PLAIN = ("set cstrace args off", "set cstrace results off")

# What must never be in gdb's output, whatever the test is about.
_ACCIDENTS = re.compile(
    r"Traceback \(most recent|Python Exception|Error occurred in Python"
    r"|internal-error|Fatal signal|terminate called|Assertion .* failed"
    r"|Sanitizer", re.M)


class Wish:
    """What the module of tests that runs wants: HAS_VALUES = True there leaves
    arguments and results on, as they are."""

    has_values = False


class Run(NamedTuple):
    """How a gdb ended and what came out of it, standard error included."""

    status: int
    out: str

    def lines(self):
        return self.out.splitlines()

    def said(self):
        """Our own messages, without "cstrace: "."""
        return [line[9:] for line in self.lines()
                if line.startswith("cstrace: ")]


def environment(home, **more):
    """gdb's environment: nobody's settings, and no downloads."""
    kept = {key: os.environ[key] for key in (
        "PATH", "TMPDIR", "LANG", "CSTRACE_CHECK_ENDS") if key in os.environ}
    kept.update(HOME=str(home), TERM="dumb", LC_ALL="C.UTF-8",
                XDG_CACHE_HOME=str(home / ".cache"), SHELL="/bin/sh",
                CSTRACE_CACHE=str(home / ".cache" / "cstrace"))
    return dict(kept, **more)


def command_line(program, commands, args=(), loader=LOADER, batch=True):
    line = [os.environ.get("GDB", "gdb"), "-q", "-nx", *gdb_words()]
    if batch:
        line.append("-batch")
    if loader:
        line += ["-x", loader]
    if loader == LOADER and not Wish.has_values:
        commands = (*PLAIN, *commands)
    for command in commands:
        line += ["-ex", command]
    if program is not None:
        line += ["--args", str(program), *map(str, args)]
    return line


def session_members(session):
    """Processes of a session, as (pid, state, name); zombies left out."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % entry) as f:
                text = f.read()
        except OSError:
            continue
        name = text[text.index("(") + 1:text.rindex(")")]
        state, _parent, _group, its_session = text[
            text.rindex(")") + 2:].split()[:4]
        if int(its_session) == session and state not in "ZX":
            found.append((int(entry), state, name))
    return found


def kill_session(session):
    for pid, _state, _name in session_members(session):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


def wait_for(condition, what, limit_s=120):
    """Until it holds; a look each few milliseconds."""
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, "waited in vain for " + what
        select.select([], [], [], 0.005)


@functools.lru_cache(maxsize=None)
def _has_watchpoints():
    found = subprocess.run(
        [os.environ.get("GDB", "gdb"), "-q", "-nx", "-batch", "-ex",
         "watch total", "-ex", "run", str(build("many.c"))],
        capture_output=True, text=True, timeout=LIMIT_S, check=False,
        stdin=subprocess.DEVNULL)
    return "Old value" in found.stdout


def needs_watchpoints():
    """Skips a test where gdb's watchpoints stop nothing: there are virtual
    machines whose processor takes them and does nothing."""
    if not _has_watchpoints():
        pytest.skip("no watchpoint stops a program here, by gdb alone")


def is_left_alone(session):
    """Does the session empty itself?  A process may be about to end."""
    try:
        wait_for(lambda: not session_members(session), "its end", 60)
    except AssertionError:
        return False
    return True


def check_end(status, out, session, told):
    """A gdb that has ended: no crash, no accident, nobody left behind."""
    left = [] if is_left_alone(session) else session_members(session)
    kill_session(session)
    assert status not in (-11, 139, -6, 134), \
        "gdb crashed (%d)\n%s\n%s" % (status, told, out)
    accident = _ACCIDENTS.search(out)
    assert accident is None, "%s\n%s\n%s" % (accident.group(), told, out)
    assert not left, "left behind: %s\n%s\n%s" % (left, told, out)


def run_gdb(home, program, *commands, args=(), loader=LOADER, stdin=None,
            talk=None, **env):
    """gdb -batch in the folder HOME with these commands after the loader.
    TALK, if any, is called with the process while it runs."""
    line = command_line(program, commands, args, loader)
    told = " ".join("'%s'" % w if " " in w else w for w in line)
    process = subprocess.Popen(
        line, cwd=home, env=environment(home, **env), start_new_session=True,
        stdin=subprocess.PIPE if stdin is not None or talk
        else subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        if talk:
            talk(process)
        raw, _ = process.communicate(stdin, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        members = session_members(process.pid)
        kill_session(process.pid)
        raw, _ = process.communicate()
        raise AssertionError("gdb did not end within %d s: %s\n%s\n%s" % (
            LIMIT_S, members, told, raw.decode(errors="replace"))) from None
    except BaseException:
        kill_session(process.pid)
        process.communicate()
        raise
    out = raw.decode(errors="replace")
    check_end(process.returncode, out, process.pid, told)
    return Run(process.returncode, out)


@functools.lru_cache(maxsize=None)
def _setting_registers():
    """None: nothing helps.  gdb 13 alone cannot set registers on processors
    with more extended state than it knows ("Couldn't write extended state
    status"), with us or without."""
    for more in {}, {"LD_PRELOAD": str(build_library(
            "whole_registers.c", is_traced=False))}:
        done = subprocess.run(
            [os.environ.get("GDB", "gdb"), "-q", "-nx", "-batch", "-ex",
             "break main", "-ex", "run", "-ex", "print fib(1)",
             str(build("basic.c", is_traced=False))],
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=120, env=dict(os.environ, **more))
        if "$1 = 1" in done.stdout:
            return more
    return None


def setting_registers(is_needed=True):
    """What a gdb needs in its environment for calls of functions, `return`,
    `jump` and `checkpoint`; skips the test where nothing helps."""
    more = _setting_registers()
    if more is None and is_needed:
        pytest.skip("gdb alone cannot set registers on this processor")
    return more or {}
