# SPDX-License-Identifier: MIT
"""`cstrace zoom`: gdb prints the arguments of chosen calls into the tree."""

import json
import re

import pytest

from lib_build import FOUR, build
from test_commands import refusal

QUIET = "set cstrace live off"


def logged(run):
    return re.findall(r" zoom: (\w.*)$", run.out, re.M)


@pytest.mark.parametrize("variant", FOUR, ids=str)
def test_arguments_stand_beneath_their_call(gdb, variant):
    run = gdb(build("visits.c", variant=variant), QUIET,
              "cstrace zoom /^(visit|leaf)$/", "cstrace start", "run",
              "cstrace zoom", "set cstrace fold off", "cstrace show")
    assert logged(run)[:4] == ["visit(n=0)", "leaf(n=0)", "visit(n=1)",
                               "leaf(n=1)"]
    assert logged(run)[-1] == "leaf(n=100)"
    assert re.search(r"1\.2 +visit  .*\n.* 1\.3 +zoom: visit\(n=0\)\n"
                     r".* 1\.4 +leaf  ",
                     run.out)
    assert re.search(r"^cstrace: zoom on /\^\(visit\|leaf\)\$/: 12 calls so "
                     r"far, \S+ \S+ each$", run.out, re.M)
    assert "exited normally" in run.out


def test_only_calls_that_meet_the_conditions(gdb):
    run = gdb(build("visits.c"), QUIET, "cstrace zoom leaf -under down",
              "cstrace start", "run", "cstrace show")
    assert logged(run) == ["leaf(n=100)"]


def test_the_users_pretty_printers(gdb, tmp_path):
    script = tmp_path / "printer.py"
    script.write_text(
        "import gdb\n"
        "class Printer:\n"
        "    def __init__(self, value): self.value = value\n"
        "    def to_string(self):\n"
        "        return 'price of %d' % int(self.value['cents_'])\n"
        "gdb.pretty_printers.append(lambda v: Printer(v) if v.type.unqualified"
        "().strip_typedefs().name == 'shop::Price' else None)\n")
    run = gdb(build("shop.cc"), QUIET, "source %s" % script,
              "cstrace zoom Shelf::add -count 1", "cstrace start", "run",
              "cstrace show -filter Shelf::add")
    assert len(logged(run)) == 1
    assert re.match(r"shop::Shelf::add\(this=0x[0-9a-f]+, name=\"\w+\", stock=\d+, "
                    r"price=price of \d+\)", logged(run)[0])


def test_a_budget_ends_it(gdb):
    run = gdb(build("visits.c"), QUIET, "cstrace zoom visit -budget 3",
              "cstrace start", "run", "cstrace show", "cstrace zoom", "run",
              "cstrace zoom -off", "cstrace zoom -off")
    line = ("zoom on visit ends in this run: 3 calls, as many as its budget "
            "(-budget N)")
    assert run.said().count(line) == 2  # in each run
    assert logged(run) == ["visit(n=0)", "visit(n=1)", "visit(n=2)"]
    assert "its budget is spent" in run.out
    assert run.said()[-2:] == ["zoom is off", "no zoom: `cstrace zoom REGEX` "
                               "sets one"]


def test_its_time_is_bounded_too(gdb):
    run = gdb(build("visits.c"), QUIET, "set cstrace log-budget 1us",
              "cstrace zoom visit", "cstrace start", "run", "cstrace show")
    assert re.search(r"zoom on visit ends in this run: 1 call took .* "
                     r"\(`set cstrace log-budget`\)$", run.out, re.M)
    assert len(logged(run)) == 1


def test_a_new_one_takes_the_place_of_the_old(gdb):
    run = gdb(build("visits.c"), QUIET, "cstrace zoom leaf",
              "cstrace zoom down", "cstrace start", "run", "cstrace show")
    assert logged(run) == ["down(n=%d)" % n for n in (3, 2, 1, 0)]


@pytest.mark.parametrize("command, line", [
    ("cstrace zoom -under main", "cstrace zoom: on which functions?  As in: "
     "cstrace zoom parse -under main"),
    ("cstrace zoom leaf -off", "cstrace zoom: -off stands alone"),
    ("cstrace zoom leaf -budget 0", "cstrace: -budget: 0 calls are none; -off "
     "ends it"),
    ("cstrace zoom leaf -budget few", 'cstrace: -budget wants a number, not '
     '"few"'),
    ("cstrace zoom leaf -fast", "cstrace zoom: no option -fast; there is "
     "-under, -depth, -count, -where, -results, -budget, -off"),
    ("cstrace zoom", "cstrace: no zoom: `cstrace zoom REGEX` sets one"),
])
def test_a_mistake_is_one_line(gdb, command, line):
    assert refusal(gdb, command) == line


def test_files_say_that_it_was_zoom(gdb, tmp_path):
    saved = [tmp_path / n for n in ("t.jsonl", "t.json", "t.speedscope.json")]
    gdb(build("visits.c"), QUIET, "cstrace zoom leaf -under down",
        "cstrace start", "run", *("cstrace save %s" % p for p in saved))
    calls = [json.loads(line) for line in saved[0].read_text().splitlines()]
    assert [(c["name"], c["text"]) for c in calls
            if c.get("kind") == "zoom"] == [("leaf", "leaf(n=100)")]
    events = json.loads(saved[1].read_text())["traceEvents"]
    assert [e["name"] for e in events
            if e.get("cat") == "zoom"] == ["leaf(n=100)"]
    assert '"zoom: leaf(n=100)"' in saved[2].read_text()


@pytest.mark.parametrize("variant", FOUR, ids=str)
def test_results_stand_behind_their_call(gdb, variant):
    run = gdb(build("visits.c", variant=variant), QUIET,
              "cstrace zoom /^(visit|down)$/ -under down -results",
              "cstrace start", "run", "set cstrace fold off", "cstrace show",
              "cstrace zoom")
    assert logged(run) == [
        "down(n=2)", "down(n=1)", "down(n=0)", "visit(n=100)", "visit = 300",
        "down = 301", "down = 302", "down = 303"]
    # Beside the call that has returned, and below its caller.
    assert re.search(r"^.*? 1\.\d+( +)visit  .*\n(.*\n){2}.*? 1\.\d+\1"
                     r"zoom: visit = 300$", run.out, re.M)
    assert "so far" in run.out and "exited normally" in run.out


def test_results_of_calls_that_are_left_are_none(gdb):
    run = gdb(build("visits.c"), QUIET, "cstrace zoom risky -results",
              "cstrace start", "run", "cstrace show", args=("jumps",))
    assert logged(run) == ["risky(n=0)", "risky = 0", "risky(n=1)",
                           "risky = 1", "risky(n=2)", "risky(n=3)",
                           "risky = 3"]
    assert "exited normally" in run.out


def test_a_budget_ends_results_too(gdb):
    run = gdb(build("visits.c"), QUIET, "cstrace zoom leaf -results -budget 2",
              "cstrace start", "run", "cstrace show")
    assert logged(run)[:3] == ["leaf(n=0)", "leaf = 0", "leaf(n=1)"]
    assert len(logged(run)) <= 4 and "exited normally" in run.out
