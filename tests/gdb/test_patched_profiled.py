# SPDX-License-Identifier: MIT
"""Programs that gcc's or clang's -pg has compiled for gprof: their calls of
mcount() are behind the frame's set-up, which gdb reads."""

import re

import pytest

from lib_as_without import SESSIONS, lines
from lib_build import Variant, build
from test_patched_stops import ON, program_of

HAS_VALUES = True
BUILDS = [("gcc", "-O0"), ("gcc", "-O1"), ("gcc", "-O2"), ("clang", "-O0"),
          ("clang", "-O1"), ("clang", "-O2")]
# The profile's signals would come at any instruction.
QUIET = "set exec-wrapper env --block-signal=PROF"


# Without optimization clang's arguments are not stored where gdb stops for a
# function.
@pytest.mark.wide("compiler level", "session")
@pytest.mark.parametrize("session", SESSIONS)
@pytest.mark.parametrize("compiler, level", [b for b in BUILDS
                                             if b != ("clang", "-O0")])
def test_lines_are_as_without(gdb, compiler, level, session):
    program = program_of("debugged.c", compiler, level, "-pg")
    commands = [QUIET, *SESSIONS[session]]
    alone = lines(gdb, program, commands, False)
    assert lines(gdb, program, commands, True) == alone


@pytest.mark.parametrize("is_pie", [True, False])
@pytest.mark.parametrize("compiler, level", BUILDS)
def test_calls_have_their_values(gdb, compiler, level, is_pie):
    program = build("steps.c", "-pg", variant=Variant(compiler, level, is_pie),
                    is_traced=False)
    out = gdb(program, *ON, "run", "cstrace show").out
    assert "cstrace: patching 4 functions" in out and "left out" not in out
    assert re.findall(r"\w+\(n=\d\)", out)[:4] == [
        "outer(n=1)", "middle(n=1)", "leaf(n=0)", "middle(n=2)"]
    assert "outer(n=1) = 12" in out
