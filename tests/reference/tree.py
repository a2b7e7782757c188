# SPDX-License-Identifier: MIT
"""Rebuilds the tree from recorder.c's file, by the plainest means: a stack for
each thread, names from nm, lines from addr2line.  For programs linked at fixed
addresses (-no-pie) that leave every function by returning from it."""

import bisect
import os
import struct
import subprocess

EVENT = struct.Struct("<5Q")
ENTER, EXIT = 1, 2


class Program:
    """What binutils say of an executable."""

    def __init__(self, path):
        self._path = str(path)
        self._addresses, self._names = [], {}
        for line in self._run("nm", "-C", "--defined-only").splitlines():
            address, kind, name = line.split(" ", 2)
            if kind in "tTwWi":
                self._names.setdefault(int(address, 16), name)
        self._addresses = sorted(self._names)
        self._lines = {}

    def _run(self, *command, text=None):
        done = subprocess.run([*command, self._path] if text is None
                              else list(command), input=text, text=True,
                              stdout=subprocess.PIPE, check=True, timeout=240)
        return done.stdout

    def name(self, address):
        return self._names[address]

    def has(self, address):
        """Is it in the executable's own code?"""
        return address < 0x10000000

    def function_at(self, address):
        """The entry of the physical function that an address is in."""
        return self._addresses[bisect.bisect_right(self._addresses,
                                                   address) - 1]

    def look_up(self, addresses):
        """addr2line for all of them at once: [(function, file:line)...],
        innermost inlined function first."""
        wanted = sorted({a for a in addresses if self.has(a)})
        text = self._run(
            "addr2line", "-a", "-i", "-f", "-e", self._path,
            text="".join("%#x\n" % a for a in wanted))
        frames = []
        for line in text.splitlines():
            if line.startswith("0x"):
                frames = self._lines.setdefault(int(line, 16), [])
            else:
                frames.append(line)

    def places(self, address):
        """["file:line"...] of an address that was looked up."""
        places = [os.path.basename(line).split(" (")[0]
                  for line in self._lines.get(address, [])[1::2]]
        return [p for p in places if not p.startswith("?")]


def read_events(path):
    with open(path, "rb") as f:
        return list(EVENT.iter_unpack(f.read()))


def call_place(program, callee, caller, hook):
    """Where a call stands.  An inlined function's hook has no caller of its
    own: its call is the second line of the inlined chain at the hook."""
    places = program.places(hook - 1)
    if len(places) > 1:
        return places[1]
    if program.function_at(hook - 1) != callee:
        return None
    places = program.places(caller - 1)
    return places[0] if places else None


def trees(program_path, events_path):
    """The trees by thread: [(depth, function, "file:line" or None)...] in
    order of entry."""
    program, events = Program(program_path), read_events(events_path)
    program.look_up([e[3] - 1 for e in events] + [e[4] - 1 for e in events])
    stacks, found = {}, {}
    for kind, thread, callee, caller, hook in events:
        stack = stacks.setdefault(thread, [])
        if kind == ENTER:
            found.setdefault(thread, []).append(
                (len(stack), program.name(callee),
                 call_place(program, callee, caller, hook)))
            stack.append(callee)
        else:
            assert kind == EXIT and stack.pop() == callee
    assert not any(stacks.values()), "calls left open"
    return found
