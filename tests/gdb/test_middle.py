# SPDX-License-Identifier: MIT
"""Traces that begin or end in the middle of a run, and several in one
session."""

import re
import subprocess

import pytest

from lib_build import Variant, build, build_library, line_of
from lib_gdb import setting_registers, wait_for
from lib_tree import (CALLS, outcome, own_sites, read_jsonl, saved_tree,
                      saved_trees, tree)

SAVE = ("cstrace save t.txt", "cstrace save t.jsonl")
QUIET = "set cstrace live off"


def test_start_at_a_breakpoint_has_the_open_calls(gdb, tmp_path):
    gdb(build("calls.c"), QUIET, "break pair", "run", "cstrace start",
        "delete", "continue", *SAVE)
    lines = CALLS.splitlines()
    for i in range(3):
        lines[i] += "  (before)"
    assert outcome(tmp_path).splitlines() == lines


def test_calls_open_at_the_start_have_numbers_of_their_own(gdb, tmp_path):
    gdb(build("calls.c"), QUIET, "break pair", "run", "cstrace start",
        "delete", "continue", *SAVE)
    calls = read_jsonl(tmp_path / "t.jsonl")
    assert [call["id"] for call in calls[:5]] \
        == ["1.s1", "1.s2", "1.s3", "1.1", "1.2"]
    assert [call["start_ns"] for call in calls[:3]] == [None] * 3
    assert [call["end"] for call in calls[:3]] == ["return"] * 3


def test_start_in_a_main_that_calls_itself(gdb, tmp_path):
    source = tmp_path / "again.c"
    source.write_text("""
        int leaf(int n) { return n == 9; }
        int main(int argc, char **argv)
        { return argc > 1 ? main(argc - 1, argv) : leaf(argc); }
        """)
    run = gdb(build(source), QUIET, "break leaf", "run", "cstrace start",
              "delete", "show backtrace past-main", "continue", *SAVE,
              args=[1, 2])
    assert "past \"main\" is off" in run.out
    assert outcome(tmp_path) == tree("""
        main  (before)
          main  (before)
            main  (before)
              leaf  (before)
        """)


def test_start_at_a_breakpoint_in_optimised_code(gdb, tmp_path):
    gdb(build("inlined.c", variant=Variant("gcc", "-O2")), QUIET,
        "break physical", "run", "cstrace start", "delete", "continue", *SAVE)
    lines = outcome(tmp_path).splitlines()
    assert lines[0] == "main  (before)"
    assert lines[1].startswith("  physical  inlined.c:37")
    assert lines[-2:] == ["  always  inlined.c:38", "    put  inlined.c:23"]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("place", ["inner", "handled"])
def test_start_in_a_function_in_two_parts(gdb, tmp_path, compiler, place):
    program = build("cold.cc", variant=Variant(compiler, "-O2"))
    gdb(program, QUIET, "break " + place, "run", "cstrace start", "delete",
        "continue", *SAVE)
    calls = read_jsonl(tmp_path / "t.jsonl")
    seeds = [c for c in calls if c["start_ns"] is None]
    assert [c["function"] for c in seeds][:2] == ["main", "middle(int)"]
    assert {c["end"] for c in seeds} == {"return"}
    assert [c["parent"] for c in calls if c["function"] == "guard::~guard()"] \
        == [seeds[1]["id"], seeds[0]["id"]]


def _start_of(program, name):
    symbols = subprocess.run(["nm", "-C", program], text=True, check=True,
                             stdout=subprocess.PIPE, timeout=240).stdout
    return int(re.search(r"^(\w+) t? ?.* %s$" % re.escape(name), symbols,
                         re.M)[1], 16)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_start_in_a_stripped_program(gdb, tmp_path, compiler):
    variant = Variant(compiler, "-O2")
    gdb(build("cold.cc", "-s", variant=variant), QUIET, "break __cxa_throw",
        "run", "cstrace start", "delete", "continue", *SAVE)
    calls = read_jsonl(tmp_path / "t.jsonl")
    seeds = [c for c in calls if c["start_ns"] is None]
    whole = build("cold.cc", variant=variant)
    assert [c["function"] for c in seeds] == [
        "cold+%#x" % _start_of(whole, name)
        for name in ("main", "middle(int)", "inner(int)")]


def test_start_says_which_open_calls_it_cannot_see(gdb):
    run = gdb(build("calls.c", "-s", "-fno-asynchronous-unwind-tables"),
              QUIET, "break qsort", "run", "cstrace start", "kill")
    assert [line for line in run.said() if line.startswith(
        "calls open now are left out: nothing tells where the functions of "
        "1 frame begin (stripped, without .eh_frame)")]


