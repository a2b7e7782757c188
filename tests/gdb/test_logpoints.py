# SPDX-License-Identifier: MIT
"""Logpoints: `cstrace log LOCATION, TEMPLATE [if COND]` puts a text into the
tree and never stops the program."""

import re

import pytest

from lib_build import TARGETS, build
from lib_cstrace import cstrace
from lib_gdb import setting_registers

QUIET = "set cstrace live off"
SHOP = (TARGETS / "shop.cc").read_text().splitlines()


def line_of(text):
    """The place of this line of the shop, for a LOCATION."""
    return "shop.cc:%d" % (1 + next(i for i, line in enumerate(SHOP)
                                    if text in line))


def logged(text):
    """The rows of logpoints in a tree: (blanks before it, text)."""
    return [(len(m[1]), m[2])
            for m in re.finditer(r"^#?.*?( +)log: (.*?)(?:  \S+:\d+)?$", text,
                                 re.M)]


def test_without_a_trace_the_text_goes_to_the_console(gdb):
    run = gdb(build("shop.cc"), "cstrace log %s, order {number} by {$caller}"
              % line_of("Order order(number);"), "run 1 3")
    assert re.findall(r"^log 1: (.*)$", run.out, re.M) == [
        "order %d by main" % n for n in range(4)]
    assert "logpoint 1 in shop::make_order at shop.cc:" in run.out


def test_values_in_all_forms(gdb):
    run = gdb(build("shop.cc"), "set $ready = 7",
              "cstrace log %s, {name}|{name:s}|{stock:x}|{price}|{{{stock}}}|"
              "{this->items_.size() + 1}|{$ready}"
              % line_of("items_[name] ="),
              "cstrace log %s, {argv[0]:s} {argc:d} {$depth} {*(int *) 0}"
              % line_of("shop.sale(10)"), "run 1 1")
    first = re.findall(r"^log 1: (.*)$", run.out, re.M)[0]
    assert first == '"apple"|apple|0x28|{cents_ = 35}|{40}|1|7'
    second = re.findall(r"^log 2: (.*)$", run.out, re.M)[0]
    assert re.fullmatch(r"/\S+ 3 \? <Cannot access memory at address 0x0>",
                        second)


def test_a_condition_and_a_text_with_its_word(gdb):
    at = line_of("order.add(\"apple\"")
    run = gdb(build("shop.cc"),
              "cstrace log %s, {number} if number %% 2 == 1" % at,
              'cstrace log %s, "odd if {number}" if number == 3' % at,
              "run 1 4", "info cstrace-log")
    assert re.findall(r"^log (\d): (.*)$", run.out, re.M) == [
        ("1", "1"), ("1", "3"), ("2", "odd if 3")]
    assert "only if number == 3" in run.out
    assert re.search(r"^ +\S+ [mun]s each time that it gets there; 2 hits in "
                     r"5 times so far$", run.out, re.M)


@pytest.mark.parametrize("text, why", [
    ("shop::make_order, {nosuch}", '{nosuch}: No symbol "nosuch" in current '
     "context."),
    ("shop::make_order, {number +}", "{number +}: A syntax error"),
    ("shop::make_order, {number", '"{number" has no }'),
    ("shop::make_order, number}", "a } without {"),
    ("shop::make_order, {}", "{} names no expression"),
    ("shop::make_order", 'has no template behind a comma'),
    ("shop::make_ordr, x", 'Function "shop::make_ordr" not defined'),
    ("shop.cc:99999, x", "No line 99999 in file"),
    ("shop::make_order, {number:q}", "q is no format: these are x, d, u"),
    ("shop::make_order, {$calle}", "{$calle}: $calle has no value; cstrace "
     "knows $caller, $depth, $thread"),
    ("shop::make_order, {number} if", 'no condition stands behind "if"'),
    (", x", "there is no location before the comma"),
    ("-function shop::make_ordr, x", "shop::make_ordr"),
    ("shop::make_order, x if q", 'if q: No symbol "q" in current context.'),
])
def test_what_cannot_work_is_refused_with_the_reason(gdb, text, why):
    run = gdb(build("shop.cc"), "cstrace log " + text, "info cstrace-log")
    assert why in run.out
    assert "no logpoints" in run.out


