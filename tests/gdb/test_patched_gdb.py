# SPDX-License-Identifier: MIT
"""Programs without hooks under gdb: cstrace start patches them."""

import os
import re
import shutil
import subprocess

import pytest

from lib_build import Variant, build, build_library
from lib_gdb import run_gdb

LEVELS = [Variant(level=level, is_pie=is_pie)
          for level in ("-O0", "-O1", "-O2", "-Os") for is_pie in (True, False)]
WHERE = ("python f = gdb.newest_frame(); print('AT', ' < '.join('%s:%d' % ("
         "g.name(), g.find_sal().line) for g in [f, f.older()] if g))")
START = ["cstrace start"]


def places(home, program, commands, is_patched):
    out = run_gdb(home, program, "set cstrace live off",
                  "set cstrace step-report off",
                  *(START if is_patched else []), *commands).out
    assert not is_patched or re.search(r"cstrace: patching \d functions", out)
    return re.findall("^AT .*", out, re.M)


@pytest.mark.parametrize("variant", LEVELS, ids=str)
@pytest.mark.parametrize("word, n", [("step", 22), ("next", 6)])
def test_steps_are_as_without(tmp_path, variant, word, n):
    program = build("steps.c", variant=variant, is_traced=False)
    commands = ["break outer", "run", "delete", WHERE, *([word, WHERE] * n)]
    alone = places(tmp_path, program, commands, False)
    patched = places(tmp_path, program, commands, True)
    assert len(alone) == n + 1 and patched == alone


@pytest.mark.parametrize("variant", LEVELS, ids=str)
def test_breakpoints_and_finish_are_as_without(tmp_path, variant):
    program = build("steps.c", variant=variant, is_traced=False)
    commands = ["break leaf", "break middle", "run",
                *([WHERE, "finish", WHERE, "continue"] * 4), "up", WHERE]
    alone = places(tmp_path, program, commands, False)
    assert len(alone) == 9
    assert places(tmp_path, program, commands, True) == alone


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_values_are_as_without(tmp_path, compiler):
    """Where arguments are stored before a breakpoint on the function stops."""
    program = build("steps.c", variant=Variant(compiler, "-O0"),
                    is_traced=False)
    look = ["bt", "info args", "up", "info args", "down"]
    commands = ["set print address off", "set cstrace frame-ids off",
                "set cstrace live off", "set cstrace step-report off"]
    walk = ["break leaf", "tbreak outer", "run", *look, "next", *look,
            "continue", *look, "next", "info locals", "finish", *look, "step",
            *look]

    def lines(start):
        out = run_gdb(tmp_path, program, *commands, *start, *walk).out
        assert not start or "cstrace: patching 4 functions" in out
        return re.sub("^cstrace: .*\n", "", out, flags=re.M)

    alone = lines([])
    assert alone.count("#1 ") == 10 and "Value returned is $1 = 0" in alone
    assert lines(START) == alone


@pytest.mark.parametrize("kind", ["sha1", "none"])
def test_the_tree_is_there(tmp_path, kind):
    program = build("steps.c", "-Wl,--build-id=" + kind,
                    variant=Variant(level="-O2"), is_traced=False)
    out = run_gdb(tmp_path, program, *START, "break main", "run", "break 32",
                  "continue", "x/2i &leaf", "cstrace stop", "cstrace show",
                  "x/2i &leaf").out
    assert re.search(r"middle  steps.c:\d+\n.*leaf  steps.c:\d+", out)
    assert "jmp" not in out[out.rindex("<leaf>"):].split("\n")[0]


def test_a_breakpoint_inside_a_patch(tmp_path):
    """Its function is as it was from then on."""
    program = build("steps.c", variant=Variant(level="-O2"), is_traced=False)
    out = run_gdb(tmp_path, program, *START, "break main", "run",
                  "break *((char *)&leaf + 2)", "continue", WHERE, "delete",
                  "continue").out
    assert "AT leaf:" in out and "SIGSEGV" not in out and "SIGILL" not in out


def test_detached_it_is_as_it_was(tmp_path):
    program = build("steps.c", variant=Variant(level="-O2"), is_traced=False)
    out = run_gdb(tmp_path, program, *START, "break leaf", "run", "delete",
                  "detach", "cstrace show").out
    assert "middle  steps.c" in out and "exited" not in out


ENDS_BEFORE_READ = """
import gdb, os
pid = gdb.selected_inferior().pid
at_once, path_of = os.open, "/proc/%d/" % pid
held = os.open(path_of + "mem", os.O_RDONLY)
def late(path, *how):
    with open(path_of + "status") as status:
        is_let_go = "TracerPid:\\t0\\n" in status.read()
    if not is_let_go or path != path_of + "mem":
        return at_once(path, *how)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    print("ENDED")
    return os.dup(held)
os.open = late
"""


