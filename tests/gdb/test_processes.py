# SPDX-License-Identifier: MIT
"""Programs of several processes: what they exec, spawn and fork, whichever of
them gdb follows, and what goes on when gdb's own process has ended."""

import fcntl
import os
import re

import pytest

from lib_build import FOUR, build, line_of
from lib_term import PROMPT, Terminal
from lib_tree import CALLS, own_sites, rows, saved_trees, tree


@pytest.fixture
def pipes(tmp_path):
    """In the folder where gdb runs the program; what lets it go on, and what
    waits for its end."""
    os.mkfifo(tmp_path / "go")
    (tmp_path / "end").touch()
    return ("shell echo > go", "shell flock end true")


def processes(**how):
    return build("processes.c", **how)


def names_only(text):
    """Without call sites and marks."""
    return re.sub(r"  (\S+:\d+|\(\w+\)).*$", "", text, flags=re.M)


def trees(folder, name="t.txt"):
    """The tree of each thread, by its name and number."""
    found = {}
    for row in rows((folder / name).read_text()):
        key = (row.thread, row.tid)
        found[key] = found.get(key, "") + row.line() + "\n"
    return found


# ---- exec ------------------------------------------------------------------

@pytest.mark.parametrize("variant", FOUR, ids=str)
@pytest.mark.parametrize("mode", ["", "-sync"])
def test_both_programs_of_an_exec_have_their_tree(gdb, tmp_path, pipes,
                                                  variant, mode):
    calls = build("calls.c", variant=variant)
    gdb(processes(variant=variant), "set cstrace live off",
        "cstrace start " + mode, "run", "cstrace save t.txt",
        args=["exec", str(calls)])
    found = {name: text for (name, _tid), text
             in trees(tmp_path).items()}
    assert own_sites(found["processes"]) == tree("""
        main  (open)
          become  processes.c:%d  (open)
            leaf  processes.c:%d
        """ % (line_of("processes.c", "become(argv[2], environ)"),
               line_of("processes.c", "leaf();", 3)))
    assert own_sites(found["calls"]) == CALLS


@pytest.mark.parametrize("how", ["fork", "vfork", "spawn", "system"])
@pytest.mark.parametrize("variant", [FOUR[0], FOUR[3]], ids=str)
def test_programs_that_gdb_does_not_follow_are_traced(gdb, tmp_path, pipes,
                                                      how, variant):
    # Its lines are those of its own debug information: gdb has not read it.
    calls = build("calls.c", variant=variant)
    gdb(processes(variant=variant), "set cstrace live off", "cstrace start",
        "run", "cstrace save t.txt", args=[how, str(calls)])
    found = saved_trees(tmp_path / "t.txt")
    assert own_sites(found["calls"]) == CALLS
    assert "stop_here" in found["processes"]


@pytest.mark.parametrize("how", ["fork", "vfork", "spawn", "system"])
def test_programs_that_gdb_follows_leave_their_parents_traced(gdb, tmp_path,
                                                              pipes, how):
    # gdb lets a vfork parent go when its child has exec'ed.
    gdb(processes(), "set cstrace live off", "set follow-fork-mode child",
        "cstrace start", "run", "shell flock end true", "cstrace save t.txt",
        args=[how, str(build("calls.c"))])
    found = saved_trees(tmp_path / "t.txt")
    assert own_sites(found["calls"]) == CALLS
    assert "stop_here" in found["processes"]


def test_each_program_is_named_from_its_own_file(gdb, tmp_path, pipes):
    # gdb starts all of them at the same addresses.
    gdb(processes(), "set cstrace live off", "cstrace start", "run",
        "cstrace save t.txt", args=["spawn", str(build("calls.c"))])
    text = (tmp_path / "t.txt").read_text()
    for row in rows(text):
        known = CALLS if row.thread == "calls" else (
            "main start stop_here leaf")
        assert row.text.split()[0] in known, row.text


def test_a_program_exec_d_without_the_library_is_told(gdb, tmp_path, pipes):
    calls = build("calls.c")
    run = gdb(processes(), "set cstrace live off", "cstrace start", "run",
              args=["bare", str(calls)])
    assert any(line.startswith("%s was exec'ed without libcstrace.so" % calls)
               for line in run.said())
    assert "3 calls in 1 thread" in run.said()[-1]


@pytest.mark.parametrize("words", [
    ("/usr/bin/env", "A=1"), ("/bin/sh", "-c", "$0; true"),
    ("/usr/bin/timeout", "100")], ids=lambda words: words[0])
