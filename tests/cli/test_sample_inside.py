# SPDX-License-Identifier: MIT
"""cstrace sample -p PID, from within: the process loads the sampler."""

import contextlib
import os
import re
import signal
import subprocess
import sys

import pytest

from lib_build import build
from lib_cstrace import CSTRACE, LIMIT_S, command
from lib_process import compiled
from lib_server import Clients, server
from test_record_pid import WAITS
from test_sample import most_error, rows

FLAGS = ("-O2", "-fomit-frame-pointer", "-pthread")


def accounts_program(**options):
    return build("accounts.c", *FLAGS, is_traced=False, **options)


def order(one, letters):
    one.stdin.write(letters)
    one.stdin.flush()


def accounts(one):
    """CPU time of work_on(), talk() and all; the signals of its own."""
    order(one, "=")
    return [int(word) for word in one.stdout.readline().split()]


def begin(folder, pid, *words):
    sampler = subprocess.Popen([CSTRACE, "sample", "-p", str(pid), *words],
                               cwd=folder, text=True, stderr=subprocess.PIPE)
    assert sampler.stderr.readline() == (
        "cstrace: sampling process %d: Ctrl-C ends it\n" % pid)
    return sampler


def end(sampler):
    sampler.send_signal(signal.SIGINT)
    said = sampler.communicate(timeout=LIMIT_S)[1]
    assert sampler.returncode == 0, said
    return said


def wait_for_cpu(one, ns):
    """Waits until the servers have run for so long."""
    begin_ns = accounts(one)[2]
    while accounts(one)[2] - begin_ns < ns:
        pass


def signals(pid):
    """What the kernel knows of signals and timers, by thread."""
    found = {}
    for tid in os.listdir("/proc/%d/task" % pid):
        with contextlib.suppress(OSError), open(
                "/proc/%d/task/%s/status" % (pid, tid),
                encoding="utf-8") as file:
            found[tid] = "\n".join(re.findall(
                r"Sig(?:Pnd|Blk|Ign|Cgt):.*|ShdPnd:.*", file.read()))
    with open("/proc/%d/timers" % pid, encoding="utf-8") as file:
        found["timers"] = file.read()
    return found


def without_a_tick(found):
    """A SIGPROF of the program's own clock may be pending for the process."""
    def clear(line):
        mask = int(line[1], 16) & ~(1 << (signal.SIGPROF - 1))
        return "ShdPnd:\t%016x" % mask
    return {tid: re.sub(r"ShdPnd:\t(\w+)", clear, text)
            for tid, text in found.items()}


def test_shares_are_the_programs_own_accounts(tmp_path, start):
    """Between two system calls as well; of threads that come later and of
    such as block all signals, too."""
    one = start(accounts_program())
    order(one, "abp")
    wait_for_cpu(one, 10**7)
    before = signals(one.pid)
    sampler = begin(tmp_path, one.pid)
    first = accounts(one)
    order(one, "ab")
    wait_for_cpu(one, 3 * 10**9)
    last = accounts(one)
    said = end(sampler)
    assert re.fullmatch(
        r"cstrace: \d+ samples in [45] threads in cstrace.cst, of [\d.]+ s that "
        r"it ran in [\d.]+ s; a thread stood still for at most [\d.]+ ms\n",
        said), said
    work, talk, everything, ticks, _ = (y - x for x, y in zip(first, last))
    found, n = rows(tmp_path)
    assert n > 1000
    total = found["serve"]["total_ns"]
    for name, ns in (("work_on", work), ("talk", talk)):
        row = found[name]
        share, true = row["total_ns"] / total, ns / everything
        error = max(most_error(tmp_path, true), 0.04)
        assert abs(share - true) < error, (name, share, true, error)
    assert ticks > 0.5 * everything / 10**7  # its own timer goes on
    after = without_a_tick(signals(one.pid))
    before = without_a_tick(before)
    assert {tid: after[tid] for tid in before} == before


