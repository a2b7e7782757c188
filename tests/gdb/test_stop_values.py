# SPDX-License-Identifier: MIT
"""`cstrace stop-when -where` and `-returns`: values that the hooks compare."""

import re
import shutil
import subprocess

import pytest

from lib_build import Variant, build

ON = ("set cstrace live off", "cstrace start")
BUILDS = [(cc, level) for cc in ("gcc", "clang") for level in ("-O0", "-O2")]
# Each condition, and how many of the calls meet it.
WHERE = [
    ("number", "i == 3", 1), ("number", "number.i < -1", 1),
    ("number", "i >= 4 || i == -1", 3),
    ("number", "!(i > -2 && i < 5)", 2),
    ("number", "big == 9223372036854775808", 1),
    ("number", "big > -1", 8), ("number", "i < 3000000000", 8),
    ("number", "low <= -1000", 2), ("number", "low == 0x7d0", 1),
    ("kinds", "flag == true", 4), ("kinds", "c == 'c'", 1),
    ("kinds", "c > 98 && flag == false", 3),
    ("kinds", "color == BLUE", 2), ("kinds", "flags == 128", 1),
    ("kinds", "rights == READ|WRITE", 1), ("kinds", "rights != RUN", 7),
    ("text", "s == 'beta'", 1), ("text", "s == 'bet'", 0),
    ("text", "s =~ '^be'", 3), ("text", "!(s =~ '^be')", 2),
    ("text", "s == NULL", 1), ("text", "s != 'alpha'", 4),
    ("text", "p == NULL && s != NULL", 2), ("text", "p != 0", 2),
    ("fields", "p.x == 2", 1), ("fields", "p.y < -2", 2),
    ("fields", "p.label == 'beta'", 1), ("fields", "p.note =~ '^betam'", 1),
    ("fields", "at.y == -1", 1), ("fields", "at.note == 'alpha'", 1),
    ("half", "x == 0", 1), ("half", "x == 0.1", 1), ("half", "x < 0", 1),
    ("half", "x >= 0.1", 2), ("half", "!(x > -1e30)", 1),
    ("half", "x != 3", 3), ("quarter", "x == 0.1", 0),
    ("quarter", "x != 0.1", 4), ("quarter", "x > 0.1", 2),
    ("quarter", "x < 0.1", 2), ("quarter", "x <= 1e300", 4),
    ("quarter", "x == 3 && i == 3", 1),
    ("library", "name == 'gamma'", 1), ("library", "name =~ '^be'", 3),
    ("library", "v.size > 2", 2), ("library", "owner != NULL", 1),
    ("library", "view == 'eta' && v.size == 1", 1),
]
RETURNS = [("number", "-20", 1), ("number", ">= 40", 2),
           ("kinds", "result == true", 4), ("text", "== NULL", 1),
           ("text", "=~ '^be'", 3), ("fields", "-3", 1),
           ("half", "1.5", 1), ("half", "< 0", 1), ("quarter", "== 0.75", 1)]


def program_of(compiler, level):
    if not shutil.which(compiler):
        pytest.skip("there is no %s" % compiler)
    return build("picks.cc", "-std=c++17", variant=Variant(compiler, level))


def n_true(run):
    """How often each condition was true in the whole run."""
    return [int(n) for n in re.findall(r"true (\d+) times?, stopped", run.out)]


# Nobody stops there: each counts to the end.
NEVER = " -count 1000"


@pytest.mark.parametrize("compiler, level", BUILDS)
def test_a_condition_on_arguments_is_true_as_often(gdb, compiler, level):
    program = program_of(compiler, level)
    there = [w for w in WHERE if w[0] != "library" or compiler == "gcc"]
    for some in (there[:20], there[20:]):
        lines = ['cstrace stop-when %s -where "%s"%s' % (f, where, NEVER)
                 for f, where, _ in some]
        run = gdb(program, *ON, *lines, "tbreak printf", "run",
                  "info cstrace-stops", "kill")
        listed = [one for one in some
                  if "%s, where %s, " % one[:2] in run.out]
        # Optimized code may not have a value any more; it says so.
        assert level == "-O2" or listed == some
        assert len(listed) > len(some) / 2
        assert list(zip(listed, n_true(run))) == [
            (one, one[2]) for one in listed]


