# SPDX-License-Identifier: MIT
"""cstrace check runs the command of that name: it reads the file, gdb adds what
only the running process tells."""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple, Optional

import gdb

from .. import locate
from ..engine import CstraceError
from ..process import elf, hooks
from ..process.control import Control
from ..process.connection import is_native, is_remote
from ..session.session import Session
from ..ui import console, options
from ..ui.options import Option
from .base import FORMAT, TraceCommand


class Finding(NamedTuple):
    label: str
    text: str
    advice: Optional[str] = None


def _run(words: list[str]) -> str:
    """What the command prints.  gdb waits for its own children only when its
    event loop runs, so that nobody takes this one's end away."""
    import subprocess  # later than gdb's start

    done = subprocess.run([locate.command(), "check", "--in-gdb", *words],
                          stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="utf-8", errors="backslashreplace")
    if done.returncode in (0, 1) and done.stdout:
        return done.stdout
    raise CstraceError(done.stderr.strip().removeprefix("cstrace: ")
                       or "the command ended with status %d" % done.returncode)


# ---- the running process -------------------------------------------------------


def _of_process(session: Session) -> list[Finding]:
    if not is_native() and not is_remote():
        return [Finding("process", "not on this machine: cannot be traced")]
    found = []
    control = Control.find()
    if control is None and is_remote() and hooks.is_loading():
        found.append(Finding("process", "has not loaded its libraries yet"))
    elif control is None:
        found.append(Finding(
            "process", "runs without libcstrace.so", "cstrace start says what "
            "to type" if is_remote() else "cstrace start, which loads it"))
    elif control.version_error():
        found.append(Finding("process", control.version_error() or "",
                             "run it again"))
    else:
        found.append(Finding("process", "libcstrace.so is in it"))
        found += _astray()
    if session.is_on():
        found.append(Finding("trace", "on, " + session.summary()))
    else:
        found.append(Finding("trace", "off", "cstrace start"))
    return found


def _astray() -> list[Finding]:
    """Files whose hooks lead elsewhere, as with dlmopen or RTLD_DEEPBIND."""
    found = []
    memory = hooks.Memory()
    mapped = hooks.mappings(gdb.selected_inferior().pid)
    for path in sorted({m[3] for m in mapped}):
        if not hooks.uses_hooks(path):
            continue
        base = hooks.load_address(path)
        for slot, _name in hooks.slots_of(path):
            to = memory.word((base or 0) + slot)
            where = next((m[3] for m in mapped if m[0] <= to < m[1]), None)
            if where is None or where == path or locate.is_shim(where):
                continue  # not bound yet, or as it should be
            found.append(Finding(
                "astray", "%s calls the hooks of %s"
                % (os.path.basename(path), os.path.basename(where)),
                "cstrace start before it is loaded (dlmopen, RTLD_DEEPBIND), "
                "or load it by dlopen"))
            break
    return found


def _with(page: str, output: str, found: list[Finding]) -> str:
    """The page with these rows behind the others."""
    import csv  # all later than gdb's start
    import io
    import json

    rows = [dict(kind="fact", name=f.label, text=f.text, advice=f.advice)
            for f in found]
    if output == "json":
        document = json.loads(page)
        columns = dict.fromkeys(document["rows"][0])
        document["rows"] += [{**columns, **row} for row in rows]
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    if output == "csv":
        table = io.StringIO()
        csv.DictWriter(table, page.splitlines()[0].split(","),
                       lineterminator="\n").writerows(rows)
        return page + table.getvalue()
    page += "\n"
    for f in found:
        page += "  %-11s %s\n" % (f.label, f.text)
        if f.advice:
            page += "    -> %s\n" % f.advice
    return page


# ---- the file ------------------------------------------------------------------


def _debug_file(path: str) -> Optional[str]:
    """The separate one that gdb has found."""
    for objfile in gdb.objfiles():
        if (objfile.is_valid() and objfile.owner is not None
                and locate.file_name(objfile.owner) == path):
            return locate.file_name(objfile)
    return None


def _split_file(text: str) -> tuple[Optional[str], str]:
    """The file that the first word names, or None, and what is left.  Without
    a slash it may well be a function's name: then only what can be checked is
    taken for a file."""
    try:
        word, rest = options.first_word(text)
    except gdb.GdbError:
        return None, text  # a regex with a quote in it
    path = os.path.abspath(os.path.expanduser(word))
    if not word or not os.path.isfile(path):
        if re.match(r"~?\.{0,2}/", word):
            raise gdb.GdbError("there is no file %s" % word)
        return None, text
    if "/" not in word and elf.read(path).machine == 0:
        return None, text
    program = hooks.program()
    if program and os.path.realpath(path) == os.path.realpath(program):
        path = program
    return path, rest


class CheckCommand(TraceCommand):
    """Say what the program needs so that it can be traced.

    Usage: cstrace check [-all] [-patch] [-format text|json|csv] [REGEX]
           cstrace check [-all] [-patch] [-format text|json|csv] FILE [REGEX]

    Below a finding "->" tells what mends it.  With a running process, also
    whether libcstrace.so is in it.  With FILE, the name of a program, library
    or object file, that is looked at, not the program; '^FILE$' is a REGEX.

    With REGEX: what became of the functions whose name it is found in, and so
    why they are not in a trace: not there at all, inlined, left out, compiled
    without the hooks, or just not called.

      -all        all units or functions, not the first 20
      -patch      what is traced without hooks, and what is not and why
      -format F   for programs: a row for each finding, all of them"""

    name = "cstrace check"
    rest = gdb.COMPLETE_SYMBOL
    options = [Option("all", None), Option("patch", None), FORMAT]

    def run(self, values: dict[str, Any], rest: str) -> None:
        file, rest = _split_file(rest)
        regex = options.the_regex(rest)
        path = file or hooks.program()
        if path is None:
            raise gdb.GdbError("there is no program: `file ./app` first")
        is_there = not file and locate.is_elsewhere(gdb.current_progspace())
        if is_there or not os.path.exists(path):
            raise gdb.GdbError("%s is not on this machine: name a copy of it, "
                               "cstrace check FILE" % path)
        output = values.get("format", "text")
        words = ["--format", output, *("--" + name for name in ("all", "patch")
                                       if name in values)]
        debug_file = _debug_file(path)
        if debug_file is not None:
            words += ["--debug-file", debug_file]
        shown = os.path.relpath(path)
        words += ["--", path if shown.startswith("..") else "./" + shown]
        page = _run(words + ([] if regex is None else [regex]))
        if (gdb.selected_inferior().pid and regex is None
                and "patch" not in values and path == hooks.program()):
            page = _with(page, output, _of_process(self.session))
        console.write(page)
