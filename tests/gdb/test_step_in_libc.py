# SPDX-License-Identifier: MIT
"""gdb's steps where libcstrace.so stands before a function of libc's: the same lines
as without cstrace."""

import shutil

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
