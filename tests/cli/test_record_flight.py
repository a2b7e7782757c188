# SPDX-License-Identifier: MIT
"""cstrace record --flight: the newest calls, as a whole trace."""

import signal

import pytest

from lib_build import build
from lib_cstrace import command
from lib_record import (TALKER, calls, compiled, finish, functions, record,
                        start, wait_for)

PHASES = r"""
static volatile int n;

static void step(void) { n++; }
static void early(void) { for (int i = 0; i < 1000; i++) step(); }
static void middle(void) { for (int i = 0; i < 2000000; i++) step(); }
static void late(void) { step(); }
static void work(void) { early(); middle(); late(); }

int main(void)
{
	work();
	return 0;
}
"""


def test_keeps_the_newest_below_their_callers(tmp_path):
    phases = compiled(tmp_path, PHASES, "phases")
    done, found = record(tmp_path, "--flight", "1M", phases)
    assert done.returncode == 0
    names = functions(found)
    assert names[:3] == ["main", "work", "middle"]
    assert names[-2:] == ["late", "step"]
    assert "early" not in names
    assert 1000 < len(names) < 2000000
    assert "the newest %d of 2001006 calls" % len(names) in done.stderr
    size = (tmp_path / "cstrace.cst").stat().st_size
    told = ("%.0f KiB" % (size / 1024) if size < 1 << 20 else
            "%.1f MiB" % (size / (1 << 20)))
    assert ", %s in cstrace.cst" % told in done.stderr
    # IDs are what they would be, parents are there, and all have ended.
    assert [found[0]["id"], found[-1]["id"]] == ["1.1", "1.2001006"]
    known = {c["id"] for c in found}
    assert all(c["parent"] in known for c in found[1:])
    assert {c["end"] for c in found} == {"return"}


@pytest.mark.parametrize("kib", [16, 64, 256])
def test_uses_the_room_it_has(tmp_path, kib):
    phases = compiled(tmp_path, PHASES, "phases")
    record(tmp_path, "--flight", "%dK" % kib, phases)
    size = (tmp_path / "cstrace.cst").stat().st_size
    assert kib * 512 < size < kib * 1280


def test_small_runs_are_whole(tmp_path):
    done, found = record(tmp_path, "--flight", "10M", build("threads.c"), 4,
                         100)
    assert len(found) == 1 + 4 * 101
    assert "the newest" not in done.stderr


def test_many_threads(tmp_path):
    done, found = record(tmp_path, "--flight", "2M", build("threads.c"), 8,
                         300000)
    assert done.returncode == 0
    known = {c["id"] for c in found}
    assert {c["function"] for c in found if c["parent"] is None} <= {
        "main", "worker"}
    assert all(c["parent"] in known for c in found if c["parent"])


def test_saved_on_a_signal(tmp_path):
    talker = compiled(tmp_path, TALKER, "talker")
    process = start(tmp_path, "--flight", "1M", "--on-signal", "USR2", talker)
    assert process.stdout.readline() == "ready\n"
    path = tmp_path / "cstrace.cst"
    assert not path.exists()
    process.send_signal(signal.SIGUSR2)
    wait_for(path.exists, "saved flight")
    first = functions(calls(tmp_path))
    assert first[:2] == ["main", "work"]
    process.send_signal(signal.SIGTERM)
    status, out, _err = finish(process)
    assert (status, out) == (9, "got 15\n")
    assert len(functions(calls(tmp_path))) >= len(first)
    assert [p.name for p in tmp_path.glob("*.part")] == []


def test_refusals(tmp_path):
    for words, said in ((["--on-signal", "USR1"], "--flight"),
                        (["--flight", "1M", "--on-signal", "KILL"],
                         "--on-signal"),
                        (["--flight", "much"], "--flight")):
        done = command("record", *words, "/bin/true", cwd=tmp_path)
        assert done.returncode == 2
        assert said in done.stderr and done.stderr.count("\n") == 1


def test_crash_is_in_it(tmp_path):
    done, found = record(tmp_path, "--flight", "1M", build("ends.c"), "segv")
    assert done.returncode == 128 + signal.SIGSEGV
    assert functions(found, end="open") == ["main", "middle", "end"]
