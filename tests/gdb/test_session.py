# SPDX-License-Identifier: MIT
"""A trace's life in one gdb session: start, run, stop, and what is left."""

import re
import subprocess

import pytest

from lib_build import build
from lib_gdb import LOADER, setting_registers
from lib_tree import live_tree, tree

FIB_2 = tree("""
    main
      middle
        leaf
        leaf
        leaf
      fib
        fib
        fib
    """)
TO_FIB = tree("""
    main  (open)
      middle
        leaf
        leaf
        leaf
      fib  (open)
    """)


def drawn(run):
    """The tree that the output shows, without call sites."""
    return re.sub(r"  [^ /:]+\.\w+:\d+", "", live_tree(run.out))


def basic():
    return build("basic.c")


def test_a_run_shows_every_call_indented(gdb):
    run = gdb(basic(), "cstrace start", "run", args=[2])
    assert drawn(run) == FIB_2
    assert run.status == 0


@pytest.mark.parametrize("how", ["return", "_exit", "quick"])
def test_rows_come_before_the_program_is_said_to_have_ended(gdb, how):
    run = gdb(basic(), "cstrace start", "run", args=[2, how])
    last = [line for line in run.lines() if "fib  basic.c" in line][-1]
    assert run.out.index(last) < run.out.index("[Inferior 1 (process")


def test_rows_come_before_the_place_of_a_stop(gdb):
    run = gdb(basic(), "break leaf", "cstrace start", "run")
    assert drawn(run) == "main  (open)\n  middle  (open)\n    leaf  (open)\n"
    assert run.out.index("leaf  basic.c") < run.out.index("Breakpoint 1, ")


@pytest.mark.parametrize("how", ["abort", "segv"])
def test_a_crash_keeps_what_was_recorded(gdb, how):
    run = gdb(basic(), "set cstrace live off", "cstrace start", "run",
              "cstrace show", args=[2, how])
    opened = FIB_2.replace("main", "main  (open)")
    assert drawn(run) == opened + "  die  (open)\n"


def test_start_in_the_middle_seeds_the_open_calls(gdb):
    run = gdb(basic(), "break leaf", "run", "cstrace start", "delete",
              "continue", args=[1])
    assert "3 calls open in 1 thread" in run.said()
    assert drawn(run) == tree("""
        main  (before)
          middle  (before)
            leaf  (before)
            leaf
            leaf
          fib
        """)


def test_seeds_know_whether_the_entry_was_made(gdb):
    # At -O2 a breakpoint on a function lies before its hook.
    program = build("basic.c", "-O2", "-fno-inline")
    run = gdb(program, "break *middle", "run", "cstrace start", "delete",
              "continue", args=[0])
    assert drawn(run) == tree("""
        main  (before)
          middle
            leaf
            leaf
            leaf
          fib
        """)


def test_stop_and_start_again_is_a_new_trace(gdb):
    run = gdb(basic(), "set cstrace live off", "break leaf", "break fib",
              "cstrace start", "run", "cstrace stop", "delete 1", "continue",
              "cstrace start", "delete", "continue", "cstrace show", args=[0])
    assert "a new trace replaces the old one (3 calls)" in run.said()
    assert drawn(run) == "main  (before)\n  fib  (before)\n"


def test_each_run_is_a_new_trace(gdb):
    run = gdb(basic(), "cstrace start", "run", "run", args=[2])
    assert drawn(run) == FIB_2 + FIB_2
    assert "a new trace replaces the old one (8 calls)" in run.said()


def test_a_recompiled_program_is_traced_anew(gdb, tmp_path):
    source, program = tmp_path / "edited.c", tmp_path / "edited"
    source.write_text("void one(void) {}\nint main(void) { one(); }\n")
    compile_it = "gcc -g -finstrument-functions edited.c -o edited"
    subprocess.run(compile_it.split(), check=True, cwd=tmp_path)
    run = gdb(program, "cstrace start", "run",
              "shell sed -i s/one/two/g edited.c && " + compile_it, "run")
    assert drawn(run) == "main\n  one\nmain\n  two\n"


def test_kill_ends_the_trace(gdb):
    run = gdb(basic(), "set cstrace live off", "break fib", "cstrace start",
              "run", "kill", "cstrace show", args=[2])
    assert drawn(run) == TO_FIB


def test_the_program_runs_on_after_detach(gdb):
    run = gdb(basic(), "set cstrace live off", "break fib", "cstrace start",
              "run", "detach", "cstrace show", args=[2])
    assert drawn(run) == TO_FIB


