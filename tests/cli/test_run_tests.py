# SPDX-License-Identifier: MIT
"""What `make test` makes of tests that fail."""

import os
import subprocess
import sys

import pytest

from lib_build import ROOT

UNSTEADY = """
import pathlib
def test_unsteady():
    been = pathlib.Path(__file__).with_suffix(".been")
    is_first = not been.exists()
    been.touch()
    assert not is_first, "the first time"
def test_steady():
    pass
"""
WRONG = "def test_wrong(): assert 0, 'always'\n"
MANY = "".join(WRONG.replace("wrong", "wrong%d" % i) for i in range(7))


@pytest.fixture
def run_tests(tmp_path):
    def run(text):
        path = tmp_path / "test_some.py"
        path.write_text(text)
        environment = {k: v for k, v in os.environ.items()
                       if not k.startswith("PYTEST")}
        done = subprocess.run(
            [sys.executable, ROOT / "tools" / "run-tests", "--ring", "gdb",
             "--build", tmp_path, "--gdb", "--rootdir=%s %s" % (tmp_path, path)],
            env=environment, capture_output=True, text=True, timeout=300,
            check=False)
        return done.returncode, done.stdout.splitlines()
    return run


def test_a_test_that_passes_when_it_runs_again_is_named(run_tests):
    status, lines = run_tests(UNSTEADY)
    assert (status, lines[-1]) == (0, "2 passed, 0 failed")
    assert lines[-2].startswith("  unsteady: test_some::test_unsteady: "
                                "AssertionError: the first time")


def test_one_that_fails_again_has_failed(run_tests):
    status, lines = run_tests(UNSTEADY + WRONG)
    assert (status, lines[-1]) == (1, "2 passed, 1 failed")
    assert lines[-2].startswith("  failed: test_some::test_wrong: "
                                "AssertionError: always")
    assert lines[-3].startswith("  unsteady: test_some::test_unsteady")


def test_many_that_fail_do_not_run_again(run_tests):
    status, lines = run_tests(MANY)
    assert (status, lines[-1]) == (1, "0 passed, 7 failed")
    assert not any("once more" in line for line in lines)


def test_a_file_that_cannot_be_read_has_failed(run_tests):
    status, lines = run_tests("import nothing_of_this_name\n")
    assert (status, lines[-1]) == (1, "0 passed, 1 failed")
