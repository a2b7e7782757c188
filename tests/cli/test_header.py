# SPDX-License-Identifier: MIT
"""cstrace.h in programs: it compiles everywhere, leaves nothing where it is
switched off, and finds the shim however the program is built."""

import os
import re
import subprocess

import pytest

from lib_build import BUILD, ROOT, TARGETS, Variant, build, line_of
from lib_cstrace import cstrace

INCLUDE = "-I%s" % (ROOT / "cshim/include")
STRICT = ("-Wall", "-Wextra", "-Wshadow", "-Wconversion",
          "-Werror", "-pedantic", INCLUDE)
COMPILERS = [("gcc", "-std=c11", "own.c"), ("clang", "-std=c11", "own.c"),
             ("gcc", "-std=gnu2x", "own.c"),
             ("g++", "-std=c++17", "own.c"), ("clang++", "-std=c++17", "own.c"),
             ("g++", "-std=c++17", "own.cc"),
             ("clang++", "-std=c++20", "own.cc")]
LINKED = ("-DCSTRACE", "-DCSTRACE_LINKED", INCLUDE, "-L%s" % BUILD,
          "-lcstrace", "-Wl,-rpath,%s" % BUILD)
STATIC = ("-static", "-DCSTRACE", INCLUDE, "-L%s" % BUILD, "-lcstrace",
          "-Wl,@%s" % (BUILD / "static.opts"))
PLACED = (("-pie", "-fPIE"), ("-no-pie", "-fno-pie"))


def run(*words, status=0, **options):
    done = subprocess.run([str(w) for w in words], text=True, timeout=240,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, **options)
    assert done.returncode == status, done.stdout
    return done.stdout


def preloaded(program):
    return run(program, env={**os.environ,
                             "LD_PRELOAD": str(BUILD / "libcstrace.so")})


def compile_object(tmp_path, compiler, *flags, source, name="o.o"):
    out = tmp_path / name
    # gcc has to know that a .c file is C++.
    language = ["-x", "c++"] if "++" in compiler else []
    run(compiler, *flags, *language, "-c", source, "-o", out)
    return out


@pytest.mark.parametrize("level", ("-O0", "-O2"))
@pytest.mark.parametrize("defined", ("-UCSTRACE", "-DCSTRACE"))
@pytest.mark.parametrize("compiler, standard, source", COMPILERS)
def test_it_compiles_without_a_warning(tmp_path, compiler, standard, source,
                                       defined, level):
    for hooks in ("", "-finstrument-functions"):
        compile_object(tmp_path, compiler, standard, level, defined, *STRICT,
                       *filter(None, [hooks]), source=TARGETS / source)


# A program, and the same where nobody thought of cstrace.
TWICE = """
#include <stdio.h>
#ifdef WITH
#include <cstrace/cstrace.h>
static int on_enter(const struct cstrace_call *c, void *d)
{ (void)c; (void)d; return 0; }
CSTRACE_FUNC(int, add, (int a, int b), (a, b), { return a + b; })
CSTRACE_FUNC_VOID(say, (const char *s), (s), { puts(s); })
#else
int add(int a, int b) { return a + b; }
void say(const char *s) { puts(s); }
#endif
int work(int n, const char *path)
{
#ifdef WITH
	struct cstrace_open calls[4];
	int id;
	CSTRACE_FUNCTION;
	CSTRACE_SPAN("work", "n", n, "path", path);
	CSTRACE_BEGIN(span, "inner", "n", n++);
	cstrace_log("%d of %s", n++, path);
	cstrace_count("bytes", n++);
	CSTRACE_ASYNC_BEGIN("request", n++);
	id = cstrace_on_enter(on_enter, NULL);
	cstrace_on_exit(NULL, NULL);
	cstrace_off(id);
	cstrace_keep_calls(1);
	cstrace_keep_spans(10);
	cstrace_backtrace(calls, 4);
	cstrace_print_calls(2);
	cstrace_span_dump();
	cstrace_start();
	cstrace_stop();
	cstrace_flush();
	cstrace_set_thread_name(path);
	cstrace_elapsed_ns(&span);
	cstrace_start(), cstrace_off(id), cstrace_stop();
	id ? cstrace_start() : cstrace_stop();
	cstrace_log("%d", n++), cstrace_count("bytes", n++), cstrace_flush();
	CSTRACE_ASYNC_END("request", n++);
	CSTRACE_END(span, n++);
#endif
	say(path);
	return add(n, 1);
}
"""


def code_of(path):
    """The instructions.  Without -O the unused variables of the test itself
    make a frame of another size."""
    text = run("objdump", "-d", "--no-show-raw-insn", path)
    return [line for line in text.splitlines() if "file format" not in line]


