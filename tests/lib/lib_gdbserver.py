# SPDX-License-Identifier: MIT
"""The real gdbserver, on a port of the loopback interface that is free."""

import os
import re
import shutil
import signal
import subprocess
from contextlib import contextmanager

import pytest

from lib_build import BUILD
from lib_gdb import environment, kill_session, wait_for

SHIM = BUILD / "libcstrace.so"
WRAPPER = ["--wrapper", "env", "LD_PRELOAD=%s" % SHIM, "--"]


class Server:
    """A gdbserver that listens."""

    def __init__(self, process, log):
        self.process = process
        self._log = log

    def log(self):
        return self._log.read_text(errors="replace")

    def port(self):
        found = re.search(r"^Listening on port (\d+)$", self.log(), re.M)
        return found and found[1]

    @property
    def address(self):
        return "127.0.0.1:%s" % self.port()

    def program_pid(self):
        """Returns that of the program it was started with."""
        return int(re.search(r"created; pid = (\d+)", self.log())[1])

    def kill(self):
        """At once, as a machine or a network goes."""
        os.kill(self.process.pid, signal.SIGKILL)


@contextmanager
def gdbserver(folder, *words, around=(), **env):
    """Runs `gdbserver WORDS` with the port in place of "PORT"."""
    log = folder / "gdbserver.log"
    line = [*around, "gdbserver",
            *("127.0.0.1:0" if w == "PORT" else str(w) for w in words)]
    with open(log, "wb") as out:
        process = subprocess.Popen(
            line, cwd=folder, env=environment(folder, **env), stdout=out,
            stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT,
            start_new_session=True)
    server = Server(process, log)
    try:
        wait_for(lambda: server.port() or process.poll() is not None,
                 "gdbserver")
        assert server.port(), server.log()
        yield server
    finally:
        kill_session(process.pid)
        process.wait()


def serving(folder, program, *args, around=(), **env):
    """One connection to the program, which has the shim in it."""
    return gdbserver(folder, "--once", *WRAPPER, "PORT", program, *args,
                     around=around, **env)


def _allowed(around):
    if shutil.which("unshare") is None or subprocess.run(
            [*around, "true"], capture_output=True).returncode:
        pytest.skip("no namespaces for an ordinary user")
    return around


def own_pids():
    """What runs a program where this machine's numbers of processes mean
    nothing; skips the test where that is not allowed."""
    return _allowed(["unshare", "--user", "--map-root-user", "--pid", "--fork",
                     "--mount-proc", "--kill-child"])


def own_files(folder):
    """What runs a program for which /mnt is that folder."""
    return _allowed(["unshare", "--user", "--map-root-user", "--mount", "sh",
                     "-c", 'mount --bind "$0" /mnt && exec "$@"', folder])
