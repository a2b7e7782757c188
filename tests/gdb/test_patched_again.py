# SPDX-License-Identifier: MIT
"""A stop in a trampoline comes again at the function's own place, and gdb says once
where: in a log, in a front end, in the TUI, as without cstrace."""

import contextlib
import os
import pty
import re
import shutil
import threading
import tty

import pytest

from lib_as_without import lines
from lib_build import ROOT
from lib_mi import FrontEnd, said
from lib_tmux import Screen
from test_patched_as_without import NOISE
from test_patched_stops import program_of

BUILDS = [("gcc", "-O1"), ("gcc", "-O2"), ("clang", "-O2")]
FAULTS = ["break sum", "run", "print kind_of(0, 1)", "info program", "bt", "up",
          "info program", "frame", "call set(0, 1, 2)", "bt", "info program",
          "print $_siginfo.si_code", "continue"]
STEPS = ["break *scale", "break scale", "break beside.c:20",
         "break beside.c:21", "break sum", "run",
         *["stepi 2", "stepi 3", "nexti 2"] * 6, "info breakpoints", "bt"]
# In the program's own code, not in a call by gdb.
FAULT = ["run 1", "bt", "info program"]
WATCHED = ["break even", "run", "set can-use-hw-watchpoints 0", "watch sink",
           *["continue", "info program"] * 4, "break *$pc", "stepi",
           "info program", "continue", "info program", "delete 2",
           "info program", "continue", "info program"]
STACK_ENDS = ["run 0", "bt 3", "x/i $pc", "info program", "up", "continue",
              "run 48", "bt 2", "info program", "info symbol $pc"]
SESSIONS = [("inlined_begin.c", FAULTS, ()), ("beside.c", STEPS, ("-pthread",)),
            ("beside.c", FAULT, ("-pthread",)),
            ("recursive.c", WATCHED, ("-pthread",)),
            ("endless_own.c", STACK_ENDS, ())]
IDS = ["calls", "steps", "fault", "watched", "recursion"]
OUTPUT = ["set print frame-arguments none", "set print entry-values no"]


def plain(text):
    text = re.sub(r"\bcore=\"\d+\"", "", re.sub(NOISE, "", text, flags=re.M))
    return re.sub(r"0x0*7f\w{10}", "0xN", text)


@pytest.mark.wide("compiler level", "source session flags", "place")
@pytest.mark.parametrize("place", ["beside", "instead"])
@pytest.mark.parametrize("source, session, flags", SESSIONS, ids=IDS)
@pytest.mark.parametrize("compiler, level", BUILDS)
def test_a_log(gdb, tmp_path, compiler, level, source, session, flags, place):
    program = program_of(source, compiler, level, *flags)
    log = tmp_path / "gdb.txt"
    found = []
    for is_patched in False, True:
        shown = lines(gdb, program, [
            *OUTPUT, "set logging file %s" % log, "set logging overwrite on",
            "set logging redirect " + ("on" if place == "instead" else "off"),
            "set logging enabled on", *session], is_patched)
        found.append((plain(shown), plain(re.sub(
            "^cstrace: .*\n", "", log.read_text(), flags=re.M))))
    assert found[1] == found[0]
    assert "main (" in found[0][1] or session in (WATCHED, STACK_ENDS)


def records(folder, program, session, is_async, is_patched):
    """What a front end has from the first command on."""
    with FrontEnd(folder, program, is_async=is_async) as f:
        f.ask("-gdb-set mi-async " + ("on" if is_async else "off"))
        if is_patched:
            f.console("source %s" % (ROOT / "cstrace.py"))
            for command in ("set cstrace live off", "set cstrace frame-ids off",
                            "set cstrace step-report off", "cstrace start"):
                f.console(command)
        for command in OUTPUT:
            f.console(command)
        f.ask("-file-exec-and-symbols %s" % program)
        begin = len(f.records)
        for command in session:
            if re.match(r"run|continue|stepi|nexti", command):
                f.go(command)
            elif command.startswith(("print k", "call")):
                f.fail(command)
            else:
                f.ask(command)
        told = f.records[begin:]
    assert not is_patched or "cstrace: " in said(f.records)
    without_tokens = (re.sub(rb"^\d+", b"", r).decode() for r in told)
    return [plain(text) for text in without_tokens
            if text.startswith(("~", "*", "&", "^")) and "cstrace: " not in text
            and not text.startswith(("~\"[", "~\"Using host lib"))]


