# SPDX-License-Identifier: MIT
"""docs/trace-format.md is enough to read a trace file by: what was made after
it reads the same calls as we do."""

import json
import struct
import subprocess

import pytest

from lib_build import build
from lib_cst import CALLS, INDEX, NAMES, PLACES, SEAL, SIZES, Trace
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
    """The trace as it was recorded, packed again, and its newest calls alone."""
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


def reported_sizes(folder, name):
    done = cstrace(folder, "report", "--fields", "size", "--format", "json",
                   name)
    assert done.returncode == 0, done.stderr
    return {row["name"]: row["size_bytes"]
            for row in json.loads(done.stdout)["rows"]}


def without(data, *kinds):
    """The file's bytes but for these blocks."""
    out, at = data[:16], 16
    while at < len(data):
        _magic, kind, n_info, n_data = struct.unpack_from("<4I", data, at)
        end = at + 24 + n_info + n_data
        out += b"" if kind in kinds else data[at:end]
        at = end
    return out


def test_sizes_of_functions(tmp_path):
    (tmp_path / "large.c").write_text(LARGE)
    program = build(str(tmp_path / "large.c"))
    table = subprocess.run(["nm", "-S", program], capture_output=True,
                           text=True, check=True).stdout
    sizes = {words[3]: int(words[1], 16)
             for words in map(str.split, table.splitlines())
             if len(words) == 4 and words[3] in ("leaf", "middle", "main")}
    assert len(sizes) == 3
    done = cstrace(tmp_path, "record", "-o", "t.cst", program)
    assert done.returncode == 0, done.stderr
    trace = check(tmp_path)
    assert {trace.functions[f][0]: size
            for f, size in trace.sizes.items()} == sizes
    assert reported_sizes(tmp_path, "t.cst") == sizes
    assert cstrace(tmp_path, "save", "t.cst", "u.cst").returncode == 0
    assert check(tmp_path, "u.cst").sizes == trace.sizes
    # Files were written so before there were such blocks.
    (tmp_path / "old.cst").write_bytes(
        without((tmp_path / "t.cst").read_bytes(), SIZES, INDEX, SEAL))
    assert reported_sizes(tmp_path, "old.cst") == dict.fromkeys(sizes)


def test_a_damaged_size_is_told(tmp_path):
    """A size is damaged if its function is not in the file."""
    (tmp_path / "large.c").write_text(LARGE)
    done = cstrace(tmp_path, "record", "-o", "t.cst",
                   build(str(tmp_path / "large.c")))
    assert done.returncode == 0, done.stderr
    (tmp_path / "bad.cst").write_bytes(without(
        (tmp_path / "t.cst").read_bytes(), NAMES, PLACES, CALLS, INDEX, SEAL))
    done = cstrace(tmp_path, "report", "bad.cst")
    assert done.returncode == 1 and "damaged" in done.stderr