@pytest.mark.parametrize("compiler", ("gcc", "clang", "g++", "clang++"))
def test_switched_off_it_leaves_nothing(tmp_path, compiler):
    source = tmp_path / "twice.c"
    source.write_text(TWICE)
    for level in ("-O0", "-O2"):
        made = [compile_object(tmp_path, compiler, level, *STRICT, *flags,
                               source=source, name="%d.o" % i)
                for i, flags in enumerate([["-DWITH"], []])]
        names = run("nm", made[0])
        assert "cstrace_" not in re.sub(r"\bt \S*on_enter\S*", "", names)
        assert ".note.cstrace" not in run("readelf", "-SW", made[0])
        if level == "-O2":
            assert code_of(made[0]) == code_of(made[1])
            strings = run("strings", "-a", made[0])
            assert "request" not in strings and "%d of %s" not in strings


@pytest.mark.parametrize("defined", ("-UCSTRACE", "-DCSTRACE"))
def test_a_wrong_format_is_a_mistake(tmp_path, defined):
    source = tmp_path / "wrong.c"
    source.write_text('#include <cstrace/cstrace.h>\n'
                      'void f(void) { cstrace_log("%s", 1); }\n')
    assert "[-Werror=format=]" in run(
        "gcc", *STRICT, defined, "-c", source, "-o", tmp_path / "o", status=1)


def mistake(folder, compiler, words):
    """What the compiler says of them, where it refuses them."""
    source = folder / "wrong.c"
    source.write_text('#include <cstrace/cstrace.h>\n'
                      'void f(int n);\nvoid f(int n) { (void)n; %s }\n' % words)
    return run(*compiler.split(), INCLUDE, "-DCSTRACE", "-c", source,
               "-o", folder / "o", status=1)


@pytest.mark.parametrize("words", (
    'CSTRACE_SPAN("load", "file");', 'CSTRACE_SPAN("load", n);',
    'CSTRACE_BEGIN(s, "load", "file", n, "x"); CSTRACE_END(s);',
    'CSTRACE_ASYNC_BEGIN("job", 7, n);'))
@pytest.mark.parametrize("compiler", ("gcc", "g++ -x c++"))
def test_a_value_without_a_name_is_one_mistake(tmp_path, compiler, words):
    said = mistake(tmp_path, compiler, words)
    assert said.count("error: ") == 1
    assert "cstrace_each_value_needs_a_name_before_it" in said


@pytest.mark.parametrize("words", (
    'CSTRACE_SPAN("load", %s);' % ", ".join('"v%d", n' % i for i in range(9)),
    'CSTRACE_ASYNC_BEGIN("job", 7, %s);' % ", ".join(
        '"v%d", n' % i for i in range(9)),
    'cstrace_log("%s", %s);' % ("%d" * 17, ", ".join("n" * 17))))
@pytest.mark.parametrize("compiler", ("gcc", "g++ -x c++", "clang"))
def test_too_many_values_are_one_mistake(tmp_path, compiler, words):
    said = mistake(tmp_path, compiler, words)
    assert "cstrace_there_are_more_values_than_it_takes" in said
    # clang does not know the size of what it could not make.
    assert said.count("error: ") <= 1 + (compiler == "clang")


@pytest.mark.parametrize("placed", PLACED, ids=" ".join)
@pytest.mark.parametrize("compiler", ("gcc", "clang"))
def test_the_shim_is_found(compiler, placed):
    """-1 is what the veto of its callback makes of a call."""
    def made(*flags, placed=placed):
        return build("own.c", *flags, *placed, variant=Variant(compiler),
                     is_traced=False)

    alone = made("-DCSTRACE", INCLUDE)
    assert run(alone) == "4\n"
    assert preloaded(alone) == "-1\n"
    assert run(made(*LINKED)) == "-1\n"
    assert run(made("-static", "-DCSTRACE", INCLUDE, placed=())) == "4\n"
    assert run(made(*STATIC, placed=())) == "-1\n"


def test_the_shim_is_found_after_lto(tmp_path):
    for placed in PLACED:
        program = tmp_path / "own"
        run("gcc", "-flto", "-O2", *placed, "-DCSTRACE", INCLUDE, "-pthread",
            TARGETS / "own.c", "-o", program)
        assert preloaded(program) == "-1\n"


CXX_SEEN = """\
open(2, ?)
light()
price("apple", 3)
= 108
Shop::fail(2)
  Shop::fail(1)
    Shop::fail(0)
plus()
plus()
name()
none
a name
"""


@pytest.mark.parametrize("compiler", ("gcc", "clang"))
@pytest.mark.parametrize("level", ("-O0", "-O2"))
def test_callbacks_in_cxx(compiler, level):
    """Values of its types; a call that an exception left is not open."""
    program = build("own.cc", "-std=c++17", "-DCSTRACE", INCLUDE,
                    variant=Variant(compiler, level), is_traced=False)
    assert preloaded(program) == CXX_SEEN
    assert run(program) == "a name\na name\n"


