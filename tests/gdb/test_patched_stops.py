# SPDX-License-Identifier: MIT
"""`cstrace stop-when` and `goto` in programs without hooks: the user stands in the
function, as at a breakpoint, and the trace has each call once."""

import re
import shutil

import pytest

from lib_build import Variant, build
from lib_term import Terminal
from test_stop_values import RETURNS, WHERE, n_true

ON = ("set cstrace live off", "set cstrace step-report off", "cstrace start")
BUILDS = [("gcc", "-O0"), ("gcc", "-O2"), ("clang", "-O0")]
WHERE_AM_I = ("python f = gdb.newest_frame(); print('AT', ' < '.join('%s:%d' % "
              "(g.name(), g.find_sal().line) for g in [f, f.older()] if g))")
SHOWS_NO_AREA = "__x86_return_thunk"


def program_of(name, compiler, level, *flags):
    if not shutil.which(compiler):
        pytest.skip("there is no %s" % compiler)
    return build(name, *flags, variant=Variant(compiler, level),
                 is_traced=False)


def at(run):
    return re.findall("^AT (.*)", run.out, re.M)


def n_calls(run):
    return int(re.findall(r"^cstrace: (\d+) calls in", run.out, re.M)[-1])


@pytest.mark.parametrize("compiler, level", BUILDS)
def test_it_stands_where_a_breakpoint_would(gdb, compiler, level):
    """And goes on from there as gdb does without us."""
    program = program_of("stands.c", compiler, level)
    go_on = [w for word in ["step"] * 3 + ["finish", "next"]
             for w in (word, WHERE_AM_I)]
    look = [WHERE_AM_I, "info args", *go_on, "delete", "continue"]
    alone = gdb(program, "break cost if n == 7", "run", *look)
    run = gdb(program, *ON, "cstrace stop-when cost -count 8", "run",
              WHERE_AM_I, "info args", *go_on, "delete cstrace-stops",
              "continue")
    assert SHOWS_NO_AREA not in run.out
    assert at(run) == at(alone) and len(at(run)) == 6
    values = re.compile(r"^(?:n|name|rate) = .*", re.M)
    assert values.findall(run.out) == values.findall(alone.out)
    # main, 26 times twice and cost, 6 times deep
    assert n_calls(run) == 59


@pytest.mark.parametrize("compiler, level", BUILDS)
def test_recursive_calls_after_it_are_recorded(gdb, compiler, level):
    program = program_of("stands.c", compiler, level)
    run = gdb(program, *ON, "cstrace stop-when deep -where 'n == 3'", "run",
              "bt", "info args", "continue")
    frames = re.findall(r"^#\d .*? in (\w+)|^#\d +(\w+)", run.out, re.M)
    assert [a or b for a, b in frames][1:4] == ["deep"] * 3
    assert "n = 3" in run.out and SHOWS_NO_AREA not in run.out
    assert n_calls(run) == 59


def test_the_end_of_a_call(gdb):
    program = program_of("stands.c", "gcc", "-O2")
    run = gdb(program, "set cstrace args on", "set cstrace results on", *ON,
              "cstrace stop-when twice -returns 43", "run", "bt", "x/i $pc", "print $eax", "finish",
              "delete cstrace-stops", "continue",
              "cstrace show -filter ^twice")
    assert "= 43" in run.out and SHOWS_NO_AREA not in run.out
    assert re.search(r"^#0 .* twice .*\n#1 .* main ", run.out, re.M)
    assert n_calls(run) == 59
    rows = re.findall(r"(us|ns|ms)(.) .*twice\(n=\d+\) = ", run.out)
    assert len(rows) == 26 and all(mark != "~" for _, mark in rows)


