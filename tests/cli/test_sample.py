# SPDX-License-Identifier: MIT
"""cstrace record --sample: where a program without hooks spends its time."""

import ctypes
import gzip
import json
import math
import mmap
import os
import re
import subprocess
from pathlib import Path

import pytest

import lib_pprof
from lib_build import BUILD, build
from lib_cst import SAMPLES, STACKS, Trace
from lib_cstrace import LIMIT_S, command

# No frame pointers, and the work of each function where it stands.
FLAGS = ("-O2", "-fomit-frame-pointer")
LIB = Path(lib_pprof.__file__).parent
PARTS = {"one": 1 / 7, "two": 2 / 7, "four": 4 / 7}


def program(*flags, **options):
    return build("sampled.c", *FLAGS, *flags, is_traced=False, **options)


def sample(folder, *words, options=("--sample",)):
    done = command("record", *options, *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done


def rows(folder, *words):
    """The report's rows by function, and the number of samples."""
    done = command("report", "--format", "json", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["rows"]
    return ({row["name"]: row for row in found},
            sum(row["samples"] for row in found))


def most_error(folder, share):
    """How far a share of the samples may be from the truth: four times its
    standard error. A tick of the kernel is all the samples since the last one
    that found the thread running, few or many on a busy machine; what stands
    for several says no more than one."""
    trace = Trace((folder / "cstrace.cst").read_bytes())
    weights = [weight for _thread, _tick, _node, weight in trace.samples]
    n = sum(weights) ** 2 / sum(weight ** 2 for weight in weights)
    return 4 * math.sqrt(share * (1 - share) / n)


def check_parts(folder, found):
    n = sum(found[name]["samples"] for name in PARTS)
    assert n > 100
    for name, part in PARTS.items():
        share, error = found[name]["samples"] / n, most_error(folder, part)
        assert abs(share - part) < error, (name, share, part, error)


@pytest.mark.parametrize("way", ["plain", "alternate", "coroutine", "threads",
                                 "fork", "loader"])
def test_shares_are_those_of_the_work(tmp_path, way):
    rounds = 500 if way == "threads" else 2000
    done = sample(tmp_path, program(), way, rounds, options=["--sample=499"])
    assert done.stdout == "done\n"
    found, n = rows(tmp_path)
    if way == "loader":  # beside it another thread loads a library
        assert found["four"]["samples"] < n
    check_parts(tmp_path, found)
    # Whatever stack it is on, its callers are found.
    parts = sum(found[name]["self_ns"] for name in PARTS)
    assert found["all"]["total_ns"] > 0.98 * parts


def test_stripped_code_is_walked_all_the_same(tmp_path):
    app = program("-s", name="stripped")
    sample(tmp_path, app, "plain", 1000)
    found, n = rows(tmp_path)
    shares = sorted(row["samples"] / n for row in found.values())[-3:]
    assert all(abs(share - part) < 0.12
               for share, part in zip(shares, sorted(PARTS.values())))
    assert found["__libc_start_main"]["total_ns"] > 0.9 * sum(
        row["self_ns"] for row in found.values())


def test_each_stack_is_whole(tmp_path):
    sample(tmp_path, program(), "plain", 1000,
           options=["--sample", "-o", "t.cst"])
    trace = Trace((tmp_path / "t.cst").read_bytes())
    assert {SAMPLES, STACKS} <= set(trace.kinds)
    assert trace.rate[:2] == [997, 0] and trace.rate[2] in (1, 2)
    stacks = [trace.stack(node) for _thread, _tick, node, _n in trace.samples]
    inner = [s for s in stacks if s[0] in PARTS]
    assert len(inner) > 100
    for stack in inner:
        assert stack[1:3] == ["all", "main"] and stack[-1] == "_start", stack


def test_a_frame_pointer_that_is_no_address(tmp_path):
    sample(tmp_path, build("lost_frame.c", "-O2", is_traced=False))
    found, n = rows(tmp_path)
    assert found["work"]["samples"] > 0.9 * n > 0  # the others: its begin


def test_an_allocator_is_sampled(tmp_path):
    """The handler must not allocate: a thread in malloc has its lock."""
    done = sample(tmp_path, program(), "malloc", 3000,
                  options=["--sample=4999"])
    assert done.stdout == "done\n"
    found, _n = rows(tmp_path)
    assert any("malloc" in name or "free" in name for name in found)


def test_a_program_may_use_the_samplers_unwinder(tmp_path):
    """Its locks are taken with all signals blocked, by the program and by the
    handler: a sample meanwhile would wait for ever."""
    app = build("unwinds.c", "-lunwind-x86_64", is_traced=False)
    done = sample(tmp_path, app, 200000, options=["--sample=4999"])
    assert done.stdout == "200000 of 200000\n"
    found, _n = rows(tmp_path)
    assert "step_once" in found


def test_signals_remain_the_programs(tmp_path):
    done = sample(tmp_path, program(), "signals", 500)
    assert done.stdout == ("errno 1, handled 0, taken 1, own 1\n"
                           "strange 0\ndone\n")
    found, _n = rows(tmp_path)
    check_parts(tmp_path, found)


def test_the_clock_on_the_wall_sees_who_waits(tmp_path):
    sample(tmp_path, "sleep", "0.5", options=["--sample=200", "--wall"])
    found, n = rows(tmp_path)
    waits = [row["samples"] for name, row in found.items()
             if "nanosleep" in name]
    assert n > 20 and sum(waits) > 0.8 * n


# What sleeps.c waits in.
WAITS = {"in_nanosleep", "in_poll", "in_select", "in_epoll", "in_semop",
         "in_sigwait", "in_receive", "in_semaphore", "in_handler"}


@pytest.mark.parametrize("flags", [("-O0",), FLAGS], ids=["O0", "O2"])
def test_no_wait_is_cut_short(tmp_path, flags):
    """No signal comes to a thread that waits; its stack is whole all the
    same, with frame pointers and without."""
    app = build("sleeps.c", *flags, is_traced=False, name="sleeps%s" % flags[0])
    done = sample(tmp_path, app, 60, options=["--sample", "--wall"])
    assert done.stdout == "0 waits were cut short\n"
    found, _n = rows(tmp_path)
    for name in WAITS:
        below = found[name]["total_ns"] - found[name]["self_ns"]
        assert below > found["run_a_moment"]["self_ns"] / len(WAITS), name
    assert found["thread_main"]["total_ns"] > 0.95 * sum(
        found[name]["total_ns"] for name in WAITS - {"in_handler"})


def test_a_wait_before_the_first_call(tmp_path):
    """It is no part of the trace, and no look at it counts for what follows."""
    sample(tmp_path, build("late.c"), options=("--sample=2", "--wall"))
    trace = Trace((tmp_path / "cstrace.cst").read_bytes())
    assert sum(weight for _, _, _, weight in trace.samples) <= 2


def test_calls_and_samples_in_one_trace(tmp_path):
    app = build("sampled.c", *FLAGS)
    done = sample(tmp_path, app, "plain", 1000)
    assert re.search(r"300\d calls and \d+ samples in 1 thread", done.stderr)
    calls = command("report", "--fields", "calls", cwd=tmp_path).stdout
    assert re.search(r"^ +1000 +four$", calls, re.M), calls
    found, _n = rows(tmp_path, "--samples")
    check_parts(tmp_path, found)


OWN_FUNCTIONS = """
char *getenv(const char *name) { __builtin_puts(name); return (char *)name; }
int open(const char *path, int how, ...) { __builtin_puts(path); return how; }
long read(int fd, void *to, long n) { __builtin_puts("read"); return fd + n; }
int close(int fd) { __builtin_puts("close"); return fd; }
int main(void) { for (volatile int i = 0; i < 30000000; i++); }
"""


def test_no_function_of_the_programs_own_is_called(tmp_path):
    """Though it has the name of one of libc's."""
    (tmp_path / "a.c").write_text(OWN_FUNCTIONS)
    subprocess.run(["gcc", "a.c", "-o", "a"], cwd=tmp_path, check=True)
    assert sample(tmp_path, "./a").stdout == ""
    assert rows(tmp_path)[0]["main"]["samples"]


def test_a_program_that_ends_before_its_first_sample(tmp_path):
    done = sample(tmp_path, "/bin/true", options=("--sample=1",))
    assert "no samples: it ran too briefly" in done.stderr
    assert command("report", cwd=tmp_path).stderr == (
        "cstrace: no samples: the program ran too briefly, or only waited\n")


def test_a_program_that_is_static_is_told(tmp_path):
    (tmp_path / "a.c").write_text("int main(void) { return 3; }")
    subprocess.run(["gcc", "-static", "-o", "a", "a.c"], cwd=tmp_path,
                   check=True, timeout=LIMIT_S)
    done = command("record", "--sample", "./a", cwd=tmp_path)
    assert done.returncode == 3
    assert "no samples: the program did not load libcstrace-sample.so" \
        in done.stderr


@pytest.mark.parametrize("words, text", [
    (["--sample=0"], "bad value '0' for --sample"),
    (["--sample=x"], "bad value 'x' for --sample"),
    (["--sample=99999999"], "bad value '99999999' for --sample"),
    (["--wall"], "--wall is for --sample"),
    (["--sample", "--flight", "1M"], "--sample does not go with --flight"),
])
def test_what_does_not_go(tmp_path, words, text):
    done = command("record", *words, "/bin/true", cwd=tmp_path)
    assert done.returncode == 2 and text in done.stderr


# ---- formats ---------------------------------------------------------------

@pytest.fixture(scope="module", name="sampled")
def a_sampled_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sampled")
    sample(folder, program(), "plain", 1000,
           options=["--sample", "-o", "t.cst"])
    return folder


def save(folder, name, *options):
    done = command("save", "--force", *options, "t.cst", name, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / name


def test_pprof_reads_what_the_file_has(sampled):
    trace = Trace((sampled / "t.cst").read_bytes())
    found = lib_pprof.read(save(sampled, "t.pb.gz"))
    assert found.types == [("samples", "count"), ("cpu", "nanoseconds")]
    assert found.period == 1000000000 // 997
    assert any(path.endswith("/sampled") for path in found.mappings)
    ours, theirs = {}, {}
    for _thread, _tick, node, weight in trace.samples:
        key = tuple(name.partition("(")[0] for name in trace.stack(node))
        ours[key] = ours.get(key, 0) + weight
    for s in found.samples:
        key = tuple(s.stack)
        theirs[key] = theirs.get(key, 0) + s.values[0]
        assert s.values[1] == s.values[0] * 1000000000 // 997
    assert ours == theirs and len(ours) >= 3


def test_protoc_reads_the_same(sampled):
    """All fields are among those that are documented."""
    path = save(sampled, "t.pb.gz")
    done = subprocess.run(
        ["protoc", "--proto_path", str(LIB), "--decode=Profile",
         "profile.proto"], capture_output=True, check=False, timeout=LIMIT_S,
        input=gzip.decompress(path.read_bytes()))
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode()
    assert not re.search(r"^\s*\d+[:{ ]", text, re.M)  # a field without a name
    found = lib_pprof.read(path)
    assert text.count("\nsample {") == len(found.samples) > 0
    values = [int(v) for v in re.findall(r"^  value: (\d+)", text, re.M)]
    assert values == [v for s in found.samples for v in s.values]
    assert {'string_table: "%s"' % name for name in PARTS} <= set(
        text.splitlines())


def test_calls_are_a_profile_too(tmp_path):
    app = build("sampled.c", *FLAGS)
    done = command("record", "-o", "t.cst", app, "plain", 10, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = lib_pprof.read(save(tmp_path, "t.pb.gz"))
    assert found.types[0] == ("calls", "count")
    calls = {tuple(s.stack): s.values[0] for s in found.samples}
    assert calls[("four", "all", "main")] == 10


def test_folded_stacks_have_the_time_of_the_samples(sampled):
    _found, n = rows(sampled, "t.cst")
    total = in_main = 0
    for line in save(sampled, "t.folded").read_text().splitlines():
        stack, _, ns = line.rpartition(" ")
        total += int(ns)
        in_main += int(ns) if "main;all" in stack else 0
    assert in_main > 0.95 * total
    # Samples follow each other by a little more or less than a period.
    assert total == pytest.approx(n * 1e9 / 997, rel=0.2)


@pytest.mark.parametrize("name", ["t.json", "t.speedscope.json",
                                  "t.callgrind", "t.dot", "t.otlp.json",
                                  "t.jsonl"])
def test_what_is_made_of_calls_is_made_of_samples(sampled, name):
    assert "four" in save(sampled, name).read_text()


def test_a_page_of_samples(sampled):
    assert "<!doctype html>" in save(sampled, "t.html").read_text()[:20]


def test_rows_are_not_made_of_samples(sampled):
    done = command("save", "t.cst", "t.txt", cwd=sampled)
    assert done.returncode == 2 and "samples are no calls" in done.stderr


def test_a_file_is_the_same_trace_when_it_is_saved_again(sampled):
    save(sampled, "again.cst")
    assert rows(sampled, "again.cst") == rows(sampled, "t.cst")


def test_the_graph_and_the_last_stacks(sampled):
    shown = command("graph", "t.cst", cwd=sampled).stdout
    assert re.search(
        r"%  _start\n.*%  +main\n.*%  +all\n.*%  +four", shown, re.S)
    stacks = command("report", "--stacks", "t.cst", cwd=sampled).stdout
    # The last sample may be of what runs after main.
    assert re.match(r"# t1: sampled \(\d+\), at [\d.]+ s\n(_start\n  __libc"
                    r"|__do_global_dtors|_dl_|_fini)", stacks)


class Head(ctypes.Structure):
    """struct cst_samples of samples.h; processes and lanes follow."""
    _fields_ = [("magic", ctypes.c_uint64), ("size", ctypes.c_uint64),
                *((name, ctypes.c_uint32) for name in (
                    "hz", "clock", "source", "is_on", "n_processes",
                    "n_no_lane")),
                ("for_ticks", ctypes.c_uint64), ("each", ctypes.c_uint32)]


LANES_AT, LANE_SIZE, WORDS_AT = 4096 + 128 * 65536, 64 + 16384 * 8, 64


def test_where_interrupts_are_expensive_each_is_several_samples(tmp_path):
    """The recorder asks for that where it has measured that one costs much."""
    path = tmp_path / "memory"
    size = (LANES_AT + 1024 * LANE_SIZE + 4095) // 4096 * 4096
    with open(path, "w+b") as file:
        file.truncate(size)
        with mmap.mmap(file.fileno(), size) as memory:
            head = Head.from_buffer(memory)
            head.magic, head.size = 0x32736c706d617363, size
            head.hz, head.each, head.is_on = 1000, 4, 1
            ran = subprocess.run(
                [program(), "plain", "1000"], check=True, timeout=LIMIT_S,
                stdout=subprocess.PIPE, env={
                    **os.environ, "CSTRACE_SAMPLES": str(path),
                    "LD_PRELOAD": str(BUILD / "libcstrace-sample.so")})
            assert ran.stdout == b"done\n"
            source, words = head.source, memory[LANES_AT + WORDS_AT:
                                                LANES_AT + LANE_SIZE]
            end = int.from_bytes(memory[LANES_AT + 16:LANES_AT + 24], "little")
            del head
    if source != 2:
        pytest.skip("perf events are refused")
    at, weights = 0, []
    while at < min(end, len(words) // 8):
        first = int.from_bytes(words[8 * at:8 * at + 8], "little")
        weights.append(first >> 32)
        at += 2 + (first & 0xffff)
    assert len(weights) > 10 and set(weights) == {4}