TREE = """\
span request #7(file="x")  own.c
span load(file="a.txt", n=1)  own.c
  span parse(big=0) = 2  own.c
    add(a=1, b=1) = 2  own.c
  log: a.txt: 1 of  12.5%, ab  own.c
span load(file="b.txt", n=3)  own.c
  span parse(big=1) = 6  own.c
    add(a=3, b=1) = 4  own.c
  log: b.txt: 3 of  12.5%, ab  own.c
nothing(p=<cannot read>, d=0.5, s="you")  own.c
  log: nothing for you  own.c
light  own.c
  count bytes = 512  own.c
guarded  own.c  (vetoed)
end of span request #7  own.c
"""


def tree_of(text):
    """The rows without times and threads."""
    head = next(line for line in text.splitlines() if " CALL  " in line)
    rows = [line[head.index("CALL"):] for line in text.splitlines()
            if line[:1] == " "]
    return re.sub(r"own\.c:\d+", "own.c", "".join(r + "\n" for r in rows))


@pytest.mark.parametrize("flags", (("-DCSTRACE", INCLUDE), LINKED, STATIC),
                         ids=("preloaded", "linked", "static"))
def test_it_is_recorded(tmp_path, flags):
    program = build("own.c", *flags, is_traced=False)
    done = cstrace(tmp_path, "record", "-o", "own.cst", "--", program)
    assert done.status == 0 and "will not" not in done.err, done.err
    shown = cstrace(tmp_path, "show", "own.cst", "--no-id", "--no-fold").out
    assert tree_of(shown) == TREE
    assert "finisher" in shown
    for words in ('span load(file="a.txt", n=1)', "log: a.txt: 1 of  12.5%, ab",
                  "add(a=1, b=1) = 2"):
        where = {"span": 'CSTRACE_SPAN("load"', "log:": 'cstrace_log("%s: %d',
                 "add(": "add(n, 1);"}[words[:4]]
        assert "%s  own.c:%d" % (words, line_of("own.c", where)) in shown


ONE_ROW = {"twice.c": """\
main
  fact
    fact
      fact
  nested
    span inner(n=3)
      log: hi
      small
    leaves (unwound)
    small
  add(a=1, b=2) = 3
  small
""", "twice.cc": """\
main
  Till::Till
  Till::sum<...>
  Till::sum<...> (unwound)
    throw std::runtime_error("much")
  catch std::runtime_error("much")
  Till::operator()
  main::{lambda(int)#1}
"""}


@pytest.mark.parametrize("compiler", ("gcc", "clang"))
@pytest.mark.parametrize("level", ("-O0", "-O2"))
@pytest.mark.parametrize("source", ONE_ROW)
def test_a_function_with_hooks_is_one_row(tmp_path, compiler, level, source):
    """What it says of itself is the call that its hooks saw."""
    standard = ["-std=c++17"] if source == "twice.cc" else []
    program = build(source, "-DCSTRACE", INCLUDE, *standard,
                    variant=Variant(compiler, level))
    assert cstrace(tmp_path, "record", "--", program).status == 0
    shown = tree_of(cstrace(tmp_path, "show", "--no-id", "--no-fold").out)
    assert re.sub(r"  [\w.]+:\d+", "", shown).replace(
        "  (unwound)", " (unwound)").replace(
            "$_0", "{lambda(int)#1}") == ONE_ROW[source]
    assert "(0 open" in cstrace(tmp_path, "info").out


def test_names_of_cxx_have_their_classes(tmp_path):
    program = build("own.cc", "-std=c++17", "-DCSTRACE", INCLUDE,
                    is_traced=False)
    assert cstrace(tmp_path, "record", "--", program).status == 0
    shown = tree_of(cstrace(tmp_path, "show", "--no-id", "--no-fold").out)
    assert "\nShop::light  own.cc" in shown and "\n  span light  " in shown
    assert re.search(r'^Shop::price\(what="apple", n=3\) = 108  ', shown, re.M)
    assert re.search(
        r'^  span opening\(by="me", at=<cannot read>, shop=0x', shown, re.M)


def test_check_knows_what_uses_it(tmp_path):
    program = build("own.c", "-DCSTRACE", INCLUDE, is_traced=False)
    done = cstrace(tmp_path, "check", program)
    assert done.status == 0
    assert "has no hooks: what it says by cstrace.h is traced" in done.out
    program = build("own.c", "-static", "-DCSTRACE", INCLUDE, is_traced=False)
    done = cstrace(tmp_path, "check", program)
    assert done.status == 1
    assert "it is static, and libcstrace.a is not linked in" in done.out
    done = cstrace(tmp_path, "record", "--", program)
    assert "it is static: link libcstrace.a into it" in done.err
