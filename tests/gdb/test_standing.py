# SPDX-License-Identifier: MIT
"""What the user does in gdb is not disturbed: stepping, breakpoints, hooks,
environment, settings are as without us."""

import re

import pytest

from lib_build import Variant, build, build_library
from lib_gdb import LOADER
from lib_tree import own_sites, saved_tree

QUIET = "set cstrace live off"
NO_IDS = "set cstrace frame-ids off"
NO_STEPS = "set cstrace step-report off"

# Where libc's own hooks have line information, `step` walks into them; into
# ours it never does.
SKIP = "skip -gfi *noophooks.c"

# Sessions that end by themselves; each is run with and without a trace.
SESSIONS = {
    "next": ["break spread", "run", "next", "next", "next", "next", "next",
             "kill"],
    "step": [SKIP, "break spread", "run", "step", "step", "step", "step",
             "step", "step", "step", "kill"],
    "finish": ["break leaf", "run", "finish", "finish", "up", "info frame",
               "kill"],
    "until": ["break main", "run", "until 53", "until", "until", "info locals",
              "kill"],
    "advance": ["break main", "run", "advance through", "bt", "kill"],
    "tbreak": ["tbreak compare", "run", "bt", "info breakpoints", "continue"],
    "condition": ["break down if n == 1", "run", "bt", "ignore 1 1",
                  "continue"],
    "commands": ["break leaf", "python gdb.breakpoints()[0].commands = "
                 "'silent\\nprint n\\ncontinue'", "run"],
    "watch": ["break main", "run", "watch sum", "continue", "continue",
              "continue", "kill"],
    "call": ["break down", "run", "print leaf(4)", "call pair(2)", "delete",
             "continue"],
    "return": ["set confirm off", "break down if n == 2", "run", "delete",
               "return 7", "bt", "continue"],
    "stepi": ["break leaf", "run", "stepi", "stepi", "nexti",
              "x/i $pc", "kill"],
    "reverse": ["break through", "run", "reverse-step", "kill"],
    "catch": ["catch syscall write", "run", "bt 1", "continue", "continue"],
    "display": ["break pair", "run", "display n", "next", "undisplay 1",
                "next", "kill"],
    "jump": ["break spread", "run", "tbreak 40", "jump 40", "kill"],
    "signal": ["handle SIGUSR1 nostop print pass", "break through", "run",
               "queue-signal SIGCONT", "continue"],
}


# Differs from run to run, or by what is in the environment (it moves the
# stack) and in the address space.
def normal(run):
    kept = []
    for line in run.lines():
        if line.startswith("cstrace: "):
            continue
        line = re.sub("0x[0-9a-f]+", "ADDRESS", line)
        line = re.sub(r"(process|Thread|LWP) [\w.]+", r"\1 N", line)
        kept.append(line)
    return kept


@pytest.mark.parametrize("name", SESSIONS)
def test_gdb_looks_as_without_us(gdb, name):
    program = build("calls.c")
    with_us = gdb(program, QUIET, NO_IDS, NO_STEPS, "cstrace start",
                  *SESSIONS[name])
    without = gdb(program, *SESSIONS[name], loader=None)
    assert normal(with_us) == normal(without)


@pytest.mark.parametrize("name", ["next", "step", "finish", "watch", "call"])
@pytest.mark.parametrize("method", ["breakpoint", "handshake"])
def test_gdb_looks_as_without_us_in_sync(gdb, name, method):
    program = build("calls.c")
    with_us = gdb(program, QUIET, NO_IDS, NO_STEPS,
                  "set cstrace sync-method " + method,
                  "cstrace start -sync", *SESSIONS[name])
    without = gdb(program, *SESSIONS[name], loader=None)
    assert normal(with_us) == normal(without)


@pytest.mark.parametrize("name", ["tbreak", "condition", "advance"])
def test_gdb_looks_as_without_us_in_optimised_code(gdb, name):
    program = build("calls.c", variant=Variant("clang", "-O2"))
    with_us = gdb(program, QUIET, NO_IDS, NO_STEPS, "cstrace start",
                  *SESSIONS[name])
    without = gdb(program, *SESSIONS[name], loader=None)
    assert normal(with_us) == normal(without)


@pytest.mark.parametrize("name", ["next", "finish", "call"])
def test_gdb_looks_as_without_us_when_loaded_only(gdb, name):
    program = build("calls.c")
    with_us = gdb(program, *SESSIONS[name])
    without = gdb(program, *SESSIONS[name], loader=None)
    assert normal(with_us) == normal(without)


def define(name, *lines):
    return "python gdb.execute('define %s\\n%s\\nend')" % (
        name, "\\n".join(lines))


def test_the_users_hook_stop_runs_and_is_put_back(gdb):
    run = gdb(build("calls.c"), define("hook-stop", "echo user was here\\\\n",
                                       "if 1", "echo nested\\\\n", "end"),
              QUIET, "break down", "cstrace start", "run", "cstrace stop",
              "show user hook-stop")
    assert run.out.count("user was here\nnested\n") == 1
    shown = run.out[run.out.index('User command "hook-stop":'):]
    assert shown.splitlines()[:5] == [
        'User command "hook-stop":', "  echo user was here\\n", "  if 1",
        "    echo nested\\n", "  end"]


def test_without_a_hook_stop_none_is_left(gdb):
    run = gdb(build("calls.c"), QUIET, "cstrace start", "run", "cstrace stop",
              "show user hook-stop", "show user hook-detach")
    assert "gdbext" not in run.out


def test_a_hook_stop_defined_later_still_gets_whole_trees(gdb, tmp_path):
    run = gdb(build("calls.c"), "cstrace start",
              define("hook-stop", "echo late\\\\n"), "break down", "run",
              "cstrace show")
    assert "late\n" in run.out
    assert "spread" in run.out[run.out.index("Breakpoint 1, down"):]


