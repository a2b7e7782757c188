# SPDX-License-Identifier: MIT
"""Where things are, and compiling what the benchmarks run."""

import glob
import os
import subprocess

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("BUILD") or
                        os.path.join(ROOT, "build"))
DIR = os.path.join(BUILD, "bench")
SHIM = os.path.join(BUILD, "libcstrace.so")
COMMAND = os.path.join(BUILD, "cstrace")
LOADER = os.path.join(ROOT, "cstrace.py")
GDB = os.environ.get("GDB") or "gdb"
CC = os.environ.get("CC") or "gcc"
CXX = os.environ.get("CXX") or "g++"

WARN = ["-Wall", "-Wextra", "-Werror"]
INCLUDE = ["-I" + HERE, "-I" + os.path.join(ROOT, "cshim", "include"),
           "-I" + os.path.join(ROOT, "cshim", "engine")]
HOOKS = ["-g", "-finstrument-functions"]
LEVELS = ("O0", "O2")


class Failed(Exception):
    """Something did not run: one line for the user."""


def built(name):
    """Path of a file in the benchmarks' own build folder."""
    return os.path.join(DIR, name)


def source(name):
    return os.path.join(HERE, name)


def engine_source(name):
    return os.path.join(ROOT, "cshim", "engine", name)


def _is_new(target, sources):
    made = os.path.getmtime(target) if os.path.exists(target) else 0
    return all(os.path.getmtime(s) < made for s in sources)


def _make(target, compiler, flags, sources, also=(), libraries=()):
    """Compile sources into target, unless it is newer."""
    headers = [source("workload.h"), *also, *glob.glob(os.path.join(
        ROOT, "cshim", "**", "*.h"), recursive=True)]
    if _is_new(target, sources + headers):
        return
    done = subprocess.run([compiler, *flags, *INCLUDE, *sources, "-o", target,
                           *libraries],
                          stdin=subprocess.DEVNULL, text=True,
                          capture_output=True)
    if done.returncode:
        raise Failed("cannot compile %s: %s" % (
            os.path.basename(target), done.stderr.strip().split("\n")[0]))


def _wide_source():
    path, generator = built("wide.cc"), source("generate-wide")
    if not _is_new(path, [generator]):
        with open(path, "w") as out:
            subprocess.run([generator], stdout=out, check=True)
    return path


def _programs():
    timed = built("timed.o")
    _make(timed, CC, ["-O2", "-D_GNU_SOURCE", *WARN, "-c"],
          [source("timed.c")])
    for name, text, more in (
            ("fib", source("fib.c"), []), ("wide", _wide_source(), []),
            ("loop", source("loop.c"), []),
            ("values-ints", source("values.c"), []),
            ("values-texts", source("values.c"), ["-DSHORT_TEXT"])):
        compiler = CXX if text.endswith(".cc") else CC
        for level in LEVELS:
            part = built("%s-%s.o" % (name, level))
            _make(part, compiler, ["-" + level, *WARN, *HOOKS, *more, "-c"],
                  [text])
            _make(built("%s-%s" % (name, level)), CXX, ["-pthread"],
                  [timed, part])
    for name, text, level, more in (
            ("plain-fib", source("fib.c"), "O2", []),
            ("plain-wide", _wide_source(), "O2", []),
            ("plain-loop", source("loop.c"), "O0", []),
            ("clock", source("clock.c"), "O2", []),
            ("roomy-fib", source("fib.c"), "O2",
             ["-fpatchable-function-entry=5"])):
        part = built(name + ".o")
        _make(part, CXX if text.endswith(".cc") else CC,
              ["-" + level, "-g", *WARN, *more, "-c"], [text])
        _make(built("%s-%s" % (name, level)), CXX, ["-pthread"], [timed, part])
    _make(built("own"), CC, ["-O2", "-DCSTRACE", *WARN], [source("own.c")])
    _make(built("sampled"), CC, ["-O1", *WARN], [source("sampled.c")])
    _make(built("waiting"), CC, ["-O0", *WARN, *HOOKS], [source("waiting.c")])


def _libraries():
    for name in ("bare", "targets", "starter"):
        _make(built(name + ".so"), CC,
              ["-O2", *WARN, "-fPIC", "-shared", "-fno-builtin"],
              [source(name + ".c")])
    area = [engine_source(name + ".c") for name in (
        "area/area", "area/area_file", "area/area_users", "base/error",
        "base/io", "base/utf8")]
    _make(built("handback"), CC,
          ["-O2", "-D_GNU_SOURCE", *WARN, "-pthread"],
          [source("handback.c"), *area])


def large_trace(path, size):
    """Write the trace of fib(size) there; returns its calls."""
    writer = built("trace")
    rooms = os.path.join("cshim", "engine", "*", "*.c")
    objects = [os.path.join(BUILD, "obj", name[:-2] + ".o")
               for name in sorted(glob.glob(rooms, root_dir=ROOT))]
    _make(writer, CC, ["-O2", "-D_GNU_SOURCE", *WARN],
          [source("trace.c"), *objects], libraries=[
              "-lpcre2-8", "-lzstd", "-ldw", "-lelf", "-lz", "-liberty",
              "-lZydis", "-lunwind-ptrace", "-lunwind-x86_64", "-lm",
              "-lpthread"])
    done = subprocess.run([writer, str(size), path], text=True,
                          stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        raise Failed(done.stderr.strip() or "no large trace was written")
    return int(done.stdout)


def make_all():
    for path in (SHIM, os.path.join(BUILD, "libcstrace-engine.so"), COMMAND):
        if not os.path.exists(path):
            raise Failed("%s is missing: run make first"
                         % os.path.relpath(path, ROOT))
    os.makedirs(DIR, exist_ok=True)
    _programs()
    _libraries()
