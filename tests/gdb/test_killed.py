# SPDX-License-Identifier: MIT
"""gdb is killed while it has a busy server with threads: that runs on, and the
next gdb or recorder has the right tree, or says why there is none."""

import re
import subprocess

from lib_build import BUILD
from lib_gdb import run_gdb
from lib_killed import busy, kill_gdb
from lib_server import LIMIT_S, is_as_in_file

QUIET = ("set cstrace live off", "set cstrace step-report off")
OTHER_PLAN = "-O0"  # gdb's is not the command's there
WHY_NO_CODE = "is not that of the file, and was not patched (if a gdb was killed"
WHY_NO_LOADER = ("a breakpoint is in its dynamic linker, left by a debugger "
                 "that was killed")


def cstrace(one, *words):
    return subprocess.run([str(BUILD / "cstrace"), *words], text=True,
                          cwd=one.folder, capture_output=True, timeout=LIMIT_S,
                          check=False)


def record(one, command="record"):
    return cstrace(one, command, "-p", str(one.pid), "--for", "200ms",
                   "--force", "-o", "out.cst")


def is_patched(one):
    try:
        return not is_as_in_file(one.pid)
    except AssertionError:
        return True


def next_gdb(one):
    """One that ends as it should."""
    return run_gdb(one.folder, None, *QUIET, "attach %d" % one.pid,
                   "cstrace start", "tbreak digit", "continue",
                   "tbreak answer", "continue", "tbreak digit", "continue",
                   "cstrace show -last 40", "cstrace stop", "detach").out


def check_tree(text):
    found = re.search(r"^.*? (\d+)\.\d+ +(?:serve.*\n(?:.* \1\.\d+ +)?)?"
                      r"answer +line_server.c:\d+\n", text, re.M)
    assert found, text
    assert re.search(r" number +line_server.c:\d+", text), text
    assert re.search(r" digit +line_server.c:\d+", text), text


def test_the_next_gdb_traces_it_and_puts_it_back(tmp_path):
    with busy(tmp_path) as one:
        kill_gdb(one, *QUIET, "cstrace start")
        one.answers()
        assert is_patched(one)
        out = next_gdb(one)
        assert "cstrace: on (ring mode)" in out
        assert "not patched" not in out
        check_tree(out)
        assert not is_patched(one)
        one.answers()
        done = record(one)  # as if nothing had been
        assert done.returncode == 0, done.stderr
        check_tree(cstrace(one, "show", "out.cst").stdout)
        assert not is_patched(one)


def test_its_conditions_are_forgotten(tmp_path):
    """Else each call would ask for them under the next recorder, too."""
    with busy(tmp_path) as one:
        kill_gdb(one, *QUIET, "cstrace start",
                 "cstrace stop-when answer -longer 100s")
        one.answers()
        seen = []
        for _ in range(2):
            out = run_gdb(tmp_path, None, "attach %d" % one.pid,
                          "python print('ON', gdb.parse_and_eval("
                          "'((int *)&cstrace_stops)[1]'))", "detach").out
            seen += re.findall(r"^ON (\d)", out, re.M)
            done = record(one)
            assert done.returncode == 0, done.stderr
        assert seen == ["1", "0"]
        check_tree(cstrace(one, "show", "out.cst").stdout)


def test_killed_again_and_again(tmp_path):
    with busy(tmp_path) as one:
        for _ in range(3):
            kill_gdb(one, *QUIET, "cstrace start")
            one.answers()
        check_tree(next_gdb(one))
        assert not is_patched(one)


def test_the_command_says_why_it_does_not_patch(tmp_path):
    with busy(tmp_path, OTHER_PLAN) as one:
        kill_gdb(one, *QUIET, "cstrace start")
        one.answers()
        done = record(one)
        assert done.returncode == 1 and WHY_NO_CODE in done.stderr
        assert WHY_NO_LOADER in record(one, "sample").stderr
        one.answers()
        assert is_patched(one)


def test_after_a_gdb_without_cstrace(tmp_path):
    """Its breakpoint in the dynamic linker would end the program in dlopen()."""
    with busy(tmp_path) as one:
        kill_gdb(one, loader=None)
        one.answers()
        done = record(one)
        assert done.returncode == 1 and WHY_NO_LOADER in done.stderr
        assert WHY_NO_LOADER in record(one, "sample").stderr
        out = run_gdb(tmp_path, None, *QUIET, "attach %d" % one.pid,
                      "cstrace start", "detach").out
        assert WHY_NO_LOADER in out and "Traceback" not in out
        one.answers()


def test_breakpoints_of_the_same_gdb_are_none_of_them(tmp_path):
    with busy(tmp_path) as one:
        out = run_gdb(tmp_path, None, *QUIET,
                      "set breakpoint always-inserted on",
                      "attach %d" % one.pid, "cstrace start", "tbreak digit",
                      "continue", "cstrace stop", "detach").out
        assert "cstrace: on (ring mode)" in out
        one.answers()


def test_of_a_recorder_that_was_killed(tmp_path):
    with busy(tmp_path, OTHER_PLAN) as one:
        for _ in range(2):
            with subprocess.Popen(
                    [str(BUILD / "cstrace"), "record", "-p", str(one.pid),
                     "-o", "a.cst", "--force"], cwd=tmp_path, text=True,
                    stderr=subprocess.PIPE) as recorder:
                assert "recording" in recorder.stderr.readline()
                one.answers()
                recorder.kill()
            one.answers()
            assert is_patched(one)
        out = run_gdb(tmp_path, None, *QUIET, "attach %d" % one.pid,
                      "cstrace start", "detach").out
        assert "was not patched: its code differs from the file's" in out
        one.answers()
        done = record(one)
        assert done.returncode == 0, done.stderr
        check_tree(cstrace(one, "show", "out.cst").stdout)
        assert not is_patched(one)
