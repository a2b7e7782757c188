# SPDX-License-Identifier: MIT
"""The section save: fib(32)'s calls out of the record, as text and report,
and gdb's memory meanwhile; that of the readers with 10^8 calls."""

import os
import subprocess
import threading

import bench_build as build
import running
from bench_build import Failed
from table import median, rounds

PROGRAM, SIZE, LARGER = "fib-O0", 32, 35
TRACE = build.built("fib.cst")
TEXT = build.built("fib.txt")
LARGE, LARGE_SIZE = build.built("large.cst"), 38

# 10^8 calls of 2200 functions in 64 threads, and those who keep most of them.
CROWD, CROWD_ARGS = build.built("crowd.cst"), (64, 4000)
PAGE = os.path.join(build.BUILD, "page.html")  # made where npm is
READERS = {
    "show": ("show", CROWD),
    "report": ("report", CROWD),
    "save .json": ("save", CROWD, "-", "--format", "json"),
    "save .folded": ("save", CROWD, "-", "--format", "folded"),
    "save .callgrind": ("save", CROWD, "-", "--format", "callgrind"),
    "save .html": ("save", CROWD, "-", "--format", "html"),
    "diff": ("diff", CROWD, CROWD),
}


def _record():
    running.uftrace(PROGRAM, 1, SIZE)
    running.traced(PROGRAM, 1, SIZE)
    save = running.gdb_command(
        PROGRAM, running.arguments(1, SIZE),
        [*running.BARE, "cstrace start", "run", "cstrace save " + TRACE],
        True)
    running.run(save)
    if not os.path.exists(TRACE):
        raise Failed("gdb saved no trace")


def _peer(*words):
    return running.seconds_into_pipe(
        ["uftrace", *words, "--no-pager", "-d", running.UFTRACE_DATA])


def _ours(*words):
    return running.seconds_into_pipe([build.COMMAND, *words, TRACE])


def _compare(table):
    got = rounds({
        "show": lambda: _ours("show"),
        "replay": lambda: _peer("replay"),
        "report": lambda: _ours("report"),
        "peer report": lambda: _peer("report"),
    })
    took = {name: median(runs, lambda r: r[0]) for name, runs in got.items()}
    size = {name: runs[0][1] / 1e6 for name, runs in got.items()}
    table.row("text, %.0f MB" % size["show"], "%.3f s" % took["show"],
              "%.2f s uftrace replay, %.0f MB" % (took["replay"],
                                                 size["replay"]),
              took["replay"] / took["show"], (">=", 10))
    table.row("report", "%.3f s" % took["report"],
              "%.2f s uftrace report" % took["peer report"],
              took["peer report"] / took["report"], (">=", 8))


def _chrome(table):
    """Three rounds: the peer takes its time."""
    got = rounds({
        "ours": lambda: running.seconds_into_pipe(
            [build.COMMAND, "save", TRACE, "-", "--format", "json"]),
        "peer": lambda: _peer("dump", "--chrome"),
    }, 3)
    took = {name: median(runs, lambda r: r[0]) for name, runs in got.items()}
    size = {name: runs[0][1] / 1e6 for name, runs in got.items()}
    table.row("Chrome JSON, %.0f MB" % size["ours"], "%.3f s" % took["ours"],
              "%.2f s uftrace dump, %.0f MB" % (took["peer"], size["peer"]),
              took["peer"] / took["ours"], (">=", 8))


def _middle(table):
    """Parts of a trace that is too large to be gone through."""
    n_calls = build.large_trace(LARGE, LARGE_SIZE)
    parts = {
        "show --around its middle": ("show", "--around", "1.%d"
                                     % (n_calls // 2)),
        "show --last 100": ("show", "--last", "100"),
    }
    got = rounds({name: lambda words=words: running.seconds_into_pipe(
        [build.COMMAND, *words, LARGE]) for name, words in parts.items()})
    os.unlink(LARGE)
    for name, runs in got.items():
        took = median(runs, lambda r: r[0])
        table.row(name, "%.3f s" % took, "of %.0f million calls"
                  % (n_calls / 1e6), took * 1000, ("<=", 100), "ms")


def _anonymous_kb(pid):
    try:
        with open("/proc/%d/status" % pid) as f:
            for line in f:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0


class Watch(threading.Thread):
    """The largest anonymous memory of a process, seen 100 times a second."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self._process = process
        self._ended = threading.Event()
        self.peak_kb = 0

    def run(self):
        while not self._ended.wait(0.01):
            self.peak_kb = max(self.peak_kb, _anonymous_kb(self._process.pid))

    def end(self):
        self._ended.set()
        self.join()


def _peak_kb(size):
    """The peak memory of gdb, recording, reporting and saving fib(size)."""
    words = ["set cstrace live off", "cstrace start", "run"]
    if size > 1:
        words += ["cstrace report", "cstrace save " + TEXT]
    command = running.gdb_command(PROGRAM, running.arguments(1, size), words,
                                  True)
    process = subprocess.Popen(
        command, env=running.environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    watch = Watch(process)
    watch.start()
    try:
        process.wait(running.LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    watch.end()
    running.Took(running.OUT)
    if process.returncode:
        raise Failed("gdb ended with %d" % process.returncode)
    return watch.peak_kb


def _memory(table):
    """Once each: memory does not scatter as times do."""
    base = _peak_kb(1)
    for size in (SIZE, LARGER):
        peak = _peak_kb(size)
        table.row("gdb's memory, fib(%d)" % size, "%.0f MiB" % (peak / 1024),
                  "%.0f MiB after one call" % (base / 1024),
                  (peak - base) / 1024, ("<=", 64), "MiB")
    os.unlink(TEXT)


def _most_kb(words):
    """The most memory of one reader; its file is mapped, but hardly resident."""
    pid = os.posix_spawn(
        build.COMMAND, [build.COMMAND, *words], running.environment(),
        file_actions=[(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0)
                      for fd in (0, 1, 2)])
    _, status, used = os.wait4(pid, 0)
    if status:
        raise Failed("cstrace %s failed" % words[0])
    return used.ru_maxrss


def _readers(table):
    running.run([build.COMMAND, "record", "-o", CROWD, build.built("wide-O2"),
                 *running.arguments(*CROWD_ARGS)])
    n_calls = running.Took(running.OUT).calls
    for name, words in READERS.items():
        if "html" in words and not os.path.exists(PAGE):
            continue
        kb = _most_kb(words)
        table.row("%s: memory" % name, "%.0f MiB" % (kb / 1024),
                  "%.0f million calls, %d threads" % (n_calls / 1e6,
                                                      CROWD_ARGS[0]),
                  kb / 1024, ("<=", 128), "MiB")
    os.unlink(CROWD)


def save(table):
    table.section("save", "the record of fib(%d) into a pipe, names and all"
                  % SIZE)
    _record()
    _compare(table)
    _middle(table)
    _chrome(table)
    _memory(table)
    _readers(table)
