# SPDX-License-Identifier: MIT
"""Calls into libraries that are not traced: record --border."""

import collections
import json
import os
import random
import re
import subprocess

import pytest

from lib_cstrace import LIMIT_S, command

N_SEEDS = 30 if os.environ.get("CSTRACE_TEST_LONG") == "1" else 3
HOOKS = ["-O0", "-finstrument-functions"]
ROADS = pytest.mark.parametrize("flags", [HOOKS, ["-O2"], ["-O1", "-fno-plt"],
                                          ["-O2", "-no-pie", "-fno-pie"],
                                          ["-O2", "-fcf-protection=full"]],
                                ids=" ".join)

COUNTING = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { N_THREADS = 3, N = 500 };
static int n_malloc, n_free, n_compared;
__attribute__((noinline)) static void *take(unsigned long n)
{
	void *p = malloc(n);

	__atomic_add_fetch(&n_malloc, 1, __ATOMIC_RELAXED);
	return p;
}
__attribute__((noinline)) static void drop(void *p)
{
	free(p);
	__atomic_add_fetch(&n_free, 1, __ATOMIC_RELAXED);
}
__attribute__((noinline)) static int compare(const void *a, const void *b)
{
	int result = strcoll(*(char *const *)a, *(char *const *)b);

	__atomic_add_fetch(&n_compared, 1, __ATOMIC_RELAXED);
	return result;
}
__attribute__((noinline)) static void *work(void *arg)
{
	char *all[N];

	for (int i = 0; i < N; i++) {
		all[i] = take(32);
		snprintf(all[i], 32, "%d", i * 37 % N);
	}
	qsort(all, N, sizeof(*all), compare);
	for (int i = 0; i < N; i++)
		drop(all[i]);
	return arg;
}
int main(void)
{
	pthread_t threads[N_THREADS];
	FILE *null = fopen("/dev/null", "w");

	fprintf(null, "%s\n", getenv("PATH"));
	fclose(null);
	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], 0, work, 0);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], 0);
	printf("{\"malloc\": %d, \"free\": %d, \"strcoll\": %d}\n", n_malloc,
	       n_free, n_compared);
	fflush(stdout);
	return 3;
}
"""


def compiled(tmp_path, source, *flags, name="app.c"):
    (tmp_path / name).write_text(source)
    compiler = "g++" if name.endswith(".cc") else "gcc"
    subprocess.run([compiler, "-g", "-w", name, *flags, "-o", "app", "-pthread"],
                   cwd=tmp_path, check=True, timeout=100)
    return "./app"


def calls(tmp_path, *options):
    saved = command("save", "--force", *options, "cstrace.cst", "out.jsonl",
                    cwd=tmp_path)
    assert saved.returncode == 0, saved.stderr
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def counted(found):
    return collections.Counter(c["name"] for c in found)


@ROADS
def test_as_many_calls_as_the_program_counts(tmp_path, flags):
    app = compiled(tmp_path, COUNTING, *flags)
    done = command("record", "--border", app, cwd=tmp_path)
    assert done.returncode == 3
    assert re.search(r"calls into \d+ functions of libc\.so", done.stderr)
    told = json.loads(done.stdout)
    found = calls(tmp_path)
    seen = counted(found)
    assert told["malloc"] == 1500
    assert {name: seen[name] for name in told} == told
    assert seen["snprintf"] == 1500 and seen["qsort"] == 3
    for name in "fopen", "fclose", "getenv", "printf", "fflush":
        assert seen[name] == 1
    parents = {c["id"]: c for c in found}
    # The compiler may have inlined take() and drop() or jumped to free().
    for c in found:
        if c["name"] in told:
            assert parents[c["parent"]]["name"].split(".")[0] in (
                "take", "drop", "compare", "work", "qsort")
            assert c["module"].startswith("libc")
            assert c["duration_ns"] >= 0
    above = {parents[c["parent"]]["name"] for c in found
             if c["name"] == "compare"}
    assert above == {"qsort"}


@ROADS
def test_nothing_of_them_without_border(tmp_path, flags):
    app = compiled(tmp_path, COUNTING, *flags)
    assert command("record", app, cwd=tmp_path).returncode == 3
    assert not {"malloc", "free", "qsort"} & set(counted(
        calls(tmp_path, "--std")))


def test_filters_and_depth(tmp_path):
    """The end of fopen() is in a function that several share."""
    app = compiled(tmp_path, COUNTING, *HOOKS)
    command("record", "--border", "--filter", "fopen", app, cwd=tmp_path)
    only, = calls(tmp_path)
    assert (only["name"], only["end"]) == ("fopen", "return")
    command("record", "--force", "--border", "--keep-depth", "2", app,
            cwd=tmp_path)
    seen = counted(calls(tmp_path))
    assert seen["fopen"] == 1 and seen["malloc"] == 0
    assert {c["end"] for c in calls(tmp_path) if c["name"] == "fopen"} == {
        "return"}
    command("record", "--force", "--border", "--modules", "libc", app,
            cwd=tmp_path)
    assert counted(calls(tmp_path))["malloc"] == 1500


FORMS = {
    "memset": "memset(text, 'a' + i % 9, (size_t)(10 + 37 * i));",
    "memcpy": "memcpy(copy, text, (size_t)(3 * i)); memmove(copy + 1, copy, (size_t)i);",
    "strlen": "sum += strlen(text);",
    "strcmp": "sum += strcmp(text, copy) == 0;",
    "memcmp": "sum += memcmp(text, copy, (size_t)i) == 0;",
    "strchr": "sum += strchr(text, 'c') != NULL;",
    "strrchr": "sum += strrchr(copy, 'a') != NULL;",
    "strnlen": "sum += strnlen(copy, (size_t)i);",
    "floor": "sum += (size_t)floor(i * 1.5);",
    # Their code goes on in memcpy()'s, and in strcasecmp_l()'s.
    "mempcpy": "sum += mempcpy(copy, text, (size_t)(5 * i)) == text;",
    "strcasecmp": "sum += strcasecmp(text, copy) == 0;",
    "__memcpy_chk": "__memcpy_chk(copy, text, (size_t)(7 * i), 9000);",
}


@pytest.mark.parametrize("flags", [HOOKS, ["-O2"],
                                   ["-O2", "-no-pie", "-fno-pie"]],
                         ids=" ".join)
def test_functions_that_have_a_form_for_each_processor(tmp_path, flags, monkeypatch):
    """memmove() and __memcpy_chk() are memcpy()'s code: the call says which of
    them is meant."""
    monkeypatch.setenv("CSTRACE_CHECK_ENDS", "1")
    app = compiled(tmp_path, """
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
static char text[9000], copy[9000];
void *__memcpy_chk(void *, const void *, size_t, size_t);
int main(void)
{
	size_t sum = 0;

	for (int i = 0; i < 200; i++) {
		%s
	}
	printf("%%zu\\n", sum);
	return 0;
}
""" % "\n\t\t".join(FORMS.values()), *flags, "-fno-builtin", "-U_FORTIFY_SOURCE", "-lm")
    alone = subprocess.run([app], cwd=tmp_path, check=True, timeout=LIMIT_S,
                           capture_output=True, text=True)
    done = command("record", "--border", app, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, alone.stdout)
    assert "calls into 1 function of libm" in done.stderr
    assert "stubs" not in done.stderr and "left out" not in done.stderr
    found = calls(tmp_path)
    assert counted(found) == {"main": 1, "printf": 1, "memmove": 200,
                              **dict.fromkeys(FORMS, 200)}
    assert {c["module"] for c in found if c["name"] == "floor"} == {"libm.so.6"}


def test_a_library_s_own_forms_have_its_name(tmp_path):
    """But for those that its resolver gets from elsewhere."""
    (tmp_path / "forms.c").write_text(r"""
