# SPDX-License-Identifier: MIT
"""cstrace record: the real command on real programs, no gdb in sight."""

import os
import re
import signal
import stat
import subprocess

import pytest

from lib_build import BUILD, build, build_library
from lib_cstrace import CSTRACE, LIMIT_S, command
from lib_record import (FAMILY, TALKER, calls, compiled, finish, functions,
                        record, start, wait_for)


# ---- what is recorded --------------------------------------------------------


def test_tree_names_and_lines(tmp_path):
    done, found = record(tmp_path, build("ends.c"), "exit")
    assert done.returncode == 3
    assert functions(found) == ["main", "middle", "leaf", "end", "leaf"]
    assert [c["line"] for c in found[1:]] == [50, 43, 44, 23]
    assert [c["end"] for c in found] == ["open", "open", "return", "open",
                                         "return"]
    assert re.fullmatch(r"cstrace: 5 calls in 1 thread, \d+ KiB in "
                        r"cstrace.cst, \d+\.\d{3} s\n", done.stderr)


def test_show_has_the_command_line(tmp_path):
    record(tmp_path, build("ends.c"), "return")
    told = command("info", "cstrace.cst", cwd=tmp_path).stdout
    assert "ends return\n" in told


@pytest.mark.parametrize("how, status", [
    ("return", 0), ("exit", 3), ("_exit", 4), ("quick_exit", 5),
    ("abort", 128 + signal.SIGABRT), ("segv", 128 + signal.SIGSEGV),
    ("kill", 128 + signal.SIGKILL)])
def test_exit_status_is_the_programs(tmp_path, how, status):
    done, found = record(tmp_path, build("ends.c"), how)
    assert done.returncode == status
    words = re.findall(r"ends was ended by signal (\d+), \w", done.stderr)
    assert words == ([str(status - 128)] if status > 128 else [])
    assert functions(found)[:5] == ["main", "middle", "leaf", "end", "leaf"]


def test_threads(tmp_path):
    done, found = record(tmp_path, build("threads.c"), 8, 20000)
    assert (done.returncode, done.stdout) == (0, "threads done\n")
    assert functions(found).count("step") == 8 * 20000
    assert len({c["thread"] for c in found}) == 9
    assert "160009 calls in 9 threads" in done.stderr
    assert "lost" not in done.stderr


def test_fork_and_exec_are_in_the_same_file(tmp_path):
    family = compiled(tmp_path, FAMILY, "family")
    done, found = record(tmp_path, family, build("ends.c"), "exit")
    assert done.returncode == 3
    parent = [c for c in found if c["function"] == "in_parent"]
    child = [c for c in found if c["function"] == "in_child"]
    end = [c for c in found if c["function"] == "end"]
    assert (len(parent), len(child), len(end)) == (1, 1, 1)
    assert parent[0]["process"] != child[0]["process"]
    assert end[0]["process"] == parent[0]["process"]  # exec keeps the pid


@pytest.mark.parametrize("flags", [(), ("-no-pie", "-fno-pie")])
def test_shell_in_between(tmp_path, flags):
    """Programs at the same addresses, each with its own names."""
    one = compiled(tmp_path, "void one(void) { } int main(void) "
                   "{ one(); return 0; }", "first", *flags)
    two = compiled(tmp_path, "void two(void) { } int main(void) "
                   "{ two(); return 4; }", "second", *flags)
    done, found = record(tmp_path, "sh", "-c",
                         "%s && %s && %s" % (one, one, two))
    assert done.returncode == 4
    assert functions(found) == ["main", "one", "main", "one", "main", "two"]


def test_plugins_at_the_same_address(tmp_path):
    libraries = [build_library("plugin.c", "-DPLUGIN=%s" % name,
                               name="lib%s.so" % name)
                 for name in ("red", "green")]
    done, found = record(
        tmp_path, build("host.c", str(build_library("shared.c"))), *libraries)
    assert done.returncode == 0, done.stderr
    names = functions(found)
    assert "red" in names and "green" in names
    assert names.count("red") == names.count("green")


