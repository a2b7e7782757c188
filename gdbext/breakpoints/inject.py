# SPDX-License-Identifier: MIT
"""The hooks mode, for a program without the shim: breakpoints on the hooks
that it has; each hit becomes a record that the recorder is given.

glibc's two hooks are one and the same byte, so that an entry differs from an
exit only by the call instruction before its return address: through which PLT
entry or GOT slot it goes.  Where even those are one (a static program), the first hook
call in a function's code is its entry's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gdb

from ..process import hooks, x86_64
from ..session import naming
from ..ui import ctrlc

if TYPE_CHECKING:
    from ..session.recording import Recording

ENTER, EXIT = 1, 2  # enum cst_kind


class Kinds:
    """Which hook calls are entries and which are exits."""

    def __init__(self) -> None:
        self._memory = hooks.Memory()
        self._targets = hooks.Targets()
        self._kinds: dict[tuple[int, int], int] = {}
        self._open: set[tuple[int, int]] = set()  # inlined: callee, sp

    def _decode(self, hook: int) -> int:
        """0: the instruction does not tell."""
        for address, size in x86_64.call_before(hook):
            code = self._memory.read(address, size)
            name = self._targets.name(code, 0, address, self._memory)
            if name:
                return ENTER if name == hooks.ENTER else EXIT
        return 0

    def _by_place(self, callee: int, hook: int) -> int:
        """The first hook call in a function's code is its entry's.  0: the
        call stands elsewhere, in what the function was inlined into."""
        block = gdb.block_for_pc(callee)
        end = block.end if block is not None else callee + (1 << 16)
        if not callee < hook <= end:
            return 0
        code = self._memory.read(callee, hook - callee)
        for at, size in x86_64.calls(code):
            name = self._targets.name(code, at, callee + at, self._memory)
            if name is not None and callee + at + size < hook:
                return EXIT
        return ENTER

    def _toggle(self, callee: int, sp: int) -> int:
        if (callee, sp) in self._open:
            self._open.remove((callee, sp))
            return EXIT
        self._open.add((callee, sp))
        return ENTER

    def kind(self, callee: int, caller: int, hook: int, sp: int) -> int:
        if hook == caller:
            return EXIT  # a tail call: only the last thing can be one
        key = (callee, hook)
        if key not in self._kinds:
            self._kinds[key] = self._decode(hook) or self._by_place(*key)
        return self._kinds[key] or self._toggle(callee, sp)


class HookBreakpoint(gdb.Breakpoint):
    """One of the program's own hooks."""

    def __init__(self, address: int, kind: int, kinds: Kinds,
                 recording: Recording) -> None:
        super().__init__("*%#x" % address, internal=True)
        self.silent = True
        self._kind = kind
        self._kinds = kinds
        self._recording = recording
        self.n_hits = 0

    @ctrlc.handed_on
    def stop(self) -> bool:
        recording = self._recording
        try:
            self._inject(recording)
            self.n_hits += 1
        except Exception as e:  # never stop the user's program for it
            recording.fail(e)
        return False

    def _inject(self, recording: Recording) -> None:
        evaluate = gdb.parse_and_eval
        callee = int(evaluate(x86_64.ARGUMENTS[0]))
        caller = int(evaluate(x86_64.ARGUMENTS[1]))
        sp = int(evaluate("(unsigned long)" + x86_64.STACK_POINTER))
        fp = int(evaluate("(unsigned long)" + x86_64.FRAME_POINTER))
        hook = int(evaluate("*(unsigned long *)" + x86_64.STACK_POINTER))
        kind = self._kind or self._kinds.kind(callee, caller, hook, sp)
        tid = gdb.selected_thread().ptid[1]
        recorder = recording.recorder
        while not recorder.inject(tid, kind, callee, caller, hook,
                                  sp + x86_64.WORD, fp):
            if not naming.answer_all(recording):
                break
        recording.output.flush()


def breakpoints(recording: Recording) -> list[gdb.Breakpoint]:
    """One where both hooks are the same code, else two."""
    addresses: dict[int, list[int]] = {}
    for name, kind in ((hooks.ENTER, ENTER), (hooks.EXIT, EXIT)):
        address = hooks.hook_address(name)
        if address is not None:
            addresses.setdefault(address, []).append(kind)
    kinds = Kinds()
    return [HookBreakpoint(address, both[0] if len(both) == 1 else 0, kinds,
                           recording)
            for address, both in addresses.items()]
