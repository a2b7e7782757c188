# SPDX-License-Identifier: MIT
"""cstrace diff, as somebody uses it who has changed a program."""

import csv
import os
import re

import pytest

from lib_build import build
from lib_cstrace import compile_c, cstrace, record
from lib_gdb import run_gdb

BEFORE = """\
#include <stdlib.h>
static int leaf(int n) { return n + 1; }
static int pair(int n)
{
    return leaf(n) + leaf(n + 1);
}
int main(int argc, char **argv)
{
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += pair(i);
    if (argc > 1)
        abort();
    return sum == 0;
}
"""
# Lines have moved, one call is new, one function has gone.
AFTER = BEFORE.replace(
    "static int leaf", "/* Adds\n   one. */\nstatic int leaf")
CHECKED = AFTER.replace("    return leaf", "    check(n);\n    return leaf") \
    .replace("static int pair", "static void check(int n) { leaf(n); }\n"
             "static int pair")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("diff")
    for name, source in (("before", BEFORE), ("after", AFTER),
                         ("checked", CHECKED)):
        compile_c(folder, "app", source)
        (folder / "app").rename(folder / name)
        record(folder, name + ".cst", name)
    record(folder, "again.cst", "before")
    compile_c(folder, "renamed", CHECKED)
    record(folder, "renamed.cst", "renamed")
    return folder


def test_the_same_program_has_the_same_flow(folder):
    done = cstrace(folder, "diff", "before.cst", "again.cst")
    assert (done.status, done.err) == (0, "")
    assert done.out == ("--- before.cst  (A: 301 calls in 1 thread)\n"
                        "+++ again.cst  (B: 301 calls in 1 thread)\n"
                        "The flow is the same.\n")


def test_lines_that_moved_are_no_difference(folder):
    assert cstrace(folder, "diff", "before.cst", "after.cst").status == 0


def test_a_new_call_is_told_once(folder):
    done = cstrace(folder, "diff", "after.cst", "checked.cst")
    assert (done.status, done.err) == (1, "")
    assert ("the flows part after 2 equal calls: 1.3 leaf in A, 1.3 check in B"
            in done.out)
    rows = done.out.partition("in CALLER\n")[2].splitlines()
    assert [re.sub(r"  +", "  ", row.strip()) for row in rows] == [
        "0  100  +100  added  leaf  app.c:5  in check",
        "0  100  +100  added  check  app.c:8  in pair"]


def test_names_and_places_are_those_of_rows(tmp_path):
    """Also where the library's calls, which are hidden, stand between."""
    for name, n_orders in (("a.cst", 6), ("b.cst", 7)):
        done = cstrace(tmp_path, "record", "-o", name, "--",
                       build("shop.cc", "-pthread"), 1, n_orders)
        assert done.status == 0, done.err
    done = cstrace(tmp_path, "diff", "a.cst", "b.cst")
    assert "thread 2 the flows part" in done.out
    assert not re.search(r"shop::Shop|stl_|allocator|/usr", done.out)
    row, = re.findall(r"^.*  Line::~Line  shop.cc:147  in .*", done.out, re.M)
    assert row.endswith("in Order::operator=")
    rows = csv.DictReader(cstrace(tmp_path, "diff", "--format", "csv",
                                  "a.cst", "b.cst").out.splitlines())
    assert {os.path.basename(r["file"]) for r in rows} <= {
        "shop.cc", "invoke.h", "libc_start_call_main.h", ""}


def test_a_renamed_file_is_told_by_functions_alone(folder):
    assert cstrace(folder, "diff", "checked.cst", "renamed.cst").status == 0
    done = cstrace(folder, "diff", "after.cst", "renamed.cst")
    assert done.status == 1
    rows = done.out.partition("in CALLER\n")[2].splitlines()
    assert [row.split("added")[1].strip() for row in rows] == [
        "leaf  in check", "check  in pair"]


