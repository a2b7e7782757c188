# SPDX-License-Identifier: MIT
"""gdb's steps where libcstrace.so stands before a function of libc's: the same lines
as without cstrace."""

import re
import shutil
import subprocess

import pytest

from lib_as_without import QUIET, comparable
from lib_build import Variant, build

MUSL = ("-Wl,--build-id,--eh-frame-hdr",)
# What comes before `break main` and behind it.
SHIMS = {"patched": (["cstrace start"], []),
         "with the border": (["cstrace start -border"], []),
         "stopped": (["cstrace start"], ["cstrace stop"]),
         "nothing traced": ([], [])}


@pytest.mark.wide("compiler level flags", "command way")
@pytest.mark.parametrize("way", SHIMS)
@pytest.mark.parametrize("command", ["step", "next", "until"])
@pytest.mark.parametrize("compiler, level, flags", [
    (compiler, level, flags) for level in ("-O0", "-O1", "-O2")
    for compiler, flags in (("musl-gcc", MUSL), ("gcc", ()))],
    ids=lambda v: "".join(v) if isinstance(v, tuple) else v)
def test_steps_follow_a_longjmp(gdb, compiler, level, flags, command, way):
    """musl is the dynamic linker, through which gdb steps.  libcstrace.so, which
    has a longjmp() of its own, is not, be something traced or not."""
    if not shutil.which(compiler):
        pytest.skip("there is no %s" % compiler)
    program = build("jumps_back.c", *flags, variant=Variant(compiler, level),
                    is_traced=False)
    commands = ["set print frame-arguments none", *[command] * 50]
    alone = gdb(program, "break main", "run", *commands, loader=None)
    before, behind = SHIMS[way]
    run = gdb(program, *QUIET, *before, "break main", "run", *behind,
              *commands)
    assert comparable(run.out) == comparable(alone.out)


OPENS = """
#include <dlfcn.h>
int main(void)
{
	void *h = dlopen("./opened.so", RTLD_NOW);
	int (*get)(void) = h ? (int (*)(void))dlsym(h, "get") : 0;

	return get ? get() - 5 : 1;
}
"""
OPENED = """
static int n;
__attribute__((constructor)) static void begin(void)
{
	n = 5;
}
int get(void)
{
	return n;
}
"""


@pytest.mark.parametrize("way", SHIMS)
@pytest.mark.parametrize("compiler, flags", [("musl-gcc", MUSL), ("gcc", ())])
def test_steps_follow_dlopen(gdb, tmp_path, compiler, flags, way):
    """To the constructor, and past what the linker calls of libcstrace.so, where
    gdb has a breakpoint to patch what was opened."""
    if not shutil.which(compiler):
        pytest.skip("there is no %s" % compiler)
    for name, text, *more in (("opens", OPENS, "-ldl"),
                              ("opened.so", OPENED, "-shared", "-fPIC")):
        (tmp_path / "one.c").write_text(text)
        subprocess.run([compiler, "-g", "-O0", "one.c", *more, *flags, "-o", name],
                       cwd=tmp_path, check=True, timeout=100)
    program = tmp_path / "opens"
    commands = ["set print frame-arguments none", *["step"] * 9, "bt 1",
                "break get", "continue", "bt 1"]
    alone = gdb(program, "break main", "run", *commands, loader=None)
    before, behind = SHIMS[way]
    run = gdb(program, *QUIET, *before, "break main", "run", *behind, *commands,
              "finish", *["cstrace show"] * bool(before and not behind))
    assert comparable(run.out).startswith(comparable(alone.out))
    if before and not behind:
        assert re.findall(r"^ +\d.*  (main|begin|get)\b", run.out, re.M) == [
            "main", "begin", "get"]