@pytest.mark.parametrize("place", [
    "-function shop::make_order", "-source shop.cc -line 1"])
def test_explicit_places(gdb, place):
    """`break` takes them, too."""
    run = gdb(build("shop.cc"), "cstrace log %s, here" % place.replace(
        "-line 1", "-line " + line_of("Order order(number);")[8:]), "run 1 3")
    assert re.findall(r"^log 1: (.*)$", run.out, re.M) == ["here"] * 4


def test_operators(gdb):
    run = gdb(build("operators.cc"),
              "cstrace log Cents::operator==, equal {c.n}",
              "cstrace log Cents::operator(), call {k}",
              "cstrace log Cents::operator(), {this->nothing}",
              "cstrace log Cents::operator[], at {k}",
              "cstrace log Cents::operator int, to int {n}",
              "cstrace log Box<Cents>::put(Cents const&, int), put {c.n}, {k}",
              "run")
    assert ("{this->nothing}: There is no member named nothing."
            in run.out)
    assert re.findall(r"^log \d: (.*)$", run.out, re.M) == [
        "equal 2", "call 3", "at 4", "to int 1", "put 2, 5"]


@pytest.mark.parametrize("trace", [[], ["cstrace start"]])
def test_a_place_in_a_library_that_is_not_there_yet(gdb, trace):
    library = build("opened.c", "-shared", "-fPIC", name="libopened.so")
    run = gdb(build("opens.c", "-ldl"), "set breakpoint pending on", QUIET,
              "cstrace log late_work, n is {n}",
              "cstrace log late_work, next is {n + 1}",
              "cstrace log nowhere, never {n}", *trace, "run %s" % library,
              "info cstrace-log", "cstrace show")
    for text in ("n is 3", "next is 4", "n is 4", "next is 5"):
        assert len(re.findall(r"log(?: \d)?: %s\b" % text, run.out)) == 1
    assert re.search(r"^3 +y +in nowhere: never \{n\}$", run.out, re.M)
    assert "re-setting" not in run.out


INLINED = ["1 10 10 {filled = 10} main", "2 11 11 {filled = 11} main",
           "3 13 13 {filled = 13} main"]


def test_an_inlined_function_has_its_own_variables(gdb):
    """gdb hides its frame from breakpoints that are not the user's."""
    app = build("inlined.cc", "-O2", is_traced=False)
    run = gdb(app, "cstrace log Shelf::put, {more} {this->filled} {filled} "
              "{*this} {$caller}",
              "cstrace log Shelf::put, {more:x} and \"{filled + more * 2}\" "
              "if filled == 11 && more < 9",
              "cstrace log Shelf::put, {shelf}", "run")
    assert re.findall(r"^log 1: (.*)$", run.out, re.M) == INLINED
    assert re.findall(r"^log 2: (.*)$", run.out, re.M) == ['0x2 and "15"']
    assert '{shelf}: No symbol "shelf" in current context.' in run.out


def test_inlined_calls_that_patches_do_not_see(gdb):
    app = build("inlined.cc", "-O2", is_traced=False)
    run = gdb(app, QUIET, "cstrace log Shelf::put, {more}",
              "cstrace start -patch", "run", "info cstrace-log",
              "cstrace show")
    assert ("by a breakpoint: inlined calls of Shelf::put are not recorded"
            in run.out)
    assert [text for _blanks, text in logged(run.out)] == ["1", "2", "3"]