def test_a_choice_and_a_limit_cut_it_short(folder):
    words = ("diff", "after.cst", "checked.cst")
    assert cstrace(folder, *words, "--depth", "2").status == 0
    done = cstrace(folder, *words, "--exclude", "^(check|leaf)$")
    assert done.status == 0
    done = cstrace(folder, *words, "--limit", "1")
    assert done.status == 1
    assert done.out.endswith("... and 1 more\n")


def callees(text):
    rows = text.partition("in CALLER\n")[2].splitlines()
    return [re.split("  +", row.strip())[4] for row in rows]


def test_what_is_hidden_is_told(folder):
    done = cstrace(folder, "diff", "--depth", "1", "before.cst", "before.cst")
    assert re.search(r"^# depth 1: 1 of (\d+) calls in A, 1 of \1 calls in B$",
                     done.out, re.M), done.out
    assert "#" not in cstrace(folder, "diff", "before.cst", "before.cst").out


def test_rows_are_in_the_order_asked_for(folder):
    words = ("diff", "after.cst", "checked.cst", "--sort")
    assert callees(cstrace(folder, *words, "name").out) == ["check", "leaf"]
    for key in "calls", "total", "change", "percent":
        done = cstrace(folder, *words, key)
        assert done.status == 1
        assert sorted(callees(done.out)) == ["check", "leaf"]


def test_changes_in_percent(folder):
    done = cstrace(folder, "diff", "after.cst", "checked.cst", "--percent")
    assert re.search(r"^ +0 +100 +new  added +check  app\.c:8  in pair$",
                     done.out, re.M)
    done = cstrace(folder, "diff", "checked.cst", "after.cst", "--percent")
    assert re.search(r"^ +100 +0 +-100 %  missing  check  app\.c:8  in pair$",
                     done.out, re.M)


def test_times_fail_only_when_asked_to(folder):
    words = ("diff", "before.cst", "again.cst", "--times", "0")
    done = cstrace(folder, *words)
    assert done.status == 0
    table = "TIME A" in done.out
    assert cstrace(folder, *words, "--fail-on-time").status == int(table)
    same = cstrace(folder, "diff", "before.cst", "before.cst", "--times", "0",
                   "--fail-on-time")
    assert same.status == 0 and "TIME A" not in same.out


def test_a_program_that_died_differs_by_how_its_calls_ended(folder):
    cstrace(folder, "record", "-o", "died.cst", "--", "./before", "x")
    done = cstrace(folder, "diff", "before.cst", "died.cst")
    assert done.status == 1
    assert "a call ends otherwise after 0 equal calls: 1.1 main" in done.out
    assert re.search(r"^\+ +1\.1 +main .*\(still open\)$", done.out, re.M)


@pytest.mark.parametrize("words, told", [
    (["before.cst"], "there is no cstrace.cst here"),
    (["before.cst", "none.cst"], "cannot open 'none.cst'"),
    (["app.c", "after.cst"], "app.c"),
    (["before.cst", "after.cst", "--filter", "("], "bad regex '('"),
    (["before.cst", "after.cst", "--fail-on-time"], "needs --times P"),
    (["before.cst", "after.cst", "--times", "much"], "bad value 'much'"),
    (["before.cst", "after.cst", "--sort", "size"], "bad value 'size'"),
])
def test_trouble_is_one_line_and_status_2(folder, words, told):
    done = cstrace(folder, "diff", *words)
    assert (done.status, done.out) == (2, "")
    assert told in done.err and done.err.count("\n") == 1


def test_threads_pair_up(tmp_path):
    program = build("threads.c")
    for name, n in (("two", 2), ("three", 3)):
        done = cstrace(tmp_path, "record", "-o", name + ".cst", "--", program,
                       n)
        assert done.status == 0
    done = cstrace(tmp_path, "diff", "two.cst", "three.cst")
    assert done.status == 1
    assert "Only in B:\n+ thread 4: 4 calls, from worker\n" in done.out
    assert "the flows part" not in done.out


