# SPDX-License-Identifier: MIT
"""cstrace check: why a file, or a function of it, cannot be traced; the same in
gdb and without."""

import os
import random
import re
import shutil
import subprocess

import pytest

from lib_build import BUILD
from lib_cstrace import cstrace
from lib_gdb import run_gdb
from lib_tree import tree

HALF = """\
#include <stdio.h>
int bare(int n);
static inline int small(volatile int *n)
{
    int sum = 0;
    for (int i = 0; i < 9; i++)
        sum += *n * i;
    return sum;
}
__attribute__((no_instrument_function, noinline)) int marked(int n)
{
    volatile int m = n;
    return small(&m);
}
__attribute__((noinline)) int listed(int n) { return n - 1; }
int main(int argc, char **argv)
{
    volatile int n = argc;
    return printf("%d\\n", small(&n) + marked(n) + listed(n) + bare(n)) < 0;
}
"""
BARE = "int bare(int n) { return n + 3; }\n"
HOOKS = "-finstrument-functions"
OWN = """\
#define PLAIN __attribute__((no_instrument_function))
PLAIN void __cyg_profile_func_enter(void *f, void *c) { (void)f, (void)c; }
PLAIN void __cyg_profile_func_exit(void *f, void *c) { (void)f, (void)c; }
"""
STD = """\
#include <algorithm>
#include <vector>
static bool is_less(int a, int b) { return a < b; }
int main(int argc, char **)
{
    std::vector<int> numbers(argc + 3, argc);
    std::sort(numbers.begin(), numbers.end(), is_less);
    return numbers[0] != argc;
}
"""
COMPILERS = pytest.mark.parametrize("cc", ["gcc", "clang"])


def build(folder, *words):
    subprocess.run([str(w) for w in words], cwd=folder, check=True, timeout=240)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("check")
    (folder / "half.c").write_text(HALF)
    (folder / "bare.c").write_text(BARE)
    (folder / "own.c").write_text(OWN)
    (folder / "std.cc").write_text(STD)
    for cc in "gcc", "clang":
        build(folder, cc, "-g", "-O2", "-c", "bare.c", "-o", cc + "-bare.o")
        build(folder, cc, "-g", "-O2", HOOKS, "-c", "half.c", "-o",
              cc + "-half.o")
        build(folder, cc, cc + "-half.o", cc + "-bare.o", "-o", cc + "-half")
        build(folder, cc, "-g", "-O2", HOOKS, "half.c", "bare.c", "-o",
              cc + "-full")
        build(folder, cc, "-g", "-O2", "half.c", "bare.c", "-o", cc + "-plain")
    return folder


def in_gdb(folder, program, *words):
    return run_gdb(folder, folder / program,
                   " ".join(["cstrace check", *words])).out


def same(out):
    """What the two say in other words: how to ask on."""
    out = re.sub(r"cstrace check \./\S+ REGEX", "cstrace check REGEX", out)
    for option in "all", "patch":
        out = out.replace(" --%s " % option, " -%s " % option)
    return out


def check(folder, program, *words, status=0):
    """What both say of a program."""
    done = cstrace(folder, "check", "./" + program, *words)
    assert (done.status, done.err) == (status, ""), done
    assert same(done.out) == same(in_gdb(folder, program, *words))
    return done.out


def fate(folder, program, name, status=0):
    """What is printed of one function, without the verdict on the file."""
    return check(folder, program, name, status=status).split("\n\n")[1]


# ---- files ---------------------------------------------------------------------


@COMPILERS
def test_a_file_of_two_lacks_the_hooks(folder, cc):
    out = check(folder, cc + "-half")
    assert out.splitlines()[0].startswith("./%s-half can be traced: " % cc)
    assert re.search(r"^ +1 +0  bare\.c  -> compile it with " + HOOKS, out,
                     re.M)
    assert re.search(r"^  debug info  DWARF [45]$", out, re.M)
    assert "  symbols     all\n" in out


def test_a_whole_page(folder):
    build(folder, "gcc", "-gdwarf-5", "-O0", "-no-pie", HOOKS, "half.c",
          "bare.c", "-o", "page")
    assert check(folder, "page") == tree("""
        ./page can be traced: 4 of 5 functions call the hooks
          file        program for x86-64, dynamic, at a fixed address (no PIE)
          hooks       imported, as libcstrace.so supplies them
          debug info  DWARF 5
          symbols     all
          libraries   no hooks: libc.so.6, ld-linux-x86-64.so.2

          FUNCTIONS  WITH HOOKS  UNIT
                  4           3  half.c  -> cstrace check ./page REGEX tells why
                  1           1  bare.c
        """)