def test_detached_it_ends_at_once(tmp_path):
    program = build("steps.c", variant=Variant(level="-O2"), is_traced=False)
    (tmp_path / "late.py").write_text(ENDS_BEFORE_READ)
    out = run_gdb(tmp_path, program, *START, "break leaf", "run", "delete",
                  "source late.py", "detach", "cstrace show").out
    assert "ENDED" in out and "middle  steps.c" in out


def test_each_run_is_patched(tmp_path):
    program = build("steps.c", variant=Variant(level="-O2"), is_traced=False)
    out = run_gdb(tmp_path, program, *START, "run",
                  "run", "cstrace show").out
    assert len(re.findall(r"^cstrace: \d+ calls in 1 thread", out, re.M)) == 2
    assert "middle  steps.c" in out


def test_a_large_file_is_announced_once(tmp_path):
    program = tmp_path / "large"
    shutil.copy(build("steps.c", variant=Variant(level="-O2"), is_traced=False),
                program)
    os.truncate(program, 64 << 20)
    told = [run_gdb(tmp_path, program, *START, "run",
                    XDG_CACHE_HOME=str(tmp_path)).out for _ in range(2)]
    assert [t.count("cstrace: the plan of large takes a while, once\n")
            for t in told] == [1, 0]
    assert all("\n52\n" in t and "patching" in t for t in told)


def test_musls_compiler_gives_neither_a_build_id_nor_a_table(tmp_path):
    """A breakpoint is in what is mapped, and not in what the file is known by."""
    if not shutil.which("musl-gcc"):
        pytest.skip("there is no musl-gcc")
    (tmp_path / "app.c").write_text(
        "int twice(int n) { return n * 2; }\n"
        "int main(void) { return twice(4) + twice(5); }\n")
    subprocess.run(["musl-gcc", "-g", "app.c", "-o", "app"], cwd=tmp_path,
                   check=True)
    run = run_gdb(tmp_path, tmp_path / "app", "set cstrace live off",
                  "break twice", *START, "run", "delete", "continue",
                  "cstrace show")
    assert "cstrace: patching 2 functions of app" in run.out
    assert "exited with code 022" in run.out
    assert len(re.findall(r"  twice  app\.c:2$", run.out, re.M)) == 2


def test_what_cannot_be_is_refused(tmp_path):
    plain = build("steps.c", is_traced=False)
    out = run_gdb(tmp_path, plain, "break main", "run",
                  "cstrace start -functions nowhere").out
    assert "nothing can be patched: no function of it is called so" in out
    out = run_gdb(tmp_path, plain, "cstrace start -hooks -patch").out
    assert "-hooks leaves nothing to patch" in out
    out = run_gdb(tmp_path, plain, "cstrace start -functions nowhere").out
    assert "nothing can be patched: no function of it is called so" in out
    out = run_gdb(tmp_path, plain, "cstrace start -modules [").out
    assert "cstrace: " in out and "Traceback" not in out
    bare = build("steps.c", "-Wl,--build-id=none,--no-eh-frame-hdr,"
                 "-z,noseparate-code",
                 is_traced=False)
    out = run_gdb(tmp_path, bare, "cstrace start").out
    assert "compile it with" in out and "it has no build-id" in out
    static = build("steps.c", "-static", is_traced=False)
    out = run_gdb(tmp_path, static, "cstrace start").out
    assert "it cannot be patched: it is static" in out


@pytest.mark.parametrize("last", ["run", "cstrace stop"])
def test_nothing_is_left_of_the_plans(tmp_path, last):
    program = build("steps.c", variant=Variant(level="-O2"), is_traced=False)
    folder = tmp_path / "tmp"
    folder.mkdir()
    run_gdb(tmp_path, program, *START, last, TMPDIR=str(folder))
    assert not list(folder.glob("cstrace-plans*"))


def test_what_the_shim_refuses_is_said(tmp_path):
    """A thread that a library has begun may stand where a jump would be."""
    library = build_library("early_thread.c", "-pthread", "-Wl,-z,initfirst",
                            is_traced=False)
    program = build("steps.c", "-Wl,--no-as-needed", str(library),
                    "-Wl,-rpath," + str(library.parent),
                    variant=Variant(level="-O2"), is_traced=False)
    out = run_gdb(tmp_path, program, *START, "run").out
    assert "the program was not patched: a library had begun threads" in out


# ---- what is chosen ----------------------------------------------------------


def functions(out):
    """What the last `cstrace report` has rows of."""
    rows = out[out.rindex("#    CALLS"):].splitlines()[1:]
    return {row.split()[-1] for row in rows if re.match(r" +\d", row)}


def traced(home, program, *commands):
    out = run_gdb(home, program, "set cstrace live off", *commands, "run",
                  "cstrace report").out
    return functions(out), out


