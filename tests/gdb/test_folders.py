# SPDX-License-Identifier: MIT
"""Folders for babeltrace2, Trace Compass and uftrace, read by those tools and
held against the JSON lines."""

import json
import os
import resource
import signal
import stat
import subprocess
from collections import Counter

import pytest

from lib_build import BUILD, build
from lib_cstrace import compile_c
from lib_folders import (STACKS_FROM, ctf_calls, ctf_events, run_tool,
                         save_folder, uftrace_calls, uftrace_report,
                         uftrace_tasks, uftrace_tree)
from lib_formats import CHOICES, calls_alone, cstrace, record
from lib_gdb import run_gdb, wait_for
from test_robust_names import LONGEST, nasty_program

assert nasty_program  # a fixture

READ = {"ctf": ctf_calls, "uftrace": uftrace_calls}


def record_source(folder, source, *args):
    """A C program of its own, as t.cst."""
    compile_c(folder, "app", source)
    done = cstrace(folder, "record", "-o", "t.cst", "--", "./app", *args)
    assert done.returncode == 0, done.stderr


def by_lane(calls):
    lanes = {}
    for c in calls:
        lanes.setdefault((c["process"], c["thread"], c["lane"]), []).append(c)
    return lanes


def check_calls(found, calls):
    """Each call once, in order, on its thread; times trimmed, if at all, by
    the nanosecond that rounding takes."""
    lanes = by_lane(calls)
    assert len(found) == len(lanes)
    for (pid, tid, lane), expected in lanes.items():
        assert not lane
        got = found[pid, tid]
        assert [(c.function, c.depth) for c in got] == [
            (c["function"], c["depth"]) for c in expected]
        for g, e in zip(got, expected):
            if e["start_ns"] is not None:
                assert abs(g.begin - e["start_ns"]) <= 1
            if e["duration_ns"] is not None:
                assert abs(g.end - g.begin - e["duration_ns"]) <= 2


@pytest.mark.parametrize("kind", READ)
@pytest.mark.parametrize("choice", CHOICES, ids=" ".join)
def test_each_call_is_there_once(ended, kind, choice):
    calls = calls_alone(ended, *choice)
    check_calls(READ[kind](save_folder(ended, "t." + kind, *choice)), calls)


@pytest.mark.parametrize("kind", READ)
def test_open_calls_end_with_the_trace(left_open, kind):
    calls = calls_alone(left_open)
    found = READ[kind](save_folder(left_open, "t." + kind))
    check_calls(found, calls)
    last = max(c.end for lane in found.values() for c in lane)
    lane = found[calls[0]["process"], calls[0]["thread"]]
    still_open = [c for c in lane if last - c.end <= 1]
    assert [c.function.split("::")[-1] for c in still_open] \
        == ["main"] + ["stop(int)"] * 4


@pytest.mark.parametrize("kind", READ)
def test_what_is_not_there_is_not_drawn(ended, kind):
    path = save_folder(ended, "none." + kind, "--filter", "no_such_function",
                       told="cstrace: no function matches 'no_such_function'\n")
    assert not list(path.glob("*.dat")) and not list(path.glob("thread-*"))


# ---- CTF ------------------------------------------------------------------------


def test_ctf_tells_of_each_call(left_open):
    calls = {c["id"]: c for c in calls_alone(left_open)}
    found = ctf_calls(save_folder(left_open, "t.ctf"))
    seen = [c.fields for lane in found.values() for c in lane]
    assert sorted(f["id"] for f in seen) == sorted(calls)
    for f in seen:
        c = calls[f["id"]]
        assert f["file"] == (c["file"] or "").split("/")[-1]
        assert f["line"] == (c["line"] or 0)
        assert f["end"] == c["end"]
        assert f["procname"] == "formats"


