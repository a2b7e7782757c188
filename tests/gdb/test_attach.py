# SPDX-License-Identifier: MIT
"""gdb attaches to programs that were started without cstrace."""

import os
import re
import subprocess

import pytest

from lib_build import BUILD, Variant, build
from lib_gdb import run_gdb, wait_for
from lib_process import (AS_NOBODY, HAS_A_HOLE, HOLE, RUNS_MADE_CODE, compiled,
                         nobody_can_read)
from lib_server import HOOKS, Clients, hook_words, is_as_in_file, server
from lib_term import PROMPT, Terminal

LIMIT_S = 120
QUIET = ("set cstrace live off", "set cstrace step-report off")

# Nearly always in libc, where nothing can be loaded.
COPIES = r"""
#include <stdio.h>
#include <string.h>
static char from[1 << 22], to[1 << 22];
__attribute__((noinline)) static int glance(int n)
{
	__asm__ volatile("");
	return to[n] + n;
}
int main(void)
{
	int sum = 0;
	puts("ready");
	fflush(stdout);
	for (int n = 0;; n++) {
		memcpy(to, from, sizeof(to));
		sum += glance(n & 1023);
		from[sum & 1023]++;
	}
}
"""
# For ever in a signal handler.
HANDLES = r"""
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) static void handle(int n)
{
	(void)n;
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
int main(void)
{
	signal(SIGUSR1, handle);
	raise(SIGUSR1);
}
"""
# Waits for two bytes in calls of calls, and then calls again.
NESTED = r"""
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) static int waits(int fd)
{
	char c;
	ssize_t n = read(fd, &c, 1);
	__asm__ volatile("");
	return n == 1;
}
__attribute__((noinline)) static int middle(int fd)
{
	return waits(fd) + waits(fd);
}
__attribute__((noinline)) static int outer(int fd)
{
	return middle(fd) == 2;
}
int main(void)
{
	puts("ready");
	fflush(stdout);
	while (outer(0))
		;
	return 0;
}
"""
SORTS = r"""
#include <stdio.h>
#include <stdlib.h>
static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}
__attribute__((noinline)) static int first(int *all)
{
	return all[0];
}
int main(void)
{
	int all[] = {3, 1, 2};
	qsort(all, 3, sizeof(*all), compare);
	return first(all) - 1;
}
"""


@pytest.mark.parametrize("flags", [
    (), ("-Wl,--build-id=none",), (HOOKS, "-Wl,-z,now")], ids=str)
def test_a_busy_server_ten_times(tmp_path, start, flags):
    """Five times by each of two gdbs; the bytes are as they were each time."""
    path = server(tmp_path, *flags)
    one = start(path, tmp_path / "socket", "again")
    before = hook_words(one.pid, path)
    assert bool(before) == (HOOKS in flags)
    clients = Clients(tmp_path / "socket", 3)
    turn = ("attach %d" % one.pid, "cstrace start", "tbreak answer",
            "continue", "tbreak digit", "continue", "tbreak answer",
            "continue", "cstrace show -last 40")
    ends = [("cstrace stop", "detach"), ("detach",)]
    commands = [c for i in range(5) for c in (*turn, *ends[i % 2])]
    try:
        for last in ([], [*turn]):  # gdb's own end detaches, too
            out = run_gdb(tmp_path, None, *QUIET, *commands, *last).out
            n = 5 + bool(last)
            assert out.count("cstrace: on (ring mode)") == n, out
            # Where the thread that is at digit() has gone on by then.
            assert len(re.findall(r" (?:answer|number|digit|wait_for)(\(.*\))?"
                                  r"  line_server.c:\d+", out)) >= n
            assert is_as_in_file(one.pid)
            assert hook_words(one.pid, path) == before
    finally:
        wrong = clients.stop()
    assert not wrong and clients.n_asked > 0
    assert one.poll() is None


def test_it_waits_for_a_safe_place(tmp_path, start):
    one = start(compiled(tmp_path, COPIES))
    out = run_gdb(tmp_path, None, *QUIET, "attach %d" % one.pid,
                  "cstrace start", "tbreak glance", "continue", "tbreak glance",
                  "continue", "cstrace stop", "cstrace show", "detach").out
    assert "patching 2 functions of app" in out and "SIGINT" not in out
    assert re.search(r" glance(\(.*\))?( = \d+)?  app.c:\d+", out), out
    assert is_as_in_file(one.pid) and one.poll() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="for root only")