def test_exclude_is_never_recorded(tmp_path):
    done, found = record(tmp_path, "--exclude", "^step$",
                         build("threads.c"), 2, 1000)
    assert done.returncode == 0
    assert "step" not in functions(found)
    assert functions(found).count("worker") == 2


def test_depth_filter_and_time_are_what_is_shown(tmp_path):
    """All is recorded; show, report and save begin with what was asked for."""
    app = build("ends.c")

    def shown(*words):
        out = command("show", "cstrace.cst", *words, cwd=tmp_path).stdout
        return re.findall(r"  (main|middle|end|leaf)\b", out)

    record(tmp_path, "--depth", 2, app)
    assert shown() == ["main", "middle"]
    assert shown("--depth", 1) == ["main"]
    assert len(shown("--all")) == 7
    assert len(calls(tmp_path)) == 2
    report = command("report", "cstrace.cst", cwd=tmp_path).stdout
    assert "leaf" not in report
    record(tmp_path, "--filter", "^end$", app)
    assert shown() == ["end", "leaf", "leaf"]
    record(tmp_path, "--min-time", "1000s", app)
    assert shown() == []


def test_size_limit(tmp_path):
    done, found = record(tmp_path, "--max-size", "64K", build("threads.c"), 4,
                         100000)
    assert done.returncode == 0
    # Names and the file's own index come on top.
    assert 60 << 10 < (tmp_path / "cstrace.cst").stat().st_size < 72 << 10
    assert re.search(r"; \d+ calls not kept", done.stderr)
    assert "the trace file reached its limit" in done.stderr


def test_no_hooks_is_said(tmp_path):
    done = command("record", "--hooks", "/bin/true", cwd=tmp_path)
    assert done.returncode == 0
    assert "no calls" in done.stderr
    assert "-finstrument-functions" in done.stderr
    assert "cstrace check /bin/true tells" in done.stderr


HOOKS_OF_ITS_OWN = """
int n;
void __cyg_profile_func_enter(void *f, void *c) { n++; }
void __cyg_profile_func_exit(void *f, void *c) { n++; }
int main(void) { return !write(1, "ran\\n", 4); }
"""
WITHOUT = 'int main(void) { return !write(1, "ran\\n", 4); }'


