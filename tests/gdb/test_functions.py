# SPDX-License-Identifier: MIT
"""$_cstrace_id() and its kin in expressions and conditions, and the IDs that
`backtrace` shows."""

import re

import pytest

from lib_build import Variant, build, line_of

CALC = "../../examples/calc.c"
QUIET = ("set cstrace live off", "cstrace start")


def values(out):
    return re.findall(r"^\$\d+ = (.*)$", out, re.M)


def test_where_the_thread_is(gdb):
    run = gdb(build(CALC), *QUIET, "break number", "run",
              "print $_cstrace_id()", "print $_cstrace_depth()",
              'print $_cstrace_in("product")', 'print $_cstrace_in("accept")',
              'print $_cstrace_in("/^prod/")',
              'print $_cstrace_calls("accept")', 'print $_cstrace_calls("no")',
              'print $_streq($_cstrace_id(), "1.8")', args=["1+2"])
    assert values(run.out) == ['"1.8"', "5", "1", "0", "1", "2", "0", "1"]


def test_in_conditions(gdb):
    """They are right where the condition is evaluated, not as of a stop."""
    run = gdb(build(CALC), *QUIET,
              'break skip_blanks if $_cstrace_in("sum")',
              'tbreak product if $_cstrace_calls("product") == 2', "run",
              "print $_cstrace_id()", "delete 1", "continue",
              "print $_cstrace_id()", 'print $_cstrace_calls("skip_blanks")',
              args=["1+2"])
    assert values(run.out) == ['"1.9"', '"1.12"', "3"]


def test_counts_go_on_over_blocks_of_the_trace(gdb):
    """Each evaluation reads only what is new."""
    run = gdb(build("many.c"), *QUIET, "tbreak leaf if n == 5000", "run",
              'print $_cstrace_calls("leaf")', "tbreak leaf if n == 8999",
              "continue", 'print $_cstrace_calls("leaf")',
              'print $_cstrace_calls("leaf")', "cstrace clear",
              'print $_cstrace_calls("leaf")', "tbreak end", "continue",
              'print $_cstrace_calls("end")')
    assert values(run.out) == ["5001", "9000", "9000", "0", "1"]


def test_each_thread_has_its_own(gdb):
    """And the counts are those of all threads."""
    run = gdb(build("crew.c"), *QUIET, "break one", "run",
              "print $_cstrace_id()", 'print $_cstrace_in("two")', "thread 1",
              "print $_cstrace_id()", 'print $_cstrace_in("two")',
              'print $_cstrace_in("main")')
    mine, is_in, main, is_main_in, in_main = values(run.out)
    assert mine.partition(".")[0] != main.partition(".")[0]
    assert (is_in, is_main_in, in_main) == ("1", "0", "1")


@pytest.mark.parametrize("expression, part", [
    ("$_cstrace_in()", '$_cstrace_in wants the name of a function'),
    ("$_cstrace_in(3)", "$_cstrace_in wants a text"),
    ("$_cstrace_id(3)", "$_cstrace_id() takes no argument"),
    ('$_cstrace_calls("(")', "regex")])
def test_mistakes(gdb, expression, part):
    run = gdb(build(CALC), *QUIET, "break number", "run",
              "print " + expression, args=["1"])
    assert part in run.out and not values(run.out)


def test_without_a_recording(gdb):
    run = gdb(build(CALC), "print $_cstrace_depth()")
    assert "$_cstrace_depth: nothing is being recorded" in run.out


# ---- backtrace -------------------------------------------------------------


def frames(out):
    """The functions of a backtrace, with their IDs."""
    return re.findall(r"^#\d+ +(?:0x\w+ in )?([\w:]+(?: \[[\d.]+\])?) \(", out,
                      re.M)


def test_a_backtrace_has_ids(gdb):
    run = gdb(build(CALC), *QUIET, "break number", "run", "backtrace",
              "set cstrace frame-ids off", "backtrace", args=["1+2"])
    shown = frames(run.out)
    assert shown[:5] == ["number [1.8]", "factor [1.5]", "product [1.4]",
                         "sum [1.3]", "main [1.1]"]
    assert shown[5:] == ["number", "factor", "product", "sum", "main"]


@pytest.mark.parametrize("flags, name", [
    (("-s",), r"calc\+0x\w+"), (("-g0",), "number")], ids=["stripped", "-g0"])
def test_ids_without_debug_information(gdb, flags, name):
    """A frame without a name has that of its call, or gdb's "??"."""
    run = gdb(build(CALC, *flags), *QUIET, "run", "cstrace goto 1.8",
              "backtrace", args=["1+2"])
    found = re.findall(r"^#(\d+) .*? in (.*?) \(", run.out, re.M)
    assert re.fullmatch(name + r" \[1\.8\]",
                        next(f for n, f in reversed(found) if n == "0"))
    assert "[1.1]" in next(f for n, f in reversed(found) if n == "4")
    assert "" not in [f for _, f in found]


def test_ids_of_a_recursion(gdb):
    """Also before the innermost call has reported itself: `break *` stops in
    front of its hook."""
    run = gdb(build(CALC), *QUIET, "break number if $_cstrace_depth() > 5",
              "run", "backtrace", "delete", "break *product", "continue",
              "backtrace", args=["(1+2)*3"])
    first, second = run.out.split("Breakpoint 2,")[-2:]
    found = frames(first)
    ids = [int(f.partition("1.")[2].rstrip("]")) for f in found]
    assert ids == sorted(ids, reverse=True) and len(set(ids)) == len(ids) == 8
    found = frames(second)
    assert found[0] == "product"
    assert found[1].startswith("sum [1.") and found[-1] == "main [1.1]"


def test_ids_of_inlined_calls(gdb):
    """Several calls have one frame of the processor."""
    run = gdb(build("inlined.c", variant=Variant("gcc", "-O2")), *QUIET,
              "break inlined.c:%d" % line_of("inlined.c", "sink = n"), "run",
              "backtrace", "cstrace here")
    shown = dict(f.rstrip("]").split(" [") for f in frames(run.out)
                 if "[" in f)
    is_open = dict(reversed(row) for row in re.findall(
        r"^ *[\d.]+ +[\d.]+ \w+\*? +([\d.]+) +(\w+)  \S+$",
        run.out.partition("# The last")[0], re.M))
    assert "main" in shown and "physical" in shown
    assert shown.items() <= is_open.items()


def test_without_a_recording_there_are_none(gdb):
    run = gdb(build(CALC), "break number", "run", "backtrace", args=["1"])
    assert frames(run.out) == ["number", "factor", "product", "sum", "main"]
