# SPDX-License-Identifier: MIT
"""Logpoints at the entry of functions that ask only for what is recorded of a
call: no breakpoint, the reader writes their texts."""

import json
import re
import subprocess

import pytest

from lib_build import ROOT, build
from lib_cstrace import cstrace

HAS_VALUES = True
IN_PLACE = "in place: the program does not stop"


def rows(text):
    """The texts of logpoints in a tree."""
    return re.findall(r" log: (.*?)(?:  \S+:\d+)?$", text, re.M)


def saved(gdb, tmp_path, *commands, run="run"):
    """gdb's output, and the texts in the tree that it saved."""
    done = gdb(build("logged.c"), "set cstrace live off", *commands, run,
               "cstrace save t.txt", "info cstrace-log")
    return done, rows((tmp_path / "t.txt").read_text())


@pytest.mark.parametrize("way", ["", " if 1"])
def test_no_span_is_a_caller(gdb, way):
    """In place and by a breakpoint."""
    run = gdb(build("spanned.c", "-DCSTRACE",
                    "-I%s" % (ROOT / "cshim/include")), "set cstrace live off",
              "cstrace log work, for {$caller}" + way, "cstrace start", "run",
              "info cstrace-log", "cstrace show")
    assert (IN_PLACE in run.out) == (not way)
    assert rows(run.out) == ["for outer"] * 2


def test_a_signature_that_is_no_regex(gdb):
    """It has "**" in it."""
    run = gdb(build("operators.cc"), "set cstrace live off",
              "cstrace log has_words, {n}", "cstrace start", "run 1 1", "info cstrace-log", "cstrace show",
              "cstrace show has_words(int, char**)")
    assert IN_PLACE in run.out and "regex" not in run.out
    assert rows(run.out) == ["3"] * 2


@pytest.mark.parametrize("template", [
    "{l} {u} {n}", "{l:x} {l:u} {l:o} {l:d} {u:x} {u:o}", "{text} {text:s}",
    "{c} {b}", "{at.x} {at.y:x}", "{$caller} {$depth} {$thread} {{}}"])
def test_the_text_is_that_of_a_breakpoint(gdb, tmp_path, template):
    """Where nothing but the way differs."""
    function = "count" if "{n}" in template else "mix"
    template = template.replace(" {n}", "") if function == "mix" else "{n}"
    log = "cstrace log %s, %s" % (function, template)
    done, in_place = saved(gdb, tmp_path, log, "cstrace start")
    assert IN_PLACE in done.out
    assert "2 hits so far" in done.out
    done, stopped = saved(gdb, tmp_path, "set cstrace args off", "cstrace start",
                          log + " {sum - sum}")
    assert IN_PLACE not in done.out
    assert [text + " 0" for text in in_place] == stopped
    assert len(in_place) == 2


def test_conditions(gdb, tmp_path):
    done, texts = saved(gdb, tmp_path, "cstrace start",
                        "cstrace log mix, a {l} if l < 0 && u == 200",
                        "cstrace log mix, b {l} if c == BLUE || l == -3",
                        "cstrace log mix, c {l} if b",
                        "cstrace log mix, d {l} if !b && nothing == 0",
                        "cstrace log mix, e {l} if at.x >= 4")
    assert done.out.count(IN_PLACE) == 10  # set, and listed
    assert sorted(texts) == ["a -3", "b -3", "b 5", "c -3", "d 5", "e -3"]
    assert "each time that it gets there; 1 hit in 2 times so far" in done.out


@pytest.mark.parametrize("what, why", [
    ("mix, {l + 1}", "gdb evaluates {l + 1}"),
    ("mix, {sum}", "mix() has no value 'sum'"),
    ("mix, {l:t}", "gdb writes {l:t}"),
    ("mix, {c:d}", "gdb writes {c:d}"),
    ("logged.c:27, {n}", "logged.c:27 is no function's name"),
    ("logged.c:count, {n}", "logged.c:count is no function's name"),
    ("mix, {l} if l % 2", 'gdb decides "l % 2"'),
    ("mix, {l} if u > -1", 'gdb decides "u > -1"'),
    ("mix, {l} if text == \"x\"", "gdb decides"),
])
def test_anything_else_is_a_breakpoint_and_says_why(gdb, what, why):
    run = gdb(build("logged.c"), "cstrace start", "cstrace log " + what,
              "info cstrace-log")
    assert run.out.count("by a breakpoint: " + why) == 2, run.out


def test_a_hot_function_has_no_budget(gdb, tmp_path):
    done, texts = saved(gdb, tmp_path, "set cstrace log-budget 1ms", "cstrace start",
                        "cstrace log tick, {n}", run="run hot 20000")
    assert texts == [str(n) for n in range(20000)]
    assert "is disabled" not in done.out
    assert re.search(r"^ +\S+ [mun]s a hit; 20000 hits so far$", done.out, re.M)


def test_disabled_enabled_deleted_while_it_runs(gdb, tmp_path):
    gdb(build("logged.c"), "cstrace start", "cstrace log tick, {n}",
              "cstrace log tick, two {n}", "break tick if n == 2",
              "break tick if n == 4", "break tick if n == 6", "run hot 8",
              "disable cstrace-log 1", "continue", "enable cstrace-log 1",
              "delete cstrace-log 2", "continue", "delete cstrace-log",
              "continue", "cstrace save t.txt")
    texts = rows((tmp_path / "t.txt").read_text())
    # The call that it stops in has been recorded by then, or not.
    assert [t for t in texts if "two" in t][:3] == ["two 0", "two 1", "two 2"]
    assert "3" not in texts and "7" not in texts and "5" in texts
    assert "two 3" in texts and "two 5" not in texts


