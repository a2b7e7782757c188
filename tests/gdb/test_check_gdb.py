# SPDX-License-Identifier: MIT
"""cstrace check in gdb: of other files, and of the running process."""

from pathlib import Path

import pytest

from lib_build import BUILD
from lib_cstrace import cstrace
from lib_gdb import run_gdb
from test_check import HOOKS, build, folder, in_gdb, same

assert folder  # a fixture


# ---- another file than gdb's program ---------------------------------------------


@pytest.mark.parametrize("name", ["gcc-plain", "./gcc-plain", "gcc-half.o"])
def test_a_file_in_gdb(folder, name):
    done = cstrace(folder, "check", "./" + name.removeprefix("./"))
    out = run_gdb(folder, folder / "gcc-full", "cstrace check " + name).out
    assert same(out) == same(done.out)
    assert in_gdb(folder, "gcc-full", "./gcc-full", "listed") \
        == in_gdb(folder, "gcc-full", "listed")


def test_no_program_is_needed_for_a_file(folder):
    out = run_gdb(folder, None, "cstrace check ./gcc-full",
                  "cstrace check ./gcc-full listed").out
    assert out.startswith("./gcc-full can be traced: ")
    assert out.endswith("functions of another file than the program: use the "
                        "command, cstrace check ./gcc-full 'listed'\n")


def test_what_is_no_file_is_a_regex(folder):
    (folder / "lisetd").write_text("text\n")
    for regex in "lisetd", "'^gcc-plain$'":
        assert "no function matches" in in_gdb(folder, "gcc-half", regex)


@pytest.mark.parametrize("name", ["./gone", "../gone", "/gone", "~/gone"])
def test_a_file_that_is_not_there_is_no_regex(folder, name):
    run = run_gdb(folder, folder / "gcc-half", "cstrace check " + name)
    assert run.out == "cstrace: there is no file %s\n" % name


# ---- in a process --------------------------------------------------------------


def test_a_process_with_the_shim(folder):
    out = run_gdb(folder, folder / "gcc-half", "break printf",
                  "cstrace start", "run", "cstrace check",
                  "cstrace check listed", "kill",
                  "cstrace check listed").out
    assert "  process     libcstrace.so is in it\n" in out
    assert "  trace       on, ring road, " in out
    assert out.count("    calls the hooks: if it is not in the trace") == 2


def test_a_process_without_the_shim(folder):
    out = run_gdb(folder, folder / "gcc-half", "break printf", "run",
                  "source %s" % (Path(__file__).parents[2] / "cstrace.py"),
                  "cstrace check", loader=None).out
    assert ("  process     runs without libcstrace.so\n"
            "    -> cstrace start, then run it again" in out)


PLUGIN_HOST = """\
#define _GNU_SOURCE
#include <dlfcn.h>
void loaded(void) {}
int main(void)
{
    void *plugin = dlopen("./libplugin.so", RTLD_NOW | RTLD_DEEPBIND);
    loaded();
    return !plugin;
}
"""


def test_hooks_that_lead_elsewhere(folder):
    (folder / "host.c").write_text(PLUGIN_HOST)
    build(folder, "gcc", "-g", HOOKS, "host.c", "-o", "host")
    build(folder, "gcc", "-g", HOOKS, "-shared", "-fPIC", "bare.c", "-o",
          "libplugin.so")
    out = run_gdb(folder, folder / "host",
                  "set environment LD_PRELOAD %s" % (BUILD / "libcstrace.so"),
                  "break loaded", "run",
                  "source %s" % (Path(__file__).parents[2] / "cstrace.py"),
                  "cstrace check", loader=None).out
    assert "  astray      libplugin.so calls the hooks of libc.so.6\n" in out
