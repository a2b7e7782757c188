# SPDX-License-Identifier: MIT
"""`stepi N` and `nexti N` in programs without hooks: the same place as without
cstrace, and each call is in the trace."""

import json
import re

import pytest

from test_patched_stops import ON, SHOWS_NO_AREA, program_of

HAS_VALUES = True
BUILDS = [("gcc", "-O0"), ("gcc", "-O1"), ("gcc", "-O2"), ("clang", "-O0"),
          ("clang", "-O2")]
WHERE = ("python print('AT', hex(gdb.newest_frame().pc()),"
         " gdb.newest_frame().older().name())")


def places(run):
    return re.findall("^AT (.*)", run.out, re.M)


def calls(folder):
    """For each thread its calls in order of entry, from a file of JSON lines:
    depth, function, result and how it has ended."""
    found = {}
    for line in (folder / "t.jsonl").read_text().splitlines():
        call = json.loads(line)
        if "function" in call:
            found.setdefault(call.get("thread"), []).append(
                (call["depth"], call["function"], call.get("result"),
                 call.get("end")))
    return list(found.values())


STEPS = {
    "stepi": ["stepi %d" % n for n in range(1, 30)],
    "nexti": ["nexti %d" % n for n in range(1, 12)],
    "both": ["stepi 5", "nexti 4", "stepi", "stepi 9", "nexti"] * 12,
}


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("compiler, level", BUILDS)
def test_each_call_that_they_come_to_is_recorded(gdb, tmp_path, compiler, level,
                                                 steps):
    program = program_of("debugged.c", compiler, level)
    save = "cstrace save %s" % (tmp_path / "t.jsonl")
    on = ("handle SIGUSR1 nostop noprint", *ON)
    gdb(program, *on, "run", save)
    alone = calls(tmp_path)
    run = gdb(program, *on, "break outer", "run", "delete", *STEPS[steps],
              "continue", save)
    stepped, = calls(tmp_path)
    assert [call[:2] for call in stepped] == [call[:2] for call in alone[0]]
    for (_, name, result, end), was in zip(stepped, alone[0]):
        # Away from where a step ends, up to the function's end.
        assert (result, end) in (was[2:], (None, "estimated")), name
    n, n_alone = (sum(call[3] == "estimated" for call in one)
                  for one in (stepped, alone[0]))
    assert n - n_alone < len(stepped) / 3, run.out


LINES = {name: [name] * 12 for name in ("step", "next", "until")}
LINES["mixed"] = ["step", "until", "next", "step", "step", "until"]


@pytest.mark.wide("compiler level", "name", "steps")
@pytest.mark.parametrize("steps", LINES)
@pytest.mark.parametrize("name", ["fac", "fib", "even"])
@pytest.mark.parametrize("compiler, level", BUILDS)
def test_each_recursive_call_in_the_lines_is_recorded(
        gdb, tmp_path, compiler, level, name, steps):
    program = program_of("recursive.c", compiler, level,
                         "-fno-optimize-sibling-calls")
    save = "cstrace save %s" % (tmp_path / "t.jsonl")
    gdb(program, *ON, "run", save)
    alone = calls(tmp_path)
    for more in (), ("-sync",):
        on = " ".join((*ON[-1:], *more))
        gdb(program, *ON[:-1], on, "tbreak " + name, "run", *LINES[steps],
            "delete", "continue", save)
        assert calls(tmp_path) == alone


@pytest.mark.parametrize("command", ["until", "next", "step"])
@pytest.mark.parametrize("condition, depth", [
    ("-returns 2", 3), ("-where n==2", 3), ("-count 3", 3),
    ("-returns 6", 2), ("-longer 1us", 0)])
def test_a_condition_stops_a_step_in_a_recursive_call(gdb, tmp_path, condition,
                                                      depth, command):
    program = program_of("recursive.c", "gcc", "-O2",
                         "-fno-optimize-sibling-calls")
    save = "cstrace save %s" % (tmp_path / "t.jsonl")
    gdb(program, *ON, "run", save)
    alone = calls(tmp_path)
    run = gdb(program, *ON, "break main", "run", "delete",
              "cstrace stop-when fac " + condition, "tbreak fac", "continue",
              command, "bt", *["until"] * 4, "delete", "continue",
              *["continue"] * 4, save)
    hit, _, after = run.out.partition("cstrace: stop 1: fac, ")
    assert hit and "libcstrace" not in run.out
    assert SHOWS_NO_AREA not in run.out
    frames = re.findall(r"^#\d+ .*\bfac\b", after.partition("in main")[0],
                        re.M)[1:]
    assert len(frames) == depth or not depth
    assert [c[:3] for c in calls(tmp_path)[0]] == [c[:3] for c in alone[0]]


