# SPDX-License-Identifier: MIT
"""Running programs, gdb and uftrace, and what they took."""

import contextlib
import fcntl
import os
import pty
import shutil
import struct
import subprocess
import termios
import threading
import time

import bench_build as build
from bench_build import Failed

LIMIT_S = 120  # for one run of anything; none takes a tenth of it

UFTRACE_DATA = build.built("uftrace.data")
OUT = build.built("out")

# gdb reads a program's debug information beside what comes next, in threads of
# its own: a question that needs it waits for them.
SYMBOLS_READ = "info line main"


def environment(**more):
    """Ours, without what would lead gdb or the programs elsewhere."""
    env = {k: v for k, v in os.environ.items()
           if k not in ("LD_PRELOAD", "DEBUGINFOD_URLS")}
    env["XDG_CACHE_HOME"] = build.built("cache")
    env["CSTRACE_LIBDIR"] = build.BUILD
    env.update(more)
    return env


def run(command, env=None, **more):
    """To its end, output thrown away; raises where it fails."""
    if "input" not in more:
        more["stdin"] = subprocess.DEVNULL
    more.setdefault("stdout", subprocess.DEVNULL)
    try:
        done = subprocess.run(
            command, env=env or environment(),
            stderr=subprocess.PIPE, timeout=LIMIT_S, text=True, **more)
    except subprocess.TimeoutExpired:
        raise Failed("%s did not end" % os.path.basename(command[0]))
    except OSError as e:
        raise Failed("cannot run %s: %s" % (command[0], e.strerror))
    if done.returncode:
        raise Failed("%s ended with %d: %s" % (
            " ".join(os.path.basename(c) for c in command[:2]),
            done.returncode, " ".join(done.stderr.split("\n")[-3:])))
    return done


class Took:
    """What timed.c wrote."""

    def __init__(self, path):
        try:
            with open(path) as f:
                words = dict(w.split("=") for w in f.read().split())
            os.unlink(path)
        except OSError:
            raise Failed("a program did not run to its end")
        self.calls = int(words["calls"])
        self.wall = int(words["wall"]) / self.calls
        self.cpu = int(words["cpu"]) / self.calls
        self.tracer_ns = int(words["tracer"])


def arguments(threads, size):
    return [str(threads), str(size), OUT]


def plain(program, threads, size, **env):
    run([build.built(program), *arguments(threads, size)], environment(**env))
    return Took(OUT)


def handed_back(program, threads, size):
    """Our shim, its chunks handed back unread."""
    shims = "%s:%s" % (build.built("starter.so"), build.SHIM)
    run([build.built("handback"), build.built(program),
         *arguments(threads, size)], environment(BENCH_PRELOAD=shims))
    return Took(OUT)


def uftrace(program, threads, size):
    shutil.rmtree(UFTRACE_DATA, ignore_errors=True)
    run(["uftrace", "record", "--no-libcall", "--no-event", "-d", UFTRACE_DATA,
         build.built(program), *arguments(threads, size)])
    return Took(OUT)


def gdb_command(program, args, words, with_cstrace):
    """gdb in batch: words are its commands, in order."""
    command = [build.GDB, "-nx", "-q", "-batch",
               "-iex", "set debuginfod enabled off"]
    if with_cstrace:
        command += ["-x", build.LOADER]
    for word in words:
        command += ["-ex", word]
    return [*command, "--args", build.built(program), *args]


# Its processor time (all threads, children apart), and the calls in the trace.
FIGURES = """python
import time
shown = gdb.execute("cstrace status", to_string=True).split("\\n")
calls = [row.split()[1] for row in shown if row.startswith("calls")]
with open("%s", "w") as f:
    f.write("%%d %%s" %% (time.process_time_ns(), calls[0].strip(",")))
"""


def _gdb_figures(path):
    try:
        with open(path) as f:
            cpu, calls = f.read().split()
        os.unlink(path)
    except (OSError, ValueError):
        raise Failed("gdb did not show the status of its trace")
    return int(cpu), int(calls)


# What a hook costs; the section values has what copying values adds.
BARE = ("set cstrace live off", "set cstrace args off",
        "set cstrace results off")


def traced(program, threads, size, before=BARE, options="", **more):
    """Under gdb with cstrace; .gdb_cpu: gdb's, from the workload's begin to
    the last call kept, for each call."""
    figures, script = build.built("figures"), build.built("figures.gdb")
    with open(script, "w") as f:
        f.write(FIGURES % figures + "end\n")
    run(gdb_command(program, arguments(threads, size),
                    [*before, SYMBOLS_READ, "cstrace start" + options, "run",
                     "source " + script], True), **more)
    took = Took(OUT)
    cpu, calls = _gdb_figures(figures)
    if calls != took.calls:
        raise Failed("%s made %d calls, the trace has %d"
                     % (program, took.calls, calls))
    took.gdb_cpu = (cpu - took.tracer_ns) / took.calls
    return took


def _drain(master):
    with contextlib.suppress(OSError):  # nobody has it open any more
        while os.read(master, 65536):
            pass


@contextlib.contextmanager
def terminal():
    """One of 120 columns, read as fast as it is written."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 40, 120, 0, 0))
    reader = threading.Thread(target=_drain, args=(master,), daemon=True)
    reader.start()
    try:
        yield slave
    finally:
        os.close(slave)
        reader.join()
        os.close(master)


def watched(program, threads, size, live):
    """Runs as traced() does, on a terminal, with `set cstrace live` on or off."""
    with terminal() as out:
        return traced(program, threads, size,
                      before=(*BARE, "set cstrace live " + live), stdout=out)


def under_gdb(program, threads, size, *words):
    """Under gdb without cstrace."""
    run(gdb_command(program, arguments(threads, size),
                    [SYMBOLS_READ, *words, "run"], False))
    return Took(OUT)


def seconds_into_pipe(command, env=None):
    """Wall time until the reader of the pipe has seen its end."""
    began = time.monotonic()
    with subprocess.Popen(command, env=env or environment(),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as writer:
        with subprocess.Popen(["wc", "-c"], stdin=writer.stdout,
                              stdout=subprocess.PIPE, text=True) as reader:
            writer.stdout.close()
            size = int(reader.communicate(timeout=LIMIT_S)[0])
    if writer.returncode or not size:
        raise Failed("%s wrote nothing, or failed" % " ".join(
            os.path.basename(c) for c in command[:2]))
    return time.monotonic() - began, size
