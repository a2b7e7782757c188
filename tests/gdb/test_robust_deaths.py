# SPDX-License-Identifier: MIT
"""Something dies, stops or runs out of room in the middle: the program goes on,
and what was recorded is there or is counted as lost."""

import os
import re
import signal
import subprocess

import pytest

from lib_build import BUILD, build
from lib_gdb import command_line, environment, kill_session, wait_for

QUIET = "set cstrace live off"
SHIM = BUILD / "libcstrace.so"


def text_of(path):
    return path.read_text() if path.exists() else ""


@pytest.mark.parametrize("how, sign", [("KILL", "terminated with"),
                                       ("SEGV", "received"),
                                       ("ABRT", "received")])
def test_a_signal_in_the_middle_of_many_calls(gdb, tmp_path, how, sign):
    """Sent from outside, so it hits the hook as well as anything else."""
    out = tmp_path / "out"

    def strike(process):
        wait_for(lambda: "ready" in text_of(out), "the program")
        pid = next(int(p) for p in os.listdir("/proc") if p.isdigit()
                   and text_of_proc(p).startswith(str(program)))
        process.stdin.write(b"x")
        process.stdin.flush()
        wait_for(lambda: cpu_ticks(pid) >= 5, "some calls")
        os.kill(pid, getattr(signal, "SIG" + how))

    program = build("robust_crowd.c", name="struck_by_" + how)
    run = gdb(program, QUIET, "cstrace start", "run wait 1000 > out",
              "cstrace status", talk=strike)
    assert "Program %s signal SIG%s" % (sign, how) in run.out, run.out
    assert int(re.search(r"^calls +(\d+)", run.out, re.M)[1]) > 10000
    assert re.search(r"^lost +(none|1 )", run.out, re.M)


def text_of_proc(pid):
    try:
        with open("/proc/%s/cmdline" % pid, "rb") as f:
            return f.read().decode(errors="replace")
    except OSError:
        return ""


def cpu_ticks(pid):
    """No end of them, once it is gone."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            return int(f.read().rpartition(") ")[2].split()[11])
    except (FileNotFoundError, ProcessLookupError):
        return float("inf")


class Attached:
    """The program on its own, with the shim in it, and a gdb attached."""

    def __init__(self, folder, program, *args):
        self.out = folder / "out"
        self.log = folder / "log"
        with open(self.out, "wb") as out:
            self.program = subprocess.Popen(
                [str(program), *args], stdin=subprocess.PIPE, stdout=out,
                cwd=folder, env=environment(folder, LD_PRELOAD=str(SHIM)),
                start_new_session=True)
        wait_for(lambda: "ready" in text_of(self.out), "the program")
        line = command_line(None, [
            QUIET, "set cstrace pool 512K", "set cstrace wait-limit 200",
            "attach %d" % self.program.pid, "cstrace start",
            "python print('under way', flush=True)", "continue"])
        with open(self.log, "wb") as log:
            self.gdb = subprocess.Popen(
                line, cwd=folder, env=environment(folder), stdout=log,
                stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
        wait_for(lambda: "under way" in text_of(self.log), "gdb")
        wait_for(lambda: self.state() in "SR", "the program to go on")

    def state(self):
        with open("/proc/%d/stat" % self.program.pid) as f:
            return f.read().rpartition(") ")[2].split()[0]

    def go(self):
        self.program.stdin.write(b"x")
        self.program.stdin.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (self.gdb, self.program):
            kill_session(process.pid)
            process.wait(timeout=240)
        self.program.stdin.close()


@pytest.mark.parametrize("when", ["before", "midway"])
def test_a_gdb_killed_while_attached_leaves_the_program_unhurt(tmp_path, when):
    with Attached(tmp_path, build("robust_crowd.c"), "wait", "20") as a:
        if when == "midway":
            a.go()
            wait_for(lambda: cpu_ticks(a.program.pid) >= 5, "some calls")
        a.gdb.kill()
        a.gdb.wait(timeout=240)
        if when == "before":
            a.go()
        assert a.program.wait(timeout=240) == 0
        assert "20000000 calls" in text_of(a.out)


def test_a_stopped_gdb_holds_the_program_up_once(tmp_path):
    """Its reader lives, but takes nothing: after the limit calls are lost."""
    with Attached(tmp_path, build("robust_crowd.c"), "midway", "20") as a:
        a.go()
        wait_for(lambda: "midway" in text_of(a.out), "some calls")
        a.gdb.send_signal(signal.SIGSTOP)
        a.go()
        wait_for(lambda: "20000000 calls" in text_of(a.out), "the program")
        a.gdb.send_signal(signal.SIGCONT)
        a.gdb.wait(timeout=240)
        assert a.program.wait(timeout=240) == 0
    found = re.search(r"^cstrace: (\d+) calls? in .*, (\d+) records lost",
                      text_of(a.log), re.M)
    assert found, text_of(a.log)
    calls, lost = map(int, found.groups())
    assert calls > 1000 and 20000000 * 2 + 2 >= lost > 0
    # Each call is two records; one of them may be all that came.
    assert calls * 2 + lost >= 20000000 * 2 - 2


SMALL = """#!/bin/sh
exec unshare -m sh -c 'mkdir -p "$XDG_CACHE_HOME"
mount -t tmpfs -o size=2m full "$XDG_CACHE_HOME" &&
mount -t tmpfs -o size=2m full /var/tmp && exec gdb "$@"' sh "$@"
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="for root only")
def test_a_full_disk_ends_the_recording_not_the_program(gdb, tmp_path,
                                                        monkeypatch):
    if subprocess.run(["unshare", "-m", "true"], check=False,
                      stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no mount namespaces here")
    script = tmp_path / "small"
    script.write_text(SMALL)
    script.chmod(0o755)
    monkeypatch.setenv("GDB", str(script))
    run = gdb(build("robust_crowd.c"), QUIET, "cstrace start", "run",
              "python print('status', gdb.parse_and_eval('$_exitcode'))",
              "cstrace status", "cstrace show -last 3", args=["calls", 20])
    assert "20000000 calls\n" in run.out and "status 0" in run.out
    assert "No space left on device" in run.out
    found = re.search(r"^cstrace: (\d+) calls in .*, (\d+) calls not kept",
                      run.out, re.M)
    assert found, run.out
    kept, dropped = map(int, found.groups())
    assert kept + dropped == 20000000 and kept and dropped
    assert run.out.count("  leaf") == 3


def test_rows_that_cannot_be_written_are_told_once(gdb):
    run = gdb(build("basic.c"), "set cstrace output /dev/full",
              "cstrace start", "run")
    assert [line for line in run.said() if "written" in line] == [
        "live rows cannot be written: No space left on device"]


@pytest.mark.parametrize("kib, calls", [(1000000, 10), (150000, 0)])
def test_a_gdb_with_little_room(gdb, tmp_path, monkeypatch, kib, calls):
    script = tmp_path / "small"
    script.write_text("#!/bin/sh\nulimit -v %d\nexec gdb \"$@\"\n" % kib)
    script.chmod(0o755)
    monkeypatch.setenv("GDB", str(script))
    run = gdb(build("basic.c"), QUIET, "cstrace start", "run",
              "python print('status', gdb.parse_and_eval('$_exitcode'))")
    assert "status 0" in run.out
    told = [line for line in run.said() if line.startswith("cannot")]
    if calls:
        assert not told and "cstrace: %d calls in" % calls in run.out
        assert "lost" not in run.out
    else:
        assert len(told) == 1
        assert told[0].startswith(
            "cannot map the shared memory: the address space is limited to "
            "%d KiB (ulimit -v), " % kib)
