# SPDX-License-Identifier: MIT
"""The shim alone: CSTRACE_FILE=PATH LD_PRELOAD=libcstrace.so ./app."""

import ctypes
import os
import shutil
import signal
import stat
import struct
import subprocess

import pytest

from lib_build import BUILD, build
from lib_cstrace import LIMIT_S, command
from lib_record import FAMILY, calls, compiled, functions


def alone(folder, *words, path="x.area", **options):
    env = dict(os.environ, CSTRACE_FILE=str(path),
               LD_PRELOAD=str(BUILD / "libcstrace.so"))
    return subprocess.run(list(map(str, words)), cwd=folder, env=env,
                          capture_output=True, text=True, timeout=LIMIT_S,
                          **options)


@pytest.mark.parametrize("how, status", [("exit", 3), ("_exit", 4),
                                         ("segv", -signal.SIGSEGV)])
def test_tree_names_and_lines(tmp_path, how, status):
    assert alone(tmp_path, build("ends.c"), how).returncode == status
    found = calls(tmp_path, "x.area")
    assert functions(found) == ["main", "middle", "leaf", "end", "leaf"]
    assert [c["line"] for c in found[1:]] == [50, 43, 44, 23]
    assert stat.S_IMODE((tmp_path / "x.area").stat().st_mode) == 0o644


def test_every_command_reads_it(tmp_path):
    alone(tmp_path, build("ends.c"), "exit")
    for words in (["show"], ["report"], ["info"]):
        done = command(*words, "x.area", cwd=tmp_path)
        assert done.returncode == 0 and done.stdout, done.stderr


def test_threads(tmp_path):
    done = alone(tmp_path, build("threads.c"), 4, 20000)
    assert done.returncode == 0
    found = calls(tmp_path, "x.area")
    assert functions(found).count("step") == 80000
    assert len({c["thread"] for c in found}) == 5


def test_fork_and_exec_are_in_the_same_file(tmp_path):
    family = compiled(tmp_path, FAMILY, "family")
    alone(tmp_path, family, build("ends.c"), "exit")
    names = functions(calls(tmp_path, "x.area"))
    assert {"in_child", "in_parent", "end"} <= set(names)


def test_next_run_takes_its_place(tmp_path):
    alone(tmp_path, build("threads.c"))
    alone(tmp_path, build("ends.c"), "exit")
    assert "end" in functions(calls(tmp_path, "x.area"))
    assert "step" not in functions(calls(tmp_path, "x.area"))


STAYS = r"""
#include <stdio.h>
static void leaf(void) { }
int main(void)
{
	leaf();
	puts("there");
	fflush(stdout);
	getchar();
	return 0;
}
"""


@pytest.mark.parametrize("is_left", [False, True])
def test_who_starts_at_the_same_time_shares_it(tmp_path, is_left):
    """Also where the last run's file is in the way."""
    stays = compiled(tmp_path, STAYS, "stays")
    if is_left:
        alone(tmp_path, build("ends.c"), "exit")
    everyone = subprocess.Popen(
        ["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do $0 <&3 & done; wait",
         str(stays)], cwd=tmp_path, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True, preexec_fn=lambda: os.dup2(0, 3),
        pass_fds=[3], env=dict(os.environ, CSTRACE_FILE="x.area",
                               LD_PRELOAD=str(BUILD / "libcstrace.so")))
    for _ in range(8):
        assert everyone.stdout.readline() == "there\n"
    everyone.communicate(timeout=LIMIT_S)
    found = calls(tmp_path, "x.area")
    assert sorted(functions(found)) == ["leaf"] * 8 + ["main"] * 8
    assert len({c["process"] for c in found}) == 8


@pytest.mark.parametrize("planted", ["file", "link", "folder", "missing"])
def test_nothing_of_others_is_touched(tmp_path, planted):
    path, victim = tmp_path / "x.area", tmp_path / "victim"
    victim.write_text("precious")
    if planted == "file":
        path.write_text("precious")
    elif planted == "link":
        path.symlink_to(victim)
    elif planted == "folder":
        path.mkdir()
    else:
        path = tmp_path / "no" / "x.area"
    done = alone(tmp_path, build("ends.c"), "exit", path=path)
    assert done.returncode == 3
    assert victim.read_text() == "precious"
    assert planted != "file" or path.read_text() == "precious"


def test_file_size_limit_is_obeyed(tmp_path):
    """The kernel would kill a program that makes a larger file."""
    done = alone(tmp_path, "sh", "-c", "ulimit -f 1000; exec %s exit"
                 % build("ends.c"))
    assert done.returncode == 3
    assert not (tmp_path / "x.area").exists()


