# SPDX-License-Identifier: MIT
"""Tail calls of programs that nobody built for it: a function that ends by a
jump to another one has that one below it."""

import json
import re
import subprocess

import pytest

from lib_cstrace import command
from lib_folders import ctf_calls
from lib_formats import chrome, strict_json

HEAD = r"""
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define ALONE __attribute__((noinline))
volatile int sum;
ALONE int leaf(int n) { sum += n; return sum; }
"""

CHAIN = HEAD + r"""
ALONE int last(int n) { leaf(n); return sum + 1; }
ALONE int middle(int n) {
	leaf(n + 1);
	return last(n + 2);
}
ALONE int first(int n) {
	leaf(n + 2);
	return middle(n + 3);
}
int main(int argc, char **argv)
{
	sum += first(argc) * 2;
	leaf(1);
	return 0;
}
"""
CHAIN_TREE = ["main", " first", "  leaf", "  middle (tail)", "   leaf",
              "   last (tail)", "    leaf", " leaf"]

LOOP = HEAD + r"""
int odd(int n);
ALONE int even(int n) { sum++; return n ? odd(n - 1) : 1; }
ALONE int odd(int n) { sum--; return n ? even(n - 1) : 0; }
ALONE int begin(int n) { leaf(n); return even(n); }
int main(int argc, char **argv)
{
	sum += even(4) + 2;
	sum += begin(100000) * 2;
	return 0;
}
"""

JUMPS = HEAD + r"""
jmp_buf out;
ALONE int jumps(int n)
{
	if (leaf(n))
		longjmp(out, 1);
	return 0;
}
ALONE int to_jumps(int n) { leaf(n); return jumps(n); }
ALONE int around(int n) { return setjmp(out) ? 2 : to_jumps(n) + 1; }
ALONE int forks(int n)
{
	int pid = fork();

	if (pid)
		waitpid(pid, 0, 0);
	leaf(n);
	return n + 1;
}
ALONE int to_forks(int n) { leaf(n); return forks(n); }
int main(int argc, char **argv)
{
	sum += around(1) * 2;
	sum += to_forks(1) * 2;
	leaf(1);
	return 0;
}
"""

# What is jumped to is not traced where it is libc's; by a pointer nobody can
# tell what comes next.
POINTERS = HEAD + r"""
ALONE int plain(const char *s) { leaf(1); return sum + *s; }
ALONE int other(const char *s) { leaf(2); return sum + *s; }
ALONE int to_libc(const char *s) { sum++; return atoi(s); }
int (*volatile chosen)(const char *) = plain;
ALONE int by_pointer(const char *s) { sum++; return chosen(s); }
int (*volatile both[])(const char *) = {to_libc, other};
int main(int argc, char **argv)
{
	for (int i = 0; i < 2; i++)
		sum += to_libc("1") * 2;
	for (int i = 0; i < 4; i++)
		sum += both[i % 2]("1") * 2;
	sum += by_pointer("1") * 2;
	leaf(1);
	return 0;
}
"""


def compiled(folder, source, *flags, compiler="gcc"):
    (folder / "app.c").write_text(source)
    subprocess.run([compiler, "-g", "-O2", "app.c", *flags, "-o", "app"],
                   cwd=folder, check=True)
    return "./app"


def recorded(folder, *options):
    done = command("record", "--force", *options, "./app", cwd=folder)
    assert done.returncode == 0, done.stderr
    return saved(folder, "cstrace.cst")


