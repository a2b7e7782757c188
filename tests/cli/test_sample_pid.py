# SPDX-License-Identifier: MIT
"""cstrace sample -p PID: a process that runs already, from within and from
outside."""

import ctypes
import os
import re
import resource
import subprocess

import pytest

from lib_build import build
from lib_cst import Trace
from lib_cstrace import LIMIT_S
from lib_cstrace import command as run_command
from test_sample import PARTS, WAITS, most_error, rows

FLAGS = ("-O2", "-fomit-frame-pointer")
WAYS = pytest.mark.parametrize("way", [[], ["--outside"], ["stops"]],
                               ids=["inside", "outside", "stops"])


def is_perf_granted():
    with open("/proc/sys/kernel/perf_event_paranoid",
              encoding="ascii") as file:
        return os.geteuid() == 0 or int(file.read()) < 2


def give_up_perf():
    """The command's own process: root's programs have no more than this."""
    prctl = ctypes.CDLL(None).prctl
    drop, perfmon, sys_admin = 24, 38, 21
    prctl(drop, perfmon, 0, 0, 0)
    prctl(drop, sys_admin, 0, 0, 0)


def command(*words, **options):
    """The way "stops" is --outside where the kernel refuses perf events."""
    if "stops" in words:
        words = ["--outside" if word == "stops" else word for word in words]
        if os.geteuid() == 0:
            options["preexec_fn"] = give_up_perf
        elif is_perf_granted():
            pytest.skip("perf events are granted to all")
    return run_command(*words, **options)


@pytest.fixture(name="process")
def a_process():
    """Starts one; it is ended with the test."""
    started = []

    def start(*words, **options):
        started.append(subprocess.Popen([*map(str, words)], text=True,
                                        stdout=subprocess.PIPE, **options))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.communicate(timeout=LIMIT_S)


