# SPDX-License-Identifier: MIT
"""cstrace start -border: calls into libraries that are not traced, in gdb."""

import itertools
import pathlib
import re
import subprocess

import pytest

from lib_gdb import run_gdb

SORTS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((noinline)) static int compare(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	int result = strcoll(x, y);

	return result;
}
__attribute__((noinline)) static char *word(int n)
{
	char *text = malloc(16);

	snprintf(text, 16, "word %d", 7 * n % 5);
	memset(text + strlen(text), '.', 3);
	memcpy(text + 14, ".", 2);
	return text;
}
int main(void)
{
	char *words[5];
	FILE *null;

	for (int i = 0; i < 5; i++)
		words[i] = word(i);
	qsort(words, 5, sizeof(*words), compare);
	null = fopen("/dev/null", "w");
	for (int i = 0; i < 5; i++) {
		fprintf(null, "%s", words[i]);
		free(words[i]);
	}
	fclose(null);
	return getenv("NO_SUCH_NAME") != NULL;
}
"""
HOOKS = ["-O0", "-finstrument-functions"]
ROADS = pytest.mark.parametrize(
    "flags", [HOOKS, [*HOOKS, "-Wl,--build-id=none"], ["-O0"], ["-O1"],
              ["-O2", "-no-pie", "-fno-pie"]],
    ids=" ".join)
WHERE = ("python f = gdb.selected_thread() and gdb.newest_frame(); "
         "print('AT', ' < '.join('%s:%d' % (g.name(), g.find_sal().line) "
         "for g in [f, f and f.older()] if g))")


def compiled(tmp_path, *flags):
    (tmp_path / "sorts.c").write_text(SORTS)
    subprocess.run(["gcc", "-g", "-w", "-fno-builtin",
                    "-fno-optimize-sibling-calls", "-U_FORTIFY_SOURCE", "sorts.c", *flags,
                    "-o", "sorts"], cwd=tmp_path, check=True, timeout=100)
    return tmp_path / "sorts"


@ROADS
def test_calls_into_libraries_are_rows(tmp_path, flags):
    out = run_gdb(tmp_path, compiled(tmp_path, *flags), "set cstrace live off",
                  "cstrace start -border", "run", "cstrace report").out
    assert re.search(r"calls into \d+ functions of libc\.so", out)
    seen = {name: int(n) for n, name in
            re.findall(r"^ +(\d+) .* ([a-z]+)$", out, re.M)}
    for name, n in {"malloc": 5, "snprintf": 5, "qsort": 1, "fopen": 1,
                    "fprintf": 5, "free": 5, "fclose": 1, "getenv": 1,
                    "strlen": 5, "memset": 5}.items():
        assert seen[name] == n, (name, seen)
    assert seen["strcoll"] >= 5


@ROADS
def test_ends_are_those_of_the_calls(tmp_path, monkeypatch, flags):
    """glibc's qsort() ends in qsort_r(), which has a frame pointer."""
    monkeypatch.setenv("CSTRACE_CHECK_ENDS", "1")
    out = run_gdb(tmp_path, compiled(tmp_path, *flags), "set cstrace live off",
                  "cstrace start -border", "run", "cstrace show ^qsort$").out
    assert "plan is wrong" not in out
    (row,) = re.findall(r".*  qsort\b.*", out)
    assert "~" not in row


def has_libc_debug():
    libc = subprocess.run(["gcc", "-print-file-name=libc.so.6"], text=True,
                          capture_output=True, check=True).stdout.strip()
    found = re.search(r"Build ID: (\w\w)(\w+)", subprocess.run(
        ["readelf", "-n", libc], text=True, capture_output=True,
        check=True).stdout)
    return found and pathlib.Path("/usr/lib/debug/.build-id", found[1],
                                  found[2] + ".debug").exists()


