# SPDX-License-Identifier: MIT
"""The calls that are open when a trace begins in the middle of a run: each
thread's backtrace, as gdb's unwinder sees it."""

from __future__ import annotations

import os
import re
from typing import Iterator, NamedTuple, Optional

import gdb

from ..process import hooks, x86_64
from ..ui.console import say
from ..recorder import Recorder
from .naming import function_block

Seed = tuple[int, int, int, int, int]  # callee, caller, pc, cfa, is_patched


class _Code(NamedTuple):
    """A physical function: where it begins, and the ends of its enter calls,
    its own entry's first."""

    start: int
    entered: tuple[int, ...]
    is_patched: bool = False

    def is_entered(self, pc: int) -> bool:
        """Has a thread that stands there made the entry's hook call?"""
        return not self.start <= pc < self.entered[0]


class _Caller(NamedTuple):
    pc: int
    sp: int  # after the return: the callee's frame address


Ranges = list[tuple[int, int]]

_FAR = 1 << 16  # an entry's hook call is nearer than this
_FRAME_ADDRESS = r"\{stack=(0x[0-9a-f]+),"


def _ranges(pc: int, recorder: Recorder) -> Optional[Ranges]:
    """Where the function's code lies, the part with its entry first.  There
    may be other functions' code in between: gcc moves what is seldom run
    (f.cold) far away, and a block has one start and one end only."""
    block = function_block(pc)
    if block:
        entry = int(block.function.value().address)
        cold = [(block.start, entry)] if block.start < entry else []
        return [(entry, block.end), *cold]
    # No debug info: the entry's hook call lies between the start and where the
    # thread stands, or that is in a part moved away.
    start = recorder.function(pc)
    if not start:
        return None
    return [(start, pc + 1 if start <= pc else start + _FAR)]


def _is_same_function(pc: int, other_pc: int, recorder: Recorder) -> bool:
    one, other = function_block(pc), function_block(other_pc)
    if one is None or other is None:
        return recorder.function(pc) == recorder.function(other_pc)
    return (one.start, one.end) == (other.start, other.end)


class _Codes:
    """Functions, looked at once each."""

    def __init__(self, recorder: Recorder, patched: dict[int, int]) -> None:
        self._recorder = recorder
        self._patched = patched
        self._memory = hooks.Memory()
        self._targets = hooks.Targets()
        self._known: dict[int, Optional[_Code]] = {}
        self.n_unknown = 0  # frames of which nothing tells the function
        self._traced = [(start, end) for start, end, _offset, path
                        in hooks.mappings(gdb.selected_inferior().pid)
                        if hooks.uses_hooks(path)]

    def is_traced(self, pc: int) -> bool:
        """Does pc lie in a file that calls the hooks?"""
        return any(start <= pc < end for start, end in self._traced)

    def caller(self, frame: gdb.Frame) -> Optional[_Caller]:
        """Where the frame returns to, also that of main, beyond which gdb
        does not unwind: the frame's ID, as gdb writes it, has its frame
        address, and the return address lies below that."""
        older = _older_physical(frame)
        if older is not None:
            return _Caller(older.pc(), int(older.read_register(
                x86_64.SP_REGISTER)))
        if frame.unwind_stop_reason() != gdb.FRAME_UNWIND_NO_REASON:
            return None
        match = re.match(_FRAME_ADDRESS, str(frame))
        if match is None:
            return None
        cfa = int(match[1], 16)
        return _Caller(self._memory.word(cfa - x86_64.WORD), cfa)

    def _scan(self, function: int, ranges: Ranges) -> Optional[_Code]:
        entered: list[int] = []
        for start, end in ranges:
            code = self._memory.read(start, min(end - start, 1 << 20))
            for at, size in sorted(x86_64.calls(code)):
                name = self._targets.name(code[at:at + size], 0, start + at,
                                          self._memory)
                # "": the two hooks are one; the first call is the entry's.
                if name == hooks.ENTER or (name == "" and not entered):
                    if not _is_same_function(start + at, function,
                                             self._recorder):
                        break
                    entered.append(start + at + size)
        return _Code(function, tuple(entered)) if entered else None

    def at(self, pc: int) -> Optional[_Code]:
        """The instrumented or patched function that holds pc, or None."""
        ranges = _ranges(pc, self._recorder)
        if ranges is None:
            self.n_unknown += self.is_traced(pc)
            return None
        function, end = ranges[0]
        if function in self._patched:
            return _Code(function, (self._patched[function],), True)
        if function not in self._known or end == pc + 1:
            self._known[function] = self._scan(function, ranges)
        return self._known[function]

    def called_by(self, frame: gdb.Frame) -> Optional[_Code]:
        """The instrumented function that this frame has called directly.
        Without symbols a part that lies far from its function is known by
        that alone: an instrumented function never ends by a jump to
        another."""
        at, size = next(x86_64.call_before(frame.pc()))
        if at < 0:
            return None  # the unwinder has lost its way
        target = x86_64.call_target(self._memory.read(at, size), 0, at)
        if target is None or self._recorder.function(target) != target:
            return None
        return self._scan(target, [(target, target + _FAR)])