FORKS = """\
#include <sys/wait.h>
#include <unistd.h>
static int leaf(int n) { return n + 1; }
static void child(int n)
{
    for (int i = 0; i < n; i++)
        leaf(i);
    _exit(0);
}
int main(int argc, char **argv)
{
    if (!fork())
        child(argc);
    wait(0);
    return leaf(-1);
}
"""


QUEUE = """
#include <pthread.h>
static pthread_barrier_t begun;
static void step(int n) { (void)n; }
static void even(int n) { step(n); step(n); }
static void odd(int n) { step(n); }
static void *worker(void *share)
{
    pthread_barrier_wait(&begun);
    for (int n = 0; n < 60; n++)
        if (n %% 5 < %s == (share == 0))
            n & 1 ? odd(n) : even(n);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_barrier_init(&begun, 0, 2);
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, &begun);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"""


def test_counts_are_the_same_whoever_does_the_work(tmp_path):
    for name, share in ("some", "2"), ("more", "4"):
        compile_c(tmp_path, name, QUEUE % share)
        record(tmp_path, name + ".cst", name)
    assert cstrace(tmp_path, "diff", "some.cst", "more.cst").status == 1
    done = cstrace(tmp_path, "diff", "--counts", "some.cst", "more.cst")
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[2:] == [
        "Each call is made as often in both."]
    assert done.out.endswith(run_gdb(
        tmp_path, None, "cstrace load more.cst",
        "cstrace diff -counts some.cst").out.splitlines(True)[-1])


def test_other_counts_are_another_flow(folder):
    done = cstrace(folder, "diff", "--counts", "before.cst", "checked.cst")
    assert done.status == 1
    assert "parts" not in done.out and "CHANGE" in done.out


def test_processes_pair_up(tmp_path):
    compile_c(tmp_path, "forks", FORKS)
    record(tmp_path, "one.cst", "forks")
    record(tmp_path, "two.cst", "forks", "x")
    assert cstrace(tmp_path, "diff", "one.cst", "one.cst").status == 0
    done = cstrace(tmp_path, "diff", "one.cst", "two.cst")
    assert done.status == 1
    assert "In thread 2:1 the flows part after" in done.out
    assert "the end in A, 2:1.3 leaf in B\n" in done.out
    made = cstrace(tmp_path, "expect", "--make", "two.cst", "two.golden")
    assert made.status == 0
    assert "thread 2:1:\n" in (tmp_path / "two.golden").read_text()
    assert cstrace(tmp_path, "expect", "two.cst", "two.golden").status == 0
    assert cstrace(tmp_path, "expect", "one.cst", "two.golden").status == 1


def test_a_file_that_was_cut_is_said_to_be(folder):
    whole = (folder / "before.cst").read_bytes()
    (folder / "cut.cst").write_bytes(whole[:-20])
    done = cstrace(folder, "diff", "before.cst", "cut.cst")
    assert done.status in (0, 1)
    assert ", cut short)" in done.out


def test_gdb_compares_with_what_it_recorded(folder):
    run = run_gdb(folder, "./checked", "set cstrace live off",
                  "cstrace diff after.cst", "cstrace start", "run",
                  "cstrace diff after.cst -limit 1", "cstrace diff",
                  "cstrace diff none.cst", "cstrace show -last 1",
                  "cstrace diff after.cst -sort name -percent",
                  "cstrace diff after.cst -sort size")
    assert "nothing is recorded yet" in run.out
    assert "+++ the recorded trace  (B: 501 calls in 1 thread)\n" in run.out
    assert "1.3 leaf in A, 1.3 check in B\n" in run.out
    assert "... and 1 more\n" in run.out
    assert "cstrace diff: which file?" in run.out
    assert "cannot open 'none.cst'" in run.out
    assert re.search(r" new  added +check  app\.c:8  in pair\n"
                     r".* new  added +leaf  app\.c:5  in check\n", run.out)
    assert ("-sort wants one of calls, total, change, percent, name, not "
            '"size"' in run.out)