def test_without_a_patch_at_the_end_it_stands_there(gdb):
    """And the end is in the trace, with its result, not estimated."""
    program = program_of("locals.c", "gcc", "-O0")
    run = gdb(program, "set cstrace results on", *ON,
              "cstrace stop-when next_square -returns 10", "run", WHERE_AM_I,
              "info args", "info locals", "next", "continue",
              "cstrace show -filter ^next_square")
    assert ("cstrace: next_square has an end without room for a patch: gdb stops "
            "there each time, for a millisecond or so") in run.lines()
    assert [w.split(":")[0] for w in at(run)] == ["next_square"]
    assert {"n = 3", "local = 10"} <= set(run.lines())
    assert run.out.count("hit 1") == 1 and "hit 2" not in run.out
    rows = re.findall(r"(?:us|ns|ms)(.) .*next_square\(?.* = (\d+)", run.out)
    assert [result for _, result in rows] == [str(n * n + 1) for n in range(5)]
    assert all(mark != "~" for mark, _ in rows)
    exact = gdb(program, *ON, "run", "cstrace goto 1.5 -exit", WHERE_AM_I)
    assert [w.split(":")[0] for w in at(exact)] == ["next_square"]


def test_a_duration_needs_an_end_that_is_seen(gdb):
    run = gdb(program_of("locals.c", "gcc", "-O0"), *ON,
              *("cstrace stop-when %s -longer 1ns" % name
                for name in ("next_square", "square")), "run", WHERE_AM_I)
    assert [line for line in run.lines() if "ends are not seen" in line] == [
        "cstrace: cstrace stop-when: at 1 function some ends are not seen, "
        "for they have no patch"]
    assert [w.split(":")[0] for w in at(run)] == ["square"]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_program_that_has_no_other_end(gdb, compiler):
    """None of its ends may have room for a patch."""
    program = program_of("getter.c", compiler, "-O0")
    run = gdb(program, "set cstrace results on", *ON,
              "cstrace stop-when price -returns 43", "run", WHERE_AM_I, "step",
              "continue", WHERE_AM_I, "delete cstrace-stops", "continue",
              "cstrace show -filter ^price")
    assert [w.split(":")[0] for w in at(run)] == ["price", "price"]
    assert run.out.count(" hit ") == 2
    rows = re.findall(r"(?:us|ns|ms)(.) .*price\(?.* = (\d+)", run.out)
    assert [result for _, result in rows][:2] == ["43"] * 2


# A loop leads back to the function's first instruction.
LOOP = """
__attribute__((noinline)) void wait_for(volatile int *p) { while (*p) ; }
__attribute__((noinline)) int deep(int n) { return n ? deep(n - 1) * 3 : 1; }
int main(void) { int n = 0; wait_for(&n); return deep(3) < 0; }
"""


def test_a_function_without_a_patch_is_named(gdb, tmp_path):
    (tmp_path / "loop.c").write_text(LOOP)
    program = build(str(tmp_path / "loop.c"), variant=Variant("gcc", "-O1"),
                    is_traced=False)
    run = gdb(program, *ON, "cstrace stop-when wait_for", "cstrace zoom deep")
    assert "no function that matches 'wait_for' is patched" in run.out
    assert "that matches 'deep'" not in run.out


@pytest.mark.parametrize("compiler, level", BUILDS)
def test_conditions_are_true_as_often_as_with_hooks(gdb, compiler, level):
    program = program_of("picks.cc", compiler, level, "-std=c++17")
    there = [w for w in WHERE if w[0] != "library" or compiler == "gcc"]
    for wishes, option in ((there[:16], "where"), (there[16:], "where"),
                           (RETURNS, "returns")):
        lines = ['cstrace stop-when %s -%s "%s" -count 1000' % (f, option, text)
                 for f, text, _ in wishes]
        run = gdb(program, *ON, *lines, "tbreak printf", "run",
                  "info cstrace-stops", "kill")
        listed = [one for one in wishes if re.search(
            r" y +%s, %s \S*(?<= )%s, " % (one[0], option, re.escape(one[1]))
            if option == "where" else r" y +%s, returns .*%s, " % (
                one[0], re.escape(one[1])), run.out)]
        assert len(listed) > len(wishes) / 2
        assert list(zip(listed, n_true(run))) == [
            (one, one[2]) for one in listed]