def test_start_seeds_every_thread(gdb, tmp_path):
    gdb(build("crew.c"), QUIET, "break one if n_two == 2", "run",
        "cstrace start", "delete", "continue", *SAVE, args=[3, 4])
    seeds = {}
    for call in read_jsonl(tmp_path / "t.jsonl"):
        if call["start_ns"] is None:
            seeds.setdefault(call["thread"], []).append(call["function"])
    assert len(seeds) >= 2
    assert ["member", "two", "one"] in seeds.values()
    assert ["main"] in seeds.values()


def test_stop_in_the_middle_leaves_the_calls_open(gdb, tmp_path):
    run = gdb(build("calls.c"), QUIET, "break through", "cstrace start",
              "run", "cstrace stop", "delete", "continue", *SAVE)
    assert "exited normally" in run.out
    lines = outcome(tmp_path).splitlines()
    assert lines[0] == "main  (open)"
    assert lines[-1] == "  through  calls.c:51  (open)"


def test_stop_and_start_again_begins_a_new_trace(gdb, tmp_path):
    run = gdb(build("calls.c"), QUIET, "break down if n == 3",
              "break through", "cstrace start", "run", "cstrace stop",
              "continue", "cstrace start", "delete", "continue", *SAVE)
    assert any("a new trace replaces the old one" in line
               for line in run.said())
    assert outcome(tmp_path) == tree("""
        main  (before)
          through  calls.c:51  (before)
            leaf  calls.c:33
          leaf  calls.c:53
          leaf  calls.c:53
        """)


def test_what_runs_between_stop_and_start_is_not_recorded(gdb, tmp_path):
    gdb(build("calls.c"), QUIET, "break spread", "break down if n == 3",
        "break through", "cstrace start", "run", "cstrace stop", "continue",
        "continue", "cstrace start", "delete", "continue", "cstrace show",
        *SAVE)
    assert "compare" not in outcome(tmp_path)


def test_each_run_begins_a_new_trace(gdb, tmp_path):
    run = gdb(build("ends.c"), QUIET, "cstrace start", "run",
              "cstrace save first.txt", "run exit", *SAVE,
              args=["return"])
    assert own_sites(saved_tree(tmp_path / "first.txt")).count("leaf") == 4
    assert outcome(tmp_path).count("leaf") == 2
    assert [line for line in run.said() if "replaces" in line] \
        == ["a new trace replaces the old one (7 calls)"]
    ids = [call["id"] for call in read_jsonl(tmp_path / "t.jsonl")]
    assert ids == ["1.1", "1.2", "1.3", "1.4", "1.5"]


PROGRAM = """
void %s(void) {}
int main(void)
{
    %s();
    return 0;
}
"""


def test_a_recompiled_program_is_read_anew(gdb, tmp_path):
    source = tmp_path / "app.c"
    (tmp_path / "second.c").write_text(PROGRAM % ("after", "after"))
    source.write_text("\n\n" + PROGRAM % ("before", "before"))
    compile_it = "gcc -g -finstrument-functions app.c -o app"
    # gdb looks at the file's time, in seconds.
    later = " && touch -d '2 minutes' app"
    gdb(None, "shell " + compile_it, "file app", "cstrace start", "run",
        "cstrace save first.txt",
        "shell mv second.c app.c && " + compile_it + later,
        "run", "cstrace save t.txt", "cstrace save t.jsonl")
    first = saved_tree(tmp_path / "first.txt")
    assert re.sub("  libc.*", "", first) == "main\n  before  app.c:7\n"
    second = saved_tree(tmp_path / "t.txt")
    assert re.sub("  libc.*", "", second) == "main\n  after  app.c:5\n"


def test_another_program_in_the_same_session(gdb, tmp_path):
    gdb(build("life.c"), QUIET, "cstrace start", "run",
        "file %s" % build("header.c"), "run", *SAVE)
    assert outcome(tmp_path) == "main\n"


HOOK = "python gdb.execute('define hook-detach\\necho late\\\\n\\nend')"


