# SPDX-License-Identifier: MIT
"""gdb's `record` while cstrace is on: no calls are recorded meanwhile, and those
behind `record stop` are."""

import re

import pytest

from lib_build import Variant, build
from lib_gdb import setting_registers

ON = ("set cstrace live off", "set cstrace step-report off",
      "handle SIGUSR1 nostop noprint")
N_CALLS = 29  # of debugged.c
N_FIRST = 7  # of the first outer() with what it calls


def program_of(is_hooked, *flags):
    return build("debugged.c", *flags, variant=Variant("gcc", "-O1"),
                 is_traced=is_hooked)


def n_calls(run):
    return int(re.findall(r"^cstrace: (\d+) calls in", run.out, re.M)[-1])


@pytest.mark.parametrize("start", ["cstrace start", "cstrace start -sync"])
@pytest.mark.parametrize("is_hooked", [False, True])
@pytest.mark.parametrize("begin, end", [
    ("record", "record stop"), ("record full", "record s"),
    ("target record-full", "rec stop")])
def test_calls_that_ran_backwards_come_once(gdb, is_hooked, start, begin, end):
    run = gdb(program_of(is_hooked), *ON, start, "break outer", "run", begin,
              "finish", "reverse-continue", "bt", end, "delete", "continue",
              **setting_registers())
    assert re.search(r"^#0  outer.*\n#1 .* in main \[1\.1\]", run.out, re.M)
    assert run.out.count("cstrace: no calls are recorded while gdb") == 1
    assert run.out.count("cstrace: calls are recorded again\n") == 1
    assert n_calls(run) == N_CALLS


@pytest.mark.parametrize("is_hooked", [False, True])
def test_what_it_recorded_is_not_in_the_trace(gdb, is_hooked):
    run = gdb(program_of(is_hooked), *ON, "cstrace start", "break outer", "run",
              "record", "finish", "cstrace status", "record stop",
              "cstrace status", "delete", "continue", "cstrace show")
    assert n_calls(run) == N_CALLS - N_FIRST
    assert re.search(r"^cstrace  +on, .*, 1 call so far; none come while gdb "
                     "records the program$", run.out, re.M)
    assert re.search("^cstrace  +on, .*, 1 call so far$", run.out, re.M)
    assert re.search(r"^ .* 1\.2 +outer  ", run.out, re.M)
    assert not re.search("before the trace|lost [1-9]", run.out)


def test_a_function_that_it_ends_in_is_recorded_later(gdb):
    """Its bytes cannot change while a thread is in them."""
    run = gdb(program_of(False), *ON, "cstrace start", "break leaf", "run",
              "record", "stepi", "record stop", "delete", "next", "next",
              "next", "continue", "cstrace show leaf")
    assert len(re.findall(r"\d  leaf  ", run.out)) > 10
    assert n_calls(run) > N_CALLS - 3


def test_the_program_ends_by_our_breakpoints(gdb):
    """A static program's own hooks."""
    program = build("debugged.c", "-static", variant=Variant("gcc", "-O1"))
    run = gdb(program, *ON, "cstrace start", "break outer", "run", "record",
              "finish", "reverse-continue", "record stop", "delete", "continue")
    assert n_calls(run) == N_CALLS


def test_it_ends_with_the_process(gdb):
    run = gdb(program_of(False), *ON, "cstrace start", "break outer", "run",
              "record", "next", "kill", "run", "delete", "continue")
    assert n_calls(run) == N_CALLS
    assert "again" not in run.out


def test_a_trace_does_not_begin_meanwhile(gdb):
    run = gdb(program_of(False), ON[-1], "break outer", "run", "record",
              "cstrace start", "next", "record stop", "cstrace start",
              "record", "cstrace stop", "reverse-next", "record stop",
              "delete", "continue")
    assert "gdb records the program to run it backwards: `record stop` " \
           "first" in run.out
    assert "again" not in run.out and "exited normally" in run.out


PROMPT = "python sys.modules['gdbext.ui.events'].events.before_prompt()"


@pytest.mark.parametrize("is_hooked", [False, True])
def test_a_trace_that_ends_meanwhile_does_not_go_on(gdb, is_hooked):
    run = gdb(program_of(is_hooked), "python import sys", *ON, "cstrace start",
              "break outer", "run", "record", "next", PROMPT, "cstrace stop",
              "record stop", PROMPT, "next", "delete", "continue",
              "cstrace show")
    assert "recorded again" not in run.out
    assert "cstrace: off: 1 call in 1 thread" in run.out
    assert len(re.findall(r"^ +\d+\.\d+ ", run.out, re.M)) == 1


@pytest.mark.parametrize("is_hooked", [False, True])
def test_a_trace_that_is_cleared_meanwhile_goes_on(gdb, is_hooked):
    run = gdb(program_of(is_hooked), "python import sys", *ON, "cstrace start",
              "break outer", "run", "record", "finish", "cstrace clear", PROMPT,
              "record stop", PROMPT, "delete", "continue")
    assert run.out.count("calls are recorded again") == 1
    assert n_calls(run) == N_CALLS - N_FIRST - 1  # but for main()


def test_the_users_own_hooks_stay(gdb):
    run = gdb(program_of(False), *ON,
              "python gdb.execute('define record hookpost-stop\\n"
              "echo MINE\\\\n\\nend')",
              "cstrace start", "break outer", "run", "record", "next",
              "record stop", "cstrace stop", "record", "record stop",
              "show user hookpost-stop")
    assert run.out.count("\nMINE\n") == 2
    assert run.out.count("calls are recorded again") == 1


def test_the_way_to_a_call_is_by_a_trace_without_a_gap(gdb):
    """A call's number is how many came before it."""
    to_leaf = ["cstrace goto 1.9", "bt"]
    run = gdb(program_of(False), *ON, "cstrace start", "run", *to_leaf,
              "up", "record", "next", "next", "record stop", "continue",
              *to_leaf, "record", "record stop", *to_leaf)
    assert run.out.count("cstrace: in 1.9 ") == 3
    assert "was recorded" not in run.out and "not 1.9 as" not in run.out
    alone = gdb(program_of(False), *ON, "cstrace start", "break outer", "run",
                "record", "next", "record stop", "delete", "continue",
                "cstrace goto 1.9", "run", "cstrace goto 1.9")
    assert alone.out.count("no calls were recorded while gdb recorded the "
                           "program: nothing counts those") == 1
    assert alone.out.count("cstrace: in 1.9 ") == 1