@pytest.mark.parametrize("road", ["patches", "border"])
@pytest.mark.parametrize("condition, expected", [
    ("last -under begins", 10), ("last -under middle", 10),
    ("last -depth 4", 10), ("middle -under begins", 10),
    ("begins -returns 12", 2), ("middle -returns 'result < 8'", 4),
    ("begins -under begins", 0), ("after -under begins", 0),
    ("after -under leaves", 0), ("leaves -under leaves", 0),
    ("leaves -under begins", 0), ("after -depth 2", 21), ("after -depth 3", 0),
    ("ends_unseen -under to_unseen", 5), ("after -under to_unseen", 0),
    ("takes_seven -under ends_unseen", 0), ("takes_seven -depth 4", 0),
    ("takes_seven -under pushes_next", 5),
    ("even -returns 1", 1), ("after -under even", 0)])
def test_conditions_where_a_call_goes_on_by_a_jump(gdb, condition, expected,
                                                   road):
    """They go by the tree, in which what is jumped to lies below."""
    program = program_of("tail_stops.c", "gcc", "-O2")
    start = "cstrace start" + (" -border" if road == "border" else "")
    run = gdb(program, *ON[:2], start,
              "cstrace stop-when %s -count 10000" % condition,
              "tbreak finished", "run", "info cstrace-stops", "kill")
    assert n_true(run) == [expected], run.out
    assert "even" in condition or "not decided" not in run.out


@pytest.mark.parametrize("is_traced", [False, True], ids=["patches", "hooks"])
@pytest.mark.parametrize("condition, expected", [
    ("throws -unwound", 4), ("to_throws -unwound", 4), ("jumps -unwound", 3),
    ("to_jumps -unwound", 3), ("after -unwound", 0), ("after -depth 2", 16),
    ("after -depth 3", 0), ("after -under to_throws", 0),
    ("after -under to_jumps", 0), ("throws -under to_throws", 8)])
def test_what_leaves_a_call_leaves_those_that_jumped_to_it(
        gdb, condition, expected, is_traced):
    program = build("tail_unwound.cc", variant=Variant("gcc", "-O2"),
                    is_traced=is_traced)
    run = gdb(program, *ON, "cstrace stop-when %s -count 1000" % condition,
              "tbreak finished", "run", "info cstrace-stops", "kill")
    assert n_true(run) == [expected], run.out


@pytest.mark.parametrize("function, by", [("to_throws", "an exception"),
                                          ("to_jumps", "a jump")])
def test_it_says_what_leaves_the_call(gdb, function, by):
    program = program_of("tail_unwound.cc", "gcc", "-O2")
    run = gdb(program, *ON, "cstrace stop-when %s -unwound" % function, "run",
              "kill")
    assert "stop 1: %s, unwound; left by %s; hit 1" % (function, by) in run.out


def test_the_duration_of_a_call_that_goes_on_by_a_jump(gdb):
    """Two of them last 50 ms."""
    program = program_of("tail_stops.c", "gcc", "-O2")
    run = gdb(program, *ON, "cstrace stop-when begins -longer 40ms",
              "run", *["continue"] * 10)
    assert run.out.count("begins, longer than 40.0 ms; it took") >= 2, run.out


@pytest.mark.parametrize("is_traced", [False, True], ids=["patches", "hooks"])
def test_a_duration_is_the_programs_own_time(gdb, is_traced):
    """A call that is stopped takes less than the stop in it."""
    program = build("tail_stops.c", variant=Variant("gcc", "-O1"),
                    is_traced=is_traced)
    now = "python import time; print('NOW', time.monotonic_ns())"
    look = "python gdb.execute('info functions', to_string=True)"
    run = gdb(program, *ON, "cstrace stop-when begins -longer 1ns",
              "tbreak last", "run", now, look, now, "continue", "kill")
    began, ended = map(int, re.findall(r"^NOW (\d+)", run.out, re.M))
    ((took, unit),) = re.findall(r"it took ([\d.]+) (ns|us|ms|s);", run.out)
    ns = float(took) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]
    assert ns < ended - began


