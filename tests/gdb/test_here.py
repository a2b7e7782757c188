# SPDX-License-Identifier: MIT
"""Where the stopped program stands: `cstrace here`."""

import re

import pytest

from lib_build import build

OPEN = re.compile(r"^ *[\d.]+ +[\d.]+ \w+\*? +([\d.]+)  ( *)(\w+)  \S+$", re.M)
LAST = re.compile(r"^ *[\d.]+ +[\d.]+ \w+\*? +([\d.]+) +(\w+)  from (\w+)  ",
                  re.M)
CALC = "../../examples/calc.c"


def parts(out):
    """The open calls as ["1.1 main", ...], in order and depth; the last ones
    as ["accept from factor", ...]."""
    is_open, _, last = out.partition("# The last calls")
    rows = OPEN.findall(is_open)
    assert [len(blanks) for _, blanks, _ in rows] == [
        2 * i for i in range(len(rows))]
    return (["%s %s" % (i, name) for i, _, name in rows],
            ["%s from %s" % (name, caller)
             for _, name, caller in LAST.findall(last)])


def here(gdb, program, *commands, args=()):
    run = gdb(program, "set cstrace live off", "cstrace start", *commands,
              "echo @@@\\n", "cstrace here", args=args)
    return parts(run.out.rpartition("@@@\n")[2])


def test_open_calls_and_the_last_that_returned(gdb):
    assert here(gdb, build(CALC), "break number", "run", args=["1+2"]) == (
        ["1.1 main", "1.3 sum", "1.4 product", "1.5 factor", "1.8 number"],
        ["skip_blanks from main", "accept from factor", "accept from factor"])


@pytest.mark.parametrize("live", ["on", "off"])
def test_open_calls_have_their_arguments(gdb, live):
    out = gdb(build("args.c"), "set cstrace args on", "set cstrace live " + live,
              "break nothing", "break fib if n == 1 && depth == 2",
              "cstrace start", "run", "continue", "echo @@@\\n",
              "cstrace here").out.rpartition("@@@\n")[2]
    assert re.findall(r"  (fib\(.*?\))  ", out.partition("# The last")[0]) == [
        "fib(n=3, depth=0)", "fib(n=2, depth=1)", "fib(n=1, depth=2)"]


def test_another_thread(gdb):
    """Each has its own open calls and its own last ones."""
    run = gdb(build("crew.c"), "set cstrace live off", "cstrace start",
              "break one", "run", "echo @@@\\n", "cstrace here", "thread 1",
              "echo @@@\\n", "cstrace here")
    mine, main = run.out.split("@@@\n")[1:]
    ids = {i.partition(".")[0] for i, _, _ in OPEN.findall(mine)}
    others = {i.partition(".")[0] for i, _, _ in OPEN.findall(main)}
    assert len(ids) == len(others) == 1 and ids != others


def test_hidden_calls_are_left_out(gdb):
    found, _ = here(gdb, build(CALC), "set cstrace exclude product",
                    "break number", "run", args=["1+2"])
    assert "product" not in str(found) and len(found) == 4


@pytest.mark.parametrize("commands, part", [
    (["cstrace here"], "nothing is being recorded"),
    (["cstrace start", "cstrace here"], "nothing is being recorded"),
    (["cstrace here -last x"], '-last wants a number, not "x"'),
    (["cstrace here 1"], '"1" is too much')])
def test_mistakes(gdb, commands, part):
    assert part in gdb(build(CALC), *commands).out


def test_completion(gdb):
    assert gdb(None, "complete cstrace here -l").lines()[-1] == \
        "cstrace here -last"


def test_open_calls_that_a_filter_hides_are_no_closed_ones(gdb):
    run = gdb(build(CALC), "set cstrace live off", "cstrace start",
              "break number", "run", "set cstrace filter skip",
              "cstrace here", "cstrace here -all", args=["1+2"])
    assert ("# no open call is shown (filter skip); -all shows those that are "
            "hidden" in run.out)
    assert re.search(r"1\.1 +main", run.out.rpartition("no open call")[2])
