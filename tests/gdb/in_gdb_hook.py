# SPDX-License-Identifier: MIT
"""Sourced by gdb: stand in the middle of a hook, and have a signal there."""

import os
import signal

import gdb


def stand_in(hook):
    """Some instructions deep in libcstrace.so's."""
    def is_there():
        frame = gdb.newest_frame()
        return (frame.name() == hook and "libcstrace.so"
                in (gdb.solib_name(frame.pc()) or ""))

    while not is_there():
        gdb.execute("stepi", to_string=True)
    gdb.execute("stepi 3", to_string=True)


def send(name):
    pid = gdb.selected_inferior().pid
    assert pid
    os.kill(pid, getattr(signal, name))
