# SPDX-License-Identifier: MIT
"""Which files are patched, and how: made before the program runs, in a folder
where the shim looks for them."""

from __future__ import annotations

import contextlib
import os
from typing import Callable, Iterator, NamedTuple, Optional

import gdb

from .. import _abi as abi
from .. import locate, planned
from ..engine import CstraceError
from ..temp_folder import TempFolder
from ..ui.console import plain, say
from . import elf, hooks
from .connection import is_remote
from .patched_area import Planned, planned_functions

VARIABLE = "CSTRACE_PLANS"
AUTO, HOOKS, PATCH = ROADS = ("auto", "hooks", "patch")


class PatchOptions(NamedTuple):
    """What is patched; in AUTO the files without hooks, in PATCH the functions
    without hooks."""

    road: str = AUTO
    functions: Optional[str] = None  # regular expressions
    modules: Optional[str] = None
    min_size: int = 0
    border: bool = False  # calls into libraries that are not traced, too


def _is_hooked(path: str) -> bool:
    return hooks.uses_hooks(path) or elf.read(path).has_words


def _say_now(text: str) -> None:
    say(text)
    gdb.flush()


def obstacle(path: str) -> Optional[str]:
    """Why the program can take no patches."""
    if not elf.read(path).is_dynamic:
        return ("it is static (link it dynamically, or with hooks and "
                "-lcstrace)")
    if hooks.is_privileged(path):
        return "it runs with another user's rights"
    if hooks.has_own_hooks(path):
        return "it defines the hooks itself"
    if is_remote():
        return "gdbserver runs it"
    return None


