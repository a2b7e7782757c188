# SPDX-License-Identifier: MIT
"""Programs that gdbserver has: the same tree, read through gdb's protocol."""

import os
import re
import shutil
import signal

import pytest

from lib_build import build
from lib_gdb import run_gdb, wait_for
from lib_gdbserver import SHIM, WRAPPER, gdbserver, own_files, own_pids, serving
from lib_tree import CALLS, live_tree, outcome, own_sites, read_jsonl, tree

QUIET = ("set cstrace live off", "set sysroot /")
SAVE = ("cstrace save t.txt", "cstrace save t.jsonl")


def calls_of(folder, name="t"):
    """How often each function was called."""
    counts = {}
    for call in read_jsonl(folder / (name + ".jsonl")):
        counts[call["function"]] = counts.get(call["function"], 0) + 1
    return counts


# ---- the ways to connect --------------------------------------------------------


def test_over_tcp_the_tree_is_the_same(gdb, tmp_path):
    with serving(tmp_path, build("calls.c")) as server:
        run = gdb(build("calls.c"), *QUIET, "target remote " + server.address,
                  "cstrace start", "continue", *SAVE)
    assert ("on (ring mode): recording begins once the program's libraries "
            "are loaded") in run.said()
    assert outcome(tmp_path) == CALLS
    assert any(line.startswith("18 calls in 1 thread") for line in run.said())


def test_over_stdio_the_tree_is_the_same(gdb, tmp_path):
    server = "gdbserver --once --wrapper env LD_PRELOAD=%s -- - %s" % (
        SHIM, build("calls.c"))
    gdb(build("calls.c"), *QUIET, "cstrace start", "target remote | " + server,
        "continue", *SAVE)
    assert outcome(tmp_path) == CALLS


def test_extended_remote_gives_the_shim_to_each_run(gdb, tmp_path):
    program = build("calls.c")
    with gdbserver(tmp_path, "--multi", "PORT") as server:
        run = gdb(program, *QUIET, "target extended-remote " + server.address,
                  "set remote exec-file %s" % program, "cstrace start",
                  "run", "cstrace save t.txt", "run", "cstrace save t.jsonl",
                  "show environment CSTRACE_AREA", "cstrace stop", "run",
                  "cstrace status", "monitor exit")
    assert outcome(tmp_path) == CALLS
    assert 'Environment variable "CSTRACE_AREA" not defined' in run.out
    assert "calls      18 (" in run.out


def test_extended_remote_leaves_the_users_library_alone(gdb, tmp_path):
    """The other machine may have it elsewhere."""
    program, there = build("calls.c"), tmp_path / "libcstrace.so"
    there.symlink_to(SHIM)
    with gdbserver(tmp_path, "--multi", "PORT") as server:
        run = gdb(program, *QUIET, "target extended-remote " + server.address,
                  "set remote exec-file %s" % program,
                  "set environment LD_PRELOAD %s" % there, "cstrace start",
                  "show environment LD_PRELOAD", "run", *SAVE, "monitor exit")
    assert "LD_PRELOAD = %s" % there in run.lines()
    assert outcome(tmp_path) == CALLS


def test_files_are_fetched_where_gdb_is_told_so(gdb, tmp_path):
    """gdb's own sysroot for gdbserver is "target:"."""
    with serving(tmp_path, build("calls.c")) as server:
        gdb(build("calls.c"), QUIET[0], "target remote " + server.address,
            "cstrace start", "continue", *SAVE)
    assert outcome(tmp_path) == CALLS


def test_nothing_of_this_machine_is_asked(gdb, tmp_path):
    """The numbers of processes that gdb gets mean others here, or none."""
    with serving(tmp_path, build("calls.c"), around=own_pids()) as server:
        gdb(build("calls.c"), *QUIET, "target remote " + server.address,
            "cstrace start", "break pair", "continue", "cstrace status",
            "delete", "continue", *SAVE)
    assert outcome(tmp_path) == CALLS


def test_files_of_the_other_machine_are_fetched(tmp_path):
    """Neither the program nor the library is here under its name."""
    there = tmp_path / "there"
    there.mkdir()
    for path in build("calls.c"), SHIM:
        shutil.copy(path, there)
    words = "--once --wrapper env LD_PRELOAD=/mnt/libcstrace.so -- PORT /mnt/"
    with gdbserver(tmp_path, *(words + build("calls.c").name).split(),
                   around=own_files(there)) as server:
        run_gdb(tmp_path, None, QUIET[0], "target remote " + server.address,
                "cstrace start", "continue", *SAVE)
    assert outcome(tmp_path) == CALLS