@pytest.mark.parametrize("compiler, level", BUILDS)
def test_other_threads_come_to_breakpoints_meanwhile(gdb, compiler, level):
    """gdb stops all threads to step one over its breakpoint."""
    program = program_of("squares.c", compiler, level, "-pthread")
    session = ["break work if $_thread == 1", "run busy", "delete",
               "break square if $_thread == 9", "break work if $_thread == 9",
               *[w for n in range(1, 13) for w in ("stepi %d" % n, WHERE,
                                                   "nexti %d" % n, WHERE)]]
    alone = places(gdb(program, *session))
    run = gdb(program, *ON, *session)
    assert "cstrace: patching " in run.out
    assert len(alone) == 24 and places(run) == alone


@pytest.mark.parametrize("compiler, level", BUILDS)
def test_other_threads_run_meanwhile(gdb, tmp_path, compiler, level):
    program = program_of("squares.c", compiler, level, "-pthread")
    steps = [s for one in STEPS.values() for s in one]
    session = ["break work if $_thread == 1", "run busy", "delete",
               *[w for step in steps for w in (step, WHERE)]]
    alone = gdb(program, *session)
    save = "cstrace save -thread t1 %s" % (tmp_path / "t.jsonl")
    run = gdb(program, *ON, *session, save)
    assert places(run) == places(alone) and len(places(run)) == len(steps)
    thread, = calls(tmp_path)
    # One level of gcc's leaves no room for a patch at its end.
    has_end = (compiler, level) != ("gcc", "-O1")
    found = [result if has_end else (i % 6) ** 2 for i, (_, name, result, _)
             in enumerate(c for c in thread if c[1] == "square")]
    n = len(found) - 1  # the last may be open
    assert found[:n] == [(i % 6) ** 2 for i in range(n)]
    assert n > 9 or (compiler, level) == ("clang", "-O2")  # inlined there


def test_nexti_goes_by_jumps_to_other_functions(gdb):
    """Where other threads run it counts what is displaced there, too: each of
    them has more than one instruction in a line."""
    program = program_of("jumps_on.c", "gcc", "-O2", "-pthread",
                         "-gno-column-info")
    session = ["break first if $_thread == 1", "run",
               *[w for n in range(1, 16)
                 for w in ("nexti %d" % n, WHERE, "continue")]]
    alone = gdb(program, *session)
    run = gdb(program, *ON, *session)
    assert places(run) == places(alone) and len(places(run)) == 15


def test_no_code_changes_below_threads_that_run(gdb):
    """In non-stop mode they do at the stop, too."""
    program = program_of("squares.c", "gcc", "-O1", "-pthread")
    steps = [w for n in range(1, 25)
             for w in ("stepi %d" % n, "nexti %d" % n, WHERE)]
    run = gdb(program, *ON, "set non-stop on", "break work if $_thread == 1",
              "run busy", "delete", *steps, "info threads")
    assert len(places(run)) == 24
    assert len(re.findall(r"\(running\)$", run.out, re.M)) == 3, run.out
    assert "SIG" not in run.out


def test_gdbs_setting_is_as_it_was(gdb):
    """A step from a short jump has it otherwise, here up to the program's end."""
    program = program_of("inlined_begin.c", "clang", "-O1")
    run = gdb(program, *ON, "break kind_of", "run", "step", "next",
              "show displaced-stepping", "delete", "next 300",
              "show displaced-stepping")
    assert "exited" in run.out
    assert len(re.findall("displaced stepping .* is auto", run.out)) == 2


def test_a_thread_that_runs_is_not_stepped(gdb):
    program = program_of("recursive.c", "gcc", "-O2", "-pthread")
    run = gdb(program, *ON, "set non-stop on", "break fac", "run threads",
              "thread 2", "next", "stepi", "until", "thread 1", "stepi", WHERE)
    assert run.out.count("Cannot execute this command while the selected "
                         "thread is running.") == 3
    assert "cstrace: Selected thread" not in run.out
    assert len(places(run)) == 1