def test_the_list_says_what_the_user_wants(gdb):
    """Its breakpoint is off while it is in place."""
    run = gdb(build("logged.c"), "cstrace start", "cstrace log tick, {n}",
              "break tick", "run", "info cstrace-log",
              "disable cstrace-log 1", "info cstrace-log")
    assert re.findall("^1    ([yn])    in tick", run.out, re.M) == ["y", "n"]
    assert IN_PLACE in run.out


def test_settings_in_the_middle(gdb, tmp_path):
    """Where the arguments are gone, the breakpoint is back."""
    run = gdb(build("logged.c"), "cstrace start", "cstrace log tick, {n}",
              "break tick if n == 2", "break tick if n == 5", "run hot 8",
              "set cstrace args off", "info cstrace-log", "continue",
              "set cstrace args on", "info cstrace-log", "continue",
              "cstrace save t.txt", "cstrace stop", "info cstrace-log")
    assert rows((tmp_path / "t.txt").read_text()) == [str(n) for n in range(8)]
    ways = re.findall(r"^ +((?:in place|by a).*)$", run.out, re.M)
    assert ways == [
        "by a breakpoint: the trace has no arguments of it", IN_PLACE,
        "in place while a trace is on, else by a breakpoint"]


def test_without_a_trace_it_is_a_breakpoint(gdb):
    run = gdb(build("logged.c"), "cstrace log count, {n}", "run", "cstrace start",
              "run", "cstrace show", "cstrace stop", "run")
    assert "in place while a trace is on, else by a breakpoint" in run.out
    assert re.findall(r"^log 1: (\S+)$", run.out, re.M) == ["-3", "5"] * 2
    assert rows(run.out).count("-3") == 2  # live, and shown


def test_what_is_not_recorded_has_a_breakpoint(gdb, tmp_path):
    for words in ("-exclude tick", "-keep-size 9999", "-no-args"):
        done, texts = saved(gdb, tmp_path, "cstrace start " + words,
                            "cstrace log tick, {n}", run="run hot 3")
        assert "by a breakpoint: the trace " in done.out
        assert texts == ["0", "1", "2"], words


def test_a_child_has_it_too(gdb, tmp_path):
    _, texts = saved(gdb, tmp_path, "cstrace start", "cstrace log count, {n} {$thread}",
                     run="run fork")
    assert texts == ["7 p2:t1", "-3 t1", "5 t1"] or sorted(texts) == [
        "-3 t1", "5 t1", "7 p2:t1"]


def test_the_rows_stand_in_their_calls(gdb, tmp_path):
    """At the time of the call, first of what is in it, in order."""
    gdb(build("logged.c"), "set cstrace live off", "cstrace start",
              "cstrace log mix, {l}", "cstrace log count, {n}", "run",
              "cstrace save t.jsonl", "cstrace save t.cst")
    all_ = [json.loads(line) for line in
            (tmp_path / "t.jsonl").read_text().splitlines()]
    by_id = {one["id"]: one for one in all_}
    messages = [one for one in all_ if one.get("kind") == "log"]
    assert [m["text"] for m in messages] == ["-3", "-3", "5", "5"]
    for m in messages:
        call = by_id[m["parent"]]
        assert call["start_ns"] == m["start_ns"]
        assert int(m["id"].split(".")[1]) == int(call["id"].split(".")[1]) + 1
    assert [by_id[m["parent"]]["name"] for m in messages] == [
        "mix", "count"] * 2
    assert rows(cstrace(tmp_path, "show", "t.cst").out) == [
                "-3", "-3", "5", "5"]


def test_the_text_is_in_each_format(gdb, tmp_path):
    """Logpoints of both kinds, but where all is functions."""
    names = ["t." + ending for ending in
             ("txt", "jsonl", "json", "otlp.json", "speedscope.json", "ctf",
              "html")]
    gdb(build("logged.c"), "set cstrace live off", "cstrace start",
        "cstrace log mix, mix {l}", "cstrace log count, count {n + 0}", "run",
        *("cstrace save " + name for name in names))
    said = ["mix -3", "count -3", "mix 5", "count 5"]
    dump = subprocess.run(["babeltrace2", "t.ctf"], cwd=tmp_path, text=True,
                          check=True, stdout=subprocess.PIPE).stdout
    assert re.findall(r'cstrace:log: .* text = "(.*?)", file = "logged.c"',
                      dump) == said
    shapes = json.loads((tmp_path / "t.speedscope.json").read_text())
    frames = [f["name"] for f in shapes["shared"]["frames"]]
    assert [frames[e["frame"]] for p in shapes["profiles"]
            for e in p["events"]
            if e["type"] == "O" and "log: " in frames[e["frame"]]] == [
                "log: " + text for text in said]
    spans = json.loads((tmp_path / "t.otlp.json").read_text())
    assert sorted(event["name"] for r in spans["resourceSpans"]
                  for s in r["scopeSpans"] for span in s["spans"]
                  for event in span.get("events", ())) == sorted(said)
    assert rows((tmp_path / "t.txt").read_text()) == said
    for name in ("t.jsonl", "t.json"):
        text = (tmp_path / name).read_text()
        assert all('"%s"' % one in text for one in said), name
