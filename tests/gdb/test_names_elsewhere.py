# SPDX-License-Identifier: MIT
"""A trace of a stripped program, read where its symbols are: the same as that
of the whole program."""

import json
import subprocess
from types import SimpleNamespace

import pytest

from lib_build import FOUR, TARGETS
from lib_cstrace import cstrace
from lib_gdb import run_gdb

SOURCES = ["names.cc", "inlined.c"]
# What two runs have in common.
SAME = ("id", "parent", "function", "symbol", "file", "line", "end")
LOOK = ["--timestamp", "off", "--no-duration", "--std"]
GDB_LOOK = ["set cstrace timestamp off", "set cstrace duration off",
            "set cstrace std on"]


def run(*words, cwd):
    done = subprocess.run([str(w) for w in words], cwd=cwd, text=True,
                          capture_output=True, timeout=240,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def compile_at(path, source, variant, *flags):
    path.parent.mkdir(exist_ok=True)
    compiler = variant.compiler
    if source.endswith(".cc"):
        compiler = {"gcc": "g++", "clang": "clang++"}[compiler]
    run(compiler, variant.level, "-g", "-finstrument-functions",
        "-Wl,--build-id", *flags, TARGETS / source, "-o", path,
        cwd=path.parent)


def record(folder, trace, program):
    done = cstrace(folder, "record", "-o", trace, "--", program)
    assert done.status == 0, done


def calls(folder, trace, *options):
    """The calls of the trace; nothing else must be printed."""
    done = cstrace(folder, "save", "--std", "--format", "jsonl", *options,
                   trace, "-")
    assert (done.status, done.err) == (0, ""), done
    return [{key: call[key] for key in SAME}
            for call in map(json.loads, done.out.splitlines())]


def build_id(program):
    for line in run("readelf", "-n", program, cwd="/").splitlines():
        if "Build ID:" in line:
            return line.split()[-1]
    raise AssertionError("no build-id")


def make(folder, source, variant):
    """Recorded whole (full.cst) and stripped (t.cst), in a folder that is
    gone; dev/app is the unstripped program."""
    compile_at(folder / "dev" / "app", source, variant)
    (folder / "far").mkdir()
    run("cp", folder / "dev" / "app", folder / "far", cwd=folder)
    record(folder, "full.cst", folder / "far" / "app")
    run("strip", "app", cwd=folder / "far")
    run("cp", folder / "far" / "app", folder / "stripped", cwd=folder)
    record(folder, "t.cst", folder / "far" / "app")
    (folder / "far" / "app").unlink()
    return folder


@pytest.fixture(scope="module", params=FOUR, ids=str)
def variant_of(request):
    return request.param


@pytest.fixture(scope="module", params=SOURCES)
def far(request, variant_of, tmp_path_factory):
    folder = tmp_path_factory.mktemp("far")
    return SimpleNamespace(
        folder=make(folder, request.param, variant_of),
        whole=calls(folder, "full.cst"))


def test_an_unstripped_file_in_a_folder(far):
    told = cstrace(far.folder, "show", "t.cst").err
    assert "no symbols with its build-id" in told and "--debug-dir" in told
    assert calls(far.folder, "t.cst", "--debug-dir", "dev") == far.whole
    assert any(call["line"] for call in far.whole)


def test_a_debug_file_by_its_build_id(far):
    name = build_id(far.folder / "dev" / "app")
    place = far.folder / "by-id" / ".build-id" / name[:2]
    place.mkdir(parents=True)
    run("objcopy", "--only-keep-debug", "dev/app",
        place / (name[2:] + ".debug"), cwd=far.folder)
    assert calls(far.folder, "t.cst", "--debug-dir", "by-id") == far.whole


def test_a_stripped_file_with_a_link(far):
    folder = far.folder / "linked"
    folder.mkdir()
    run("objcopy", "--only-keep-debug", "../dev/app", "app.dbg", cwd=folder)
    run("objcopy", "--add-gnu-debuglink=app.dbg", "../stripped", "app",
        cwd=folder)
    assert calls(far.folder, "t.cst", "--debug-dir", "linked/app") \
        == far.whole


def test_gdb_tells_the_same(far):
    text = cstrace(far.folder, "show", *LOOK, "--debug-dir", "dev", "t.cst")
    told = run_gdb(far.folder, None, *GDB_LOOK,
                   "set debug-file-directory %s" % (far.folder / "dev"),
                   "cstrace load t.cst", "cstrace show").out
    assert told.endswith(text.out) and "no names" not in told
    # What gdb has open.
    assert run_gdb(far.folder, far.folder / "dev" / "app", *GDB_LOOK,
                   "cstrace load t.cst",
                   "cstrace show").out.endswith(text.out)


def test_a_copy_with_the_names_in_it(far):
    cstrace(far.folder, "save", "--debug-dir", "dev", "t.cst", "named.cst")
    assert calls(far.folder, "named.cst") == far.whole
    told = cstrace(far.folder, "info", "--debug-dir", "dev", "t.cst").out
    assert "names from dev/app\n" in told


def test_another_build_is_said_and_not_used(tmp_path):
    folder = make(tmp_path, "inlined.c", FOUR[0])
    without = cstrace(folder, "show", *LOOK, "t.cst").out
    assert "app+0x" in without
    compile_at(folder / "other" / "app", "inlined.c", FOUR[0], "-DOTHER",
               "-fno-pic", "-no-pie")
    done = cstrace(folder, "show", *LOOK, "--debug-dir", "other", "t.cst")
    assert (done.status, done.out) == (0, without)
    assert "'other/app' is another build" in done.err
    run("cp", "other/app", "far/app", cwd=folder)
    done = cstrace(folder, "show", *LOOK, "t.cst")
    assert (done.status, done.out) == (0, without)
    assert "the file there now is another build" in done.err


def test_no_such_folder(tmp_path):
    done = cstrace(tmp_path, "show", "--debug-dir", "nowhere", "t.cst")
    assert (done.status, done.out) == (1, "")
    assert done.err == \
        "cstrace: cannot read 'nowhere': No such file or directory\n"


LIBRARY = """
int second(int n) { return n; }
int first(int n) { return second(n) + 1; }
"""
HOST = """
#include <stdlib.h>
#include <unistd.h>
int first(int);
int main(int argc, char **argv)
{
	if (argc < 2)
		execl(argv[0], argv[0], "again", (char *)0);
	return first(1) == 0;
}
"""


def test_a_stripped_library_and_an_exec(tmp_path):
    (tmp_path / "lib.c").write_text(LIBRARY)
    (tmp_path / "host.c").write_text(HOST)
    flags = ["-g", "-finstrument-functions", "-Wl,--build-id"]
    run("gcc", *flags, "-fPIC", "-shared", "lib.c", "-o", "libfar.so",
        cwd=tmp_path)
    run("gcc", *flags, "host.c", "-L.", "-lfar",
        "-Wl,-rpath,%s" % tmp_path, "-o", "host", cwd=tmp_path)
    record(tmp_path, "full.cst", tmp_path / "host")
    (tmp_path / "dev").mkdir()
    for name in "host", "libfar.so":
        run("cp", name, "dev", cwd=tmp_path)
        run("strip", name, cwd=tmp_path)
    record(tmp_path, "t.cst", tmp_path / "host")
    whole = calls(tmp_path, "full.cst")
    assert [call["function"] for call in whole] \
        == ["main", "main", "first", "second"]
    named = calls(tmp_path, "t.cst", "--debug-dir", "dev")
    assert named == whole
