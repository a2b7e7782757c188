# SPDX-License-Identifier: MIT
"""cstrace record --flight SIZE --core: values of calls in a core file, with
nothing of cstrace's beside the program."""

import os
import resource
import signal
import subprocess

import pytest

from lib_build import BUILD
from lib_cstrace import command
from lib_gdb import LOADER, wait_for
from lib_record import compiled

COMMAND = BUILD / "cstrace"

CRASH = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
enum color { RED, GREEN };
struct pair { int x, y; };
static int add(int a, int b) { return a + b; }
static long length(const char *s) { return (long)strlen(s); }
static double half(double d, enum color c) { return d / 2 + c; }
static int sum(struct pair p, unsigned long big) { return p.x + (big > 1); }
static void die(const char *why, int n) { if (n) abort(); puts(why); }
int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int n = 0;

	for (int i = 0; i < (*how == 'm' ? 100000 : 2); i++) {
		n = add(n, i);
		length("hello");
		half(1.5, GREEN);
		sum((struct pair){3, 4}, 0x1234567890abcdul);
	}
	if (*how == 'w') {
		puts("called");
		fflush(stdout);
		getchar();
	}
	if (*how == 'u')
		dlclose(dlopen(argv[2], RTLD_NOW));
	if (*how == 'f' && fork() == 0) {
		add(40, 2);
		abort();
	}
	if (*how == 'f')
		wait(0);
	add(7, -8);
	die("because", 7);
}
"""


def unlimited():
    resource.setrlimit(resource.RLIMIT_CORE, (-1, -1))


def record(folder, *words, status=-signal.SIGABRT):
    done = subprocess.run(
        [COMMAND, "record", "--flight", "1M", "--core", *words], cwd=folder,
        preexec_fn=unlimited, timeout=100, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done


def the_core(folder):
    cores = list(folder.glob("core*"))
    if not cores:
        pytest.skip("the kernel writes cores elsewhere")
    return cores[0]


def values(folder):
    done = command("show", str(the_core(folder)), cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("flags", [("-O0",), ("-O2", "-fno-inline")])
def test_a_core_has_the_values_of_calls(tmp_path, flags):
    record(tmp_path, compiled(tmp_path, CRASH, "crash", *flags))
    text = values(tmp_path)
    assert "add(a=0, b=0) = 0" in text and "add(a=0, b=1) = 1" in text
    assert 'length(s="hello") = 5' in text
    assert "half(d=1.5, c=GREEN) = 1.75" in text
    assert "big=5124095575370701) = 4" in text
    assert "add(a=7, b=-8) = -1" in text
    assert 'die(why="because", n=7)' in text


def test_of_many_calls_the_newest_have_theirs(tmp_path):
    record(tmp_path, compiled(tmp_path, CRASH, "crash"), "many")
    text = values(tmp_path)
    assert "add(a=0, b=0)" not in text and "main" not in text
    assert "b=99999)" in text and 'die(why="because", n=7)' in text


def test_so_have_a_forks_and_those_behind_an_unload(tmp_path):
    program = compiled(tmp_path, CRASH, "crash")
    record(tmp_path, program, "fork")
    assert "add(a=40, b=2) = 42" in values(tmp_path)
    the_core(tmp_path).unlink()
    library = compiled(tmp_path, "int f(void) { return 1; }", "lib.so",
                       "-shared", "-fPIC")
    record(tmp_path, program, "unload", library)
    assert "add(a=7, b=-8) = -1" in values(tmp_path)


def test_gdb_shows_them(tmp_path):
    program = compiled(tmp_path, CRASH, "crash")
    record(tmp_path, program)
    done = subprocess.run(
        ["gdb", "-q", "-nx", "-batch", "-x", LOADER, "-ex",
         "cstrace show -last 1", str(program), str(the_core(tmp_path))],
        capture_output=True, text=True, timeout=100)
    assert 'die(why="because", n=7)' in done.stdout


def test_another_build_of_the_program_gives_no_values(tmp_path):
    program = compiled(tmp_path, CRASH, "crash")
    record(tmp_path, program)
    compiled(tmp_path, CRASH.replace("int a, int b", "int b, int a"), "crash")
    text = values(tmp_path)
    assert "crash+0x" in text and "a=" not in text and "b=" not in text


def processes_of(folder):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as f:
                if os.fsencode(str(folder)) in f.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def test_nothing_of_cstrace_is_there_after_the_first_call(tmp_path):
    program = compiled(tmp_path, CRASH, "crash")
    with subprocess.Popen(
            [COMMAND, "record", "--flight", "1M", "--core", program, "wait"],
            cwd=tmp_path, preexec_fn=unlimited, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE) as p:
        assert p.stdout.readline() == b"called\n"
        wait_for(lambda: processes_of(tmp_path) == [p.pid], "the helper's end")
        p.stdin.close()
        assert p.wait(100) == -signal.SIGABRT
    assert "add(a=7, b=-8) = -1" in values(tmp_path)


def test_a_program_without_calls_ends_and_so_does_the_helper(tmp_path):
    program = tmp_path / "true"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    record(tmp_path, program, status=3)
    wait_for(lambda: not processes_of(tmp_path), "the helper's end")


def test_of_two_programs_the_first_one_has_them(tmp_path):
    program = compiled(tmp_path, CRASH, "crash")
    record(tmp_path, "sh", "-c", '"$0"; mv core* first; "$0"; exit 5', program,
           status=5)
    assert "  add  " in values(tmp_path)  # that is the second one's
    first = command("show", str(tmp_path / "first"), cwd=tmp_path)
    assert "add(a=7, b=-8) = -1" in first.stdout


@pytest.mark.parametrize("words, told", [
    (["--core"], "--core is for --flight SIZE"),
    (["--core", "--flight", "1M", "-o", "x"], "--output does not go with"),
    (["--core", "--flight", "1M", "--args=x"], "--args=REGEX does not go"),
    (["--core", "--flight", "1M", "--on-signal", "USR2"], "--on-signal"),
    (["--core", "--flight", "1M", "--border"], "--border does not go"),
    (["--core", "--flight", "1M", "-p", "1"], "--core does not go with -p"),
])
def test_bad_input_is_told(tmp_path, words, told):
    if "-p" not in words:
        words = [*words, "true"]
    done = command("record", *words, cwd=tmp_path)
    assert done.returncode == 2 and told in done.stderr


def test_a_program_that_cannot_be_run(tmp_path):
    (tmp_path / "app").write_text("nothing\n")
    (tmp_path / "app").chmod(0o755)
    done = record(tmp_path, "./app", status=1)
    assert "it is no program" in done.stderr


def test_a_program_without_hooks_is_told_of(tmp_path):
    """--patch would not do, as it does elsewhere."""
    done = record(tmp_path, "/bin/true", status=0)
    assert "it has no hooks: compile it" in done.stderr
    assert done.stderr.endswith("(with --core nothing is patched)\n")
