# SPDX-License-Identifier: MIT
"""The call trees that witness.c wrote down, and those that cstrace saved of
the same run, in one form: for each thread an array with a number a call, which
says depth and function.  Millions of calls fit in memory so.

What is open follows from the frames of the machine's stack alone: a call whose
frame lies below the one that a hook speaks from is over, and of calls inlined
into one frame those are open that the debug information names at the hook."""

import array
import re
import struct
import subprocess

EVENT = struct.Struct("<5Q")
ENTER, EXIT, FORK, CHILD = 1, 2, 3, 4
CHUNK = EVENT.size << 14
DEPTH_SHIFT = 32
NUMBER = 0xffffffff
# What compilers add to the symbols of copies that they make of functions.
CLONE = re.compile(r"\.(constprop|isra|part|cold|lto_priv|llvm)\b.*")

# gcc's name for what all constructors (destructors) of a class have in common.
UNIFIED = re.compile(r"([CD])4(?=[EI])")


def run(*words, text=None):
    return subprocess.run(list(map(str, words)), input=text, text=True,
                          stdout=subprocess.PIPE, check=True,
                          timeout=600).stdout


class Program:
    """What nm and llvm-symbolizer say of an executable that is linked at fixed
    addresses. A function's number stands for all addresses and names that cannot be told
    apart: static functions of one name, names of one address."""

    def __init__(self, path):
        self.path = path
        self._group, self._of_name, self._names = {}, {}, {}
        self._chains = {}
        self.nameless = set()
        for line in run("nm", "--defined-only", path).splitlines():
            address, kind, name = line.split(" ", 2)
            if kind in "tTwWiu":
                self._join(int(address, 16), CLONE.sub("", name))

    def _join(self, address, name):
        self._names.setdefault(address, set()).add(name)
        a, b = self._group.get(address), self._of_name.get(name)
        number = a or b or address
        if a and b and a != b:
            for table in (self._group, self._of_name):
                table.update({k: a for k, v in table.items() if v == b})
        self._group[address] = self._of_name[name] = number

    def number(self, address):
        return self._group.get(address, 0)

    def number_of(self, name):
        name = CLONE.sub("", name)
        for variant in (name, *(UNIFIED.sub(r"\g<1>%d" % n, name)
                                for n in (2, 1))):
            if variant in self._of_name:
                return self._of_name[variant]
        return 0

    def name(self, number):
        return "|".join(sorted(n for n, v in self._of_name.items()
                               if v == number)) or "?"

    def read_chains(self, entered):
        """Ask for all hooks of entries at once which functions they are
        inlined in; entered tells what each is the entry of."""
        # That of binutils names some chains by what it was asked before.
        text = run("llvm-symbolizer", "--output-style=GNU", "--addresses",
                   "--inlines", "--functions=linkage", "--no-demangle",
                   "--obj=%s" % self.path,
                   text="".join("%#x\n" % (a - 1) for a in entered))
        chain, is_name = [], True
        for line in text.splitlines():
            if line.startswith("0x"):
                chain = self._chains.setdefault(int(line, 16) + 1, [])
                is_name = True
                continue
            if is_name:
                chain.insert(0, self.number_of(line))
            is_name = not is_name
        for hook, callee in entered.items():
            if not self._chains[hook][-1]:
                self.nameless.add(self.number(callee))

    def chain(self, hook):
        """The numbers of the functions that hook is in, outermost first; 0 for
        one that has no hooks or, like a lambda, no name there."""
        return self._chains[hook]


class Thread:
    """The open calls of one thread, and all calls that it made."""

    def __init__(self, calls=(), frames=(), hooks=()):
        # For each open call the function, the frame, the hook's address.
        self.open, self.frames = list(calls), list(frames)
        self.hooks = list(hooks)
        self.calls = array.array("Q")
        for depth, number in enumerate(self.open):
            self.calls.append(depth << DEPTH_SHIFT | number)

    def cut(self, n):
        """Only the outermost n are open still."""
        del self.open[n:], self.frames[n:], self.hooks[n:]


def is_same(program, named, number):
    return named == number or not named and number in program.nameless


def still_open(program, thread, number, hook, cfa):
    """How many calls are open when hook is entered in the frame at cfa, in
    which other calls were entered before."""
    first = len(thread.frames)
    while first and thread.frames[first - 1] == cfa:
        first -= 1
    chain = program.chain(hook)
    if not is_same(program, chain[-1], number):
        # Compilers move code out of the block that should hold it.  What
        # is left is that one place is not entered twice at a time.
        hooks = thread.hooks[first:]
        return first + (hooks.index(hook) if hook in hooks else len(hooks))
    i = first
    for outer in chain[:-1]:
        if i < len(thread.open) and is_same(program, outer, thread.open[i]):
            i += 1
    return max(first, i)