# ---- when rows appear ------------------------------------------------------------


def test_rows_appear_at_each_stop(gdb, tmp_path):
    with serving(tmp_path, build("calls.c")) as server:
        run = gdb(build("calls.c"), "set sysroot /",
                  "target remote " + server.address, "cstrace start",
                  "break pair", "continue", "echo @@1\\n", "delete",
                  "next", "echo @@2\\n", "continue")
    first, _, rest = run.out.partition("@@1\n")
    second, _, rest = rest.partition("@@2\n")
    assert own_sites(live_tree(first)) == tree("""
        main  (open)
          spread  calls.c:47  (open)
            pair  calls.c:38  (open)""")
    assert second.count("leaf  calls.c:16") == 2
    assert "compare" not in second and "compare" in rest


def test_a_start_in_the_middle_has_the_open_calls(gdb, tmp_path):
    with serving(tmp_path, build("calls.c")) as server:
        run = gdb(build("calls.c"), *QUIET, "target remote " + server.address,
                  "break pair", "continue", "cstrace start", "continue",
                  *SAVE)
    assert "3 calls open in 1 thread" in run.said()
    found = calls_of(tmp_path)
    assert (found["main"], found["pair"], found["leaf"]) == (1, 1, 7)


def test_all_is_read_before_it_is_overwritten(gdb, tmp_path):
    """The area takes 20,000 records; here are ten times as many."""
    with serving(tmp_path, build("remote.c"), 50000) as server:
        run = gdb(build("remote.c"), *QUIET, "set cstrace pool 512K",
                  "target remote " + server.address, "cstrace start",
                  "continue", "cstrace status", "cstrace save t.jsonl")
    assert calls_of(tmp_path) == {"main": 1, "turns": 1, "turn": 50000,
                                  "leaf": 50000}
    assert "lost       none" in run.out


def test_threads_lose_nothing_either(gdb, tmp_path):
    with serving(tmp_path, build("remote.c"), 20000, "threads") as server:
        gdb(build("remote.c"), *QUIET, "set cstrace pool 512K",
            "target remote " + server.address, "cstrace start", "continue",
            "cstrace save t.jsonl")
    assert calls_of(tmp_path) == {"main": 1, "turns": 2, "turn": 40000,
                                  "leaf": 40000}


VALUES = ("set cstrace args on", "set cstrace results on")


def test_each_call_has_its_values(gdb, tmp_path):
    """What is to be copied is written before the first call."""
    with serving(tmp_path, build("calls.c")) as server:
        gdb(build("calls.c"), *QUIET, *VALUES,
            "target remote " + server.address, "cstrace start", "continue",
            "cstrace save there.jsonl")
    gdb(build("calls.c"), *QUIET, *VALUES, "cstrace start", "run",
        "cstrace save here.jsonl")
    # The arguments of compare() are places on the stack.
    there, here = ([(c["name"], c.get("result"), c["name"] == "compare"
                     or c.get("args")) for c in read_jsonl(tmp_path / name)]
                   for name in ("there.jsonl", "here.jsonl"))
    assert ("leaf", 3, {"n": 2}) in there
    assert there == here


def test_a_logpoint_stops_nothing(gdb, tmp_path):
    with serving(tmp_path, build("calls.c")) as server:
        run = gdb(build("calls.c"), *QUIET, *VALUES,
                  "target remote " + server.address,
                  "cstrace log leaf, got {n} from {$caller}", "cstrace start",
                  "break compare", "continue", "info cstrace-log",
                  "cstrace show")
    assert "in place: the program does not stop" in run.out
    assert "log: got 2 from pair  calls.c" in run.out


def test_a_logpoint_of_a_chosen_function_misses_no_call(gdb, tmp_path):
    """Its first call comes without arguments: then it is a breakpoint."""
    with serving(tmp_path, build("calls.c")) as server:
        run = gdb(build("calls.c"), *QUIET, "set cstrace args down",
                  "target remote " + server.address,
                  "cstrace log down, at {n}", "cstrace start", "continue",
                  "cstrace show")
    assert re.findall(r"log: (at \d)  calls.c", run.out) == [
        "at 3", "at 2", "at 1", "at 0"]


