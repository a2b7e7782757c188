# SPDX-License-Identifier: MIT
"""A busy server whose debugger or recorder is killed."""

import contextlib
import os
import signal
import subprocess

from lib_gdb import command_line, environment, wait_for
from lib_server import LIMIT_S, Clients, server

N_ANSWERS = 300


class Busy:
    """The server, asked by three clients all the time."""

    def __init__(self, folder, *flags):
        self.folder, self.path = folder, server(folder, *flags)
        self.process = subprocess.Popen(
            [str(self.path), str(folder / "socket"), "again"],
            stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"
        self.pid = self.process.pid
        self.clients = Clients(folder / "socket", 3)

    def state(self):
        with open("/proc/%d/stat" % self.pid, encoding="utf-8") as f:
            return f.read().rpartition(")")[2].split()[0]

    def answers(self):
        """Waits until it has answered many times more.  Linux stops a program
        whose debugger dies while it makes a thread: then it goes on here."""
        n = self.clients.n_asked + N_ANSWERS

        def has_answered():
            assert self.process.poll() is None and not self.clients.wrong
            if self.state() == "T":
                os.kill(self.pid, signal.SIGCONT)
            return self.clients.n_asked >= n

        wait_for(has_answered, "its answers")

    def end(self):
        """Returns what went wrong."""
        wrong = self.clients.stop()
        if self.process.poll() is not None:
            wrong.append("it has ended: %d" % self.process.returncode)
        return wrong

    def close(self):
        self.clients.is_over = True
        self.process.kill()
        self.process.communicate(timeout=LIMIT_S)


@contextlib.contextmanager
def busy(folder, *flags):
    one = Busy(folder, *flags)
    try:
        yield one
        assert not one.end()
    finally:
        one.close()


def kill_gdb(one, *commands, **options):
    """A gdb attaches to it, makes these commands, has it go on, and is killed
    then."""
    log = one.folder / "log"
    with open(log, "wb") as out:
        gdb = subprocess.Popen(
            command_line(None, ("attach %d" % one.pid, *commands,
                                "echo it goes\\n", "continue"), **options),
            cwd=one.folder, env=environment(one.folder), stdout=out,
            stderr=out, stdin=subprocess.PIPE, start_new_session=True)

    def goes():
        assert gdb.poll() is None, log.read_text(errors="replace")
        return b"it goes" in log.read_bytes()

    try:
        wait_for(goes, "gdb")
        one.answers()
    finally:
        gdb.kill()
        gdb.wait(LIMIT_S)
        gdb.stdin.close()
    return log.read_text(errors="replace")