def test_another_users_process(tmp_path, start):
    if not nobody_can_read(BUILD / "libcstrace.so"):
        pytest.skip("another user cannot read this folder")
    one = start(compiled(tmp_path, COPIES + AS_NOBODY))
    turn = ("attach %d" % one.pid, "cstrace start", "tbreak glance", "continue",
            "tbreak glance", "continue", "cstrace stop", "cstrace show",
            "detach")
    out = run_gdb(tmp_path, None, *QUIET, *turn, *turn).out
    assert out.count("cstrace: on (ring mode)") == 2
    assert len(re.findall(r" glance(?:\(.*\))?(?: = \d+)?  app.c:\d+", out)) >= 2
    assert is_as_in_file(one.pid) and one.poll() is None


@pytest.mark.parametrize("flags, words", [((), ()), (("-DNAMED",), ()),
                                          ((), ("alone",))], ids=str)
def test_threads_in_code_of_no_file(tmp_path, start, flags, words):
    """They are not within the shim that an earlier gdb has left, and no
    breakpoint is set where gdb guesses that they return to."""
    one = start(compiled(tmp_path, RUNS_MADE_CODE, *flags), *words)
    turn = ("attach %d" % one.pid, "cstrace start", "tbreak step", "continue",
            "tbreak step", "continue", "cstrace stop", "detach")
    out = run_gdb(tmp_path, None, *QUIET, *turn, *turn, *turn).out
    assert out.count("cstrace: on (ring mode)") == 3, out
    assert "was changed" not in out and "SIGINT" not in out
    assert is_as_in_file(one.pid)
    one.terminate()
    assert one.wait(LIMIT_S) == 3


def test_code_with_a_hole(tmp_path, start):
    one = start(compiled(tmp_path, HAS_A_HOLE, *HOLE))
    out = run_gdb(tmp_path, None, *QUIET, "attach %d" % one.pid,
                  "cstrace start", "tbreak near_step", "continue",
                  "tbreak near_step", "continue", "cstrace stop",
                  "cstrace show", "detach").out
    assert "patching 3 functions of app" in out
    assert re.search(r"^ .* near_step\b.*\n.* {5}far_step\b", out, re.M), out
    assert is_as_in_file(one.pid) and one.poll() is None


def test_threads_that_were_set_back_are_so_until_the_stop(tmp_path, start):
    """gdb sets back threads that it stops in the shim, and the shim ignores what
    they report again.  When the patches are gone they report nothing."""
    one = start(build("hot_threads.c", "-pthread", variant=Variant(level="-O0"),
                      is_traced=False))
    how_many = ("python print('AGAIN', gdb.parse_and_eval("
                "'*(int *)((char *)&cstrace_again + 4)'))")
    turn = ("cstrace start", "shell kill -STOP %d" % one.pid, "continue",
            how_many, "cstrace stop", how_many)
    out = run_gdb(tmp_path, None, *QUIET, "attach %d" % one.pid,
                  "handle SIGSTOP nopass", *turn * 20, "detach").out
    counts = re.findall(r"^AGAIN (\d+)", out, re.M)
    assert len(counts) == 40 and set(counts[1::2]) == {"0"}, counts
    assert set(counts[::2]) != {"0"}
    assert is_as_in_file(one.pid)


def test_it_gives_up_with_the_reason(tmp_path, start):
    one = start(compiled(tmp_path, HANDLES))
    out = run_gdb(tmp_path, None, *QUIET, "attach %d" % one.pid,
                  "cstrace start", "info cstrace", "detach").out
    assert ("no thread is where libcstrace.so can be loaded: thread 1 is in a "
            "signal handler (" in out)
    assert "after `detach` `cstrace sample -p %d`" % one.pid in out
    assert is_as_in_file(one.pid) and one.poll() is None


