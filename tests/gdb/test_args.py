# SPDX-License-Identifier: MIT
"""Arguments and results of calls: in rows of gdb and of the command, of what
the hooks of gcc and clang see."""

import re
import shutil

import pytest

from lib_build import Variant, build
from lib_cstrace import cstrace
from lib_gdb import run_gdb

HAS_VALUES = True
BUILDS = [(cc, level) for cc in ("gcc", "clang") for level in ("-O0", "-O2")]
ARGS = ("set cstrace args on", "set cstrace results on")


@pytest.fixture(params=BUILDS, ids=lambda p: "".join(p))
def program(request):
    compiler, level = request.param
    if not shutil.which(compiler):
        pytest.skip("there is no %s" % compiler)
    return build("args.c", variant=Variant(compiler, level))


def calls_of(text, function):
    """What rows have of the calls of the function, without the place."""
    return re.findall(r"\s(%s(?:\(.*?\))?(?: = [^ ]+)?)(?:  |$)"
                      % re.escape(function), text, re.M)


def check(text):
    """What every compiler leaves somewhere."""
    assert calls_of(text, "parse")[:2] == ['parse(s="12+3", base=10) = 12',
                                           'parse(s="ff", base=16) = 255']
    assert calls_of(text, "nothing") == ["nothing"]
    fibs = calls_of(text, "fib")
    assert fibs[0].startswith("fib(n=3, depth=0)")
    assert "fib(n=1, depth=2)" in [f.partition(" = ")[0] for f in fibs]
    assert re.search(r"area\(p=0x[0-9a-f]+, c=BLUE\)", text)


def test_recorded_with_args(program, tmp_path):
    done = cstrace(tmp_path, "record", "--args", "-o", "t.cst", program)
    assert done.status == 0, done
    check(cstrace(tmp_path, "show", "t.cst").out)


def test_no_args_without_the_option(program, tmp_path):
    assert cstrace(tmp_path, "record", "-o", "t.cst", program).status == 0
    assert calls_of(cstrace(tmp_path, "show", "t.cst").out, "parse") == [
        "parse", "parse", "parse"]


def test_live_and_shown_in_gdb(program, tmp_path):
    run = run_gdb(tmp_path, program, *ARGS, "cstrace start", "run",
                  "echo ---\\n", "cstrace show")
    live, shown = run.out.split("---\n")
    # A call may be shown when it is open, its result in a row at its end.
    assert 'parse(s="12+3", base=10)' in live and "parse = 12" in re.sub(
        r"\(s=.*?\)", "", live)
    check(shown)


def test_on_by_default_in_gdb(tmp_path):
    run = run_gdb(tmp_path, plain(), "show cstrace args",
                  "show cstrace results", "set cstrace live off",
                  "cstrace start", "run", "cstrace show")
    assert "args: on\n" in run.out and "results: on\n" in run.out
    check(run.out)


def plain():
    return build("args.c")


def test_of_functions_that_match(tmp_path):
    done = cstrace(tmp_path, "record", "--args=^pa", "-o", "t.cst", plain())
    assert done.status == 0, done
    text = cstrace(tmp_path, "show", "t.cst").out
    assert 'parse(s="12+3", base=10) = 12' in text
    assert calls_of(text, "fib")[0] == "fib"


def test_no_args_at_start(tmp_path):
    run = run_gdb(tmp_path, plain(), *ARGS, "cstrace start -no-args", "run")
    assert calls_of(run.out, "parse")[0] == "parse"


def test_results_alone(tmp_path):
    run = run_gdb(tmp_path, plain(), "set cstrace args off",
                  "set cstrace results on", "set cstrace live off",
                  "cstrace start", "run", "cstrace show")
    assert calls_of(run.out, "parse")[0] == "parse = 12"


@pytest.mark.parametrize("compiler, level", BUILDS, ids="".join)
@pytest.mark.parametrize("is_traced", [True, False], ids=["hooks", "patched"])
def test_members_on_request(tmp_path, compiler, level, is_traced):
    """The first four that can be shown, of the class itself."""
    if not shutil.which(compiler):
        pytest.skip("there is no %s" % compiler)
    path = build("members.cc", variant=Variant(compiler, level),
                 is_traced=is_traced)
    way = () if is_traced else ("--patch",)
    done = cstrace(tmp_path, "record", "--members", *way, "-o", "t.cst", path)
    assert done.status == 0, done
    text = cstrace(tmp_path, "show", "t.cst").out
    pushes = [re.sub("0x[0-9a-f]+", "ADDRESS", call)
              for call in calls_of(text, "Stack::push")]
    assert pushes == [
        'Stack::push(this=ADDRESS, members={n=%d, name="first", load=%s}, '
        "x=%d)%s" % (*each, result) for each, result in zip(
            ((0, 0.5, 1), (1, 1.5, 2)), (call.partition(")")[2]
                                         for call in pushes))], text
    # gcc's copies of functions lack what nobody wants.
    results = [call.partition(" = ")[2] for call in pushes]
    is_copy = (compiler, level, is_traced) == ("gcc", "-O2", False)
    assert results == ["", ""] if is_copy else ["7", "8"]
    own = "<optimized out>" if is_copy else "3"
    assert re.search(r"Derived::sum\(this=[^,]+, members=\{own=%s\}, a=4\)"
                     % own, text)
    assert re.search(r"Empty::get\(this=[^,]+, a=3\)", text), text
    found = cstrace(tmp_path, "show", "--where", "push.members.n == 1",
                    "t.cst").out
    assert len(calls_of(found, "Stack::push")) == 1


