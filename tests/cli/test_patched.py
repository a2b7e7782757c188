# SPDX-License-Identifier: MIT
"""Programs that nobody built for it: record patches their functions."""

import json
import os
import re
import subprocess

import pytest

from lib_build import (BUILD, TARGETS, VARIANTS, Variant, build,
                       build_library)
from lib_cstrace import LIMIT_S, command

SHIM = str(BUILD / "libcstrace.so")
N_SEEDS = 30 if os.environ.get("CSTRACE_TEST_LONG") == "1" else 3
ALIKE = ["-fno-inline", "-fno-optimize-sibling-calls", "-fno-ipa-icf",
         "-fno-ipa-cp", "-fno-ipa-sra", "-fno-partial-inlining",
         "-fno-ipa-pure-const", "-fno-ipa-modref"]
RECURSIVE = r"""
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
int main(int c, char **v)
{
	printf("%d\n", fib(c > 1 ? atoi(v[1]) : 4));
	return 3;
}
"""


def calls(folder, trace="cstrace.cst"):
    saved = command("save", "--std", "--force", trace, "out.jsonl", cwd=folder)
    assert saved.returncode == 0, saved.stderr
    lines = (folder / "out.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def compiled(folder, *flags, source=RECURSIVE, name="app"):
    (folder / (name + ".c")).write_text(source)
    subprocess.run(["gcc", "-g", name + ".c", *flags, "-o", name],
                   cwd=folder, check=True)
    return "./" + name


def functions(found):
    return [(c["depth"], c["name"]) for c in found]


FIB_OF_4 = [(0, "main"), (1, "fib"), (2, "fib"), (3, "fib"), (4, "fib"),
            (4, "fib"), (3, "fib"), (2, "fib"), (3, "fib"), (3, "fib")]


@pytest.mark.parametrize("flags", [
    ["-O1"], ["-O1", "-no-pie", "-fno-pie"], ["-O1", "-fcf-protection=full"],
    ["-O1", "-s"], ["-O1", "-Wl,--build-id=none"],
    ["-O1", "-no-pie", "-Wl,--build-id=none,-z,noseparate-code"],
    ["-O1", "-s", "-Wl,--build-id=none"],
    ["-O1", "-Wl,--build-id=none,--no-eh-frame-hdr"]], ids=" ".join)
def test_a_program_without_hooks_is_patched_by_itself(tmp_path, flags):
    app = compiled(tmp_path, *flags)
    done = command("record", app, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "3\n")
    assert re.search(r"\ncstrace: patched \d+ functions of app", done.stderr)
    found = calls(tmp_path)
    if "-s" not in flags:
        assert functions(found) == FIB_OF_4
        assert all(c["file"].endswith("app.c") for c in found[1:])
        assert {c["end"] for c in found} == {"return"}
    else:
        depths = [c["depth"] for c in found if c["name"].startswith("app+")]
        assert depths == [depth for depth, _name in FIB_OF_4]


@pytest.mark.parametrize("compiler, flags", [
    ("gcc", ["-fpatchable-function-entry=5"]),
    ("gcc", ["-fpatchable-function-entry=16,8", "-fcf-protection=full"]),
    ("clang", ["-fpatchable-function-entry=5"]),
    ("clang", ["-fxray-instrument", "-fxray-instruction-threshold=1"])],
    ids=str)
def test_room_that_a_compiler_left(tmp_path, compiler, flags):
    (tmp_path / "app.c").write_text(RECURSIVE)
    subprocess.run([compiler, "-g", "-O1", *flags, "app.c", "-o", "app"],
                   cwd=tmp_path, check=True, timeout=100)
    done = command("record", "./app", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "3\n")
    found = calls(tmp_path)
    assert functions(found) == FIB_OF_4
    assert {c["end"] for c in found} == {"return"}
    assert "left out" not in done.stderr and "~" not in done.stderr


@pytest.mark.parametrize("flags", [
    ["-O0"], ["-O1"], ["-O1", "-mfentry"], ["-O0", "-mfentry"],
    ["-O1", "-mfentry", "-mrecord-mcount", "-no-pie", "-fno-pie"]],
    ids=" ".join)
def test_a_profile_of_gprof_is_what_it_was(tmp_path, flags):
    """The displaced call of mcount() finds its own caller, and its caller's."""
    app = compiled(tmp_path, "-pg", *flags)
    graphs = []
    for is_recorded in False, True:
        if is_recorded:
            command("record", app, cwd=tmp_path)
        else:
            subprocess.run([app], cwd=tmp_path, timeout=LIMIT_S, check=False,
                           capture_output=True)
        told = subprocess.run(["gprof", "-b", "-q", app, "gmon.out"],
                              cwd=tmp_path, check=True, text=True,
                              capture_output=True, timeout=LIMIT_S).stdout
        graphs.append(re.findall(r"(\d+(?:[/+]\d+)?) +(\w+) \[", told))
        (tmp_path / "gmon.out").unlink()
    assert ("1+8", "fib") in graphs[0] and graphs[0] == graphs[1]
    assert functions(calls(tmp_path)) == FIB_OF_4


def test_what_leaves_functions_in_other_ways(tmp_path):
    """Exceptions, longjmp, the ends of threads, backtraces of a signal's
    handler wherever it came, a fork and an exec."""
    app = build("plain.cc", variant=Variant(level="-O2"), is_traced=False)
    alone = subprocess.run([str(app), "x"], cwd=tmp_path, text=True,
                           capture_output=True, timeout=LIMIT_S, check=False)
    done = command("record", app, "x", cwd=tmp_path)
    ends = [(c["name"], c["end"]) for c in calls(tmp_path)]
    assert (done.stdout, done.returncode) == (alone.stdout, 4)
    assert ends.count(("throws", "unwound")) == 4
    assert ends.count(("leaps", "unwound")) == 4
    assert ends.count(("waits", "unwound")) == 1
    assert ends.count(("quits", "unwound")) == 1
    assert ends.count(("handles", "return")) >= 100
    assert ("in_child", "return") in ends
    assert [name for name, _end in ends].count("main") == 3


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_output_is_as_it_was(tmp_path, variant):
    app = build("plain.cc", variant=variant, is_traced=False)
    alone = subprocess.run([str(app)], cwd=tmp_path, text=True,
                           capture_output=True, timeout=LIMIT_S, check=False)
    done = command("record", app, cwd=tmp_path)
    assert (done.stdout, done.returncode) == (alone.stdout, 3)
    assert "throws" in {c["name"] for c in calls(tmp_path)}


def spliced(found, names):
    """The calls of these functions, with what is between taken out."""
    out, open_at = [], []
    for call in found:
        while open_at and open_at[-1] >= call["depth"]:
            open_at.pop()
        if call["symbol"] in names:
            out.append((len(open_at), call["symbol"]))
            open_at.append(call["depth"])
    return out


@pytest.mark.parametrize("source", ["basic.c", "sort.cc", "jump.c",
                                    "loops.c"])
def test_the_tree_is_that_of_hooks(tmp_path, source):
    trees = []
    for is_traced in True, False:
        app = build(source, *ALIKE, variant=Variant(level="-O1"),
                    is_traced=is_traced)
        done = command("record", "-o", "%d.cst" % is_traced, app, cwd=tmp_path)
        assert ("patched" in done.stderr) != is_traced
        trees.append(calls(tmp_path, "%d.cst" % is_traced))
    common = set.intersection(*({c["symbol"] for c in t} for t in trees))
    assert len(common) > 3
    assert spliced(trees[0], common) == spliced(trees[1], common)


def test_its_own_libraries_are_patched_too(tmp_path):
    (tmp_path / "part.c").write_text("int part(int n) { return n * 3; }\n")
    library = build_library(str(tmp_path / "part.c"), is_traced=False,
                            variant=Variant(level="-O1"))
    app = compiled(tmp_path, "-O1", str(library),
                   "-Wl,-rpath," + str(library.parent), source="""
        int part(int);
        int main(int c, char **v) { return part(c) + part(c + 1); }""")
    done = command("record", app, cwd=tmp_path)
    assert done.returncode == 9
    assert functions(calls(tmp_path)) == [(0, "main"), (1, "part"),
                                          (1, "part")]
    assert "1 function of libpart.so" in done.stderr


HALF = """
__asm__(".text\\n.type half, @function\\nhalf:\\n.cfi_startproc\\n"
	"mov %edi, %eax\\ntest %edi, %edi\\nje 1f\\nshr %eax\\n1: ret\\n"
	".cfi_endproc\\n.size half, .-half\\n"
	".type next, @function\\nnext:\\n.cfi_startproc\\nret\\n"
	".cfi_endproc\\n.size next, .-next\\n");
int half(int);
int main(void) { return half(8) + half(0); }
"""


def test_an_end_that_has_no_room_is_estimated(tmp_path):
    """The ret is jumped to, and the next function begins behind it."""
    app = compiled(tmp_path, "-O1", "-g0", source=HALF)
    done = command("record", "--patch=half|main", app, cwd=tmp_path)
    assert done.returncode == 4
    found = calls(tmp_path)
    assert functions(found) == [(0, "main"), (1, "half"), (1, "half")]
    assert re.search(r"; \d+ of \d+ ends are estimated \(~\)", done.stderr)
    estimated = [c for c in found if c["end"] == "estimated"]
    assert [c["name"] for c in estimated] == ["half", "half"]
    rows = command("show", "--no-fold", "cstrace.cst", cwd=tmp_path).stdout
    assert len(re.findall(r"s~ ", rows)) == len(estimated)


ADDS = r"""
#include <stdio.h>
__attribute__((noinline)) int add(int n) { return n + MORE; }
int main(void) { return printf("%d\n", add(1)) < 0; }
"""


def test_a_file_without_a_build_id_is_written_anew(tmp_path):
    """All that the plan's name is made of stays; the displaced code does not."""
    plans = []
    for more in 5, 7:
        app = compiled(tmp_path, "-O1", "-Wl,--build-id=none", "-DMORE=%d" % more,
                       source=ADDS)
        done = command("record", "--force", "--patch", app, cwd=tmp_path,
                       env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)})
        assert (done.returncode, done.stdout) == (0, "%d\n" % (1 + more))
        assert [c["name"] for c in calls(tmp_path)] == ["main", "add"]
        plans.append({re.sub("-.*", "", path.name) for path in
                      (tmp_path / "cstrace" / "plans").iterdir()})
    assert len(plans[0]) == 1 and plans[0] == plans[1]


