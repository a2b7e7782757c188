# SPDX-License-Identifier: MIT
"""What save and expect -make replace, and the options in a golden tree."""

import pytest

from lib_cstrace import compile_c, cstrace, record

SOURCE = """
static int leaf(int n) { return n + 1; }
static int branch(int n) { return leaf(n) + leaf(n + 1); }
int main(void) { return branch(1) + leaf(2) > 0 ? 0 : 1; }
"""
FILES = ["t.txt", "t.jsonl", "t.cst", "t.html", "t.json", "t.folded",
         "t.speedscope.json", "t.callgrind", "t.dot", "t.otlp.json", "t.pb.gz"]
NOTES = "main reasons:\n  1. it is mine\n  2. 12 34\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("replacing")
    compile_c(folder, "app", SOURCE)
    record(folder, "app.cst", "app")
    return folder


@pytest.mark.parametrize("name", FILES)
def test_save_again(folder, name):
    """To the file it has saved to, in that format or another."""
    for _ in range(2):
        done = cstrace(folder, "save", "app.cst", name)
        assert (done.status, done.err) == (0, "")
    if name != "t.folded":
        done = cstrace(folder, "save", "--format", "txt", "app.cst", name)
        assert (done.status, done.err) == (0, "")


@pytest.mark.parametrize("name", FILES)
def test_save_leaves_what_is_not_its_own(folder, name):
    (folder / name).write_text(NOTES)
    done = cstrace(folder, "save", "app.cst", name)
    assert (done.status, done.err) == (
        1, "cstrace: '%s' is there, and cstrace did not write it: --force "
        "replaces it\n" % name)
    assert (folder / name).read_text() == NOTES
    done = cstrace(folder, "save", "--force", "app.cst", name)
    assert (done.status, done.err) == (0, "")
    assert (folder / name).read_bytes()[:9] != NOTES.encode()[:9]


@pytest.mark.parametrize("words", [
    ["record"], ["record", "--flight", "1M"], ["live"]])
def test_record_leaves_what_is_no_trace(folder, words):
    def done(*more):
        return cstrace(folder, *words, *more, "-o", "r.cst", "--", "./app")

    (folder / "r.cst").write_text(NOTES)
    refused = done()
    assert (refused.status, refused.err) == (
        1, "cstrace: 'r.cst' is there, and cstrace did not write it: --force "
           "replaces it\n")
    assert refused.out == ""
    assert (folder / "r.cst").read_text() == NOTES
    assert done("--force").status == 0
    assert "leaf" in cstrace(folder, "show", "r.cst").out
    assert done().status == 0  # a trace
    (folder / "r.cst").write_text("")
    assert done().status == 0


def test_record_replaces_no_folder(folder):
    (folder / "sub").mkdir()
    done = cstrace(folder, "record", "--force", "-o", "sub", "--", "./app")
    assert done.status == 1 and "not a regular file" in done.err
    assert (folder / "sub").is_dir()


def test_an_empty_file_is_nobodys(folder):
    (folder / "empty.txt").write_text("")
    assert cstrace(folder, "save", "app.cst", "empty.txt").status == 0


def test_expect_make_leaves_what_is_no_golden_tree(folder):
    before = (folder / "app.c").read_text()
    done = cstrace(folder, "expect", "--make", "app.cst", "app.c")
    assert (done.status, done.err) == (
        2, "cstrace: 'app.c' is there, and is no golden tree of this program: "
        "--force replaces it\n")
    assert (folder / "app.c").read_text() == before
    (folder / "notes").write_text(NOTES)
    words = "expect", "--make", "app.cst", "notes"
    assert cstrace(folder, *words).status == 2
    assert cstrace(folder, *words, "--force").status == 0
    assert cstrace(folder, "expect", "app.cst", "notes").status == 0


@pytest.mark.parametrize("text", [
    "main\n  ...\n", "# mine\n\nthread 1:\n  ...\n  /^ma/\n",
    "options:\n  depth 1\nmain\n"])
def test_expect_make_replaces_golden_trees(folder, text):
    (folder / "old.golden").write_text(text)
    done = cstrace(folder, "expect", "--make", "app.cst", "old.golden")
    assert (done.status, done.err) == (0, "")


def test_a_golden_tree_keeps_its_options(folder):
    done = cstrace(folder, "expect", "--make", "--depth", "2", "--exclude",
                   "^le", "app.cst", "part.golden")
    assert done.status == 0
    assert (folder / "part.golden").read_text() == (
        "options:\n  depth 2\n  exclude ^le\n\nmain\n  branch\n")
    assert cstrace(folder, "expect", "app.cst", "part.golden").status == 0
    done = cstrace(folder, "expect", "--depth", "1", "app.cst", "part.golden")
    assert done.status == 1
    assert "expected branch" in done.out