@COMPILERS
def test_no_hooks_at_all(folder, cc):
    name = "./%s-plain" % cc
    assert check(folder, cc + "-plain").startswith(tree("""
        %s can be traced: it has no -finstrument-functions hooks, and is patched in memory
            -> cstrace check --patch %s tells of which functions
            -> for calls that were inlined, compile it with gcc or clang -g -finstrument-functions
        """ % (name, name)))
    # This is true.
    done = cstrace(folder, "record", "-o", "plain.cst", name)
    assert " calls in 1 thread" in done.err


@COMPILERS
def test_a_stripped_program(folder, cc):
    shutil.copy(folder / (cc + "-full"), folder / "stripped")
    build(folder, "strip", "stripped")
    out = check(folder, "stripped")
    assert re.match(r"\./stripped can be traced: its code calls the hooks in "
                    r"\d+ places\n", out)
    assert "  symbols     exported ones only (stripped)" in out
    assert "  debug info  none" in out and "    -> compile with -g\n" in out
    assert "-> do not strip the file" in check(folder, "stripped", "listed",
                                               status=1)


@COMPILERS
def test_debug_information_in_a_file_beside(folder, cc):
    shutil.copy(folder / (cc + "-full"), folder / "apart")
    build(folder, "objcopy", "--only-keep-debug", "apart", "apart.debug")
    build(folder, "strip", "apart")
    build(folder, "objcopy", "--add-gnu-debuglink=apart.debug", "apart")
    out = check(folder, "apart")
    assert ", in %s\n" % (folder / "apart.debug") in out
    assert "calls the hooks: if it is not" in fate(folder, "apart", "listed")


def apart(folder, name):
    """A program whose debug file nobody finds by its name."""
    where = folder / "elsewhere" / folder.relative_to("/")
    where.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "gcc-full", folder / name)
    build(folder, "objcopy", "--only-keep-debug", name, name + ".debug")
    build(folder, "strip", name)
    build(folder, "objcopy", "--add-gnu-debuglink=%s.debug" % name, name)
    return (folder / (name + ".debug")).rename(where / (name + ".debug"))


def test_debug_information_that_gdb_alone_finds(folder):
    where = apart(folder, "away")
    assert "  debug info  none" in check(folder, "away")
    out = run_gdb(folder, None, "set debug-file-directory %s/elsewhere"
                  % folder, "file ./away", "cstrace check",
                  "cstrace check bare").out
    assert "  debug info  DWARF 5, in %s\n" % where in out
    assert "\n  bare  bare.c:1\n" in out


def test_a_debug_file_that_is_named(folder):
    where = apart(folder, "named")
    done = cstrace(folder, "check", "--debug-file", where, "./named")
    assert done.status == 0
    assert "  debug info  DWARF 5, in %s\n" % where in done.out
    for file in where.parent / "gone", folder / "gcc-plain":
        assert cstrace(folder, "check", "--debug-file", file, "./named") == (
            1, "", "cstrace: no use for '%s': './named' has debug information "
            "of its own, or is of another build\n" % file)


def test_static_programs(folder):
    build(folder, "gcc", "-g", "-static", HOOKS, "half.c", "bare.c", "-o",
          "static")
    assert check(folder, "static").startswith(tree("""
        ./static can be traced in gdb only: a static program cannot take libcstrace.so
            -> link libcstrace.a into it: -lcstrace
        """))
    assert "\n          4           3  half.c" in check(folder, "static")
    build(folder, "gcc", "-g", "-static", HOOKS, "half.c", "bare.c", "-o",
          "with-shim", "-L", BUILD, "-lcstrace")
    out = check(folder, "with-shim")
    assert out.startswith("./with-shim can be traced: 4 of 5 functions")
    assert "  hooks       libcstrace.a's, which is linked in\n" in out
    build(folder, "strip", "static")
    assert "it is static and stripped" in check(folder, "static", status=1)


def test_hooks_of_its_own(folder):
    build(folder, "gcc", "-g", HOOKS, "half.c", "bare.c", "own.c", "-o", "own")
    out = check(folder, "own")
    assert out.startswith("./own can be traced in gdb only: it defines the ")
    assert "    -> take its __cyg_profile_func_enter and _exit out\n" in out