@ROADS
@pytest.mark.skipif(not has_libc_debug(), reason="no debug information of libc")
@pytest.mark.parametrize("condition, at", [
    ("qsort -where 'n == 5'", "qsort"), ("free -where 'mem != NULL'", "free"),
    ("qsort -where 'n == 6'", None), ("fclose -returns 0", "fclose"),
    ("fclose -returns 1", None), ("malloc -where 'bytes == 16' -count 3", "malloc")])
def test_conditions_on_values(tmp_path, flags, condition, at):
    out = run_gdb(tmp_path, compiled(tmp_path, *flags), "set cstrace live off",
                  "cstrace start -border", "break main", "run",
                  "cstrace stop-when " + condition, "continue",
                  "python f = gdb.selected_thread() and gdb.newest_frame(); "
                  "print('AT', f and f.name())", "delete", "continue").out
    (stopped,) = re.findall(r"^AT (\w+)", out, re.M)
    assert stopped.strip("_").rpartition("_")[2] == at or (
        stopped == "None" and at is None), out


@ROADS
@pytest.mark.parametrize("is_early", [False, True], ids=["later", "before"])
@pytest.mark.parametrize("condition", ["strlen", "memset", "memset -count 2",
                                       "malloc -under ^word"])
def test_conditions_on_a_name(tmp_path, flags, condition, is_early):
    """strlen() has a form for each processor, memset() is seen at a stub here
    where libc has debug information."""
    begin = ["cstrace start -border", "break main", "run", "delete"]
    begin.insert(0 if is_early else len(begin),
                 "cstrace stop-when " + condition)
    out = run_gdb(tmp_path, compiled(tmp_path, *flags), "set cstrace live off",
                  *begin, *["continue", WHERE] * 6).out
    stops = re.findall("^AT .*(strlen|memset|malloc).* < word:", out, re.M)
    assert len(stops) == (1 if "-count" in condition else 5), out
    assert "is patched, so that" not in out


MUSL = ["-Wl,--build-id",
        "-specs=/usr/lib/x86_64-linux-musl/musl-gcc.specs"]


@pytest.mark.parametrize("flags", [["-O0", *MUSL], ["-O2", *MUSL], ["-O2"]],
                         ids=" ".join)
@pytest.mark.parametrize("name, expected", [
    ("malloc", 5), ("snprintf", 5), ("fopen", 1), ("fclose", 1), ("qsort", 1)])
def test_conditions_on_durations(tmp_path, flags, name, expected):
    """With musl calls are seen at the caller's stubs, and their ends in musl."""
    out = run_gdb(tmp_path, compiled(tmp_path, *flags), "set cstrace live off",
                  "cstrace start -border", "cstrace stop-when %s -longer 1ns "
                  "-count 1000" % name, "break main", "run", "break getenv",
                  "continue", "info cstrace-stops", "kill").out
    assert "true %d time" % expected in out, out
    assert "ends are not seen" not in out


OTHERS = r"""
#include <stdio.h>
#include <string.h>
static char text[300];
__attribute__((noinline)) static int own(int n)
{
	text[n] = '\0';
	return strlen(text) + 1;
}
int main(void)
{
	FILE *null = fopen("/dev/null", "w");

	for (int n = 0; n < 200; n++) {
		memset(text, 'x', sizeof text);
		own(n);
		fputs(text, null);
	}
	return 0;
}
"""


def test_ends_without_a_patch_are_not_those_of_others(tmp_path, monkeypatch):
    """fputs() calls strlen(), too, some of whose ends have no room.  gdb stops
    there at calls by others, too.  The shim checks what is reported then."""
    (tmp_path / "sorts.c").write_text(OTHERS)
    monkeypatch.setenv("CSTRACE_CHECK_ENDS", "1")
    subprocess.run(["gcc", "-g", "-O1", "-fno-builtin", "sorts.c", "-o", "others"],
                   cwd=tmp_path, check=True, timeout=100)
    out = run_gdb(tmp_path, tmp_path / "others", "set cstrace live off",
                  "cstrace start -border", "break main", "run",
                  "cstrace stop-when strlen -returns 199", *["continue", WHERE] * 2).out
    assert re.findall("^AT .*", out, re.M)[0].split(" < ")[1].startswith("own:")
    assert "exited normally" in out and "plan is wrong" not in out