@pytest.mark.parametrize("compiler, level", BUILDS)
def test_goto_stands_in_the_call(gdb, compiler, level):
    program = program_of("stands.c", compiler, level)
    run = gdb(program, *ON, "run", "cstrace goto 1.16", WHERE_AM_I,
              "info args", "continue")
    assert re.search(r"^cstrace: in 1\.16 twice\b", run.out, re.M)
    assert at(run)[0].startswith("twice:") and "n = 7" in run.out
    assert SHOWS_NO_AREA not in run.out and n_calls(run) == 59


def test_goto_stands_at_the_end_of_the_call(gdb):
    program = program_of("stands.c", "gcc", "-O2")
    run = gdb(program, *ON, "run", "cstrace goto 1.16 -exit", WHERE_AM_I,
              "x/i $pc", "continue")
    assert "in 1.16 twice, at its end" in run.out
    assert at(run)[0].startswith("twice:") and re.search(r":\s+ret", run.out)
    assert n_calls(run) == 59


def test_a_breakpoint_there_is_not_hit_again(gdb):
    program = program_of("stands.c", "gcc", "-O2")
    run = gdb(program, *ON, "tbreak main", "run", "break cost",
              "cstrace stop-when cost -count 2", "continue", "continue",
              "continue", "continue")
    stops = re.findall(r"^(Breakpoint 2, cost|cstrace: stop 1: .*)", run.out,
                       re.M)
    assert [s[:4] for s in stops] == ["cstr"] + ["Brea"] * 2 + [
        "cstr"] + ["Brea"]


def test_each_thread_comes_back(gdb):
    """While one stands at its entry, others call on."""
    program = program_of("visits.c", "gcc", "-O2", "-pthread")
    n = []
    for wish in [], ["cstrace stop-when visit -count 25"]:
        run = gdb(program, *ON, *wish, "run", "bt 1", "continue",
                  args=("threads",))
        n.append(n_calls(run))
        assert SHOWS_NO_AREA not in run.out
    assert n[0] == n[1] > 50


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_zoom_shows_arguments(gdb, level):
    program = program_of("stands.c", "gcc", level)
    run = gdb(program, *ON, "cstrace zoom cost", "run",
              "cstrace show -last 400")
    rows = re.findall(r'zoom: cost\(n=(\d+), name="(\w+)", rate=(\S+)\)',
                      run.out)
    assert len(rows) == 26
    assert rows[:3] == [("0", "b", "0"), ("1", "xa", "0.5"), ("2", "b", "1")]


@pytest.mark.parametrize("compiler, level", BUILDS)
def test_logpoints_are_in_place(gdb, compiler, level):
    program = program_of("stands.c", compiler, level)
    run = gdb(program, "set cstrace args on", *ON,
              "cstrace log cost, {n} of {name} if n > 17", "info cstrace-log",
              "run", "cstrace show -last 400")
    assert "in place: the program does not stop" in run.out
    assert re.findall(r"log: (.*?)  ", run.out) == ['18 of "b"', '19 of "xa"']


@pytest.mark.parametrize("stop, steps", [
    ("-returns '> 700'", []), ("-where 'seven.n > 100'", []),
    ("-where 'seven.n > 100'", ["stepi", "stepi", "stepi"])],
    ids=("returns", "where", "stepi"))
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_other_threads_go_on_as_they_would(gdb, level, stop, steps):
    """They are in trampolines and the shim at most stops.  The program finds each
    result right."""
    program = program_of("busy_threads.c", "gcc", level, "-pthread")
    run = gdb(program, "set cstrace live off", "set cstrace step-report off",
              "cstrace start -keep-time 1s", "set print thread-events off",
              "cstrace stop-when seven " + stop, "run",
              *[*steps, "continue"] * 5)
    assert "0 wrong" in run.lines(), run.out
    # A function that was stepped is patched again at the next stop only.
    n_hits = run.out.count("; hit ")
    assert 1 <= n_hits <= 5 if steps else n_hits == 5
    assert "SIG" not in run.out and "Cannot" not in run.out