def test_ctrl_c_ends_the_wait(tmp_path, start):
    """Then gdb's pager has not counted what nobody was shown."""
    one = start(compiled(tmp_path, HANDLES))

    def n_switches():
        with open("/proc/%d/status" % one.pid, encoding="ascii") as f:
            return sum(map(int, re.findall(r"ctxt_switches:\s+(\d+)",
                                           f.read())))

    with Terminal(tmp_path, None) as t:
        t.ask("attach %d" % one.pid)
        before = n_switches()
        t.send("cstrace start\n")
        wait_for(lambda: n_switches() > before + 40, "many stops")
        t.interrupt()
        seen = t.wait(PROMPT)
        assert "the program stopped before libcstrace.so was loaded" in seen
        assert "received signal" not in seen
        t.ask("detach")
    assert is_as_in_file(one.pid) and one.poll() is None


def test_of_a_program_that_gdb_began_it_is_said_at_once(tmp_path):
    """It does not run on behind the user's back."""
    out = run_gdb(tmp_path, compiled(tmp_path, SORTS), *QUIET,
                  "break compare", "run", "cstrace start", "bt 1", "delete",
                  "break first", "continue", "cstrace start", "delete",
                  "continue", "cstrace show").out
    assert re.search(r"thread 1 is called back by libc \(compare\); go on to "
                     r"the program's own code \(`finish`\)", out), out
    assert "#0  compare" in out.partition("cstrace: no thread")[2]
    assert "exited normally" in out


def test_a_program_that_gdb_began_is_patched_midway(tmp_path):
    program = build("steps.c", variant=Variant(level="-O2"), is_traced=False)
    out = run_gdb(tmp_path, program, *QUIET, "break middle", "run",
                  "cstrace start", "delete", "break 32", "continue",
                  "cstrace stop", "cstrace start", "delete", "continue",
                  "cstrace show").out
    assert out.count("cstrace: on (ring mode)") == 2
    assert re.search(r"leaf(\(.*\))?( = \d+)?  steps.c:\d+", out), out
    assert "exited" in out


