# SPDX-License-Identifier: MIT
"""cstrace show on a terminal: the pager, the colours, and how one leaves."""

import os
import signal

import pexpect
import pytest

from lib_cstrace import CSTRACE, compile_c, record
from lib_gdb import environment
from lib_term import end_of

LIMIT_S = 120
SOURCE = """
static int leaf(int n) { return n + 1; }
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 20000; i++)
		sum += leaf(i);
	return sum == 0;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the trace "app.cst" of 20001 calls."""
    folder = tmp_path_factory.mktemp("pager")
    compile_c(folder, "app", SOURCE)
    record(folder, "app.cst", "app")
    return folder


def show(folder, *words, term="xterm", **env):
    return pexpect.spawn(CSTRACE, ["show", "app.cst", "--no-fold", *words],
                         cwd=str(folder), timeout=LIMIT_S,
                         env=environment(folder, TERM=term, **env),
                         dimensions=(10, 100), encoding="utf-8")


def rest(child):
    child.expect(pexpect.EOF)
    end_of(child)
    return child.before


def test_a_long_tree_waits_in_less(folder):
    child = show(folder)
    child.expect("main")
    child.expect(r":\S*$")  # less asks for the next page
    child.send("q")
    rest(child)
    assert (child.exitstatus, child.signalstatus) == (0, None)


def test_less_gets_colours(folder):
    child = show(folder)
    child.expect("\x1b\\[[0-9;]+m")
    child.expect(r":\S*$")
    child.send("q")
    rest(child)


def test_a_short_tree_needs_no_key(folder):
    child = show(folder, "--last", "3")
    assert rest(child).count("leaf") == 3
    assert child.exitstatus == 0


def test_cstrace_pager_comes_first(folder):
    child = show(folder, CSTRACE_PAGER="head -n 1; echo mine", PAGER="false")
    assert "mine" in rest(child)
    assert child.exitstatus == 0


def test_pager_of_the_environment_is_taken(folder):
    child = show(folder, PAGER="wc -l")
    assert rest(child).strip() == "20003"
    assert child.exitstatus == 0


@pytest.mark.parametrize("words, term, env", [
    (["--no-pager"], "xterm", {}),
    ([], "dumb", {}),
    ([], "xterm", {"CSTRACE_PAGER": "cat"}),
])
def test_without_a_pager_all_goes_by(folder, words, term, env):
    child = show(folder, *words, term=term, PAGER="echo never", **env)
    text = rest(child)
    assert text.count("leaf") == 20000 and "never" not in text
    assert child.exitstatus == 0
    assert ("\x1b" in text) == (term != "dumb")


def test_no_color_is_honoured(folder):
    text = rest(show(folder, "--no-pager", "--last", "3", NO_COLOR="1"))
    assert "leaf" in text and "\x1b" not in text


def test_a_failure_is_told_without_a_pager(folder):
    child = show(folder, "--around", "1.999999", PAGER="echo never")
    assert rest(child).strip() == (
        "cstrace: no call 1.999999: thread 1 made 20001 calls")
    assert child.exitstatus == 2


def test_ctrl_c_ends_after_the_pager(folder):
    """The shell must not get the terminal back before less is done."""
    child = show(folder, CSTRACE_PAGER="trap '' INT; read line; echo ready; "
                 "read go < /dev/tty; echo over")
    child.expect("ready")
    child.sendintr()
    child.sendintr()
    child.send("go\r")
    child.expect("over")
    rest(child)
    assert child.signalstatus in (None, signal.SIGINT)
    assert not os.path.exists("/proc/%d" % child.pid)
