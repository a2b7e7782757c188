# SPDX-License-Identifier: MIT
"""Commands, options and settings: what they say, and that nothing recorded is
lost by a mistake."""

import json
import re
import shutil
import subprocess

import pytest

from lib_build import build
from lib_gdb import command_line, environment
from lib_tree import live_tree, read_jsonl
from test_session import FIB_2, drawn

RECORDED = ("set cstrace live off", "cstrace start", "run")


def basic():
    return build("basic.c")


def refusal(gdb, *commands, program=None, args=(2,)):
    """The last line, which must be all that the mistake has brought."""
    run = gdb(program or basic(), *commands[:-1],
              "echo ----\\n", commands[-1], args=args)
    said = run.out.partition("----\n")[2].splitlines()
    assert len(said) == 1, run.out
    return said[0]


@pytest.mark.parametrize("command, words", [
    ("cstrace", "cstrace start     trace calls"),
    ("help cstrace", "Trace the function calls of a program, as a tree."),
    ("help cstrace start", "Usage: cstrace start [-sync] [-depth N]"),
    ("help set cstrace", "set cstrace callsite -- Set whether rows"),
    ("show cstrace", "sync-method  auto"),
    ("show cstrace limit", "limit: 4G"),
    ("info cstrace", "cstrace    off"),
    ("complete cstrace s", "cstrace save\ncstrace show\ncstrace start\n"
                           "cstrace status\ncstrace stop"),
    ("complete cstrace start -", "cstrace start -depth"),
    ("complete cstrace report -sort ", "cstrace report -sort calls"),
    ("complete cstrace save -format j", "cstrace save -format jsonl"),
    ("complete set cstrace timestamp ", "set cstrace timestamp elapsed"),
    ("complete cstrace show mid", "cstrace show middle"),
])
def test_words_are_explained_and_completed(gdb, command, words):
    assert words in gdb(basic(), command).out


def test_the_overviews_name_each_command(gdb):
    """One that is not there would be found by nobody."""
    listed = gdb(None, "complete cstrace ").lines()
    words = {line.split()[1] for line in listed if line.startswith("cstrace ")}
    assert {"start", "sample", "check"} <= words
    summary = gdb(None, "cstrace").out
    usage = gdb(None, "help cstrace").out
    assert set(re.findall(r"^cstrace (\S+)  ", summary, re.M)) == words
    assert set(re.findall(r"[\w-]+", re.search(
        r"Usage: cstrace (.*?)\n\n", usage, re.S).group(1))) == words
    assert max(map(len, (summary + usage).splitlines())) <= 80


def completed(gdb, program, *commands):
    run = gdb(program, *RECORDED, "echo ----\\n",
              *("complete " + command for command in commands))
    return run.out.partition("----\n")[2].splitlines()


def test_a_traces_functions_are_completed(gdb):
    """Only functions that were called, not all symbols of the program."""
    assert completed(gdb, build("calls.c"), "cstrace show ") == [
        "cstrace show " + name for name in (
            "compare", "down", "leaf", "main", "pair", "spread", "through")]
    assert completed(gdb, build("sort.cc"), "cstrace report shop::Till::p",
                     "cstrace report std::s") \
        == ["cstrace report shop::Till::put"]


@pytest.mark.parametrize("before", [
    "set cstrace filter", "set cstrace exclude", "cstrace show -filter",
    "cstrace start -until", "cstrace report -callers", "cstrace show"])
def test_names_are_completed_as_rows_have_them(gdb, before):
    assert completed(gdb, build("sort.cc"), before + " Till::p",
                     before + " shop::Till::p", before + " thr") \
        == [before + " Till::put", before + " shop::Till::put"]


def test_functions_in_a_condition_are_completed(gdb):
    before = "cstrace show -where 'n == 3 || "
    assert completed(gdb, build("calls.c"), before + "spre") == [
        before + "spread"]
    run = gdb(build("calls.c"), "complete " + before + "spre")
    assert run.out == before + "spread\n"


