# SPDX-License-Identifier: MIT
"""Whether functions without hooks are patched, and what the user hears of
it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional

import gdb

from .. import planned
from ..process import hooks, plans
from ..process.patches import Patches
from ..process.plans import PatchOptions, Plans
from ..ui.console import say
from . import process_record
from .start_options import StartOptions

if TYPE_CHECKING:
    from .session import Session


class Patching:
    """From `cstrace start` to `cstrace stop`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.plans = Plans()
        self.patches = Patches(self.plans)

    def _wanted(self, options: StartOptions) -> PatchOptions:
        return options.patch_options(self._session.settings["road"])

    def begin(self, options: StartOptions, is_live: bool) -> list[str]:
        """For `cstrace start`: what to say of it.  Raises gdb.GdbError where
        there is nothing to trace."""
        wanted = self._wanted(options)
        text = self._plan(wanted, is_live)
        if text is not None and process_record.is_on():
            self.plans.forget()
            raise gdb.GdbError("gdb records the program to run it backwards: "
                               "`record stop` first")
        if not self.plans.have(is_border=False) and (
                wanted.functions or wanted.road == plans.PATCH):
            raise gdb.GdbError("nothing can be patched%s" % (
                ": " + self.plans.why_not if self.plans.why_not else ""))
        verdict = hooks.check(is_live, self._unpatched(wanted, is_live))
        if not verdict.can_start:
            self.plans.forget()
            raise gdb.GdbError(verdict.line)
        return [line for line in (text, verdict.line, self._no_border(wanted))
                if line]

    def _no_border(self, wanted: PatchOptions) -> Optional[str]:
        if not wanted.border or self.plans.have(is_border=True):
            return None
        return "no calls into libraries are seen: " + (
            self.plans.why_not or "no function of one can be patched that "
            "a traced file calls")

    def _plan(self, wanted: PatchOptions, is_live: bool) -> Optional[str]:
        """For the next `run`, or the process there is; what is patched then,
        None: nothing."""
        path = hooks.program()
        self.plans.forget()
        if path is not None:
            self.plans.make(path, wanted, [
                p for p in hooks.loaded() if os.path.realpath(p)
                != os.path.realpath(path) and os.path.isfile(p)]
                if is_live else None)
        return (None if self.plans.folder is None
                else "patching " + self.plans.text())

    def _unpatched(self, wanted: PatchOptions, is_live: bool) -> Optional[str]:
        """What to say of a program that is to be traced, but has no hooks; None:
        it needs none."""
        path = hooks.program()
        if path is None or self.plans.have(is_border=False):
            return None
        if self.plans.why_not is not None:
            return "; it cannot be patched: " + self.plans.why_not
        if not is_live and (wanted.road == plans.HOOKS
                            or planned.is_launcher(path)):
            return "; `cstrace start -patch` traces it as it is"
        return ""

    def change(self, options: StartOptions) -> dict[str, Any]:
        """The options are for a trace that was asked for before."""
        if options.patching() and self._session.is_recording():
            raise gdb.GdbError("what is patched cannot be changed in the "
                               "middle of a trace: `cstrace stop` first")
        return options.patching()

    def refresh(self) -> None:
        """gdb has another program, or other options."""
        s = self._session
        if s.options is None or s.options.is_sampled or s.is_recording():
            return
        text = self._plan(self._wanted(s.options), False)
        if text is not None:
            say(text)

    def watch(self) -> None:
        """The shim is in the process; none of its code has run."""
        options = self._session.options
        path = hooks.program()
        if path and options and self.plans.renew(path, self._wanted(options)):
            say("patching " + self.plans.text())
        self.patches.watch()

    def why_nothing(self) -> Optional[str]:
        """Why there are no calls, if that is known."""
        return hooks.check(False, self._unpatched(
            self._wanted(self._session.last_options), False)).line
