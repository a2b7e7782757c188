# SPDX-License-Identifier: MIT

from __future__ import annotations

import csv
import io
import json
import os
import re
from contextlib import contextmanager
from typing import Any, Iterator, Optional

import gdb

from .. import engine, locate
from ..check import checklive
from ..process import elf, hooks
from ..ui import options
from ..ui.console import say
from ..engine import make_choice
from ..ui.options import Option
from .base import FORMAT, TraceCommand

_N_ROWS = 20
_MUCH = 2 << 20  # bytes; some seconds
_LINKED = ("shim", "archive")
_NO_DEBUG = {
    False: ("none: calls have no file and line", "compile with -g"),
    True: ("there, but not for pyelftools", "use the command cstrace check")}
_NO_RUST = "rustc has no option for the hooks"
_EXCLUDE = "-finstrument-functions-exclude-"
_SUPPLY = {"": "none", "imported": "imported, as libcstrace.so supplies them",
           "own": "defined by the file itself",
           "shim": "libcstrace.so's, which it is linked with",
           "archive": "libcstrace.a's, which is linked in"}


_COLUMNS = ("kind", "name", "text", "advice", "functions",
            "functions_with_hooks", "file", "line")


class _Page:
    """What is said: rows of a label and a finding, and what mends it; for
    programs, a table with a row for each finding."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._rows: list[dict[str, Any]] = []
        self.n_hooked = 0  # functions that were asked about

    def find(self, kind: str, **cells: Any) -> None:
        """A row of the table; its text has what comes by line() or row()."""
        self._rows.append(dict(dict.fromkeys(_COLUMNS), kind=kind, **cells))

    def line(self, text: str = "") -> None:
        self._lines.append("".join(
            c if c.isprintable() else "".join(
                "\\x%02x" % b for b in c.encode("utf-8", "surrogateescape"))
            for c in text))

    def row(self, label: str, text: str) -> None:
        self.line("  %-11s %s" % (label, text))
        self.find("fact", name=label, text=text)

    def verdict(self, text: str) -> None:
        self.line(text)
        self.find("verdict", text=text)

    def tell(self, text: str) -> None:
        """What became of the function."""
        self.line("    " + text)
        self._rows[-1]["text"] = text

    def mend(self, text: str) -> None:
        self.line("    -> " + text)
        last = self._rows[-1]
        last["advice"] = ("; ".join([last["advice"], text])
                          if last["advice"] else text)

    def write(self, output: str, path: str) -> None:
        if output == "json":
            document = {"path": path, "rows": self._rows,
                        "is_good": self.is_good()}
            gdb.write(json.dumps(document, indent=1, ensure_ascii=False)
                      + "\n")
        elif output == "csv":
            table = io.StringIO()
            writer = csv.DictWriter(table, _COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self._rows)
            gdb.write(table.getvalue())
        else:
            gdb.write("\n".join(self._lines) + "\n")

    def is_good(self) -> bool:
        """Can it be traced, or one of the functions asked about?"""
        if any(row["kind"] == "function" for row in self._rows):
            return self.n_hooked > 0
        return not any(row["kind"] == "verdict"
                       and " cannot be traced: " in row["text"]
                       for row in self._rows)


def _places(n: int) -> str:
    return "%d place%s" % (n, "" if n == 1 else "s")


class _Check:
    """One program, looked at."""

    def __init__(self, path: str) -> None:
        from ..check import checkfile

        shown = os.path.relpath(path)
        self.shown = path if shown.startswith("..") else "./" + shown
        self.page = _Page()
        debug_path = _debug_file(path)
        size = checkfile.debug_size(debug_path or path)
        if size >= _MUCH:
            say("reading %d MB of debug information; the command, cstrace "
                "check %s, is quicker" % (size >> 20, self.shown))
        self.file = checkfile.File(path, debug_path)
        self.libraries = checkfile.libraries(path)
        self.supply = "shim" if self.libraries.has_shim else self.file.hooks
        is_program = self.file.kind == checkfile.PROGRAM
        self.rights = is_program and hooks.is_privileged(path)

    # ---- the verdict ---------------------------------------------------------

    def _no(self, why: str, *mends: str) -> None:
        self.page.verdict("%s cannot be traced: %s" % (self.shown, why))
        for mend in mends:
            self.page.mend(mend)

    def _gdb_only(self, why: str, mend: str) -> None:
        self.page.verdict("%s can be traced in gdb only: %s" % (self.shown, why))
        self.page.mend(mend)

    def verdict(self) -> None:
        f = self.file
        has_hooks = self.supply or self.libraries.with_hooks
        if self.rights and has_hooks and self.supply not in _LINKED:
            self._no("it runs with another user's rights, so libcstrace.so "
                     "cannot get into it", "trace a copy without them: cp %s "
                     "/tmp" % self.shown)
        elif not self.supply or (self.supply != "imported" and not f.sites):
            self._without_hooks()
        elif self.supply == "own" and f.is_dynamic:
            self._gdb_only("it defines the hooks itself, so that "
                           "libcstrace.so's are not called",
                           "take its __cyg_profile_func_enter and _exit out")
        elif self.supply == "own":
            self._gdb_only("a static program cannot take libcstrace.so",
                           "link libcstrace.a into it: -lcstrace")
        else:
            self._yes()

    def _yes(self) -> None:
        n = sum(u.n_functions for u in self.file.units)
        n_hooked = sum(u.n_hooked for u in self.file.units)
        if not n:
            n = self.file.no_unit.n_functions
            n_hooked = self.file.no_unit.n_hooked
        told = "%d of %d functions call the hooks" % (n_hooked, n)
        if not self.file.sites:
            told = ("it imports the hooks, though no call of them is seen "
                    "(-mcmodel=large?)")
        elif not n:
            told = ("its code calls the hooks in %d places"
                    % len(self.file.sites))
        self.page.verdict("%s can be traced: %s" % (self.shown, told))

    def _without_hooks(self) -> None:
        f = self.file
        if self.libraries.with_hooks:
            self.page.verdict("%s itself has no hooks: only calls in %s are "
                              "traced" % (self.shown,
                                          self.libraries.with_hooks[0]))
        elif not f.is_dynamic and f.is_stripped:
            self._no("it is static and stripped, so that no symbol tells "
                     "where its hooks are", "do not strip it (no -s, no "
                     "strip), and link libcstrace.a into it: -lcstrace")
        else:
            self._no_hooks()
            if self.rights:
                self.page.mend("and trace a copy without another user's "
                               "rights: cp %s /tmp" % self.shown)
            if f.uses("dlopen", "dlmopen"):
                self.page.mend("or check what it loads while it runs "
                               "(dlopen): that may have them")

    def _no_hooks(self) -> None:
        flag = re.search(_EXCLUDE + r"\S*",
                         " ".join(u.producer for u in self.file.units))
        if flag:
            self._no("all its functions were left out of -finstrument-"
                     "functions", "compile it without " + flag.group())
        else:
            units = [u for u in self.file.units
                     if u.n_functions and not u.is_assembler]
            self._no("it has no -finstrument-functions hooks",
                     _NO_RUST + ": in Rust programs only C and C++ code can "
                     "be traced" if units and all(u.is_rust() for u in units)
                     else "compile it with gcc or clang -g "
                          "-finstrument-functions")

    # ---- the findings --------------------------------------------------------

    def facts(self) -> None:
        f, page = self.file, self.page
        kind = "%s for x86-64" % f.kind
        if f.kind == "program":
            kind += ", dynamic, " if f.is_dynamic else ", static, "
            kind += ("position independent (PIE)" if f.is_pie
                     else "at a fixed address (no PIE)")
        page.row("file", kind)
        page.row("hooks", _SUPPLY[self.supply])
        self._debug_info()
        if not f.is_stripped:
            page.row("symbols", "all")
        else:
            page.row("symbols", "exported ones only (stripped): other "
                     "functions have no name" if f.is_dynamic
                     else "none (stripped)")
            page.mend("do not strip it (no -s, no strip), or install its "
                      "debug file")
        if self.rights:
            page.row("rights", "another user's (setuid, setgid or "
                     "capabilities)")
        if f.sanitizers():
            page.row("sanitizers", ", ".join(f.sanitizers()))
        self._libraries()

    def _debug_info(self) -> None:
        versions = sorted({u.version for u in self.file.units})
        if not versions:
            found, mend = _NO_DEBUG[self.file.is_unread]
            self.page.row("debug info", found)
            return self.page.mend(mend)
        text = "DWARF " + " and ".join(map(str, versions))
        if self.file.debug_path:
            text += ", in " + self.file.debug_path
        self.page.row("debug info", text)

    def _libraries(self) -> None:
        found = self.libraries
        for label, names in (("with hooks", found.with_hooks),
                             ("no hooks", found.without),
                             ("not found", found.missing)):
            if names:
                self.page.row("libraries", "%s: %s" % (label,
                                                       ", ".join(names)))
        if found.missing:
            self.page.mend("install them, or say where they are: "
                           "LD_LIBRARY_PATH, -Wl,-rpath")

    def units(self, limit: Optional[int]) -> None:
        rows = _unit_rows(self.file)
        if not rows:
            return
        shown = rows[:limit]
        width = max(4, *(len(r[2]) for r in shown))
        self.page.line()
        self.page.line("  FUNCTIONS  WITH HOOKS  UNIT")
        for n, n_hooked, unit, advice in shown:
            name = ("%-*s  -> %s" % (width, unit, advice) if advice
                    else unit)
            self.page.line("  %9d  %10d  %s" % (n, n_hooked, name))
            self.page.find("unit", name=unit, functions=n,
                           functions_with_hooks=n_hooked,
                           advice=advice or None)
        if len(rows) > len(shown):
            self.page.line("  and %d more units: -all shows them"
                           % (len(rows) - len(shown)))

    # ---- functions -----------------------------------------------------------

    def functions(self, regex: str, limit: Optional[int]) -> None:
        from ..check import checknames

        names = checknames.Finder(self.file, _bias(self.file)).find(regex)
        if not names:
            self._no_function(regex)
        n_own = sum(not n.is_std() for n in names)
        if limit is not None and 0 < n_own < limit:
            limit = n_own
        for name in names[:limit]:
            self.page.line()
            place = ("  %s:%d" % (name.file, name.line) if name.line else "")
            self.page.line("  %s%s" % (name.name, place))
            self.page.find("function", name=name.name, file=name.file or None,
                           line=name.line or None)
            self._tell(name, regex)
        if names and names[0].imported and self.file.is_stripped:
            self._stripped()
        if limit is not None and len(names) > limit:
            what = (" of the C++ library or system headers" if limit == n_own
                    else "")
            self.page.line()
            self.page.line("  and %d more functions%s: -all shows them"
                           % (len(names) - limit, what))

    def _stripped(self) -> None:
        self.page.mend("do not strip the file: only exported functions have a "
                       "name in it")

    def _no_function(self, regex: str) -> None:
        from ..check import checknames

        self.page.line()
        self.page.line("  no function matches '%s'" % regex)
        self.page.find("function", name=regex, text="no function matches")
        if self.file.is_stripped:
            self._stripped()
        meant = checknames.near(self.file, regex)
        if meant:
            self.page.mend("there is " + meant)
        elif self.file.units:
            self.page.mend("the command, cstrace check %s '%s', knows as well "
                           "what no code is left of" % (self.shown, regex))

    def _say(self, text: str, mend: Optional[str] = None) -> None:
        self.page.tell(text)
        if mend:
            self.page.mend(mend)

    def _tell(self, n: Any, regex: str) -> None:
        if n.is_hooked():
            self.page.n_hooked += 1
            self._tell_hooked(n)
        elif n.imported is None and self.supply == "imported" \
                and not self.file.sites:
            self._say("may call the hooks: no call of them is seen in the "
                      "file (-mcmodel=large?)")
        elif n.n_copies or n.n_inlined:
            self._tell_bare(n)
        else:
            from ..check import checknames

            path = checknames.owner(self.libraries.paths, n.imported)
            if path is None:
                self._say("is in another file")
            else:
                self._say("is in a library: " + path,
                          "cstrace check %s '%s'" % (path, regex))

    def _tell_hooked(self, n: Any) -> None:
        bare = n.n_inlined - n.n_inlined_hooked
        if n.is_std():
            self._say("calls the hooks, but is hidden: it is the C++ "
                      "library's or a system header's",
                      "set cstrace std on")
        elif bare:
            self._say("calls the hooks, but not where it was inlined (%d of "
                      "%s)" % (bare, _places(n.n_inlined)),
                      "__attribute__((noinline)), or with clang "
                      "-finstrument-functions without -after-inlining")
        else:
            self._say("calls the hooks: if it is not in the trace, it was "
                      "not called or a filter hides it")

    def _tell_bare(self, n: Any) -> None:
        unit = n.unit
        if unit is None:
            self._say("does not call the hooks (without debug information "
                      "nothing tells why)",
                      "compile it with -g -finstrument-functions")
        elif unit.is_assembler:
            self._say("is written in assembler (%s)" % unit.name,
                      "call the hooks by hand")
        elif unit.is_instrumented():
            self._tell_excluded(n, unit)
        else:
            self._say("does not call the hooks: %s was compiled without them"
                      % unit.name if n.n_copies else
                      "was inlined everywhere (%s), and %s was compiled "
                      "without the hooks" % (_places(n.n_inlined), unit.name),
                      _NO_RUST if unit.is_rust() else
                      "compile %s with -finstrument-functions" % unit.name)

    def _tell_excluded(self, n: Any, unit: Any) -> None:
        from ..check.checknames import excluded_by

        flag = (excluded_by(unit.producer, _EXCLUDE + "function-list=", n.name)
                or excluded_by(unit.producer, _EXCLUDE + "file-list=", n.file))
        if flag:
            self._say("was left out by " + flag,
                      "compile %s without that" % unit.name)
        elif not n.n_copies and "clang" in unit.producer:
            self._say("was inlined everywhere (%s), and so without the hooks"
                      % _places(n.n_inlined),
                      "compile %s with -finstrument-functions, not "
                      "-finstrument-functions-after-inlining, or make it "
                      "__attribute__((noinline))" % unit.name)
        else:
            self._say("was left out, others in %s were not: it is marked "
                      "no_instrument_function" % unit.name,
                      "take __attribute__((no_instrument_function)) from it")


def _unit_rows(file: Any) -> list[tuple[int, int, str, str]]:
    """Those with trouble first; units of one name are one row."""
    merged: dict[str, list[Any]] = {}
    for u in [*file.units, file.no_unit]:
        if u.n_functions:
            name = "(no debug information)" if u is file.no_unit else u.name
            merged.setdefault(name, []).append(u)
    rows = []
    for name, units in merged.items():
        n = sum(u.n_functions for u in units)
        n_hooked = sum(u.n_hooked for u in units)
        trouble = 3 if name[0] == "(" else (n_hooked > 0) + (n_hooked == n)
        advice = ""
        if not file.sites:  # the verdict has said it
            pass
        elif any(u.is_assembler for u in units):
            advice = "assembler: the hooks must be called by hand"
        elif trouble == 3:
            pass
        elif any(u.is_rust() for u in units):
            advice = _NO_RUST
        elif not any(u.is_instrumented() for u in units):
            advice = "compile it with -finstrument-functions"
        elif n_hooked < n:
            advice = "cstrace check REGEX tells why"
        rows.append((trouble, -n, name, n_hooked, advice))
    return [(-n, n_hooked, name, advice)
            for _trouble, n, name, n_hooked, advice in sorted(rows)]


def _debug_file(path: str) -> Optional[str]:
    """The separate one that gdb has found."""
    for objfile in gdb.objfiles():
        if (objfile.is_valid() and objfile.owner is not None
                and locate.file_name(objfile.owner) == path):
            return locate.file_name(objfile)
    return None


def _bias(file: Any) -> int:
    """What gdb adds to the file's addresses: it runs, or has run, somewhere
    else."""
    for f in file.functions[:64] if file.is_pie else ():
        address = hooks.symbol_address(f.name)
        if address is not None and (address - f.start) % 4096 == 0:
            return address - f.start
    return 0


@contextmanager
def _readable(path: str) -> Iterator[None]:
    """A file that pyelftools or gdb cannot read is told in one line."""
    try:
        yield
    except ImportError:
        raise gdb.GdbError(
            "cstrace check needs pyelftools: install python3-pyelftools "
            "(or use the command: cstrace check %s)" % path) from None
    except (gdb.GdbError, engine.CstraceError):
        raise
    except Exception as e:
        raise gdb.GdbError("cannot read %s: %s" % (path, e)) from None


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

    Usage: cstrace check [-all] [-format text|json|csv] [REGEX]
           cstrace check [-all] [-format text|json|csv] FILE

    Below a finding "->" tells what mends it.  With a running process, also
    whether libcstrace.so is in it.  With FILE, the name of a program, library
    or object file, that is looked at, not the program; '^FILE$' is a REGEX.

    With REGEX: what became of the functions whose name it is found in, and so
    why they are not in a trace: not there at all, inlined, left out, compiled
    without the hooks, or just not called.  Functions that are inlined
    everywhere are found by their whole name only.

      -all        all units or functions, not the first 20
      -format F   for programs: a row for each finding, all of them"""

    name = "cstrace check"
    rest = gdb.COMPLETE_SYMBOL
    options = [Option("all", None), FORMAT]

    def run(self, values: dict[str, Any], rest: str) -> None:
        file, rest = _split_file(rest)
        regex = options.the_regex(rest)
        if regex is not None:
            engine.check_choice(make_choice(filter=regex))
            try:
                re.compile(regex)
            except re.error as e:
                raise gdb.GdbError("bad regex '%s': %s" % (regex, e))
        path = file or hooks.program()
        if path is None:
            raise gdb.GdbError("there is no program: `file ./app` first")
        if elf.read(path).machine != elf.EM_X86_64:
            raise gdb.GdbError("%s is not a program for 64-bit x86, the one "
                               "machine that cstrace knows so far" % path)
        with _readable(path):
            output = values.get("format", "text")
            is_all = "all" in values or output != "text"
            self._look(path, regex, None if is_all else _N_ROWS, output)

    def _look(self, path: str, regex: Optional[str],
              limit: Optional[int], output: str) -> None:
        check = _Check(path)
        check.verdict()
        if regex is None:
            check.facts()
            check.units(limit)
        elif check.file.kind == "object file" or path != hooks.program():
            raise gdb.GdbError("functions of another file than the program: "
                               "use the command, cstrace check %s '%s'"
                               % (check.shown, regex))
        else:
            check.functions(regex, limit)
        if (gdb.selected_inferior().pid and regex is None
                and path == hooks.program()):
            checklive.tell(check.page, self.session)
        check.page.write(output, check.shown)
