# SPDX-License-Identifier: MIT
"""Golden trees: each program in every build, as live rows, saved text and
JSON lines.  The tree is the same however the program was compiled."""

import pytest

from lib_build import FOUR, VARIANTS, build
from lib_tree import CALLS, live_tree, outcome, own_sites, tree

TRACE = ("cstrace start", "run", "cstrace save t.txt", "cstrace save t.jsonl")


def traced(gdb, folder, source, variant):
    """The program's tree, seen in three ways that must agree."""
    run = gdb(build(source, variant=variant), *TRACE)
    assert "exited normally" in run.out
    saved = outcome(folder)
    assert own_sites(live_tree(run.out)) == saved
    return saved


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_plain_calls(gdb, tmp_path, variant):
    assert traced(gdb, tmp_path, "calls.c", variant) == CALLS


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_inlined_functions_have_their_own_call_lines(gdb, tmp_path, variant):
    assert traced(gdb, tmp_path, "inlined.c", variant) == tree("""
        main
          physical  inlined.c:37
            put_two  inlined.c:28
              put  inlined.c:17
              put  inlined.c:18
            always  inlined.c:29
              put  inlined.c:23
            put  inlined.c:31
            put  inlined.c:31
            put  inlined.c:32
          always  inlined.c:38
            put  inlined.c:23
        """)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_longjmp_closes_what_it_skips(gdb, tmp_path, variant):
    assert traced(gdb, tmp_path, "jump.c", variant) == tree("""
        main
          attempt  jump.c:47
            leap  jump.c:28  (unwound)
            settle  jump.c:30
          attempt  jump.c:48
            leap  jump.c:28  (unwound)
              leap  jump.c:17  (unwound)
                leap  jump.c:17  (unwound)
            settle  jump.c:30
          again  jump.c:49
            leap  jump.c:40  (unwound)
              leap  jump.c:17  (unwound)
            leap  jump.c:40  (unwound)
              leap  jump.c:17  (unwound)
            settle  jump.c:42
        """)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_calls_before_and_after_main(gdb, tmp_path, variant):
    assert traced(gdb, tmp_path, "life.c", variant) == tree("""
        early
          step  life.c:17
        main
          step  life.c:33
        at_exit
          step  life.c:27
        late
          step  life.c:22
        """)


# gcc's code calls the exit hook of what an exception unwinds, clang's does
# not: there the tree knows it from the frames.
EXCEPTIONS = """
    main
      attempt  throw.cc:65
        rethrow  throw.cc:55  (unwound)
          guarded  throw.cc:37  (unwound)
            fail  throw.cc:31  (unwound)
              fail  throw.cc:24  (unwound)
                throw int  throw.cc:23
            Guard::~Guard
              Guard::clean  throw.cc:12
          catch int  throw.cc:38
          Guard::clean  throw.cc:39
          rethrow int  throw.cc:40
        catch int  throw.cc:56
        recover  throw.cc:57
      attempt  throw.cc:65
        fail  throw.cc:53  (unwound)
          fail  throw.cc:24  (unwound)
            throw int  throw.cc:23
        catch int  throw.cc:56
        recover  throw.cc:57
      recover  throw.cc:67
    """


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_exceptions_close_what_they_skip(gdb, tmp_path, variant):
    assert traced(gdb, tmp_path, "throw.cc", variant) == tree(EXCEPTIONS)


# "main::LAMBDA" stands for gcc's and clang's names of it; what several
# functions are called has parameters.
NAMES = """
    main
      Point::Point  names.cc:68
      Point::Point  names.cc:68
      Point::operator+  names.cc:69
        Point::Point  names.cc:24
      Point::dot  names.cc:70
      Point::zero  names.cc:70
      hidden  names.cc:73
      file_local(int)  names.cc:74
      file_local(char)  names.cc:75
      largest<...>(int, int)  names.cc:76
      largest<...>(double, double)  names.cc:77
      Counter<...>::Counter  names.cc:78
      Counter<...>::count  names.cc:78
      main::LAMBDA  names.cc:79
      Point::~Point
      Point::~Point
      Point::~Point
    """


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_names_are_simple_ones(gdb, tmp_path, variant):
    name = "{lambda(int)#1}" if variant.compiler == "gcc" else "$_0"
    assert traced(gdb, tmp_path, "names.cc", variant) == tree(
        NAMES.replace("LAMBDA", name))


def compared(tree_text, function):
    return sum(line.strip().startswith(function)
               for line in tree_text.splitlines())


@pytest.mark.parametrize("variant", FOUR, ids=str)
def test_the_library_is_hidden_but_not_what_it_calls(gdb, tmp_path, variant):
    run = gdb(build("sorted.cc", variant=variant), "set cstrace live off",
              *TRACE)
    lines = outcome(tmp_path).splitlines()
    n_before, n_less = 245, 16
    assert "before %d, less %d" % (n_before, n_less) in run.out
    assert lines[:2] == ["main", "  sort_some  sorted.cc:48"]
    assert [line.split("  sorted.cc")[0] for line in lines[2:2 + n_before]] \
        == ["    before"] * n_before
    assert lines[2 + n_before] == "  map_some  sorted.cc:49"
    assert [line.split("  sorted.cc:")[0] for line in lines[3 + n_before:]] \
        == ["    Key::operator<"] * n_less
    # Each has the line in the caller that is shown.
    assert all("  sorted.cc:" in line for line in lines[1:])


@pytest.mark.parametrize("variant", FOUR, ids=str)
def test_std_on_shows_the_library(gdb, tmp_path, variant):
    gdb(build("sorted.cc", variant=variant), "set cstrace live off",
        "set cstrace std on", *TRACE)
    text = outcome(tmp_path)
    assert "\n  sort_some  sorted.cc:48\n    vector<...>::" in text
    assert "\n    std::sort<...>" in text
    # under what calls it in the library, deeper than where it stood hidden
    assert "\n        " in text.split("before")[0]
    assert compared(text, "before") == 245


@pytest.mark.parametrize("variant", FOUR, ids=str)
def test_inline_functions_of_system_headers_are_hidden(gdb, tmp_path,
                                                       variant):
    gdb(build("header.c", variant=variant), *TRACE, args=[0])
    assert outcome(tmp_path) == "main\n"


def test_hidden_or_not_a_call_has_one_number(gdb, tmp_path):
    gdb(build("sorted.cc"), "set cstrace live off", "cstrace start", "run",
        "cstrace save few.jsonl", "set cstrace std on",
        "cstrace save all.jsonl")
    few = (tmp_path / "few.jsonl").read_text()
    all_calls = (tmp_path / "all.jsonl").read_text()

    def numbers(text):
        return [line.split('"')[3] for line in text.splitlines()
                if "before(int" in line]

    assert len(numbers(few)) == 245
    assert numbers(few) == numbers(all_calls)
