# SPDX-License-Identifier: MIT
"""The first thread ends before the process does."""

import pytest

from lib_build import build
from lib_record import calls as calls_of
from lib_record import record
from lib_tree import read_jsonl
from test_record_file import alone


def ends(found):
    return {c["function"]: c["end"] for c in found}


LEFT = {"main": "unwound", "leave": "unwound", "work": "return"}


@pytest.mark.parametrize("args, status, end", [([], 0, "return"),
                                               (["x"], 3, "open")])
def test_what_it_had_open_was_left(gdb, tmp_path, args, status, end):
    program = build("main_leaves.c")
    wanted = dict(LEFT, worker=end)
    gdb(program, "cstrace start", "run", "cstrace save t.jsonl", args=args)
    assert ends(read_jsonl(tmp_path / "t.jsonl")) == wanted
    done, found = record(tmp_path, program, *args)
    assert (done.returncode, ends(found)) == (status, wanted)
    assert alone(tmp_path, program, *args).returncode == status
    assert ends(calls_of(tmp_path, "x.area")) == wanted