@pytest.mark.parametrize("size", [8, 4096, 1 << 20])
def test_cut_file_is_said(tmp_path, size):
    alone(tmp_path, build("ends.c"), "exit")
    os.truncate(tmp_path / "x.area", size)
    done = command("show", "x.area", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and "x.area" in done.stderr


@pytest.mark.parametrize("seed", range(20))
def test_damaged_file_never_crashes_the_reader(tmp_path, seed):
    """Words all over the tables are overwritten."""
    import random

    alone(tmp_path, build("threads.c"))
    dice = random.Random(seed)
    with open(tmp_path / "x.area", "r+b") as f:
        data = f.read(16 << 20)
        used = [i for i in range(24, len(data), 8) if data[i:i + 8].strip(
            b"\0")]
        for at in dice.sample(used, 40):
            f.seek(at)
            f.write(struct.pack("<Q", dice.choice(
                [0, 2**64 - 1, dice.getrandbits(64), dice.getrandbits(16)])))
    done = command("show", "--std", "x.area", cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    lines = [line for line in done.stderr.splitlines()
             if " lost (" not in line]
    assert len(lines) <= 1


VANISH = r"""
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static void vanish(void) { syscall(SYS_exit, 0); }
static void *thread(void *arg) { vanish(); return arg; }
static void *stays(void *arg) { pthread_barrier_wait(arg); pause(); return 0; }

int main(void)
{
	pthread_barrier_t both;
	pthread_t t;

	pthread_barrier_init(&both, 0, 2);
	pthread_create(&t, 0, stays, &both);
	pthread_barrier_wait(&both);
	pthread_create(&t, 0, thread, 0);
	pthread_join(t, 0);
	return 0;
}
"""


def test_threads_that_vanished_and_threads_that_stayed(tmp_path):
    """Only what the process's end has ended is open."""
    alone(tmp_path, compiled(tmp_path, VANISH, "vanish", "-pthread"))
    ends = {c["function"]: c["end"] for c in calls(tmp_path, "x.area")}
    assert ends == {"main": "return", "stays": "open", "thread": "unwound",
                    "vanish": "unwound"}


def test_a_thread_that_the_kernel_still_answers_for_has_vanished(tmp_path):
    """One that is traced stays until its tracer has waited for it."""
    seize, all_kinds = 0x4206, 0x40000000
    libc = ctypes.CDLL(None, use_errno=True)
    source = VANISH.replace("syscall(SYS_exit, 0);", """
        char c;
        dprintf(1, "%d\\n", (int)syscall(SYS_gettid));
        if (read(0, &c, 1) == 1)
                syscall(SYS_exit, 0);""")
    app = compiled(tmp_path, "#include <stdio.h>\n" + source, "app",
                   "-pthread")
    env = dict(os.environ, CSTRACE_FILE="x.area",
               LD_PRELOAD=str(BUILD / "libcstrace.so"))
    with subprocess.Popen([app], cwd=tmp_path, env=env, bufsize=0,
                          stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as run:
        tid = int(run.stdout.readline())
        assert libc.ptrace(seize, tid, None, None) == 0, ctypes.get_errno()
        run.stdin.write(b"x")
        assert run.stdout.read() == b""
        os.waitpid(tid, all_kinds)
    ends = {c["function"]: c["end"] for c in calls(tmp_path, "x.area")}
    assert ends["vanish"] == "unwound" and ends["stays"] == "open"


# ---- read where something else is in the program's place -------------------

LOOK = ("--timestamp", "off", "--no-duration")


@pytest.fixture
def moved(tmp_path):
    """A trace by the shim alone; what was run is in "kept" only."""
    (tmp_path / "kept").mkdir()
    shutil.copy(build("calls.c"), tmp_path / "app")
    alone(tmp_path, tmp_path / "app")
    whole = command("show", *LOOK, "x.area", cwd=tmp_path)
    assert "spread  calls.c:47" in whole.stdout and whole.stderr == ""
    (tmp_path / "app").rename(tmp_path / "kept" / "app")
    return tmp_path, whole.stdout


def test_a_program_built_anew_is_said_not_guessed(moved):
    folder, _whole = moved
    shutil.copy(build("spin.c"), folder / "app")
    done = command("show", *LOOK, "x.area", cwd=folder)
    assert "the file there now is another build" in done.stderr
    assert "  app+0x" in done.stdout and "spin" not in done.stdout


def test_a_program_that_lies_elsewhere_is_found(moved):
    folder, whole = moved
    done = command("show", *LOOK, "x.area", cwd=folder)
    assert "no symbols with its build-id" in done.stderr
    done = command("show", *LOOK, "--debug-dir", "kept", "x.area", cwd=folder)
    assert (done.stdout, done.stderr) == (whole, "")
