# SPDX-License-Identifier: MIT
"""Arguments and results where it is harder to read them: in a sandbox, on other
stacks, left by jumps and exceptions, and with few levels kept."""

import re

import pytest

from lib_build import Variant, build
from lib_cstrace import cstrace

TIMES = 300
LEVELS = ("-O0", "-O2")


@pytest.fixture(params=LEVELS)
def program(request):
    return build("args_ways.cc", variant=Variant("gcc", request.param))


def rows(tmp_path, program, way, *options):
    """The rows of a run, which no copy of a value has disturbed."""
    done = cstrace(tmp_path, "record", "--args", *options, "-o", "t.cst",
                   program, way)
    assert done.status == 0, done
    assert "lost" not in done.err
    shown = cstrace(tmp_path, "show", "t.cst")
    assert shown.status == 0, shown
    return shown.out


def check_plus(text, n):
    found = re.findall(r"plus\(a=(-?\d+), b=(-?\d+)\)(?: = (-?\d+))?", text)
    assert len(found) == n
    assert all(not c or int(a) + int(b) == int(c) for a, b, c in found)
    return [(int(a), int(b)) for a, b, _ in found]


def check_some(text, numbers):
    """What some() calls, for each of these numbers."""
    assert check_plus(text, len(numbers)) == [(i, -1000 * i) for i in numbers]
    assert re.findall(r'size\(word="(\w+ ?\w*)"\)', text) == [
        word for i in numbers
        for word in ("a literal" if i % 2 else "one", "here %d" % i)]
    # Optimized code leaves the places of some.
    assert [(int(a), int(b), c if c.startswith("<") else int(c)) for a, b, c in
            re.findall(r"wide\(a=(\d+), b=(-?\d+), c=(.*?)\)", text)] in (
        [((1 << 60) + i, -i, i) for i in numbers],
        [((1 << 60) + i, -i, "<optimized out>") for i in numbers])
    found = re.findall(r"many\(a=(\d+), (.*?)\)", text)
    assert [int(a) for a, _ in found] == numbers
    assert all(rest.startswith("b=2, c=3, d=4, e=5, f=6") or
               "<optimized out>" in rest for _, rest in found)
    assert all("h=-8" in rest or "h=<optimized out>" in rest
               for _, rest in found)


@pytest.mark.parametrize("way", ["plain", "sandbox", "coroutines"])
def test_values_are_there(program, tmp_path, way):
    check_some(rows(tmp_path, program, way), list(range(TIMES)))


def test_on_a_signal_stack(program, tmp_path):
    text = rows(tmp_path, program, "handlers")
    assert check_plus(text, 2 * TIMES) == TIMES * [(10, 10), (1, -1000)]
    assert len(re.findall(r"on_signal\(number=10\)", text)) == TIMES
    assert len(re.findall(r'size\(word="here 1"\)', text)) == TIMES


def test_jumps_leave_no_values_behind(program, tmp_path):
    text = rows(tmp_path, program, "jumps")
    assert check_plus(text, TIMES) == [(i, 1) for i in range(TIMES)]
    assert len(re.findall(r'size\(word="over"\) = 4', text)) == TIMES
    assert re.findall(r'leap\(i=(\d+), word="over"\)', text) == [
        str(i) for i in range(TIMES)]


def test_exceptions_leave_no_values_behind(program, tmp_path):
    text = rows(tmp_path, program, "throws")
    assert check_plus(text, TIMES) == [(i, 1) for i in range(TIMES)]
    assert re.findall(r'fail\(i=(\d+), word="ball"\)', text) == [
        str(i) for i in range(TIMES)]


def test_few_levels_are_kept_with_their_values(program, tmp_path):
    text = rows(tmp_path, program, "deep", "--keep-depth=20")
    assert re.findall(r'deep\(n=(\d+), word="ground"\)', text) == [
        str(TIMES - i) for i in range(19)]
    assert check_plus(text, 18) == [(TIMES - i,) * 2 for i in range(18)]


def test_all_levels(program, tmp_path):
    text = rows(tmp_path, program, "deep")
    assert check_plus(text, TIMES + 1) == [
        (TIMES - i,) * 2 for i in range(TIMES + 1)]


def test_words_of_the_heap(program, tmp_path):
    text = rows(tmp_path, program, "heap")
    assert re.findall(r'size\(word="([\w ]+)"\)', text) == TIMES * [
        "from the heap", "brink"]