def test_ctf_state_dump_leads_to_the_functions(ended):
    """Trace Compass finds them so: the address less that of its object is the
    symbol's in the file."""
    events = ctf_events(save_folder(ended, "t.ctf"))
    program = str(build("formats.cc"))
    dumped = {e[2]: e[4] for e in events
              if e[1] == "lttng_ust_statedump:bin_info"
              and e[4]["path"] == program}
    entries = [e for e in events if e[1].endswith(":func_entry")]
    assert set(dumped) == {e[2] for e in entries}
    symbols = {int(line.split()[0], 16): line.split(" ", 2)[2]
               for line in run_tool("nm", "--defined-only", "-C",
                                    program).splitlines()}
    for _, _, pid, _, fields in entries:
        of = dumped[pid]
        assert of["baddr"] <= fields["addr"] < of["baddr"] + of["memsz"]
        at = fields["addr"] - (of["baddr"] if of["is_pic"] else 0)
        assert symbols[at].split("(")[0] in fields["name"]


def test_ctf_build_ids(ended):
    events = ctf_events(save_folder(ended, "t.ctf"))
    program = str(build("formats.cc"))
    base = {e[4]["baddr"] for e in events if e[4].get("path") == program}
    (found,) = {bytes(e[4]["build_id"]).hex() for e in events
                if e[1].endswith(":build_id") and e[4]["baddr"] in base}
    assert "Build ID: " + found in run_tool("readelf", "-n", program)


def test_ctf_times_after_long_pauses(tmp_path):
    """Times are written in 27 bits where that is enough."""
    record_source(tmp_path, """
#include <time.h>
void nap(long ns) { struct timespec t = {0, ns}; nanosleep(&t, 0); }
int main(void) { nap(10); nap(150000000); nap(10); nap(290000000); nap(1);
                 return 0; }
""")
    calls = calls_alone(tmp_path)
    assert calls[0]["duration_ns"] > 3 << 27
    check_calls(ctf_calls(save_folder(tmp_path, "t.ctf")), calls)


def test_ctf_in_many_packets(tmp_path):
    record_source(tmp_path, """
void leaf(int i) { (void)i; }
int main(void) { for (int i = 0; i < 10000; i++) leaf(i); return 0; }
""")
    path = save_folder(tmp_path, "t.ctf")
    (stream,) = path.glob("thread-*")
    assert stream.stat().st_size > 3 << 18
    check_calls(ctf_calls(path), calls_alone(tmp_path))


# ---- uftrace --------------------------------------------------------------------


def with_braces(name):
    """How replay writes a function."""
    return name if name.endswith(")") else name + "()"


def test_uftrace_replay_draws_the_tree(left_open):
    path = save_folder(left_open, "t.uftrace")
    lanes = by_lane(calls_alone(left_open))
    assert len(lanes) == 4
    for (_, tid, _), calls in lanes.items():
        assert uftrace_tree(path, tid) == [
            (c["depth"], with_braces(c["function"])) for c in calls]


def test_uftrace_report_counts_the_calls(left_open):
    path = save_folder(left_open, "t.uftrace")
    assert uftrace_report(path) == Counter(
        c["function"] for c in calls_alone(left_open))


def test_uftrace_graph_and_dump(left_open):
    path = save_folder(left_open, "t.uftrace")
    graph = run_tool("uftrace", "graph", "-d", path)
    assert graph.count("Function Call Graph for 'formats'") == 2
    assert "fib(int)" in graph
    events = json.loads(run_tool("uftrace", "dump", "--chrome", "-d", path))
    kinds = Counter(e["ph"] for e in events["traceEvents"])
    assert kinds["B"] == kinds["E"] == len(calls_alone(left_open))
    info = run_tool("uftrace", "info", "-d", path)
    assert "number of tasks     : 4" in info


def test_uftrace_keeps_1024_levels(tmp_path):
    record_source(tmp_path, """
int deep(int n) { return n ? deep(n - 1) + 1 : 0; }
int main(void) { return deep(1500) & 1; }
""")
    told = "478 calls were left out: the format has no room for calls so deep"
    path = save_folder(tmp_path, "t.uftrace", told="cstrace: %s\n" % told)
    assert told in run_gdb(tmp_path, None, "cstrace load t.cst",
                           "cstrace save u.uftrace").said()[-1]
    (calls,) = uftrace_calls(path).values()
    assert [c.depth for c in calls] == list(range(1024))
    assert uftrace_report(path) == {"main": 1, "deep": 1023}
    (whole,) = ctf_calls(save_folder(tmp_path, "t.ctf")).values()
    assert [c.depth for c in whole] == list(range(1502))


