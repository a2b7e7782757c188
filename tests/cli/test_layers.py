# SPDX-License-Identifier: MIT
"""tools/layers finds what goes against the table of the rooms."""

import shutil
import subprocess

import pytest

from lib_build import ROOT

TRACE = "obj/cshim/engine/trace/trace"


@pytest.fixture
def house(tmp_path):
    """The sources, to plant mistakes in, and one object of the build."""
    shutil.copytree(ROOT / "cshim", tmp_path / "cshim")
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "map.md", tmp_path / "docs")
    made = tmp_path / "build" / (TRACE + ".o")
    made.parent.mkdir(parents=True)
    shutil.copy(ROOT / "build" / (TRACE + ".o"), made)
    return tmp_path


def layers(house):
    """What tools/layers prints, by lines, and its status."""
    done = subprocess.run([ROOT / "tools" / "layers"], cwd=house, text=True,
                          capture_output=True, timeout=120, check=False)
    assert done.stderr == ""
    return done.stdout.splitlines(), done.returncode


def plant(house, name, text):
    (house / "cshim" / "engine" / name).write_text(text)


def compiled(house, name, text):
    plant(house, name + ".c", text)
    made = house / "build/obj/cshim/engine" / (name + ".o")
    made.parent.mkdir(exist_ok=True)
    subprocess.run(["gcc", "-c", "cshim/engine/%s.c" % name, "-o", made],
                   cwd=house, check=True)


def test_the_code_is_as_the_table_says(house):
    assert layers(house) == ([], 0)


def test_an_include_of_a_room_above(house):
    plant(house, "base/planted.c", '#include "trace/trace.h"\n')
    assert layers(house) == ([
        "include: cshim/engine/base/planted.c includes trace/trace.h, "
        "but base may not use trace"], 1)


def test_a_symbol_of_a_room_above(house):
    compiled(house, "base/planted",
             "void cst_trace_free(void *t);\n"
             "void planted(void *t) { cst_trace_free(t); }\n")
    assert layers(house) == ([
        "symbol: build/obj/cshim/engine/base/planted.o needs cst_trace_free "
        "of trace, but base may not use trace"], 1)


def test_files_that_need_each_other(house):
    compiled(house, "base/one", "void two(void); void one(void) { two(); }\n")
    compiled(house, "base/two", "void one(void); void two(void) { one(); }\n")
    assert layers(house) == ([
        "circle: base/one, base/two need each other, but docs/map.md names no "
        "such circle"], 1)


def test_a_circle_that_was_ended(house):
    compiled(house, "base/one", "void one(void) { }\n")
    compiled(house, "base/two", "void two(void) { }\n")
    page = house / "docs" / "map.md"
    page.write_text(page.read_text() + "\n- `base/two`, `one`: they were.\n")
    assert layers(house) == ([
        "circle: docs/map.md names base/one, base/two, which are none"], 1)


def test_a_prototype_without_its_c(house):
    plant(house, "base/planted.h", "int planted(int n);\n")
    assert layers(house) == ([
        "prototype: cshim/engine/base/planted.h declares planted(), "
        "which planted.c does not define"], 1)


def test_a_room_that_is_not_in_the_table(house):
    table = house / "cshim" / "engine" / "rooms.mk"
    table.write_text(table.read_text() + "attic_USES := cellar\n")
    done = subprocess.run([ROOT / "tools" / "layers"], cwd=house, text=True,
                          capture_output=True, timeout=120, check=False)
    assert done.stderr.endswith("attic_USES names no room: cellar\n")
    assert done.returncode == 1