def test_ten_times_under_load_no_request_fails(tmp_path, start):
    one = start(server(tmp_path), tmp_path / "socket")
    clients = Clients(tmp_path / "socket", 3)
    while not clients.n_asked:  # libc has signals of its own for threads
        assert not clients.wrong
    before = signals(one.pid)[str(one.pid)]
    try:
        for _ in range(10):
            done = command("sample", "-p", one.pid, "--for", "500ms", "--force",
                           "--wall", cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            assert "from outside" not in done.stderr
            assert signals(one.pid)["timers"] == ""
            # libc blocks all signals for as long as it makes a thread.
            assert any(signals(one.pid)[str(one.pid)] == before
                       for _ in range(1000))
    finally:
        wrong = clients.stop()
    assert not wrong and clients.n_asked > 0 and one.poll() is None
    with open("/proc/%d/maps" % one.pid, encoding="utf-8") as maps:
        text = maps.read()
    assert "libcstrace-sample.so" in text and "cstrace-samples" not in text


def test_the_program_takes_the_signal_for_itself(tmp_path, start):
    one = start(accounts_program())
    order(one, "a")
    sampler = begin(tmp_path, one.pid)
    wait_for_cpu(one, 10**8)
    order(one, "u")
    said = sampler.communicate(timeout=LIMIT_S)[1]
    assert sampler.returncode == 0
    assert re.match(r"cstrace: process %d sends no more samples: it has taken "
                    r"signal %d for itself" % (one.pid, signal.SIGURG), said)
    n = accounts(one)[4]
    wait_for_cpu(one, 10**7)
    assert accounts(one)[4] == n  # no timer goes on
    one.send_signal(signal.SIGURG)  # and the handler is its own
    while accounts(one)[4] != n + 1:
        pass
    sampler = begin(tmp_path, one.pid, "--force")  # with another signal
    wait_for_cpu(one, 10**8)
    end(sampler)
    assert accounts(one)[4] == n + 1 and rows(tmp_path)[1] > 0


def test_one_recorder_at_a_time_and_one_that_was_killed(tmp_path, start):
    one = start(accounts_program())
    order(one, "a")
    sampler = begin(tmp_path, one.pid, "-o", "first.cst")
    second = command("sample", "-p", one.pid, "--for", "200ms", cwd=tmp_path)
    assert second.stderr.startswith(
        "cstrace: process %d is sampled from outside, 97 times a second: "
        "another cstrace samples it\n" % one.pid)
    sampler.kill()
    sampler.communicate(timeout=LIMIT_S)
    third = begin(tmp_path, one.pid)
    wait_for_cpu(one, 10**8)
    end(third)
    assert signals(one.pid)["timers"] == "" and one.poll() is None


VISITOR = """
import ctypes, sys
SEIZE = 0x4206
assert ctypes.CDLL(None).ptrace(SEIZE, int(sys.argv[1]), None, None) == 0
print("there", flush=True)
sys.stdin.read()
"""
CLOCK_NANOSLEEP = "230"


def system_call_of(pid):
    with open("/proc/%d/syscall" % pid, encoding="utf-8") as file:
        return file.read().split()[0]


def test_the_end_of_a_visit_is_awaited(tmp_path, start):
    """Another cstrace looks at a thread for a moment only."""
    one = start(accounts_program())
    with subprocess.Popen([sys.executable, "-c", VISITOR, str(one.pid)],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as visitor:
        assert visitor.stdout.readline() == "there\n"
        sampler = subprocess.Popen(
            [CSTRACE, "sample", "-p", str(one.pid), "--for", "100ms"],
            cwd=tmp_path, text=True, stderr=subprocess.PIPE)
        while (sampler.poll() is None
               and system_call_of(sampler.pid) != CLOCK_NANOSLEEP):
            pass
        visitor.stdin.close()
    said = sampler.communicate(timeout=LIMIT_S)[1]
    assert said.startswith("cstrace: sampling process %d" % one.pid), said


def test_samples_of_a_killed_recorder_stop(tmp_path, start):
    one = start(accounts_program())
    order(one, "a")
    sampler = begin(tmp_path, one.pid, "--hz", "5000")
    sampler.kill()
    sampler.communicate(timeout=LIMIT_S)
    while signals(one.pid)["timers"]:
        assert one.poll() is None


SLEEPS = r"""
#include <stdio.h>
#include <time.h>
int main(void)
{
	struct timespec long_time = {1000, 0};
	puts("ready"), fflush(stdout);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, NULL);
}
"""


def test_a_sleep_does_not_begin_anew(tmp_path, start):
    """The kernel goes on with it, to the time when it was to end."""
    one = start(compiled(tmp_path, SLEEPS))
    for _ in range(3):
        done = command("sample", "-p", one.pid, "--wall", "--hz", "5000",
                       "--for", "1500ms", "--force", cwd=tmp_path)
        assert done.returncode == 0 and "outside" not in done.stderr
        with open("/proc/%d/syscall" % one.pid, encoding="utf-8") as file:
            assert file.read().split()[0] == "219"  # restart_syscall


EXECS = r"""
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	volatile unsigned long n = 0;
	if (argc < 2)
		puts("ready"), fflush(stdout);
	while (argc > 1 || n < 300000000)
		n++;
	execl(argv[0], argv[0], "again", (char *)0);
}
"""


def test_a_process_that_runs_another_program(tmp_path, start):
    one = start(compiled(tmp_path, EXECS))
    done = command("sample", "-p", one.pid, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert one.poll() is None and rows(tmp_path)[0]["main"]["samples"]


@pytest.mark.parametrize("flags, words, said", [
    (["-static"], [], "process %d is sampled from outside, 97 times a second: "
     "it is static"),
    (["-static"], ["--hz", "9999"],
     "process %d is sampled from outside, 2000 times"),
    ([], ["--outside"], "sampling process %d"),
])
def test_from_outside(tmp_path, start, flags, words, said):
    source = WAITS.replace("BEFORE", "").replace("START", "")
    one = start(compiled(tmp_path, source, *flags))
    done = command("sample", "-p", one.pid, "--wall", "--for", "100ms", *words,
                   cwd=tmp_path)
    assert done.stderr.startswith("cstrace: " + said % one.pid), done.stderr
    with open("/proc/%d/maps" % one.pid, encoding="utf-8") as maps:
        assert "libcstrace" not in maps.read()