@pytest.mark.parametrize("late", [(), (HOOK,)], ids=["", "user-s-late-hook"])
def test_detach_lets_the_program_go_on(gdb, tmp_path, late):
    """Also by a script that defines the hook just before: no prompt comes
    between, at which ours could be put in front."""
    def end_it(process):
        wait_for((tmp_path / "detached").exists, "the detach")
        process.stdin.write(b"end\n")
        process.stdin.flush()

    run = gdb(build("spin.c"), QUIET, "break tick if n_ticks == 9",
              "cstrace start", "run", "delete", *late, "detach", *SAVE,
              "cstrace status", "shell touch detached", talk=end_it)
    assert "spun on" in run.out.splitlines()  # whenever gdb saves meanwhile
    assert "cstrace    on, recording begins with the next `run`" in run.lines()
    assert late == () or "late" in run.lines()
    text = outcome(tmp_path)
    assert text.startswith("main  (open)\n  spin  spin.c:")
    assert late or text.count("tick") == 10


def test_clear_forgets_and_goes_on(gdb, tmp_path):
    gdb(build("calls.c"), QUIET, "break through", "cstrace start", "run",
        "cstrace clear", "delete", "continue", *SAVE)
    assert outcome(tmp_path) == tree("""
        main  (before)
          through  calls.c:51  (before)
            leaf  calls.c:33
          leaf  calls.c:53
          leaf  calls.c:53
        """)


NOW = "python import time; print('now', time.monotonic_ns())"
WAIT = "python import select; select.select([], [], [], 1)"


@pytest.mark.parametrize("more", [(), ("cstrace stop", "cstrace start")])
def test_start_before_the_libraries_are_there(gdb, tmp_path, more):
    """The shim that is to come records, not the program's own hooks."""
    run = gdb(build("calls.c"), QUIET, "starti", "cstrace start", *more,
              "cstrace status", "continue", *SAVE)
    assert ("cstrace    on, recording begins once the program's libraries "
            "are loaded") in run.lines()
    assert outcome(tmp_path) == CALLS


def test_start_at_the_first_instruction_without_a_shim_to_come(gdb, tmp_path):
    run = gdb(build("calls.c"), QUIET, "set cstrace preload off", "starti",
              "cstrace start", "continue", *SAVE)
    assert "own hooks" in run.out
    assert outcome(tmp_path).splitlines()[0].startswith("main")


def test_time_at_the_prompt_is_in_no_duration(gdb, tmp_path):
    run = gdb(build("calls.c"), QUIET, "break down", "cstrace start", NOW,
              "run", NOW, WAIT, NOW, "delete", "continue", NOW, *SAVE)
    times = list(map(int, re.findall(r"^now (\d+)", run.out, re.M)))
    not_waited = times[1] - times[0] + times[3] - times[2]
    for call in read_jsonl(tmp_path / "t.jsonl"):
        assert call["duration_ns"] < not_waited, call
        assert call["start_ns"] < not_waited, call


def test_time_begins_with_the_first_call(gdb, tmp_path):
    """Also where gdb stops before it."""
    gdb(build("calls.c"), QUIET, "tbreak *main", "cstrace start", "run",
        WAIT, "stepi", "tbreak pair", "continue", WAIT, "continue", *SAVE)
    calls = read_jsonl(tmp_path / "t.jsonl")
    assert calls[0]["function"] == "main" and calls[0]["start_ns"] == 0


CLOCK = ("python import time; n = time.time(); t = time.localtime(n); "
         "print('clock', t.tm_hour * 3600 + t.tm_min * 60 + t.tm_sec + n % 1)")


@pytest.mark.parametrize("place", ["*main", "pair"])
def test_the_wall_clock_counts_the_prompt(gdb, tmp_path, place):
    """That before the trace, too, and what came before its first call."""
    run = gdb(build("calls.c"), QUIET, "set cstrace timestamp wall",
              "tbreak " + place, "cstrace start", "run", "cstrace stop", WAIT,
              "cstrace start", WAIT, CLOCK, "continue", CLOCK, *SAVE[:1])
    first, last = map(float, re.findall(r"^clock (\S+)", run.out, re.M))
    saved = (tmp_path / "t.txt").read_text()
    times = re.findall(r"^(\d\d):(\d\d):(\S+)", saved, re.M)
    assert len(times) > 5
    for hours, minutes, seconds in times:
        at = int(hours) * 3600 + int(minutes) * 60 + float(seconds)
        assert (at - first + 0.05) % 86400 < (last - first) % 86400 + 0.1


def test_a_thread_that_goes_on_has_its_time(gdb, tmp_path):
    """In non-stop mode."""
    gdb(build("naps.c"), "set pagination off", "set non-stop on", QUIET,
        "break halt", "cstrace start", "run", "set var is_halted = 1",
        "python while int(gdb.parse_and_eval('n_naps')) < 20: pass", *SAVE)
    took = [c["duration_ns"] for c in read_jsonl(tmp_path / "t.jsonl")
            if c["function"] == "nap"]
    assert len(took) == 20
    assert min(took) > 0


