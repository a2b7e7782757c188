# SPDX-License-Identifier: MIT
"""cstrace top: where the time goes while a program runs."""

import os
import re
import subprocess

import pexpect
import pytest

from lib_build import BUILD, build
from lib_cstrace import LIMIT_S, cstrace
from test_sample import PARTS, sample

FLAGS = ("-O2", "-fomit-frame-pointer")
FOREVER = 10**9
HEAD = re.compile(r"(\S.*): (\d+) (samples|calls) in (\d+) threads?, [\d.]+ s")


@pytest.fixture(name="process")
def a_process():
    """A program of two threads and more that runs until the test ends."""
    with subprocess.Popen([str(build("sampled.c", *FLAGS, is_traced=False)),
                           "threads", str(FOREVER)],
                          stdout=subprocess.DEVNULL) as one:
        yield one
        one.kill()


def terminal(folder, *words, rows=24, columns=80):
    child = pexpect.spawn(str(BUILD / "cstrace"), [*map(str, words)],
                          cwd=str(folder), dimensions=(rows, columns),
                          env={**os.environ, "TERM": "xterm"},
                          timeout=LIMIT_S, encoding="utf-8")
    child.delaybeforesend = None
    return child


def end(child):
    child.expect(pexpect.EOF)
    child.wait()
    child.close()
    return child.exitstatus


def test_a_process_without_a_terminal(tmp_path, process):
    done = cstrace(tmp_path, "top", "-p", str(process.pid), "--for", "1s",
                   "--hz", "200", TMPDIR=str(tmp_path))
    assert (done.status, done.err) == (0, "")
    head, _, rest = done.out.partition("\n")
    assert HEAD.match(head)[1] == "process %d" % process.pid
    functions, stacks = rest.strip().split("\n\n")
    assert any(line.endswith(" four") for line in functions.splitlines())
    assert re.search(r"^t\d+: \S+ \(\d+\)  .* < all", stacks, re.M)
    assert not list(tmp_path.iterdir())  # nothing is kept
    assert process.poll() is None


IN_LIBC = """
#include <string.h>
static char text[1 << 24];
int main(void) { for (;;) memset(text, text[7] + 1, sizeof(text)); }
"""


def test_a_process_that_is_always_in_libc(tmp_path):
    """No library can be loaded there: it is sampled from outside."""
    (tmp_path / "a.c").write_text(IN_LIBC)
    subprocess.run(["gcc", "-O2", "a.c", "-o", "a"], cwd=tmp_path, check=True)
    with subprocess.Popen(["./a"], cwd=tmp_path) as one:
        done = cstrace(tmp_path, "top", "-p", str(one.pid), "--for", "2s")
        one.kill()
    assert done.status == 0 and "memset" in done.out, done.err
    assert "is sampled from outside" in done.err


def test_a_complete_trace(tmp_path):
    sample(tmp_path, build("sampled.c", *FLAGS, is_traced=False), "plain", 500)
    done = cstrace(tmp_path, "top", "--limit", "2", "--sort", "self")
    assert (done.status, done.err) == (0, "")
    head, functions, stacks = done.out.strip().split("\n\n")
    assert HEAD.fullmatch(head)[1] == "cstrace.cst"
    assert len(functions.splitlines()) == 3
    assert functions.splitlines()[1].split()[-1] in PARTS
    assert stacks.startswith("t1: ") and stacks.endswith(" < _start")


def n_samples(picture):
    rows = picture.split("\n\n")[1].splitlines()[1:]
    return sum(int(row.split()[-2]) for row in rows)


def test_only_what_is_recent(tmp_path):
    sample(tmp_path, build("sampled.c", *FLAGS, is_traced=False), "plain", 2000)
    whole = cstrace(tmp_path, "top", "--limit", "0", "--recent", "0").out
    half_ms = 500 * float(re.search(r"([\d.]+) s$", whole, re.M)[1])
    part = cstrace(tmp_path, "top", "--limit", "0", "--recent",
                   "%dms" % half_ms).out
    assert "; below: the last " in part
    assert 0 < n_samples(part) < n_samples(whole)


def test_calls_are_shown_as_well(tmp_path):
    app = build("sampled.c", *FLAGS)
    assert cstrace(tmp_path, "record", str(app), "plain", "10").status == 0
    done = cstrace(tmp_path, "top")
    assert HEAD.match(done.out)[3] == "calls" and " four\n" in done.out


@pytest.mark.parametrize("key", ["q", "\x03"], ids=["q", "ctrl-c"])
def test_a_picture_is_drawn_anew(tmp_path, process, key):
    child = terminal(tmp_path, "top", "-p", process.pid, "--every", "200ms")
    for _ in range(2):
        child.expect(r"\x1b\[Hprocess \d+: .*\(q ends\)")
        child.expect(r" (one|two|four)\x1b\[K")
        child.expect(r"t\d+: .* < all")
    child.send(key)
    assert end(child) == 0
    assert process.poll() is None


def test_a_picture_fits_into_the_terminal(tmp_path, process):
    child = terminal(tmp_path, "top", "-p", process.pid, rows=8, columns=40)
    child.expect(r"\x1b\[Hprocess(.*?)\x1b\[J")
    lines = [re.sub(r"\x1b\[.", "", line)
             for line in ("process" + child.match[1]).split("\r\n")]
    child.send("q")
    assert end(child) == 0
    assert len(lines) <= 8 and max(map(len, lines)) <= 40


def test_a_trace_that_grows_is_followed_to_its_end(tmp_path):
    app = build("sampled.c", *FLAGS, is_traced=False)
    with subprocess.Popen([BUILD / "cstrace", "record", "--sample", app,
                           "plain", "6000"], cwd=tmp_path,
                          stdout=subprocess.DEVNULL) as record:
        while not (tmp_path / "cstrace.cst").exists():
            assert record.poll() is None
        child = terminal(tmp_path, "top", "--every", "100ms")
        child.expect(r"cstrace\.cst: [1-9]\d* samples in 1 thread")
        assert end(child) == 0  # by itself, as the program ends
        assert record.wait(timeout=LIMIT_S) == 0


@pytest.mark.parametrize("words, said", [
    (["--hz", "5"], "cstrace top: --hz, --wall and --outside are for -p PID: a "
                    "trace is as it is\n"),
    (["-p", "1", "other.cst"], "cstrace top: either a trace or a process: "
                               "'other.cst' or -p 1\n"),
    (["-p", "1", "--hz", "5000", "--outside"],
     "cstrace top: from outside no more than 2000 samples a second are taken\n"),
    (["--sort", "age"], "cstrace top: bad value 'age' for --sort"),
])
def test_bad_usage(tmp_path, words, said):
    done = cstrace(tmp_path, "top", *words)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(said)


def test_no_such_process_and_no_such_trace(tmp_path):
    done = cstrace(tmp_path, "top", "-p", "99999999", TMPDIR=str(tmp_path))
    assert (done.status, done.out) == (1, "")
    assert done.err == "cstrace: there is no process 99999999\n"
    assert not list(tmp_path.iterdir())
    done = cstrace(tmp_path, "top")
    assert done.status == 1 and "cstrace.cst" in done.err
