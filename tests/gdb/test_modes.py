# SPDX-License-Identifier: MIT
"""How events come to gdb: the sync mode's two methods, the shim linked in,
and programs that have no shim."""

import os
import shutil
import subprocess

import pytest

from lib_build import BUILD, TARGETS, build
from lib_tree import live_tree, tree
from test_session import FIB_2, drawn

SHIM_ARCHIVE = ("-static", "-Wl,--whole-archive",
                str(BUILD / "libcstrace.a"), "-Wl,--no-whole-archive")


@pytest.mark.parametrize("method", ["breakpoint", "handshake"])
def test_sync_rows_come_before_the_function_goes_on(gdb, method):
    run = gdb(build("basic.c"), "set cstrace sync-method " + method,
              "cstrace start -sync", "run", args=[2])
    assert drawn(run) == FIB_2
    lines = run.lines()
    done = lines.index("fib(2) done")
    entries = [i for i, line in enumerate(lines) if " fib  basic.c" in line]
    assert len(entries) == 3 and max(entries) < done


def test_sync_keeps_threads_whole(gdb):
    run = gdb(build("threads.c"), "set cstrace live off",
              "cstrace start -sync", "run", "cstrace report", args=[4, 20])
    assert " 80 " in run.out.partition(" step")[0]


def test_a_static_program_with_the_shim_in_it(gdb):
    run = gdb(build("basic.c", *SHIM_ARCHIVE), "cstrace start", "run",
              args=[2])
    assert drawn(run) == FIB_2


def test_a_static_program_is_traced_by_its_own_hooks(gdb):
    run = gdb(build("basic.c", "-static"), "cstrace start", "run", args=[2])
    assert drawn(run) == FIB_2


def test_hooks_that_the_program_defines_itself(gdb):
    program = build("basic.c", str(TARGETS / "own_hooks.c"), name="own_hooks")
    run = gdb(program, "cstrace start", "run", args=[2])
    assert "the program defines itself" in run.out
    assert drawn(run) == FIB_2
    run = gdb(program, "break fib", "run", "cstrace start", "delete",
              "continue", args=[1])
    assert "it defines them itself" in run.out


def test_a_folder_whose_name_is_not_utf_8(gdb, tmp_path):
    folder = os.path.join(os.fsencode(tmp_path), b"caf\xe9")
    os.mkdir(folder)
    program = shutil.copy(os.fsencode(build("basic.c")), folder)
    run = gdb(os.fsdecode(program), "cstrace start", "run", args=[2])
    assert "Traceback" not in run.out
    assert drawn(run) == FIB_2


@pytest.mark.parametrize("flags", [(), ("-O2", "-fno-inline"), ("-fno-plt",),
                                   ("-no-pie",), ("-static",),
                                   ("-Wl,-z,now",)])
def test_a_running_program_without_the_shim(gdb, flags):
    """It loads the shim, or is traced by breakpoints on its own hooks."""
    run = gdb(build("basic.c", *flags), "set cstrace preload off",
              "break *leaf", "run", "cstrace start", "delete", "continue",
              args=[0])
    assert ("it was started without libcstrace.so" if "-static" in flags
            else "on (ring mode)") in run.out
    assert drawn(run) == tree("""
        main  (before)
          middle  (before)
            leaf
            leaf
            leaf
          fib
        """)


@pytest.mark.parametrize("preload", [None, str(BUILD / "libcstrace.so")])
def test_attach_seeds_and_goes_on(gdb, tmp_path, preload):
    (tmp_path / "waits.c").write_text("""\
#include <unistd.h>
void tick(void) {}
void outer(int fd)
{
	char c;

	while (read(fd, &c, 1) == 1)
		tick();
}
int main(void)
{
	write(1, "x", 1);
	outer(0);
}
""")
    subprocess.run("gcc -g -finstrument-functions waits.c -o waits".split(),
                   check=True, cwd=tmp_path)
    env = {"LD_PRELOAD": preload} if preload else {}
    program = subprocess.Popen([str(tmp_path / "waits")], env=env,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert program.stdout.read(1) == b"x"
        gdb(None, "attach %d" % program.pid, "cstrace start -to t.txt",
            "shell printf ab >/proc/%d/fd/0" % program.pid, "break tick",
            "continue", "delete", "next", "detach")
        # With gdb gone it runs on to its end.
        program.stdin.close()
        assert program.wait(timeout=240) == 0
    finally:
        program.kill()
        program.wait()
        program.stdout.close()
    text = live_tree((tmp_path / "t.txt").read_text())
    assert "main  waits" not in text and "  tick  waits.c:8" in text
    assert "  (before)" in text.splitlines()[0]