def test_a_setting_completes_the_programs_symbols_before_the_run(gdb):
    run = gdb(build("calls.c"), "complete set cstrace filter sprea",
              "complete set cstrace in calls_none")
    assert run.out == "set cstrace filter spread\n"


def test_files_of_the_program_are_completed(gdb):
    """Its sources and modules, not the files of the working folder."""
    run = gdb(build("calls.c"), *("complete " + words for words in (
        "set cstrace in ca", "cstrace show -in ca", "set cstrace module ca",
        "cstrace start -module ca")))
    assert run.lines() == [
        "set cstrace in calls.c", "cstrace show -in calls.c",
        "set cstrace module calls", "cstrace start -module calls"]


@pytest.mark.parametrize("setting, value", [
    ("filter", "pair"), ("exclude", "leaf"), ("in", "calls.c"),
    ("module", "calls")])
def test_what_with_does_not_take_is_an_option(gdb, setting, value):
    run = gdb(build("calls.c"), *RECORDED, "help set cstrace " + setting,
              "with cstrace depth 1 -- cstrace show",
              "cstrace report -%s %s" % (setting, value))
    assert "`with` does not take it: `cstrace show -%s X`" % setting in run.out
    assert "\n# depth 1: 1 of 18 calls; -all shows the others\n" in run.out
    assert run.out.count("#    CALLS ") == 1


@pytest.mark.parametrize("name", [
    "shop::Shop::total(shop::Order const&)", "shop::Price::operator<",
    "'shop::Shop::total(shop::Order const&)'",
    "shop::Shop::serve(std::vector<shop::Order, std::allocator<shop::Order> > "
    "const&)"])
def test_a_completed_name_is_accepted(gdb, name):
    """gdb completes parameters, too, with their blanks."""
    run = gdb(build("shop.cc"), *RECORDED, "set cstrace filter " + name,
              "cstrace report -limit 1", "set cstrace filter",
              "cstrace report -limit 1 -filter %s -sort calls" % name,
              "cstrace report -sort calls -limit 1 -filter " + name)
    assert run.status == 0 and "cstrace: no " not in run.out
    plain = name.strip("'")
    assert len(re.findall(r"^# .*filter %s" % re.escape(plain), run.out,
                          re.M)) == 3


@pytest.mark.parametrize("command, line", [
    ("cstrace nosuch", 'cstrace: no command "nosuch"; there is start, stop, '
     "sample, status, show, report, graph, calls, here, list, goto, "
     "stop-when, on, window, log, zoom, info, save, load, diff, expect, "
     "clear, check"),
    ("cstrace start -x", "cstrace start: no option -x; there is -sync, "
     "-depth, -filter, -exclude, -in, -module, -from, "
     "-until, -min-time, -where, -keep-depth, -keep-time, -keep-size, -size, "
     "-no-args, -flight, -patch, -hooks, -functions, -modules, -border, -to"),
    ("cstrace start -depth", "cstrace start: -depth needs a value"),
    ("cstrace start -depth many", '-depth wants a number, not "many"'),
    ("cstrace start more", 'cstrace start: "more" is too much; see '
     "`help cstrace start`"),
    ("cstrace start -filter (", "bad regex '(': missing closing parenthesis"),
    ("cstrace start -min-time 5", "-min-time wants a time with its unit, as "
     '10us, 1.5ms or 2s, not "5"'),
    ("cstrace start -to /nonexistent/t.txt", "cannot save to "
     "/nonexistent/t.txt: there is no folder /nonexistent"),
    ("cstrace stop", "cstrace is not on: `cstrace start` begins"),
    ("cstrace show", "nothing is recorded yet: `cstrace start`, then `run`"),
    ("cstrace save t.txt", "nothing is recorded yet: `cstrace start`, then "
     "`run`"),
    ("cstrace show -range 2..1", "-range wants two times, as 1.2s..1.4s, "
     '20ms.. or ..1.4, not "2..1"'),
    ("cstrace report -sort nosuch", "no field 'nosuch': there are calls, "
     "total, self, mean, min, max, share, size and function"),
    ("cstrace load", "cstrace load: which file?"),
    ("cstrace load /nonexistent", "cannot open '/nonexistent': No such file "
     "or directory"),
    ("set cstrace nosuch", 'set cstrace: no setting "nosuch"; there is live, '
     "callsite, names, id, frame-ids, thread, timestamp, duration, color, links, fold, "
     "step-report, std, filter, exclude, depth, min-time, in, module, output, sync-method, "
     "road, preload, args, members, text-bytes, results, what, limit, wait-limit, log-budget, pool"),
    ("set cstrace limit 3X", '"3X" is not a size: write 512M, 4G, or 0 for '
     "no limit"),
    ("set cstrace output /nonexistent/t", "cannot open /nonexistent/t: No "
     "such file or directory"),
])
def test_a_mistake_is_one_line(gdb, command, line):
    """That says whose it is."""
    if not re.match("(set )?cstrace", line):
        line = "cstrace: " + line
    assert refusal(gdb, command) == line