def test_values_of_chosen_functions(gdb, tmp_path):
    """A place that was not looked at ahead has values after gdb's next look."""
    with serving(tmp_path, build("calls.c")) as server:
        gdb(build("calls.c"), *QUIET, "set cstrace args down",
            "target remote " + server.address, "cstrace start", "break down",
            *["continue"] * 3, "set cstrace args off", "delete", "continue",
            "cstrace save t.txt")
    tree = (tmp_path / "t.txt").read_text()
    assert re.findall(r" down(\(n=\d\))?  ", tree) == ["", "", "(n=1)", ""]


# ---- ends ------------------------------------------------------------------------


def under_way(folder):
    wait_for((folder / "under-way").exists, "the program's turns")


def talker(folder, act, *more):
    """Types nothing; does something to the program or its server."""
    def talk(_process):
        under_way(folder)
        act()
    return talk


def test_ctrl_c_shows_what_there_is(tmp_path):
    with serving(tmp_path, build("remote.c"), "ever") as server:
        run = run_gdb(tmp_path, build("remote.c"), *QUIET,
                      "target remote " + server.address, "cstrace start",
                      "continue", "cstrace save t.jsonl", "kill",
                      talk=lambda p: (under_way(tmp_path),
                                      os.kill(p.pid, signal.SIGINT)))
    assert "SIGINT" in run.out
    assert calls_of(tmp_path)["turn"] > 20000
    assert not any("not in the trace" in line for line in run.said())


def test_a_lost_connection_leaves_what_was_read(tmp_path):
    with serving(tmp_path, build("remote.c"), "ever") as server:
        run = run_gdb(tmp_path, build("remote.c"), *QUIET,
                      "set cstrace pool 512K",
                      "target remote " + server.address, "cstrace start",
                      "continue", "cstrace save t.jsonl",
                      talk=talker(tmp_path, server.kill))
    assert ("the connection to the program was lost: calls since gdb last "
            "read them are not in the trace") in run.said()
    assert calls_of(tmp_path)["turn"] > 5000


def test_a_lost_connection_in_a_script_is_no_end_of_gdb(tmp_path):
    """A sourced script ends at gdb's error; gdb goes on, with the trace."""
    script = tmp_path / "script.gdb"
    with serving(tmp_path, build("remote.c"), "ever") as server:
        script.write_text("target remote %s\ncstrace start\ncontinue\n"
                          % server.address)
        run = run_gdb(tmp_path, build("remote.c"), *QUIET,
                      "set cstrace pool 512K", "source %s" % script,
                      "cstrace status", talk=talker(tmp_path, server.kill))
    assert re.search(r"^calls +\d{4,}", run.out, re.M)


def test_a_killed_program_leaves_what_was_read(tmp_path):
    with serving(tmp_path, build("remote.c"), "ever") as server:
        run = run_gdb(tmp_path, build("remote.c"), *QUIET,
                      "set cstrace pool 512K",
                      "target remote " + server.address, "cstrace start",
                      "continue", "cstrace save t.jsonl",
                      talk=talker(tmp_path, lambda: os.kill(
                          server.program_pid(), signal.SIGKILL)))
    assert ("the program ended where gdb could not stop it: calls since gdb "
            "last read them are not in the trace") in run.said()
    assert calls_of(tmp_path)["turn"] > 5000


def test_after_detach_the_program_goes_on(gdb, tmp_path):
    program = build("remote.c")
    with serving(tmp_path, program, 30000) as server:
        gdb(program, *QUIET, "target remote " + server.address,
            "break leaf", "cstrace start", "continue", "detach",
            "cstrace save t.jsonl")
        wait_for(lambda: "sum 30000" in server.log(), "the program's end")
    assert calls_of(tmp_path) == {"main": 1, "turns": 1, "turn": 1, "leaf": 1}


def test_a_fork_child_is_in_the_trace_while_its_parent_is(gdb, tmp_path):
    program = build("remote.c")
    with serving(tmp_path, program, 3, "fork") as server:
        gdb(program, *QUIET, "target remote " + server.address,
            "cstrace start", "continue", "cstrace save t.jsonl")
    assert calls_of(tmp_path)["turn"] in (3, 4, 5)