def test_listed_disabled_enabled_and_deleted(gdb):
    run = gdb(build("shop.cc"), "cstrace log shop::make_order, one",
              "cstrace log shop::make_order, two",
              "cstrace log shop::make_order, three",
              "disable cstrace-log 1", "delete cstrace-log 2-2", "run 1 1",
              "cstrace log", "enable cstrace-log", "run 1 1",
              "delete cstrace-log 7", "delete cstrace-log",
              "info cstrace-log")
    assert re.findall(r"^log \d: (.*)$", run.out, re.M) == [
        "three"] * 2 + ["one", "three"] * 2
    assert re.search(r"^1 +n +in shop::make_order at shop.cc:\d+: one$",
                     run.out, re.M)
    assert "delete cstrace-log: no logpoint 7; `info cstrace-log` lists" \
        in run.out
    assert run.out.rstrip().endswith(
        "cstrace: no logpoints: `cstrace log LOCATION, TEMPLATE [if COND]` "
        "sets one")
    assert "Breakpoint" not in run.out  # gdb's own list knows nothing of them


def test_one_that_costs_too_much_is_disabled(gdb):
    run = gdb(build("shop.cc"), "set cstrace log-budget 2ms",
              "cstrace log %s, {name}" % line_of("Item &item = find"),
              "run 1 300", "info cstrace-log", "show cstrace log-budget",
              "set cstrace log-budget soon")
    hits = len(re.findall(r"^log 1: ", run.out, re.M))
    assert 0 < hits < 300
    assert re.search(r"cstrace: logpoint 1 is disabled: its %d hits? took "
                     r"\S+ ms \(`set cstrace log-budget`; `enable "
                     r"cstrace-log 1` goes on\)" % hits, run.out)
    assert "exited normally" in run.out
    assert re.search(r"^1 +n +in ", run.out, re.M)
    assert 'wants a time with its unit' in run.out


def test_beside_breakpoints_commands_and_dprintf(gdb):
    at = line_of("order.add(\"apple\"")
    run = gdb(build("shop.cc"), "cstrace log %s, log {number}" % at,
              'dprintf %s,"dprintf %%d\\n", number' % at,
              "break %s if number == 1" % at, "run 1 2", "next", "continue")
    assert re.findall(r"^(?:log 1: )?(log|dprintf) (\d)$", run.out, re.M) == [
        (who, n) for n in "012" for who in ("log", "dprintf")]
    assert len(re.findall(r"hit Breakpoint \d, ", run.out)) == 1


def test_an_expression_that_calls_the_function_itself(gdb):
    """A hit in that call has no text, or it would never end."""
    run = gdb(build("../../examples/calc.c"), QUIET,
              "cstrace log factor, {factor()} at {at}", "run '1+22'",
              **setting_registers())
    assert re.findall(r"^log 1: (.*)$", run.out, re.M) == ['1 at "+22"']
    assert "is disabled" not in run.out and "exited" in run.out


def test_the_text_stands_in_the_tree(gdb, tmp_path):
    """Live, shown, saved: at its depth and time, from every thread."""
    run = gdb(build("shop.cc"), "cstrace start",
              "cstrace log %s, take {n} of {name:s} at {$depth} by {$thread}"
              % line_of("Item &item = find"), "run 1 4", "cstrace show",
              "cstrace save t.cst",
              "cstrace save t.txt", "cstrace report")
    live, shown = run.out.split("exited normally", 1)
    assert len(logged(live)) == 8
    texts = {text for _, text in logged(live)}
    assert any(re.fullmatch(r"take 1 of apple at \d+ by t[23]", text)
               for text in texts), texts
    assert {text for _, text in logged((tmp_path / "t.txt").read_text())} \
        == texts
    assert re.search(r"^ +8  log: take \{n\} of", run.out, re.M), run.out
    again = cstrace(tmp_path, "show", "t.cst")
    assert {text for _, text in logged(again.out)} == texts


def test_completion(gdb):
    run = gdb(build("shop.cc"), "complete cstrace lo",
              "complete cstrace log shop::make_o", "help cstrace log")
    assert "cstrace log\n" in run.out
    assert "cstrace log shop::make_order(int)" in run.out
    assert "{$caller}" in run.out