def test_a_range_of_time(gdb):
    run = gdb(basic(), *RECORDED, "echo ----\\n", "cstrace show -range ..1ns",
              "echo ----\\n", "cstrace show -range 1000..", args=[2])
    first, none = run.out.split("----\n")[1:]
    assert "main" in first and "fib" not in first
    assert "cstrace: no such calls" in none


def test_what_is_too_deep_is_not_recorded(gdb):
    run = gdb(basic(), "set cstrace live off", "cstrace start -keep-depth 2",
              "run", "cstrace report -all -fields calls", args=[2])
    assert re.search(r"cstrace: \d calls in 1 thread, .*, \d calls not "
                     r"kept \(too deep or short\)", run.out)


def test_a_program_without_hooks_is_refused(gdb, tmp_path):
    program = build("basic.c", is_traced=False)
    shutil.copy(program, tmp_path / "app")
    assert refusal(gdb, "cstrace start -hooks", program="./app") == (
        "cstrace: ./app has no -finstrument-functions hooks: compile it with gcc or "
        "clang -g -finstrument-functions; `cstrace start -patch` traces it as it "
        "is")


@pytest.mark.parametrize("mistake", [
    "cstrace save /nonexistent/t.txt", "cstrace save t.nosuch",
    "cstrace show (", "cstrace show -around 9.9", "cstrace report -x",
    "cstrace load nosuch.cst", "cstrace load hello.cst", "cstrace start",
])
def test_a_mistake_loses_nothing(gdb, tmp_path, mistake):
    (tmp_path / "hello.cst").write_text("hello\n")
    run = gdb(basic(), *RECORDED, mistake, "cstrace show", args=[2])
    assert drawn(run) == FIB_2


def test_the_choice_of_start_holds_until_dropped(gdb):
    run = gdb(basic(), "set cstrace live off", "cstrace start -depth 2",
              "run", "cstrace show", "cstrace show -all",
              "cstrace show -depth 1", args=[2])
    two = "main\n  middle\n  fib\n"
    assert drawn(run) == two + FIB_2 + "main\n"


def test_an_excluded_function_is_not_recorded(gdb):
    run = gdb(basic(), "cstrace start -exclude ^leaf$", "run",
              "cstrace show -all", args=[0])
    assert drawn(run) == 2 * "main\n  middle\n  fib\n"


