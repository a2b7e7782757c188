# SPDX-License-Identifier: MIT
"""A gdb on a terminal, for what only a terminal shows."""

import os
import re

import pexpect

from lib_build import ROOT
from lib_gdb import (check_end, command_line, environment, is_left_alone,
                     kill_session, wait_for)

PROMPT = r"\(gdb\) "
LIMIT_S = 120


def end_of(child):
    """Its exit status, or minus its signal.  What has closed its terminal may
    take a while to end, and close() would kill it."""
    child.wait()
    child.close()
    if child.exitstatus is None:
        return -child.signalstatus
    return child.exitstatus


class Terminal:
    """with Terminal(folder, PROGRAM, args=[...]) as t: t.ask("run")"""

    def __init__(self, folder, program, args=(), rows=24, columns=200,
                 commands=(), **env):
        line = command_line(program, ("set style enabled off",
                                      "set cstrace fold off") + commands,
                            args, str(ROOT / "cstrace.py"), batch=False)
        self.told = " ".join(line)
        self.seen = ""
        self._is_over = False
        self._child = pexpect.spawn(
            line[0], line[1:], cwd=str(folder), dimensions=(rows, columns),
            env=environment(folder, **env), timeout=LIMIT_S, encoding="utf-8",
            codec_errors="replace")
        # gdb itself sees what is typed before it; no wait is needed.
        self._child.delaybeforesend = None

    def __enter__(self):
        self.wait(PROMPT)
        return self

    def __exit__(self, kind, *what):
        if kind is not None:
            self._clear_away()
        elif not self._is_over:
            self.end()

    def _clear_away(self):
        kill_session(self._child.pid)
        self._child.close(force=True)

    def session(self):
        return self._child.pid

    def send(self, text):
        self._child.send(text)

    def interrupt(self):
        """Types Ctrl-C, for the foreground process of the terminal."""
        self._child.sendintr()

    def go_on(self):
        """Continue, until the program has the terminal: gdb says so before."""
        self.send("continue\n")
        self.wait("Continuing")
        wait_for(self._program_has_it, "the program to have the terminal")

    def _program_has_it(self):
        return os.tcgetpgrp(self._child.child_fd) != self._child.pid

    def wait(self, *patterns):
        """Until one is seen; returns what was written before it."""
        before = ""
        for pattern in patterns:
            try:
                self._child.expect(pattern)
            except (pexpect.TIMEOUT, pexpect.EOF) as e:
                raise AssertionError("waited in vain for %r; %s saw:\n%s%s" % (
                    pattern, self.told, self.seen[-3000:],
                    self._child.before)) from e
            text = self._child.before + self._child.after
            self.seen += text
            before += text
        return before.replace("\r\n", "\n")

    def ask(self, command):
        """A command, to the next prompt; returns what was written."""
        self.send(command + "\n")
        text = self.wait(PROMPT)
        return re.sub(r"^.*\n", "", text, count=1)[:-len("(gdb) ")]

    def end(self, *words):
        """Quit, or whatever ends it; checks that gdb ended well."""
        session = self._child.pid
        self._is_over = True
        try:
            if not words:
                self.send("quit\n")
                words = ("y",)
            which = self._child.expect([r"\(y or n\) ", pexpect.EOF])
            self.seen += self._child.before
            if which == 0:
                self.send(words[0] + "\n")
                self._child.expect(pexpect.EOF)
                self.seen += self._child.before
        except pexpect.TIMEOUT:
            self._clear_away()
            raise AssertionError("gdb does not end\n%s\n%s" % (
                self.told, self.seen[-3000:])) from None
        status = end_of(self._child)
        check_end(status, self.seen, session, self.told)
        return status

    def hang_up(self):
        """The terminal goes away; so must gdb and its program."""
        self._is_over = True
        session = self._child.pid
        # Not os.close(): its owner would close the number again, which is
        # another terminal's by then.
        self._child.ptyproc.fileobj.close()
        self._child.ptyproc.closed = self._child.closed = True
        self._child.child_fd = -1
        is_alone = is_left_alone(session)
        kill_session(session)
        os.waitpid(session, 0)
        assert is_alone, "gdb outlives its terminal: " + self.told
