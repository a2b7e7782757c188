# SPDX-License-Identifier: MIT
"""Sourced by gdb: ctrl_c_in(LIBRARY, NAME, CALLER) makes Ctrl-C come once,
in the middle of gdb.NAME() as CALLER calls it."""

import ctypes
import sys

import gdb


def ctrl_c_in(library, name, caller):
    call = ctypes.PyDLL(library).ctrl_c_and_call
    call.restype = ctypes.py_object
    call.argtypes = [ctypes.py_object, ctypes.py_object]
    function = getattr(gdb, name)

    def once(*arguments, **more):
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_name != caller:
            frame = frame.f_back
        if frame is None:
            return function(*arguments, **more)
        setattr(gdb, name, function)
        print("Ctrl-C in", name)
        return call(function, arguments)

    setattr(gdb, name, once)