#define FORM(name, n) static __attribute__((noinline)) int name(int i) \
	{ for (int k = 0; k < n; k++) i = i * 3 + k; return i; }
FORM(twice_old, 2) FORM(twice_new, 2) FORM(thrice_it, 3)
static void *thrice(void) { return (void *)thrice_it; }
static void *(*volatile ask)(void) = thrice;
static volatile int is_new = 1;
static void *resolve_twice(void) { return is_new ? (void *)twice_new : (void *)twice_old; }
static void *resolve_thrice(void) { return ask(); }
int twice(int i) __attribute__((ifunc("resolve_twice")));
int times_3(int i) __attribute__((ifunc("resolve_thrice")));
""")
    subprocess.run(["gcc", "-O1", "-s", "-shared", "-fPIC", "forms.c", "-o", "libforms.so"],
                   cwd=tmp_path, check=True, timeout=100)
    app = compiled(tmp_path, """
int twice(int i), times_3(int i);
int main(void)
{
	int sum = 0;

	for (int i = 0; i < 9; i++)
		sum += twice(i) + times_3(i);
	return sum > 1000;
}
""", "-O1", "-L.", "-lforms", "-Wl,-rpath,.")
    command("record", app, cwd=tmp_path)
    seen = counted(calls(tmp_path))
    # The resolvers are called once each, and have these names, too.
    assert (seen["main"], seen["twice"], seen["times_3"]) == (1, 10, 1)
    (name, n), = [(name, n) for name, n in seen.items() if n == 9]
    assert name.startswith("libforms.so+0x")


JUMPS = r"""
#include <cstdlib>
#include <cstring>
struct pair { long first, second; };
__attribute__((noinline)) static pair *made(long n) { return new pair{n, n}; }
__attribute__((noinline)) static void drop(pair *p) { delete p; }
int main()
{
	%s
	for (int i = 0; i < 50; i++)
		drop(made(i));
}
"""
# calloc() clears what was used before.
USED = "char *p = (char *)malloc(3000), *q = (char *)malloc(9); memset(q, 1, 9); " \
    "free(p); q = (char *)calloc(1, 3000);"


@pytest.mark.parametrize("has_rows", [False, True])
@pytest.mark.parametrize("flags", [HOOKS, ["-O0"], ["-O1"], ["-O2"]], ids=" ".join)
def test_ends_behind_jumps_to_other_functions(tmp_path, flags, has_rows):
    """operator delete() jumps to another file's free(), calloc() to whichever
    form of memset() this processor has.  These have rows if the program calls
    them, too."""
    app = compiled(tmp_path, JUMPS % (USED if has_rows else ""),
                   *flags, "-fno-builtin", "-fno-optimize-sibling-calls", name="app.cc")
    assert command("record", "--border", app, cwd=tmp_path).returncode == 0
    found = calls(tmp_path, "--std")
    names = {c["id"]: c["name"].split("(")[0] for c in found}
    deletes = [c for c in found if names[c["id"]] == "operator delete"
               and names[c["parent"]] == "drop"]
    assert len(deletes) == 50 and {c["end"] for c in deletes} == {"return"}
    freed = [names[c["parent"]] for c in found if c["name"] == "free"]
    assert sorted(freed) == (
        ["main"] + ["operator delete"] * 50 if has_rows else [])
    cleared = [names[c["parent"]] for c in found if c["name"] == "memset"]
    assert sorted(cleared) == (["calloc", "main"] if has_rows else [])


def test_a_program_none_of_whose_functions_is_patched(tmp_path):
    """Its calls cross the border all the same."""
    app = compiled(tmp_path, COUNTING, "-O2")
    done = command("record", "--border", "--patch=^no_such_function$", app,
                   cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    found = calls(tmp_path)
    assert counted(found)["malloc"] == 1500
    assert {c["depth"] for c in found if c["name"] != "strcoll"} == {0}
    done = command("record", "--force", "--border", "--patch=^compare$", app,
                   cwd=tmp_path)
    ids = {c["id"]: c for c in calls(tmp_path)}
    above = [ids[c["parent"]]["name"] for c in ids.values()
             if c["name"] == "strcoll"]
    assert above and set(above) == {"compare"}


LEAVES = r"""
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <execinfo.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
static std::jmp_buf back;
extern "C" __attribute__((noinline)) int jumps(const void *, const void *)
{
	std::longjmp(back, 1);
}
extern "C" __attribute__((noinline)) int throws(const void *, const void *)
{
	throw std::runtime_error("from below qsort");
}
__attribute__((noinline)) static void *ends(void *)
{
	std::puts("a thread ends");
	pthread_exit(nullptr);
}
__attribute__((noinline)) static void handler(int)
{
	void *frames[64];
	static const char text[] = "signal\n";

	if (backtrace(frames, 64) < 3)
		_exit(9);
	write(1, text, sizeof(text) - 1);
}
__attribute__((noinline)) static void cancelled()
{
	pthread_t thread;

	pthread_create(&thread, nullptr, [](void *) -> void * {
		pause();
		return nullptr;
	}, nullptr);
	pthread_cancel(thread);
	pthread_join(thread, nullptr);
}
int main()
{
	int numbers[] = {3, 1, 2}, status;
	pthread_t thread;

	if (!setjmp(back))
		std::qsort(numbers, 3, sizeof(int), jumps);
	std::puts("back");
	try {
		std::qsort(numbers, 3, sizeof(int), throws);
	} catch (const std::exception &e) {
		std::puts(e.what());
	}
	pthread_create(&thread, nullptr, ends, nullptr);
	pthread_join(thread, nullptr);
	cancelled();
	std::signal(SIGUSR1, handler);
	std::raise(SIGUSR1);
	std::fflush(stdout);
	if (pid_t child = fork())
		waitpid(child, &status, 0);
	else
		execl("/bin/sh", "sh", "-c", "exit 5", nullptr);
	if (pid_t child = vfork())
		waitpid(child, nullptr, 0);
	else
		_exit(0);
	std::printf("%d %d\n", WEXITSTATUS(status), std::system("exit 6") >> 8);
	std::atexit([] { std::puts("at the end"); });
	std::exit(4);
}
"""


@ROADS
def test_what_leaves_functions_in_other_ways(tmp_path, flags):
    """longjmp, exceptions and cancellation over them, handlers within them,
    fork, vfork, exec, exit: the program's output is the same, and what is above
    stays right."""
    app = compiled(tmp_path, LEAVES, *flags, "-fexceptions", name="app.cc")
    alone = subprocess.run([app], cwd=tmp_path, text=True, capture_output=True,
                           timeout=LIMIT_S, check=False)
    assert alone.returncode == 4 and "at the end" in alone.stdout
    done = command("record", "--border", app, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (4, alone.stdout)
    found = calls(tmp_path)
    ids = {c["id"]: c for c in found}
    sorts = [c for c in found if c["name"] == "qsort"]
    assert [c["end"] for c in sorts] == ["unwound", "unwound"]
    in_main = [c["name"] for c in found
               if c.get("parent") and ids[c["parent"]]["name"] == "main"]
    for name in "raise", "fork", "waitpid", "system", "exit":
        assert name in in_main, in_main
    has_stubs = "-fno-plt" not in flags
    assert ("_setjmp" in in_main) == ("vfork" in in_main) == has_stubs
    assert [c["end"] for c in found if c["name"] == "longjmp"] == (
        ["unwound"] if has_stubs else [])
    last = [c for c in found if c["name"] == "exit"]
    assert [c["end"] for c in last] == ["open"]
    if flags == HOOKS:
        above = [ids[c["parent"]]["name"] for c in found if c["name"] == "puts"]
        assert above.count("main") == 2 and "ends" in above
        assert len(above) == 4


def test_plugins_call_what_the_program_calls(tmp_path):
    """A library that is opened later is traced, too; one of the system's is a
    border."""
    plugin = r"""