def test_hooks_alone_if_asked(tmp_path):
    program = build("steps.c", is_traced=False)
    for commands in ("cstrace start -hooks",), ("set cstrace road hooks",
                                                "cstrace start"):
        out = run_gdb(tmp_path, program, *commands).out
        assert "has no -finstrument-functions hooks" in out
        assert "`cstrace start -patch` traces it as it is" in out
    out = run_gdb(tmp_path, program, "set cstrace road hooks",
                  "cstrace start -patch").out
    assert "cstrace: patching 4 functions of " in out


def test_functions_are_chosen(tmp_path):
    program = build("steps.c", variant=Variant(level="-O2"), is_traced=False)
    seen, out = traced(tmp_path, program,
                       "cstrace start -functions ^(mid|leaf)")
    assert seen == {"middle", "leaf"} and "patching 2 functions" in out
    for option in "-keep-size", "-size":
        seen, out = traced(tmp_path, program, "cstrace start %s 16" % option)
        assert "main" in seen and "leaf" not in seen


def test_libraries_of_the_system_if_asked(tmp_path):
    (tmp_path / "sums.c").write_text(r"""
        #include <stdio.h>
        #include <zlib.h>
        int main(void)
        {
            printf("%lu\n", crc32(0, (const unsigned char *)"abc", 3));
        }""")
    program = build(str(tmp_path / "sums.c"), "-lz", is_traced=False)
    seen, out = traced(tmp_path, program, "cstrace start -modules ^libz")
    assert "crc32" in seen
    assert re.search(r"patching 1 function of \S+, \d+ functions of libz", out)
    seen, _ = traced(tmp_path, program, "cstrace start")
    assert seen == {"main"}


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("hooked", ["program", "library"])
@pytest.mark.parametrize("mode", ["", " -sync"])
def test_hooks_and_patches_in_one_tree(tmp_path, level, hooked, mode):
    """Each file is traced as it was compiled, whichever calls the other."""
    variant = Variant(level=level)
    library = build_library("mixed_library.c", variant=variant,
                            is_traced=hooked == "library")
    program = build("mixed.c", str(library), "-Wl,-rpath," + str(library.parent),
                    variant=variant, is_traced=hooked == "program")
    out = run_gdb(tmp_path, program, "set cstrace live off", "set cstrace args off",
                  "set cstrace results off", "cstrace start" + mode, "run",
                  "cstrace show").out
    patched = library.name if hooked == "program" else program.name
    assert re.search("cstrace: patching . functions of " + patched, out)
    rows = re.findall(r"  [\d.]+ +\S+(?: [mun]?s~?)? +1\.\d+  ( *\w+)  \w", out)
    assert rows == ["main", "  lib_twice", "    back", "      own",
                    "      lib_leaf", "    back", "      own",
                    "      lib_leaf", "    lib_leaf"]
    assert "exec'ed" not in out


def test_what_is_built_anew_is_planned_anew(tmp_path):
    """gdb reads the new file when it runs it."""
    source, program = tmp_path / "again.c", tmp_path / "again"

    def make(name):
        source.write_text("""
            __attribute__((noinline)) int %s(int n)
            {
                __asm__ volatile("nop\\nnop\\nnop\\nnop\\nnop");
                return n;
            }
            int main(int argc, char **argv) { return %s(argc) - 1; }"""
                          % (name, name))
        subprocess.run(["gcc", "-g", "-O2", source, "-o", program], check=True)

    make("before")
    again = "shell gcc -g -O2 %s -o %s" % (source, program)
    change = "shell sed -i s/before/behind/ %s" % source
    out = run_gdb(tmp_path, program, "set cstrace live off", *START, "run",
                  change, again, "run", "cstrace report").out
    assert functions(out) == {"main", "behind"}


def test_live_rows_have_tail_calls_with_their_lines(tmp_path):
    (tmp_path / "app.c").write_text("""\
volatile int sum;
#define ALONE __attribute__((noinline))
ALONE int leaf(int n) { sum += n; return sum; }
ALONE int last(int n) { leaf(n); return sum + 1; }
ALONE int first(int n) {
	leaf(n);
	return last(n + 2);
}
int main(void)
{
	sum += first(1);
	return 0;
}
""")
    program = str(tmp_path / "app")
    subprocess.run(["gcc", "-g", "-O2", str(tmp_path / "app.c"), "-o",
                    program], check=True)
    out = run_gdb(tmp_path, program, *START, "run", "echo SHOWN\\n",
                  "cstrace show").out
    parts = out.split("SHOWN")
    assert len(parts) == 2
    for part in parts:
        rows = re.findall(r"( +)(first|last|leaf)  (app\.c:\d+.*)", part)
        width = len(rows[0][0])
        assert [(len(blanks) - width, name, place)
                for blanks, name, place in rows] == [
            (0, "first", "app.c:11"), (2, "leaf", "app.c:6"),
            (2, "last", "app.c:7  (tail call)"), (4, "leaf", "app.c:4")]
