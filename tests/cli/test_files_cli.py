# SPDX-License-Identifier: MIT
"""The command and the files that people give it by mistake: one line on
standard error, the documented exit status, nothing lost."""

import os
import re
import subprocess

import pytest

from lib_cstrace import CSTRACE, Done, compile_c, cstrace, record

SOURCE = """
static int leaf(int n) { return n + 1; }
int main(void) { int n = 0; while (n < 20000) n = leaf(n); return 0; }
"""

READERS = [["show", "F"], ["report", "F"], ["info", "F"],
           ["save", "F", "out.json"], ["diff", "F", "run.cst"],
           ["diff", "run.cst", "F"], ["expect", "F", "golden"],
           ["expect", "--make", "F", "out"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A program, "app", and a trace of it, "run.cst"."""
    folder = tmp_path_factory.mktemp("files")
    compile_c(folder, "app", SOURCE)
    record(folder, "run.cst", "app")
    (folder / "golden").write_text("main\n  leaf  x*\n")
    (folder / "empty").write_text("")
    (folder / "text").write_text("no trace\n" * 100)
    (folder / "folder").mkdir()
    os.mkfifo(folder / "fifo")
    return folder


def with_file(words, name):
    return [name if word == "F" else word for word in words]


def one_line(done, status):
    assert (done.status, done.out) == (status, "")
    assert done.err.startswith("cstrace: ") and done.err.count("\n") == 1
    return done.err


@pytest.mark.parametrize("words", READERS, ids=" ".join)
@pytest.mark.parametrize("name", ["absent", "empty", "text", "folder", "fifo",
                                  "/dev/zero", ""])
def test_what_is_no_trace(folder, words, name):
    status = 2 if words[0] in ("diff", "expect") else 1
    before = sorted(os.listdir(folder))
    assert "'%s'" % name in one_line(
        cstrace(folder, *with_file(words, name)), status)
    assert sorted(os.listdir(folder)) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read all files")
def test_what_may_not_be_read(folder):
    (folder / "locked").write_text("")
    (folder / "locked").chmod(0)
    assert "Permission denied" in one_line(cstrace(folder, "show", "locked"), 1)


def test_a_trace_that_was_cut_short_is_read_and_said_to_be(folder):
    size = (folder / "run.cst").stat().st_size
    (folder / "cut.cst").write_bytes((folder /
     "run.cst").read_bytes()[:size - 1])
    done = cstrace(folder, "report", "cut.cst")
    assert done.status == 0 and "leaf" in done.out
    assert done.err.startswith("cstrace: 'cut.cst' was cut short")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("flight", [[], ["--flight", "4K"]])
def test_a_trace_that_ended_in_order_is_not(folder, flight):
    done = cstrace(folder, "record", *flight, "-o", "whole.cst", "./app")
    assert done.status == 0
    assert cstrace(folder, "show", "--last", "1", "whole.cst").err == ""
    cstrace(folder, "save", "whole.cst", "copy.cst")
    assert cstrace(folder, "info", "copy.cst").err == ""


# ---- standard input --------------------------------------------------------


def through(folder, words, source):
    done = subprocess.run([CSTRACE, *words], cwd=folder, stdin=source,
                          capture_output=True, text=True, timeout=240)
    return Done(done.returncode, done.stdout, done.stderr)


def test_a_trace_on_standard_input(folder):
    named = cstrace(folder, "report", "run.cst")
    with open(folder / "run.cst", "rb") as file:
        assert through(folder, ["report", "-"], file) == named
    with subprocess.Popen(["cat", "run.cst"], cwd=folder,
                          stdout=subprocess.PIPE) as cat:
        assert through(folder, ["report", "-"], cat.stdout) == named


def in_bash(folder, line):
    done = subprocess.run(["bash", "-c", line, "bash", CSTRACE],
                          cwd=folder, stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, timeout=240)
    return Done(done.returncode, done.stdout, done.stderr)


def test_traces_from_commands(folder):
    done = in_bash(folder, '"$1" diff <(cat run.cst) <(cat run.cst)')
    assert (done.status, done.err) == (0, "")
    assert "A: 20001 calls" in done.out and "B: 20001 calls" in done.out
    one_line(in_bash(folder, '"$1" show <(cat text)'), 1)
    one_line(in_bash(folder, '"$1" show <(:)'), 1)


def test_standard_input_that_is_no_trace(folder):
    with open(folder / "text", "rb") as file:
        assert "/dev/stdin" in one_line(through(folder, ["show", "-"], file), 1)
    assert "not a cstrace trace" in one_line(cstrace(folder, "show", "-"), 1)


# ---- output ----------------------------------------------------------------


@pytest.mark.parametrize("words", [
    ["show", "run.cst"], ["report", "run.cst"], ["info", "run.cst"],
    ["save", "--format", "json", "run.cst", "-"], ["diff", "run.cst", "run.cst"],
    ["expect", "--make", "run.cst"], ["help"], ["show", "--help"],
    ["--version"]], ids=" ".join)
def test_a_full_disk_behind_standard_output(folder, words):
    with open("/dev/full", "w") as full:
        done = subprocess.run([CSTRACE, *words], cwd=folder, stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=240)
    assert done.returncode == (2 if words[0] in ("diff", "expect") else 1)
    assert (done.stderr
            == "cstrace: cannot write the output: No space left on device\n")


@pytest.mark.parametrize("name, part", [
    ("folder", "it is a folder"), ("none/out", "No such file"),
    ("text/out", "Not a directory"), ("/dev/full", "not a regular file")])
def test_an_output_that_cannot_be_written(folder, name, part):
    done = cstrace(folder, "save", "--format", "txt", "run.cst", name)
    assert part in one_line(done, 1)
    done = cstrace(folder, "expect", "--make", "run.cst", name)
    assert part in one_line(done, 2)


@pytest.mark.parametrize("name, part", [
    ("folder", "not a regular file"), ("none/out.cst", "No such file"),
    ("/dev/full", "not a regular file"), ("app.c", "cstrace did not write it"),
    ("./app", "cstrace did not write it")])
@pytest.mark.parametrize("flight", [[], ["--flight", "1M"]])
def test_record_replaces_traces_and_nothing_else(folder, name, part, flight):
    before = (folder / "app.c").read_bytes()
    done = cstrace(folder, "record", *flight, "-o", name, "./app")
    assert part in one_line(done, 1)
    assert (folder / "app.c").read_bytes() == before
    assert os.access(folder / "app", os.X_OK)


@pytest.mark.parametrize("name, part", [
    ("./absent", "No such file"), ("./folder", "Is a directory"),
    ("./text", "Permission denied"), ("absent", "no such command"),
    ("app", "did you mean ./app?")])
def test_record_of_what_cannot_run(folder, name, part):
    done = cstrace(folder, "record", "-o", "new.cst", name)
    assert part in one_line(done, 1)
    assert not (folder / "new.cst").exists()


# ---- an empty answer -------------------------------------------------------


@pytest.mark.parametrize("words, line", [
    (["show", "run.cst", "nonesuch"], "no function matches 'nonesuch'"),
    (["report", "run.cst", "nonesuch"], "no function matches 'nonesuch'"),
    (["graph", "run.cst", "nonesuch"], "no function matches 'nonesuch'"),
    (["show", "--min-time", "90s", "run.cst"],
     "no such calls (min-time 90s)"),
    (["report", "--min-time", "90s", "run.cst"],
     "no such functions (min-time 90s)")])
def test_what_is_not_in_the_trace_is_said(folder, words, line):
    done = cstrace(folder, *words)
    assert done == (1, "", "cstrace: %s\n" % line)


@pytest.mark.parametrize("command", ["show", "report", "graph", "calls",
                                     "list"])
def test_the_trace_may_stand_behind_what_is_looked_for(folder, command):
    word = "1.2" if command == "list" else "leaf"
    done = cstrace(folder, command, "run.cst", word)
    assert done.status == 0 and done.out
    assert cstrace(folder, command, word, "run.cst") == done


def test_an_empty_file_is_said_to_be(folder):
    done = cstrace(folder, "save", "--filter", "nonesuch", "run.cst",
                   "none.txt")
    assert (done.status, done.err) \
        == (0, "cstrace: no function matches 'nonesuch'\n")


def test_a_trace_without_calls_is_said_to_be(folder):
    cstrace(folder, "record", "--hooks", "-o", "nothing.cst", "true")
    done = cstrace(folder, "show", "nothing.cst")
    assert (done.status, done.err) == (
        0, "cstrace: no calls recorded: `cstrace check PROGRAM' tells why\n")


def test_a_trace_of_samples_alone_is_said_to_be(folder):
    cstrace(folder, "record", "--sample", "--hooks", "-o", "samples.cst", "sh",
            "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done")
    done = cstrace(folder, "show", "samples.cst")
    assert done.status == 0 and re.search(
        "cstrace: no calls, but [0-9]+ samples?: `cstrace report' sums them up\n$",
        done.err)
