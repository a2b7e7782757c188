# SPDX-License-Identifier: MIT
"""cstrace record -p PID: the calls of a program that runs already."""

import itertools
import json
import os
import re
import select
import shutil
import signal
import subprocess
import time

import pytest

from lib_build import BUILD
from lib_process import (AS_NOBODY, HAS_A_HOLE, HOLE, RUNS_MADE_CODE, compiled,
                         nobody_can_read)
from lib_server import HOOKS, Clients, hook_words, is_as_in_file, server

CSTRACE = str(BUILD / "cstrace")
LIMIT_S = 120

# Counts, and is interrupted by a timer a thousand times a second; the last line
# of its output depends on every step.
SPINS = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
static volatile sig_atomic_t is_over, n_ticks;
__attribute__((noinline)) static void tick(int n) { (void)n; n_ticks++; }
static void end(int n) { (void)n; is_over = 1; }
__attribute__((noinline)) static unsigned step(unsigned n)
{
	__asm__ volatile("");
	return n * 1103515245u + 12345u;
}
int main(void)
{
	struct itimerval often = {{0, 1000}, {0, 1000}};
	unsigned n = 1, is_wrong = 0;
	signal(SIGALRM, tick);
	signal(SIGTERM, end);
	setitimer(ITIMER_REAL, &often, NULL);
	puts("ready");
	fflush(stdout);
	while (!is_over) {
		unsigned next = step(n);
		is_wrong |= next != n * 1103515245u + 12345u;
		n = next;
	}
	printf("%s %s\n", is_wrong ? "wrong" : "right", n_ticks ? "ticks" : "none");
	return 3;
}
"""
WAITS = r"""
#include <stdio.h>
#include <unistd.h>
BEFORE
int main(void)
{
	START;
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
"""


def record(folder, pid, *words, status=0):
    done = subprocess.run([CSTRACE, "record", "-p", str(pid), "--force",
                           *words], cwd=folder, text=True, timeout=LIMIT_S,
                          capture_output=True, check=False)
    assert done.returncode == status, done.stderr
    return done.stderr


def names(folder):
    saved = subprocess.run([CSTRACE, "save", "--force", "cstrace.cst",
                            "out.jsonl"], cwd=folder, text=True, check=False,
                           timeout=LIMIT_S, capture_output=True)
    assert saved.returncode == 0, saved.stderr
    lines = (folder / "out.jsonl").read_text().splitlines()
    return [(c["name"], c["parent"] is not None)
            for c in map(json.loads, lines)]


def test_a_busy_server_ten_times(tmp_path, start):
    one = start(server(tmp_path), tmp_path / "socket")
    clients = Clients(tmp_path / "socket", 3)
    try:
        for _ in range(10):
            said = record(tmp_path, one.pid, "--for", "100ms",
                          "--max-size", "8M")
            assert re.search(r"cstrace: \d+ calls in \d+ threads?, [\d.]+ "
                             r"[KM]iB in cstrace.cst, .*; process %d stood still for at "
                             r"most [\d.]+ ms(, a thread of it for [\d.]+ ms)?\n"
                             % one.pid, said), said
            assert is_as_in_file(one.pid)
        found = names(tmp_path)
    finally:
        wrong = clients.stop()
    assert not wrong and clients.n_asked > 0
    assert one.poll() is None
    assert {"answer", "number", "digit"} <= {name for name, _ in found}
    assert all(has_parent for name, has_parent in found if name == "digit")


@pytest.mark.parametrize("flag", ["-Wl,-z,now", "-Wl,-z,lazy", "-fno-plt"])
def test_hooks_lead_to_the_library_for_as_long(tmp_path, start, flag):
    path = server(tmp_path, HOOKS, flag)
    one = start(path, tmp_path / "socket")
    clients = Clients(tmp_path / "socket", 2)
    try:
        clients.wait()  # the words are bound then
        before = hook_words(one.pid, path)
        for _ in range(3):
            said = record(tmp_path, one.pid, "--for", "100ms",
                          "--max-size", "8M")
            assert "patched" not in said
            assert hook_words(one.pid, path) == before
            assert is_as_in_file(one.pid)
        found = names(tmp_path)
    finally:
        wrong = clients.stop()
    assert not wrong and one.poll() is None and len(before) >= 2
    assert {"answer", "number", "digit"} <= {name for name, _ in found}


ALLOCATES = r"""
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <time.h>
static volatile sig_atomic_t is_over;
static jmp_buf back;
static void end(int n) { (void)n; is_over = 1; }
__attribute__((noinline)) static int step(int n)
{
	char *text = malloc(20);
	int is_wrong = snprintf(text, 20, "%d", n) < 1;
	is_wrong |= strtol(text, NULL, 10) != n;
	free(text);
	if (!setjmp(back))
		is_wrong |= time(NULL) < 1;
	return is_wrong;
}
int main(void)
{
	int is_wrong = 0;
	signal(SIGTERM, end);
	puts("ready");
	fflush(stdout);
	for (int n = 0; !is_over; n = (n + 1) % 1000) {
		is_wrong |= step(n);
		if (!n)
			usleep(100);
	}
	puts(is_wrong ? "wrong" : "right");
	return 3;
}
"""


@pytest.mark.parametrize("flag", ["-O2", "-finstrument-functions"])
def test_calls_into_libraries(tmp_path, start, flag):
    one = start(compiled(tmp_path, ALLOCATES, flag, "-fno-builtin",
                         "-fno-optimize-sibling-calls", "-U_FORTIFY_SOURCE"))
    for _ in range(3):
        said = record(tmp_path, one.pid, "--for", "100ms", "--max-size", "8M",
                      "--border")
        assert re.search(r"calls into \d+ functions of libc\.so", said)
        assert is_as_in_file(one.pid)
    found = names(tmp_path)
    assert {"step", "malloc", "snprintf", "strtol", "free", "time", "setjmp"} <= {
        name.lstrip("_") for name, _ in found}
    record(tmp_path, one.pid, "--for", "50ms", "--max-size", "8M")
    assert {name for name, _ in names(tmp_path)} == {"step"}
    one.terminate()
    out, _ = one.communicate(timeout=LIMIT_S)
    assert (out, one.returncode) == ("right\n", 3)


def test_code_that_waits_for_nothing_and_signals(tmp_path, start):
    one = start(compiled(tmp_path, SPINS))
    for _ in range(5):
        record(tmp_path, one.pid, "--for", "50ms", "--max-size", "8M")
        assert is_as_in_file(one.pid)
    assert "step" in {name for name, _ in names(tmp_path)}
    one.terminate()
    out, _ = one.communicate(timeout=LIMIT_S)
    assert (out, one.returncode) == ("right ticks\n", 3)


@pytest.mark.parametrize("flags, words", [((), ()), (("-DNAMED",), ()),
                                          ((), ("alone",))], ids=str)
def test_threads_in_code_of_no_file(tmp_path, start, flags, words):
    """They are not within the shim that an earlier recorder has left."""
    one = start(compiled(tmp_path, RUNS_MADE_CODE, *flags), *words)
    for _ in range(3):
        said = record(tmp_path, one.pid, "--for", "200ms")
        assert "was changed" not in said
        assert "step" in {name for name, _ in names(tmp_path)}
    assert is_as_in_file(one.pid)
    one.terminate()
    assert one.wait(LIMIT_S) == 3


def test_code_with_a_hole(tmp_path, start):
    one = start(compiled(tmp_path, HAS_A_HOLE, *HOLE))
    record(tmp_path, one.pid, "--for", "200ms")
    assert {"near_step", "far_step"} <= {name for name, _ in names(tmp_path)}
    assert is_as_in_file(one.pid) and one.poll() is None


def test_a_process_that_ignores_faults_goes_on_to_do_so(tmp_path, start):
    one = start(compiled(tmp_path, SPINS.replace(
        "signal(SIGALRM, tick);",
        "signal(SIGALRM, tick); signal(SIGSEGV, SIG_IGN);")))

    def ignored():
        with open("/proc/%d/status" % one.pid, encoding="utf-8") as status:
            return re.search(r"SigIgn:\t(\w+)", status.read())[1]

    before = ignored()
    record(tmp_path, one.pid, "--for", "50ms", "--max-size", "8M")
    assert "step" in {name for name, _ in names(tmp_path)}
    assert int(before, 16) >> 10 & 1 and ignored() == before
    assert one.poll() is None and is_as_in_file(one.pid)


def test_the_user_or_the_process_ends_it(tmp_path, start):
    one = start(compiled(tmp_path, SPINS))

    def begin():
        recorder = subprocess.Popen(
            [CSTRACE, "record", "--force", "-p", str(one.pid)], text=True,
            cwd=tmp_path, stderr=subprocess.PIPE)
        assert recorder.stderr.readline() == (
            "cstrace: recording process %d: Ctrl-C ends it\n" % one.pid)
        return recorder

    recorder = begin()
    busy = record(tmp_path, one.pid, "-o", "other.cst", status=1)
    assert "another cstrace records it" in busy
    recorder.send_signal(signal.SIGINT)
    assert "calls in 1 thread" in recorder.communicate(timeout=LIMIT_S)[1]
    assert recorder.returncode == 0 and is_as_in_file(one.pid)
    recorder = begin()
    one.terminate()
    assert re.search("calls? in 1 thread",
                     recorder.communicate(timeout=LIMIT_S)[1])
    assert one.wait(LIMIT_S) == 3


# Opens the library that it reads the name of, in place of the one before, and
# calls it for ever; "more" is answered after ten calls.
OPENS = r"""
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
__attribute__((noinline)) int tick(int n) { __asm__ volatile(""); return n; }
int main(void)
{
	struct pollfd in = {0, POLLIN, 0};
	int (*twice)(int) = 0;
	void *library = 0;
	int n = 0;
	char line[256];
	puts("ready");
	fflush(stdout);
	for (;;) {
		tick(1);
		if (twice && twice(3) != 14)
			return 1;
		if (n && !--n) {
			puts("done");
			fflush(stdout);
		}
		if (!poll(&in, 1, 1))
			continue;
		if (scanf("%255s", line) != 1)
			return 3;
		if (!strcmp(line, "more")) {
			n = 10;
			continue;
		}
		if (library)
			dlclose(library);
		library = dlopen(line, RTLD_NOW);
		twice = library ? (int (*)(int))dlsym(library, "twice") : 0;
	}
}
"""
TWICE = """
__attribute__((noinline)) static int NAME(int a)
{ __asm__ volatile(""); return a * 2; }
int twice(int a) { return NAME(a) + NAME(a + 1); }
"""


def heard(recorder):
    """Its next line."""
    assert select.select([recorder.stderr], [], [], 10)[0], "it is silent"
    return recorder.stderr.readline()


def library(folder, name, *flags):
    (folder / (name + ".c")).write_text(TWICE.replace("NAME", name))
    path = folder / (name + ".so")
    subprocess.run(["gcc", "-g", "-O1", "-shared", "-fPIC", *flags, "-o",
                    path, folder / (name + ".c")], check=True)
    return path


@pytest.mark.parametrize("flag", ("-O1", HOOKS), ids=("patched", "hooks"))
def test_libraries_that_come_later(tmp_path, start, flag):
    """Each is opened where another one was closed before."""
    one = start(compiled(tmp_path, OPENS))
    files = [library(tmp_path, name, flag) for name in ("first", "second")]
    recorder = subprocess.Popen(
        [CSTRACE, "record", "-p", str(one.pid)], text=True, cwd=tmp_path,
        stderr=subprocess.PIPE)
    assert "recording process" in heard(recorder)
    for _ in range(2):
        for file in files:
            one.stdin.write("%s\n" % file)
            one.stdin.flush()
            assert heard(recorder) == (
                "cstrace: recording %s, too, which was loaded meanwhile\n"
                % file.name)
            one.stdin.write("more\n")
            one.stdin.flush()
            assert one.stdout.readline() == "done\n"
    recorder.send_signal(signal.SIGINT)
    said = recorder.communicate(timeout=LIMIT_S)[1]
    assert recorder.returncode == 0 and "is not recorded" not in said, said
    assert is_as_in_file(one.pid) and is_as_in_file(one.pid, str(files[1]))
    found = [name for name, _ in names(tmp_path)]
    assert {"tick", "twice"} <= set(found)
    assert [name for name, _ in itertools.groupby(
        name for name in found if name in ("first", "second"))] == [
            "first", "second"] * 2
    assert one.poll() is None


@pytest.mark.parametrize("kind", ["sha1", "none"])
def test_some_functions_only(tmp_path, start, kind):
    one = start(compiled(tmp_path, SPINS, "-Wl,--build-id=" + kind))
    said = record(tmp_path, one.pid, "--for", "50ms", "--patch=tick")
    assert "cstrace: patched 1 function of app" in said
    assert {name for name, _ in names(tmp_path)} <= {"tick"}


FORKS = SPINS.replace("	setitimer", """\
	signal(SIGUSR1, forks);
	setitimer""").replace("int main(void)", """\
static void forks(int n)
{
	(void)n;
	if (!fork()) {
		printf("%d\\n", getpid());
		fflush(stdout);
	}
}
int main(void)""").replace("#include <stdio.h>",
                           "#include <stdio.h>\n#include <unistd.h>")


def test_children_are_as_they_were(tmp_path, start):
    """They were made meanwhile, and go on."""
    one = start(compiled(tmp_path, FORKS))
    with subprocess.Popen([CSTRACE, "record", "-p", str(one.pid)],
                          cwd=tmp_path, stderr=subprocess.PIPE,
                          text=True) as recorder:
        assert "recording process" in recorder.stderr.readline()
        one.send_signal(signal.SIGUSR1)
        child = int(one.stdout.readline())
        recorder.send_signal(signal.SIGINT)
        recorder.communicate(timeout=LIMIT_S)
    try:
        assert recorder.returncode == 0
        assert is_as_in_file(child) and is_as_in_file(one.pid)
    finally:
        os.kill(child, signal.SIGTERM)
        one.terminate()
    assert one.stdout.read() == 2 * "right ticks\n"
    assert one.wait(LIMIT_S) == 3


@pytest.mark.skipif(os.geteuid() != 0, reason="for root only")
def test_another_users_process(tmp_path, start):
    """Nothing in /proc is its own, as it has begun as root, and it sees nothing of
    ours there."""
    if not nobody_can_read(BUILD / "libcstrace.so"):
        pytest.skip("another user cannot read this folder")
    one = start(compiled(tmp_path, SPINS + AS_NOBODY))
    for _ in range(2):
        said = record(tmp_path, one.pid, "--for", "50ms")
        assert "patched 5 functions of" in said
        assert {"step", "tick"} <= {name for name, _is_below in names(tmp_path)}
    assert is_as_in_file(one.pid)
    one.send_signal(signal.SIGTERM)
    assert one.stdout.read() == "right ticks\n" and one.wait(LIMIT_S) == 3


@pytest.mark.skipif(os.geteuid() != 0, reason="for root only")
def test_a_library_that_its_user_cannot_read(tmp_path, start):
    one = start(compiled(tmp_path, SPINS + AS_NOBODY))
    (tmp_path / "apart").mkdir(mode=0o700)
    for name in "cstrace", "libcstrace.so":
        shutil.copy(BUILD / name, tmp_path / "apart")
    done = subprocess.run([tmp_path / "apart/cstrace", "record", "-p",
                           str(one.pid)], cwd=tmp_path, text=True, check=False,
                          capture_output=True, timeout=LIMIT_S)
    assert done.returncode == 1
    assert "its user cannot read libcstrace.so" in done.stderr
    assert one.poll() is None


REFUSED = {
    "static": ("", "", ["-static"], "it is static"),
    "another libc": ("", "", ["-specs=/usr/lib/x86_64-linux-musl/musl-gcc.specs"],
                     "its libc is not glibc, and takes the library only"),
    "sandbox": ("#include <sys/prctl.h>\n#include <linux/seccomp.h>\n"
                "#include <linux/filter.h>",
                "struct sock_filter f = {6, 0, 0, SECCOMP_RET_ALLOW};"
                "struct sock_fprog p = {1, &f};"
                "prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);"
                "prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p)", [],
                "in a sandbox (seccomp)"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(tmp_path, start, case):
    before, begin, flags, why = REFUSED[case]
    one = start(compiled(tmp_path, WAITS.replace("BEFORE", before)
                         .replace("START", begin), *flags))
    said = record(tmp_path, one.pid, "--for", "1s", status=1)
    assert why in said and str(one.pid) in said
    assert one.poll() is None and not (tmp_path / "cstrace.cst").exists()


def test_stopped_and_gone(tmp_path, start):
    one = start(compiled(tmp_path, SPINS))
    one.send_signal(signal.SIGSTOP)
    until = time.monotonic() + LIMIT_S
    while " T " not in open("/proc/%d/stat" % one.pid, encoding="utf-8").read():
        assert time.monotonic() < until
    assert "it is stopped" in record(tmp_path, one.pid, status=1)
    one.kill()
    one.wait(LIMIT_S)
    assert "there is no process" in record(tmp_path, one.pid, status=1)


@pytest.mark.parametrize("words, why", [
    (["./app"], "-p is for a process that runs already"),
    (["--sample"], "--sample does not go with -p"),
    (["--flight", "1M"], "--flight does not go with -p"),
    (["-o", "-"], "-o - does not go with -p"),
])
def test_usage(tmp_path, words, why):
    assert why in record(tmp_path, os.getpid(), *words, status=2)