def saved(folder, trace):
    done = command("save", "--std", "--force", trace, "out.jsonl", cwd=folder)
    assert done.returncode == 0, done.stderr
    lines = (folder / "out.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def save_as(folder, name):
    done = command("save", "--std", "cstrace.cst", name, cwd=folder)
    assert done.returncode == 0, done.stderr
    path = folder / name
    return path.read_bytes() if path.is_file() else b""


def tree(calls):
    return [" " * c["depth"] + c["name"] + " (tail)" * c.get("tail", False)
            for c in calls]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("options", [[], ["--keep-time", "1ns"]], ids=str)
def test_a_tail_call_is_below_the_function_that_made_it(tmp_path, compiler,
                                                        options):
    compiled(tmp_path, CHAIN, "-fpatchable-function-entry=5",
             compiler=compiler)
    calls = recorded(tmp_path, *options)
    assert tree(calls) == CHAIN_TREE
    by_name = {c["name"]: c for c in calls}
    lines = CHAIN.splitlines()
    for name, made in ("middle", "return middle"), ("last", "return last"):
        assert made in lines[by_name[name]["line"] - 1]
    assert {c["end"] for c in calls} == {"return"}
    first, middle, last = (by_name[n] for n in ("first", "middle", "last"))
    ends = [c["start_ns"] + c["duration_ns"] for c in (first, middle, last)]
    assert max(ends) - min(ends) <= 2  # they are rounded


RESULTS = HEAD + r"""
ALONE int last(int n) { leaf(n); return n + 1; }
ALONE int middle(int n) { leaf(n); return last(n * 2); }
ALONE int first(int n) { leaf(n); return middle(n * 2); }
int main(int argc, char **argv)
{
	for (int i = 0; i < 300; i++)
		sum += first(i) * 2;
	return 0;
}
"""


@pytest.mark.parametrize("options", [[], ["--keep-time", "1ns"]], ids=str)
def test_the_result_is_that_of_the_function_that_returns_it(tmp_path, options):
    compiled(tmp_path, RESULTS)
    calls = recorded(tmp_path, "--args", *options)
    results = {name: [c.get("result") for c in calls if c["name"] == name]
               for name in ("first", "middle", "last")}
    assert results["last"] == [4 * i + 1 for i in range(300)]
    assert {*results["first"], *results["middle"]} == {None}


def test_without_symbols_the_tree_is_the_same(tmp_path):
    """There a function that nobody calls is a part of the one that jumps."""
    source = CHAIN.replace("leaf(1);", "sum += middle(1) * 2 + last(1);")
    compiled(tmp_path, source, "-s")
    calls = [c for c in recorded(tmp_path) if c["name"].startswith("app+")]
    whole = ["main", " first", "  leaf", "  middle (tail)", "   leaf",
             "   last (tail)", "    leaf", " middle", "  leaf",
             "  last (tail)", "   leaf", " last", "  leaf"]
    assert [re.sub(r"\S+", "f", line.replace(" (tail)", "!"))
            + "!" * ("(tail)" in line) for line in tree(calls)] == [
                re.sub(r"\S+", "f", line.replace(" (tail)", "!"))
                + "!" * ("(tail)" in line) for line in whole]


def test_rows_and_tables_have_it(tmp_path):
    compiled(tmp_path, CHAIN)
    recorded(tmp_path)
    rows = command("show", cwd=tmp_path).stdout
    assert len(re.findall(r" middle  app\.c:\d+  \(tail call\)\n", rows)) == 1
    assert rows.count("(tail call)") == 2
    graph = command("graph", "last", cwd=tmp_path).stdout
    callers = graph.partition("# Callees")[0]
    assert re.findall(r"% +(\w+)$", callers, re.M)[:4] == [
        "last", "middle", "first", "main"]
    command("save", "cstrace.cst", "again.cst", cwd=tmp_path)
    assert tree(saved(tmp_path, "again.cst")) == CHAIN_TREE


def test_formats_that_have_a_place_for_it_have_it(tmp_path):
    compiled(tmp_path, CHAIN)
    tails = {c["id"] for c in recorded(tmp_path) if c.get("tail")}
    assert len(tails) == 2
    events, _ = chrome(save_as(tmp_path, "out.json"))
    assert {e["args"]["id"] for e in events if e["args"].get("tail")} == tails
    spans = strict_json(save_as(tmp_path, "out.otlp.json"))
    marked = {"key": "cstrace.tail", "value": {"boolValue": True}}
    assert {attribute["value"]["stringValue"]
            for resource in spans["resourceSpans"]
            for scope in resource["scopeSpans"] for span in scope["spans"]
            if marked in span["attributes"]
            for attribute in span["attributes"]
            if attribute["key"] == "cstrace.id"} == tails
    save_as(tmp_path, "out.ctf")
    found = ctf_calls(tmp_path / "out.ctf")
    assert {c.fields["id"] for lane in found.values() for c in lane
            if c.fields["tail"]} == tails


def test_functions_that_call_each_other_so_go_no_deeper(tmp_path):
    compiled(tmp_path, LOOP)
    calls = recorded(tmp_path)
    assert tree(calls)[:6] == ["main", " even", "  odd (tail)", " even",
                               "  odd (tail)", " even"]
    at = [c["name"] for c in calls].index("begin")
    assert tree(calls)[at:at + 5] == [
        " begin", "  leaf", "  even (tail)", "   odd (tail)",
        "  even (tail)"]
    assert len(calls) == 1 + 5 + 2 + 100001
    assert max(c["depth"] for c in calls) == 3
    assert {c["end"] for c in calls} == {"return"}


def test_jumps_and_forks(tmp_path):
    compiled(tmp_path, JUMPS)
    calls = recorded(tmp_path)
    parent = [c for c in calls if c["process"] == calls[0]["process"]]
    assert tree(parent) == [
        "main", " around", "  to_jumps", "   leaf", "   jumps (tail)",
        "    leaf", " to_forks", "  leaf", "  forks (tail)", "   leaf",
        " leaf"]
    ends = {c["name"]: c["end"] for c in parent}
    assert ends["to_jumps"] == ends["jumps"] == "unwound"
    assert ends["to_forks"] == ends["forks"] == ends["around"] == "return"
    child = [c for c in calls if c["process"] != calls[0]["process"]]
    assert tree(child) == ["main", " to_forks", "  forks (tail)", "   leaf",
                           " leaf"]
    assert {c["end"] for c in child} == {"return"}


def test_what_is_not_certain_is_beside(tmp_path):
    compiled(tmp_path, POINTERS)
    calls = recorded(tmp_path)
    assert tree(calls) == [
        "main", " to_libc", " to_libc", " to_libc", " other", "  leaf",
        " to_libc", " other", "  leaf", " by_pointer", "  plain (tail)",
        "   leaf", " leaf"]
    assert {c["end"] for c in calls} == {"return"}


def test_an_exception_passes_over_all_of_them(tmp_path):
    (tmp_path / "app.cc").write_text(r"""
volatile int sum;
#define ALONE __attribute__((noinline, noclone))
ALONE void leaf() { sum = sum + 1; }
ALONE void throws(int n) { leaf(); if (n) throw n; }
ALONE void to_throws(int n) { leaf(); throws(n); }
ALONE int catches(int n)
{
	try {
		to_throws(n);
	} catch (int) {
		leaf();
	}
	return sum;
}
int main()
{
	catches(0);
	catches(1);
	leaf();
}
""")
    subprocess.run(["g++", "-g", "-O2", "app.cc", "-o", "app"], cwd=tmp_path,
                   check=True)
    calls = [c for c in recorded(tmp_path) if "exception" not in c
             or c["end"] == "unwound"]
    once = [" catches", "  to_throws", "   leaf", "   throws (tail)",
            "    leaf"]
    assert tree(calls) == ["main", *once, *once, "  leaf", " leaf"]
    assert [c["name"] for c in calls if c["end"] == "unwound"] == [
        "to_throws", "throws"]