#include <stdlib.h>
#include <string.h>
int plugged(int n)
{
	char *copy = malloc(64);
	int result = n + (copy != 0);

	free(copy);
	return result;
}
"""
    (tmp_path / "plugin.c").write_text(plugin)
    subprocess.run(["gcc", "-g", "-O1", "-shared", "-fPIC", "plugin.c", "-o",
                    "plugin.so"], cwd=tmp_path, check=True, timeout=100)
    app = compiled(tmp_path, r"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	int n = 0;

	for (int i = 0; i < 3; i++) {
		void *it = dlopen("./plugin.so", RTLD_NOW);
		int (*plugged)(int) = (int (*)(int))dlsym(it, "plugged");

		n = plugged(n);
		free(malloc(10));
		dlclose(it);
	}
	printf("%d\n", n);
	return 0;
}
""", "-O1", "-fno-builtin")
    done = command("record", "--border", app, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "3\n")
    seen = counted(calls(tmp_path))
    assert (seen["plugged"], seen["malloc"], seen["free"]) == (3, 6, 6)


# ---- at the callers' stubs -----------------------------------------------

STUBS = r"""
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
static jmp_buf back;
static ucontext_t here, there;
static char stack[65536];
__attribute__((noinline)) static long now(int n)
{
	struct timeval tv;

	gettimeofday(&tv, 0);
	return tv.tv_sec + n * (time(0) == tv.tv_sec);
}
__attribute__((noinline)) static void jump(int n)
{
	if (!n)
		longjmp(back, 1);
	jump(n - 1);
	getppid();
}
static void coroutine(void)
{
	for (int i = 0; i < 3; i++)
		swapcontext(&there, &here);
	getppid();
}
int main(void)
{
	stack_t alternate = {.ss_sp = malloc(65536), .ss_size = 65536};
	int n = 0, status = 0;

	for (int i = 0; i < 50; i++)
		n += now(i) > 0;
	for (volatile int i = 0; i < 4; i++)
		if (!setjmp(back))
			jump(i);
	sigaltstack(&alternate, 0);
	dlclose(dlopen(0, RTLD_NOW));
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, coroutine, 0);
	for (int i = 0; i < 4; i++)
		swapcontext(&here, &there);
	if (!vfork())
		_exit(3);
	wait(&status);
	printf("%d %d\n", n, WEXITSTATUS(status));
	return 7;
}
"""


