# SPDX-License-Identifier: MIT
"""The temporary folders of a gdb that was killed: the next one removes them."""

import os
import signal

from lib_build import Variant, build
from lib_gdb import run_gdb
from lib_term import Terminal


def test_of_a_gdb_that_was_killed(tmp_path):
    program = build("waits.c", variant=Variant(level="-O1"), is_traced=False)
    folder = tmp_path / "tmp"
    folder.mkdir()

    def left():
        return len(list(folder.glob("cstrace-plans-*")))

    with Terminal(tmp_path, program, TMPDIR=str(folder)) as t:
        t.ask("cstrace start")
        run_gdb(tmp_path, program, "cstrace start", TMPDIR=str(folder))
        assert left() == 1  # its owner lives
        t.send("run\n")
        t.wait("open +\\S+ +main")
        os.kill(t.session(), signal.SIGKILL)
        assert t.end("") == -signal.SIGKILL
    assert left() == 1
    run_gdb(tmp_path, program, "cstrace start", TMPDIR=str(folder))
    assert not list(folder.iterdir())
