# SPDX-License-Identifier: MIT
"""The real programs that `real` runs: Debian source packages, how they are
built with hooks and with the witness linked in, and what they are made to
do."""

import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
WORK = HERE / "work"

TRACED = ("-g", "-w", "-finstrument-functions")
WRAP = ("-no-pie", "-Wl,--wrap=__cyg_profile_func_enter",
        "-Wl,--wrap=__cyg_profile_func_exit")


class Real(NamedTuple):
    name: str
    package: str
    does: str  # what the table says of the run
    sources: tuple  # patterns in the package's folder
    args: tuple  # {work} is the folder HERE/work
    builds: tuple = (("gcc", "-O2"),)
    without: str = "$^"  # sources that match this are left out
    prepare: str = ""  # commands of the shell, before compiling
    flags: tuple = ()
    libraries: tuple = ()
    # Functions that the kernel calls whenever a signal comes: by the few
    # instructions between the two recorders each sees another moment.
    handlers: tuple = ()


LUA = Real(
    "lua", "lua5.4", "", ("src/*.c",), (),
    builds=(("gcc", "-O0"), ("gcc", "-O2"), ("clang", "-O0"),
            ("clang", "-O2")),
    without="luac.c",
    prepare="echo '#define DEB_HOST_MULTIARCH \"here\"' "
            "> src/lua5.4-deb-multiarch.h",
    flags=("-DLUA_USE_LINUX",), libraries=("-lm", "-ldl"))

PROGRAMS = (
    LUA._replace(does="100,000 errors, each raised by longjmp",
                 args=("{work}/errors.lua",), builds=LUA.builds[:2]),
    LUA._replace(name="lua-nested",
                 does="errors through C functions, out of deep calls, out of "
                      "handlers; coroutines",
                 args=("{work}/nested.lua",)),
    Real("libxml2", "libxml2", "`xmllint` reads and writes 34 files of its manual",
         ("*.c",), ("--html", "--format", "doc/API*.html"),
         without=r"^(test.*|run.*|xmlcatalog|trio.*|gentest|DOCB.*)\.c$",
         prepare="[ -f config.h ] || ./configure --disable-shared "
                 "--without-python --without-lzma --without-zlib "
                 "--without-icu --without-modules",
         flags=("-Iinclude", "-I.", "-DHAVE_CONFIG_H", "-D_REENTRANT"),
         libraries=("-lm", "-lpthread")),
    Real("cppcheck", "cppcheck", "some of its own tests (`testrunner`)",
         ("lib/*.cpp", "cli/*.cpp", "externals/*/*.cpp", "test/main.cpp",
          "test/options.cpp", "test/fixture.cpp",
          "test/testmathlib.cpp", "test/testtoken.cpp", "test/testutils.cpp",
          "test/testsimplifytokens.cpp", "test/testexceptionsafety.cpp"),
         ("-q", "TestExceptionSafety", "TestMathLib", "TestToken",
          "TestSimplifyTokens"),
         builds=(("g++", "-O1"),), without="^cli/main.cpp",
         flags=("-std=c++11", "-Ilib", "-Icli", "-Iexternals/simplecpp",
                "-Iexternals/tinyxml2", "-Iexternals/picojson", "-g1",
                "-finstrument-functions-exclude-file-list=/usr/include"),
         libraries=("-lpthread",)),
    Real("zstd", "libzstd", "packs a file with two workers (`-T2`)",
         ("lib/common/*.c", "lib/compress/*.c", "lib/decompress/*.c",
          "lib/dictBuilder/*.c", "programs/*.c"),
         ("-q", "-c", "-3", "-T2", "-B65536", "lib/compress/zstd_compress.c"),
         flags=("-DZSTD_MULTITHREAD", "-DZSTD_DISABLE_ASM", "-Ilib",
                "-DZSTD_LEGACY_SUPPORT=0"),
         libraries=("-lpthread",)),
    Real("dash", "dash", "a script of pipes, subshells and traps that forks "
         "800 times", ("src/*.c", "src/bltin/*.c"), ("{work}/forks.sh",),
         without=r"^src/mk",
         prepare="[ -f src/syntax.c ] || { ./configure && "
                 "make -s -C src ACLOCAL=: AUTOCONF=: AUTOMAKE=: AUTOHEADER=: "
                 "builtins.h builtins.c nodes.h nodes.c syntax.h syntax.c "
                 "token.h token_vars.h signames.c init.c; }",
         flags=("-include", "config.h", "-Isrc", "-I.", "-DBSD=1", "-DSHELL"),
         handlers=("onsig",)),
)


def run(words, **how):
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True,
                          errors="replace", **how)
    if done.returncode:
        raise RuntimeError("%s\n%s" % (shlex.join(map(str, words)),
                                       done.stdout[-3000:]))
    return done.stdout


def sources(program, folder):
    return [str(p.relative_to(folder)) for pattern in program.sources
            for p in sorted(folder.glob(pattern))
            if not re.search(program.without, str(p.relative_to(folder)))]


def words(program, folder):
    """Its arguments; patterns are of files in the package's folder."""
    found = []
    for word in program.args:
        word = word.format(work=WORK)
        matches = sorted(folder.glob(word)) if "*" in word else []
        found += [str(m.relative_to(folder)) for m in matches] or [word]
    return found


def n_lines(program, folder):
    """Lines of what is compiled, and of the headers beside it."""
    files = {folder / s for s in sources(program, folder)}
    for place in {f.parent for f in files}:
        files.update(place.glob("*.h"))
    return sum(f.read_bytes().count(b"\n") for f in files)


def compile_all(program, folder, out, compiler, level):
    def compile_one(source):
        target = out / (source.replace("/", "_") + ".o")
        if not target.exists():
            part = target.with_suffix(".part")
            run((compiler, level, *TRACED, *program.flags, "-c", source,
                 "-o", part), cwd=folder)
            part.rename(target)
        return target

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(compile_one, sources(program, folder)))


def build(program, folder, build_folder, compiler, level):
    """The program, as it lies in build_folder; made if it does not."""
    # One build serves all that is done with a package.
    out = build_folder / ("%s-%s%s" % (program.package, compiler, level))
    target = out / program.package
    out.mkdir(exist_ok=True)
    if program.prepare:
        run(("sh", "-ec", program.prepare), cwd=folder)
    objects = compile_all(program, folder, out, compiler, level)
    witness = out / "witness.o"
    run((os.environ.get("CC", "gcc"), "-O2", "-c", HERE / "witness.c", "-o",
         witness))
    run((compiler, level, *WRAP, *objects, witness, *program.libraries, "-o",
         target))
    return target
