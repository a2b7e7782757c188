# SPDX-License-Identifier: MIT
"""`catch syscall` stops at the program's own system calls, not at the shim's."""

import re

import pytest

from lib_build import build
from test_standing import NO_IDS, NO_STEPS, QUIET, normal

SESSIONS = {
    "all": ["break main", "run", "catch syscall", "info breakpoints",
            *["continue"] * 4, "info breakpoints", "bt", *["continue"] * 30],
    "conditions": ["break main", "run", "catch syscall", "condition 2 $rdi < 3",
                   *["continue"] * 2, "info breakpoints", "ignore 2 3",
                   "continue", "condition 2", "continue", "info breakpoints",
                   *["continue"] * 30],
    "once": ["break main", "run", "tcatch syscall", "continue",
             "info breakpoints", "delete", "continue"],
    "steps": ["break through", "run", "catch syscall", *["next"] * 40, "bt"],
    "calls": ["break through", "run", "catch syscall", "print leaf(4)",
              "call pair(2)", "info breakpoints", "delete", "continue"],
    "others": ["catch syscall fork", "catch fork", "catch signal",
               "catch syscall write", "run", "info breakpoints", "kill"],
}
ROADS = pytest.mark.parametrize("is_traced", [True, False],
                                ids=["hooks", "patches"])


@ROADS
@pytest.mark.parametrize("name", SESSIONS)
def test_the_same_stops(gdb, is_traced, name):
    program = build("calls.c", is_traced=is_traced)
    with_us = gdb(program, QUIET, NO_IDS, NO_STEPS, "cstrace start",
                  *SESSIONS[name])
    without = gdb(program, *SESSIONS[name], loader=None)
    assert normal(with_us) == normal(without)
    assert name == "calls" or "(call to syscall" in without.out


@ROADS
def test_none_of_the_shims_from_the_begin_on(gdb, is_traced):
    """The dynamic linker's calls, to load it, are the program's."""
    run = gdb(build("calls.c", is_traced=is_traced), QUIET, "cstrace start",
              "catch syscall", "run", *["continue"] * 150)
    assert "exited normally" in run.out
    stops = re.findall(r"^Catchpoint .*", run.out, re.M)
    assert len(stops) > 40
    assert not [stop for stop in stops if " from " in stop
                and stop.endswith("libcstrace.so")]