@pytest.mark.parametrize("way, costs", [
    ([], r"a thread stood still for at most [\d.]+ ms"),
    (["--outside"], r"by perf events"),
    (["stops"], r"each stopped a thread for \d+ us"),
], ids=["inside", "outside", "stops"])
def test_threads_that_run(tmp_path, process, way, costs):
    if way == ["--outside"] and not is_perf_granted():
        pytest.skip("perf events are refused")
    one = process(build("sampled.c", *FLAGS, is_traced=False), "threads", 10**9)
    done = command("sample", "-p", one.pid, *way,
                   "--hz", 400, "--for", "2s", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = re.match(r"cstrace: sampling process \d+\n"
                    r"cstrace: (\d+) samples in 4 threads in cstrace.cst, of "
                    r"([\d.]+) s that it ran in [\d.]+ s[;,] " + costs + r"\n",
                    done.stderr)
    assert said, done.stderr
    # So many as it ran for, however little that was.
    assert int(said[1]) == pytest.approx(400 * float(said[2]), rel=0.1, abs=8)
    found, n = rows(tmp_path)
    assert n > 100 and found["four"]["samples"] > found["one"]["samples"]
    assert found["all"]["total_ns"] >= 0.95 * sum(
        found[name]["self_ns"] for name in PARTS)
    assert one.poll() is None


@WAYS
def test_who_waits_goes_on_waiting(tmp_path, process, way):
    one = process("sleep", "1.5")
    done = command("sample", "-p", one.pid, "--wall", "--hz", 200, *way,
                   "--for", "500ms", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found, n = rows(tmp_path)
    assert n > 10 and any("nanosleep" in name and row["samples"]
                          for name, row in found.items())
    assert one.poll() is None  # no call of its own was cut short
    assert one.wait(timeout=LIMIT_S) == 0


@pytest.mark.parametrize("flags", [("-O0",), FLAGS], ids=["O0", "O2"])
@WAYS
def test_no_wait_is_cut_short(tmp_path, process, flags, way):
    one = process(build("sleeps.c", *flags, is_traced=False,
                        name="sleeps%s" % flags[0]), 40)
    done = command("sample", "-p", one.pid, "--wall", "--hz", 499, *way,
                   cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert one.communicate(timeout=LIMIT_S)[0] == "0 waits were cut short\n"
    found, _n = rows(tmp_path)
    assert all(found[name]["total_ns"] for name in WAITS)
    assert found["thread_main"]["total_ns"] > 0.9 * sum(
        found[name]["total_ns"] for name in WAITS - {"in_handler"})


@WAYS
def test_cpu_time_cuts_no_wait_either(tmp_path, process, way):
    one = process(build("sleeps.c", *FLAGS, is_traced=False), 40)
    done = command("sample", "-p", one.pid, "--hz", 997, *way, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert one.communicate(timeout=LIMIT_S)[0] == "0 waits were cut short\n"
    found, n = rows(tmp_path)
    assert found["run_a_moment"]["total_ns"] > 0.8 * n * 1e9 / 997


@WAYS
def test_who_waits_for_requests_is_at_work(tmp_path, process, way):
    """It stood in poll() when it was made ready, and has not run since."""
    one = process(build("serves.c", *FLAGS, is_traced=False))
    done = command("sample", "-p", one.pid, "--hz", 997, *way,
                   "--for", "2s", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found, n = rows(tmp_path)
    waits = found.get("wait_for", {"total_ns": 0})["total_ns"]
    assert waits < 0.1 * n * 1e9 / 997


@pytest.mark.parametrize("way", ["ticks", "events", "outside"])
def test_work_between_two_calls(tmp_path, process, way):
    """In less time than it takes to stop a thread; the program knows its
    shares."""
    if (way == "ticks") == is_perf_granted() and os.geteuid():
        pytest.skip("perf events are refused, or granted to all")
    one = process(build("brief.c", *FLAGS, is_traced=False), 2000,
                  preexec_fn=give_up_perf if way == "ticks" else None)
    # More than 997 are taken by events, whatever these cost.
    done = command("sample", "-p", one.pid, "--hz", 1009,
                   *["--outside"] * (way == "outside"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = one.communicate(timeout=LIMIT_S)[0].split()
    found, n = rows(tmp_path)
    assert n > 400
    parts = sum(found[name]["total_ns"]
                for name in ("ask", "heavy", "light", "answer"))
    for name, share in zip(told[::2], map(float, told[1::2])):
        has = found[name]["total_ns"] / parts
        error = max(most_error(tmp_path, share), 0.03)
        assert abs(has - share) < error, (name, has, share, error)
    by = {1: "ticks", 2: "events"}[
        Trace((tmp_path / "cstrace.cst").read_bytes()).rate[2]]
    assert by == way or way == "outside"


READS = r"""
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>
static char text[1 << 22];
int main(void)
{
	int file = memfd_create("text", 0);
	if (write(file, text, sizeof(text)) != sizeof(text)) return 1;
	while (pread(file, text, sizeof(text), 0) == sizeof(text));
	return 1;
}
"""


def test_a_process_that_is_always_in_the_kernel(tmp_path, process):
    """It is stopped behind its call, and a few steps lead out of libc."""
    (tmp_path / "a.c").write_text(READS)
    subprocess.run(["gcc", "-O2", "a.c", "-o", "a"], cwd=tmp_path, check=True)
    one = process(tmp_path / "a")
    done = command("sample", "-p", one.pid, "--hz", 997, "--for", "500ms",
                   cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "waiting for" not in done.stderr
    assert "a thread stood still" in done.stderr
    found, n = rows(tmp_path)
    assert found["main"]["total_ns"] > 0.9 * n * 1e9 / 997


def test_what_stops_cannot_see_is_said(tmp_path, process):
    one = process(build("brief.c", *FLAGS, is_traced=False), 300)
    done = command("sample", "-p", one.pid, "stops", "--hz", 997, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert one.wait(timeout=LIMIT_S) == 0
    assert "too few samples" in done.stderr
    assert "kernel.perf_event_paranoid below 2" in done.stderr


def test_no_event_is_refused_for_want_of_descriptors(tmp_path, process):
    """Each thread has one, and the limit is what a shell has."""
    if not is_perf_granted():
        pytest.skip("perf events are refused")
    one = process(build("sampled.c", *FLAGS, is_traced=False), "threads", 10**9)
    done = command("sample", "-p", one.pid, "--outside", "--for", "1s",
                   cwd=tmp_path, preexec_fn=lambda: resource.setrlimit(
                       resource.RLIMIT_NOFILE, (12, 64)))
    assert done.returncode == 0, done.stderr
    assert "by perf events" in done.stderr and "in 4 threads" in done.stderr


@pytest.mark.parametrize("words", ["alternate", "coroutine"])
def test_any_stack_from_outside(tmp_path, process, words):
    one = process(build("sampled.c", *FLAGS, is_traced=False), words, 2000)
    done = command("sample", "-p", one.pid, "--outside", "--hz", 499,
                   cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found, n = rows(tmp_path)
    parts = sum(found[name]["self_ns"] for name in PARTS)
    assert n > 100 and found["all"]["total_ns"] > 0.95 * parts


@WAYS
def test_a_stack_larger_than_a_samples_copy(tmp_path, process, way):
    one = process(build("tall.c", *FLAGS, is_traced=False), 3000)
    done = command("sample", "-p", one.pid, *way, "--hz", 499, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found, n = rows(tmp_path)
    assert n > 100
    assert found["main"]["total_ns"] > 0.95 * found["work"]["total_ns"]


@WAYS
def test_a_process_that_ends(tmp_path, process, way):
    one = process(build("sampled.c", *FLAGS, is_traced=False), "plain", 2000)
    done = command("sample", "-p", one.pid, "--hz", 200, *way,
                   cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert one.communicate(timeout=LIMIT_S)[0] == "done\n"


@pytest.mark.parametrize("words, text", [
    ([], "which process? -p PID"),
    (["-p", "x"], "bad value 'x' for --pid"),
    (["-p", "1", "--hz", "9999", "--outside"],
     "no more than 2000 samples a second"),
])
def test_what_does_not_go(tmp_path, words, text):
    done = command("sample", *words, cwd=tmp_path)
    assert done.returncode == 2 and text in done.stderr


def test_no_such_process(tmp_path):
    done = command("sample", "-p", 4194303, cwd=tmp_path)
    assert done.returncode == 1
    assert "there is no process 4194303" in done.stderr