def test_a_call_from_the_prompt_is_traced(gdb):
    run = gdb(basic(), "break leaf", "cstrace start", "run", "print fib(1)",
              **setting_registers())
    assert "fib" in drawn(run)
    assert run.out.index(" fib") < run.out.index("$1 = 1")


def test_the_users_hook_stop_is_kept_and_put_back(gdb, tmp_path):
    (tmp_path / "hook.gdb").write_text(
        "define hook-stop\n  if 1\n    echo mine\\n\n  end\nend\n")
    run = gdb(basic(), "source hook.gdb", "break leaf", "cstrace start", "run",
              "cstrace stop", "show user hook-stop")
    leaf, mine = run.out.index("leaf  basic.c"), run.out.index("mine\n")
    assert leaf < mine < run.out.index("Breakpoint 1, ")
    assert run.out.endswith('User command "hook-stop":\n'
                            "  if 1\n    echo mine\\n\n  end\n\n")


def test_a_hook_of_a_longer_name_is_another(gdb, tmp_path):
    """gdb shows hook-nexti for hook-next where there is no such one."""
    (tmp_path / "hook.gdb").write_text(
        "define hook-nexti\n  echo mine\\n\nend\n")
    run = gdb(basic(), "source hook.gdb", "cstrace start",
              "show user hook-nexti", "show user hook-next")
    nexti, following = run.out.split('User command "hook-next":')
    assert "echo mine" in nexti and "stepping_over" in nexti
    assert "stepping_lines" in following
    assert "mine" not in following and "stepping_over" not in following


def test_the_extension_may_be_sourced_twice(gdb):
    run = gdb(basic(), "break fib", "cstrace start", "run",
              "source " + LOADER, "delete", "continue", args=[2])
    assert drawn(run) == FIB_2


def test_threads_are_told_apart(gdb):
    run = gdb(build("threads.c"), "set cstrace live off", "cstrace start",
              "run", "cstrace show -thread 2", "cstrace status", args=[3, 4])
    assert "threads    4 in 1 process" in run.lines()
    assert drawn(run) == "worker\n" + 4 * "  step\n"


@pytest.mark.parametrize("commands", [("run",), ("break fib", "run"),
                                      ("break fib", "run", "cstrace stop"),
                                      ("break fib", "run", "kill")])
def test_start_saves_where_it_was_told(gdb, tmp_path, commands):
    gdb(basic(), "cstrace start -to tree.txt", *commands, args=[2])
    assert "leaf  basic.c" in (tmp_path / "tree.txt").read_text()


@pytest.mark.parametrize("mode", ["parent", "child"])
def test_fork_goes_on_whichever_gdb_follows(gdb, tmp_path, mode):
    (tmp_path / "fork.c").write_text("""\
#include <sys/wait.h>
#include <unistd.h>
void child(void) {}
void parent(void) {}
int main(void)
{
	int done[2];
	char c;

	pipe(done);
	if (fork()) {
		parent();
		write(done[1], "", 1);
		wait(0);
	} else {
		child();
		read(done[0], &c, 1);  // gdb may see nothing but our end
	}
}
""")
    subprocess.run("gcc -g -finstrument-functions fork.c -o fork".split(),
                   check=True, cwd=tmp_path)
    run = gdb(tmp_path / "fork", "set cstrace live off",
              "set follow-fork-mode " + mode, "cstrace start", "run",
              "cstrace report")
    assert "child" in run.out and "parent" in run.out
    assert re.search(r"^ +1 .* child$", run.out, re.M)


@pytest.mark.parametrize("is_traced", [True, False])
def test_a_breakpoints_commands_come_behind_the_place(gdb, tmp_path, is_traced):
    """gdb executes them behind each command that Python executes."""
    (tmp_path / "at.gdb").write_text(
        "break fib if n == 1\ncommands\nprint n\nnext\nend\n")
    program = build("basic.c", is_traced=is_traced)
    shown = ["source at.gdb", "run", "backtrace 1"]
    alone, traced = (
        re.sub(r"(?m)^cstrace: .*\n|0x\w+ in ", "", gdb(
            program, "set cstrace live off", "set cstrace step-report off",
            "set cstrace frame-ids off", *start, *shown, args=[3]).out)
        for start in ([], ["cstrace start"]))
    assert "$1 = 1" in alone and traced == alone