@pytest.mark.parametrize("level", ["-O0", "-O1"])
def test_no_thread_is_shown_in_a_trampoline(gdb, level):
    """They run all the time, and stop anywhere."""
    program = program_of("rarely.c", "gcc", level, "-pthread")
    run = gdb(program, "set cstrace live off", "cstrace start -keep-time 1s",
              "break seldom", "run",
              *["thread apply all -q bt 3", "continue"] * 60)
    assert run.out.count("hit Breakpoint 1") == 61
    assert SHOWS_NO_AREA not in run.out and "SIG" not in run.out


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2"])
def test_where_the_stack_ends_the_function_is_shown(gdb, compiler, level):
    """In the shim, in the trampoline, or in the function itself."""
    program = program_of("endless.c", compiler, level,
                         "-fno-optimize-sibling-calls")
    starts = [f"run {n}" for n in range(16, 160, 16)]
    run = gdb(program, "set confirm off", *ON, *(
        command for start in starts
        for command in (start, "bt 2", "info symbol $pc")))
    frames = re.findall(r"^#([01]) .*deeper", run.out, re.M)
    assert frames == ["0", "1"] * len(starts)
    places = re.findall(r"^(\w+)(?: \+ \d+)? in section", run.out, re.M)
    assert places == ["deeper"] * len(starts)
    assert SHOWS_NO_AREA not in run.out and n_calls(run) > 10000


@pytest.mark.parametrize("is_traced", [False, True])
def test_an_argument_beyond_the_stack_is_no_error_of_bt(gdb, is_traced):
    """A filter of ours shows IDs."""
    program = build("endless.c", variant=Variant("gcc", "-O0"),
                    is_traced=is_traced)
    run = gdb(program, "set confirm off", *ON, *(
        command for n in range(16, 176, 32)
        for command in (f"run {n}", "bt 2")))
    assert len(re.findall(r"^#0 .*deeper \(n=.*\) at", run.out, re.M)) == 5
    assert "Python Exception" not in run.out


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_from_where_the_stack_ends_it_goes_on_elsewhere(gdb, level):
    """It was shown where the program alone comes to; the code is patched again."""
    program = program_of("endless.c", "gcc", level,
                         "-fno-optimize-sibling-calls")
    session = ("run 16", "jump 24", "bt 1", "return", "bt 1",
               "frame function main", "jump 24", "bt 1")
    found = []
    for run in (gdb(program, "set confirm off", *session, loader=None),
                gdb(program, "set confirm off", *ON, *session)):
        assert run.out.count("received signal SIGSEGV") == 3
        assert SHOWS_NO_AREA not in run.out and "libcstrace" not in run.out
        found.append(re.findall(r"^#0 +(?:0x\w+ in )?(\w+)", run.out, re.M))
    assert found[1] == found[0]


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_stack_that_ends_in_the_shim_alone(gdb, level):
    """The program has had enough for itself, and goes on."""
    program = program_of("endless_own.c", "gcc", level,
                         "-fno-optimize-sibling-calls")
    ends = gdb(program, "run", "bt -4", loader=None)
    depth, = re.findall(r"^#(\d+) .* in begin", ends.out, re.M)
    most = int(depth) * 2 // 3 - 2  # a third of the calls is of half()
    run = gdb(program, *ON, *(
        command for n in range(most - 5, most)
        for command in (f"run 0 {n}", "bt 1", "info symbol $pc", "continue")))
    assert run.out.count("the stack had no room for the recorder") == 5
    assert run.out.count("exited normally") == 5
    assert len(re.findall(r"^#0 .* in (?:half|deeper) ", run.out, re.M)) == 5
    assert "Breakpoint -" not in run.out and SHOWS_NO_AREA not in run.out