@pytest.mark.parametrize("words, line, tree", [
    (["--from", "branch"], "from branch", "branch\n  leaf  x2\nleaf\n"),
    (["--from", "branch", "--until", "leaf"], "from branch\n  until leaf",
     "branch\n  leaf\n"),
    (["--in", "app.c"], "in app.c", "main\n  branch\n    leaf  x2\n  leaf\n"),
    (["--module", "app"], "module app",
     "main\n  branch\n    leaf  x2\n  leaf\n"),
    (["--range", "..3600"], "range ..3600000000000ns",
     "main\n  branch\n    leaf  x2\n  leaf\n"),
    (["--range", "1ns..1s"], "range 1ns..1000000000ns", None)])
def test_a_golden_tree_obeys_all_it_was_made_with(folder, words, line, tree):
    done = cstrace(folder, "expect", "--make", *words, "app.cst", "w.golden")
    assert (done.status, done.err) == (0, "")
    text = (folder / "w.golden").read_text()
    assert text.startswith("options:\n  %s\n\n" % line)
    assert tree is None or text.endswith("\n\n" + tree)
    assert cstrace(folder, "expect", "app.cst", "w.golden") == (0, "", "")


@pytest.mark.parametrize("line, tree", [
    ("from branch", "branch\n  leaf  x2\nleaf\n"),
    ("until branch", "main\n  branch\n"),
    ("in none.c", "main\n  ...\n"), ("module libnone.so", "main\n  ...\n"),
    ("range 3599..1h", None), ("range 3599s..3600", "main\n  ...\n")])
def test_an_option_chooses_the_calls(folder, line, tree):
    """The tree that holds with the option does not hold without it, and the
    other way round: where nothing is chosen there is no main."""
    (folder / "with.golden").write_text(
        "options:\n  %s\n%s" % (line, tree or "main\n"))
    (folder / "without.golden").write_text(tree or "main\n")
    done = cstrace(folder, "expect", "app.cst", "with.golden")
    other = cstrace(folder, "expect", "app.cst", "without.golden")
    if tree is None:
        assert done.status == 2
    else:
        assert {done.status, other.status} == {0, 1}


def test_the_options_that_are_told_win(folder):
    (folder / "more.golden").write_text(
        "# A comment may come first.\noptions:\n  filter ^branch  \n"
        "  min-time 0.5ns\n  std\nbranch\n  leaf x2\n")
    assert cstrace(folder, "expect", "app.cst", "more.golden").status == 0
    done = cstrace(folder, "expect", "--filter", "^leaf", "app.cst",
                   "more.golden")
    assert done.status == 1


@pytest.mark.parametrize("line", ["deep 3", "depth x", "depth", "filter",
                                  "min-time 3", "std on", "thread a",
                                  "from", "in", "range 1s", "range ..",
                                  "range 2s..1s", "range a..b"])
def test_an_option_that_is_none(folder, line):
    (folder / "bad.golden").write_text("options:\n  %s\nmain\n" % line)
    done = cstrace(folder, "expect", "app.cst", "bad.golden")
    assert done.status == 2
    assert "bad.golden:2: '%s' is no option of a golden tree" % line \
        in done.err


def test_in_gdb(gdb, folder, tmp_path):
    (tmp_path / "mine.txt").write_text(NOTES)
    run = gdb(None, "cstrace load %s/app.cst" % folder,
              "cstrace save mine.txt", "cstrace expect -make mine.txt",
              "cstrace expect -make -depth 1 a.golden",
              "cstrace expect a.golden", "cstrace save t.txt",
              "cstrace save t.txt")
    assert "mine.txt' is there, and cstrace did not write it: -force " \
        "replaces it" in run.out
    assert "mine.txt' is there, and is no golden tree of this program: " \
        "-force replaces it" in run.out
    assert (tmp_path / "mine.txt").read_text() == NOTES
    assert (tmp_path / "a.golden").read_text().startswith("options:\n  depth")
    assert "the calls are those of a.golden" in run.out
    assert run.out.count("4 calls saved to t.txt") + \
        run.out.count("5 calls saved to t.txt") == 2
    run = gdb(None, "cstrace load %s/app.cst" % folder,
              "cstrace save -force mine.txt")
    assert (tmp_path / "mine.txt").read_text().startswith("# One row a call")
