# SPDX-License-Identifier: MIT
"""A short run of the fuzzers, which tries the same each time; `make fuzz` is
the long one."""

import os
import shutil
import subprocess

import pytest

from lib_build import ROOT

RUNS = 1000  # of each of five
LIMIT_S = 1800  # it builds them first, sanitized
# To optimize them takes seven times as long as it saves in so short a run.
BUILD = ["FUZZ=build/fuzz-short", "FUZZ_CFLAGS=-O0 -gline-tables-only"]


def has_fuzzer(tmp_path):
    """clang, with the library that Debian packs apart from it."""
    if not shutil.which("clang"):
        return False
    source = tmp_path / "f.c"
    source.write_text("int LLVMFuzzerTestOneInput(const char *p, long n)"
                      "{ return p && n < 0; }\n")
    return subprocess.run(["clang", "-fsanitize=fuzzer", "f.c", "-o", "f"],
                          cwd=tmp_path, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


@pytest.mark.limit(LIMIT_S)
def test_the_fuzzer_finds_nothing(tmp_path):
    if not has_fuzzer(tmp_path):
        pytest.skip("clang has no libFuzzer here")
    kept = {k: v for k, v in os.environ.items()
            if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CC", "CXX")}
    done = subprocess.run(["make", "-s", "fuzz", "RUNS=%d" % RUNS,
                           "SEED=1", *BUILD],
                          cwd=ROOT, env=kept, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", timeout=LIMIT_S,
                          check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert done.stdout.count("number_of_executed_units") == 5
