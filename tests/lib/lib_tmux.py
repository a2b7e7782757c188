# SPDX-License-Identifier: MIT
"""A gdb on the screen of a terminal, which tmux draws: for the TUI."""

import re
import shutil
import subprocess

from lib_build import ROOT
from lib_gdb import (check_end, command_line, environment, kill_session,
                     wait_for)

_REVERSE = re.compile(r"\x1b\[(?:\d+;)*7m(?:\x1b\[[\d;]*m)*([^\x1b]+)")


class Screen:
    """with Screen(folder, PROGRAM) as s: s.ask("layout cstrace")"""

    def __init__(self, folder, program, args=(), rows=36, columns=130):
        self._tmux = [shutil.which("tmux"), "-S", str(folder / "tmux"), "-f",
                      "/dev/null"]
        self._status = folder / "status"
        line = command_line(program, ("set confirm off",
                                      "set style enabled off"),
                            args, str(ROOT / "cstrace.py"), batch=False)
        env = environment(folder, TERM="screen-256color")
        words = ["env", "-i", *("%s=%s" % e for e in env.items()),
                 "sh", "-c", '"$@"; echo $? >"$0"', str(self._status), *line]
        self._run("new-session", "-d", "-x", str(columns), "-y", str(rows),
                  "-c", str(folder), *words)
        self._session = int(self._run("list-panes", "-F", "#{pane_pid}"))
        self._n_asked = 0

    def _run(self, *words):
        return subprocess.run([*self._tmux, *words], check=True,
                              capture_output=True, text=True).stdout

    def __enter__(self):
        self.wait("(gdb)")
        return self

    def __exit__(self, kind, *what):
        try:
            if kind is None:
                self.end()
        finally:
            kill_session(self._session)
            subprocess.run([*self._tmux, "kill-server"], check=False,
                           capture_output=True)

    def seen(self, has_styles=False):
        return self._run("capture-pane", "-p", *["-e"] * has_styles)

    def tree(self):
        """The rows of our window, each without the frame."""
        lines = self.seen().splitlines()
        top = next((n for n, line in enumerate(lines) if "─cstrace" in line),
                   None)
        if top is None:
            return []
        found = []
        for line in lines[top + 1:]:
            if "│" not in line:
                break
            found.append(line.rstrip("│").rpartition("│")[2].rstrip())
        return [row for row in found if row]

    def source(self):
        """What stands left of our window."""
        return [line.split("│")[1] for line in self.seen().splitlines()
                if line.count("│") > 2]

    def selected(self):
        """The row that is drawn in reverse."""
        text = self.seen(has_styles=True)
        return next((row.rstrip() for row in _REVERSE.findall(text)
                     if re.search(r"\d\.\d", row)), "")

    def keys(self, *names):
        for name in names:
            self._run("send-keys", name)

    def click(self, text):
        """On the first place of the screen where this stands, as a terminal
        reports it (X10's coordinates)."""
        lines = self.seen().splitlines()
        row = next(n for n, line in enumerate(lines) if text in line)
        for button in (0, 3):  # pressed, released
            self._run("send-keys", "-H", *("%x" % b for b in (
                0x1b, ord("["), ord("M"), 32 + button,
                33 + lines[row].index(text), 33 + row)))

    def resize(self, columns, rows):
        self._run("resize-window", "-x", str(columns), "-y", str(rows))

    def send(self, command):
        self._run("send-keys", "-l", command)
        self._run("send-keys", "Enter")

    def wait(self, text, limit_s=20):
        try:
            wait_for(lambda: text in self.seen(), text, limit_s)
        except AssertionError as e:
            raise AssertionError("%s; seen:\n%s" % (e, self.seen())) from None

    def wait_until(self, condition, what):
        """The condition is called with this screen."""
        try:
            wait_for(lambda: condition(self), what, 20)
        except AssertionError as e:
            raise AssertionError("%s; seen:\n%s" % (e, self.seen())) from None

    def ask(self, command):
        """A command that gdb does at once, and then an answer of its own, which
        tells that it was done."""
        self._n_asked += 1
        self.send(command)
        self.send("print /d %d * 1111" % self._n_asked)
        self.wait(" = %d\n" % (self._n_asked * 1111))

    def end(self):
        self.send("quit")
        wait_for(lambda: self._status.exists()
                 and self._status.read_text().strip(), "gdb's end")
        status = int(self._status.read_text())
        check_end(status, "", self._session, "gdb in tmux")
