# SPDX-License-Identifier: MIT
"""How the programs of this folder are built: what a case needs beyond one
source file and -g -finstrument-functions, and which programs are built once
more in another way."""

import pathlib
import shutil
import subprocess
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parent.parent / "build"

COMPILERS = {"gcc": ("gcc", "g++"), "clang": ("clang", "clang++"),
             "musl": ("musl-gcc", "musl-gcc")}
BUILDS = [(c, level) for c in ("gcc", "clang") for level in ("-O0", "-O2")]
# musl has no contexts and no dlmopen(), and in Debian no C++.
MUSL_CASES = (
    "aligned_recursion", "altstack", "altstack_jump", "exec", "files",
    "files_lto", "fork", "fork_pool", "fork_raw", "frames", "inlining",
    "jump_callback", "lines", "longjmp_deep", "merged", "nodebug_inlining",
    "nodebug_setjmp", "own_functions", "quiet_recursion", "setjmp_loop",
    "signals", "split", "stacks_by_hand", "stripped")

TRACED = ("-g", "-finstrument-functions")
UNTOLD = TRACED[1:]  # without debug information
HOOKS = TRACED[1]
# In place of hooks: a call in the source is a call in the program, of a function
# with that name.
CALLS = ("-Dalways_inline=", "-fno-inline", "-fno-optimize-sibling-calls")
# Without room at their begins too many of clang's functions would be left out.
CALLS_OF = {"clang": (*CALLS, "-fpatchable-function-entry=5", "-mllvm",
                      "-simplifycfg-sink-common=0"), "gcc": (
    *CALLS, "-fno-ipa-icf", "-fno-ipa-cp", "-fno-ipa-sra",
    "-fno-ipa-pure-const")}
CALLS_OF["musl"] = CALLS_OF["gcc"]
CUT = ("objcopy", "--remove-section=.eh_frame",
       "--remove-section=.eh_frame_hdr")
NO_FRAMES = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
PIC = ("-shared", "-fPIC")
ARCHIVE = BUILD / "libcstrace.a"
# There libc's longjmp and so on are called through the archive.
WRAPPED = (ARCHIVE, "-Wl,@%s" % (BUILD / "static.opts"))
# What other compilers have the linker do by themselves; and musl has no hooks.
MUSL_LINKED = ("-Wl,--build-id,--eh-frame-hdr",)
MUSL_HOOKS = ("-Wl,--no-as-needed", "-L%s" % BUILD, "-lcstrace",
              "-Wl,-rpath,%s" % BUILD)


class Part(NamedTuple):
    """Another source file, from parts/."""

    source: str
    flags: tuple = ()
    name: str = ""  # of the library
    base: tuple = TRACED


class Recipe(NamedTuple):
    program: str = ""  # "": as the case is called
    flags: tuple = ()
    base: tuple = TRACED
    objects: tuple = ()
    libraries: tuple = ()  # linked
    plugins: tuple = ()  # found by the program as PROGRAM.NAME.so
    last: tuple = ()  # a command on the program
    compilers: tuple = tuple(COMPILERS)


def _globals(how):
    """globals.cc, which ends in five ways."""
    return Recipe(
        "globals", ("-pthread", "-DEND=" + how),
        objects=(Part("second.cc", ("-DNAME=second_file",
                                    '-DTEXT="second_file"',
                                    '-DMAKER="_Z11second_filei"')),),
        libraries=(Part("second.cc", ("-DNAME=other_library",
                                      '-DTEXT="other_library"',
                                      '-DMAKER="second.cc"'), "other"),))


def _files(*flags):
    return Recipe("files", flags, objects=(Part("other_file.c", flags),))


def _callbacks(*flags):
    """exceptions_callback.c, linked as by g++."""
    static = "-static-libstdc++" in flags
    cxx = (("-Wl,-Bstatic", "-lstdc++", "-Wl,-Bdynamic", "-lm") if static
           else ("-lstdc++", "-lm"))
    return Recipe("exceptions_callback" if flags else "", (*flags, *cxx),
                  objects=(Part("callbacks.cc"),))


