# SPDX-License-Identifier: MIT
"""CSTRACE_FLIGHT=SIZE without a reader, and the core file of that program."""

import json
import os
import re
import resource
import signal
import subprocess

import pytest

from lib_build import BUILD
from lib_cstrace import command
from lib_gdb import LOADER
from lib_record import compiled, functions

CRASH = r"""
#include <pthread.h>
static __thread volatile int n;

static void step(void) { n++; }
static void early(void) { step(); }
static void middle(void) { for (int i = 0; i < 200000; i++) step(); }
static void *thread(void *p) { middle(); return p; }
static void die(int *p) { step(); *p = 1; }
static void work(int is_threaded)
{
	pthread_t t[4];

	early();
	for (int i = 0; is_threaded && i < 4; i++)
		pthread_create(&t[i], 0, thread, 0);
	for (int i = 0; is_threaded && i < 4; i++)
		pthread_join(t[i], 0);
	middle();
	die(0);
}
int main(int argc, char **argv) { (void)argv; work(argc > 1); return 0; }
"""

FORKS = r"""
#include <sys/wait.h>
#include <unistd.h>
static void step(void) { }
int main(void)
{
	step();
	if (fork() == 0) {
		step();
		_exit(0);
	}
	wait(0);
	return 0;
}
"""


def cored(folder, size, *args):
    """The core of a crash; skips where the kernel writes none here."""
    program = compiled(folder, CRASH, "crash", "-pthread")
    done = subprocess.run(
        [program, *args], cwd=folder, timeout=100, preexec_fn=lambda:
        resource.setrlimit(resource.RLIMIT_CORE, (-1, -1)),
        env=dict(os.environ, CSTRACE_FLIGHT=size,
                 LD_PRELOAD=str(BUILD / "libcstrace.so")))
    assert done.returncode == -signal.SIGSEGV
    cores = list(folder.glob("core*"))
    if not cores:
        pytest.skip("the kernel writes cores elsewhere")
    return program, cores[0]


def calls(folder, core):
    done = command("save", str(core), "x.jsonl", cwd=folder)
    assert done.returncode == 0, done.stderr
    lines = map(json.loads, (folder / "x.jsonl").read_text().splitlines())
    return [c for c in lines if "function" in c]


def test_a_core_has_all_calls_that_fit(tmp_path):
    _program, core = cored(tmp_path, "32M")
    found = calls(tmp_path, core)
    assert functions(found)[:5] == ["main", "work", "early", "step", "middle"]
    assert functions(found)[-2:] == ["die", "step"]
    assert len(found) == 200007
    assert [c["function"] for c in found if c["end"] == "open"] == [
        "main", "work", "die"]


@pytest.mark.parametrize("args", [(), ("threads",)])
def test_of_more_calls_the_newest(tmp_path, args):
    _program, core = cored(tmp_path, "512K", *args)
    found = calls(tmp_path, core)
    names = functions(found)
    assert names[-2:] == ["die", "step"]
    # Seven full chunks at least, of two records a call.
    assert 7 * 1333 <= len(names) <= 8 * 1333 + 2
    assert "early" not in names
    assert [c["function"] for c in found if c["end"] == "open"] == ["die"]


def test_gdb_shows_it(tmp_path):
    program, core = cored(tmp_path, "512K")
    done = subprocess.run(
        ["gdb", "-q", "-nx", "-batch", "-x", LOADER, "-ex",
         "cstrace show -last 2", str(program), str(core)],
        capture_output=True, text=True, timeout=100)
    rows = [line for line in done.stdout.splitlines() if "crash.c:" in line]
    assert rows[-2].split()[3] == "die" and rows[-1].split()[4] == "step"


def recorded(folder, program, name, most):
    done = command("record", "-o", name, program, cwd=folder,
                   preexec_fn=lambda: resource.setrlimit(
                       resource.RLIMIT_CORE, (most, -1)))
    assert done.returncode == 128 + signal.SIGSEGV


def test_gdb_finds_the_trace_of_a_recorded_program(tmp_path):
    program = compiled(tmp_path, CRASH, "crash", "-pthread")
    recorded(tmp_path, program, "run.cst", -1)
    cores = list(tmp_path.glob("core*"))
    if not cores:
        pytest.skip("the kernel writes cores elsewhere")

    def shown():
        return subprocess.run(
            ["gdb", "-q", "-nx", "-batch", "-x", LOADER, "-ex",
             "cstrace show -last 2", str(program), str(cores[0])],
            capture_output=True, text=True, timeout=100)

    here = shown().stdout
    assert "was recorded: its calls are in %s/run.cst" % tmp_path in here
    assert re.search(r"open +1\.\d+ +die +crash\.c", here)
    # The calls of another process are none of the core's.
    (tmp_path / "run.cst").rename(tmp_path / "run.kept")
    recorded(tmp_path, program, "other.cst", 0)
    assert "not in the core" in shown().stderr


def test_a_core_is_no_pattern_for_the_default_file(tmp_path):
    program, core = cored(tmp_path, "512K")
    done = command("record", program, cwd=tmp_path)
    assert (tmp_path / "cstrace.cst").exists(), done.stderr
    for words in ["show", core.name], ["show", "--last", "6", core.name]:
        done = command(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        rows = [r for r in done.stdout.splitlines() if "crash.c:" in r]
        assert rows[-2].split()[3] == "die" and rows[-1].split()[4] == "step"


@pytest.mark.parametrize("size", ["lots", "16MB", "-1", "63K"])
def test_a_bad_size_is_said_once(tmp_path, size):
    program = compiled(tmp_path, FORKS, "forks")
    done = subprocess.run(
        [program], timeout=100, capture_output=True, text=True,
        env=dict(os.environ, CSTRACE_FLIGHT=size,
                 LD_PRELOAD=str(BUILD / "libcstrace.so")))
    assert done.returncode == 0
    assert done.stderr == (
        "cstrace: no calls are kept: CSTRACE_FLIGHT=%s is no size of at least "
        "64K; say 512K, 16M or 1G\n" % size)


def test_a_core_without_calls_is_said(tmp_path):
    _program, core = cored(tmp_path, "lots")
    done = command("show", str(core), cwd=tmp_path)
    assert done.returncode == 1
    assert "has no calls in it" in done.stderr
    assert done.stderr.count("\n") == 1