@pytest.mark.parametrize("compiler, level", BUILDS)
def test_a_condition_on_results(gdb, compiler, level):
    program = program_of(compiler, level)
    lines = ['cstrace stop-when %s -returns "%s"%s' % (f, returns, NEVER)
             for f, returns, _ in RETURNS]
    run = gdb(program, *ON, *lines, "tbreak printf", "run",
              "info cstrace-stops", "kill")
    expected = [n for f, _, n in RETURNS if "%s, returns" % f in run.out]
    assert level == "-O2" or len(expected) == len(RETURNS)
    assert expected and n_true(run) == expected


def test_it_stops_in_the_users_frame(gdb):
    run = gdb(build("picks.cc", "-std=c++17"), *ON,
              "cstrace stop-when number -where 'i == 3'",
              "cstrace stop-when number -where 'i > 3' -returns 50",
              "run", "info args", "continue", "info args", "continue")
    assert "stop 1: number, where i == 3; hit 1" in run.said()
    assert ("stop 2: number, where i > 3, returns result == 50; hit 1"
            in run.said())
    assert re.findall(r"^i = (-?\d+)$", run.out, re.M) == ["3", "5"]
    assert "exited normally" in run.out


@pytest.mark.parametrize("is_traced", [True, False], ids=["hooks", "patched"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_next_call_is_looked_at(gdb, tmp_path, compiler, is_traced):
    """Where calls are recorded already when the condition comes."""
    if not shutil.which(compiler):
        pytest.skip("there is no %s" % compiler)
    (tmp_path / "app.c").write_text("""
        __attribute__((noinline)) int fac(int n)
        {
            return n < 2 ? 1 : n * fac(n - 1);
        }
        int main(int argc, char **argv)
        {
            int n = argc + 2;
            return fac(n) != 6;
        }
        """)
    subprocess.run([compiler, "-g", "-O0", "app.c", "-o", "app",
                    *["-finstrument-functions"][:is_traced]], check=True,
                   cwd=tmp_path)
    for condition in "", " -where n==3", " -returns 6":
        out = gdb(tmp_path / "app", "set cstrace live off", "cstrace start",
                  "break 9", "run", "cstrace stop-when fac" + condition,
                  "continue", "info args").out
        assert "stop 1: fac" in out and out.splitlines()[-1] == "n = 3", out


def test_conditions_come_together(gdb):
    """The third of those with such a value, below a function."""
    run = gdb(build("visits.c"), *ON,
              "cstrace stop-when leaf -under visit -where 'n > 0' -count 3",
              "run", "info args", "continue")
    assert re.findall(r"^n = (\d+)$", run.out, re.M) == ["3"]


def test_all_threads_compare(gdb):
    run = gdb(build("visits.c"), *ON,
              "cstrace stop-when visit -where 'n == 2005'", "run", "info args",
              "continue", args=("threads",))
    assert re.findall(r"^n = (\d+)$", run.out, re.M) == ["2005"]
    assert "exited normally" in run.out


def test_they_count_anew_in_each_run(gdb):
    run = gdb(build("visits.c"), *ON,
              "cstrace stop-when leaf -where 'n == 100'", "run", "info args",
              "run", "info args", "info cstrace-stops", "continue")
    assert re.findall(r"^n = (\d+)$", run.out, re.M) == ["100", "100"]
    assert "true 1 time, stopped 2 times" in run.out


def test_one_that_is_set_on_the_way(gdb):
    run = gdb(build("visits.c"), *ON, "break visit if n == 1", "run",
              "delete", "cstrace stop-when leaf -where 'n > 2'",
              "cstrace stop-when leaf -where 'n == 2'", "continue",
              "info args", "delete cstrace-stops 2", "continue", "info args",
              "kill")
    assert re.findall(r"^n = (\d+)$", run.out, re.M) == ["2", "3"]


def test_triggers_have_them(gdb):
    run = gdb(build("visits.c"), "set cstrace live off", "cstrace start",
              "cstrace on leaf -where 'n == 100' do start", "run",
              "cstrace calls leaf")
    assert "trigger 1: leaf, where n == 100: start" in run.said()
    assert run.out.count("  leaf  from visit") == 1


REFUSED = [
    ("number -where 'bigg == 3'", "no value 'bigg': did you mean big?"),
    ("number -where 'result == 3'",
     "the result is not known where number() begins: -returns compares it"),
    ("none -where 'result == 3'",
     "the result is not known where none() begins: -returns compares it"),
    ("number -where 'i == 2.5'", "'i' of number() is an integer: what it is "
     "compared with is none"),
    ("number -where \"i == 'x'\"", "'i' of number() is a number: compare it"),
    ("number -where \"i =~ 'x'\"", "'i' of number() is a number: =~ takes"),
    ("kinds -where 'color == GREY'",
     "'color' of kinds() is an enum that has no GREY"),
    ("kinds -where 'color < BLUE'",
     "'color' of kinds() is an enum: == and != compare it with a name"),
    ("text -where \"s =~ 'a.*b'\"", "=~ takes the begin of a text only"),
    ("text -where 's < NULL'", "'s' of text() is NULL or not"),
    ("text -where 's == 3'", "'s' of text() is a text: compare it with one"),
    ("text -where 'p == main'",
     "'p' of text() is a pointer: compare it with NULL or an address"),
    ("fields -where 'p == 3'", "'p' of fields() is a struct: compare one of"),
    ("fields -where 'p.z == 3'", "fields() has no value 'p.z'"),
    ("library -where 'v == 3'", "'v' of library() is a vector: compare its"),
    ("half -where 'x == NULL'", "'x' of half() is a number: compare it with"),
    ("half -where \"x =~ '3'\"", "'x' of half() is a number: =~ takes texts"),
    ("wide -where 'x > 1'", "'x' of wide() is a long double"),
    ("main -where 'i == 3'", "main() has no values that are known"),
    ("library -returns 1", "library() returns nothing that its exit's hook"),
    ("number -returns 'i == 3'",
     "'i' is not what number() returns, which is called result"),
    ("number -where 'i = 3'",
     "bad condition: expected ==, !=, <, <=, >, >= or =~"),
    ("number -where ''", "-where wants a condition on values, as"),
    ("number -where", "-where needs a value"),
    ("number -where 'i == 1' -where 'i == 2'", "-where is there twice"),
    ("number -where '%s'" % " || ".join("i == %d" % i for i in range(17)),
     "the condition has more than 16 comparisons"),
]


def test_what_cannot_be_decided_is_refused(gdb):
    lines = []
    for options, _ in REFUSED:
        lines += ["cstrace stop-when " + options, "echo ---\\n"]
    run = gdb(build("picks.cc", "-std=c++17"), *ON, *lines,
              "info cstrace-stops")
    for (_, reason), told in zip(REFUSED, run.out.split("---\n")):
        assert reason in told
    assert "no conditions: `cstrace stop-when FUNCTION`" in run.out


def test_some_functions_that_cannot_are_named(gdb):
    run = gdb(build("picks.cc", "-std=c++17"), *ON,
              "cstrace stop-when /number|half/ -where 'i == 3'", "run",
              "info args", "info cstrace-stops", "continue")
    assert ("cstrace stop-when: at 1 function it is not decided: half() has "
            "no value 'i'" in run.said())
    assert ("stop 1: in some calls it is not decided: half() has no value 'i'"
            in run.said())
    assert "i = 3" in run.out


def test_no_debug_information(gdb):
    run = gdb(build("visits.c", "-g0"), *ON,
              "cstrace stop-when leaf -where 'n == 3'")
    assert "there is no debug information of leaf()" in run.out
