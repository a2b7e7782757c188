# SPDX-License-Identifier: MIT
"""What needs a terminal: live rows while the program runs, the pager, Ctrl-C,
completion, colours, the machine interface."""

import os
import pty
import re

import pexpect
import pytest

from lib_build import build
from lib_gdb import command_line, environment, kill_session, session_members

PROMPT = r"\(gdb\) $"
LIMIT_S = 40


class Terminal:
    """A gdb at a terminal of 24 rows."""

    def __init__(self, home, program, args=(), term="dumb", **env):
        line = command_line(program, [], args, batch=False)
        self.gdb = pexpect.spawn(
            line[0], line[1:], cwd=str(home), timeout=LIMIT_S,
            env={**environment(home, **env), "TERM": term},
            encoding="utf-8", dimensions=(24, 100))
        self.gdb.expect(PROMPT)

    def expect(self, pattern):
        self.gdb.expect(pattern)
        return self.gdb.before

    def type(self, text, pattern=PROMPT):
        self.gdb.sendline(text)
        return self.expect(pattern)

    def quit(self):
        """Leave, whatever is under way; nobody may stay behind."""
        self.gdb.sendline("quit")
        if self.gdb.expect([pexpect.EOF, r"\(y or n\) "]):
            self.gdb.sendline("y")
            self.gdb.expect(pexpect.EOF)
        self.gdb.close()
        assert self.gdb.exitstatus == 0, self.gdb.signalstatus


@pytest.fixture
def terminal(tmp_path):
    opened = []

    def open_terminal(program, *args, **options):
        opened.append(Terminal(tmp_path, program, args, **options))
        return opened[-1]

    yield open_terminal
    for one in opened:
        left = session_members(one.gdb.pid)
        kill_session(one.gdb.pid)
        one.gdb.close(force=True)
        assert not left


def states(gdb):
    """Of gdb's children, the program among them; t: held by gdb."""
    with open("/proc/%d/task/%d/children" % (gdb.pid, gdb.pid)) as f:
        children = f.read().split()
    found = ""
    for child in children:
        with open("/proc/%s/stat" % child) as f:
            found += f.read().rpartition(") ")[2][0]
    return found


def test_rows_come_while_the_program_waits(terminal, tmp_path):
    t = terminal(build("waits.c"))
    t.type("cstrace start")
    t.gdb.sendline("run")
    # It is in a call that does not return before Ctrl-C.
    t.expect(r"open  main")
    t.gdb.sendintr()
    t.expect("received signal SIGINT")
    t.expect(PROMPT)
    t.quit()


def test_ctrl_c_and_go_on(terminal):
    t = terminal(build("spin.c"))
    t.type("set cstrace live off")
    t.type("cstrace start")
    for start, sign in (("run", "ready"), ("continue", r"Continuing\.")):
        t.type(start, sign)
        while "t" in states(t.gdb):
            pass  # until gdb has let it go
        t.gdb.sendintr()
        t.expect("received signal SIGINT")
        t.expect(PROMPT)
    assert "ring road" in t.type("cstrace status")
    t.quit()


def recorded(terminal, n, **options):
    t = terminal(build("basic.c"), n, **options)
    t.type("set cstrace live off")
    t.type("cstrace start")
    t.type("run")
    return t


def test_show_is_paged_and_q_ends_it(terminal):
    t = recorded(terminal, 20)
    t.type("cstrace show", "--Type <RET>")
    t.gdb.sendline("")
    t.expect("--Type <RET>")
    t.gdb.sendline("q")
    t.expect(PROMPT)
    assert "$1 = 1" in t.type("print 1")
    t.quit()


def test_ctrl_c_ends_a_long_show(terminal):
    t = recorded(terminal, 28)
    t.type("set height 0")
    t.type("cstrace show", "fib  basic.c:18")
    t.gdb.sendintr()
    t.expect(r"Quit\r\n")
    t.expect(PROMPT)
    assert "$1 = 1" in t.type("print 1")
    t.quit()


def test_ctrl_c_ends_a_long_save_and_leaves_no_file(terminal, tmp_path):
    t = recorded(terminal, 30)
    t.gdb.sendline("cstrace save big.txt")
    t.expect("cstrace save big.txt\r\n")
    t.gdb.sendintr()
    t.expect(PROMPT)
    if "saved to" not in t.gdb.before:
        assert "Quit" in t.gdb.before
        assert [p.name for p in tmp_path.iterdir()
                if p.name.startswith(("big", ".big"))] == []
    t.quit()


def test_colour_only_where_it_is_shown(terminal):
    for term, style, is_coloured in (("xterm", "on", True),
                                     ("xterm", "off", False),
                                     ("dumb", "on", False)):
        t = recorded(terminal, 1, term=term)
        t.type("set style enabled " + style)
        text = t.type("cstrace show", "middle")
        assert ("\033[2m" in text) == is_coloured, (term, style)
        t.expect(PROMPT)
        t.quit()


def test_completion_by_tab(terminal):
    t = terminal(build("basic.c"), 1)
    t.gdb.send("cstrace sho\t-la\t2\n")
    t.expect(PROMPT)
    assert "cstrace show -last 2" in re.sub(r"[\a\b]", "", t.gdb.before)
    t.quit()


def test_a_new_output_is_a_terminal_of_its_own(terminal, tmp_path):
    t = terminal(build("basic.c"), 1)
    master, slave = pty.openpty()
    t.type("set cstrace output " + os.ttyname(slave))
    t.type("cstrace start")
    text = t.type("run")
    assert "fib  basic.c" not in text
    assert b"fib" in os.read(master, 65536)
    t.quit()