# Opens the library that is named, and calls it between two stops.
# Opens the library that it reads the name of, in a thread of its own.
OPENS = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static char line[256];
__attribute__((noinline)) void joined(void) { __asm__ volatile(""); }
static void *opens(void *library)
{
	int (*twice)(int) = 0;
	if (library)
		dlclose(library);
	library = dlopen(line, RTLD_NOW);
	*(void **)&twice = dlsym(library, "twice");
	return twice && twice(3) == 14 ? library : 0;
}
int main(void)
{
	void *library = 0;
	pthread_t thread;
	puts("ready");
	fflush(stdout);
	while (scanf("%255s", line) == 1) {
		pthread_create(&thread, 0, opens, library);
		pthread_join(thread, &library);
		joined();
		puts(library ? "done" : "failed");
		fflush(stdout);
	}
}
"""
TWICE = """
#include <unistd.h>
__attribute__((noinline)) static int NAME(int a)
{
	volatile int twice = a;
	return twice + twice;
}
__attribute__((constructor)) static void begin(void) { NAME(getppid()); }
int twice(int a) { return NAME(a) + NAME(a + 1); }
"""


def library(folder, name, flag):
    (folder / (name + ".c")).write_text(TWICE.replace("NAME", name))
    path = folder / (name + ".so")
    subprocess.run(["gcc", "-g", "-O1", flag, "-shared", "-fPIC", "-o", path,
                    folder / (name + ".c")], check=True)
    return path


@pytest.mark.parametrize("flag", ("-O0", HOOKS), ids=("patched", "hooks"))
def test_libraries_that_come_later(tmp_path, start, flag):
    """Each is opened where another one was closed before; its constructor is
    seen, too.  At the end all is as it was, the dynamic linker as well."""
    one = start(compiled(tmp_path, OPENS))
    names = ("first", "second", "first")
    files = [library(tmp_path, name, flag) for name in names]
    turns = [word for i, file in enumerate(files) for word in (
        "shell echo %s > /proc/%d/fd/0" % (file, one.pid),
        "tbreak joined", "continue", "cstrace show -thread t%d" % (2 + i))]
    out = run_gdb(tmp_path, None, *QUIET, "set breakpoint pending on",
                  "attach %d" % one.pid, "cstrace start", *turns,
                  "cstrace stop", "detach").out
    shown = [re.findall(r"^ +\S+ +[\d.]+ \ws[~*]? +\d+\.\d+ +(\w+)", part, re.M)
             for part in out.split("CALL  (FROM)")[1:]]
    assert shown == [["opens", "begin", name, "twice", name, name]
                     for name in names], out
    assert "was opened since" not in out
    with open("/proc/%d/maps" % one.pid, encoding="utf-8") as maps:
        loader = next(path for path in maps.read().split()
                      if "/ld-linux" in path)
    assert is_as_in_file(one.pid) and is_as_in_file(one.pid, loader)
    assert is_as_in_file(one.pid, str(files[0]))
    one.stdin.write("%s\n" % files[1])
    one.stdin.flush()
    for _ in range(len(files) + 1):
        assert one.stdout.readline() == "done\n"


def test_signals_and_breakpoints_of_others_do_not_matter(tmp_path, start):
    """Another thread is at a breakpoint all the time, and all settings are as
    they were."""
    one = start(server(tmp_path), tmp_path / "socket", "again")
    clients = Clients(tmp_path / "socket", 2)
    try:
        out = run_gdb(tmp_path, None, *QUIET, "attach %d" % one.pid,
                      "handle SIGUSR2 nostop noprint nopass",
                      "break answer", "continue", "cstrace start",
                      "continue", "continue", "info breakpoints",
                      "info signals SIGUSR1", "info signals SIGUSR2",
                      "show scheduler-locking", "show unwindonsignal",
                      "delete", "detach").out
    finally:
        wrong = clients.stop()
    assert "on (ring mode)" in out and not wrong
    assert re.search(r"breakpoint +keep y .* in answer", out), out
    assert re.search(r"SIGUSR1\s+Yes\s+Yes\s+Yes", out)
    assert re.search(r"SIGUSR2\s+No\s+No\s+No", out)
    assert '"replay"' in out and "is off" in out
    assert one.poll() is None


def test_start_comes_before_attach(tmp_path, start):
    one = start(server(tmp_path), tmp_path / "socket", "again")
    clients = Clients(tmp_path / "socket", 1)
    try:
        out = run_gdb(tmp_path, None, *QUIET, "cstrace start",
                      "attach %d" % one.pid, "tbreak answer", "continue",
                      "tbreak answer", "continue", "cstrace show -last 9",
                      "detach").out
    finally:
        wrong = clients.stop()
    assert "on (ring mode)" in out and " digit" in out and not wrong
    assert is_as_in_file(one.pid)


def open_calls(out):
    return re.findall(r"^ +before +(\S.*?) ?1\.s(\d+) +(\w+)", out, re.M)


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_calls_that_were_open_began_before(tmp_path, start, level):
    """They end as others do, or are estimated to."""
    (tmp_path / "nested.c").write_text(NESTED)
    subprocess.run(["gcc", "-g", level, "nested.c", "-o", "nested"],
                   cwd=tmp_path, check=True)
    one = subprocess.Popen([str(tmp_path / "nested")], text=True,
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert one.stdout.readline() == "ready\n"
        out = run_gdb(tmp_path, None, *QUIET, "attach %d" % one.pid,
                      "cstrace start", "cstrace show",
                      "shell printf abcd >/proc/%d/fd/0" % one.pid,
                      "tbreak middle", "continue", "tbreak middle",
                      "continue", "cstrace stop",
                      "cstrace show", "detach").out
    finally:
        one.stdin.close()
        assert one.wait(LIMIT_S) == 0
    before, _, after = out.partition("Temporary breakpoint")
    names = ["main", "outer", "middle", "waits"]
    assert "cstrace: %d calls open in 1 thread" % len(names) in before
    assert [name for _, _, name in open_calls(before)] == names
    assert {time.strip() for time, _, _ in open_calls(before)} == {"open"}
    ended = {name: time for time, _, name in open_calls(after)}
    assert list(ended) == names
    assert all("open" not in ended[name]
               for name in names[1:]), after
    assert "(unwound)" not in after, after