def test_a_launcher_without_hooks_traces_what_it_starts(gdb, tmp_path, words):
    run = gdb(words[0], "set cstrace live off", "cstrace start", "run",
              "cstrace save t.txt", args=[*words[1:], build("calls.c")])
    assert any("itself has no hooks: only what it starts can be traced; "
               "`cstrace start -patch`" in line for line in run.said())
    assert any(line.startswith("18 calls in 1 thread, ")
               for line in run.said())
    (text,) = saved_trees(tmp_path / "t.txt").values()
    assert own_sites(text) == CALLS


def test_exec_into_a_program_without_hooks_ends_the_tree(gdb, tmp_path, pipes):
    run = gdb(processes(), "set cstrace live off", "cstrace start", "run",
              args=["exec", "/bin/true"])
    assert not any("exec'ed" in line for line in run.said())
    assert "3 calls in 1 thread" in run.said()[-1]


def test_follow_exec_mode_new_is_the_same_trace(gdb, tmp_path, pipes):
    run = gdb(processes(), "set cstrace live off", "set follow-exec-mode new",
              "cstrace start", "run", "cstrace save t.txt",
              args=["exec", str(build("calls.c"))])
    found = saved_trees(tmp_path / "t.txt")
    assert own_sites(found["calls"]) == CALLS
    assert "become" in found["processes"]
    assert "2 threads of 2 processes" in run.out


def test_rows_after_follow_exec_mode_new_have_their_own_lines(tmp_path, pipes):
    """gdb has the old program's inferior selected while the new one runs."""
    with Terminal(tmp_path, processes(), args=["exec", build("waits.c")],
                  commands=("set follow-exec-mode new",)) as t:
        t.ask("cstrace start")
        t.send("run\n")
        seen = t.wait(r"open +\S+ +heard  waits.c:32")
        assert "round_trip  waits.c:" in seen
        assert "Switching" not in seen
        t.interrupt()
        t.wait("SIGINT", PROMPT)
        assert "heard" in t.ask("backtrace")


# ---- fork --------------------------------------------------------------------

GO_ON = {
    # what it takes to bring both processes to their ends
    ("parent", "on"): (),
    ("child", "on"): ("shell flock end true",),
    ("parent", "off"): ("inferior 2", "continue", "inferior 1", "continue"),
    ("child", "off"): ("inferior 1", "continue"),
}


@pytest.mark.parametrize("mode,detach", GO_ON)
def test_both_sides_of_a_fork_are_traced(gdb, tmp_path, pipes, mode, detach):
    # The parent waits for its child, which gdb may hold: it stops before.
    gdb(processes(), "set cstrace live off", "break stop_here",
        "set follow-fork-mode " + mode, "set detach-on-fork " + detach,
        "cstrace start", "run", *GO_ON[mode, detach], "delete", "continue",
        "cstrace save t.txt", args=["fork"])
    found = trees(tmp_path)
    assert len(found) == 2
    texts = [names_only(text) for text in found.values()]
    assert any("    work\n      leaf\n      leaf\n" in text
               for text in texts), texts
    assert any("  stop_here\n    leaf\n" in text for text in texts), texts


def test_in_hooks_mode_the_trace_follows_gdb(gdb, tmp_path, pipes):
    program = build("processes.c", "-static")
    gdb(program, "set cstrace live off", "set follow-fork-mode child",
        "cstrace start", "run", "cstrace save t.txt", args=["fork"])
    texts = list(trees(tmp_path).values())
    assert len(texts) == 2
    assert "fork_one" in texts[0] and "work" not in texts[0]
    assert names_only(texts[1]) == "work\n  leaf\n  leaf\n"


# ---- processes that go on ------------------------------------------------------

# What outlives gdb's process may come late to its call.
UNTIL_IT_WAITS = "shell until [ -e waiting ]; do sleep 0.01; done"


@pytest.mark.parametrize("how", ["outlive", "daemon"])
def test_a_process_that_outlives_gdb_s_is_recorded_on(gdb, tmp_path, pipes,
                                                      how):
    run = gdb(processes(), "cstrace start", "run", "cstrace status",
              UNTIL_IT_WAITS, *pipes,
              "cstrace save t.txt", "cstrace status", args=[how])
    assert "another process is running on" in run.out
    assert re.findall("^running +(.*)$", run.out, re.M) == ["1 process"]
    later = [text for text in trees(tmp_path).values()
             if "work_later" in text]
    assert len(later) == 1
    assert re.search(r"^( +)work\n\1  leaf\n\1  leaf\n",
                     names_only(later[0]), re.M)
    # Its rows would have come between the prompt and what is typed there.
    assert "  work  " not in run.out