@pytest.mark.wide("compiler level", "source session flags", "is_async")
@pytest.mark.parametrize("is_async", [True, False], ids=["async", "sync"])
@pytest.mark.parametrize("source, session, flags", SESSIONS, ids=IDS)
@pytest.mark.parametrize("compiler, level", BUILDS)
def test_a_front_end(tmp_path, compiler, level, source, session, flags,
                     is_async):
    program = program_of(source, compiler, level, *flags)
    alone, patched = (records(tmp_path, program, session, is_async, is_patched)
                      for is_patched in (False, True))
    assert patched == alone
    assert any(text.startswith("*stopped") for text in alone)


class Terminal:
    """One that is read all the time; what came is in `text` behind the with."""

    def __enter__(self):
        self._read_from, self._fd = pty.openpty()
        tty.setraw(self._fd)
        self.name, self.text = os.ttyname(self._fd), ""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        return self

    def _read(self):
        raw = b""
        with contextlib.suppress(OSError):  # nobody writes any more
            while part := os.read(self._read_from, 65536):
                raw += part
        self.text = raw.decode()

    def __exit__(self, *what):
        os.close(self._fd)
        self._reader.join()
        os.close(self._read_from)


@pytest.mark.parametrize("kind", ["mi", "console"])
@pytest.mark.parametrize("compiler, level", BUILDS)
def test_another_user_interface(gdb, compiler, level, kind):
    program = program_of("beside.c", compiler, level, "-pthread")
    found = []
    for is_patched in False, True:
        with Terminal() as t:
            lines(gdb, program, [*OUTPUT, "new-ui %s %s" % (kind, t.name),
                                 *FAULT], is_patched)
        found.append(plain("".join(
            line + "\n" for line in t.text.split("\n")
            if re.match(r'\*|~" received|~"0x|~"third|0x|third|Program', line))))
    assert found[1] == found[0]
    assert "third" in found[0]


@pytest.mark.skipif(not shutil.which("tmux"), reason="no tmux")
def test_watched_in_the_tui(tmp_path):
    program = program_of("recursive.c", "gcc", "-O1", "-pthread")
    with Screen(tmp_path, program, rows=60) as s:
        for command in ("layout src", "set cstrace live off", "cstrace start",
                        *WATCHED[:6]):
            s.ask(command)
        seen = s.seen()
        assert "It stopped at breakpoint 2." in seen
        assert "at breakpoint -" not in seen


@pytest.mark.skipif(not shutil.which("tmux"), reason="no tmux")
@pytest.mark.parametrize("layout", ["src", "cstrace"])
@pytest.mark.parametrize("compiler, level", BUILDS)
def test_the_tui(tmp_path, compiler, level, layout):
    program = program_of("beside.c", compiler, level, "-pthread")
    with Screen(tmp_path, program, rows=60) as s:
        s.ask("layout " + layout)
        s.ask("set cstrace live off")
        s.ask("cstrace start")
        s.send("run 1")
        s.wait("received signal SIGSEGV")
        s.ask("bt -frame-arguments none")
        s.ask("info program")
        seen = s.seen()
        assert seen.count("received signal SIGSEGV") == 1
        assert len(re.findall(r"^(?:0x\w+ in )?third \(", seen, re.M)) == 1
        own, = re.findall(r"PC: (0x\w+)", seen)
        assert "Program stopped at %s." % own in seen
        shown = "".join(s.source()) if layout == "cstrace" else seen
        assert "all[2]" in shown
