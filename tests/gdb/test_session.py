# SPDX-License-Identifier: MIT
"""A trace's life: start, run, stop, and what stands at the end."""

import subprocess

FIB_2 = [
    "main",
    "  middle",
    "    leaf",
    "    leaf",
    "    leaf",
    "  fib",
    "    fib",
    "    fib",
]


def test_a_run_shows_every_call_indented(build, gdb_batch):
    result = gdb_batch(build("basic.c"), "cstrace start", "run",
                       arguments=[2])
    assert result.rows() == FIB_2
    assert result.status == 0


def test_rows_come_before_gdb_says_that_the_program_ended(build, gdb_batch):
    for how in ("", "_exit", "quick"):
        result = gdb_batch(build("basic.c"), "cstrace start", "run",
                           arguments=[2, how] if how else [2])
        text = result.text
        assert text.rindex("    fib") < text.index("[Inferior 1"), how


def test_rows_come_before_gdb_says_where_it_stopped(build, gdb_batch):
    result = gdb_batch(build("basic.c"), "break leaf", "cstrace start", "run")
    assert result.rows() == ["main", "  middle", "    leaf"]
    assert result.text.index("    leaf") < result.text.index("Breakpoint 1, ")


def test_a_crash_keeps_what_was_recorded(build, gdb_batch):
    for how in ("abort", "segv"):
        result = gdb_batch(build("basic.c"), "set cstrace live off",
                           "cstrace start", "run", "cstrace show",
                           arguments=[2, how])
        assert result.rows() == FIB_2 + ["  die"], how


def test_start_in_the_middle_seeds_the_open_calls(build, gdb_batch):
    result = gdb_batch(build("basic.c"), "break leaf", "run", "cstrace start",
                       "delete", "continue", arguments=[1])
    assert "cstrace: 3 calls open in 1 thread" in result.said()
    assert result.rows() == ["main", "  middle", "    leaf", "    leaf",
                             "    leaf", "  fib"]


def test_stop_and_start_again_is_a_new_trace(build, gdb_batch):
    result = gdb_batch(build("basic.c"), "set cstrace live off", "break leaf",
                       "break fib", "cstrace start", "run", "cstrace stop",
                       "continue", "cstrace start", "delete", "continue",
                       "cstrace show", arguments=[0])
    assert "cstrace: a new trace replaces the old one (3 calls)" in (
        result.said())
    assert result.rows() == ["main", "  middle", "    leaf", "    leaf",
                             "  fib"]


def test_each_run_is_a_new_trace(build, gdb_batch):
    result = gdb_batch(build("basic.c"), "cstrace start", "run", "run",
                       arguments=[2])
    assert result.rows() == FIB_2 + FIB_2
    assert "cstrace: a new trace replaces the old one (8 calls)" in (
        result.said())


def test_a_changed_program_is_traced_anew(build, gdb_batch, tmp_path):
    source = tmp_path / "edited.c"
    program = tmp_path / "edited"
    source.write_text("void one(void) {}\nint main(void) { one(); }\n")
    compile_it = "gcc -g -finstrument-functions %s -o %s" % (source, program)
    subprocess.run(compile_it.split(), check=True)
    edit = "shell sed -i s/one/two/g %s && %s" % (source, compile_it)
    result = gdb_batch(str(program), "cstrace start", "run", edit, "run")
    assert result.rows() == ["main", "  one", "main", "  two"]


def test_kill_ends_the_trace(build, gdb_batch):
    result = gdb_batch(build("basic.c"), "set cstrace live off", "break fib",
                       "cstrace start", "run", "kill", "cstrace show",
                       arguments=[2])
    assert result.rows() == FIB_2[:6]


def test_the_program_runs_on_after_detach(build, gdb_batch):
    result = gdb_batch(build("basic.c"), "break fib", "cstrace start",
                       "run", "detach", "shell true", arguments=[2])
    assert result.rows() == FIB_2[:6]
    assert "6 calls in 1 thread" in result.said()[-1]


def test_call_from_the_prompt_is_traced(build, gdb_batch):
    result = gdb_batch(build("basic.c"), "break leaf", "cstrace start", "run",
                       "print fib(1)")
    assert result.rows()[-1].strip() == "fib"
    assert result.text.index("fib") < result.text.index("$1 = 1")


def test_the_users_hook_stop_is_kept_and_put_back(build, gdb_batch, tmp_path):
    script = tmp_path / "hook.gdb"
    script.write_text("define hook-stop\n  if 1\n    echo mine\\n\n  end\nend\n")
    result = gdb_batch(build("basic.c"), "source " + str(script), "break leaf",
                       "cstrace start", "run", "cstrace stop",
                       "show user hook-stop")
    text = result.text
    assert text.index("    leaf") < text.index("mine\n") < text.index(
        "Breakpoint 1, ")
    assert text.endswith('User command "hook-stop":\n'
                         "  if 1\n    echo mine\\n\n  end\n\n")


def test_a_sourced_twice_extension_goes_on(build, gdb_batch):
    from conftest import LOADER
    result = gdb_batch(build("basic.c"), "break fib", "cstrace start", "run",
                       "source " + LOADER, "delete", "continue",
                       arguments=[1])
    assert result.rows()[-1] == "<- main" or "main" in result.rows()[-1]
    assert "already" not in result.text


def test_threads_are_told_apart(build, gdb_batch):
    result = gdb_batch(build("threads.c"), "set cstrace live off",
                       "cstrace start", "run", "cstrace show -thread 2",
                       "cstrace status", arguments=[3, 4])
    assert "threads    4 in 1 process" in result.lines()
    assert [row.strip() for row in result.rows()] == ["worker"] + 4 * ["step"]


def test_start_saves_where_it_was_told(build, gdb_batch, tmp_path):
    for ending in ([2], [2, "_exit"]):
        out = tmp_path / "tree.txt"
        gdb_batch(build("basic.c"), "cstrace start -to tree.txt", "run",
                  arguments=ending)
        assert "fib" in out.read_text()
        out.unlink()
    gdb_batch(build("basic.c"), "break fib", "cstrace start -to tree.txt",
              "run")
    assert "fib" in out.read_text()
