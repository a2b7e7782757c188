# SPDX-License-Identifier: MIT
"""With CSTRACE_CHECK_ENDS=1 a program whose plan is wrong is aborted: each end of
a patched function must find its own entry, with the same frame address."""

import os
import re
import signal
import struct
import subprocess

import pytest

from lib_build import Variant, build
from lib_cstrace import command
from lib_gdb import run_gdb

SOURCE = """
#include <stdio.h>
__attribute__((noinline)) int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
int main(void)
{
	printf("%d\\n", fib(4));
	return 3;
}
"""
HEAD = struct.Struct("<QII20sIQQq14I")  # struct cst_plan
PATCH = struct.Struct("<QIIIIHBB")  # the begin of struct cst_patch, 64 bytes
FUNCTION = struct.Struct("<QQIIIHBB")
EXIT = 1


class Plan:
    """A plan that lies in the cache, to be made wrong."""

    def __init__(self, folder):
        self._path, = (folder / "cache" / "cstrace" / "plans").iterdir()
        self._bytes = bytearray(self._path.read_bytes())
        self._parts = [struct.unpack_from("<II", self._bytes,
                                          HEAD.size + 8 * i) for i in range(6)]

    def functions(self):
        """The begins of the functions, by name."""
        first, n = self._parts[4]
        names = self._parts[5][0]
        found = {}
        for i in range(n):
            address, _, name, *_ = FUNCTION.unpack_from(
                self._bytes, first + FUNCTION.size * i)
            at = names + name
            found[self._bytes[at:self._bytes.index(0, at)].decode()] = address
        return found

    def exits(self, name):
        """Where, in the plan, the trampolines of the function's ends lie: (the
        trampoline, its load of the function's address)."""
        area, (first, n) = self._parts[0][0], self._parts[1]
        wanted = self.functions()[name]
        for i in range(n):
            _, function, code, hook, _, _, kind, _ = PATCH.unpack_from(
                self._bytes, first + 64 * i)
            if kind == EXIT and self._function(function) == wanted:
                # push %rax; lea FUNCTION(%rip), %rax; call GATE
                yield area + code, area + hook - 12

    def _function(self, i):
        return FUNCTION.unpack_from(self._bytes, self._parts[4][0]
                                    + FUNCTION.size * i)[0]

    def _add(self, at, n):
        number, = struct.unpack_from("<i", self._bytes, at)
        struct.pack_into("<i", self._bytes, at, number + n)

    def report_before_the_pop(self, name):
        """Its end is reported with 8 bytes more on the stack than it has."""
        (_, lea), = self.exits(name)
        pop, report = lea - 2, self._bytes[lea - 1:lea + 13]
        assert 0x58 <= self._bytes[pop] <= 0x5f and report[0] == 0x50
        report.append(self._bytes[pop])
        self._bytes[pop:pop + len(report)] = report
        self._add(lea + 2, 1)  # both stand a byte before
        self._add(lea + 7, 1)
        area, (first, n) = self._parts[0][0], self._parts[1]
        for i in range(n):
            at = first + 64 * i + 16  # hook
            if area + struct.unpack_from("<I", self._bytes, at)[0] == lea + 12:
                self._add(at, -1)

    def report_for(self, name, other):
        """Its ends are reported as those of the other function."""
        functions = self.functions()
        for _, lea in self.exits(name):
            self._add(lea + 3, functions[other] - functions[name])

    def write(self):
        total, rest = 0x9e3779b97f4a7c15, 2 ** 64 - 1
        for word, in struct.iter_unpack("<Q", self._bytes[:-8]):
            turned = (total << 25 | total >> 39) & rest
            total = (turned ^ word) * 0xbf58476d1ce4e5b9 & rest
        self._bytes[-8:] = struct.pack("<Q", total ^ total >> 32)
        self._path.write_bytes(self._bytes)


@pytest.fixture(name="folder")
def fixture_folder(tmp_path):
    (tmp_path / "app.c").write_text(SOURCE)
    subprocess.run(["gcc", "-g", "-O1", "app.c", "-o", "app"],
                           cwd=tmp_path, check=True, timeout=100)
    return tmp_path


def record(folder, *words, is_checked=True):
    return command("record", *words, cwd=folder, env={
        **os.environ, "XDG_CACHE_HOME": str(folder / "cache"),
        "CSTRACE_CHECK_ENDS": "%d" % is_checked})


def too_early(plan):
    plan.report_before_the_pop("fib")
    return (r"fib \(0x\w+ in app\) ends with its return address at 0x\w+, "
            r"where no call is open")


def of_another(plan):
    plan.report_for("fib", "main")
    return (r"main \(0x\w+ in app\) ends with its return address at 0x\w+, "
            r"where the open call is of fib \(0x\w+ in app\)")


@pytest.mark.parametrize("spoil", [too_early, of_another])
def test_record_with_a_wrong_plan(folder, spoil):
    done = record(folder, "./app")
    assert (done.returncode, done.stdout) == (3, "3\n"), done.stderr
    plan = Plan(folder)
    message = spoil(plan)
    plan.write()
    done = record(folder, "./app", is_checked=False)
    assert (done.returncode, done.stdout) == (3, "3\n"), done.stderr
    done = record(folder, "./app")
    assert done.returncode == 128 + signal.SIGABRT
    assert re.search("cstrace: a plan is wrong: " + message, done.stderr)


@pytest.mark.parametrize("spoil", [too_early, of_another])
def test_gdb_with_a_wrong_plan(folder, spoil):
    def run(*commands):
        return run_gdb(folder, folder / "app", "cstrace start -patch",
                       *commands, XDG_CACHE_HOME=str(folder / "cache"),
                       CSTRACE_CHECK_ENDS="1").out

    assert "exited with code 03" in run("run")
    plan = Plan(folder)
    message = spoil(plan)
    plan.write()
    out = run("run", "bt")
    assert re.search("cstrace: a plan is wrong: " + message, out), out
    assert "SIGABRT" in out and " fib (" in out


@pytest.mark.parametrize("variant", [
    Variant(compiler, level) for compiler in ("gcc", "clang")
    for level in ("-O0", "-O2")], ids=str)
def test_right_plans_go_through(tmp_path, variant):
    """Exceptions, longjmp, signals, the ends of threads, a fork, an exec."""
    app = build("plain.cc", variant=variant, is_traced=False)
    alone = subprocess.run([str(app), "x"], cwd=tmp_path, text=True,
                           capture_output=True, timeout=100, check=False)
    for words in [], ["--border", "--patch"]:
        done = record(tmp_path, *words, "--", app, "x")
        assert (done.stdout, done.returncode) == (alone.stdout, 4), done.stderr
        assert "a plan is wrong" not in done.stderr
