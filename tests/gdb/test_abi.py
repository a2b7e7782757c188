# SPDX-License-Identifier: MIT
"""gdb's side and the engine know each other's layout, or part at once."""

import os
import shutil
import subprocess

import pytest

from lib_build import BUILD, ROOT

HEADER = "cshim/include/cstrace/engine.h"


@pytest.fixture
def copy(tmp_path):
    """The extension and the header, to be changed; the engine is ours."""
    for name in ("cstrace.py", "gdbext", "tools/gen-abi", HEADER):
        to = tmp_path / name
        to.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(
            ROOT / name, to)
    return tmp_path


def change(copy, old, new):
    text = (copy / HEADER).read_text()
    assert text.count(old) == 1
    (copy / HEADER).write_text(text.replace(old, new))


def gen_abi(copy, *options):
    return subprocess.run(["/usr/bin/python3", copy / "tools/gen-abi",
                           *options], text=True, capture_output=True,
                          timeout=60, check=False)


def formats(copy):
    """What gdb says when it asks the engine something."""
    done = subprocess.run(
        [os.environ.get("GDB") or "gdb", "-nx", "-batch", "-x",
         copy / "cstrace.py", "-ex",
         "python print(__import__('gdbext.engine').engine.formats()[0])"],
        text=True, capture_output=True, timeout=60, check=False,
        env=dict(os.environ, CSTRACE_LIBDIR=str(BUILD)))
    return done.stdout + done.stderr


def test_the_layout_is_that_of_the_header():
    done = gen_abi(ROOT, "--check")
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_another_struct_is_refused(copy):
    assert formats(copy) == "txt\n"
    change(copy, "\tuint8_t reserved[3];", "\tuint8_t more, reserved[2];")
    assert gen_abi(copy, "--check").returncode == 1
    assert gen_abi(copy).returncode == 0
    assert '("more", C.c_uint8),' in (copy / "gdbext/_abi.py").read_text()
    assert ("was built from another version than the extension: run make, "
            "or install both again") in formats(copy)


def test_a_comment_is_no_other_layout(copy):
    change(copy, "\tuint8_t reserved[3];", "\tuint8_t reserved[3]; /* 0 */")
    assert gen_abi(copy, "--check").returncode == 0


def test_the_compiler_has_the_last_word(copy):
    """What ctypes would lay out otherwise does not get through."""
    change(copy, "struct cst_look {\n",
           "#pragma pack(1)\nstruct cst_look {\n")
    change(copy, "\tuint8_t reserved[3];", "\tuint8_t reserved[2];")
    done = gen_abi(copy)
    assert done.stderr.endswith("the compiler has another layout\n")
    assert done.returncode == 1
