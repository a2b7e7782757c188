# SPDX-License-Identifier: MIT
"""The cstrace command: reading a trace without gdb, and starting gdb."""

import json
import os
import re
import signal
import subprocess

import pytest

from lib_build import ROOT
from lib_cstrace import CSTRACE, command, compile_c

SOURCE = """
static int leaf(int n) { return n + 1; }
static int branch(int n) { return leaf(n) + leaf(n + 1); }
int main(void) { return branch(1) + leaf(2) - 8; }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the program "app" and the trace of one run, "app.cst"."""
    folder = tmp_path_factory.mktemp("cli")
    compile_c(folder, "app", SOURCE)
    done = command(
        *("gdb", "-q", "-nx", "-batch", "-ex", "cstrace start", "-ex", "run"),
        *("-ex", "cstrace save app.cst", "--args", "./app", "1", "a b"),
        cwd=folder,
    )
    assert (folder / "app.cst").exists(), done.stdout + done.stderr
    return folder


def names(text):
    """The functions of a text tree with their depth: ("leaf", 2)."""
    rows = [line for line in text.splitlines() if not line.startswith("#")]
    calls = [re.search(r"( *)\b(main|branch|leaf)\b", row) for row in rows]
    first = len(calls[0].group(1))
    return [(c.group(2), (len(c.group(1)) - first) // 2) for c in calls]


TREE = [("main", 0), ("branch", 1), ("leaf", 2), ("leaf", 2), ("leaf", 1)]


def test_show_draws_the_tree(folder):
    done = command("show", "app.cst", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert names(done.stdout) == TREE


def test_show_writes_no_colour_into_a_pipe(folder):
    done = command("show", "app.cst", cwd=folder, env={"TERM": "xterm"})
    assert "\x1b" not in done.stdout
    done = command("show", "app.cst", "--color", "on", cwd=folder)
    assert "\x1b" in done.stdout


def test_show_takes_options_behind_the_file(folder):
    done = command("show", "app.cst", "--depth", "2", cwd=folder)
    assert names(done.stdout) == [("main", 0), ("branch", 1), ("leaf", 1)]


def test_show_with_a_regex_shows_what_matches_and_below(folder):
    done = command("show", "app.cst", "^branch", cwd=folder)
    assert names(done.stdout) == [("branch", 0), ("leaf", 1), ("leaf", 1)]


def test_report_has_a_row_for_each_function(folder):
    done = command("report", "app.cst", "--sort", "calls", cwd=folder)
    assert done.returncode == 0
    rows = [line for line in done.stdout.splitlines() if line.endswith("leaf")]
    assert len(rows) == 1 and "3" in rows[0].split()


def test_report_has_the_columns_and_the_order_asked_for(folder):
    done = command("report", "app.cst", "--fields", "calls,share", "--sort",
                   "calls,function", cwd=folder)
    lines = done.stdout.splitlines()
    assert lines[0] == "#    CALLS  SHARE  FUNCTION"
    assert [line.split()[0::2] for line in lines[1:]] == [
        ["3", "leaf"], ["1", "branch"], ["1", "main"]]


def test_report_has_a_row_for_each_thread(folder):
    done = command("report", "app.cst", "--by", "thread", cwd=folder)
    heading, row = done.stdout.splitlines()
    assert heading.endswith("  SHARE  THREAD") and row.split()[0] == "5"
    assert re.search(r" t1  app \(\d+\)$", row)
    done = command("report", "app.cst", "--by", "thread", "leaf", cwd=folder)
    assert one_line(done) == 2


def in_its_unit(ns):
    """The time `ns`, written in the largest unit that it is a whole number of."""
    size, unit = next((size, unit) for size, unit in [
        (10**9, "s"), (10**6, "ms"), (10**3, "us"), (1, "ns")] if ns % size == 0)
    return "%d%s" % (ns // size, unit)


def test_a_range_of_time_with_the_calls_around_it(folder):
    assert command("save", "app.cst", "r.jsonl", cwd=folder).returncode == 0
    starts = [json.loads(line)["start_ns"] for line in open(folder / "r.jsonl")]
    assert len(set(starts)) == 5  # no two at once

    def shown(how, *words):
        return command(how, "app.cst", *words, cwd=folder).stdout
    two = "..".join(in_its_unit(start) for start in starts[2:4])
    assert names(shown("show", "--range", two)) == TREE[:4]
    assert names(shown("show", "--range", "%dns.." % starts[3])) == [
        ("main", 0), ("branch", 1), ("leaf", 2), ("leaf", 1)]
    assert names(shown("show", "--range", "..%dns" % starts[1])) == TREE[:2]
    assert names(shown("show", "--range", two, "--filter", "leaf")) == [
        ("leaf", 0), ("leaf", 0)]
    rows = shown("report", "--range", two, "--fields", "calls").splitlines()
    assert [row.split() for row in rows[1:]] == [
        ["1", "main"], ["1", "branch"], ["2", "leaf"],
        ("# range %s: 4 of 5 calls" % two).split()]
    done = command("show", "app.cst", "--range", "1s..", cwd=folder)
    assert done.stderr == "cstrace: no such calls (range 1s..)\n"


@pytest.mark.parametrize("words", ["1", "2..1", "..", "1s..2x", "a.."])
def test_a_range_that_is_none(folder, words):
    done = command("show", "app.cst", "--range", words, cwd=folder)
    assert one_line(done) == 2 and "1.2s..1.4s" in done.stderr


def test_save_writes_json_lines(folder):
    done = command("save", "app.cst", "t.jsonl", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    calls = [json.loads(line) for line in open(folder / "t.jsonl")]
    assert [(c["function"], c["depth"]) for c in calls] == TREE
    assert [c["id"] for c in calls] == ["1.1", "1.2", "1.3", "1.4", "1.5"]
    assert [c["parent"] for c in calls] == [None, "1.1", "1.2", "1.2", "1.1"]


def test_save_takes_the_format_from_its_option(folder):
    done = command("save", "app.cst", "t.out", "--format", "txt", cwd=folder)
    assert done.returncode == 0
    assert names((folder / "t.out").read_text()) == TREE


def test_save_of_a_trace_can_be_read_again(folder):
    assert command("save", "app.cst", "copy.cst", cwd=folder).returncode == 0
    done = command("show", "copy.cst", "--timestamp", "off", cwd=folder)
    first = command("show", "app.cst", "--timestamp", "off", cwd=folder)
    assert done.stdout == first.stdout


def test_info_says_what_is_in_the_trace(folder):
    done = command("info", "app.cst", cwd=folder)
    assert done.returncode == 0
    assert re.search(r"^command +\S*app 1 ", done.stdout, re.M)
    assert re.search(r"^calls +5 \(0 open, 0 unwound", done.stdout, re.M)
    assert re.search(r"^threads +1 in 1 process$", done.stdout, re.M)
    assert re.search(r"^lost +none$", done.stdout, re.M)


@pytest.fixture(scope="module")
def recorded(folder):
    """A folder with the trace that `record` leaves when it is given no name,
    and a program of the name of one of its functions."""
    there = folder / "recorded"
    there.mkdir()
    (there / "branch").write_bytes((folder / "app").read_bytes())
    (there / "branch").chmod(0o755)
    assert command("record", "./branch", cwd=there).returncode == 0
    return there


def test_the_trace_of_record_is_read_where_none_is_named(recorded):
    assert names(command("show", cwd=recorded).stdout) == TREE
    assert "5 (0 open" in command("info", cwd=recorded).stdout
    assert command("report", "leaf", cwd=recorded).stdout.count("\n") == 2
    done = command("diff", "cstrace.cst", cwd=recorded)
    assert done.stdout.endswith("The flow is the same.\n")
    assert command("save", "t.jsonl", cwd=recorded).returncode == 0
    assert len(open(recorded / "t.jsonl").readlines()) == 5
    assert command("expect", "--make", "t.golden", cwd=recorded).returncode == 0
    assert command("expect", "t.golden", cwd=recorded).returncode == 0


def test_a_function_is_no_trace_though_there_is_such_a_file(recorded):
    done = command("show", "branch", cwd=recorded)
    assert names(done.stdout) == [("branch", 0), ("leaf", 1), ("leaf", 1)]


def test_a_trace_alone_is_shown(recorded):
    done = command("cstrace.cst", "--depth", 1, cwd=recorded)
    assert names(done.stdout) == [("main", 0)]


def test_what_save_lacks_is_said_when_a_trace_is_all_it_gets(recorded):
    done = command("save", "cstrace.cst", cwd=recorded)
    assert done.returncode == 2 and "something is missing" in done.stderr


def test_no_trace_named_and_none_left(folder):
    done = command("show", cwd=folder)
    assert done.stderr == ("cstrace: there is no cstrace.cst here: cstrace "
                           "record ./app makes it, or name a trace\n")


def one_line(done):
    assert done.stdout == ""
    assert done.stderr.startswith("cstrace") and done.stderr.count("\n") == 1
    return done.returncode


def test_failures_are_one_line_and_status_1(folder):
    (folder / "text.cst").write_text("no trace\n" * 100)
    assert one_line(command("show", cwd=folder)) == 1
    assert one_line(command("show", "absent.cst", cwd=folder)) == 1
    assert one_line(command("show", "text.cst", cwd=folder)) == 1
    assert one_line(command("info", "app.c", cwd=folder)) == 1
    assert one_line(command("save", "app.cst", "none/t.txt", cwd=folder)) == 1


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["diff"],
        ["show", "app.cst", "a", "b"],
        ["show", "app.cst", "--nonsense"],
        ["show", "app.cst", "--depth", "-1"],
        ["show", "app.cst", "--depth", "1x"],
        ["show", "app.cst", "--min-time", "10"],
        ["show", "app.cst", "--sort", "self"],
        ["show", "app.cst", "("],
        ["show", "app.cst", "--around", "1.99"],
        ["report", "app.cst", "--sort", "weight"],
        ["save", "app.cst"],
        ["save", "app.cst", "t.nonsense"],
    ],
)
def test_bad_usage_is_one_line_and_status_2(folder, words):
    assert one_line(command(*words, cwd=folder)) == 2


def test_no_command_prints_the_help_and_status_2():
    done = command()
    assert done.returncode == 2 and "usage: cstrace" in done.stderr


@pytest.mark.parametrize("word", ["gdb", "show", "report", "save", "info"])
def test_each_command_has_help(word):
    assert f"\n  {word} " in command("--help").stdout
    done = command(word, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"usage: cstrace {word} ")


def test_version_is_the_packages():
    text = (ROOT / "pyproject.toml").read_text()
    version = re.search(r'^version = "(.*)"$', text, re.M).group(1)
    first, licence, warranty = command("--version").stdout.splitlines()
    assert first == f"cstrace {version}"
    assert "GPL-3.0-or-later" in licence and "warranty" in warranty


def test_gdb_prints_the_same_version(gdb):
    version = command("--version").stdout.split()[1]
    assert f"version    {version}" in gdb(None, "cstrace status").lines()


def test_the_changelog_begins_with_this_version():
    """The page is of the version that the next release will have."""
    version = command("--version").stdout.split()[1]
    text = (ROOT / "CHANGELOG.md").read_text()
    assert re.search(r"^## (\S+)", text, re.M).group(1).rstrip(",") == version


def test_a_closed_pipe_ends_show_quietly(folder):
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        done = subprocess.run(
            [CSTRACE, "show", "app.cst"],
            cwd=folder,
            stdout=write_end,
            stderr=subprocess.PIPE,
            timeout=240,
            preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL),
        )
    finally:
        os.close(write_end)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_full_disk_is_told(folder):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [CSTRACE, "show", "app.cst"],
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=240,
        )
    assert done.returncode == 1
    assert done.stderr == "cstrace: cannot write the output: No space left on device\n"


def test_gdb_passes_all_arguments_on(folder):
    done = command(
        *("gdb", "-q", "-nx", "-batch", "-ex", "show args", "-ex", "help cstrace"),
        *("--args", "./app", "a b", "--version"),
        cwd=folder,
    )
    assert 'is "a\\ b --version"' in done.stdout
    assert "cstrace start" in done.stdout


def test_gdb_that_is_not_there_is_one_line(folder):
    environment = dict(os.environ, GDB="./no-gdb")
    assert one_line(command("gdb", cwd=folder, env=environment)) == 1