@ROADS
@pytest.mark.parametrize("word, n", [("step", 30), ("next", 8)])
def test_steps_are_as_without(tmp_path, flags, word, n):
    program = compiled(tmp_path, *flags)
    quiet = ["set cstrace live off", "set cstrace step-report off"]
    walk = ["break main", "run", "delete", WHERE, *([word, WHERE] * n),
            "break compare", "continue", WHERE, "finish", WHERE]

    def places(*start, **how):
        out = run_gdb(tmp_path, program, *start, *walk, **how).out
        assert not start or "calls into" in out
        return re.findall("^AT .*", out, re.M)

    alone = places(loader=None)
    assert len(alone) >= n + 2
    assert places(*quiet, "cstrace start -border") == alone


@ROADS
def test_breakpoints_in_libraries(tmp_path, flags):
    """At and in functions that are patched; the backtrace goes through them."""
    program = compiled(tmp_path, *flags)
    commands = ["set cstrace live off", "set cstrace frame-ids off",
                "set cstrace step-report off", "set print address off",
                "set print frame-arguments none"]
    names = (r"python f = gdb.newest_frame(); "
             r"exec('while f:\n print(\'IN\', f.name())\n f = f.older()')")
    walk = ["break main", "run", "break fopen", "break *malloc",
            "break compare", *([names, "continue"] * 7), "delete", "continue"]

    def frames(start):
        out = run_gdb(tmp_path, program, *commands, *start, *walk).out
        assert "exited normally" in out
        return re.findall("^IN .*", out, re.M)

    alone = frames([])
    assert "IN compare" in alone and alone[-1] == "IN main"
    assert frames(["cstrace start -border"]) == alone


@ROADS
def test_in_the_middle(tmp_path, flags):
    program = compiled(tmp_path, *flags)
    out = run_gdb(tmp_path, program, "break fopen", "run", "finish", "delete",
                  "set cstrace live off", "cstrace start -border", "continue",
                  "cstrace report").out
    assert re.search(r"calls into \d+ functions of libc\.so", out)
    seen = {name: int(n) for n, name in
            re.findall(r"^ +(\d+) .* ([a-z]+)$", out, re.M)}
    assert [seen[name] for name in ("fprintf", "free", "fclose", "getenv")] == [
        5, 5, 1, 1]
    assert "malloc" not in seen and "exited normally" in out


STUBS = r"""
#include <dlfcn.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static jmp_buf back;
__attribute__((noinline)) static int now(int n)
{
	struct timeval tv;

	gettimeofday(&tv, 0);
	n += time(0) > 0;
	return n + (tv.tv_sec > 0);
}
__attribute__((noinline)) static int twice(int n)
{
	volatile int result = n;

	if (setjmp(back))
		return result;
	result++;
	longjmp(back, 1);
}
int main(void)
{
	void *it = dlopen(0, RTLD_NOW);
	int n = 0;

	for (int i = 0; i < 3; i++)
		n += now(i);
	n += twice(n);
	n += dlclose(it);
	printf("%d\n", n);
	return 0;
}
"""
PC = ("python print('AT', gdb.execute('x/i $pc', to_string=True).strip() "
      "if gdb.selected_thread() else 'its end')")
STUBBED = pytest.mark.parametrize(
    "flags", [HOOKS, ["-O0"], ["-O1"], ["-O2", "-no-pie", "-fno-pie"],
              ["-O2", "-fcf-protection=full", "-Wl,-z,ibtplt"],
              ["-O1", *MUSL]], ids=" ".join)


def stubbed(tmp_path, *flags):
    (tmp_path / "stubs.c").write_text(STUBS)
    subprocess.run(["gcc", "-g", "-w", "-fno-optimize-sibling-calls", "stubs.c",
                    *flags, "-o", "stubs"], cwd=tmp_path, check=True, timeout=100)
    return tmp_path / "stubs"