@pytest.mark.parametrize("source, flags, why", [
    (WITHOUT, [], "it has no hooks: compile it with"),
    (WITHOUT, ["-static", "-finstrument-functions"],
     "it is static: link libcstrace.a into it"),
    (WITHOUT, ["-static", "-s"], "it is static and stripped"),
    (WITHOUT, ["-static"], "it is static and has no hooks: what patches"),
    (HOOKS_OF_ITS_OWN, [], "it defines the hooks itself"),
])
def test_what_will_not_be_recorded_is_said_before_it_runs(tmp_path, source,
                                                          flags, why):
    (tmp_path / "app.c").write_text("#include <unistd.h>\n" + source)
    subprocess.run(["gcc", *flags, "app.c", "-o", "app"], cwd=tmp_path,
                   check=True)
    done = subprocess.run([CSTRACE, "record", "--hooks", "./app"],
                          cwd=tmp_path, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    said = done.stdout.splitlines()
    assert said[0].startswith("cstrace: calls of './app' will not be "
                              "recorded: " + why)
    assert said[1] == "ran"
    assert said[2].startswith("cstrace: no calls")


@pytest.mark.parametrize("flags", [["-static"], ["-static-pie", "-s"]],
                         ids=" ".join)
def test_a_static_program_is_not_patched(tmp_path, flags):
    (tmp_path / "app.c").write_text("#include <unistd.h>\n" + WITHOUT)
    subprocess.run(["gcc", *flags, "app.c", "-o", "app"], cwd=tmp_path,
                   check=True)
    done = command("record", "--patch", "./app", cwd=tmp_path)
    assert done.returncode == 1 and done.stdout == ""
    assert "'./app' cannot be patched: it is static" in done.stderr
    assert "link libcstrace.a into it (-lcstrace)" in done.stderr
    done = command("check", "--patch", "./app", cwd=tmp_path)
    assert done.returncode == 1 and "traced" not in done.stdout
    assert done.stdout.startswith("./app cannot be patched: it is static")
    assert "link libcstrace.a into it (-lcstrace)" in done.stdout


def test_a_program_of_32_bits_is_told_before_it_runs(tmp_path):
    """The machine's compiler makes none: an ELF header says it all."""
    true = bytearray(open("/bin/true", "rb").read())
    true[4], true[18] = 1, 3  # ELFCLASS32, EM_386
    (tmp_path / "app").write_bytes(true)
    (tmp_path / "app").chmod(0o755)
    done = command("record", "./app", cwd=tmp_path)
    assert ("calls of './app' will not be recorded: it is for "
            in done.stderr.splitlines()[0])


def test_what_a_script_runs_is_no_surprise(tmp_path):
    (tmp_path / "run").write_text("#!/bin/sh\nexec %s\n" % build("ends.c"))
    (tmp_path / "run").chmod(0o755)
    done = command("record", "./run", cwd=tmp_path)
    assert "will not" not in done.stderr and " calls in " in done.stderr


DEEP = """
#include <stdlib.h>
#include <time.h>
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static void slow(void)
{
	struct timespec t = {.tv_nsec = 50000000};
	nanosleep(&t, NULL);
}
static void around(void) { fib(3); slow(); }
int main(int c, char **v)
{
	around();
	fib(18);
	if (c > 1)
		abort();
	return 0;
}
"""


@pytest.fixture(name="deep")
def program_of_deep_calls(tmp_path):
    (tmp_path / "deep.c").write_text(DEEP)
    subprocess.run(["gcc", "-g", "-finstrument-functions", "deep.c", "-o",
                    "deep"], cwd=tmp_path, check=True)
    return "./deep"


def test_what_is_too_deep_takes_no_room(tmp_path, deep):
    command("record", "-o", "all.cst", deep, cwd=tmp_path)
    done = command("record", "-o", "few.cst", "--keep-depth", "4", deep,
                   cwd=tmp_path)
    wanted = [(c["id"], c["parent"], c["function"], c["line"])
              for c in calls(tmp_path, "all.cst") if c["depth"] < 4]
    assert wanted == [(c["id"], c["parent"], c["function"], c["line"])
                      for c in calls(tmp_path, "few.cst")]
    size = [(tmp_path / name).stat().st_size
            for name in ("all.cst", "few.cst")]
    assert size[0] > 2 * size[1]
    n = len(calls(tmp_path, "all.cst")) - len(wanted)
    assert "; %d calls not kept (too deep or short)" % n in done.stderr
    # The file tells as well.
    info = command("info", "few.cst", cwd=tmp_path).stdout
    assert "\nlost        %d calls not kept (too deep or short)\n" % n in info
    assert "not kept" not in command("info", "all.cst", cwd=tmp_path).stdout
    report = command("report", "few.cst", cwd=tmp_path)
    assert "cstrace: %d calls not kept (too deep or short)\n" % n \
        == report.stderr


def test_what_is_too_short_takes_no_room(tmp_path, deep):
    record(tmp_path, "--keep-time", "40ms", deep)
    found = calls(tmp_path)
    assert functions(found)[:3] == ["main", "around", "slow"]
    assert [c["parent"] for c in found][:3] == [None, "1.1", "1.2"]
    assert all(c["duration_ns"] >= 40000000 for c in found)


def test_what_is_open_at_the_end_is_kept_however_short(tmp_path, deep):
    command("record", "--keep-time", "1000s", deep, "abort", cwd=tmp_path)
    found = calls(tmp_path)
    assert [(c["function"], c["end"]) for c in found] == [("main", "open")]


def test_functions_of_little_code_are_not_recorded(tmp_path, deep):
    sizes = {}
    for line in subprocess.run(["nm", "-S", "deep"], cwd=tmp_path, text=True,
                               capture_output=True, check=True
                               ).stdout.splitlines():
        words = line.split()
        if len(words) == 4:
            sizes[words[3]] = int(words[1], 16)
    least = sizes["main"]
    record(tmp_path, "--keep-size", least, deep)
    assert set(functions(calls(tmp_path))) == {
        name for name in ("main", "fib", "slow", "around")
        if sizes[name] >= least}


def test_the_trace_can_go_through_a_pipe(tmp_path):
    """What the program prints does not come between."""
    (tmp_path / "app.c").write_text(
        'int main(void) { return !write(1, "ran\\n", 4); }')
    subprocess.run(["gcc", "-w", "-finstrument-functions", "app.c", "-o",
                    "app"], cwd=tmp_path, check=True)
    done = subprocess.run("%s record -o - ./app | %s show -" % (
        CSTRACE, CSTRACE), shell=True, cwd=tmp_path, text=True,
        capture_output=True, check=True)
    assert "  main" in done.stdout and "ran" not in done.stdout
    assert done.stderr.startswith("ran\ncstrace: 1 call in 1 thread, 0.")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["app", "app.c"]


def test_live_prints_rows_and_keeps_nothing(tmp_path):
    done = command("live", "--depth", "2", build("ends.c"), "exit",
                   cwd=tmp_path)
    assert done.returncode == 3
    assert re.search(r"1\.1 +main ", done.stdout)
    assert re.search(r"1\.2 +middle ", done.stdout)
    assert "leaf" not in done.stdout
    assert re.fullmatch(r"cstrace: 5 calls in 1 thread, \S+ s\n", done.stderr)
    assert list(tmp_path.iterdir()) == []


def test_live_keeps_the_trace_where_it_is_told(tmp_path):
    command("live", "-o", "x.cst", build("ends.c"), "exit",
            cwd=tmp_path)
    assert functions(calls(tmp_path, "x.cst")) == [
        "main", "middle", "leaf", "end", "leaf"]


def test_live_rows_come_while_the_program_waits(tmp_path):
    program = subprocess.Popen(
        [CSTRACE, "live", build("waits.c")], cwd=tmp_path, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        while "heard" not in program.stdout.readline():
            pass
    finally:
        program.communicate("q\n", timeout=60)


def test_live_leaves_a_program_alone_whose_rows_nobody_reads(tmp_path):
    done = subprocess.run("%s live %s exit | head -1; echo ${PIPESTATUS[0]}"
                          % (CSTRACE, build("ends.c")), shell=True,
                          executable="/bin/bash", cwd=tmp_path, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert done.stdout.splitlines()[-1] == "3"


# ---- how it is asked for -----------------------------------------------------


@pytest.mark.parametrize("words, status, said", [
    (["./nosuch"], 1, "cannot run './nosuch': No such file or directory"),
    (["nosuchcommand"], 1, "cannot run 'nosuchcommand': no such command"),
    (["/tmp"], 1, "cannot run '/tmp': Is a directory"),
    ([], 2, "something is missing"),
    (["--dept", "3x", "/bin/true"], 2, ""),
    (["--exclude", "(", "/bin/true"], 2, "bad regex"),
    (["--max-size", "0", "/bin/true"], 2, "--max-size"),
    (["-o", "", "/bin/true"], 2, ""),
    (["-o", "no/such/folder/x.cst", "/bin/true"], 1, "cannot write"),
    (["-o", ".", "/bin/true"], 1, "not a regular file"),
])
def test_refusals(tmp_path, words, status, said):
    done = command("record", *words, cwd=tmp_path)
    assert done.returncode == status
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "cstrace.cst").exists()


def test_old_trace_stays_when_nothing_runs(tmp_path):
    record(tmp_path, build("ends.c"))
    command("record", "./nosuch", cwd=tmp_path)
    assert functions(calls(tmp_path))[0] == "main"


def test_the_programs_options_are_its_own(tmp_path):
    done = command("record", "-o", "x.cst", "echo", "-n", "-o", "--depth",
                   cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "-o --depth")


def test_file_has_the_rights_that_the_umask_leaves(tmp_path):
    """And is made anew where a link was planted."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "cstrace.cst").symlink_to(victim)
    done = command("record", build("ends.c"), cwd=tmp_path)
    assert done.returncode == 1
    assert victim.read_text() == "precious"
    (tmp_path / "cstrace.cst").unlink()
    umask = os.umask(0o027)
    record(tmp_path, build("ends.c"))
    os.umask(umask)
    mode = (tmp_path / "cstrace.cst").stat().st_mode
    assert stat.S_IMODE(mode) == 0o640


def test_preload_and_blanks(tmp_path):
    """The user's own LD_PRELOAD stays; a path with blanks is no obstacle."""
    other = build_library("plugin.c", name="libother.so", is_traced=False)
    place = tmp_path / "a b"
    place.mkdir()
    for name in ("cstrace", "libcstrace.so"):
        (place / name).write_bytes((BUILD / name).read_bytes())
    (place / "cstrace").chmod(0o755)
    done = subprocess.run(
        [str(place / "cstrace"), "record", "sh", "-c",
         "echo $LD_PRELOAD; exec %s" % build("ends.c")],
        cwd=tmp_path, text=True, capture_output=True, timeout=LIMIT_S,
        env=dict(os.environ, LD_PRELOAD=str(other)))
    assert done.returncode == 0
    shim, mine = done.stdout.strip().split(":")
    assert mine == str(other)
    assert not os.path.exists(shim)  # the link is gone again
    assert functions(calls(tmp_path))[0] == "main"


LEAVES_ONE = r"""
#include <stdio.h>
#include <unistd.h>

static void work(void) { }

int main(void)
{
	int begun[2];
	char c;

	pipe(begun);
	if (fork() == 0) {
		work();
		write(begun[1], "", 1);
		read(0, &c, 1);
		work();
		puts("child done");
		return 0;
	}
	work();
	read(begun[0], &c, 1);
	return 0;
}
"""


def test_what_outlives_the_program_runs_on(tmp_path):
    leaves = compiled(tmp_path, LEAVES_ONE, "leaves")
    process = subprocess.Popen([CSTRACE, "record", str(leaves)], cwd=tmp_path,
                               text=True, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.wait(LIMIT_S) == 0
    process.stdin.write("x")
    process.stdin.close()
    assert process.stdout.read() == "child done\n"
    assert "; 1 process runs on, unrecorded" in process.stderr.read()
    process.stdout.close()
    process.stderr.close()


# ---- signals and deaths ------------------------------------------------------


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGINT])
def test_signals_are_passed_on(tmp_path, signo):
    talker = compiled(tmp_path, TALKER, "talker")
    process = start(tmp_path, talker)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signo)
    status, out, err = finish(process)
    assert (status, out) == (9, "got %d\n" % signo)
    assert "cstrace: " in err
    assert "work" in functions(calls(tmp_path))


