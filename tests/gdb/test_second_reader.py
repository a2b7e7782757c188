# SPDX-License-Identifier: MIT
"""docs/trace-format.md is enough to read a trace file by: what was made after
it reads the same calls as we do."""

import json

import pytest

from lib_build import build
from lib_cst import CALLS, SEAL, Trace
from lib_formats import cstrace, record
from lib_gdb import run_gdb

LARGE = """
static int leaf(int n) { return n + 1; }
static int middle(int n)
{
	for (int i = 0; i < 200; i++)
		n = leaf(n);
	return n;
}
int main(void) { for (int i = 0; i < 1000; i++) middle(i); return 0; }
"""


def check(folder, name="t.cst"):
    """All that the JSON lines tell; returns the trace."""
    trace = Trace((folder / name).read_bytes())
    assert trace.kinds[-1] == SEAL
    done = cstrace(folder, "save", "--std", "--all", name, "t.jsonl")
    assert done.returncode == 0, done.stderr
    rows = trace.rows()
    lines = [json.loads(line) for line in open(folder / "t.jsonl")]
    assert len(rows) == len(lines) > 0
    for line in lines:
        row = rows[line["id"]]
        assert row == {key: line[key] for key in row}, line["id"]
    return trace


@pytest.mark.parametrize("how", ["ends", "stop"])
def test_threads_a_fork_and_jumps(tmp_path, how):
    record(tmp_path, *([how] if how == "stop" else []))
    trace = check(tmp_path)
    assert trace.command.split()[0].endswith("formats")
    assert len(trace.threads) >= 4
    assert {c.how for calls in trace.calls.values() for c in calls} \
        >= {"return", "unwound"}


def test_many_blocks(tmp_path):
    """As it was recorded, packed again, and the newest calls alone."""
    (tmp_path / "large.c").write_text(LARGE)
    program = build(str(tmp_path / "large.c"))
    for options in [], ["--flight", "64K"]:
        done = cstrace(tmp_path, "record", *options, "-o", "t.cst", program)
        assert done.returncode == 0, done.stderr
        trace = check(tmp_path)
        assert trace.kinds.count(CALLS) > 1
    assert cstrace(tmp_path, "save", "t.cst", "u.cst").returncode == 0
    check(tmp_path, "u.cst")


def test_begun_in_the_middle(tmp_path):
    run_gdb(tmp_path, build("calls.c"), "break pair", "run", "cstrace start",
            "delete", "continue", "cstrace save t.cst")
    trace = check(tmp_path)
    assert any(c.is_seed for calls in trace.calls.values() for c in calls)