def test_only_a_library_has_hooks(folder):
    build(folder, "gcc", "-g", "-shared", "-fPIC", HOOKS, "bare.c", "-o",
          "libbare.so")
    build(folder, "gcc", "-g", "half.c", "-o", "user", "-L.", "-lbare",
          "-Wl,-rpath,$ORIGIN")
    out = check(folder, "user")
    assert out.startswith("./user can be traced: it has no -finstrument-"
                          "functions hooks, and is patched in memory\n")
    assert "  libraries   with hooks: libbare.so\n" in out
    assert "is in a library: %s/libbare.so\n    -> cstrace check" % folder in \
        fate(folder, "user", "bare", status=1)
    library = check(folder, "libbare.so")
    assert library.startswith("./libbare.so can be traced: 1 of 1 functions")
    (folder / "libbare.so").rename(folder / "gone.so")
    missing = check(folder, "user")
    assert "not found: libbare.so\n    -> install them" in missing


@COMPILERS
def test_what_is_patched(folder, cc):
    told = fate(folder, cc + "-plain", "listed")
    assert told.endswith("\n    is patched: if it is not in the trace, it was not "
                         "called or a filter hides it\n")
    for out in (cstrace(folder, "check", "--patch", cc + "-plain").out,
                in_gdb(folder, cc + "-plain", "-patch")):
        assert " functions can be traced without hooks\n" in out
        assert "  listed\n    traced\n" in out


def test_what_is_left_out(folder):
    """In gdb only: a line begins in the first bytes."""
    (folder / "tight.c").write_text(
        "int tight(int *p)\n{\n\tp++;\n\treturn *p;\n}\n"
        "int main(void) { int n[2] = {0}; return tight(n); }\n")
    build(folder, "gcc", "-g", "-O1", "-fno-inline", "tight.c", "-o", "tight")
    alone = cstrace(folder, "check", "./tight", "^tight").out
    out = in_gdb(folder, "tight", "^tight")
    assert "is patched" in alone
    assert out.endswith("    is left out: it has no room for a jump at its begin\n"
                        "    -> -fpatchable-function-entry=5 makes room\n")


@pytest.mark.parametrize("path, more", [
    ("libplain.so", []),
    ("/usr/lib/x86_64-linux-gnu/libz.so.1", ["cstrace record --modules libz"])])
def test_a_library_without_hooks(folder, path, more):
    build(folder, "gcc", "-g", "-shared", "-fPIC", "bare.c", "-o", "libplain.so")
    lines = cstrace(folder, "check", path).out.splitlines()
    assert lines[0].endswith("can be traced: it has no -finstrument-functions "
                             "hooks, and is patched in memory")
    assert [line.rpartition(": ")[2] for line in lines
            if "name it" in line] == more


@COMPILERS
def test_an_object_file(folder, cc):
    out = check(folder, cc + "-half.o")
    assert out.startswith("./%s-half.o can be traced: " % cc)
    assert "  file        object file for x86-64\n" in out
    assert check(folder, cc + "-bare.o", status=1).startswith(
        "./%s-bare.o cannot be traced: it has no" % cc)
    assert "calls the hooks: if it is not in the trace" in check(
        folder, cc + "-half.o", "listed")


def test_rust(folder):
    """Rust is known by what its compiler says of itself; there may be none."""
    build(folder, "gcc", "-g", "-S", "half.c", "bare.c")
    for name in "half.s", "bare.s":
        text = (folder / name).read_text()
        made = re.sub(r'"GNU C\d[^"]*"',
                      '"clang LLVM (rustc version 1.63.0)"', text)
        assert made != text
        (folder / name).write_text(made)
    build(folder, "gcc", "half.s", "bare.s", "-o", "rust")
    option = "    -> rustc has no option for the hooks"
    assert check(folder, "rust").splitlines()[:3] == [
        "./rust can be traced: it has no -finstrument-functions hooks, and is "
        "patched in memory",
        "    -> cstrace check --patch ./rust tells of which functions",
        "  file        program for x86-64, dynamic, position independent (PIE)"]
    build(folder, "gcc", "-c", "half.s", "-o", "rust.o")
    assert check(folder, "rust.o", status=1).splitlines()[:2] == [
        "./rust.o cannot be traced: it has no -finstrument-functions hooks",
        option + ": in Rust programs only C and C++ code can be traced"]
    assert fate(folder, "rust.o", "listed", status=1).splitlines()[-1] == option
    build(folder, "gcc", "gcc-half.o", "bare.s", "-o", "mixed")
    out = check(folder, "mixed")
    assert re.search(r"^ +1 +0  bare\.c  -> rustc has no option", out, re.M)


