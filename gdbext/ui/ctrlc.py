# SPDX-License-Identifier: MIT
"""Ctrl-C while Python runs inside gdb.

gdb turns a SIGINT that it has not dealt with into a KeyboardInterrupt of
whatever Python comes next.  In an event handler that is twice wrong: the
handler's work is left half done, and the user's Ctrl-C is gone, with the
program running on.  So a handler's Ctrl-C is only noted, and handed on to the
program when the handler is done.  gdb's own functions end with it wherever they
look for it, half-way: from them the signal is kept until then."""

from __future__ import annotations

import ctypes
import functools
import signal
from contextlib import contextmanager
from types import FrameType
from typing import Any, Callable, Iterator, Optional

import gdb

_SIGACTION_BYTES = 512  # more than any libc's struct sigaction

_is_noted = False


@contextmanager
def kept() -> Iterator[None]:
    """For what must not be left half done: Ctrl-C comes after it."""
    old = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)


def is_kept() -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def _noting(function: Callable[..., Any]) -> Callable[..., Any]:
    """While it runs, Ctrl-C raises nothing of itself.  gdb's own functions
    may raise KeyboardInterrupt all the same, unless it is kept from them."""

    def call(*arguments: Any) -> Any:
        return function(*arguments)

    return functools.wraps(function)(call)


_NOTING = _noting(lambda: None).__code__  # one code for all of them


def take() -> bool:
    """Was there a Ctrl-C?  It is the caller's from here on."""
    global _is_noted
    was_noted, _is_noted = _is_noted, False
    return was_noted


def _note() -> None:
    global _is_noted
    _is_noted = True


def held(function: Callable[..., Any]) -> Callable[..., Any]:
    """For a part of a command that Ctrl-C must not break anywhere: it asks
    take() where it can end."""

    @_noting
    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        take()
        try:
            return function(*arguments)
        finally:
            take()

    return call


@held
def _stop_program() -> None:
    """What gdb does with a Ctrl-C while the program runs."""
    thread = gdb.selected_thread()
    if thread is not None and thread.is_running():
        gdb.execute("interrupt")


def handed_on(function: Callable[..., Any]) -> Callable[..., Any]:
    """For what gdb calls on its own: done whatever the user types, and then
    the program stops, if gdb lets it run."""

    @_noting
    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        try:
            with kept():
                return function(*arguments)
        finally:
            if take():
                gdb.post_event(_stop_program)

    return call


def install() -> None:
    """Put ourselves before Python's own handler of SIGINT; gdb's handler,
    which calls it, stays where it is."""
    found = signal.getsignal(signal.SIGINT)
    if not callable(found):
        return
    python_handler: Callable[..., Any] = found

    def handle(number: int, frame: Optional[FrameType]) -> None:
        f = frame
        while f is not None:
            if f.f_code is _NOTING:
                _note()
                return
            f = f.f_back
        python_handler(number, frame)

    libc = ctypes.CDLL(None)
    saved = ctypes.create_string_buffer(_SIGACTION_BYTES)
    if libc.sigaction(int(signal.SIGINT), None, saved) == 0:
        signal.signal(signal.SIGINT, handle)
        libc.sigaction(int(signal.SIGINT), saved, None)