class Witness:
    def __init__(self, program):
        self.threads = {}
        self.n_orphans = 0
        self._program = program
        self._forks = {}

    def read(self, path):
        entered = {}
        for head, callee, _, hook, _ in events(path):
            if head & 0xff == ENTER:
                entered[hook] = callee
        self._program.read_chains(entered)
        for event in events(path):
            self._take(*event)

    def _take(self, head, callee, caller, hook, cfa):
        kind, who = head & 0xff, head >> 8
        thread = self.threads.get(who)
        if thread is None and kind != CHILD:
            thread = self.threads[who] = Thread()
        if kind == ENTER:
            self._enter(thread, self._program.number(callee), hook, cfa)
        elif kind == EXIT:
            self._leave(thread, self._program.number(callee), cfa)
        elif kind == FORK:
            self._forks[who, callee] = (
                thread.open[:], thread.frames[:], thread.hooks[:])
        elif kind == CHILD:
            self.threads[who] = Thread(*self._forks[caller >> 8, callee])

    def _enter(self, thread, number, hook, cfa):
        frames, i = thread.frames, len(thread.frames)
        while i and frames[i - 1] < cfa:
            i -= 1
        if i < len(frames):
            thread.cut(i)
        if i and frames[i - 1] == cfa:
            i = still_open(self._program, thread, number, hook, cfa)
            thread.cut(i)
        thread.calls.append(i << DEPTH_SHIFT | number)
        thread.open.append(number)
        frames.append(cfa)
        thread.hooks.append(hook)

    def _leave(self, thread, number, cfa):
        """The call in the same frame; or the innermost one in a higher frame:
        compilers inline the first part of a function, its entry, and call the
        rest."""
        calls, frames = thread.open, thread.frames
        i = len(calls) - 1
        while i >= 0 and (calls[i] != number or frames[i] < cfa):
            i -= 1
        if i < 0:
            self.n_orphans += 1
            return
        thread.cut(i)


def events(path):
    with open(path, "rb") as f:
        while True:
            part = f.read(CHUNK)
            if not part:
                return
            yield from EVENT.iter_unpack(part)


LINE = re.compile(
    rb'\{"id":"([^"]+)","parent":(?:null|"([^"]+)"),"process":(\d+),'
    rb'"thread":(\d+),"lane":(\d+),"depth":(\d+),"function":"[^"\\]*",'
    rb'"name":"[^"\\]*","symbol":(?:null|"([^"]+)")')


# A throw, a message: no calls.
OTHER = re.compile(rb'\{"id":[^{]*"depth":\d+,"kind":')


class Saved:
    """What cstrace saved."""

    def __init__(self, program):
        self.threads, self.n_unwound, self.faults = {}, 0, []
        self._program, self._numbers = program, {}
        self._open = {}

    def read(self, path):
        with open(path, "rb") as f:
            for line in f:
                self._take(line)
        return self

    def _take(self, line):
        found = LINE.match(line)
        if not found and OTHER.match(line):
            return
        if not found:
            raise ValueError("not a call: %r" % line[:200])
        call, parent, process, thread, lane, depth, symbol = found.groups()
        symbol = symbol or b""
        number = self._numbers.get(symbol)
        if number is None:
            number = self._program.number_of(symbol.decode())
            self._numbers[symbol] = number
        key, depth = (process, thread), int(depth)
        calls = self.threads.get(key)
        if calls is None:
            calls = self.threads[key] = array.array("Q")
            self._open[key] = []
        self._follow(key, call, parent, depth)
        calls.append(depth << DEPTH_SHIFT | number)
        self.n_unwound += b'"end":"unwound"' in line
        if lane != b"0":
            self.faults.append("call %s is on another stack" % call.decode())

    def _follow(self, key, call, parent, depth):
        """Is the caller that is named the one that depth says?"""
        ids = self._open[key]
        del ids[depth:]
        if len(ids) != depth or (parent or None) != (ids[-1] if ids else None):
            self.faults.append("call %s is not below its caller %s" % (
                call.decode(), (parent or b"?").decode()))
        ids.extend([call] * (depth + 1 - len(ids)))


def difference(program, name, told, saved):
    """What is first found not to be the same, or None."""
    for i, (a, b) in enumerate(zip(told, saved)):
        if a != b:
            return "%s, call %d: %s at depth %d, not %s at depth %d" % (
                name, i + 1, program.name(b & NUMBER), b >> DEPTH_SHIFT,
                program.name(a & NUMBER), a >> DEPTH_SHIFT)
    if len(told) != len(saved):
        return "%s: %d calls, not %d" % (name, len(saved), len(told))
    return None


def part(calls, handlers):
    """The calls without those of handlers and below them; and these alone,
    each with its depth below its handler."""
    if not handlers:
        return calls, array.array("Q")
    rest, apart = array.array("Q"), array.array("Q")
    within = None
    for call in calls:
        depth = call >> DEPTH_SHIFT
        if within is not None and depth <= within:
            within = None
        if within is None and call & NUMBER in handlers:
            within = depth
        if within is None:
            rest.append(call)
        else:
            apart.append(call - (within << DEPTH_SHIFT))
    return rest, apart


def compare(program, told, saved, handlers=()):
    """None where both saw the same, thread by thread, call by call."""
    if told.n_orphans:
        return "%d exits of no call in the reference" % told.n_orphans
    if saved.faults:
        return saved.faults[0]
    mine = {(b"%d" % (who >> 24), b"%d" % (who & 0xffffff)): t.calls
            for who, t in told.threads.items() if t.calls}
    if mine.keys() != saved.threads.keys():
        return "%d threads, not %d" % (len(saved.threads), len(mine))
    handlers = {program.number_of(name) for name in handlers}
    for key, calls in mine.items():
        for name, a, b in zip(("thread", "handlers in thread"),
                              part(calls, handlers),
                              part(saved.threads[key], handlers)):
            if a != b:
                return difference(program, "%s %d" % (name, int(key[1])), a, b)
    return None
