# SPDX-License-Identifier: MIT
"""Rows as people read them, of a threaded C++ program: names, IDs, threads,
width, and what one can do with an ID."""

import os
import re
import shutil
import subprocess

import pexpect
import pytest

from lib_build import TARGETS, build
from lib_cstrace import CSTRACE, cstrace, record
from lib_gdb import environment
from lib_term import Terminal, end_of
from lib_tree import read_jsonl, rows

QUIET = "set cstrace live off"
LIMIT_S = 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With "shop.cst", and its calls as JSON lines in "shop.jsonl"."""
    folder = tmp_path_factory.mktemp("rows")
    done = cstrace(folder, "record", "-o", "shop.cst", build("shop.cc"))
    assert done.status == 0, done
    assert cstrace(folder, "save", "--std", "shop.cst",
                   "shop.jsonl").status == 0
    return folder


def show(folder, *words):
    done = cstrace(folder, "show", *words)
    assert done.status == 0, done
    return done.out


def width_of(line):
    return len(line.rstrip("\n"))


# ---- names --------------------------------------------------------------------

def test_names_are_simple_and_full_on_demand(folder):
    simple = show(folder, "shop.cst")
    assert "Queue<...>::take" in simple
    assert not re.search(r"<(?!\.\.\.>|- )[a-z:]", simple)
    full = show(folder, "--names", "full", "shop.cst")
    assert "shop::Queue<shop::Order>::take(shop::Order&)" in full
    assert len(full) > len(simple)


def test_rows_are_narrow(folder):
    lines = show(folder, "shop.cst").splitlines()
    wide = [line for line in lines if width_of(line) > 120]
    assert len(wide) <= len(lines) // 100, wide[:5]


def test_overloads_alone_have_parameters(folder):
    names = {row.text.split("  ")[0] for row in rows(show(folder, "shop.cst"))}
    assert {"Shop::serve(Order)", "Shop::serve(vector<...>)"} <= names
    assert "Shop::sale" in names


def test_variants_of_a_destructor_are_told_apart(folder):
    text = show(folder, "shop.cst", "Percent::~Percent")
    first, second = [row.text.split("  ")[0] for row in rows(text)][:2]
    assert first == "Percent::~Percent [deleting]"
    assert second == "Percent::~Percent"


def test_json_lines_have_both_names(folder):
    calls = read_jsonl(folder / "shop.jsonl")
    take = next(c for c in calls if c["name"] == "Queue<...>::take")
    assert take["function"] == "shop::Queue<shop::Order>::take(shop::Order&)"


def test_reports_and_formats_have_the_same_names(folder):
    for words in (("report", "shop.cst"), ("graph", "shop.cst"),
                  ("save", "--format", "folded", "shop.cst", "-")):
        simple = cstrace(folder, *words).out
        full = cstrace(folder, words[0], "--names", "full", *words[1:]).out
        assert "Queue<...>::take" in simple
        assert "<shop::Order>" not in simple
        assert "shop::Queue<shop::Order>::take" in full


def test_a_golden_tree_takes_either_name(folder):
    for name in ("Shop::sale", "shop::Shop::sale(*)"):
        (folder / "golden").write_text(
            "main\n  ...\n  %s\n    ...\n  ...\n" % name)
        done = cstrace(folder, "expect", "--thread", "1", "shop.cst", "golden")
        assert done.status == 0, done


def test_rows_with_ids_are_a_golden_tree_of_each_thread(folder):
    text = show(folder, "shop.cst")
    assert " t2 " not in text
    (folder / "ids.txt").write_text(text)
    done = cstrace(folder, "expect", "shop.cst", "ids.txt")
    assert done.status == 0, done
    # a call of thread 2 that it did not make
    (folder / "ids.txt").write_text(re.sub(
        r"^(.* )2\.(\d+)( .*Queue<...>::)take", r"\g<1>2.\2\3give", text, 1, re.M))
    done = cstrace(folder, "expect", "shop.cst", "ids.txt")
    assert done.status == 1, done


def test_gdb_has_the_setting_and_the_option(gdb):
    run = gdb(build("shop.cc"), QUIET, "cstrace start", "run",
              "cstrace show -last 60", "echo --\\n",
              "cstrace show -names full -last 60", "echo --\\n",
              "set cstrace names full", "cstrace show -last 60",
              "show cstrace names")
    simple, option, setting = run.out.split("--\n")
    assert "  Shop::print  " in simple
    assert "shop::Shop::print(" in option and "shop::Shop::print(" in setting
    assert setting.endswith("names: full\n")


# ---- threads ------------------------------------------------------------------

def test_tags_are_explained_once_and_columns_line_up(folder):
    text = show(folder, "shop.cst")
    notes = re.findall(r"^# (t\d): \S+ \(\d+\), IDs \d.N$", text, re.M)
    assert sorted(notes) == ["t1", "t2", "t3"] and notes[0] == "t1"
    # rows() checks that each tag is explained before, and the columns
    assert {row.tag for row in rows(text)} == {"t1", "t2", "t3"}


def test_live_columns_line_up_from_the_first_row_on(gdb):
    """Threads come after the first rows were written."""
    run = gdb(build("shop.cc"), "break shop::Clerk::Clerk", "cstrace start",
              "run", "delete", "continue")
    drawn = rows(run.out)
    assert drawn[0].tag == "" and {"t1", "t2", "t3"} <= {r.tag for r in drawn}
    assert len({row.first for row in drawn}) == 1


def test_threads_can_be_left_out(folder):
    text = show(folder, "--no-thread", "shop.cst")
    assert not re.search(r"\bt\d\b", text)
    text = show(folder, "--no-thread", "--no-id", "shop.cst")
    assert not re.search(r"\bt\d\b", text)
    text = show(folder, "--no-thread", "shop.cst")
    assert {row.id.split(".")[0] for row in rows(text)} == {"1", "2", "3"}


def test_status_tells_who_is_who(gdb):
    run = gdb(build("shop.cc"), QUIET, "cstrace start", "run",
              "cstrace status")
    assert len(re.findall(r"^ +t[123]: \S+ \(\d+\)$", run.out, re.M)) == 3


# ---- IDs ----------------------------------------------------------------------

def test_rows_have_ids_but_not_saved_ones(folder):
    shown = [row.id for row in rows(show(folder, "--std", "shop.cst"))]
    assert shown == [call["id"] for call in read_jsonl(folder / "shop.jsonl")]
    assert not any(r.id for r in rows(show(folder, "--no-id", "shop.cst")))
    saved = cstrace(folder, "save", "--format", "txt", "shop.cst", "-").out
    assert not any(row.id for row in rows(saved))
    saved = cstrace(folder, "save", "--id", "--format", "txt", "shop.cst",
                    "-").out
    assert all(row.id for row in rows(saved))


def sale_of(text):
    return next(row.id for row in rows(text)
                if row.text.startswith("Shop::sale"))


def test_show_id_is_that_call_and_below(folder):
    whole = show(folder, "shop.cst")
    id = sale_of(whole)
    part = rows(show(folder, "shop.cst", id))
    assert part[0].id == id and part[0].depth == 0
    assert len(part) > 1 and all(row.depth for row in part[1:])
    assert cstrace(folder, "show", "shop.cst", "9.9").status != 0


def test_show_id_in_gdb(gdb):
    run = gdb(build("shop.cc"), QUIET, "cstrace start", "run",
              "cstrace show -last 0", "echo --\\n", "cstrace show 1.1",
              "cstrace show 9.9")
    whole, one = run.out.split("--\n")
    assert rows(one)[0].id == "1.1"
    assert "no thread 9 in this trace" in one


def test_around_a_hidden_call_is_said_how_to_see_it(folder, gdb):
    shown = {row.id for row in rows(show(folder, "shop.cst"))}
    every = {row.id for row in rows(show(folder, "--std", "shop.cst"))}
    hidden = min(every - shown)
    told = ("call %s is the C++ library's or a system header's, which %%s "
            "shows\n" % hidden)
    done = cstrace(folder, "show", "--around", hidden, "shop.cst")
    assert (done.status, done.out) == (2, "")
    assert done.err == "cstrace: " + told % "--std"
    run = gdb(build("shop.cc"), "cstrace load %s" % (folder / "shop.cst"),
              "cstrace show -around " + hidden)
    assert told % "`set cstrace std on`" in run.out


def test_at_a_time_the_calls_around_it_are_shown(folder):
    whole = rows(show(folder, "shop.cst"))
    middle = whole[len(whole) // 2]
    line = next(line for line in show(folder, "shop.cst").splitlines()
                if re.search(r"(?:s|open) +(?:t\d+ +)?%s "
                             % re.escape(middle.id), line))
    start = line.split()[0]
    around = rows(show(folder, "--at", start, "shop.cst"))
    assert middle.id in [row.id for row in around]
    assert 10 < len(around) < 60
    assert rows(show(folder, "--at", "0s", "shop.cst"))[0].id == whole[0].id
    last = rows(show(folder, "--at", "999s", "shop.cst"))
    assert last[-1].id == whole[-1].id
    assert cstrace(folder, "show", "--at", "soon", "shop.cst").status == 2


def test_list_shows_the_call_and_the_function(gdb, tmp_path):
    run = gdb(build("calls.c"), QUIET, "cstrace start", "run",
              "cstrace list 1.2", "cstrace list", "cstrace list 1.99",
              "cstrace save t.cst")
    assert re.search(r"^spread was called at /.*/calls\.c:47$", run.out, re.M)
    assert re.search(r"^47\t.*spread\(", run.out, re.M)
    assert re.search(r"^spread is at /.*/calls\.c:\d+$", run.out, re.M)
    assert re.search(r"^\d+\t.* spread\(", run.out, re.M)
    assert "cstrace list: which call?  As in: cstrace list 1.42" in run.out
    assert "no call 1.99 in this trace" in run.out
    # The trace alone finds the source as well, in gdb and by the command.
    for text in (gdb(None, "cstrace load t.cst", "cstrace list 1.2").out,
                 cstrace(tmp_path, "list", "t.cst", "1.2").out):
        assert re.search(r"^47\t.*spread\(", text, re.M)
        assert re.search(r"^spread is at /.*/calls\.c:\d+\n.*\n\d+\t.* spread\(",
                         text, re.M)


# ---- width --------------------------------------------------------------------

def on_terminal(folder, *words, columns=60, **env):
    child = pexpect.spawn(
        CSTRACE, ["show", *words], cwd=str(folder), timeout=LIMIT_S,
        env=environment(folder, TERM="xterm", **env),
        dimensions=(200, columns), encoding="utf-8")
    child.expect(pexpect.EOF)
    end_of(child)
    return re.sub(r"\x1b\[[0-9;]*m", "", child.before).replace("\r\n", "\n")


def test_rows_are_cut_to_the_terminal_and_whole_in_a_pipe(folder):
    cut = on_terminal(folder, "--no-pager", "--last", "40", "shop.cst")
    lines = [line for line in cut.splitlines() if not line.startswith("#")]
    assert max(map(width_of, lines)) == 60
    assert any(line.endswith("...") for line in lines)
    whole = show(folder, "--last", "40", "shop.cst")
    assert max(map(width_of, whole.splitlines())) > 60
    assert not re.search(r"\.\.\.$", whole, re.M)


def test_less_chops_rows_and_has_them_whole(folder):
    seen = on_terminal(folder, "--last", "40", "shop.cst",
                       CSTRACE_PAGER="cat; echo LESS=$LESS")
    assert re.search(r"^LESS=.*S", seen, re.M)
    assert max(map(width_of, seen.splitlines())) > 60


def test_gdb_cuts_live_rows_and_shown_ones(tmp_path):
    with Terminal(tmp_path, build("calls.c"), columns=49,
                  commands=("set height 0",)) as t:
        t.ask("cstrace start")
        live = t.ask("run")
        shown = t.ask("cstrace show")
        t.ask("set width 0")
        whole = t.ask("cstrace show")
    for text in (live, shown):
        # There is no room for START.
        assert re.search(r"^# +DURATION +ID +CALL", text, re.M)
        found = [line for line in text.splitlines()
                 if re.match(r" *[\d.]+ [mnu]?s  1\.\d+ ", line)]
        # gdb leaves the last column of a dumb terminal
        assert max(map(width_of, found)) in (48, 49)
        assert any(line.endswith("...") for line in found)
    assert max(map(width_of, whole.splitlines())) > 50


def test_deep_calls_tell_their_depth(tmp_path):
    (tmp_path / "deep.c").write_text(
        "int f(int n) { return n ? f(n - 1) + 1 : 0; }\n"
        "int main(void) { return f(120) != 120; }\n")
    subprocess.run(["gcc", "-g", "-finstrument-functions", "deep.c", "-o",
                    "deep"], cwd=tmp_path, check=True)
    cstrace(tmp_path, "record", "-o", "t.cst", "--", "./deep")
    text = show(tmp_path, "t.cst")
    assert max(map(width_of, text.splitlines())) < 125
    assert [row.depth for row in rows(text)] == list(range(122))
    bare = ("--timestamp", "off", "--no-duration", "--no-id")
    (tmp_path / "golden").write_text(show(tmp_path, *bare, "t.cst"))
    assert cstrace(tmp_path, "expect", "t.cst", "golden").status == 0


# ---- links --------------------------------------------------------------------

def test_places_are_links_where_the_terminal_knows_them(folder):
    link = "\x1b]8;;file://"
    words = ("--no-pager", "--last", "9", "shop.cst")
    assert link not in on_terminal(folder, *words, columns=200)
    known = on_terminal(folder, *words, columns=200, VTE_VERSION="7000")
    assert re.search(r"\x1b\]8;;file://[^/]*/\S*/shop\.cc\x1b\\shop\.cc:\d+"
                     r"\x1b\]8;;\x1b\\", known)
    assert link not in on_terminal(folder, "--links", "off", *words,
                                   VTE_VERSION="7000")
    saved = cstrace(folder, "save", "--format", "txt", "shop.cst", "-").out
    assert "\x1b" not in saved


def relative(folder):
    """A trace of a program that was compiled as make does, with files and
    folders relative to the folder of the Makefile."""
    source = folder / "src"
    source.mkdir()
    shutil.copy(TARGETS / "calls.c", source / "calls.c")
    subprocess.run("gcc -g -finstrument-functions ./src/calls.c -o app".split(),
                   cwd=folder, check=True, timeout=LIMIT_S)
    record(folder, "t.cst", "app")
    return source / "calls.c"


def test_a_relative_place_is_a_link_to_the_file_that_is_there(tmp_path):
    source = relative(tmp_path)
    words = ("--links", "on", "--no-pager", "t.cst")
    assert "file://%s%s\x1b" % (os.uname().nodename, source) \
        in on_terminal(tmp_path, *words, columns=200)
    live = pexpect.run(
        CSTRACE + " live --links on ./app", cwd=str(tmp_path),
        timeout=LIMIT_S, encoding="utf-8", env=environment(tmp_path))
    assert "file://%s%s\x1b" % (os.uname().nodename, source) in live
    source.unlink()
    assert "calls.c:47" in on_terminal(tmp_path, *words, columns=200)
    assert str(source) not in on_terminal(tmp_path, *words, columns=200)


def test_the_command_lists_a_relative_source(tmp_path):
    source = relative(tmp_path)
    done = cstrace(tmp_path, "list", "t.cst", "1.2")
    assert (done.status, done.err) == (0, "")
    assert "spread was called at %s:47\n" % source in done.out
    assert "cstrace list: which call?" in cstrace(tmp_path, "list", "t.cst").err
    assert cstrace(tmp_path, "list", "1.2").err \
        == "cstrace: there is no cstrace.cst here: cstrace record ./app makes" \
           " it, or name a trace\n"
    assert cstrace(tmp_path, "list", "t.cst", "1.99").status == 2
    (tmp_path / "t.cst").rename(tmp_path / "cstrace.cst")
    assert cstrace(tmp_path, "list", "1.2") == done
    source.unlink()
    done = cstrace(tmp_path, "list", "1.2")
    assert done.status == 1
    assert "spread was called at ./src/calls.c:47\n" in done.out
    assert "cannot read './src/calls.c': No such file" in done.err


def test_links_in_gdb(gdb):
    run = gdb(build("calls.c"), "set cstrace links on", "cstrace start", "run")
    assert "\x1b]8;;file://" in run.out