def test_members_in_gdb(tmp_path):
    """Not unless they are wanted."""
    for wanted in ("off", "on"):
        run = run_gdb(tmp_path, build("members.cc"), *ARGS,
                      "set cstrace members " + wanted, "cstrace start", "run",
                      "show cstrace members")
        assert ("members={n=0, name=\"first\", load=0.5}" in run.out) == (
            wanted == "on")


LONG = """
static int length(const char *s)
{
	int n = 0;
	while (s[n])
		n++;
	return n;
}
int main(void) { return length("0123456789abcdefghijklmnopqrstuvwxyz-~") == 1; }
"""


def test_more_or_less_of_a_text(tmp_path):
    (tmp_path / "long.c").write_text(LONG)
    path = build(str(tmp_path / "long.c"))
    for n, text in ((None, '"0123456789abcdefghijklmnopqrstuv"...'),
                    (5, '"01234"...'),
                    (60, '"0123456789abcdefghijklmnopqrstuvwxyz-~"')):
        how = ("--args",) if n is None else ("--text-bytes=%d" % n,)
        cstrace(tmp_path, "record", *how, "-o", "t.cst", path)
        call = "length(s=%s) = 38" % text
        assert call in cstrace(tmp_path, "show", "t.cst").out
        run = run_gdb(tmp_path, path, *ARGS, "set cstrace text-bytes %d"
                      % (n or 32), "cstrace start", "run")
        assert call in run.out
    assert "1 to 200 bytes" in cstrace(tmp_path, "record", "--text-bytes=201",
                                       path).err
    run = run_gdb(tmp_path, path, "set cstrace text-bytes 0",
                  "set cstrace text-bytes 201", "set cstrace text-bytes x",
                  "show cstrace text-bytes")
    assert run.out.count("of a text there may be 1 to 200 bytes") == 3
    assert "text-bytes: 32" in run.out


def test_what_cannot_be_read_is_said(tmp_path):
    cstrace(tmp_path, "record", "--args", "-o", "t.cst", plain(), "bad")
    text = cstrace(tmp_path, "show", "t.cst").out
    assert "length(s=<cannot read>)" in text


def test_bad_values_of_the_settings(tmp_path):
    run = run_gdb(tmp_path, plain(), "set cstrace args (", "show cstrace args",
                  "set cstrace args", "show cstrace args")
    assert "args: " in run.out
    assert "regular expression" in run.out
    done = cstrace(tmp_path, "record", "--args=(", plain())
    assert done.status != 0


def test_threads_handlers_and_forks(tmp_path):
    done = cstrace(tmp_path, "record", "--args", "-o", "t.cst", plain(),
                   "busy")
    assert done.status == 0, done
    text = cstrace(tmp_path, "show", "t.cst").out
    sums = re.findall(r"sum\(a=(\d+), b=(\d+)\) = (\d+)", text)
    assert len(sums) == 3 * 400
    assert all(int(a) + int(b) == int(c) for a, b, c in sums)
    assert "on_signal(number=10)" in text
    assert "in_child(x=77) = 78" in text


def test_more_values_than_a_block_holds(tmp_path):
    done = cstrace(tmp_path, "record", "--args", "-o", "t.cst", plain(),
                   "many")
    assert done.status == 0, done
    shown = cstrace(tmp_path, "show", "--filter", "^sum$", "t.cst")
    assert shown.status == 0, shown.out[-300:]
    sums = re.findall(r"sum\(a=(\d+), b=(\d+)\) = (\d+)", shown.out)
    assert len(sums) == 50000
    assert all(int(a) + int(b) == int(c) for a, b, c in sums)


def test_callers_that_are_but_context_have_theirs(tmp_path):
    done = cstrace(tmp_path, "record", "--args", "-o", "t.cst", plain(),
                   "deep")
    assert done.status == 0, done
    text = cstrace(tmp_path, "show", "--last", "2", "t.cst").out
    assert 'has_many(n=20000, text="all of them") = 39998' in text
    assert len(re.findall(r"sum\(a=\d+, b=\d+\) = \d+", text)) == 2
