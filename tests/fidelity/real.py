# SPDX-License-Identifier: MIT
"""A real program: Debian's Lua interpreter raises its errors by longjmp.  It
is built with hooks, runs a script of 100,000 errors, and the tree is compared,
call for call, with what parts/truth.c counted in another run.

`make fidelity REAL=1` calls it; it needs the network for the source."""

import json
import os
import pathlib
import struct
import subprocess

from recipes import COMPILERS, TRACED

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
PARTS = HERE / "parts"
PACKAGE = "lua5.4"
ENTRY = struct.Struct("<QQ")


def fetch(folder):
    """Debian's source package, by apt's own sources with "deb-src"."""
    parts = folder / "parts"
    (folder / "lists" / "partial").mkdir(parents=True)
    parts.mkdir()
    etc = pathlib.Path("/etc/apt")
    for path in [etc / "sources.list", *etc.glob("sources.list.d/*")]:
        if path.exists():
            text = path.read_text().replace("Types: deb\n", "Types: deb-src\n")
            text = "\n".join("deb-src " + line[4:] if line.startswith("deb ")
                             else line for line in text.splitlines())
            (parts / path.name).write_text(text + "\n")
    options = ["-o", "Dir::Etc::SourceList=/dev/null", "-o",
               "Dir::Etc::SourceParts=%s" % parts, "-o",
               "Dir::State::lists=%s" % (folder / "lists"), "-qq"]
    for words in (["update"], ["source", "--download-only", PACKAGE]):
        subprocess.run(["apt-get", *options, *words], cwd=folder, check=True)
    archive, = folder.glob("*.orig.tar.*")
    subprocess.run(["tar", "-xf", archive], cwd=folder, check=True)
    source, = folder.glob("lua-*/src")
    return source


def build(source, compiler, level, out):
    files = [p for p in sorted(source.glob("*.c")) if p.name != "luac.c"]
    subprocess.run([COMPILERS[compiler][0], level, *TRACED, "-w", "-no-pie",
                    # What truth.c may define is looked for when it runs.
                    "-fPIC", "-Wl,-z,dynamic-undefined-weak",
                    "-DLUA_USE_POSIX", "-include",
                    PARTS / "truth.h", *files, "-lm", "-o", out], check=True)


def names(program):
    text = subprocess.run(["nm", "--defined-only", program], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    found = {}
    for line in text.splitlines():
        address, kind, name = line.split()
        if kind in "tT":
            found[int(address, 16)] = name
    return found


def told(program, folder):
    """(depth, function) of each call, as counted."""
    library, path = folder / "truth.so", folder / "told"
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", PARTS / "truth.c", "-o",
                    library], check=True)
    # Where gdb puts it: the script makes text of addresses, and the length of
    # that tells when garbage is collected.
    subprocess.run(["setarch", "-R", program, PARTS / "errors.lua"], check=True,
                   stdout=subprocess.DEVNULL,
                   env={**os.environ, "LD_PRELOAD": str(library),
                        "TRUTH": str(path)})
    known = names(program)
    with open(path, "rb") as f:
        while data := f.read(ENTRY.size * 65536):
            for depth, function in ENTRY.iter_unpack(data):
                # A header's inline function is called by its address in the
                # C library: None.
                yield depth, known.get(function)


def recorded(program, folder):
    """What cstrace recorded."""
    tree = folder / "tree.jsonl"
    subprocess.run(
        [os.environ.get("GDB", "gdb"), "-q", "-nx", "-batch", "-x",
         TOP / "cstrace.py", "-ex", "set cstrace live off",
         "-ex", "set cstrace std on", "-ex", "cstrace start", "-ex", "run",
         "-ex", "cstrace save %s" % tree,
         "--args", program, PARTS / "errors.lua"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    with open(tree) as f:
        for line in f:
            call = json.loads(line)
            yield call["depth"], call["function"]
    tree.unlink()


def compare(program, folder):
    """How many calls agree, and what is wrong then; None: nothing."""
    theirs, n = told(program, folder), 0
    for ours in recorded(program, folder):
        expected = next(theirs, None)
        if not expected or ours[0] != expected[0] or expected[1] not in (
                None, ours[1]):
            return n, "call %d is %r, not %r" % (n + 1, ours, expected)
        n += 1
    if next(theirs, None) is not None:
        return n, "only %d calls" % n
    return n, None


def rows(folder):
    """For the table: (what, calls, result) of each build."""
    source = fetch(folder)
    for compiler in COMPILERS:
        for level in ("-O0", "-O2"):
            program = folder / ("lua-%s%s" % (compiler, level))
            build(source, compiler, level, program)
            n, fault = compare(program, folder)
            print(source.parent.name, compiler, level, n, fault or "right",
                  flush=True)
            yield source.parent.name, compiler, level, n, fault or "right"
