# SPDX-License-Identifier: MIT
"""LD_PRELOAD: the shim in it, the user's own kept, and put back."""

import os
import re
import shutil
import subprocess

import pytest

from lib_build import BUILD, build
from test_session import FIB_2, drawn

SHOW = "show environment LD_PRELOAD"
UNSET = 'Environment variable "LD_PRELOAD" not defined.'
SHIM = str(BUILD / "libcstrace.so")
USERS = "/lib/x86_64-linux-gnu/libm.so.6"


def preloads(run):
    return [line for line in run.lines() if "LD_PRELOAD" in line]


def basic():
    return build("basic.c")


def test_a_loaded_extension_preloads_the_idle_shim(gdb):
    run = gdb(basic(), SHOW, "run", args=[2])
    assert preloads(run) == ["LD_PRELOAD = " + SHIM]
    assert "fib(2) done" in run.out


def test_the_users_own_entry_is_kept_and_put_back(gdb):
    run = gdb(basic(), "set environment LD_PRELOAD " + USERS,
              "set cstrace preload off", "cstrace start", SHOW, "run",
              "cstrace stop", SHOW, args=[2])
    assert preloads(run) == ["LD_PRELOAD = %s:%s" % (SHIM, USERS),
                             "LD_PRELOAD = " + USERS]
    assert drawn(run) == FIB_2


def test_switched_off_it_leaves_no_trace(gdb):
    run = gdb(basic(), "set cstrace preload off", SHOW, "cstrace start",
              "cstrace stop", SHOW)
    assert preloads(run) == [UNSET, UNSET]


def test_what_the_user_sets_in_between_stays(gdb):
    run = gdb(basic(), "cstrace start", "set environment LD_PRELOAD " + USERS,
              "cstrace stop", "set cstrace preload off", SHOW)
    assert preloads(run) == ["LD_PRELOAD = " + USERS]


def test_a_folder_with_blanks_is_got_round(gdb, tmp_path):
    folder = tmp_path / "a folder"
    folder.mkdir()
    for name in ("libcstrace.so", "libcstrace-engine.so"):
        shutil.copy(BUILD / name, folder)
    run = gdb(basic(), "cstrace start", SHOW, "run", args=[2],
              CSTRACE_LIBDIR=str(folder))
    assert drawn(run) == FIB_2
    # and nothing is left of the way round
    assert os.listdir(tmp_path / ".cache" / "cstrace") == []


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("sanitizer", ["address", "undefined", "thread"])
def test_a_sanitized_program_is_traced(gdb, compiler, sanitizer):
    from lib_build import Variant
    program = build("basic.c", "-fsanitize=" + sanitizer,
                    variant=Variant(compiler))
    run = gdb(program, "cstrace start", "run", args=[2],
              ASAN_OPTIONS="detect_leaks=0")
    assert drawn(run) == FIB_2


def test_the_users_sanitizer_options_are_kept_and_put_back(gdb):
    run = gdb(basic(), "set environment ASAN_OPTIONS detect_leaks=0",
              "set cstrace preload off", "cstrace start",
              "show environment ASAN_OPTIONS", "run", "cstrace stop",
              "show environment ASAN_OPTIONS", args=[2])
    assert [line for line in run.lines() if "ASAN_OPTIONS" in line] == [
        "ASAN_OPTIONS = verify_asan_link_order=0:detect_leaks=0",
        "ASAN_OPTIONS = detect_leaks=0"]


def test_a_program_that_links_the_shim_needs_no_preload(gdb):
    program = build("basic.c", "-Wl,--no-as-needed", "-L" + str(BUILD),
                    "-lcstrace", "-Wl,-rpath," + str(BUILD))
    run = gdb(program, "cstrace start", "unset environment LD_PRELOAD",
              "start", "cstrace start", "continue", args=[2])
    assert drawn(run) == FIB_2


def test_a_program_that_has_the_archive_gets_no_second_shim(gdb):
    program = build("basic.c", str(BUILD / "libcstrace.a"))
    run = gdb(program, SHOW, "cstrace start", "run", args=[2])
    assert preloads(run) == [UNSET]
    assert drawn(run) == FIB_2


@pytest.mark.parametrize("name", ["libcstrace.so", "libcstrace-sample.so",
                                  "libcstrace.a"])
def test_its_names_are_no_place_for_a_users_breakpoint(name):
    """`break begin` means the program's function."""
    symbols = subprocess.run(["nm", BUILD / name], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    names = re.findall(r"^\w+ [bdrt] (.*)$", symbols, re.M)
    assert len(names) > 20
    assert [n for n in names if not re.match(r"cstrace|_", n)] == []