def test_the_linker_left_out_the_stubs(folder):
    build(folder, "gcc", "-g", "-fno-plt", HOOKS, "half.c", "bare.c", "-o",
          "no-plt")
    assert check(folder, "no-plt").startswith(
        "./no-plt can be traced: 4 of 5 functions")


def test_calls_of_a_form_that_is_not_known(folder):
    build(folder, "gcc", "-g", "-mcmodel=large", HOOKS, "half.c", "bare.c",
          "-o", "large")
    out = check(folder, "large")
    assert out.startswith("./large can be traced: it imports the hooks, "
                          "though no call of them is seen (-mcmodel=large?)\n")
    assert "    may call the hooks: " in fate(folder, "large", "listed",
                                              status=1)


def test_what_is_no_program(folder):
    (folder / "script").write_text("#!/bin/sh\necho\n")
    (folder / "text").write_text("half\n")
    (folder / "empty").write_text("")
    build(folder, "ar", "rc", "libhalf.a", "gcc-half.o")
    build(folder, "objcopy", "--only-keep-debug", "gcc-half", "half.debug")
    for name, why in (("script", "it is a script (#!/bin/sh): check the "
                                 "program that it starts"),
                      ("text", "it is not an ELF file"),
                      ("empty", "it is empty"),
                      ("libhalf.a", "it is an archive: check the program it "
                                    "is linked into, or unpack it (ar x)"),
                      ("half.debug", "it is separate debug information: check "
                                     "the file that it was split from"),
                      (".", "it is no regular file")):
        done = cstrace(folder, "check", name)
        assert done == (1, "%s cannot be traced: %s\n" % (name, why), "")
    assert cstrace(folder, "check", "absent") == (
        1, "", "cstrace: cannot open 'absent': No such file or directory\n")
    assert "there is no program: `file ./app` first" in run_gdb(
        folder, None, "cstrace check").out


def test_another_processor(folder):
    data = bytearray((folder / "gcc-half.o").read_bytes())
    data[18:20] = (183).to_bytes(2, "little")
    (folder / "arm.o").write_bytes(data)
    done = cstrace(folder, "check", "arm.o")
    assert done == (1, "arm.o cannot be traced: it is for AArch64, and cstrace "
                    "knows 64-bit x86 only\n", "")


def test_damaged_files_are_survived(folder):
    whole = (folder / "gcc-half").read_bytes()
    chance = random.Random(7)
    for i in range(40):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 20, 300))):
            data[chance.randrange(16, len(data))] = chance.randrange(256)
        if i % 4 == 0:
            del data[chance.randrange(len(data)):]
        (folder / "damaged").write_bytes(data)
        done = cstrace(folder, "check", "damaged", ".")
        assert done.status in (0, 1), (i, done)
        if i % 10 == 1:  # run_gdb() looks for accidents
            run_gdb(folder, folder / "damaged", "cstrace check",
                    "cstrace check main")


@pytest.mark.parametrize("packing", ["zstd", "zlib-gnu"])
def test_packed_debug_information(folder, packing):
    shutil.copy(folder / "gcc-half", folder / "packed")
    if subprocess.run(["objcopy", "--compress-debug-sections=" + packing,
                       "packed"], cwd=folder, timeout=240,
                      stderr=subprocess.DEVNULL).returncode:
        pytest.skip("this objcopy has no " + packing)
    told = cstrace(folder, "check", "./packed").out
    assert told == cstrace(folder, "check", "./gcc-half").out.replace(
        "./gcc-half", "./packed")
    assert same(in_gdb(folder, "packed")) == same(told)


def foreign_setuid_program(folder, like):
    if os.geteuid():
        return "/bin/su"  # root's, and without hooks
    path = folder / ("setuid-" + like)
    shutil.copy(folder / like, path)
    os.chown(path, 65534, 65534)
    path.chmod(0o4755)
    return path


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a file away")
def test_another_users_rights(folder):
    path = foreign_setuid_program(folder, "gcc-full")
    done = cstrace(folder, "check", path)
    assert done.status == 1
    assert ("%s cannot be traced: it runs with another user's rights" % path
            in done.out)
    assert re.search(r"^  rights      setuid \w+$", done.out, re.M)


def test_another_users_rights_and_no_hooks(folder):
    """The hooks come first: a copy alone would not do."""
    path = foreign_setuid_program(folder, "gcc-plain")
    told = cstrace(folder, "check", path).out.splitlines()
    assert "it has no -finstrument-functions hooks" in told[0]
    assert told[2].startswith("    -> and trace a copy without another user's")
    assert any(re.match(r"  rights      setuid \w+$", row) for row in told)


# ---- functions -----------------------------------------------------------------