def test_an_exec_is_told(gdb, tmp_path):
    program = build("remote.c")
    with serving(tmp_path, program, 3, "exec") as server:
        run = gdb(program, *QUIET, "target remote " + server.address,
                  "cstrace start", "continue", "cstrace save t.jsonl")
    assert ("the program has exec'ed another one: with `target remote` only "
            "the first one's calls are recorded") in run.said()
    assert calls_of(tmp_path) == {"main": 1}


# ---- what cannot be ----------------------------------------------------------------


def test_a_program_without_the_shim_is_told_how_to_start(gdb, tmp_path):
    """What the message says to type works."""
    program = build("calls.c")
    with gdbserver(tmp_path, "--once", "PORT", program) as server:
        run = gdb(program, *QUIET, "target remote " + server.address,
                  "cstrace start", "break main", "continue",
                  "cstrace start -depth 2")
    line = re.search(r"^  gdbserver (.+) -- HOST:PORT PROGRAM$", run.out,
                     re.M)[1]
    assert line.split() == WRAPPER[:-1]
    assert "  set environment LD_PRELOAD %s\n" % SHIM in run.out
    with gdbserver(tmp_path, "--multi", "PORT") as server:
        run = gdb(program, *QUIET, "target extended-remote " + server.address,
                  "set remote exec-file %s" % program,
                  "set environment LD_PRELOAD %s" % SHIM, "break main", "run",
                  "delete", "cstrace start", "continue", *SAVE,
                  "monitor exit")
    assert outcome(tmp_path).replace("  (before)", "") == CALLS


@pytest.mark.parametrize("command, why", [
    ("cstrace start -sync",
     "-sync is for programs on this machine: those of `target remote` show "
     "their calls at each stop"),
    ("cstrace sample",
     "cstrace samples programs that gdb runs or attaches to on this machine, "
     "not those of `target remote`; `cstrace sample PROGRAM` there in a shell"),
    ("cstrace goto 1.3",
     "gdb cannot run the program of `target remote` again: `target "
     "extended-remote` and `run` can"),
])
def test_what_cannot_be_says_so(gdb, tmp_path, command, why):
    with serving(tmp_path, build("calls.c")) as server:
        run = gdb(build("calls.c"), *QUIET, "target remote " + server.address,
                  *(() if "sync" in command else ("cstrace start",)),
                  "break down", "continue", command)
    assert run.lines()[-1].removeprefix("cstrace: ") == why


def test_non_stop_is_refused(gdb, tmp_path):
    with serving(tmp_path, build("calls.c")) as server:
        run = gdb(build("calls.c"), *QUIET, "set non-stop on",
                  "target remote " + server.address, "cstrace start")
    assert run.said()[-1] == (
        "`set non-stop off` first: the calls of `target remote` are read "
        "while all threads stand still")


# ---- with the rest of cstrace --------------------------------------------------------


def test_conditions_stop_there_too(gdb, tmp_path):
    with serving(tmp_path, build("calls.c")) as server:
        run = gdb(build("calls.c"), *QUIET, "target remote " + server.address,
                  "cstrace start", "cstrace stop-when leaf -count 3",
                  "continue", "cstrace here", "continue")
    assert "stop 1: leaf, count 3" in run.said()
    assert re.search(r"1\.6 +leaf  calls.c:40", run.out)


def test_goto_runs_an_extended_remote_program_again(gdb, tmp_path):
    program = build("calls.c")
    with gdbserver(tmp_path, "--multi", "PORT") as server:
        run = gdb(program, *QUIET, "target extended-remote " + server.address,
                  "set remote exec-file %s" % program, "cstrace start", "run",
                  "cstrace goto 1.12", "kill", "monitor exit")
    assert "in 1.12 compare" in run.said()


def test_logpoints_are_in_the_tree(gdb, tmp_path):
    with serving(tmp_path, build("calls.c")) as server:
        gdb(build("calls.c"), *QUIET, "target remote " + server.address,
            "cstrace start", "cstrace log calls.c:23, n is {n}", "continue",
            "cstrace save t.txt")
    tree = (tmp_path / "t.txt").read_text()
    assert re.findall(r"log: n is (\d)", tree) == ["3", "2", "1"]