def test_save_writes_all_and_load_reads_it_back(gdb, tmp_path):
    run = gdb(basic(), *RECORDED, "cstrace save t.jsonl", "cstrace save t.cst",
              "cstrace save -format txt noending", "cstrace clear",
              "cstrace load t.cst", "cstrace show", "cstrace status",
              args=[2])
    calls = [json.loads(line)
             for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    assert [call["id"] for call in calls] == ["1.%d" % i for i in range(1, 9)]
    assert drawn(run) == FIB_2
    assert live_tree((tmp_path / "noending").read_text()).count("\n") == 8
    assert "calls      8 (0 open, 0 unwound)" in run.lines()


def test_a_trace_loaded_elsewhere_is_the_same(gdb):
    gdb(basic(), *RECORDED, "cstrace save t.cst", args=[2])
    assert drawn(gdb(None, "cstrace load t.cst", "cstrace show")) == FIB_2


def test_output_goes_where_it_is_told(gdb, tmp_path):
    run = gdb(basic(), "set cstrace output rows.txt", "cstrace start", "run",
              args=[2])
    assert "fib  basic.c" not in run.out
    assert live_tree((tmp_path / "rows.txt").read_text()).count("fib") == 3


def test_rows_written_open_are_closed_in_the_new_look(gdb, tmp_path):
    run = gdb(basic(), "cstrace start", "break leaf", "run", "delete",
              "set cstrace timestamp off", "continue", args=[2])
    assert re.search(r"^ *[0-9.]+ [mun]?s\* 1\.1 +<- main$", run.out, re.M)


def test_rows_written_open_are_closed_in_the_new_output(gdb, tmp_path):
    gdb(basic(), "cstrace start", "break leaf", "run", "delete",
        "set cstrace output rows.txt", "continue", args=[2])
    assert (tmp_path / "rows.txt").read_text().endswith("<- main\n")


def test_logged_rows_are_in_the_log(gdb, tmp_path):
    run = gdb(basic(), "set logging file log.txt", "set logging enabled on",
              "cstrace start", "run", "set logging enabled off", args=[2])
    assert drawn(run) == FIB_2
    assert (tmp_path / "log.txt").read_text().count("fib  basic.c") == 3


@pytest.mark.parametrize("logging", ["on", "off"])
def test_rows_are_on_standard_output_with_a_log_and_without(tmp_path, logging):
    done = subprocess.run(
        command_line(basic(), ("set logging enabled " + logging,
                               "cstrace start", "run"), [2]),
        cwd=tmp_path, env=environment(tmp_path), text=True,
        stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert done.stdout.count("fib  basic.c") == 3
    assert "fib" not in done.stderr


def test_words_that_are_not_ascii_where_the_locale_is(gdb, tmp_path):
    """gdb reads what is typed by the locale's letters, before we do."""
    (tmp_path / "size.c").write_text(
        "int größe(int n) { return n; }\n"
        "int main(void) { return größe(0); }\n")
    subprocess.run(["gcc", "-g", "-finstrument-functions", "size.c", "-o",
                    "size"], cwd=tmp_path, check=True)
    run = gdb(tmp_path / "size", "cstrace start", "run",
              "cstrace save größe.txt", "cstrace show größe", LC_ALL="C")
    assert "Python" not in run.out
    assert "größe" in (tmp_path / "größe.txt").read_text()
    assert "größe  size.c:2" in run.out.rpartition("saved to")[2]


def test_without_its_library_the_extension_says_so_once(gdb, tmp_path):
    run = gdb(None, "cstrace start", CSTRACE_LIBDIR=str(tmp_path))
    line = ("libcstrace-engine.so is not in %s: build it first: make"
            % tmp_path)
    assert "cstrace: " + line in run.lines()


def test_a_limit_that_is_reached_at_once(gdb):
    run = gdb(basic(), "set cstrace live off", "set cstrace limit 10",
              "cstrace start", "run")
    assert "cstrace: the trace file reached its limit of 10 bytes" in run.out
    assert "not kept (size limit)" in run.out
    assert "Traceback" not in run.out


def test_past_the_limit_what_is_kept_is_counted(gdb, tmp_path):
    run = gdb(build("robust_crowd.c"), "set cstrace live off",
              "set cstrace limit 10K", "cstrace start", "run",
              "cstrace save t.cst", "cstrace save -all t.jsonl",
              args=["calls", 1])
    n = len(read_jsonl(tmp_path / "t.jsonl"))
    assert n > 0
    kept = re.search(r"^cstrace: (\d+) calls in .*, (\d+) calls not kept",
                     run.out, re.M)
    assert kept and (int(kept[1]), int(kept[2]) > 0) == (n, True)
    assert "cstrace: %d calls saved to t.cst" % n in run.lines()