@pytest.mark.parametrize("flags", [
    HOOKS, ["-O2"], ["-O2", "-no-pie", "-fno-pie"], ["-O1", "-Wl,-z,lazy"],
    ["-O2", "-fcf-protection=full", "-Wl,-z,ibtplt"],
    ["-O2", "-Wl,-z,now", "-Wl,-z,relro"]], ids=" ".join)
def test_functions_that_are_seen_where_they_are_called(tmp_path, flags, monkeypatch):
    """The kernel's own code, what returns twice, what switches stacks, and what
    libcstrace.so stands before."""
    monkeypatch.setenv("CSTRACE_CHECK_ENDS", "1")
    app = compiled(tmp_path, STUBS, *flags)
    done = command("record", "--border", app, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (7, "50 3\n"), done.stderr
    assert "by the stubs of app" in done.stderr
    assert "without a stub" not in done.stderr
    found = calls(tmp_path)
    seen = counted(found)
    assert {name: seen[name] for name in (
        "gettimeofday", "time", "_setjmp", "longjmp", "sigaltstack", "dlclose",
        "getcontext", "makecontext", "swapcontext", "vfork", "_exit")} == {
            "gettimeofday": 50, "time": 50, "_setjmp": 4, "longjmp": 4,
            "sigaltstack": 1, "dlclose": 1, "getcontext": 1, "makecontext": 1,
            "swapcontext": 7, "vfork": 1, "_exit": 1}
    ids = {c["id"]: c["name"] for c in found}
    assert {(ids[c["parent"]], c["end"]) for c in found
            if c["name"] in ("time", "gettimeofday")} == {("now", "return")}
    assert {c["end"] for c in found
            if c["name"] in ("sigaltstack", "dlclose", "_setjmp")} == {"return"}
    switches = {c["end"] for c in found if c["name"] == "swapcontext"}
    assert "unwound" not in switches
    above = {ids[c["parent"]] for c in found if c["name"] == "_setjmp"}
    assert above == {"main"}
    assert {c["end"] for c in found if c["name"] == "longjmp"} == {"unwound"}
    assert {c["file"] for c in found if c["name"] == "time"} == {"app.c"}
    assert {c["module"] for c in found if c["name"] in (
        "time", "dlclose", "_setjmp", "vfork")} == {"libc.so.6"}


def test_a_program_s_own_function_of_that_name_is_no_border(tmp_path):
    """A traced library calls time(), which the program has itself."""
    (tmp_path / "clock.c").write_text("""
#include <time.h>
long clock_now(void) { return time(0) + 1; }
""")
    subprocess.run(["gcc", "-g", "-O1", "-shared", "-fPIC", "clock.c", "-o",
                    "libclock.so"], cwd=tmp_path, check=True, timeout=100)
    app = compiled(tmp_path, """
#include <stdio.h>
long clock_now(void);
long time(long *);
__attribute__((noinline)) long time(long *at) { return 41 + (at != 0); }
int main(void) { printf("%ld\\n", clock_now()); return 0; }
""", "-O1", "-rdynamic", "-L.", "-lclock", "-Wl,-rpath,$ORIGIN")
    done = command("record", "--border", app, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "42\n"), done.stderr
    assert [(c["name"], c["depth"]) for c in calls(tmp_path)] == [
        ("main", 0), ("clock_now", 1), ("time", 2), ("printf", 1)]


def test_calls_without_a_stub_are_told(tmp_path):
    app = compiled(tmp_path, STUBS, "-O1", "-fno-plt")
    done = command("record", "--border", app, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (7, "50 3\n")
    assert re.search(
        r"left out .*\d+ as each is called without a stub", done.stderr)


@pytest.mark.parametrize("flags", [["-O2"], ["-O0"], ["-O1", "-no-pie", "-fno-pie"]],
                         ids=" ".join)
def test_the_border_of_musl(tmp_path, flags, monkeypatch):
    """Its functions have no call frame information."""
    monkeypatch.setenv("CSTRACE_CHECK_ENDS", "1")
    app = compiled(tmp_path, COUNTING, *flags, "-Wl,--build-id", "-fno-builtin",
                   "-specs=/usr/lib/x86_64-linux-musl/musl-gcc.specs")
    done = command("record", "--border", app, cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "not patched" not in done.stderr and "not seen" not in done.stderr
    told = json.loads(done.stdout)
    found = calls(tmp_path)
    seen = counted(found)
    assert {name: seen[name] for name in told} == told
    assert seen["snprintf"] == 1500 and seen["qsort"] == 3
    ids = {c["id"]: c["name"].split(".")[0] for c in found}
    assert {ids[c["parent"]]
        for c in found if c["name"] == "compare"} == {"qsort"}
    exact = [c for c in found if c["end"] == "return"]
    assert len(exact) > 0.99 * len(found)


# ---- random programs -----------------------------------------------------

KINDS = {
    "malloc": "keep(malloc(%d + 1));",
    "calloc": "keep(calloc(%d + 1, 3));",
    "atoi": "sum += atoi(\"%d\");",
    "getenv": "sum += getenv(\"NOTHING%d\") != 0;",
    "abs_": "sum += ldiv(%d, 3).quot;",
    "strtol": "sum += strtol(\"%d\", 0, 10);",
    "strtoul": "sum += strtoul(\"%d\", 0, 8);",
    "getpid": "sum += getpid() > %d;",
    "snprintf": "sum += snprintf(text, sizeof(text), \"%%d\", %d);",
    "rand_r": "seed = %d; sum += rand_r(&seed) & 1;",
    "system": "sum += system(0) + %d;",
    "strlen": "sum += strlen(text) + %d;",
    "memcpy": "memcpy(text, \"a copied text\", %d / 3);",
    "memset": "memset(text, 'x', %d);",
}
NAMES = {"abs_": "ldiv"}


def random_program(seed):
    """A program that counts what it calls, in functions that call others."""
    random_ = random.Random(seed)
    n = random_.randint(3, 8)
    text = [r"""
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char text[32];
static unsigned seed;
static volatile long sum;
static void *last;
__attribute__((noinline)) static void keep(void *p)
{
	free(last);
	last = p;
}
"""]
    text += ["static int n_%s;" % name for name in KINDS]
    for i in range(n):
        text.append("__attribute__((noinline)) static void f%d(int n)\n{" % i)
        for _ in range(random_.randint(1, 6)):
            name = random_.choice(list(KINDS))
            line = KINDS[name] % random_.randint(0, 30)
            text.append(random_.choice(["\tn_%s++; %s", "\tif (n & 1) {n_%s++; %s}"])
                        % (name, line))
            if i and random_.random() < 0.5:
                text.append("\tf%d(n + 1);" % random_.randrange(i))
        text.append("}")
    text.append("int main(void)\n{\n\tfor (int i = 0; i < 5; i++)")
    text.append("\t\tf%d(i);" % (n - 1))
    for name in KINDS:
        text.append('\tprintf("%s %%d\\n", n_%s);' % (
            NAMES.get(name, name), name))
    text.append("\tfflush(stdout);\n\treturn 0;\n}")
    return "\n".join(text) + "\n"


@pytest.mark.parametrize("flags", [HOOKS, ["-O1"], ["-O2"], ["-Os"]],
                         ids=" ".join)
@pytest.mark.parametrize("seed", range(N_SEEDS))
def test_random_programs_count_the_same(tmp_path, flags, seed):
    app = compiled(tmp_path, random_program(seed), *flags, "-fno-builtin", "-D__NO_INLINE__",
                   "-fno-optimize-sibling-calls", "-U_FORTIFY_SOURCE")
    done = command("record", "--border", app, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = {name: int(count) for name, count in
            (line.split() for line in done.stdout.splitlines())}
    found = calls(tmp_path)
    names = {c["id"]: c["name"] for c in found}
    seen = counted(c for c in found
                   if (c["name"], names.get(c["parent"])) != ("memset", "calloc"))
    assert {name: seen[name] for name in told} == told
    assert {c["end"] for c in found} <= {"return", "estimated"}