# ---- both -----------------------------------------------------------------------


def test_other_stacks_are_threads(tmp_path):
    record_source(tmp_path, """
#include <ucontext.h>
static ucontext_t back, other;
static char stack[65536];
void inner(int n) { if (n) swapcontext(&other, &back); }
void body(void) { inner(1); inner(0); }
void turn(void) { swapcontext(&back, &other); }
int main(void)
{
    getcontext(&other);
    other.uc_stack.ss_sp = stack;
    other.uc_stack.ss_size = sizeof(stack);
    other.uc_link = &back;
    makecontext(&other, body, 0);
    turn();
    turn();
    return 0;
}
""")
    for kind, read in READ.items():
        lanes = read(save_folder(tmp_path, "t." + kind))
        (own, other) = sorted(lanes, key=lambda key: key[1])
        assert own[0] == own[1] == other[0]
        assert other[1] >= STACKS_FROM
        assert [(c.depth, c.function) for c in lanes[own]] == [
            (0, "main"), (1, "turn"), (1, "turn")]
        assert [(c.depth, c.function) for c in lanes[other]] == [
            (0, "body"), (1, "inner"), (1, "inner")]


def test_names_are_plain(tmp_path, nasty):
    done = cstrace(tmp_path, "record", "-o", "t.cst", "--", nasty)
    assert done.returncode == 0, done.stderr
    found = {}
    for kind, read in READ.items():
        path = save_folder(tmp_path, "t." + kind)
        (calls,) = read(path).values()
        found[kind] = [c.function for c in calls]
        assert len(calls) == 7
        assert found[kind][1].startswith(r"red\x1b[31m\x1b]0;title")
        assert found[kind][2].startswith(r"two\x0alines\x0d")
        assert LONGEST.startswith(found[kind][6][:900])
    assert found["ctf"][:6] == found["uftrace"][:6]
    json.loads(run_tool("uftrace", "dump", "--chrome", "-d",
                        tmp_path / "t.uftrace"))


def test_folders_have_the_rights_that_the_umask_leaves(ended):
    umask = os.umask(0)
    os.umask(umask)
    for kind in READ:
        path = save_folder(ended, "t." + kind)
        assert stat.S_IMODE(path.stat().st_mode) == 0o777 & ~umask
        assert {stat.S_IMODE(f.stat().st_mode)
                for f in path.iterdir()} == {0o666 & ~umask}


def content(path):
    return {f.name: f.read_bytes() for f in path.iterdir()}


@pytest.mark.parametrize("kind", READ)
def test_our_own_folder_is_replaced(ended, kind):
    path = save_folder(ended, "again." + kind, "--depth", "1")
    assert len(next(iter(READ[kind](path).values()))) == 1
    save_folder(ended, "again.%s/" % kind)
    check_calls(READ[kind](path), calls_alone(ended))
    before = content(path)
    some = next(name for name in before if name != ".cstrace")
    (path / some).unlink()  # what is left is still ours
    save_folder(ended, "other", "--format", kind)
    save_folder(ended, "again." + kind)
    assert content(path) == before == content(ended / "other")
    done = cstrace(ended, "save", "t.cst", "other", "--format",
                   "uftrace" if kind == "ctf" else "ctf")
    assert (done.returncode, done.stderr) == (0, "")


def refuse(folder, name, why):
    left = sorted(os.listdir(folder))
    done = cstrace(folder, "save", "t.cst", name)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "cstrace: cannot write '%s': %s\n" % (name, why)
    assert sorted(os.listdir(folder)) == left