@pytest.mark.parametrize("command", ["cstrace stop", "run"])
def test_it_is_recorded_until_the_user_says_so(gdb, tmp_path, pipes, command):
    go, end = pipes
    run = gdb(processes(), "set cstrace live off", "cstrace start", "run",
              UNTIL_IT_WAITS, "set args fork", command, "cstrace save t.txt", go, end,
              args=["outlive"])
    assert "another process is running on" in run.out
    text = (tmp_path / "t.txt").read_text()
    if command == "run":
        assert "work_later" not in text
        assert "a new trace replaces the old one" in run.out
    else:
        assert "work_later" in text


def test_gdb_s_end_is_its_trace_s_end(gdb, tmp_path, pipes):
    gdb(processes(), "set cstrace live off", "cstrace start -to t.txt", "run",
        UNTIL_IT_WAITS, args=["daemon"])
    with open(tmp_path / "go", "w") as go:
        go.write("\n")
    with open(tmp_path / "end") as end:
        fcntl.flock(end, fcntl.LOCK_EX)
    assert "work_later" in (tmp_path / "t.txt").read_text()


def test_rows_of_other_processes_leave_the_prompt_alone(tmp_path, pipes):
    with Terminal(tmp_path, processes(), args=["beside"],
                  commands=("break stop_here", "cstrace start")) as t:
        t.ask("run")
        for i in range(1, 151):  # time enough for rows to come
            assert t.ask("print 6 * 7") == "$%d = 42\n" % i
        (tmp_path / "stop").touch()
        assert "work" in t.ask("continue")


# ---- several inferiors -----------------------------------------------------------

def test_a_second_inferior_joins_the_trace(gdb, tmp_path, pipes):
    calls = build("calls.c")
    run = gdb(processes(), "set cstrace live off", "break stop_here",
              "cstrace start", "run", "add-inferior -exec %s" % calls,
              "inferior 2", "run", "inferior 1", "continue",
              "cstrace save t.txt", args=["alone"])
    assert "inferior 2 is traced, too: into the same trace" in run.said()
    found = saved_trees(tmp_path / "t.txt")
    assert own_sites(found["calls"]) == CALLS
    assert "stop_here" in found["processes"]


def test_the_second_inferior_may_run_first(gdb, tmp_path, pipes):
    calls = build("calls.c")
    run = gdb(processes(), "set cstrace live off", "cstrace start",
              "add-inferior -exec %s" % calls, "inferior 2", "run",
              "cstrace save t.txt", args=["alone"])
    assert "not defined" not in run.out
    (text,) = saved_trees(tmp_path / "t.txt").values()
    assert own_sites(text) == CALLS


def test_the_trace_goes_on_with_the_other_inferior(gdb, tmp_path, pipes):
    calls = build("calls.c")
    run = gdb(processes(), "set cstrace live off", "break stop_here",
              "cstrace start", "run", "add-inferior -exec %s" % calls,
              "inferior 2", "break through", "run", "inferior 1", "continue",
              "cstrace status", "inferior 2", "continue",
              "cstrace save t.txt", args=["alone"])
    assert "running    1 process" in run.lines()
    found = saved_trees(tmp_path / "t.txt")
    assert own_sites(found["calls"]) == CALLS
    assert "stop_here" in found["processes"]


@pytest.mark.parametrize("gone, stays", [(1, 2), (2, 1)])
def test_detach_lets_one_inferior_go(gdb, tmp_path, gone, stays):
    """And not the other."""
    run = gdb(build("calls.c"), "set cstrace live off", "tbreak pair",
              "cstrace start", "run", "add-inferior -exec %s"
              % build("header.c"), "inferior 2", "tbreak main", "run",
              "inferior %d" % gone, "detach", "inferior %d" % stays,
              "cstrace status", "continue", "cstrace save t.txt")
    assert "cstrace    on, ring mode, " in run.out
    found = saved_trees(tmp_path / "t.txt")
    (program,) = set(found) - {"calls"} if stays == 2 else {"calls"}
    assert "(open)" not in found[program]
    assert stays == 2 or own_sites(found["calls"]) == CALLS


def test_the_environment_is_put_back(gdb):
    run = gdb(build("calls.c"), "cstrace start",
              "show environment CSTRACE_AREA", "cstrace stop",
              "set cstrace preload off", "show environment CSTRACE_AREA")
    shown = [line for line in run.lines() if "CSTRACE_AREA" in line]
    assert re.fullmatch(r"CSTRACE_AREA = /proc/\d+/fd/\d+", shown[0])
    assert shown[1] == 'Environment variable "CSTRACE_AREA" not defined.'
