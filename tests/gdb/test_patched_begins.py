# SPDX-License-Identifier: MIT
"""Functions at whose begin gdb reads the code: they are traced, and gdb's own
commands print the same lines as without cstrace."""

import json
import shutil

import pytest

from lib_as_without import lines
from lib_build import Variant, build

ARGS = ("set cstrace args on", "set cstrace results on")
NAMES = ("tell", "kind_of", "name_of", "last_of", "sum_of", "reset", "fits")
SESSIONS = {
    **{name: [word for function in NAMES for word in
              ("tbreak " + function, "run", "info args", "bt",
               *[name] * 9, "bt", "kill")]
       for name in ("step", "next", "until", "stepi", "nexti")},
    # What is not initialized yet has other contents with more libraries.
    "instructions": ["set print frame-arguments none",
                     *(word for function in NAMES for word in
                       ("tbreak *" + function, "run", *["stepi"] * 25, "bt",
                        "kill"))],
    "ways out": [word for function in NAMES for word in
                 ("tbreak " + function, "run", "finish", "next", "kill",
                  "tbreak " + function, "run", "return", "bt", "next",
                  "kill")],
    "into": ["break main", "run", *["step"] * 60, "bt"],
    "each line": [*("break begins.c:%d" % n for n in range(18, 78)), "run",
                  *["continue"] * 40, "bt", "info breakpoints"],
    "calls": ["break fits", "run", "print kind_of(n)", "up",
              "print kind_of(n)", "print last_of(&a)->kind",
              "call reset(&a)", "print sum_of(&a)", "delete", "continue"],
    "watch": ["break reset", "run", "watch -l n->value", "continue", "bt",
              "continue", "bt", "next", "bt"],
}
BUILDS = [("gcc", "-O0", ()), ("clang", "-O0", ()), ("gcc", "-O0", ("-pg",)),
          ("gcc", "-O1", ("-fno-omit-frame-pointer", "-fno-inline")),
          ("gcc", "-O0", ("-fcf-protection",)), ("gcc", "-O0", ("-no-pie",))]
CALLS = {"tell": 4, "kind_of": 6, "name_of": 3, "last_of": 1, "sum_of": 2,
         "reset": 1, "fits": 3}


def made(source, compiler, level, flags=()):
    if not shutil.which(compiler):
        pytest.skip("there is no %s" % compiler)
    return build(source, *flags, variant=Variant(compiler, level),
                 is_traced=False)


@pytest.mark.wide("compiler level flags", "session")
@pytest.mark.parametrize("session", SESSIONS)
@pytest.mark.parametrize("compiler, level, flags", BUILDS, ids=lambda v:
                         "".join(v) if isinstance(v, tuple) else v)
def test_lines_are_as_without(gdb, compiler, level, flags, session):
    program = made("begins.c", compiler, level, flags)
    alone = lines(gdb, program, SESSIONS[session], False)
    assert lines(gdb, program, SESSIONS[session], True) == alone


@pytest.mark.parametrize("compiler, level, flags", [
    b for b in BUILDS if b[1] == "-O0"], ids=lambda v:
    "".join(v) if isinstance(v, tuple) else v)
def test_they_are_in_the_tree(gdb, tmp_path, compiler, level, flags):
    saved = tmp_path / "calls.jsonl"
    gdb(made("begins.c", compiler, level, flags), *ARGS, "cstrace start", "run",
        "cstrace save %s" % saved)
    calls = [json.loads(line) for line in saved.read_text().splitlines()]
    counts = {name: sum(call["name"] == name for call in calls)
              for name in NAMES}
    # What is too small for a jump is left out: see docs/limits.md.
    assert {**CALLS, "fits": counts["fits"]} == counts
    formats = [call["args"]["format"] for call in calls
               if call["name"] == "tell"]
    assert formats == ["%d %c %d %.1f\n"] * 3 + ["%ld %c\n"]
    assert [call["args"]["kind"] for call in calls
            if call["name"] == "name_of"] == [1, 2, 3]


INLINED = ("many", "scaled", "Shape::Shape", "Shape::sum")
OPTIMIZED = {
    **{name: [word for function in INLINED for word in
              ("tbreak " + function, "run", "info args", "bt",
               *[name] * 12, "bt", "kill")]
       for name in ("step", "next", "until", "stepi")},
    "ways out": [word for function in INLINED for word in
                 ("tbreak " + function, "run", "finish", "next", "kill")],
    "into": ["break main", "run", *["step"] * 60, "bt"],
    "each line": [*("break begins.cc:%d" % n for n in range(9, 56)), "run",
                  *["continue"] * 30, "bt", "info breakpoints"],
}


@pytest.mark.wide("compiler level", "session")
@pytest.mark.parametrize("session", OPTIMIZED)
@pytest.mark.parametrize("compiler, level", [
    ("gcc", "-O1"), ("gcc", "-O2"), ("gcc", "-O3"), ("clang", "-O2")])
def test_lines_behind_what_is_cleared_are_as_without(gdb, compiler, level,
                                                     session):
    program = made("begins.cc", compiler, level)
    alone = lines(gdb, program, OPTIMIZED[session], False)
    assert lines(gdb, program, OPTIMIZED[session], True) == alone


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_what_is_cleared_holds_no_argument(gdb, tmp_path, level):
    saved = tmp_path / "calls.jsonl"
    gdb(made("begins.cc", "gcc", level), *ARGS, "cstrace start", "run",
        "cstrace save %s" % saved)
    calls = {call["name"]: call["args"] for call in
             map(json.loads, saved.read_text().splitlines())}
    assert calls["many"] == {"n": 3, "text": "abc"}
    assert calls["scaled"] == {"first": 1.5, "n": 7}
    # It is not traced where nothing keeps what it does not need.
    assert calls.get("unused", {"first": 2.5})["first"] == 2.5