def test_what_is_not_ours_stays(tmp_path):
    record(tmp_path)
    alone = "the folder is not cstrace's alone"
    (tmp_path / "empty.ctf").mkdir()
    refuse(tmp_path, "empty.ctf", alone)
    (tmp_path / "file.ctf").write_text("mine")
    refuse(tmp_path, "file.ctf", "it is not a folder")
    path = save_folder(tmp_path, "t.ctf")
    (path / "notes").write_text("mine")
    refuse(tmp_path, "t.ctf", alone)
    (path / "statedump").unlink()
    refuse(tmp_path, "t.ctf", alone)
    assert (path / "notes").read_text() == "mine"
    (path / "notes").unlink()
    (path / "statedump").mkdir()
    refuse(tmp_path, "t.ctf", alone)
    (path / "statedump").rmdir()
    (tmp_path / "link.ctf").symlink_to("t.ctf")
    refuse(tmp_path, "link.ctf", "it is not a folder")
    refuse(tmp_path, "no/t.ctf", "No such file or directory")
    save_folder(tmp_path, "t.ctf")


def test_real_recordings_stay(tmp_path):
    record(tmp_path)
    subprocess.run(["uftrace", "record", "--no-libcall", "--no-event", "-d",
                    tmp_path / "t.uftrace", build("formats.cc")], check=True,
                   stdin=subprocess.DEVNULL, capture_output=True, timeout=240)
    before = content(tmp_path / "t.uftrace")
    refuse(tmp_path, "t.uftrace", "the folder is not cstrace's alone")
    assert content(tmp_path / "t.uftrace") == before


def test_a_folder_is_no_stream(ended):
    done = cstrace(ended, "save", "t.cst", "-", "--format", "ctf")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "cstrace: format 'ctf' is a folder: say its name\n"


@pytest.mark.parametrize("kind", READ)
def test_a_full_disk_leaves_nothing(ended, tmp_path, kind):
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))

    done = subprocess.run(
        [BUILD / "cstrace", "save", ended / "t.cst", "full." + kind],
        cwd=tmp_path, capture_output=True, text=True, timeout=240,
        preexec_fn=small_files)
    assert done.returncode == 1
    assert done.stderr == ("cstrace: cannot write 'full.%s': File too large\n"
                           % kind)
    assert os.listdir(tmp_path) == []


def interrupt_saving(folder, name):
    """Once there is something to leave behind; returns the status."""
    before = sorted(os.listdir(folder))
    saving = subprocess.Popen([BUILD / "cstrace", "save", "t.cst", name],
                              cwd=folder)
    wait_for(lambda: sorted(os.listdir(folder)) != before, "a folder")
    saving.send_signal(signal.SIGINT)
    return saving.wait(240)


@pytest.mark.parametrize("kind", READ)
def test_an_interrupt_leaves_nothing(tmp_path, kind):
    record_source(tmp_path, """
int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) { return fib(28) < 0; }
""")
    before = sorted(os.listdir(tmp_path))
    for i in range(20):  # it may be too fast for us
        if interrupt_saving(tmp_path, "%d.%s" % (i, kind)):
            break
        before = sorted(os.listdir(tmp_path))
    else:
        raise AssertionError("never interrupted")
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("kind", READ)
def test_gdb_saves_the_same(gdb, tmp_path, kind):
    run = gdb(build("formats.cc"), "set cstrace live off", "cstrace start",
              "run", "cstrace save t." + kind, "cstrace save t.jsonl")
    lines = [json.loads(line) for line in
             (tmp_path / "t.jsonl").read_text().splitlines()]
    calls = [line for line in lines if "kind" not in line]
    assert "%d calls saved to t.%s" % (len(calls), kind) in run.said()
    check_calls(READ[kind](tmp_path / ("t." + kind)), calls)


def test_gdb_saves_when_the_trace_ends(gdb, tmp_path):
    gdb(build("formats.cc"), "set cstrace live off",
        "cstrace start -to t.uftrace", "run")
    assert uftrace_tasks(tmp_path / "t.uftrace")[1]
    assert uftrace_report(tmp_path / "t.uftrace")["main"] == 2