def test_killed_recorder_leaves_a_file_and_a_program(tmp_path):
    talker = compiled(tmp_path, TALKER, "talker")
    process = start(tmp_path, talker)
    assert process.stdout.readline() == "ready\n"
    wait_for(lambda: "  work" in command("show", "cstrace.cst",
                                         cwd=tmp_path).stdout, "calls on disk")
    children = subprocess.run(["ps", "-o", "pid=", "--ppid",
                               str(process.pid)], text=True,
                              capture_output=True).stdout.split()
    process.kill()
    process.wait()
    assert functions(calls(tmp_path))[:2] == ["main", "work"]
    os.kill(int(children[0]), signal.SIGTERM)
    assert process.stdout.readline() == "got 15\n"
    process.stdout.close()
    process.stderr.close()


def test_setuid_like_program_just_runs(tmp_path):
    """Where the area cannot be opened, nothing is recorded, nothing breaks."""
    path = build("ends.c")
    done = subprocess.run([str(path), "exit"], timeout=LIMIT_S,
                          env=dict(os.environ, CSTRACE_AREA="/proc/1/fd/999",
                                   LD_PRELOAD=str(BUILD / "libcstrace.so")))
    assert done.returncode == 3


def test_a_sanitized_program_may_be_run_by_a_script(tmp_path):
    program = build("basic.c", "-fsanitize=address")
    done, found = record(tmp_path, "sh", "-c", "exec %s 2" % program,
                         env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
    assert done.returncode == 0, done.stderr
    assert "fib(2) done" in done.stdout
    assert functions(found).count("fib") == 3
