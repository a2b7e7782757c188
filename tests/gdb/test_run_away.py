# SPDX-License-Identifier: MIT
"""Programs that are run in an environment without the shim: they run as they
would, and a line says that they are not traced."""

import re
import subprocess

import pytest

from lib_build import BUILD, FOUR, build
from lib_cstrace import LIMIT_S, command
from lib_gdb import environment
from test_record_robust import check_as_alone, n_calls

WAYS = ["execve", "execvpe", "fexecve", "execveat", "execle", "syscall",
        "posix_spawn", "posix_spawnp", "vfork", "execv", "execvp", "execl", "execlp",
        "unsetenv", "system", "popen"]
NAMES = {"fexecve": "no name", "system": "/bin/sh", "popen": "/bin/sh"}


def said(name):
    return ("any calls in 1 program (%s) are missing: LD_PRELOAD and "
            "CSTRACE_AREA were not passed on\n" % name)


def last_of(path):
    return str(path)[-63:]


@pytest.mark.parametrize("how", WAYS)
def test_a_program_that_runs_another(tmp_path, how):
    program = build("runs_another.c")
    done = command("record", program, how, cwd=tmp_path)
    check_as_alone(done, program, how, cwd=tmp_path)
    assert n_calls(done.stderr) == 2
    name = NAMES.get(how, last_of(program))
    assert done.stderr.endswith("\ncstrace: " + said(name))
    done = command("info", "cstrace.cst", cwd=tmp_path)
    assert "\nuntraced    " + said(name) in done.stdout


@pytest.mark.parametrize("variant", FOUR, ids=str)
@pytest.mark.parametrize("how, calls", [("kept", 4), ("nowhere", 2)])
def test_nothing_is_missing(tmp_path, how, calls, variant):
    program = build("runs_another.c", variant=variant)
    done = command("record", program, how, cwd=tmp_path)
    check_as_alone(done, program, how, cwd=tmp_path)
    assert n_calls(done.stderr) == calls and "missing" not in done.stderr


def test_by_a_program_without_calls(tmp_path):
    program = build("runs_another.c")
    done = command("record", "env", "-i", program, cwd=tmp_path)
    assert done.returncode == 11
    assert done.stderr.endswith("\ncstrace: " + said(last_of(program)))


def test_several(tmp_path):
    program = build("runs_another.c")
    done = command("record", "sh", "-c",
                   'env -i "$0"; env -i /bin/true; "$0" kept', program,
                   cwd=tmp_path)
    assert n_calls(done.stderr) == 4
    assert "any calls in 2 programs (%s, ...) are" % last_of(
        program) in done.stderr


def test_with_nobody_there_to_read(tmp_path):
    program = build("runs_another.c")
    shim = str(BUILD / "libcstrace.so")
    done = subprocess.run(
        [str(program), "vfork"], cwd=tmp_path, timeout=LIMIT_S, check=False,
        env=environment(tmp_path, LD_PRELOAD=shim,
                        CSTRACE_FILE=str(tmp_path / "area")))
    assert done.returncode == 11
    shown = command("info", "area", cwd=tmp_path)
    assert "\nuntraced    " + said(last_of(program)) in shown.stdout


@pytest.mark.parametrize("how", ["execve", "vfork"])
def test_in_gdb(gdb, how):
    program = build("runs_another.c")
    run = gdb(program, "set cstrace live off", "cstrace start", "run",
              "cstrace status", args=[how])
    assert re.search(r"^cstrace: 2 calls in .*, 1 program executed without "
                     r"libcstrace\.so", run.out, re.M), run.out
    assert re.search(r"^untraced +any calls in 1 program \(.*runs_another\) "
                     r"are missing", run.out, re.M)
