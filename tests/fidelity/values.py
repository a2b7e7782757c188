# SPDX-License-Identifier: MIT
"""Runs the programs of values/, which say themselves what each of their calls
was handed and what it answered, and compares that with cstrace's rows.

Where a compiler has left nothing of a value when the hook is called, rows have
`<optimized out>`, or no result: that is counted.  Any other difference is a
fault.
"""

import os
import pathlib
import re
import shutil
import subprocess
from typing import NamedTuple, Optional

import fidelity
import recipes

HERE = pathlib.Path(__file__).resolve().parent / "values"
GONE = "<optimized out>"
ROWS = ("--timestamp", "off", "--no-duration", "--no-callsite", "--no-thread")
RECURSIVE = ("down",)
MEMBERS = "cxx_members"  # the case that wants them
# No larger a share may be gone.
MOST_GONE = {"-O0": 0.1, "-O2": 0.35}


class Outcome(NamedTuple):
    fault: Optional[str]
    values: int = 0
    gone: int = 0

    def text(self):
        if self.fault:
            return self.fault
        if not self.gone:
            return "all %d right" % self.values
        return "%d right, %d gone" % (self.values - self.gone, self.gone)


def cases():
    return sorted(p.stem for p in HERE.glob("*.c*"))


def source(case):
    return next(HERE.glob(case + ".c*"))


def build(case, compiler, level, folder):
    """The program, or None where there is no such compiler."""
    path = source(case)
    command = recipes.COMPILERS[compiler][path.suffix == ".cc"]
    if not shutil.which(command):
        return None
    out = folder / ("%s-%s%s" % (case, compiler, level))
    words = [command, level, "-w", *recipes.TRACED]
    if path.suffix == ".cc":
        words.append("-std=c++17")
    library = HERE / "parts" / (case + path.suffix)
    linked = []
    if library.exists():
        shared = folder / ("lib%s.so" % out.name)
        recipes._run(*words, *recipes.PIC, library, "-o", shared)
        linked = [shared, "-Wl,-rpath,$ORIGIN"]
    recipes._run(*words, path, *linked, "-o", out)
    return out


def record(program, folder):
    """gdb's output, what the program says, and the rows."""
    told, rows = (folder / (program.name + end) for end in (".told", ".txt"))
    commands = ["handle all nostop noprint pass", "set cstrace live off",
                "set cstrace args on", "set cstrace results on",
                "set cstrace members %s"
                % ("on" if program.name.startswith(MEMBERS) else "off"),
                "set cstrace timestamp off", "set cstrace duration off",
                "set cstrace callsite off", "cstrace start",
                "run 9>%s" % told, "cstrace save -no-thread %s" % rows]
    words = [os.environ.get("GDB", "gdb"), "-q", "-nx", *fidelity.gdb_words(),
             "-batch", "-x", str(fidelity.TOP / "cstrace.py")]
    for c in commands:
        words += ["-ex", c]
    done = subprocess.run([*words, str(program)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=fidelity.TIMEOUT,
                          errors="replace", cwd=folder,
                          env={**os.environ, "SHELL": "/bin/sh"})
    return done.stdout, told, rows


def record_alone(program, folder):
    """Records without gdb."""
    told, rows, trace = (folder / (program.name + end)
                         for end in (".told", ".txt", ".cst"))
    command, output = str(recipes.BUILD / "cstrace"), ""
    wanted = "--members" if program.name.startswith(MEMBERS) else "--args"
    for words in (["record", wanted, "-o", trace, "--", "sh", "-c",
                   'exec "$0" 9>"$1"', program, told],
                  ["save", *ROWS, trace, rows]):
        output += subprocess.run(
            [command, *map(str, words)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=fidelity.TIMEOUT, errors="replace", cwd=folder).stdout
    return output, told, rows


def name_of(row):
    return re.match(r".*?(?=\(| = |$)", row)[0]


def difference(told, row):
    """What is wrong in a row, and how many of its values are gone."""
    gone = row.count(GONE)
    pattern = ".*?".join(map(re.escape, row.split(GONE)))
    if re.fullmatch(pattern, told):
        return None, gone
    cut = told.rfind(" = ")
    if cut > 0 and re.fullmatch(pattern, told[:cut]):
        return None, gone + 1  # no result
    return "%s, not %s" % (row, told), gone


def read_rows(path):
    """The calls, without their depth."""
    rows = [line.lstrip(" ·│├└─") for line in path.read_text().splitlines()]
    return [r for r in rows if r and not r.startswith("# ")]


def count_values(line):
    """How many values a line has: those behind a name, and the result."""
    plain = re.sub(r'"(\\.|[^"])*"|\'(\\.|[^\'])*\'', '""', line)
    return len(re.findall(r"(?<=\w)=| = ", plain))


def compare(told_path, rows_path, most_gone):
    told = told_path.read_text(errors="replace").splitlines()
    rows = read_rows(rows_path)
    values = gone = 0
    by_name = {}
    for row in rows:
        by_name.setdefault(name_of(row), []).append(row)
    for line in told:
        name = name_of(line)
        if not by_name.get(name):
            return Outcome("no row for %s" % line)
        # The innermost call of a recursion ends first.
        fault, n = difference(line, by_name[name].pop(
            -1 if name in RECURSIVE else 0))
        if fault:
            return Outcome(fault)
        gone += n
        values += count_values(line)
    left = [row for name in {name_of(line) for line in told}
            for row in by_name[name]]
    if left or not told:
        return Outcome("nobody told of %s" % left)
    if gone > values * most_gone:
        return Outcome("%d of %d values are gone" % (gone, values))
    return Outcome(None, values, gone)


def check(case, compiler, level, folder, recorder=record):
    """The outcome; None where there is no such compiler."""
    program = fidelity.built(case, compiler, level, build, "values")
    if program is None:
        return None
    output, told, rows = recorder(program, folder)
    if not rows.exists():
        return Outcome("no rows were saved: %s" % output.strip()[-300:])
    return compare(told, rows, MOST_GONE[level])
