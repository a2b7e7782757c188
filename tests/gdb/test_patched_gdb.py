# SPDX-License-Identifier: MIT
"""cstrace start -patch: programs without hooks, under gdb."""

import re

import pytest

from lib_build import Variant, build, build_library
from lib_gdb import run_gdb

LEVELS = [Variant(level=level, is_pie=is_pie)
          for level in ("-O0", "-O1", "-O2", "-Os") for is_pie in (True, False)]
WHERE = ("python f = gdb.newest_frame(); print('AT', ' < '.join('%s:%d' % ("
         "g.name(), g.find_sal().line) for g in [f, f.older()] if g))")
START = ["cstrace start -patch"]


def places(home, program, commands, is_patched):
    out = run_gdb(home, program, "set cstrace live off",
                  "set cstrace step-report off",
                  *(START if is_patched else []), *commands).out
    assert not is_patched or "functions that are patched" in out
    return re.findall("^AT .*", out, re.M)


@pytest.mark.parametrize("variant", LEVELS, ids=str)
@pytest.mark.parametrize("word, n", [("step", 22), ("next", 6)])
def test_steps_are_as_without(tmp_path, variant, word, n):
    program = build("steps.c", variant=variant, is_traced=False)
    commands = ["break outer", "run", "delete", WHERE, *([word, WHERE] * n)]
    alone = places(tmp_path, program, commands, False)
    patched = places(tmp_path, program, commands, True)
    assert len(alone) == n + 1 and patched == alone


@pytest.mark.parametrize("variant", LEVELS, ids=str)
def test_breakpoints_and_finish_are_as_without(tmp_path, variant):
    program = build("steps.c", variant=variant, is_traced=False)
    commands = ["break leaf", "break middle", "run",
                *([WHERE, "finish", WHERE, "continue"] * 4), "up", WHERE]
    alone = places(tmp_path, program, commands, False)
    assert len(alone) == 9
    assert places(tmp_path, program, commands, True) == alone


def test_the_tree_is_there(tmp_path):
    program = build("steps.c", variant=Variant(level="-O2"), is_traced=False)
    out = run_gdb(tmp_path, program, *START, "break main", "run", "break 32",
                  "continue", "x/2i &leaf", "cstrace stop", "cstrace show",
                  "x/2i &leaf").out
    assert re.search(r"middle  steps.c:\d+\n.*leaf  steps.c:\d+", out)
    assert "jmp" not in out[out.rindex("<leaf>"):].split("\n")[0]


def test_a_breakpoint_inside_a_patch(tmp_path):
    """Its function is as it was from then on."""
    program = build("steps.c", variant=Variant(level="-O2"), is_traced=False)
    out = run_gdb(tmp_path, program, *START, "break main", "run",
                  "break *((char *)&leaf + 2)", "continue", WHERE, "delete",
                  "continue").out
    assert "AT leaf:" in out and "SIGSEGV" not in out and "SIGILL" not in out


def test_detached_it_is_as_it_was(tmp_path):
    program = build("steps.c", variant=Variant(level="-O2"), is_traced=False)
    out = run_gdb(tmp_path, program, *START, "break leaf", "run", "delete",
                  "detach", "cstrace show").out
    assert "middle  steps.c" in out and "exited" not in out


def test_each_run_is_patched(tmp_path):
    program = build("steps.c", variant=Variant(level="-O2"), is_traced=False)
    out = run_gdb(tmp_path, program, *START, "run",
                  "run", "cstrace show").out
    assert len(re.findall(r"^cstrace: \d+ calls in 1 thread", out, re.M)) == 2
    assert "middle  steps.c" in out


def test_what_cannot_be_is_refused(tmp_path):
    hooked = build("steps.c")
    out = run_gdb(tmp_path, hooked, *START).out
    assert "-patch is for programs without hooks" in out
    plain = build("steps.c", is_traced=False)
    out = run_gdb(tmp_path, plain, "break main", "run", *START).out
    assert "-patch begins with the program" in out


@pytest.mark.parametrize("last", ["run", "cstrace stop"])
def test_nothing_is_left_of_the_plans(tmp_path, last):
    program = build("steps.c", variant=Variant(level="-O2"), is_traced=False)
    folder = tmp_path / "tmp"
    folder.mkdir()
    run_gdb(tmp_path, program, *START, last, TMPDIR=str(folder))
    assert not list(folder.glob("cstrace-plans*"))


def test_what_the_shim_refuses_is_said(tmp_path):
    """A thread that a library has begun may stand where a jump would be."""
    library = build_library("early_thread.c", "-pthread", is_traced=False)
    program = build("steps.c", "-Wl,--no-as-needed", str(library),
                    "-Wl,-rpath," + str(library.parent),
                    variant=Variant(level="-O2"), is_traced=False)
    out = run_gdb(tmp_path, program, *START, "run").out
    assert "the program was not patched: a library had begun threads" in out


def test_who_has_no_hooks_hears_of_it(tmp_path):
    program = build("steps.c", variant=Variant(level="-O2"), is_traced=False)
    out = run_gdb(tmp_path, program, "cstrace start").out
    assert "`cstrace start -patch` traces it as it is" in out
