# SPDX-License-Identifier: MIT
"""Names without gdb: the same text as gdb's, whatever the debug information
is like."""

import json
import subprocess

import pytest

from lib_build import FOUR, build
from lib_cstrace import CSTRACE, LIMIT_S
from lib_gdb import run_gdb

# What two runs have in common.
SAME = ("id", "parent", "function", "symbol", "module", "file", "line", "end")


def run(*words, cwd):
    done = subprocess.run([str(w) for w in words], cwd=cwd, text=True,
                          capture_output=True, timeout=LIMIT_S,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def calls(path):
    return [{key: call[key] for key in SAME}
            for call in map(json.loads, path.read_text().splitlines())]


def without_gdb(program, folder):
    run(CSTRACE, "record", "-o", "own.cst", "--", program, cwd=folder)
    run(CSTRACE, "save", "--std", "own.cst", "own.jsonl", cwd=folder)
    return calls(folder / "own.jsonl")


def with_gdb(program, folder):
    run_gdb(folder, program, "set cstrace std on", "cstrace start", "run",
            "cstrace save %s" % (folder / "gdb.jsonl"))
    return calls(folder / "gdb.jsonl")


@pytest.mark.parametrize("variant", FOUR, ids=str)
@pytest.mark.parametrize("source", ["names.cc", "inlined.c", "header.c"])
def test_the_same_names_as_in_gdb(tmp_path, source, variant):
    program = build(source, variant=variant)
    own = without_gdb(program, tmp_path)
    assert own == with_gdb(program, tmp_path)
    assert any(call["line"] for call in own)


# Files in several folders, named as people name them to compilers.
FILES = {
    "src/main.c": """
#include "inc.h"
#include "beside.h"
#include "top.h"
static int here(int n) { return n + 1; }
int main(int argc, char **argv)
{
	(void)argv;
	return in_inc(argc) + beside(argc)
	       + in_top(argc) + here(argc) == 0;
}
""",
    "inc/inc.h": """
static int inner(int n) { return n; }
static inline int in_inc(int n) { return inner(n) + 1; }
""",
    "src/beside.h": """
static int within(int n) { return n; }
static inline int beside(int n) { return within(n) + 2; }
""",
    "top.h": """
static int above(int n) { return n; }
static int in_top(int n) { return above(n) + 3; }
""",
}

FORMS = {
    "dwarf4": "gcc -gdwarf-4",
    "dwarf5": "gcc -gdwarf-5",
    "dwarf4-clang": "clang -gdwarf-4",
    "dwarf5-clang": "clang -gdwarf-5",
    "optimized": "gcc -g -O2",
    "optimized-clang": "clang -g -O2",
    "compressed": "gcc -g -gz=zlib",
    "split": "gcc -g -gsplit-dwarf",
    "lto": "gcc -g -O1 -flto",
    "stabs": "gcc -gstabs",
}


def compile_files(folder, command):
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    run(*command.split(), "-w", "-finstrument-functions", "-Iinc",
        "-I%s" % folder, "src/main.c", "-o", "app", cwd=folder)
    return folder / "app"


@pytest.mark.parametrize("form", FORMS)
def test_the_same_files_as_in_gdb(tmp_path, form):
    program = compile_files(tmp_path, FORMS[form])
    own = without_gdb(program, tmp_path)
    assert own == with_gdb(program, tmp_path)
    assert (own[-1]["function"], own[-1]["file"], own[-1]["line"]) == \
        ("here", "src/main.c", 10)


# The names that rustc gives, in both of its ways.
RUST = """
int area(void) __asm__("_RNvNtCskK7mfDs1mzF_1m4geom4area");
int scale(void) __asm__("_ZN1m4geom5scale17h0123456789abcdefE");
int area(void) { return 0; }
int scale(void) { return area(); }
int main(void) { return scale(); }
"""


def test_rust_names(tmp_path):
    (tmp_path / "rust.c").write_text(RUST)
    run("gcc", "-g", "-finstrument-functions", "rust.c", "-o", "rust",
        cwd=tmp_path)
    own = without_gdb(tmp_path / "rust", tmp_path)
    assert own == with_gdb(tmp_path / "rust", tmp_path)
    assert [call["function"] for call in own] \
        == ["main", "m::geom::scale", "m::geom::area"]


def test_a_separate_debug_file(tmp_path):
    program = compile_files(tmp_path, "gcc -g")
    run("objcopy", "--only-keep-debug", "app", "app.debug", cwd=tmp_path)
    run("strip", "app", cwd=tmp_path)
    run("objcopy", "--add-gnu-debuglink=app.debug", "app", cwd=tmp_path)
    own = without_gdb(program, tmp_path)
    assert own == with_gdb(program, tmp_path)
    assert own[-1]["function"] == "here"
    assert own[-1]["line"] == 10


def test_debug_information_that_files_share(tmp_path):
    program = compile_files(tmp_path, "gcc -g -O2")
    run("cp", "app", "other", cwd=tmp_path)
    run("dwz", "-m", "shared.dwz", "-M", tmp_path / "shared.dwz", "app",
        "other", cwd=tmp_path)
    own = without_gdb(program, tmp_path)
    assert own == with_gdb(program, tmp_path)
    assert own[-1]["line"] == 10


def test_without_debug_information(tmp_path):
    program = compile_files(tmp_path, "gcc -g0")
    own = without_gdb(program, tmp_path)
    assert own[-1]["function"] == "here"
    assert own[-1]["file"] is None and own[-1]["line"] is None


@pytest.mark.parametrize("where", ["program", "debug-file"])
@pytest.mark.parametrize("packing", ["zstd", "zlib-gnu"])
def test_packed_sections(tmp_path, packing, where):
    """zstd, which libdw 0.188 does not know, and the old .zdebug_info."""
    program = compile_files(tmp_path, "gcc -g -O2 -Wl,--build-id")
    expected = without_gdb(program, tmp_path)
    debug = tmp_path / ("app" if where == "program" else "app.debug")
    if where == "debug-file":
        run("objcopy", "--only-keep-debug", "app", "app.debug", cwd=tmp_path)
    packed = subprocess.run(
        ["objcopy", "--compress-debug-sections=" + packing, str(debug)],
        timeout=LIMIT_S, stderr=subprocess.DEVNULL)
    if packed.returncode:
        pytest.skip("this objcopy has no " + packing)
    if where == "debug-file":
        run("strip", "app", cwd=tmp_path)
        run("objcopy", "--add-gnu-debuglink=app.debug", "app", cwd=tmp_path)
    assert without_gdb(program, tmp_path) == expected
    assert any(call["file"] == "src/main.c" for call in expected)


# ---- the files that a trace was made with -----------------------------------


def modules(folder):
    out = run(CSTRACE, "info", "own.cst", cwd=folder).stdout
    return [line.split(None, 1)[1] for line in out.splitlines()
            if line.startswith("module ")]


def build_id(program):
    for line in run("readelf", "-n", program, cwd="/").stdout.splitlines():
        if "Build ID:" in line:
            return line.split()[-1]
    return None


def test_a_trace_tells_its_files(tmp_path):
    program = compile_files(tmp_path, "gcc -g -Wl,--build-id")
    without_gdb(program, tmp_path)
    told = "%s, build-id %s" % (program, build_id(program))
    assert told in modules(tmp_path)
    assert any("libc.so" in m for m in modules(tmp_path))


def test_a_file_that_is_another_now_is_said(tmp_path):
    program = compile_files(tmp_path, "gcc -g -Wl,--build-id")
    before = without_gdb(program, tmp_path)
    told = "%s, build-id %s" % (program, build_id(program))
    run("gcc", "-g", "-O2", "-Wl,--build-id", "-Iinc", "-I.", "src/main.c",
        "-o", "app", cwd=tmp_path)
    assert told + " (the file there now is another)" in modules(tmp_path)
    # Its names are in the trace.
    run(CSTRACE, "save", "--std", "own.cst", "again.jsonl", cwd=tmp_path)
    assert calls(tmp_path / "again.jsonl") == before


def test_a_file_that_changes_before_it_is_read_is_said_once(tmp_path):
    (tmp_path / "lib.c").write_text(
        "int second(int n) { return n; }\n"
        "int first(int n) { return second(n) + 1; }\n")
    (tmp_path / "main.c").write_text(
        "int first(int); int main(void) { return first(1) + first(2) == 0; }")
    run("gcc", "-g", "-fPIC", "-shared", "-finstrument-functions", "lib.c",
        "-o", "libchanged.so", cwd=tmp_path)
    run("gcc", "-g", "-finstrument-functions", "main.c", "-L.", "-lchanged",
        "-Wl,-rpath,%s" % tmp_path, "-o", "app", cwd=tmp_path)
    done = run_gdb(tmp_path, tmp_path / "app", "cstrace start", "break main",
                   "run", "shell echo >> libchanged.so", "continue")
    told = [line for line in done.said() if "was changed since" in line]
    assert told == ["'%s' was changed since it was loaded: nothing is read of "
                    "it" % (tmp_path / "libchanged.so")]


def test_a_saved_trace_keeps_its_files(tmp_path):
    program = compile_files(tmp_path, "gcc -g")
    run_gdb(tmp_path, program, "cstrace start", "run", "cstrace save own.cst")
    assert any(m.startswith(str(program)) for m in modules(tmp_path))