RECIPES = {
    "aligned_recursion": Recipe("quiet_recursion", ("-DALIGNED=64",)),
    "altstack_heap": Recipe("altstack_near", ("-DPLACE=ON_HEAP",)),
    "altstack_frame": Recipe("altstack_near", ("-DPLACE=IN_FRAME",)),
    "altstack_threads": Recipe(flags=("-pthread",)),
    "bare_frames": Recipe("frames", NO_FRAMES),
    "bare_inlining": Recipe("inlining", NO_FRAMES),
    "bare_longjmp": Recipe("longjmp_deep", NO_FRAMES),
    "bare_nodebug": Recipe("setjmp_loop", NO_FRAMES, UNTOLD),
    "coroutines_cxx": Recipe(flags=("-std=c++20", "-pthread")),
    "cut_coroutines": Recipe("coroutines", base=UNTOLD, last=CUT),
    "cut_frames": Recipe("frames", base=UNTOLD, last=CUT),
    "cut_inlining": Recipe("inlining", last=CUT),
    "cut_longjmp": Recipe("longjmp_deep", base=UNTOLD, last=CUT),
    "exceptions_callback": _callbacks(),
    "exceptions_plugin": Recipe(
        "exceptions_callback", ("-DIS_PLUGIN=1",),
        plugins=(Part("callbacks.cc", name="callbacks"),)),
    "exceptions_far": Recipe(
        objects=(Part("through.c", ("-fexceptions",)),),
        libraries=(Part("catcher.cc", name="catcher"),)),
    "files": _files(),
    "files_lto": _files("-flto"),
    "files_patchable": _files("-fpatchable-function-entry=5,3"),
    "files_pg": _files("-pg"),
    "exec": Recipe(flags=("-pthread",)),
    "fork": Recipe(flags=("-pthread",)),
    "fork_pool": Recipe(flags=("-pthread",)),
    "frames_hidden": Recipe("frames", ("-fvisibility=hidden", "-DLINKAGE=")),
    "globals": _globals("return_from_main"),
    "globals_abort": _globals("call_abort"),
    "globals_exit": _globals("call_exit"),
    "globals_quick": _globals("call_quick_exit"),
    "globals_short": _globals("call__exit"),
    "jump_contexts": Recipe("jump_coroutines", ("-DBY_CONTEXT=1",)),
    "migrating": Recipe(flags=("-pthread", "-DIS_UNSEEN=0")),
    "migrating_first": Recipe("migrating", ("-pthread", "-DIS_UNSEEN=2")),
    "migrating_unseen": Recipe("migrating", ("-pthread", "-DIS_UNSEEN=1")),
    # Nothing tells there that a jump left an inlined call.
    "nodebug_inlining": Recipe("inlining", ("-DNO_JUMP=1",), UNTOLD),
    "nodebug_setjmp": Recipe("setjmp_loop", base=UNTOLD),
    "plugins": Recipe(plugins=(Part("plugin.c", ("-DPREFIX=a",), "a"),
                               Part("plugin.c", ("-DPREFIX=b",), "b"))),
    "stacks_by_hand": Recipe(flags=("-pthread",)),
    "stacks_by_hand_down": Recipe("stacks_by_hand",
                                  ("-pthread", "-DIS_DOWN=1")),
    "linked_exec": Recipe("exec", ("-pthread", "-Wl,--no-as-needed",
                                   "-L%s" % BUILD, "-lcstrace",
                                   "-Wl,-rpath,%s" % BUILD)),
    "static": Recipe("setjmp_loop", ("-static", ARCHIVE)),
    "static_altstack": Recipe("altstack_near", ("-static", *WRAPPED)),
    "static_callbacks": _callbacks("-static", *WRAPPED),
    "static_contexts": Recipe("coroutine_ends", ("-static", *WRAPPED)),
    "static_exceptions": Recipe("exceptions", ("-static", ARCHIVE)),
    "static_exec": Recipe("exec", ("-static", "-pthread", *WRAPPED)),
    "static_forks": Recipe("fork_raw", ("-static", *WRAPPED)),
    # Without bsearch() from libc's header, which is the program's own there.
    "static_jumps": Recipe("jump_callback", ("-static", "-D__NO_INLINE__",
                                             *WRAPPED)),
    "static_unwinder": _callbacks("-static-libgcc", "-static-libstdc++",
                                  *WRAPPED),
    "stripped": Recipe(base=UNTOLD, last=("strip",)),
    "stripped_exceptions": Recipe(base=UNTOLD, last=("strip",)),
    "thread_ends": Recipe(flags=("-pthread",)),
}


def cases():
    return sorted({*RECIPES, *(p.stem for p in HERE.glob("*.c*")
                               if p.suffix in (".c", ".cc"))})


def is_patchable(case):
    """Can a build without hooks be traced?  Not static programs, nor those
    that have no call frame information, or the shim's archive."""
    r = recipe(case)
    return not ("-static" in r.flags or ARCHIVE in r.flags or r.last == CUT
                or set(NO_FRAMES) & set(r.flags))


def recipe(case):
    return RECIPES.get(case, Recipe())


def source(case):
    name = recipe(case).program or case
    return next(p for p in (HERE / (name + ".c"), HERE / (name + ".cc"))
                if p.exists())


def _run(*words):
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise AssertionError("%s\n%s" % (" ".join(map(str, words)),
                                         done.stdout))


def build(case, compiler, level, folder, has_hooks=True):
    """The program, or None where there is no such compiler for it."""
    r = recipe(case)
    compilers = COMPILERS[compiler]
    if compiler not in r.compilers or not all(map(shutil.which, compilers)):
        return None
    out = folder / ("%s-%s%s" % (case, compiler, level))

    def make(path, target, *flags):
        if not has_hooks:
            flags = [f for f in flags if f != HOOKS] + [
                *CALLS_OF[compiler]]
        _run(compilers[path.suffix == ".cc"], level, "-w", path, *flags, "-o",
             target)
        return target

    def part(p, target, *more):
        return make(HERE / "parts" / p.source, target, *p.base, *p.flags,
                    *more)

    words = [part(p, "%s.%s.o" % (out, p.source), "-c") for p in r.objects]
    words += [part(p, folder / ("lib%s-%s.so" % (p.name, out.name)), *PIC)
              for p in r.libraries]
    for p in r.plugins:
        part(p, "%s.%s.so" % (out, p.name), *PIC)
    if compiler == "musl":
        words += [*MUSL_LINKED, *(MUSL_HOOKS if has_hooks else ())]
    make(source(case), out, *r.base, *words, *r.flags, "-Wl,-rpath,$ORIGIN")
    if r.last:
        _run(*r.last, out)
    return out
