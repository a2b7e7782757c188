# SPDX-License-Identifier: MIT
"""The real gdb on small programs.  No mock of gdb anywhere.

build(name, *flags) compiles tests/targets/name; gdb_batch(program, commands)
runs gdb -batch and returns all that it wrote."""

import functools
import os
import re
import subprocess

import pytest

import lib_gdb

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
TARGETS = os.path.join(ROOT, "tests", "targets")
LOADER = os.path.join(ROOT, "cstrace.py")
LIMIT_S = 60
HOOKS = ("-finstrument-functions",)


def environment(**more):
    """Without what would make one user's gdb differ from another's."""
    kept = {k: v for k, v in os.environ.items()
            if k not in ("LD_PRELOAD", "DEBUGINFOD_URLS", "NO_COLOR")}
    return dict(kept, TERM="dumb", HISTFILE="/dev/null", **more)


class Result:
    """What a gdb wrote, and how it ended."""

    def __init__(self, status, text):
        self.status = status
        self.text = text

    def lines(self):
        return self.text.split("\n")

    def rows(self):
        """The tree's rows, without headings, as "indent function"."""
        return tree(self.text)

    def said(self):
        """Our own lines."""
        return [line for line in self.lines() if line.startswith("cstrace: ")]


# One row: time, duration, maybe a thread, the tree with its indentation, the
# call site.
_ROW = re.compile(r"^ *(?:before|\d+\.\d+) +(open|unwound|[\d.]+ [num]?s) "
                  r"(?: *\S+ \d+ )?( +(?:<- )?\S.*?)(?:  (\S+:\d+))?$")


def tree(text):
    """"  fib" for a row two levels deep, without times; only calls."""
    found = []
    for line in text.split("\n"):
        m = _ROW.match(line)
        if m:
            found.append(m.group(2)[1:])
    return found


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    """Compile a target with the hooks, once for each set of flags."""
    folder = tmp_path_factory.mktemp("targets")
    made = {}

    def compile_target(name, *flags, compiler=None, hooks=HOOKS):
        is_cc = name.endswith(".cc")
        compiler = compiler or ("g++" if is_cc else "gcc")
        key = (name, flags, compiler, hooks)
        if key not in made:
            out = os.path.join(str(folder), "%d" % len(made),
                               name.rsplit(".", 1)[0])
            os.mkdir(os.path.dirname(out))
            subprocess.run([compiler, "-g", *hooks, *flags,
                            os.path.join(TARGETS, name), "-pthread", "-o",
                            out], check=True)
            made[key] = out
        return made[key]

    return compile_target


def gdb_command(program, commands, arguments=(), before=()):
    line = [os.environ.get("GDB", "gdb"), "-q", "-nx", "-batch",
            "-iex", "set debuginfod enabled off"]
    for command in before:
        line += ["-iex", command]
    line += ["-x", LOADER]
    for command in commands:
        line += ["-ex", command]
    if program:
        line += ["--args", program, *map(str, arguments)]
    return line


def run_gdb(program, commands, arguments=(), before=(), cwd=None, **env):
    """A whole session; the program's and gdb's output in one text."""
    done = subprocess.run(
        gdb_command(program, commands, arguments, before),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=LIMIT_S, cwd=cwd,
        env=environment(**env))
    return Result(done.returncode, done.stdout.decode("utf-8", "replace"))


@pytest.fixture
def gdb_batch(tmp_path):
    """run_gdb() in an empty folder."""

    def run(program, *commands, **options):
        options.setdefault("cwd", str(tmp_path))
        return run_gdb(program, commands, **options)

    return run


@pytest.fixture
def gdb(tmp_path):
    """gdb(PROGRAM, COMMAND..., args=[...]): as gdb_batch, and fails when gdb
    crashes, shows a traceback or leaves a process behind."""
    return functools.partial(lib_gdb.run_gdb, tmp_path)