@COMPILERS
def test_a_function_that_was_just_not_called(folder, cc):
    line = HALF.splitlines().index(
        "__attribute__((noinline)) int listed(int n) { return n - 1; }") + 1
    assert fate(folder, cc + "-half", "listed") == (
        "  listed  half.c:%d\n"
        "    calls the hooks: if it is not in the trace, it was not called or "
        "a filter hides it\n" % line)


@COMPILERS
def test_a_file_compiled_without_the_flag(folder, cc):
    assert fate(folder, cc + "-half", "bare", status=1) == (
        "  bare  bare.c:1\n"
        "    does not call the hooks: bare.c was compiled without them\n"
        "    -> compile bare.c with -finstrument-functions\n")


@COMPILERS
def test_excluded_by_attribute(folder, cc):
    """Though what was inlined into it calls the hooks."""
    told = fate(folder, cc + "-full", "marked", status=1)
    assert "it is marked no_instrument_function\n    -> take __attr" in told


def test_excluded_by_flag(folder):
    flag = "-finstrument-functions-exclude-function-list=other,listed"
    build(folder, "gcc", "-g", HOOKS, flag, "half.c", "bare.c", "-o", "excl")
    assert "    was left out by %s\n    -> compile half.c without that" % flag \
        in fate(folder, "excl", "listed", status=1)
    flag = "-finstrument-functions-exclude-file-list=bare"
    build(folder, "gcc", "-g", HOOKS, flag, "half.c", "bare.c", "-o", "excl")
    assert "    was left out by " + flag in fate(folder, "excl", "bare",
                                                 status=1)


def test_all_excluded_by_flag(folder):
    flag = "-finstrument-functions-exclude-file-list=half,bare"
    build(folder, "gcc", "-g", HOOKS, flag, "half.c", "bare.c", "-o", "none")
    assert ("    -> for its hooks, compile it without %s\n" % flag
            in check(folder, "none"))
    build(folder, "gcc", "-g", HOOKS, flag, "-c", "bare.c", "-o", "none.o")
    assert check(folder, "none.o", status=1).startswith(
        "./none.o cannot be traced: all its functions were left out of %s\n"
        "    -> compile it without %s\n" % (HOOKS, flag))


@COMPILERS
def test_inlined_without_hooks(folder, cc):
    assert ("    was inlined everywhere (2 places), and half.c was compiled "
            "without the hooks\n    -> compile half.c with " + HOOKS
            in fate(folder, cc + "-plain", "small", status=1))


def test_inlined_before_the_hooks_were_put_in(folder):
    build(folder, "clang", "-g", "-O2", HOOKS + "-after-inlining", "half.c",
          "bare.c", "-o", "after")
    told = fate(folder, "after", "small", status=1)
    assert "was inlined everywhere (2 places), and so without the hooks" in told
    assert "not -finstrument-functions-after-inlining" in told


@COMPILERS
def test_inlined_with_hooks(folder, cc):
    assert "    calls the hooks: if it" in fate(folder, cc + "-full", "small")


def test_hidden_as_the_librarys(folder):
    build(folder, "g++", "-g", HOOKS, "std.cc", "-o", "std")
    told = cstrace(folder, "check", "./std", "is_less|std::__sort<")
    assert told.status == 0
    assert "  is_less(int, int)  std.cc:3\n    calls the hooks: if" in told.out
    assert re.search(r"and \d+ more functions of the C\+\+ library or system "
                     r"headers: --all shows them\n", told.out)
    told = cstrace(folder, "check", "./std", "std::__sort<").out
    assert "is hidden: it is the C++ library's" in told
    assert "-> set cstrace std on" in in_gdb(folder, "std", "std::__sort<")


def test_no_such_function(folder):
    out = check(folder, "gcc-half", "lisetd", status=1)
    assert out.endswith("\n  no function matches 'lisetd'\n"
                        "    -> there is listed\n")


def test_the_name_itself_is_nearest(folder):
    (folder / "take.cc").write_text(
        "int taken(int n) { return n; }\nint take(int n) { return n + 1; }\n"
        "int main() { return take(taken(-1)); }\n")
    build(folder, "g++", "-g", HOOKS, "take.cc", "-o", "take")
    assert check(folder, "take", "take$", status=1).endswith(
        "    -> there is take(int)\n")


def test_a_bad_regex(folder):
    done = cstrace(folder, "check", "./gcc-half", "(")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("cstrace check: bad regex '(': ")
    assert "bad regex '('" in in_gdb(folder, "gcc-half", "(")
