# SPDX-License-Identifier: MIT
"""Why the program stopped is read last, whatever rows come before it."""

import re

import pytest

from lib_build import build
from lib_gdb import needs_watchpoints
from lib_term import PROMPT, Terminal
from lib_tree import rows

REASONS = {
    "abort": "cstrace: stopped by SIGABRT, Aborted\n.*pthread_kill",
    "segv": "cstrace: stopped by SIGSEGV, Segmentation fault\n.*end \\(how=",
    "raise": "cstrace: stopped by SIGUSR1, User defined signal 1\n.*pthread_kill",
    "kill": "cstrace: ended by SIGKILL, Killed\ncstrace: 9002 calls in 1 thread",
}


def behind_the_rows(seen):
    last = rows(seen)[-1].text
    return seen[seen.rindex(last) + len(last):].partition("\n")[2]


@pytest.mark.parametrize("how", REASONS)
def test_a_signal_is_read_behind_all_rows(tmp_path, how):
    with Terminal(tmp_path, build("many.c"), args=[how],
                  commands=("set height 24",)) as t:
        t.ask("cstrace start")
        t.send("run\n")
        seen = t.wait("\n" + PROMPT)
        assert re.match(REASONS[how], behind_the_rows(seen)), seen[-600:]


def test_a_signal_is_told_once_where_there_are_no_rows(gdb):
    run = gdb(build("many.c"), "set cstrace live off", "cstrace start", "run",
              args=["segv"])
    assert "received signal SIGSEGV" in run.out
    assert "stopped by" not in run.out


def test_a_signal_is_told_once_where_rows_go_elsewhere(gdb):
    run = gdb(build("many.c"), "set cstrace output rows.txt", "cstrace start",
              "run", args=["segv"])
    assert "received signal SIGSEGV" in run.out
    assert "stopped by" not in run.out


def test_the_thread_is_named_where_there_are_several(gdb):
    run = gdb(build("crew.c"), "break one", "cstrace start", "run", "delete",
              "python import ctypes; pid, tid, _ = gdb.selected_thread().ptid",
              # tgkill
              "python ctypes.CDLL(None).syscall(234, pid, tid, 10)",
              "continue", "python from gdbext.ui import reason",
              "python print(reason.stop().signal.text())", args=[1, 1])
    assert ('stopped by SIGUSR1, User defined signal 1 in thread 2 "crew-1"'
            in run.lines())


# What gdb says of other stops, it says behind the rows.
OTHERS = {
    "breakpoint": (["break leaf"], "\nBreakpoint 1, leaf"),
    "temporary": (["tbreak leaf"], "\nTemporary breakpoint 1, leaf"),
    "watch": (["watch total"], "\nHardware watchpoint 1: total\n"),
    "catch": (["catch syscall kill"], "\nCatchpoint 1 \\(call to syscall kill"),
    "until": (["break main", "run", "delete", "advance end"], "end \\(how="),
    "step": (["break main", "run", "delete", "until 37"], "main \\("),
    "finish": (["break leaf", "run", "delete", "finish"], "main \\(.*\n"),
    "exit": ([], r"\[Inferior 1 \(process \d+\) exited with code 03\]"),
}


@pytest.mark.parametrize("how", OTHERS)
def test_other_reasons_stand_behind_the_rows_as_they_are(gdb, how):
    before, words = OTHERS[how]
    if how == "watch":
        needs_watchpoints()
    if "run" not in before:
        before = before + ["run"]
    run = gdb(build("many.c"), "cstrace start", *before,
              args=["kill" if how == "catch" else "no way"])
    assert re.search(words, behind_the_rows("\n" + run.out)), run.out[-600:]
    assert "stopped by" not in run.out
