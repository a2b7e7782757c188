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
def test_a_step_passes_over_dlopen(gdb, tmp_path, compiler, flags, way):
    """What it does in libcstrace.so is not for the user."""
    if not shutil.which(compiler):
        pytest.skip("there is no %s" % compiler)
    for name, text, *more in (("opens", OPENS, "-ldl"),
                              ("opened.so", OPENED, "-shared", "-fPIC")):
        (tmp_path / "one.c").write_text(text)
        subprocess.run([compiler, "-g", "-O0", "one.c", *more, *flags, "-o", name],
                       cwd=tmp_path, check=True, timeout=100)
    before, behind = SHIMS[way]
    run = gdb(tmp_path / "opens", *QUIET, *before, "break main", "run", *behind,
              "step", "break get", "continue")
    assert "libcstrace" not in run.out
    assert re.findall(r"^\d+\t", run.out, re.M) == ["5\t", "6\t", "9\t"]
    assert "get () at " in run.out