def _inlined_callee(symbol: Optional[gdb.Symbol]) -> Optional[int]:
    """The out-of-line address of an inlined function: what its hook calls
    give as callee."""
    if symbol is None:
        return None
    name = symbol.linkage_name or symbol.name
    for find in (gdb.lookup_global_symbol, gdb.lookup_static_symbol):
        other = find(name) or find(symbol.name)
        if other is not None and other.addr_class == gdb.SYMBOL_LOC_BLOCK:
            return int(other.value().address)
    return hooks.symbol_address("'%s'" % name.replace("'", ""))


def _physical(frame: gdb.Frame) -> Iterator[tuple[gdb.Frame, list[gdb.Frame]]]:
    """Real frames, innermost first, each with the inlined ones on top of it,
    innermost first too."""
    inlined: list[gdb.Frame] = []
    current: Optional[gdb.Frame] = frame
    while current is not None:
        if current.type() == gdb.INLINE_FRAME:
            inlined.append(current)
        else:
            yield current, inlined
            inlined = []
        current = current.older()


def _older_physical(frame: gdb.Frame) -> Optional[gdb.Frame]:
    older = frame.older()
    while older is not None and older.type() == gdb.INLINE_FRAME:
        older = older.older()
    return older


def _frame_seeds(frame: gdb.Frame, inlined: list[gdb.Frame],
                 codes: _Codes, is_innermost: bool) -> list[Seed]:
    if frame.type() not in (gdb.NORMAL_FRAME, gdb.TAILCALL_FRAME):
        return []
    pc = frame.pc()
    if not pc:
        return []  # the unwinder has lost its way
    # In a caller's frame pc is a return address, maybe past the end.
    code = codes.at(pc if is_innermost else pc - 1)
    older = _older_physical(frame)
    if code is None and older is not None and frame.name() is None:
        code = codes.called_by(older)
    if code is None or not code.is_entered(pc):
        return []
    if code.is_patched and frame.type() == gdb.TAILCALL_FRAME:
        return []  # the jump to what it called was its end
    caller = codes.caller(frame)
    if caller is None:
        return []
    seeds = [(code.start, caller.pc, pc, caller.sp, int(code.is_patched))]
    n_calls = 1
    for inner in reversed(inlined):
        callee = _inlined_callee(inner.function())
        # Each inlined instance has an enter call of its own.
        if callee is not None and n_calls < len(code.entered):
            n_calls += 1
            seeds.append((callee, caller.pc, pc, caller.sp, 0))
    return seeds


def _is_libc(pc: int) -> bool:
    """Does pc lie in what calls main, be it linked statically?"""
    library = gdb.solib_name(pc)
    if library is not None:
        return os.path.basename(library).startswith("libc.so")
    symbol = gdb.execute("info symbol %#x" % pc, to_string=True)
    return symbol.startswith("__libc_start")


