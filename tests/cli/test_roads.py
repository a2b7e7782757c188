# SPDX-License-Identifier: MIT
"""record takes each file's hooks, and patches the files that have none."""

import json
import subprocess

import pytest

from lib_build import BUILD, Variant, build, build_library
from lib_cstrace import command

SOURCE = r"""
__attribute__((noinline)) int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
int main(void)
{
	return fib(4);
}
"""
FIB = ["fib"] * 9


def compiled(folder, *flags):
    (folder / "app.c").write_text(SOURCE)
    subprocess.run(["gcc", "-g", "-O1", "app.c", *flags, "-o", "app"],
                   cwd=folder, check=True)
    return "./app"


def recorded(folder, *words):
    """What record says, and the functions of the calls in its trace."""
    done = command("record", *words, cwd=folder)
    saved = command("save", "--force", "cstrace.cst", "out.jsonl", cwd=folder)
    assert saved.returncode == 0, saved.stderr
    lines = (folder / "out.jsonl").read_text().splitlines()
    return done, [json.loads(line)["name"] for line in lines]


def test_which_functions_are_patched_can_be_chosen(tmp_path):
    app = compiled(tmp_path, "-O1")
    done, names = recorded(tmp_path, "--patch=^fib$", app)
    assert "patched 1 function of app" in done.stderr
    assert names == FIB
    done = command("record", "--keep-size", "100000", app, cwd=tmp_path)
    assert done.returncode == 3 and "no calls" in done.stderr
    done = command("record", "--patch=(", app, cwd=tmp_path)
    assert done.returncode == 1 and "cstrace: " in done.stderr


def test_hooks_alone_when_that_is_asked_for(tmp_path):
    app = compiled(tmp_path, "-O1")
    done = command("record", "--hooks", app, cwd=tmp_path)
    assert "it has no hooks: compile it with" in done.stderr
    assert "patched" not in done.stderr


@pytest.mark.parametrize("options", [[], ["--patch"], ["--hooks"]], ids=str)
def test_functions_with_hooks_are_not_patched(tmp_path, options):
    app = compiled(tmp_path, "-finstrument-functions")
    done, names = recorded(tmp_path, *options, app)
    assert names == ["main", *FIB]
    assert ("left out 2 as each reports its calls by itself" in done.stderr
            ) == (options == ["--patch"])
    assert ("patched" in done.stderr) == (options == ["--patch"])


@pytest.mark.parametrize("hooked", ["program", "library"])
@pytest.mark.parametrize("options", [[], ["--patch"], ["--hooks"]], ids=str)
def test_each_file_is_traced_as_it_was_compiled(tmp_path, hooked, options):
    variant = Variant(level="-O2")
    library = build_library("mixed_library.c", variant=variant,
                            is_traced=hooked == "library")
    app = build("mixed.c", str(library), "-Wl,-rpath," + str(library.parent),
                variant=variant, is_traced=hooked == "program")
    done, names = recorded(tmp_path, *options, app)
    assert done.returncode == 0
    if options == ["--hooks"]:
        assert set(names) == ({"main", "back", "own"} if hooked == "program"
                              else {"lib_twice", "lib_leaf"})
        return
    assert names == ["main", "lib_twice", "back", "own", "lib_leaf", "back",
                     "own", "lib_leaf", "lib_leaf"]
    patched = library.name if hooked == "program" else app.name
    assert "functions of " + patched in done.stderr
    assert "libcstrace" not in done.stderr


WORDS = r"""
#include <cstrace/cstrace.h>
__attribute__((noinline)) int own(int a)
{
	CSTRACE_SPAN("said");
	return a + 1;
}
int main(void) { return own(3); }
"""


@pytest.mark.parametrize("options, names", [
    ([], ["said"]), (["--patch"], ["main", "own", "said"])], ids=str)
def test_a_program_that_says_something_itself(tmp_path, options, names):
    """Nothing else is recorded of it, unless that is asked for."""
    (tmp_path / "app.c").write_text(WORDS)
    subprocess.run(["gcc", "-g", "-O1", "-DCSTRACE", "-I", BUILD.parent /
                    "cshim/include", "app.c", "-o", "app"], cwd=tmp_path,
                   check=True)
    assert recorded(tmp_path, *options, "./app")[1] == names
