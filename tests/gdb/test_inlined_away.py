# SPDX-License-Identifier: MIT
"""Functions that the compiler inlined have no calls in a program without hooks:
messages on their names tell so."""

import subprocess

import pytest

from lib_cstrace import cstrace
from lib_gdb import run_gdb

SOURCE = r"""
#include <cstdio>
#ifndef KEPT
#define KEPT inline
#endif
namespace shop {
static KEPT int half(int n) { return n / 2 + n % 3; }
static inline int price(int n) { return half(n) * half(n + 5); }
__attribute__((noinline)) int order(int n)
{
	__asm__ volatile("");
	return price(n) + half(n + 9);
}
__attribute__((noinline)) int never(int n)
{
	__asm__ volatile("");
	return n;
}
}
int main(int c, char **v)
{
	std::printf("%d\n", shop::order(c + 6));
	return c > 5 ? shop::never(c) : 0;
}
"""


def compiled(folder, *flags, compiler="g++"):
    (folder / "app.cc").write_text(SOURCE)
    subprocess.run([compiler, "app.cc", "-o", "app", "-O2", *flags], cwd=folder,
                   check=True)
    return folder / "app"


def words(folder, *flags):
    """What the command says of names that have no calls."""
    compiled(folder, *flags)
    done = cstrace(folder, "record", "--force", "./app")
    assert done.status == 0, done.err
    return {word: cstrace(folder, "calls", "cstrace.cst", word).err.strip()
            for word in ("half", "shop::price", "never", "order", "hal.",
                         "ordre")}


@pytest.mark.parametrize("split", [False, True], ids=["one file", "debug file"])
def test_the_command_says_in_how_many_places(tmp_path, split):
    compiled(tmp_path, "-g")
    if split:
        said = {}
        for line in (["objcopy", "--only-keep-debug", "app", "app.debug"],
                     ["strip", "-g", "app"],
                     ["objcopy", "--add-gnu-debuglink=app.debug", "app"]):
            subprocess.run(line, cwd=tmp_path, check=True)
        cstrace(tmp_path, "record", "--force", "./app")
        for word in ("half", "shop::price"):
            said[word] = cstrace(tmp_path, "calls", "cstrace.cst",
                                 word).err.strip()
    else:
        said = words(tmp_path, "-g")
        assert said["never"] == "cstrace: no function matches 'never'"
        assert said["hal."] == "cstrace: no function matches 'hal.'"
        assert "did you mean" in said["ordre"] and not said["order"]
    assert said["half"] == ("cstrace: no function matches 'half': it was "
                            "inlined in 3 places")
    assert said["shop::price"] == ("cstrace: no function matches 'shop::price'"
                                   ": it was inlined in 1 place")


def test_without_debug_information_it_is_not_known(tmp_path):
    assert words(tmp_path)["half"] == "cstrace: no function matches 'half'"


def test_with_hooks_inlined_calls_are_seen(tmp_path):
    said = words(tmp_path, "-g", "-finstrument-functions")
    assert not said["half"] and not said["order"]
    assert said["never"] == "cstrace: no function matches 'never'"


def test_another_program_of_that_name_is_not_asked(tmp_path):
    words(tmp_path, "-g")
    compiled(tmp_path, "-g", "-fno-unroll-loops", "-DOTHER")
    said = cstrace(tmp_path, "calls", "cstrace.cst", "half").err
    assert "inlined" not in said


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_check_counts_them(tmp_path, compiler):
    def row(*flags):
        compiled(tmp_path, "-g", *flags, compiler=compiler)
        done = cstrace(tmp_path, "check", "--patch", "app")
        return [line.strip() for line in done.out.splitlines()
                if line.startswith("  inlined")]

    assert row() == ["inlined     2 more have no code of their own, and so no "
                     "calls"]
    assert row("-DKEPT=__attribute__((noinline))") == [
        "inlined     1 more has no code of its own, and so no calls"]
    assert not row("-O0")
    done = cstrace(tmp_path, "check", "--patch=order", "app")
    assert "inlined" not in done.out


def test_the_line_of_what_is_patched_counts_them(tmp_path):
    app = compiled(tmp_path, "-g")
    for _is_cached in range(2):
        done = cstrace(tmp_path, "record", "--force", "./app")
        assert "; 2 more were inlined everywhere\n" in done.err
        out = run_gdb(tmp_path, app, "cstrace start").out
        assert "; 2 more were inlined everywhere\n" in out
    compiled(tmp_path, "-g", "-DKEPT=__attribute__((noinline))")
    done = cstrace(tmp_path, "record", "--force", "./app")
    assert "; 1 more was inlined everywhere\n" in done.err


def test_gdb_says_so_too(tmp_path):
    app = compiled(tmp_path, "-g")
    out = run_gdb(tmp_path, app, "set cstrace live off",
                  "set cstrace filter half", "cstrace start",
                  "set cstrace filter", "cstrace stop-when price", "run",
                  "cstrace calls shop::half").out
    assert "no function matches 'half': it was inlined in 3 places" in out
    assert "no function matches 'price': it was inlined in 1 place\n" in out
    assert "no function matches 'shop::half': it was inlined in 3 places" in out