@STUBBED
def test_what_is_seen_where_it_is_called(tmp_path, flags):
    """The kernel's own code, what returns twice, what libcstrace.so stands
    before."""
    out = run_gdb(tmp_path, stubbed(tmp_path, *flags), "set cstrace live off",
                  "cstrace start -border", "run", "cstrace report").out
    assert "by the stubs of stubs" in out
    seen = {name: int(n) for n, name in
            re.findall(r"^ +(\d+) .* (\w+)$", out, re.M)}
    assert [seen[name] for name in ("gettimeofday", "time", "longjmp", "dlclose",
                                    "dlopen", "printf")] == [3, 3, 1, 1, 1, 1]
    assert seen.get("_setjmp", seen.get("setjmp")) == 1
    assert "exited normally" in out


@STUBBED
@pytest.mark.wide("flags", "word n")
@pytest.mark.parametrize("word, n", [("step", 30), ("next", 12), ("stepi", 50),
                                     ("nexti", 50)])
def test_steps_through_stubs_are_as_without(tmp_path, flags, word, n):
    program = stubbed(tmp_path, *flags)
    commands = ["set cstrace live off", "set cstrace step-report off"]
    where = PC if word.endswith("i") else WHERE
    if word == "stepi" and flags == HOOKS:
        pytest.skip("it steps into the hooks")
    walk = ["break main", "break now", "break twice", "run", "delete 1", where,
            *([word, where] * n), "continue", where, "finish", where, "continue",
            where, *([word, where] * n)]

    def places(start):
        out = run_gdb(tmp_path, program, *commands, *start, *walk).out
        assert not start or "by the stubs" in out
        found = re.findall("^AT .*", out, re.M)
        # The kernel's code reads the clock until it holds still.
        return list(itertools.takewhile(
            lambda at: not re.search(r"<gettimeofday\+|<cstrace\.", at), found))

    alone = places([])
    assert len(alone) >= 12
    assert places(["cstrace start -border"]) == alone


@STUBBED
def test_breakpoints_at_what_is_called_by_stubs(tmp_path, flags):
    """No plan is cached yet: gdb 13 fails at a breakpoint on time() if plans
    have left holes in its heap (worker_run())."""
    program = stubbed(tmp_path, *flags)
    commands = ["set cstrace live off", "set cstrace step-report off",
                "set print address off"]
    names = (r"python f = gdb.newest_frame(); "
             r"exec('while f:\n print(\'IN\', f.name())\n f = f.older()')")
    walk = ["break main", "run", "break gettimeofday", "break time",
            "break dlclose", "continue", names, "finish", WHERE, "continue", names,
            "up", "finish", WHERE, "delete", "break dlclose", "continue", names,
            "finish", WHERE, "continue"]

    def lines(start):
        out = run_gdb(tmp_path, program, *commands, *start, *walk).out
        assert "exited normally" in out
        return re.findall("^(?:IN|AT) .*", out, re.M)

    alone = lines([])
    assert "IN now" in alone and "IN main" in alone
    assert lines(["cstrace start -border"]) == alone


def test_what_stands_before_it_is_seen_once(tmp_path):
    """A sanitizer has a time() of its own, which can be patched."""
    out = run_gdb(tmp_path, stubbed(tmp_path, "-O1", "-fsanitize=address"),
                  "set environment ASAN_OPTIONS detect_leaks=0",
                  "set cstrace live off", "cstrace start -border -patch", "run",
                  "cstrace report").out
    rows = re.findall(r"^ +(\d+) .* time\b(.*)$", out, re.M)
    assert rows == [("3", "")], out


def test_a_static_program_has_no_border(tmp_path):
    static = compiled(tmp_path, "-O1", "-static")
    out = run_gdb(tmp_path, static, "cstrace start -border").out
    assert "it is static" in out
