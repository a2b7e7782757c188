# SPDX-License-Identifier: MIT
"""Programs that put themselves into a sandbox which kills for all that they do
not do themselves: they live on, and every call is there or is counted
as lost."""

import re
import subprocess

import pytest

import test_robust_guest as in_gdb
from lib_build import BUILD, FOUR, build
from lib_cstrace import LIMIT_S, command
from lib_gdb import environment
from lib_record import compiled, functions, record
from test_record_robust import check_as_alone, n_calls, n_lost

AGAIN = 1000 + 1 + 20000 + 1  # calls in the sandbox
BEFORE = 1000
# Where there are other threads, each of them calls the same.
WHOLE = {
    "none": BEFORE + AGAIN,
    "prctl": BEFORE + AGAIN,
    "syscall": BEFORE + AGAIN,
    "handed": BEFORE + AGAIN,
    "handed-by-syscall": BEFORE + AGAIN,
    "twice": BEFORE + AGAIN,
    "child": BEFORE + 2 * AGAIN,
    "parent": BEFORE + 2 * AGAIN,
    "threads": 4 * (BEFORE + AGAIN) + 3,
}


def check_whole(done, program, where, *args, cwd):
    check_as_alone(done, program, where, *args, cwd=cwd)
    assert n_calls(done.stderr) == WHOLE[where] and "lost" not in done.stderr


@pytest.mark.parametrize("variant", FOUR, ids=str)
@pytest.mark.parametrize("where", WHOLE)
def test_a_filter_that_kills(tmp_path, where, variant):
    program = build("robust_sandbox.c", variant=variant)
    done = command("record", program, where, cwd=tmp_path)
    check_whole(done, program, where, cwd=tmp_path)


@pytest.mark.parametrize("verdict", ["trap", "errno"])
def test_a_filter_that_does_otherwise(tmp_path, verdict):
    program = build("robust_sandbox.c")
    done = command("record", program, "syscall", verdict, cwd=tmp_path)
    check_whole(done, program, "syscall", verdict, cwd=tmp_path)


@pytest.mark.parametrize("where", WHOLE)
def test_a_filter_that_kills_in_gdb(gdb, tmp_path, where):
    program = build("robust_sandbox.c")
    run = gdb(program, in_gdb.QUIET, "cstrace start", "run", in_gdb.STATUS,
              args=[where])
    in_gdb.check_as_alone(run, program, where, cwd=tmp_path)
    assert in_gdb.n_calls(run) == WHOLE[where] and "lost" not in run.out


def test_a_filter_before_cstrace_start(gdb, tmp_path):
    """Nothing can be opened any more: a line says so, and nothing else happens."""
    program = build("robust_sandbox.c")
    run = gdb(program, in_gdb.QUIET, "break from_many_places", "run",
              "cstrace start", "delete", "continue", in_gdb.STATUS,
              args=["prctl"])
    in_gdb.check_as_alone(run, program, "prctl", cwd=tmp_path)
    assert ("cstrace: the program could not open the recorder's memory: "
            "Operation not permitted") in run.lines()


def test_a_filter_with_nobody_there_to_read(tmp_path):
    program = build("robust_sandbox.c")
    done = subprocess.run(
        [str(program), "parent"], cwd=tmp_path, text=True, timeout=LIMIT_S,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL, check=False,
        env=environment(tmp_path, LD_PRELOAD=str(BUILD / "libcstrace.so"),
                        CSTRACE_FILE=str(tmp_path / "area")))
    check_as_alone(done, program, "parent", cwd=tmp_path)
    done = command("save", "area", "all.cst", cwd=tmp_path)
    assert n_calls(done.stderr) == 0 and done.returncode == 0
    done = command("info", "all.cst", cwd=tmp_path)
    assert "calls       %d (" % WHOLE["parent"] in done.stdout


@pytest.mark.parametrize("how", ["alarms", "alarms-within"])
def test_signals_where_none_can_be_blocked(tmp_path, how):
    """A handler that interrupts our work is counted, if not recorded; one
    that jumps within itself does not end it."""
    program = build("robust_sandbox.c")
    done = command("record", program, how, cwd=tmp_path)
    check_as_alone(done, program, how, cwd=tmp_path)
    main = BEFORE + 50 * 20001
    assert n_calls(done.stderr) + n_lost(done.stderr) >= main


def test_handlers_that_jump_out_of_our_own_work(tmp_path):
    program = build("robust_sandbox.c")
    done = command("record", program, "jumps", cwd=tmp_path)
    check_as_alone(done, program, "jumps", cwd=tmp_path)
    assert n_calls(done.stderr) > BEFORE


GIVES_UP = r"""
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void before(void) { }
static void within(int n) { if (n) within(n - 1); }

int main(int argc, char **argv)
{
	before();
	if (HOW)
		return 1;
	for (int i = 0; i < 1000; i++)
		within(10);
	syscall(SYS_exit, 7);
}
"""


@pytest.mark.parametrize("how", [
    "prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)",
    "syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0)",
    "syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, 0)",
    "prctl(PR_SET_TSC, PR_TSC_SIGSEGV)"])
def test_giving_up_the_clock_ends_the_recording_not_the_program(gdb, tmp_path,
                                                                how):
    """The strict mode does so, too."""
    program = compiled(tmp_path, GIVES_UP.replace("HOW", how), "gives_up")
    done, found = record(tmp_path, program)
    assert done.returncode == 7
    assert functions(found) == ["main", "before"]
    assert ("cstrace: calls in 1 process are missing from when its sandbox "
            "(seccomp, PR_SET_TSC) ended the recording\n") in done.stderr
    run = gdb(program, "cstrace start", "run", "cstrace status")
    assert "1 process cut off by a sandbox" in run.out
    assert re.search(r"^untraced +calls in 1 process are missing", run.out,
                     re.M)


HAS_NO_CLOCK = r"""
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void *within(void *p) { return p; }

int main(int argc, char **argv)
{
	pthread_t thread;
	int status = 0;

	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV))
		return 1;
	if (fork() == 0)
		exit(within(0) ? 1 : 0);
	wait(&status);
	pthread_create(&thread, NULL, within, NULL);
	pthread_join(thread, NULL);
	return status ? 1 : 7;
}
"""


def test_the_end_of_what_has_no_clock(tmp_path):
    program = compiled(tmp_path, HAS_NO_CLOCK, "has_no_clock")
    done, found = record(tmp_path, program)
    assert done.returncode == 7
    assert functions(found) == ["main"]


ASKS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int filter(void *program)
{
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program) ? errno
									 : 0;
}

/* As libraries find out what the kernel knows, and worse. */
int main(void)
{
	long size = sysconf(_SC_PAGESIZE);
	char *page = mmap(0, 2 * size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sock_fprog program = {2, (void *)(page + size - 8)};
	struct sock_filter endless = {BPF_JMP | BPF_JA, 0, 0, ~0u};
	struct sock_fprog unending = {1, &endless};
	struct sock_fprog empty = {0, &endless};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	munmap(page + size, size);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, 0) != -1 ||
	       filter(0) != EFAULT || filter((void *)8) != EFAULT ||
	       filter(page + size - 8) != EFAULT || filter(&program) != EFAULT ||
	       filter(&unending) != EINVAL || filter(&empty) != EINVAL ||
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, ~0u, 0) != -1;
}
"""


def test_what_is_no_filter(tmp_path):
    program = compiled(tmp_path, ASKS, "asks")
    assert subprocess.run([program], check=False).returncode == 0
    done = command("record", program, cwd=tmp_path)
    assert done.returncode == 0 and n_calls(done.stderr) == 7
