# SPDX-License-Identifier: MIT
"""Builds the test programs, each variant once in a run of the tests."""

import atexit
import fcntl
import functools
import os
import shutil
import subprocess
import tempfile
import zlib
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).resolve().parent.parent
ROOT = TESTS.parent
TARGETS = TESTS / "targets"
BUILD = ROOT / "build"

_CXX = {"gcc": "g++", "clang": "clang++"}


class Variant(NamedTuple):
    """One way to compile."""

    compiler: str = "gcc"
    level: str = "-O0"
    is_pie: bool = True

    def __str__(self):
        return "%s%s%s" % (self.compiler, self.level,
                           "" if self.is_pie else "-nopie")


VARIANTS = [Variant(compiler, level, is_pie) for compiler in ("gcc", "clang")
            for level in ("-O0", "-O2") for is_pie in (True, False)]
# Where all eight would show nothing more.
FOUR = [v for v in VARIANTS if v.is_pie]


@functools.lru_cache(maxsize=None)
def folder():
    """For what this process makes; gone at its end."""
    path = tempfile.mkdtemp(prefix="cstrace-tests-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


def builds():
    """For programs: one folder for all processes that tools/run-tests begins."""
    return Path(os.environ.get("TEST_BUILDS") or folder())


def once(path, make):
    """The path, for which make() was called by the first process that asks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    name = builds() / ("%08x" % zlib.crc32(str(path).encode()))
    with open(name.with_suffix(".lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not name.with_suffix(".made").exists():
            make()
            name.with_suffix(".made").touch()
    return path


def _compile(command, variant, key, name):
    def make():
        done = subprocess.run([*command, "-o", str(out)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=240)
        assert done.returncode == 0, "%s\n%s" % (" ".join(command), done.stdout)

    where = "%s-%x" % (variant, zlib.crc32(repr(key).encode()))
    out = builds() / where / name
    return once(out, make)


@functools.lru_cache(maxsize=None)
def build(source, *flags, variant=Variant(), name=None, is_traced=True):
    """The path of tests/targets/SOURCE, compiled."""
    path = TARGETS / source
    is_cxx = path.suffix == ".cc"
    compiler = _CXX[variant.compiler] if is_cxx else variant.compiler
    command = [compiler, variant.level, "-g", str(path), "-pthread"]
    if not variant.is_pie:
        command += ["-no-pie", "-fno-pie"]
    if is_traced:
        command.append("-finstrument-functions")
    return _compile(command + list(flags), variant, (source, flags, is_traced),
                    name or path.stem)


@functools.lru_cache(maxsize=None)
def build_library(source, *flags, variant=Variant(), name=None,
                  is_traced=True):
    """Builds the source as a shared library."""
    command = [variant.compiler, variant.level, "-g", "-fPIC", "-shared",
               str(source if os.path.isabs(source) else TARGETS / source)]
    if is_traced:
        command.append("-finstrument-functions")
    return _compile(command + list(flags), variant, (source, flags, is_traced),
                    name or "lib%s.so" % Path(source).stem)


def line_of(source, text, nth=1):
    """The number of the NTH line of a target in which TEXT stands."""
    lines = (TARGETS / source).read_text().splitlines()
    found = [i for i, line in enumerate(lines, 1) if text in line]
    assert len(found) >= nth, "%s has no line with %r" % (source, text)
    return found[nth - 1]