def test_no_thread_that_is_interrupted_is_shown_in_a_trampoline(tmp_path):
    """In non-stop mode, where others run."""
    program = program_of("rarely.c", "gcc", "-O0", "-pthread")
    with Terminal(tmp_path, program, commands=(
            "set pagination off", "set non-stop on",
            "set print thread-events off", "set confirm off")) as t:
        t.ask("set cstrace live off")
        t.ask("cstrace start -keep-time 1s")
        t.ask("tbreak seldom")
        t.send("run &\n")
        t.wait("hit Temporary breakpoint")
        t.ask("continue -a &")
        for _ in range(12):
            t.send("interrupt -a\n")
            t.wait(*[r"Thread \d+ [^\n]* stopped\."] * 4, "\n.*\n")
            t.ask("info threads")
            t.ask("continue -a &")
    assert SHOWS_NO_AREA not in t.seen and "libcstrace" not in t.seen
    assert "rarely.c" in t.seen


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_variables_are_there_at_an_end(gdb, compiler):
    """Without optimization they are in the frame, which is given up next."""
    program = program_of("locals.c", compiler, "-O0")
    look = [WHERE_AM_I, "info args", "info locals", "continue"]
    run = gdb(program, *ON, "cstrace stop-when square -returns 9",
              "cstrace stop-when factorial -returns 6", "run", *look, *look)
    assert [w.split(":")[0] for w in at(run)] == ["square", "factorial"]
    assert re.findall(r"^(?:n|local|more|result|text) = .*", run.out, re.M) == [
        "n = 3", "local = 9", "n = 3", "more = 103",
        re.search(r"^text = .*", run.out, re.M)[0], "result = 6"]
    assert re.search(r'^text = "103(?:", |\\000)', run.out, re.M)
    goto = gdb(program, *ON, "run", "cstrace goto 1.14 -exit", WHERE_AM_I,
               "info args", "info locals")
    assert [w.split(":")[0] for w in at(goto)] == ["factorial"]
    assert {"n = 3", "result = 6"} <= set(goto.lines())


@pytest.mark.parametrize("is_hooked", [False, True])
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2"])
def test_each_thread_stops_at_its_own_call(gdb, level, is_hooked):
    """Several come to a stop at a time, and gdb tells of one after the other;
    the variables are the call's.  At -O1 its end has no room for a patch."""
    program = build("squares.c", "-pthread", variant=Variant("gcc", level),
                    is_traced=is_hooked)
    look = ["python print('RESULT', int(gdb.parse_and_eval('$eax')))",
            WHERE_AM_I, "info args", "continue"]
    run = gdb(program, *ON, "cstrace stop-when square -returns 9", "run",
              *look * 25, "delete cstrace-stops", "continue")
    assert "it has returned" not in run.out
    assert [w.split(":")[0] for w in at(run)] == ["square"] * 25
    assert re.findall(r"^n = (\d+)", run.out, re.M) == ["3"] * 25
    if not is_hooked:
        assert re.findall(r"^RESULT (\d+)", run.out, re.M) == ["9"] * 25
    assert n_calls(run) == n_calls(gdb(program, *ON, "run"))


def test_patches_come_back_with_continue(gdb):
    """They were away from where the thread stood, and other threads' calls are
    in the trace."""
    program = build("squares.c", "-pthread", variant=Variant("gcc", "-O2"),
                    is_traced=False)
    run = gdb(program, *ON, "break square", "run", "delete",
              "set scheduler-locking on", "nexti", "nexti", "nexti",
              "set scheduler-locking off", "continue")
    alone = gdb(program, *ON, "run")
    assert n_calls(run) == n_calls(alone)
