# SPDX-License-Identifier: MIT
"""gdb always ends well: run after run, however the run ends.  Each run is
checked for a crash, a hang, a traceback and processes left behind; with
CSTRACE_TEST_LONG=1 there are 100 of each kind."""

import os
import re
import signal

import pytest

from lib_build import build
from lib_gdb import session_members, wait_for
from lib_term import PROMPT, Terminal
from lib_tree import read_jsonl

N_RUNS = 100 if os.environ.get("CSTRACE_TEST_LONG") == "1" else 20

# A program with its arguments, and the commands for gdb.
BATCH = [
    ("ends.c", ["return"], ["cstrace start", "run"]),
    ("ends.c", ["_exit"], ["cstrace start", "run"]),
    ("ends.c", ["abort"], ["cstrace start", "run"]),
    ("ends.c", ["segv"], ["cstrace start", "run", "cstrace show"]),
    ("ends.c", ["kill"], ["cstrace start", "run"]),
    ("ends.c", ["exit"], ["cstrace start", "run", "run", "run"]),
    ("crew.c", [8, 500], ["cstrace start", "run"]),
    ("crew.c", [4, 200], ["break two", "cstrace start", "run"]),
    ("crew.c", [4, 20], ["cstrace start -sync", "run"]),
    ("sorted.cc", [], ["cstrace start", "break map_some", "run", "kill"]),
    ("sorted.cc", [], ["cstrace start", "break map_some", "run",
                       "cstrace stop", "continue"]),
    ("names.cc", [], ["cstrace start", "run", "quit"]),
    ("oracle.cc", [5, 5000, "log"], ["set cstrace live off", "cstrace start",
                                     "run", "cstrace save t.cst",
                                     "cstrace load t.cst"]),
]


@pytest.mark.parametrize("number", range(N_RUNS))
def test_batch_runs_end_well(gdb, number):
    source, args, commands = BATCH[number % len(BATCH)]
    run = gdb(build(source), *commands, args=args)
    assert run.status == 0


def start(t):
    t.ask("cstrace start")
    t.send("run\n")
    t.wait("open +\\S+ +heard")


def quit_in_mid_run(t):
    start(t)
    t.interrupt()
    t.wait("SIGINT", PROMPT)
    return t.end()


def quit_after_the_end(t):
    start(t)
    t.send("q\n")
    t.wait(PROMPT)
    return t.end()


def quit_before_the_run(t):
    t.ask("cstrace start")
    return t.end()


def stop_then_quit(t):
    start(t)
    t.interrupt()
    t.wait("SIGINT", PROMPT)
    assert "cstrace: off" in t.ask("cstrace stop")
    return t.end()


def end_of_input(t):
    start(t)
    t.interrupt()
    t.wait("SIGINT", PROMPT)
    t.send("\x04")
    return t.end("y")


def crash_in_mid_run(t):
    """The program dies while gdb waits for it."""
    start(t)
    pid = next(pid for pid, _state, name in session_members(t.session())
               if name == "waits")
    os.kill(pid, signal.SIGSEGV)
    t.wait("SIGSEGV", PROMPT)
    t.send("continue\n")
    t.wait("Program terminated with signal SIGSEGV", PROMPT)
    return t.end()


def killed_in_mid_run(t):
    start(t)
    pid = next(pid for pid, _state, name in session_members(t.session())
               if name == "waits")
    os.kill(pid, signal.SIGKILL)
    t.wait("Program terminated with signal SIGKILL", PROMPT)
    return t.end()


def run_again(t):
    start(t)
    t.interrupt()
    t.wait("SIGINT", PROMPT)
    t.send("run\n")
    t.wait(r"\(y or n\) ")
    t.send("y\n")
    t.wait("open +\\S+ +heard")
    t.send("q\n")
    t.wait("exited normally", PROMPT)
    return t.end()


INTERACTIVE = [quit_in_mid_run, quit_after_the_end, quit_before_the_run,
               stop_then_quit, end_of_input, crash_in_mid_run,
               killed_in_mid_run, run_again]


@pytest.mark.parametrize("number", range(N_RUNS))
def test_interactive_runs_end_well(tmp_path, number):
    with Terminal(tmp_path, build("waits.c")) as t:
        assert INTERACTIVE[number % len(INTERACTIVE)](t) == 0


@pytest.mark.parametrize("number", range(N_RUNS // 4))
def test_gdb_terminated_in_mid_run(gdb, tmp_path, number):
    """SIGTERM while rows come: gdb ends, and the program with it."""
    seen = tmp_path / "seen"

    def terminate(process):
        # spin.c is under way once its rows are in the file.
        wait_for(lambda: seen.exists() and seen.stat().st_size > 5000, "rows")
        process.terminate()

    run = gdb(build("spin.c"), "set cstrace output seen", "cstrace start",
              "run", talk=terminate)
    assert run.status in (0, 1, -signal.SIGTERM)


def test_the_spool_goes_with_gdb(gdb, tmp_path):
    """Nothing stays in the cache folder, nor in a memory file system."""
    def ours():
        return {name for name in os.listdir("/dev/shm") if "cstrace" in name}

    before = ours()
    gdb(build("crew.c"), "set cstrace live off", "cstrace start", "run",
        "cstrace save t.jsonl", args=[4, 1000])
    assert len(read_jsonl(tmp_path / "t.jsonl")) == 12005
    left = [os.path.join(folder, name)
            for folder, _, names in os.walk(tmp_path / ".cache")
            for name in names]
    assert left == []
    # The fuzzer's, beside us, comes and goes.
    wait_for(lambda: not ours() - before, "the end of others", 240)


def test_many_runs_in_one_session_do_not_grow_gdb(gdb):
    size = ("python print('size', [line for line in open('/proc/self/status')"
            " if line.startswith('RssAnon')][0].split()[1])")
    run = gdb(build("ends.c"), "set cstrace live off", "cstrace start",
              *["run"] * 3, size, *["run"] * 12, size,
              "python print('open', len(__import__('os').listdir("
              "'/proc/self/fd')))")
    first, last = map(int, re.findall(r"^size (\d+)", run.out, re.M))
    assert last - first < 32 * 1024, "%d KiB after 12 runs" % (last - first)
    assert int(re.search(r"^open (\d+)", run.out, re.M)[1]) < 40


@pytest.mark.parametrize("is_traced", [True, False])
def test_an_overwritten_stack_is_no_error(gdb, is_traced):
    run = gdb(build("lost.c", "-g0", is_traced=is_traced), "cstrace start",
              "run", "bt", "kill")
    assert re.search(r"^#0 .* in lose \[1\.2\] \(\)\n#1 +0x0+1 in ", run.out,
                     re.M), run.out
