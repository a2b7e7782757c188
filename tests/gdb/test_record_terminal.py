# SPDX-License-Identifier: MIT
"""cstrace record on a terminal: its keys are the program's."""

import os
import signal

import pexpect

from lib_cstrace import CSTRACE
from lib_record import TALKER, calls, compiled, functions, wait_for
from lib_term import end_of

LIMIT_S = 120
PROMPT = "READY> "

SILENT = r"""
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t is_over;

static void handler(int signo) { is_over = signo; }
static void work(void) { }

int main(void)
{
	signal(SIGTERM, handler);
	while (!is_over) {
		work();
		usleep(1000);
	}
	return 0;
}
"""


def spawn(folder, *words):
    child = pexpect.spawn(words[0], list(words[1:]), cwd=str(folder),
                          timeout=LIMIT_S, encoding="utf-8",
                          env=dict(os.environ, PS1=PROMPT, TERM="dumb"))
    child.delaybeforesend = None
    return child


def test_ctrl_c_is_for_the_program(tmp_path):
    talker = compiled(tmp_path, TALKER, "talker")
    child = spawn(tmp_path, CSTRACE, "record", str(talker))
    child.expect("ready\r\n")
    child.sendintr()
    child.expect(r"got 2\r\n")
    child.expect("cstrace: .* calls in 1 thread")
    child.expect(pexpect.EOF)
    assert end_of(child) == 9
    assert "work" in functions(calls(tmp_path))


def test_ctrl_z_and_fg(tmp_path):
    talker = compiled(tmp_path, TALKER, "talker")
    child = spawn(tmp_path, "bash", "--norc", "--noprofile", "-i")
    child.expect(PROMPT)
    child.sendline("%s record %s; echo status $?" % (CSTRACE, talker))
    child.expect("ready\r\n")
    child.sendcontrol("z")
    child.expect("Stopped")
    child.expect(PROMPT)
    child.sendline("fg; echo status $?")
    child.expect("record .*talker")
    # bash says so before the job has the terminal.
    wait_for(lambda: os.tcgetpgrp(child.child_fd) != child.pid, "terminal")
    child.sendintr()
    child.expect(r"got 2\r\n")
    child.expect("status 9")
    child.expect(PROMPT)
    child.sendline("exit")
    child.expect(pexpect.EOF)


def test_silent_program_gets_a_progress_line(tmp_path):
    silent = compiled(tmp_path, SILENT, "silent")
    child = spawn(tmp_path, CSTRACE, "record", str(silent))
    child.expect(r"\rcstrace: \d+ calls, \d+\.\d MiB\x1b\[K\r")
    os.kill(child.pid, signal.SIGTERM)  # which it passes on
    child.expect(r"\r\x1b\[Kcstrace: \d+ calls in 1 thread")
    child.expect(pexpect.EOF)