@pytest.mark.parametrize("before", [1, 0], ids=["before-run", "at-a-stop"])
def test_a_script_s_late_hook_stop_does_not_draw_too_late(gdb, before):
    late = define("hook-stop", "echo late\\\\n")
    lines = gdb(build("calls.c"), "cstrace start", "break down if n == 2",
                "break through", *[late] * before, "run",
                *[late] * (1 - before), "continue").lines()
    place = lines.index(next(x for x in lines if x.startswith(
        "Breakpoint 2, through")))
    assert lines[place - 2:place] == ["late", ""]
    assert [x.split()[-2] for x in lines[:place] if " compare " in x]
    assert not [x for x in lines[place:] if " compare " in x]


def program_sees(gdb, *before, after=(), **env):
    """LD_PRELOAD as the shell sees it that gdb starts programs by."""
    run = gdb(build("calls.c"), *before, "show environment LD_PRELOAD",
              *after, **env)
    return [line.partition(" = ")[2] for line in run.lines()
            if line.startswith("LD_PRELOAD = ")]


def test_the_users_preload_is_kept_and_put_back(gdb):
    own = str(build_library("shared.c", is_traced=False))
    during = program_sees(gdb, "set cstrace preload off",
                          "set environment LD_PRELOAD " + own,
                          "cstrace start")
    assert during[0].endswith(":" + own) and "libcstrace.so" in during[0]
    after = program_sees(gdb, "set cstrace preload off",
                         "set environment LD_PRELOAD " + own,
                         "cstrace start", "run", "cstrace stop")
    assert after == [own]


def test_an_unset_preload_is_unset_again(gdb):
    assert program_sees(gdb, "set cstrace preload off", "cstrace start",
                        "cstrace stop") == []
    assert len(program_sees(gdb, "set cstrace preload off",
                            "cstrace start")) == 1


def test_the_users_preloaded_library_is_still_loaded(gdb, tmp_path):
    own = build_library("shared.c", is_traced=False)
    run = gdb(build("calls.c"), "set environment LD_PRELOAD %s" % own,
              QUIET, "break down", "cstrace start", "run",
              "info sharedlibrary")
    assert str(own) in run.out
    assert "libcstrace.so" in run.out


def test_gdbs_own_environment_is_not_touched(gdb, tmp_path):
    run = gdb(build("calls.c"), QUIET, "cstrace start", "run",
              "shell echo \"preload=$LD_PRELOAD\"",
              "show environment NOBODYS")
    assert "preload=\n" in run.out


def test_arguments_and_redirections_reach_the_program(gdb, tmp_path):
    run = gdb(build("ends.c"), QUIET, "cstrace start",
              "run 'ex''it' > 'out file'")
    assert "exited with code 03" in run.out
    assert (tmp_path / "out file").exists()


def test_breakpoints_of_ours_are_not_listed(gdb):
    run = gdb(build("calls.c"), QUIET, "break down", "cstrace start -sync",
              "run", "info breakpoints")
    listed = run.out[run.out.index("Num"):]
    assert "cstrace" not in listed and "_exit" not in listed
    assert [line.split()[0] for line in listed.splitlines()[1:]] \
        == ["1", "breakpoint"]


@pytest.mark.parametrize("names", [
    ("longjmp", "siglongjmp", "swapcontext", "setcontext"),
    ("execl", "execv", "execve", "fexecve", "system", "popen"),
    ("dlopen", "dlmopen", "dlclose", "clone", "_Fork", "prctl", "syscall")])
def test_a_breakpoint_on_a_function_of_libc_is_in_libc_only(gdb, names):
    """Though the shim has functions of these names."""
    run = gdb(build("jump.c"), "break main", "run",
              *("break " + name for name in names),
              *("info symbol cstrace_" + name for name in names),
              "info breakpoints")
    for name in names:
        assert re.search(r"^cstrace_%s in section .text of \S+libcstrace\.so$"
                         % name, run.out, re.M), run.out
    at = re.findall(r"^(\d+) +breakpoint .*", run.out, re.M)
    assert len(at) == len(names) + 1
    assert "<MULTIPLE>" not in run.out


def test_loaded_twice_is_loaded_once(gdb):
    run = gdb(build("calls.c"), "source " + LOADER, "cstrace start",
              "source " + LOADER, "run")
    assert run.out.count("exited normally") == 1
    assert sum(line.endswith("calls.c:38") for line in run.lines()) == 1


def test_a_program_without_debug_information(gdb, tmp_path):
    run = gdb(build("calls.c", "-g0"), "cstrace start", "run",
              "cstrace save t.jsonl")
    assert "exited normally" in run.out
    text = (tmp_path / "t.jsonl").read_text()
    assert text.count('"function":"leaf"') == 7
    assert "calls.c" not in text


def test_a_stripped_program_has_addresses(gdb, tmp_path):
    gdb(build("calls.c", "-s"), QUIET, "cstrace start", "run",
        "cstrace save t.txt")
    names = re.findall(r"^ *(calls\+0x[0-9a-f]+)$",
                       own_sites(saved_tree(tmp_path / "t.txt")), re.M)
    assert len(names) == 18
    assert len(set(names)) == 7


def test_address_space_randomisation(gdb, tmp_path):
    texts = []
    for name in ("a", "b"):
        gdb(build("calls.c"), QUIET, "set disable-randomization off",
            "cstrace start", "run", "cstrace save %s.jsonl" % name)
        texts.append(re.sub(r'"(process|thread|start_ns|duration_ns)":\d+',
                            "", (tmp_path / (name + ".jsonl")).read_text()))
    assert texts[0] == texts[1] and texts[0].count("\n") == 18