class Plans:
    """The plans for the program that gdb has, and its libraries."""

    def __init__(self) -> None:
        self._own: Optional[TempFolder] = None
        self.folder: Optional[str] = None  # its path
        self.why_not: Optional[str] = None  # the program is not patched itself
        self._libraries: Optional[list[str]] = None
        self._made: list[tuple[str, planned.Planned]] = []
        self._stamps: list[tuple[str, int, int]] = []  # of planned files
        self._program, self._options = "", PatchOptions()
        self._looked_at: dict[str, tuple[str, int, int]] = {}
        self._functions: dict[str, dict[int, Planned]] = {}

    def make(self, path: str, options: PatchOptions,
             libraries: Optional[list[str]] = None) -> None:
        """Plans the program and its libraries; those it will load, unless they
        are named."""
        self.forget()
        self._libraries = libraries
        if options.road == HOOKS and not options.border:
            return
        path = os.path.realpath(path)
        self.why_not = obstacle(path)
        if self.why_not is not None:
            return
        self._own = TempFolder("plans")
        self.folder = self._own.path
        self._plan(path, options)
        if self._made:
            gdb.execute("set environment %s = %s" % (VARIABLE, self.folder),
                        to_string=True)
        else:
            self.close()

    def _plan(self, path: str, options: PatchOptions) -> None:
        self._made, self._stamps = [], []
        self._functions.clear()
        self._program, self._options = path, options
        self._looked_at = {}
        assert self.folder is not None
        for file in self._wanted(path, options):
            self._note(file)
            try:
                plan = self._plan_file(file, abi.CST_CALLS_NONE)
            except CstraceError as e:
                if file == path:
                    self.why_not = str(e)
                continue
            if plan.n_patches or file == path or any(plan.n_declined):
                self._made.append((file, plan))
        if not any(plan.n_patches for _, plan in self._made):
            if self._made and self.why_not is None:
                self.why_not = (self.text() if any(self._made[0][1].n_declined)
                                else "no function of it is called so"
                                if options.functions else "it has no functions")
            self._made = []
        if options.border:
            self._plan_border(path)

    def _plan_border(self, path: str) -> None:
        assert self.folder is not None
        files = [path, *self._needed(path)]
        traced = [file for file in files if self.has(file) or _is_hooked(file)]
        others = [file for file in files[1:]
                  if file not in traced and not locate.is_shim(file)]
        if not traced:
            return
        for file in others:
            self._note(file)
        self._made += [
            (file, plan) for file, plan in zip(
                others, planned.plan_border(others, self.folder, traced))
            if plan.n_patches]
        for file in traced:
            self._plan_stubs(file)

    def _plan_stubs(self, file: str) -> None:
        """The calls of a traced file that border plans have left out."""
        is_made = self.has(file)
        if not is_made:
            self._note(file)
        with contextlib.suppress(CstraceError):
            plan = self._plan_file(file, abi.CST_CALLS_TOO if is_made
                                   else abi.CST_CALLS_ALONE)
            if is_made:
                self._made = [(one, plan if one == file else old)
                              for one, old in self._made]
            elif plan.n_patches:
                self._made.append((file, plan))

    def _plan_file(self, file: str, calls: int) -> planned.Planned:
        assert self.folder is not None
        options = self._options
        return planned.plan_file(file, self.folder, options.functions,
                                 options.min_size, calls, _say_now)

    def _needed(self, path: str) -> list[str]:
        return (elf.all_needed(path) if self._libraries is None
                else [os.path.realpath(file) for file in self._libraries])

    def _note(self, file: str) -> None:
        st = os.stat(file)
        self._stamps.append((file, st.st_mtime_ns, st.st_size))
        self._looked_at[file] = self._stamps[-1]

    def _wanted(self, path: str, options: PatchOptions) -> Iterator[str]:
        is_all = options.road == PATCH
        if options.road == HOOKS:
            return
        if is_all or not (_is_hooked(path) or planned.is_launcher(path)):
            yield path
        for library in self._needed(path):
            if self.wants_library(library):
                yield library

    def renew(self, path: str, options: PatchOptions) -> bool:
        """The process is about to look for the plans: makes those of files
        that were written since.  Returns whether there are any."""
        if self.folder is None or all(
                _stamp(file) == (file, *rest) for file, *rest in self._stamps):
            return False
        self._empty()
        self._plan(os.path.realpath(path), options)
        return True

    def has(self, path: str) -> bool:
        """Are there patches of that file, for all callers?"""
        return any(file == os.path.realpath(path) and _is_of_own(plan)
                   for file, plan in self._made)

    def have(self, is_border: bool) -> bool:
        """Are there functions of the border that are patched, or of files that
        are traced?"""
        return any(plan.is_border or plan.n_stubs if is_border
                   else _is_of_own(plan) for _, plan in self._made)

    def files(self) -> list[str]:
        """Returns the files that are patched."""
        return [file for file, _ in self._made]

    def functions(self, path: str, has_border: bool = False
                  ) -> Optional[dict[int, Planned]]:
        """Returns the functions of a file that are patched, by their addresses
        in it; None: the file is not patched.  has_border: those too that report
        the calls of traced files only."""
        return self._read(path, lambda plan: _is_of_own(plan) or (
            has_border and bool(plan.is_border)))

    def border(self, path: str) -> dict[int, Planned]:
        """Returns all that is patched of a file of the border: one whose
        functions report calls from traced files, or a traced one that reports
        calls at its stubs."""
        return self._read(path, lambda plan: bool(
            plan.is_border or plan.n_stubs)) or {}

    def _read(self, path: str, is_wanted: Callable[[planned.Planned], bool]
              ) -> Optional[dict[int, Planned]]:
        path = os.path.realpath(path)
        plan_id = next((plan.id.decode() for file, plan in self._made
                        if file == path and is_wanted(plan)), None)
        if self.folder is None or plan_id is None:
            return None
        if path not in self._functions:
            with open(os.path.join(self.folder, plan_id + ".plan"), "rb") as f:
                self._functions[path] = planned_functions(f.read())
        return self._functions[path]

    def text(self) -> str:
        return planned.plan_text([plan for _, plan in self._made],
                                 [file for file, _ in self._made])

    def add_mapped(self, pid: int) -> Optional[str]:
        """Plans what a process has mapped that was not looked at before: libraries
        that it opens, and all of a program that it has become.  Returns what that
        comes to in words, None: nothing."""
        made = []
        if self._options.road == HOOKS:
            return None
        for file in dict.fromkeys(m[3] for m in hooks.mappings(pid)):
            stamp = _stamp(file)
            if stamp is None or self._looked_at.get(file) == stamp:
                continue
            self._looked_at[file] = stamp
            is_program = file == _program_of(pid)
            if elf.read(file).machine and (
                    self._wants_in_turn(file) if is_program
                    else self.wants_library(file)):
                made += self._plan_one(file)
        self._made += made
        return planned.plan_text([plan for _, plan in made],
                                 [file for file, _ in made]) if made else None

    def wants_library(self, path: str) -> bool:
        """Is the library at path to be patched?"""
        return bool(planned.plan_wants(path, self._options.modules)
                    and not locate.is_shim(path)
                    and not locate.is_sampler(path)
                    and (self._options.road == PATCH or not _is_hooked(path)))

    def _wants_in_turn(self, path: str) -> bool:
        """A program that is run in place of the one that gdb began."""
        if self._options.road == PATCH:
            return True
        name = os.path.basename(self._program)
        return not (_is_hooked(path) or planned.is_launcher(path)) and (
            planned.plan_wants(path, None)
            or os.path.basename(path).startswith(name))

    def _plan_one(self, file: str) -> list[tuple[str, planned.Planned]]:
        assert self.folder is not None
        try:
            plan = self._plan_file(file, abi.CST_CALLS_TOO if self._options.border
                                   else abi.CST_CALLS_NONE)
        except CstraceError:
            return []  # it cannot be planned
        return [(file, plan)] if plan.n_patches else []

    def _empty(self) -> None:
        assert self.folder is not None
        for name in os.listdir(self.folder):
            if not name.startswith("."):
                os.unlink(os.path.join(self.folder, name))

    def refusals(self) -> Iterator[str]:
        """What the shim could not patch, once, in words for the user."""
        if self.folder is None:
            return
        path = os.path.join(self.folder, "refused")  # the shim's answers
        with contextlib.suppress(OSError, ValueError):
            with open(path, encoding="utf-8", errors="replace") as f:
                for line in f:
                    code, name, why = line.rstrip("\n").split("\t")
                    yield "%s was not patched: %s%s" % (
                        plain(name) or "the program", why, ": " + os.strerror(
                            int(code)) if int(code) else "")
            os.unlink(path)

    def forget(self) -> None:
        """No more runs are patched."""
        if self.folder is not None:
            gdb.execute("unset environment " + VARIABLE, to_string=True)
        self.why_not = None
        self.close()

    def close(self) -> None:
        """gdb ends."""
        if self._own is not None:
            self._own.close()
        self._own = None
        self.folder, self._made, self._stamps = None, [], []


def _is_of_own(plan: planned.Planned) -> bool:
    """Is it of a file's functions, not of calls from it or into it alone?"""
    return not plan.is_border and bool(plan.n_functions or not plan.n_stubs)


def _program_of(pid: int) -> Optional[str]:
    with contextlib.suppress(OSError):
        return os.readlink("/proc/%d/exe" % pid)
    return None


def _stamp(file: str) -> Optional[tuple[str, int, int]]:
    with contextlib.suppress(OSError):
        st = os.stat(file)
        return file, st.st_mtime_ns, st.st_size
    return None
