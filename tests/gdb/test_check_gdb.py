# SPDX-License-Identifier: MIT
"""cstrace check in gdb: of other files, and of the running process."""

import csv
import io
import json
from pathlib import Path

import pytest

from lib_build import BUILD
from lib_cstrace import cstrace
from lib_gdb import run_gdb, wait_for
from lib_term import Terminal
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
    assert out.endswith(cstrace(folder, "check", "./gcc-full", "listed").out)


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
    assert "  trace       on, ring mode, " in out
    assert out.count("    calls the hooks: if it is not in the trace") == 2


FORKS = """\
#include <sys/wait.h>
#include <unistd.h>
int loop(int is_over)
{
    int status;
    if (!fork())
        _exit(3);
    return wait(&status) < 0 || WEXITSTATUS(status) != 3 ? 1 : is_over;
}
int main(void)
{
    char text[8];
    while (!loop(0))
        if (!access("over", F_OK))
            return 5;
    return read(0, text, 8) < 0;
}
"""


def test_asked_while_the_program_runs(folder):
    """Its end and the command's, both children of gdb, are told apart."""
    (folder / "forks.c").write_text(FORKS)
    build(folder, "gcc", "-g", HOOKS, "forks.c", "-o", "forks")
    with Terminal(folder, folder / "forks") as gdb:
        gdb.ask("set print inferior-events off")
        gdb.ask("run &")
        for _ in range(9):
            assert "  loop  forks.c:3" in gdb.ask("cstrace check loop")
        (folder / "over").touch()
        wait_for(lambda: "  loop  forks.c:3" in gdb.ask("cstrace check loop")
                 and "exited with code 05" in gdb.seen, "the program's end")
        gdb.end()


def test_a_program_of_another_machine(folder):
    """gdb reads it through the connection."""
    run = run_gdb(folder, None, "target remote | gdbserver --once - gcc-half",
                  "cstrace check", "cstrace check ./gcc-half listed", "kill")
    assert ("cstrace: %s is not on this machine: name a copy of it, "
            "cstrace check FILE" % (folder / "gcc-half") in run.lines())
    assert "\n  listed  half.c:15\n    calls the hooks: " in run.out


def test_a_process_of_another_machine(folder):
    out = run_gdb(folder, folder / "gcc-half",
                  "target remote | gdbserver --once - gcc-half",
                  "cstrace check", "break main", "continue",
                  "cstrace check", "kill").out
    assert "\n  process     has not loaded its libraries yet\n" in out
    assert ("\n  process     runs without libcstrace.so\n"
            "    -> cstrace start says what to type\n") in out


def test_rows_of_the_process_for_programs(folder):
    """Behind the file's."""
    for output in "json", "csv":
        out = run_gdb(folder, folder / "gcc-half", "break printf", "run",
                      "echo <<<\\n", "cstrace check -format " + output).out
        text = out.split("<<<\n")[1]
        if output == "json":
            rows = json.loads(text[:text.rindex("}\n") + 1])["rows"]
        else:
            rows = list(csv.DictReader(io.StringIO(text), strict=True))
        assert [(r["kind"], r["name"], r["advice"] or None)
                for r in rows[-2:]] == [
            ("fact", "process", None), ("fact", "trace", "cstrace start")]
        assert all(r.keys() == rows[0].keys() for r in rows)


def test_a_process_without_the_shim(folder):
    out = run_gdb(folder, folder / "gcc-half", "break printf", "run",
                  "source %s" % (Path(__file__).parents[2] / "cstrace.py"),
                  "cstrace check", loader=None).out
    assert ("  process     runs without libcstrace.so\n"
            "    -> cstrace start, which loads it\n" in out)


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