class _PastMain:
    """`backtrace past-main`, set where a program calls main itself, and
    restored at the end.  A front end tells its user of each setting that is
    changed, so it is left alone everywhere else."""

    def __init__(self, codes: _Codes) -> None:
        self._codes = codes
        self._is_ours = False

    def __enter__(self) -> _PastMain:
        return self

    def __exit__(self, *_what: object) -> None:
        if self._is_ours:
            gdb.execute("set backtrace past-main off", to_string=True)

    def goes_on(self, outermost: gdb.Frame) -> bool:
        """Has the setting hidden callers of this frame?  From now on it does
        not."""
        if gdb.parameter("backtrace past-main"):
            return False
        caller = self._codes.caller(outermost)
        if caller is None or not caller.pc or _is_libc(caller.pc):
            return False
        gdb.execute("set backtrace past-main on", to_string=True)
        self._is_ours = True
        return True


def _of_thread(codes: _Codes,
               past_main: _PastMain) -> tuple[list[Seed], bool]:
    """The selected thread's open calls, outermost first, and whether the
    unwinder came to the stack's end."""
    n_unknown = codes.n_unknown
    groups = []
    is_innermost, is_complete = True, True
    for frame, inlined in _physical(gdb.newest_frame()):
        try:
            groups.append(_frame_seeds(frame, inlined, codes, is_innermost))
        except gdb.error:
            pass  # a frame that cannot be unwound has no seed
        is_innermost = frame.type() == gdb.SIGTRAMP_FRAME
        is_complete = (frame.pc() != 0 and frame.unwind_stop_reason()
                       <= gdb.FRAME_UNWIND_OUTERMOST)
    if frame.name() == "main" and past_main.goes_on(frame):
        codes.n_unknown = n_unknown
        return _of_thread(codes, past_main)
    return [seed for group in reversed(groups) for seed in group], is_complete


def _tell_missing(n_unknown: int, cut: list[int]) -> None:
    """What keeps calls that are open from having seeds."""
    why = []
    if n_unknown:
        why.append("nothing tells where the functions of %d frame%s begin "
                   "(stripped, without .eh_frame)"
                   % (n_unknown, "" if n_unknown == 1 else "s"))
    if cut:
        why.append("gdb's backtrace of thread%s %s breaks off"
                   % ("" if len(cut) == 1 else "s",
                      ", ".join(map(str, sorted(cut)))))
    if why:
        say("calls open now are left out: " + ", and ".join(why))


def plant(recorder: Recorder, patched: dict[int, int]) -> tuple[int, int]:
    """Seed every thread that stands still; returns how many calls and how
    many threads.  patched: by function, the first place behind its begin that
    reports it."""
    try:
        codes = _Codes(recorder, patched)
    except gdb.GdbError as e:
        say("the calls open now are left out: %s" % e)
        return 0, 0
    n_calls = n_threads = 0
    cut = []
    chosen = gdb.selected_thread()
    frame = None
    if chosen is not None and chosen.is_stopped():
        frame = gdb.selected_frame()
    try:
        with _PastMain(codes) as past_main:
            for thread in reversed(gdb.selected_inferior().threads()):
                if not thread.is_stopped():
                    continue  # `run &`: nobody knows where it stands
                thread.switch()
                seeds, is_complete = _of_thread(codes, past_main)
                if not is_complete:
                    cut.append(thread.num)
                if seeds:
                    recorder.seed(thread.ptid[1], thread.name or "", seeds)
                    n_calls += len(seeds)
                    n_threads += 1
    finally:
        if chosen is not None and chosen.is_valid():
            chosen.switch()
            if frame is not None and frame.is_valid():
                frame.select()
    _tell_missing(codes.n_unknown, cut)
    return n_calls, n_threads
