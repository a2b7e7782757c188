# SPDX-License-Identifier: MIT
"""What takes long says on a terminal how far it has come."""

import time

import pexpect
import pytest

from lib_build import build
from lib_cstrace import CSTRACE, cstrace
from lib_gdb import environment
from lib_term import PROMPT, Terminal, end_of

LIMIT_S = 240
LINE = r"\r\x1b\[Kcstrace: \d+ % of \d+ calls read"
ERASED = "\r\x1b[K"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With "big.cst", whose calls take some seconds to go through."""
    folder = tmp_path_factory.mktemp("progress")
    n, took_s = 15000000, 0.0
    while took_s < 3:
        n *= 2
        done = cstrace(folder, "record", "--force", "-o", "big.cst",
                       build("tiny.c"), str(n))
        assert done.status == 0, done.err
        begin = time.monotonic()
        assert cstrace(folder, "graph", "big.cst").status == 0
        took_s = time.monotonic() - begin
    return folder


def command(folder, *words, term="xterm"):
    return pexpect.spawn(CSTRACE, [*words, "big.cst"], cwd=str(folder),
                         timeout=LIMIT_S, encoding="utf-8",
                         env=environment(folder, TERM=term, PAGER="cat"))


def test_the_command_writes_a_line_and_erases_it(folder):
    child = command(folder, "graph")
    child.expect(LINE)
    child.expect_exact(ERASED + "#")
    child.expect(r"main\r\n")
    child.expect(pexpect.EOF)
    assert " read" not in child.before
    assert end_of(child) == 0


def test_a_terminal_that_cannot_erase_has_none(folder):
    child = command(folder, "report", "--limit", "1", term="dumb")
    child.expect(pexpect.EOF)
    assert " read" not in child.before and "main" in child.before
    assert end_of(child) == 0


def test_gdb_writes_it_and_ctrl_c_ends_it(folder):
    with Terminal(folder, None, TERM="xterm") as t:
        t.ask("cstrace load big.cst")
        t.send("cstrace graph\n")
        t.wait(LINE)
        t.interrupt()
        t.wait(PROMPT)
        t.send("cstrace graph -depth 1\n")
        t.wait(LINE)
        t.wait("FUNCTION")
        assert ERASED in t.seen[-200:]
        t.wait(PROMPT)
