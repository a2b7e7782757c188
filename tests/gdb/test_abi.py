# SPDX-License-Identifier: MIT
"""gdb's side and the engine know each other's layout, or part at once."""

import os
import shutil
import subprocess

import pytest

from lib_build import BUILD, ROOT

HEADER = "cshim/include/cstrace/engine.h"
CONTROL = "cshim/include/cstrace/control.h"
PLAN = "cshim/include/cstrace/plan_layout.h"


@pytest.fixture
def copy(tmp_path):
    """The extension and the headers, to be changed; the engine is ours."""
    for name in ("cstrace.py", "gdbext", "tools/gen-abi", HEADER, CONTROL,
                 PLAN):
        to = tmp_path / name
        to.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(
            ROOT / name, to)
    return tmp_path


def change(copy, old, new, header=HEADER):
    text = (copy / header).read_text()
    assert text.count(old) == 1
    (copy / header).write_text(text.replace(old, new))


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


@pytest.mark.parametrize("header, name", [
    (CONTROL, "retire_seq"), (PLAN, "n_missed")])
def test_what_gdb_reads_and_writes_is_where_the_headers_say(copy, header, name):
    change(copy, "\tuint32_t %s;" % name, "\tuint32_t more, %s;" % name, header)
    assert gen_abi(copy, "--check").returncode == 1
    assert gen_abi(copy).returncode == 0
    assert '("more", C.c_uint32),' in (copy / "gdbext/_abi.py").read_text()
    assert "built from another version than the extension" in formats(copy)


SHIM = """\
#include <stdio.h>
#include "cstrace/control.h"
unsigned cstrace_state;
struct cst_control cstrace_control = {
    .magic = CST_AREA_MAGIC, .layout = CST_LAYOUT + 1,
};
int main(void) { return puts("hello") < 0; }
"""


def test_a_shim_of_another_layout(gdb, tmp_path):
    (tmp_path / "shim.c").write_text(SHIM)
    subprocess.run(["gcc", "-g", "-I", ROOT / "cshim/include",
                    "-finstrument-functions", "shim.c", "-o", "shim"],
                   cwd=tmp_path, check=True)
    run = gdb(tmp_path / "shim", "break puts", "run",
              "source %s" % (ROOT / "cstrace.py"), "cstrace check",
              "cstrace start", loader=None)
    assert ("  process     the libcstrace.so in the program is of another "
            "version than this gdb extension\n    -> run it again\n"
            in run.out)
    assert ("the libcstrace.so in the program is of another version than this "
            "gdb extension") in run.said()


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
