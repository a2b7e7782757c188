# SPDX-License-Identifier: MIT
"""cstrace expect, as a test of call flow in somebody's CI."""

import re
import subprocess

import pytest

from lib_build import ROOT, build
from lib_cstrace import CSTRACE, compile_c, cstrace, record
from lib_gdb import run_gdb
from lib_tree import tree

SOURCE = """\
#include <stdio.h>
static int slot;
static int take(int n) { return n < 2 ? ++slot : -1; }
static void give(int n) { slot -= n > 0; }
static void warn(void) { puts("full"); }
static void serve(int n)
{
    int got = take(n);
    if (got < 0)
        warn();
    else
        give(got);
}
int main(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        serve(i);
    return 0;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("expect")
    compile_c(folder, "app", SOURCE)
    record(folder, "good.cst", "app", "1")
    record(folder, "full.cst", "app", "1", "2", "3")
    return folder


def expect(folder, trace, golden):
    (folder / "app.golden").write_text(tree(golden))
    return cstrace(folder, "expect", trace, "app.golden")


def test_what_make_wrote_is_what_is_expected(folder):
    done = cstrace(folder, "expect", "--make", "full.cst")
    assert (done.status, done.err) == (0, "")
    assert done.out == tree("""
        main
          serve  x2
            take
            give
          serve  x2
            take
            warn
        """)
    made = cstrace(folder, "expect", "--make", "full.cst", "made.golden")
    assert made == (0, "", "")
    assert (folder / "made.golden").read_text() == done.out
    assert cstrace(folder, "expect", "full.cst", "made.golden") == (0, "", "")


DEEP = """
static int leaf(int n) { return n; }
static int down(int n) { return n ? down(n - 1) + leaf(n) : 0; }
int main(int argc, char **argv)
{
    for (int i = 0; i < 2; i++)
        down((argc > 1) * %d);
    return argv == 0;
}
"""


def test_a_deep_recursion_takes_little_memory(tmp_path):
    """Each level's text would hold that of all below it."""
    compile_c(tmp_path, "deep", DEEP % 3000)
    record(tmp_path, "deep.cst", "deep", "1")
    done = subprocess.run(
        ["sh", "-c", "ulimit -v 1000000; exec %s expect --make deep.cst "
         "deep.golden" % CSTRACE], cwd=tmp_path, timeout=240,
        capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    lines = (tmp_path / "deep.golden").read_text().splitlines()
    assert len(lines) == 1 + 3001 + 3000
    assert lines[:3] == ["main", "  down  x2", "    down"]
    assert cstrace(tmp_path, "expect", "deep.cst", "deep.golden") \
        == (0, "", "")


def test_a_tree_that_is_too_deep_is_refused(tmp_path):
    compile_c(tmp_path, "deep", DEEP % 12000)
    record(tmp_path, "deep.cst", "deep", "1")
    done = cstrace(tmp_path, "expect", "--make", "deep.cst", "deep.golden")
    assert (done.status, done.out) == (2, "")
    assert "choose less with depth or filter" in done.err
    assert not (tmp_path / "deep.golden").exists()


def test_a_saved_tree_can_be_edited_into_one(folder):
    done = cstrace(folder, "save", "good.cst", "tree.txt", "--timestamp",
                   "off", "--no-duration")
    assert done.status == 0
    assert cstrace(folder, "expect", "good.cst", "tree.txt").status == 0
    assert cstrace(folder, "expect", "full.cst", "tree.txt").status == 1


def test_the_values_of_a_saved_tree_are_not_compared(tmp_path):
    """Nor is what a message says: another run has other ones."""
    program = build("values.c", "-DCSTRACE",
                    "-I%s" % (ROOT / "cshim/include"))
    for name, words in (("a.cst", ()), ("b.cst", ("other",))):
        assert cstrace(tmp_path, "record", "-o", name, "--", program,
                       *words).status == 0
    assert cstrace(tmp_path, "save", "a.cst", "tree.txt").status == 0
    text = (tmp_path / "tree.txt").read_text()
    assert 'parse(text="4x", base=10) = -1  values.c' in text
    assert "log: line 4 is bad" in text
    for name in ("a.cst", "b.cst"):
        done = cstrace(tmp_path, "expect", name, "tree.txt")
        assert (done.status, done.out) == (0, "")
    (tmp_path / "tree.txt").write_text(text.replace("parse(text", "prase(text"))
    done = cstrace(tmp_path, "expect", "a.cst", "tree.txt")
    assert done.status == 1 and ": expected prase  values.c:" in done.out


def test_each_slot_is_given_back(folder):
    golden = """
        main
          serve  x+          # so many as there are arguments
            take
            give
        """
    assert expect(folder, "good.cst", golden) == (0, "", "")
    done = expect(folder, "full.cst", golden)
    assert (done.status, done.err) == (1, "")
    assert done.out.splitlines() == [
        "app.golden:4: expected give, but this call is made:",
        "  1.1       main  " + done.out.splitlines()[1].split("  ")[-1],
        "  1.8         serve  app.c:17",
        "> 1.10          warn  app.c:10"]


def test_what_must_not_be_called_is_found_anywhere(folder):
    golden = """
        main
          ...
          !warn
        """
    assert expect(folder, "good.cst", golden).status == 0
    done = expect(folder, "full.cst", golden)
    assert done.status == 1
    assert done.out.startswith("app.golden:3: never expected warn, but")


def test_patterns_groups_and_sites(folder):
    assert expect(folder, "full.cst", r"""
        m*  (open)
        """).status == 1
    assert expect(folder, "full.cst", r"""
        main
          unordered:
            serve  x2  app.c:17
              /^(take|give)$/  x2
            /serve/  x2
              take
              warn  app.c
        """) == (0, "", "")


def test_threads(tmp_path):
    done = cstrace(tmp_path, "record", "-o", "t.cst", "--", build("threads.c"),
                   3)
    assert done.status == 0
    assert expect(tmp_path, "t.cst", """
        thread 1:
        main
        thread *:
        worker
          step  x3
        """) == (0, "", "")
    (tmp_path / "one.golden").write_text("worker\n  step x3\n")
    assert cstrace(tmp_path, "expect", "t.cst", "one.golden", "--thread",
                   "2") == (0, "", "")
    done = expect(tmp_path, "t.cst", "main")
    assert "no line is about thread 2" in done.out


@pytest.mark.parametrize("golden, told", [
    ("main\n    take\n  give\n", "app.golden:3: its indentation"),
    ("main\n  take  x3..1\n", "app.golden:2: 'x3..1' is no count"),
    ("/(/\n", "app.golden:1: bad regex"),
    ("", "app.golden: there is no call in it"),
])
def test_a_bad_line_is_named_with_status_2(folder, golden, told):
    (folder / "app.golden").write_text(golden)
    done = cstrace(folder, "expect", "good.cst", "app.golden")
    assert (done.status, done.out) == (2, "")
    assert told in done.err and done.err.count("\n") == 1


@pytest.mark.parametrize("words, told", [
    (["good.cst"], "which golden tree?"),
    (["good.cst", "none.golden"], "cannot open 'none.golden'"),
    (["none.cst", "app.c"], "cannot open 'none.cst'"),
    (["good.cst", "good.cst"], "is no golden tree"),
    (["--make", "good.cst", "none/x"], "none/x"),
])
def test_trouble_is_one_line_and_status_2(folder, words, told):
    done = cstrace(folder, "expect", *words)
    assert (done.status, done.out) == (2, "")
    assert told in done.err and done.err.count("\n") == 1


def test_gdb_makes_one_and_compares(folder):
    (folder / "other.golden").write_text("main\n  warn\n")
    run = run_gdb(folder, "./app", "set cstrace live off", "cstrace start",
                  "run", "cstrace expect -make g.golden",
                  "cstrace expect g.golden", "cstrace expect other.golden",
                  "cstrace expect", args=["x"])
    assert run.said()[-3:] == ["golden tree saved to g.golden",
                               "the calls are those of g.golden",
                               "the calls are not those of other.golden"]
    assert "other.golden:2: expected warn, but this call is made:" in run.out
    assert "the calls are not those of other.golden" in run.out
    assert "cstrace expect: which file?" in run.out
    assert cstrace(folder, "expect", "good.cst", "g.golden").status == 0


RACE = """
#include <pthread.h>
static void odd(void) {}
static void even(void) { odd(); }
static void *worker(void *what)
{
    what ? odd() : even();
    return 0;
}
int main(int argc, char **argv)
{
    for (int i = 0; i < 3; i++) {
        pthread_t t;
        pthread_create(&t, 0, worker, (i + argc) % 3 ? argv : 0);
        pthread_join(t, 0);
    }
    return 0;
}
"""


def test_workers_may_come_in_any_order(tmp_path):
    compile_c(tmp_path, "race", RACE)
    for i in range(3):
        record(tmp_path, "%d.cst" % i, "race", *["x"] * i)
    made = cstrace(tmp_path, "expect", "--make", "0.cst", "race.golden")
    assert made == (0, "", "")
    assert (tmp_path / "race.golden").read_text().count("thread ?:\n") == 3
    for i in range(3):
        assert cstrace(tmp_path, "expect", "%d.cst" % i, "race.golden") \
            == (0, "", "")
    golden = (tmp_path / "race.golden").read_text().replace("    odd", "")
    (tmp_path / "race.golden").write_text(golden)
    done = cstrace(tmp_path, "expect", "1.cst", "race.golden")
    assert done.status == 1 and "but this call is made" in done.out


@pytest.fixture(scope="module")
def shops(tmp_path_factory):
    """A run of a shop, whose two clerks are threads."""
    folder = tmp_path_factory.mktemp("shops")
    done = cstrace(folder, "record", "-o", "a.cst", build("shop.cc"), 2)
    assert done.status == 0, done.err
    return folder


@pytest.mark.parametrize("look", [
    [], ["--id"], ["--timestamp", "off"], ["--timestamp", "wall", "--id"],
    ["--timestamp", "off", "--no-duration"], ["--no-duration", "--id"],
    ["--timestamp", "off", "--no-duration", "--id"], ["--names", "full"],
    ["--no-callsite"], ["--depth", "1"]])
def test_a_saved_tree_of_threads_is_a_golden_tree(shops, look):
    done = cstrace(shops, "save", "--force", *look, "a.cst", "a.txt")
    assert (done.status, done.err) == (0, "")
    words = look if look[:1] == ["--depth"] else []
    done = cstrace(shops, "expect", *words, "a.cst", "a.txt")
    assert (done.status, done.out, done.err) == (0, "", "")


def test_a_call_that_a_saved_tree_has_not_is_found_in_its_thread(shops):
    assert cstrace(shops, "save", "a.cst", "less.txt").status == 0
    lines = (shops / "less.txt").read_text().splitlines(True)
    nth = next(i for i, line in enumerate(lines) if re.search(
        r" t1 .*Shelf::take", line))
    less = lines[nth].replace("Shelf::take", "Shelf::toke")
    (shops / "less.txt").write_text("".join(lines[:nth] + [less]
                                            + lines[nth + 1:]))
    done = cstrace(shops, "expect", "a.cst", "less.txt")
    assert done.status == 1
    assert re.match(r"less.txt:%d: expected (shop::)?Shelf::toke"
                    % (nth + 1), done.out)


def test_a_saved_tree_that_mixes_threads_says_that_it_is_none(shops):
    done = cstrace(shops, "save", "--no-thread", "a.cst", "mixed.txt")
    assert (done.status, done.out) == (0, "")
    assert "without the threads' column (or --id) cstrace expect cannot " \
        "read the tree" in done.err
    done = cstrace(shops, "expect", "a.cst", "mixed.txt")
    assert (done.status, done.out) == (2, "")
    assert "'mixed.txt' has rows of several threads" in done.err
    # With IDs, or of one thread, it is one.
    for more in (["--id"], ["--thread", "1"]):
        done = cstrace(shops, "save", "--no-thread", *more, "a.cst",
                       "told.txt")
        assert "cannot read the tree" not in done.err
        choice = more if more[0] == "--thread" else []
        done = cstrace(shops, "expect", *choice, "a.cst", "told.txt")
        assert (done.status, done.out, done.err) == (0, "", "")


def test_what_is_hidden_is_told_with_a_difference(folder):
    (folder / "other.golden").write_text("main\n  nothing\n")
    done = cstrace(folder, "expect", "--depth", "2", "good.cst",
                   "other.golden")
    assert done.status == 1
    assert done.out.endswith("# with depth 2\n")
    done = cstrace(folder, "expect", "good.cst", "other.golden")
    assert done.status == 1 and "# with" not in done.out


def test_a_line_that_is_no_row_of_a_saved_tree(shops):
    (shops / "odd.txt").write_text("# One row a call\n# T   CALL  (FROM)\n"
                                   "t1  main\nmain\n")
    done = cstrace(shops, "expect", "a.cst", "odd.txt")
    assert (done.status, done.err) == (
        2, "cstrace: odd.txt:4: this is no row of a saved tree\n")
