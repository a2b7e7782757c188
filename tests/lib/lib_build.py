# SPDX-License-Identifier: MIT
"""Builds the test programs, each variant once in a session."""

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
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
    """For all that the session builds; gone at its end."""
    path = tempfile.mkdtemp(prefix="cstrace-tests-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


def _compile(command, out):
    out.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([*command, "-o", str(out)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=240)
    assert done.returncode == 0, "%s\n%s" % (" ".join(command), done.stdout)
    return out


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
    out = "%s-%x" % (variant, hash((source, flags, is_traced)) & 0xFFFFFFFF)
    return _compile(command + list(flags),
                    folder() / out / (name or path.stem))


@functools.lru_cache(maxsize=None)
def build_library(source, *flags, variant=Variant(), name=None,
                  is_traced=True):
    """Builds the source as a shared library."""
    command = [variant.compiler, variant.level, "-g", "-fPIC", "-shared",
               str(source if os.path.isabs(source) else TARGETS / source)]
    if is_traced:
        command.append("-finstrument-functions")
    name = name or "lib%s.so" % Path(source).stem
    out = "%s-%x" % (variant, hash((source, flags, is_traced)) & 0xFFFFFFFF)
    return _compile(command + list(flags), folder() / out / name)


def line_of(source, text, nth=1):
    """The number of the NTH line of a target in which TEXT stands."""
    lines = (TARGETS / source).read_text().splitlines()
    found = [i for i, line in enumerate(lines, 1) if text in line]
    assert len(found) >= nth, "%s has no line with %r" % (source, text)
    return found[nth - 1]
