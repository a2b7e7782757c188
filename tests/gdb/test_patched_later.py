# SPDX-License-Identifier: MIT
"""Patched in gdb: libraries that a program opens, and what it becomes by exec."""

import re
import shutil

import pytest

from lib_build import Variant, build, build_library
from lib_cstrace import command

ON = ("set cstrace live off", "cstrace start")
SHOW = "cstrace show -last 100"
O2 = Variant("gcc", "-O2")

PLUGIN = r"""
__attribute__((noinline)) static int within(int n)
{
	__asm__ volatile("nop\nnop\nnop\nnop\nnop");
	return n + 1;
}
__attribute__((constructor)) static void begin(void)
{
	within(1);
	__asm__ volatile("");
}
__attribute__((destructor)) static void end(void)
{
	within(2);
	__asm__ volatile("");
}
int run(int n)
{
	return within(n) * 2 + NUMBER;
}
"""

HOST = r"""
#include <dlfcn.h>

int main(int argc, char **argv)
{
	int sum = 0;

	for (int i = 1; i < argc; i++) {
		void *plugin = dlopen(argv[i], RTLD_NOW);

		if (!plugin)
			return 1;
		sum += ((int (*)(int))dlsym(plugin, "run"))(i);
		dlclose(plugin);
	}
	return sum > 100;
}
"""

TURN = r"""
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static int turn(int n)
{
	__asm__ volatile("nop\nnop\nnop\nnop\nnop");
	return n;
}

int main(int argc, char **argv)
{
	if (turn(argc) > 1)
		execv(argv[1], argv + 1);
	return 3;
}
"""


def program(folder, name, text, *flags, variant=O2):
    source = folder / (name + ".c")
    source.write_text(text)
    return build(str(source), *flags, variant=variant, is_traced=False)


def plugin(folder, number, *flags, variant=O2):
    source = folder / ("plugin%d.c" % number)
    source.write_text(PLUGIN)
    return str(build_library(str(source), "-DNUMBER=%d" % number, *flags,
                             variant=variant, is_traced=False,
                             name="%s-%d.so" % (folder.name, number)))


def names(out):
    rows = out[out.rindex("CALL  (FROM)"):].splitlines()[1:]
    return [m[1] for m in (re.match(
        r" +[\d.]+ +(?:[\d.]+ [mun]?s.?|open) *(?:\d+:)?\d+\.\d+ +([a-z]\w*)",
        row) for row in rows) if m]


def test_libraries_that_are_opened(gdb, tmp_path):
    """Constructors, too; one comes to where another one was."""
    host = program(tmp_path, "host", HOST)
    one, two = plugin(tmp_path, 1), plugin(tmp_path, 2)
    run = gdb(host, *ON, "run", SHOW, args=(one, two, one))
    each = ["begin", "within", "run", "within", "end", "within"]
    assert names(run.out) == ["main", *each * 3]
    assert len(re.findall("^cstrace: patching 4 functions of", run.out,
                          re.M)) == 2
    assert "exited normally" in run.out


MUSL = {"variant": Variant("musl-gcc", "-O2")}
# Its dlclose() does nothing.
STAYING = ["main", *["begin", "within", "run", "within"] * 2, "run", "within",
           *["end", "within"] * 2]


@pytest.mark.parametrize("pie", ["-pie", "-no-pie"])
def test_libraries_that_another_libc_opens(gdb, tmp_path, pie):
    linked = "-Wl,--build-id,--eh-frame-hdr"
    host = program(tmp_path, "host", HOST, linked, pie, **MUSL)
    one, two = (plugin(tmp_path, n, linked, **MUSL) for n in (1, 2))
    run = gdb(host, *ON, "run", SHOW, args=(one, two, one))
    assert names(run.out) == STAYING
    assert "exited normally" in run.out
    done = command("record", host, one, two, one, cwd=tmp_path)
    assert done.returncode == 0 and "not patched" not in done.stderr
    assert names(command("show", "cstrace.cst", cwd=tmp_path).stdout) == STAYING


def test_stops_in_a_library_that_is_opened(gdb, tmp_path):
    host = program(tmp_path, "host", HOST)
    run = gdb(host, *ON, "tbreak dlsym", "run",
              "cstrace stop-when run -where 'n == 2'", "continue", "bt",
              "step", "bt 1", "delete cstrace-stops", "continue", SHOW,
              args=(plugin(tmp_path, 1),) * 2)
    assert re.search(r"^#0 +run .*\(n=(n@entry=)?2\)", run.out, re.M)
    assert "__x86_return_thunk" not in run.out
    assert names(run.out).count("run") == 2


def test_nothing_is_left_in_them(gdb, tmp_path):
    host = program(tmp_path, "host", HOST)
    run = gdb(host, *ON, "break main", "run", "break run", "continue",
              "cstrace stop", "x/i &run", "delete", "continue",
              args=(plugin(tmp_path, 1),))
    assert not re.search(r"<run>:\s+jmp", run.out)
    assert "exited normally" in run.out


def test_what_it_becomes_by_exec(gdb, tmp_path):
    first = program(tmp_path, "turn", TURN)
    again = shutil.copy(first, tmp_path / "turn-again")
    other = shutil.copy(first, tmp_path / "other")
    for last in (first, again, other):  # itself, one of its name, any one
        run = gdb(first, *ON, "run", SHOW, args=(str(last),))
        assert names(run.out) == ["main", "turn"] * 2
        assert "exited with code 03" in run.out


def test_user_breakpoints_stop_in_them(gdb, tmp_path):
    host = program(tmp_path, "host", HOST)
    run = gdb(host, "set breakpoint pending on", *ON, "break within", "run",
              *["continue"] * 7, args=(plugin(tmp_path, 1),) * 2)
    assert len(re.findall(r"^Breakpoint 1, within ", run.out, re.M)) == 6
    assert "exited normally" in run.out