def test_what_cannot_be_patched_is_refused(tmp_path):
    for first, runs in (("#!/bin/sh", "sh"), ("#! /usr/bin/env python3", "python3"),
                        ("#!/usr/bin/env -S A=1 perl -w", "perl"),
                        ("#!/a\x1bb", "INTERPRETER"), ("#!", "INTERPRETER")):
        (tmp_path / "run").write_text(first + "\necho ran\n")
        (tmp_path / "run").chmod(0o755)
        done = command("record", "--patch", "./run", cwd=tmp_path)
        assert done.returncode == 1 and done.stdout == ""
        assert ("'./run' is a script: name the program that runs it, as in "
                "cstrace record --patch %s ./run\n" % runs) in done.stderr
    app = compiled(tmp_path, "-O1", "-Wl,--build-id=none,--no-eh-frame-hdr,"
                   "-z,noseparate-code")
    done = command("record", "--patch", app, cwd=tmp_path)
    assert done.returncode == 1
    assert "cannot be patched: it has no build-id" in done.stderr
    done = command("record", app, cwd=tmp_path)
    assert done.returncode == 3 and "it has no hooks" in done.stderr


# ---- what the program opens and runs ---------------------------------------------


PLUGIN = """
static volatile int zero;
__attribute__((noinline)) int twice(int n) { return n * 2 + zero; }
__attribute__((constructor)) static void born(void) { twice(1); }
__attribute__((destructor)) static void dies(void) { twice(2); }
int plug(int n) { return twice(n) + 1; }
"""
HOST = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static volatile int is_over;
__attribute__((noinline)) int spin(int n) { return n + is_over; }
static void *spins(void *p) { while (!is_over) spin(1); return p; }
__attribute__((noinline)) int once(void)
{
	void *library = dlopen("./plug.so", RTLD_NOW);
	int (*plug)(int) = (int (*)(int))dlsym(library, "plug");
	int n = plug(4);
	dlclose(library);
	return n;
}
int main(int c, char **v)
{
	pthread_t t;
	int n = 0;
	if (c > 1)
		pthread_create(&t, 0, spins, 0);
	for (int i = 0; i < 3; i++)
		n += once();
	is_over = 1;
	if (c > 1)
		pthread_join(t, 0);
	printf("%d\n", n);
	return 0;
}
"""
OPENED = [(0, "main")] + 3 * [
    (1, "once"), (2, "born"), (3, "twice"), (2, "plug"), (3, "twice"),
    (2, "dies"), (3, "twice")]


@pytest.mark.parametrize("words", [[], ["threads"]], ids=str)
def test_a_library_is_patched_when_it_is_opened(tmp_path, words):
    """Before its constructors, each time that it is opened."""
    compiled(tmp_path, "-O1", "-shared", "-fPIC", source=PLUGIN,
             name="plug.so")
    host = compiled(tmp_path, "-O1", "-pthread", source=HOST, name="host")
    done = command("record", host, *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "27\n")
    assert re.search(r"patched \d functions of host, 4 functions of plug.so",
                     done.stderr)
    found = [c for c in functions(calls(tmp_path))
             if c[1] not in ("spin", "spins")]
    assert found == OPENED


def test_the_users_own_programs_are_patched_as_they_are_run(tmp_path):
    app = compiled(tmp_path, "-O1")
    done = command("record", "sh", "-c", app + "; " + app, cwd=tmp_path)
    assert done.stdout == "3\n3\n"
    assert re.search(r"patched \d functions of app", done.stderr)
    assert "true" not in done.stderr and "of dash" not in done.stderr
    assert functions(calls(tmp_path)) == FIB_OF_4 + FIB_OF_4


def test_all_that_it_runs_is_patched_where_that_is_asked_for(tmp_path):
    app = compiled(tmp_path, "-O1", source=r"""
        #include <stdlib.h>
        int main(void) { return system("tr a b </dev/null; exit 5") >> 8; }""")
    done = command("record", app, cwd=tmp_path)
    assert done.returncode == 5 and "of tr" not in done.stderr
    done = command("record", "--force", "--patch", app, cwd=tmp_path)
    assert done.returncode == 5
    assert re.search(r"\d functions of tr", done.stderr)
    assert "of dash" not in done.stderr


def test_its_kin_is_patched(tmp_path):
    kin = "/usr/lib/git-core/git-remote-http"
    if not os.path.exists(kin):
        pytest.skip("no " + kin)
    done = command("record", "git", "ls-remote", "https://127.0.0.1:1/x",
                   cwd=tmp_path)
    assert done.returncode == 128
    assert re.search(r"\d functions of git-remote-http", done.stderr)


def test_lines_that_are_none_of_the_shims_are_passed_over(tmp_path):
    app = compiled(tmp_path, "-O1")
    long = "x" * 5000
    script = ('cd "$CSTRACE_PLANS"; printf "\\np\\nl/\\npzz /x\\n%s\\n'
              'l../../x /bin/sh\\nl12 relative\\n" ' + long +
              ' >wanted; ls; cd - >/dev/null; ' + app)
    done = command("record", "sh", "-c", script, cwd=tmp_path)
    assert "3\n" in done.stdout and done.stderr.count("patched") == 1
    assert functions(calls(tmp_path)) == FIB_OF_4
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "app", "app.c", "cstrace.cst", "out.jsonl"]


def test_nobody_who_answers_is_not_waited_for(tmp_path):
    app = compiled(tmp_path, "-O1")
    (tmp_path / "plans").mkdir()
    os.mkfifo(tmp_path / "plans" / "wanted")
    assert run_with(tmp_path, app) == (3, "")


# ---- plans that are not what they should be ------------------------------------


SPY = r"""
#include <stdlib.h>
int main(void)
{
	return system("cp -r \"$CSTRACE_PLANS\" plans");
}
"""


def plan_of(folder, app):
    """The folder of a plan, taken from a run whose program looks at it."""
    spy = compiled(folder, "-O1", source=SPY, name="spy")
    command("record", "-o", "spy.cst", spy, cwd=folder)
    (plan,) = (folder / "plans").glob("*.plan")
    return plan


def run_with(folder, app):
    env = dict(os.environ, LD_PRELOAD=SHIM, CSTRACE_FILE="own.area",
               CSTRACE_PLANS=str(folder / "plans"))
    done = subprocess.run([app], cwd=folder, env=env, timeout=LIMIT_S,
                          text=True, capture_output=True, check=False)
    refused = folder / "plans" / "refused"
    return done.returncode, (refused.read_text() if refused.exists() else "")


@pytest.mark.parametrize("at, why", [(0, "damaged"), (-20, "damaged"),
                                     (200, "damaged")])
def test_a_plan_that_is_damaged_is_refused(tmp_path, at, why):
    plan = plan_of(tmp_path, "spy")
    data = bytearray(plan.read_bytes())
    data[at] ^= 1
    plan.write_bytes(data)
    status, told = run_with(tmp_path, "./spy")
    assert status == 0 or status == 256 or status == 1
    assert why in told


def test_a_plan_that_is_cut_short_is_refused(tmp_path):
    plan = plan_of(tmp_path, "spy")
    whole = plan.read_bytes()
    for size in 0, 8, 100, len(whole) // 2 // 8 * 8, len(whole) - 8:
        plan.write_bytes(whole[:size])
        (tmp_path / "plans" / "refused").unlink(missing_ok=True)
        _status, told = run_with(tmp_path, "./spy")
        assert ("damaged" in told) == (size > 0)


def test_a_plan_of_another_program_changes_nothing(tmp_path):
    plan = plan_of(tmp_path, "spy")
    other = compiled(tmp_path, "-O1")
    ident = re.search(r"Build ID: (\w+)", subprocess.run(
        ["readelf", "-n", other], cwd=tmp_path, text=True,
        capture_output=True, check=True).stdout).group(1)
    plan.rename(plan.with_name(ident + ".plan"))
    status, told = run_with(tmp_path, other)
    assert status == 3 and "damaged" in told


@pytest.mark.parametrize("is_first", [False, True])
def test_a_library_begins_a_thread(tmp_path, is_first):
    """In a constructor, and so behind cstrace, unless it asks to be the first:
    then its instructions may be those that would be changed."""
    library = build_library("early_thread.c", "-pthread", is_traced=False, *(
        ["-Wl,-z,initfirst"] if is_first else []))
    app = compiled(tmp_path, "-O1", "-Wl,--no-as-needed", str(library),
                   "-Wl,-rpath," + str(library.parent))
    done = command("record", app, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "3\n")
    if is_first:
        assert "not patched: a library had begun threads" in done.stderr
    else:
        assert calls(tmp_path)[0]["name"] == "begin"


# ---- programs of the distribution -----------------------------------------------


REAL = {
    "git": ["git", "-c", "core.pager=cat", "--version"],
    "bash": ["bash", "-c", "f() { local i; for ((i = 0; i < 99; i++)); do :; "
             "done; echo $i; }; f; echo $(echo sub | tr a-z A-Z); exit 7"],
    "python3": ["/usr/bin/python3", "-c",
                "import json, re\ntry: 1 / 0\n"
                "except ZeroDivisionError as e: print(e, json.dumps([1]))"],
    "sqlite3": ["sqlite3", ":memory:", "select 1 + 1;"],
    "perl": ["perl", "-e", "eval { die 1 }; print 'after'; exit 3"],
}


@pytest.mark.parametrize("name", REAL)
def test_programs_of_the_distribution(tmp_path, name):
    words = REAL[name]
    try:
        alone = subprocess.run(words, cwd=tmp_path, text=True, check=False,
                               capture_output=True, timeout=LIMIT_S,
                               stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        pytest.skip("no " + name)
    done = command("record", *(["--patch"] if name == "bash" else []), *words,
                   cwd=tmp_path)
    told = "".join(line for line in done.stderr.splitlines(True)
                   if not line.startswith("cstrace: "))
    assert (done.returncode, done.stdout, told) == (
        alone.returncode, alone.stdout, alone.stderr)
    assert re.search(r"cstrace: \d+ calls in ", done.stderr)
    assert "patched " in done.stderr and "lost" not in done.stderr


def test_what_only_runs_others_is_left_alone(tmp_path):
    """A shell is not what its user looks for."""
    app = build("plain.cc", variant=Variant())
    done = command("record", "sh", "-c", '"$0"; true', app, cwd=tmp_path)
    assert re.search(r"cstrace: \d+ calls in ", done.stderr)
    assert "--patch records it as it is" in done.stderr
    assert "patched" not in done.stderr
    done = command("record", "--force", "--patch", "sh", "-c", "true",
                   cwd=tmp_path)
    assert "functions of dash" in done.stderr


# ---- arguments and results ------------------------------------------------------


def given(call):
    return call.get("args"), call.get("result")


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_arguments_and_results(tmp_path, variant):
    app = build("registers.c", variant=variant, is_traced=False)
    alone = subprocess.run([str(app)], cwd=tmp_path, text=True, check=True,
                           capture_output=True, timeout=LIMIT_S)
    done = command("record", "--args", app, cwd=tmp_path)
    assert (done.stdout, done.returncode) == (alone.stdout, 0)
    found = {}
    for call in calls(tmp_path):
        found.setdefault(call["name"], []).append(given(call))
    wanted = {
        "many": [({"c": "a", "s": -2, "u": 3000000000, "l": 4, "e": 5,
                   "f": 6, "g": -7, "d": 2.5, "h": 1 << 40},
                  (1 << 40) + 3000000105)],
        "first": [({"text": "short"}, "s"),
                  ({"text": "a text on the heap"}, "a"),
                  ({"text": None}, "-")],
        "half": [({"d": 3.5, "f": 1.25}, 3)],
        "make": [({"a": 4, "b": 2.5}, {"a": 4, "b": 2.5})],
        "next": [({"c": "RED"}, "GREEN"), ({"c": "GREEN"}, "RED")],
    }
    for name in wanted.keys() & found.keys():
        assert found[name] == wanted[name]
    assert {"many", "make", "half"} <= found.keys()
    if "add" in found:
        assert found["add"] == [({"a": -1, "b": 2}, 1)] + [
            ({"a": i, "b": 1000000}, i + 1000000) for i in range(5000)]
    where = command("show", "--no-fold", "--where", "half.f > 1", cwd=tmp_path)
    assert "half(d=3.5, f=1.25)" in where.stdout


def written_down(folder):
    lines = (folder / "log").read_text().splitlines()
    return [(int(d), name, int(line))
            for d, name, line in (row.split() for row in lines)]


def seen(found, names):
    """Depth, name and line of the calls of these functions, with what is between
    taken out."""
    out, open_at = [], []
    for call in found:
        while open_at and open_at[-1] >= call["depth"]:
            open_at.pop()
        name = re.sub(r"\(.*", "", call["function"])
        if name in names:
            known = call["file"] and call["file"].endswith("oracle.cc")
            out.append((len(open_at), name, call["line"] if known else 0))
            open_at.append(call["depth"])
    return out


@pytest.mark.parametrize("compiler, level", [
    ("gcc", "-O0"), ("gcc", "-O1"), ("gcc", "-O2"), ("gcc", "-O3"),
    ("clang", "-O0"), ("clang", "-O2")])
@pytest.mark.parametrize("seed", range(1, N_SEEDS + 1))
def test_same_as_a_random_program_says(tmp_path, compiler, level, seed):
    """Exceptions, longjmp, recursion and callbacks at random."""
    alike = ALIKE if compiler == "gcc" else ["-fno-inline",
                                             "-fno-optimize-sibling-calls"]
    app = build("oracle.cc", *alike, variant=Variant(compiler, level),
                is_traced=False)
    done = command("record", "--args", app, seed, 3000, "log", cwd=tmp_path)
    assert done.returncode == 0 and "patched" in done.stderr, done.stderr
    expected = written_down(tmp_path)
    got = seen(calls(tmp_path), {name for _, name, _ in expected})
    assert len(expected) >= 3000
    for i, (wanted, call) in enumerate(zip(expected, got)):
        assert call == wanted, (i, got[max(0, i - 8):i + 1])
    assert len(got) == len(expected)


# ---- what a program can notice ---------------------------------------------------


@pytest.mark.parametrize("options", [[], ["--args"]], ids=str)
def test_no_register_differs(tmp_path, options):
    """Nor does one of the x87 or of vectors: in the usual way, with a site that
    is new, with a full chunk, and with texts that the kernel reads."""
    app = build("registers_kept.c", "-w", variant=Variant(level="-O2"),
                is_traced=False)
    done = command("record", "--patch", *options, app, cwd=tmp_path)
    assert done.returncode == 0 and "kept" in done.stdout, done.stdout
    found = [c for c in calls(tmp_path) if c["name"] == "passed"]
    assert len(found) == 9000 and {c["end"] for c in found} == {"return"}
    if options:
        assert [c["args"]["number"] for c in found] == list(range(9000))
        assert [c["result"] for c in found] == list(range(1, 9001))


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("flag", ["address", "thread", "undefined"])
def test_under_a_sanitizer(tmp_path, compiler, flag):
    """It unwinds through patched functions, and looks at each stack."""
    room = ["-fpatchable-function-entry=5"] if compiler == "clang++" else []
    subprocess.run([compiler, "-g", "-O1", "-w", "-fsanitize=" + flag, *room,
                    str(TARGETS / "plain.cc"), "-pthread", "-o", "app"],
                   cwd=tmp_path, check=True, timeout=LIMIT_S)
    alone = subprocess.run(["./app"], cwd=tmp_path, text=True, check=False,
                           capture_output=True, timeout=LIMIT_S)
    done = command("record", "--patch", "./app", cwd=tmp_path)
    assert (done.stdout, done.returncode) == (alone.stdout, 3)
    told = [line for line in done.stderr.splitlines()
            if not line.startswith("cstrace: ")]
    assert told == alone.stderr.splitlines() == []
    ends = [(c["name"], c["end"]) for c in calls(tmp_path)]
    assert len({name for name, _end in ends}) > 3
    if compiler == "g++":
        assert ends.count(("throws", "unwound")) == 4


OVERFLOW = r"""
#include <stdlib.h>
__attribute__((noinline)) int reads(int *p, int n) { return p[n]; }
int main(void)
{
	int *p = malloc(4 * sizeof(*p));
	return reads(p, 4);
}
"""


def test_a_sanitizers_report_has_the_callers(tmp_path):
    app = compiled(tmp_path, "-O1", "-fsanitize=address", source=OVERFLOW)
    reports = []
    for words in [app], [str(BUILD / "cstrace"), "record", "--patch", app]:
        done = subprocess.run(words, cwd=tmp_path, text=True, check=False,
                              capture_output=True, timeout=LIMIT_S)
        frames = re.findall(r"#\d+ \S+ in (\w+)", done.stderr)
        reports.append((done.returncode, frames))
    assert reports[0][1][:2] == ["reads", "main"]
    assert reports[0] == reports[1]


DENY = r"""
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int c, char **v)
{
	unsigned bits = atoi(v[1]);
	struct sock_filter f[] = {
		{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},
		{BPF_JMP | BPF_JEQ | BPF_K, 0, 4, SYS_mprotect},
		{BPF_LD | BPF_W | BPF_ABS, 0, 0, 32},
		{BPF_ALU | BPF_AND | BPF_K, 0, 0, bits},
		{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, bits},
		{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EACCES},
		{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
	};
	struct sock_fprog p = {7, f};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		return 9;
	execv(v[2], v + 2);
	return 8;
}
"""


def test_code_that_cannot_be_made_is_named(tmp_path):
    """mprotect() makes nothing executable, as SELinux's execmem has it."""
    deny = compiled(tmp_path, "-O1", source=DENY, name="deny")
    app = compiled(tmp_path, "-O1")
    done = command("record", deny, "4", app, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "3\n")
    assert re.search(r"/app' was not patched: its code cannot be changed: "
                     "Permission denied", done.stderr)
    assert "of app" not in done.stderr and "of deny" in done.stderr
    assert "fib" not in {c["name"] for c in calls(tmp_path)}


def test_code_that_is_never_writable_is_written_by_the_kernel(tmp_path):
    """Nothing is both writable and executable there, SELinux's execmod."""
    deny = compiled(tmp_path, "-O1", source=DENY, name="deny")
    app = compiled(tmp_path, "-O1")
    done = command("record", deny, "6", app, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "3\n")
    assert "was not patched" not in done.stderr
    assert "fib" in {c["name"] for c in calls(tmp_path)}


BARE = r"""
__asm__(".text\n.globl bare\n.type bare, @function\n"
	"bare: mov %edi, %eax\nadd $5, %eax\nnop\nret\n.size bare, .-bare\n");
int bare(int);
__attribute__((noinline)) int twice(int n) { return n * 2 + bare(n); }
int main(void) { return twice(bare(1)); }
"""


@pytest.mark.parametrize("words, n", [("bare", 0), ("bare|twice", 1)])
def test_no_regex_takes_what_is_declined(tmp_path, words, n):
    app = compiled(tmp_path, "-O1", source=BARE)
    done = command("record", "--patch=^(%s)$" % words, app, cwd=tmp_path)
    assert done.returncode == 23
    assert re.search(r"patched %d functions? of app; left out 1 as it is written "
                     "in assembler" % n, done.stderr)
    assert "it has no hooks" not in done.stderr
