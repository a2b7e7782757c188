# SPDX-License-Identifier: MIT
"""A front end: drives gdb's machine interface as Microsoft's engine (VS Code)
does, CLion and Emacs alike.  The program has a terminal of its own."""

import os
import pty
import re
import select
import subprocess
import time

from lib_build import ROOT
from lib_gdb import check_end, environment, kill_session

LIMIT_S = 120
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_CODES = {b"n": b"\n", b"t": b"\t", b"e": b"\033", b"r": b"\r"}


def _unescaped(match):
    code = match[1]
    if len(code) == 3:
        return bytes([int(code, 8)])
    return _CODES.get(code, code)


def text_of(record):
    """What a stream record says."""
    assert record[1:2] == b'"' and record.endswith(b'"'), record
    return _ESCAPE.sub(_unescaped, record[2:-1]).decode(errors="replace")


class FrontEnd:
    """with FrontEnd(folder, PROGRAM, is_async=True) as f: f.start(); ..."""

    def __init__(self, folder, program, args=(), is_async=True):
        self._program, self._args = program, args
        self._is_async = is_async
        self._token = 1000
        self._raw = b""
        self.records = []
        self._terminal, slave = pty.openpty()
        os.set_blocking(self._terminal, False)
        self.told = "gdb -i=mi3 with %s" % program
        self._gdb = subprocess.Popen(
            [os.environ.get("GDB", "gdb"), "-nx", "--interpreter=mi3",
             "--tty=" + os.ttyname(slave)],
            cwd=folder, env=environment(folder), start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        os.close(slave)

    def __enter__(self):
        return self

    def __exit__(self, kind, *what):
        try:
            if kind is None:
                self.send("-gdb-exit")
                self._gdb.stdin.close()
                while self._read():
                    pass
                self._gdb.wait(LIMIT_S)
                check_end(self._gdb.returncode, self.transcript(),
                          self._gdb.pid, self.told)
        finally:
            kill_session(self._gdb.pid)
            self._gdb.wait(LIMIT_S)
            os.close(self._terminal)

    def transcript(self):
        return b"\n".join(self.records).decode(errors="replace")

    def _wait_for(self, *files):
        ready, _, _ = select.select(files, [], [], LIMIT_S)
        assert ready, "gdb says no more:\n" + self.transcript()[-3000:]
        return ready

    def _read(self):
        """Some more of gdb's output; False at its end."""
        ready = self._wait_for(self._gdb.stdout, self._terminal)
        if self._terminal in ready:
            try:
                os.read(self._terminal, 65536)
            except BlockingIOError:  # nobody had it open, a new program does
                pass
            except OSError:
                ready = self._wait_for(self._gdb.stdout)
        if self._gdb.stdout not in ready:
            return True
        data = os.read(self._gdb.stdout.fileno(), 1 << 20)
        *whole, self._raw = (self._raw + data).split(b"\n")
        self.records += whole
        return bool(data)

    def wait(self, condition, what):
        """Until it holds for the records since; returns these."""
        first, n_seen = len(self.records), -1
        end = time.monotonic() + LIMIT_S
        while True:
            if len(self.records) != n_seen:
                n_seen = len(self.records)
                since = self.records[first:]
                if condition(since):
                    return since
            assert self._read() and time.monotonic() < end, \
                "waited in vain for %s:\n%s" % (what, self.transcript()[-3000:])

    def type(self, text):
        """For the program."""
        os.write(self._terminal, text.encode())

    def send(self, command):
        self._token += 1
        self._gdb.stdin.write(b"%d%s\n" % (self._token, command.encode()))
        self._gdb.stdin.flush()
        return b"%d^" % self._token

    def ask(self, command):
        """A command, until its result; returns the records."""
        begin = self.send(command)
        since = self.wait(lambda records: any(r.startswith(begin)
                                              for r in records), command)
        assert not any(r.startswith(begin + b"error") for r in since), since
        return since

    def fail(self, command):
        """A command whose result is an error; returns what that says."""
        begin = self.send(command)
        since = self.wait(lambda records: any(r.startswith(begin)
                                              for r in records), command)
        result = next(r for r in since if r.startswith(begin))
        assert result.startswith(begin + b'error,msg="'), result
        return result[len(begin + b'error,msg="'):-1].decode()

    def refused(self, command):
        """The like for a command of gdb's own."""
        return self.fail('-interpreter-exec console "%s"' % command)

    def console(self, command):
        """What a command of gdb's own writes."""
        quoted = command.replace("\\", "\\\\").replace('"', '\\"')
        return said(self.ask('-interpreter-exec console "%s"' % quoted))

    def go(self, command):
        """A command that lets the program run, until it stops."""
        self.send(command)
        return self.until_stop()

    def until_stop(self):
        return self.wait(lambda records: any(r.startswith(b"*stopped")
                                             for r in records), "a stop")

    def start(self, *breakpoints, before=()):
        """All that the engine sends until the program stops."""
        self.ask("-gdb-set mi-async " + ("on" if self._is_async else "off"))
        self.console("source %s" % (ROOT / "cstrace.py"))  # setupCommands
        for command in (*before, "cstrace start"):
            self.console(command)
        self.ask("-environment-cd /tmp")
        self.ask("-file-exec-and-symbols %s" % self._program)
        self.console("show architecture")
        if self._args:
            self.ask("-exec-arguments " + " ".join(map(str, self._args)))
        for place in breakpoints:
            self.ask("-break-insert " + place)
        self.send("-exec-run")

    def start_as_engine(self, *breakpoints, setup=()):
        """Each command that Microsoft's engine sends until the program has
        passed main, in its order; `setup` are the user's setupCommands."""
        self.ask("-gdb-set mi-async on")
        for command in setup:
            self.ask(command)
        self.console("set pagination off")
        self.ask("-gdb-set auto-solib-add on")
        self.ask("-gdb-set solib-search-path /tmp:")
        self.ask("-gdb-set stop-on-solib-events 1")
        self.ask("-environment-cd /tmp")
        self.ask("-file-exec-and-symbols %s" % self._program)
        self.console("show architecture")
        if self._args:
            self.ask("-exec-arguments " + " ".join(map(str, self._args)))
        self.ask("-break-insert -f main")
        self.console("set env LANG C")
        for place in breakpoints:
            self.ask("-break-insert -f " + place)
        stopped = stop_of(self.go("-exec-run"))
        self.ask("-gdb-set stop-on-solib-events 0")
        while 'reason="solib-event"' in stopped:
            self.console("info sharedlibrary")
            stopped = stop_of(self.go("-exec-continue"))
        assert 'bkptno="1"' in stopped and 'func="main"' in stopped
        self.look_around(1)
        self.ask("-break-delete 1")

    def look_around(self, thread):
        """What the engine asks for at each stop; returns the records."""
        return [record for command in (
            "-thread-info", "-stack-list-frames --thread %d 0 1000" % thread,
            "-stack-list-arguments --thread %d 0 0 1000" % thread,
            "-stack-list-variables --thread %d --frame 0 0" % thread)
            for record in self.ask(command)]


def said(records):
    """The console's text."""
    return "".join(text_of(r) for r in records if r.startswith(b"~"))


def stop_of(records):
    return next(r for r in records if r.startswith(b"*stopped")).decode()
