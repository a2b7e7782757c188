# SPDX-License-Identifier: MIT
"""Values of functions that were patched: what the program prints of them itself,
or that they are not known."""

import re

import pytest

from lib_build import Variant, build
from lib_cstrace import cstrace
from lib_gdb import run_gdb

UNKNOWN = "<optimized out>"
ROOM = "-fpatchable-function-entry=5"
WAYS = [("gcc", (level,)) for level in ("-O0", "-Og", "-O1", "-O2", "-O3",
                                        "-Os")]
WAYS += [("clang", way[1]) for way in WAYS]
WAYS += [(compiler, ("-O1", *flags)) for compiler in ("gcc", "clang")
         for flags in (("-pg",), ("-pg", "-mfentry"), (ROOM,),
                       ("-fcf-protection",), ("-fno-omit-frame-pointer",),
                       ("-gdwarf-4",), ("-DOF=static",))]
WAYS += [("clang", ("-O1", "-fxray-instrument",
                    "-fxray-instruction-threshold=1"))]
# clang, when it optimizes, says the place of each of their values.
SIMPLE = ("many", "floats", "counts", "rooms", "aligned")


def values(text):
    """(name, value) of all in parentheses, in order."""
    return re.findall(r"(\w+)=(<[^>]*>|\"[^\"]*\"|'.'|[^{}(), ]+)",
                      re.sub(r"=\d+ ('.')", r"=\1", text))


def rows(text):
    """(function, values)"""
    return [(name, values(inside)) for name, inside in re.findall(
        r"\b(many|floats|structs|on_stack|spare|counts|rooms|aligned)"
        r"(?:\.[\w.]+)?\((.*?)\)(?= |$)", text, re.M)]


def check(printed, shown, known):
    assert printed and len(shown) == len(printed)
    for (function, own), (name, ours) in zip(printed, shown):
        assert name == function
        if function == "spare":  # prints only two
            own, ours = ([(n, v) for n, v in of if n in "ny"]
                         for of in (own, ours))
        assert [n for n, _ in own] == [n for n, _ in ours]
        for (_, is_so), (_, value) in zip(own, ours):
            assert value in (is_so, UNKNOWN), (function, own, ours)
        if function in known:
            assert UNKNOWN not in [v for _, v in ours], (function, ours)


@pytest.mark.parametrize("compiler, flags", WAYS, ids=lambda v:
                         v if isinstance(v, str) else " ".join(v))
def test_values_are_what_the_program_has(tmp_path, compiler, flags):
    level, *more = flags
    program = build("parameters.c", "-fno-inline", *more, is_traced=False,
                    variant=Variant(compiler, level))
    done = cstrace(tmp_path, "record", "--patch", "--args", program)
    shown = cstrace(tmp_path, "show", "cstrace.cst")
    assert (done.status, shown.status) == (0, 0), done
    check(rows(done.out), rows(shown.out), SIMPLE)
    out = run_gdb(tmp_path, program, "set cstrace live off", "set cstrace args on",
                  "cstrace start", "run", "echo SHOWN\\n", "cstrace show").out
    printed, _, shown = out.partition("SHOWN\n")
    shown = rows(shown)
    # One has no room in gdb, where lines begin; others have it behind what
    # changes a register.
    missed = {"spare", "floats"} - {name for name, _ in shown}
    check([row for row in rows(printed) if row[0] not in missed], shown,
          SIMPLE if "-fno-omit-frame-pointer" not in more else ())