def test_start_without_the_shim_in_the_program(gdb, tmp_path):
    """`cstrace start` loads it."""
    run = gdb(build("calls.c"), QUIET, "set cstrace preload off",
              "break spread", "run", "cstrace start", "cstrace status",
              "delete", "continue", *SAVE)
    assert "on (ring mode)" in run.out
    assert "exited normally" in run.out
    assert [x for x in run.lines() if x.startswith(("running", "area"))]
    lines = outcome(tmp_path).splitlines()
    assert lines[0] == "main  (before)"
    assert lines[2:] == own_sites(CALLS).splitlines()[2:]


def test_save_and_load_are_the_same_trace(gdb, tmp_path):
    gdb(build("calls.c"), QUIET, "cstrace start", "run", *SAVE,
        "cstrace save t.cst")
    gdb(None, "cstrace load t.cst", "cstrace save u.txt",
        "cstrace save u.jsonl")
    for ending in ("txt", "jsonl"):
        saved = (tmp_path / ("t." + ending)).read_bytes()
        assert saved == (tmp_path / ("u." + ending)).read_bytes()
        assert saved


def test_libraries_and_plugins(gdb, tmp_path):
    shared = build_library("shared.c")
    first = build_library("plugin.c", name="first.so")
    second = build_library("plugin.c", "-DPLUGIN=second", name="second.so")
    host = build("host.c", str(shared), "-Wl,-rpath," + str(shared.parent))
    gdb(host, "cstrace start", "run", *SAVE, args=[first, second, first])
    assert outcome(tmp_path) == tree("""
        main
          shared_add  host.c:27
            note  shared.c:14
          run_plugin  host.c:30
            plugin_run  host.c:20
              first  plugin.c:18
          run_plugin  host.c:30
            plugin_run  host.c:20
              second  plugin.c:18
          run_plugin  host.c:30
            plugin_run  host.c:20
              first  plugin.c:18
        """)
    modules = [(call["function"], call["module"])
               for call in read_jsonl(tmp_path / "t.jsonl")]
    assert ("second", "second.so") in modules
    assert ("note", "libshared.so") in modules
    assert ("main", "host") in modules


def test_a_fork_before_the_first_call_hands_on_what_is_open(gdb, tmp_path):
    here = line_of("fork_middle.c", "pid = fork();")
    gdb(build("fork_middle.c"), QUIET, "break %d" % here, "run",
        "cstrace start", "delete", "continue", "cstrace save t.jsonl")
    found = {}
    for call in read_jsonl(tmp_path / "t.jsonl"):
        found.setdefault(call["process"], []).append(
            (call["function"], call["start_ns"] is None, call["end"]))
    seeds = [(name, True, "return") for name in ("main", "outer", "divide")]
    assert sorted(found.values()) == [seeds,
                                      [*seeds, ("leaf", False, "return")]]


def test_what_is_open_stays_with_its_process(gdb, tmp_path):
    """Another program makes the first call of the trace."""
    host = build("spawn_middle.c")
    gdb(host, QUIET, "break %d" % line_of("spawn_middle.c", "if (posix_spawn"), "run",
        "cstrace start", "delete", "continue", *SAVE, args=[build("calls.c")])
    calls = read_jsonl(tmp_path / "t.jsonl")
    assert [call["id"] for call in calls[:3]] == ["1.s1", "1.s2", "2:1.1"]
    assert [(call["function"], call["start_ns"] is None, call["end"])
            for call in calls if call["id"].startswith("1.")] \
        == [("main", True, "return"), ("start", True, "return"),
            ("leaf", False, "return")]
    assert own_sites(saved_trees(tmp_path / "t.txt")["calls"]) == CALLS


def test_while_gdb_records_for_itself(gdb, tmp_path):
    """Our first event takes no system call that its `record` does not know."""
    run = gdb(build("calls.c"), QUIET, "break pair", "run", "record",
              "cstrace start", "delete", "finish", "reverse-finish",
              "cstrace save t.jsonl", **setting_registers())
    assert "Process record" not in run.out
    assert "Value returned is $1 = 6" in run.out
    assert "No more reverse-execution history" in run.out
    names = [c["function"] for c in read_jsonl(tmp_path / "t.jsonl")]
    assert names[:5] == ["main", "spread", "pair", "leaf", "leaf"]
