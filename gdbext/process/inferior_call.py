# SPDX-License-Identifier: MIT
"""Inferior calls: the selected thread calls functions of its process.

Behind a call gdb writes back what registers have changed.  gdb 13 cannot write
those of vectors on processors that have more state than it knows, as with AMX
("Couldn't write extended state status"); and it holds them for changed unless
it has read them meanwhile, as for a result of type double.  So while calls are
made there is code of ours in the process, which keeps those registers and puts
the result into memory."""

from __future__ import annotations

import contextlib
import mmap
from typing import Any, Callable, Iterator

import gdb
from gdb.unwinder import Unwinder, register_unwinder

from ..gdb_setting import changed
from . import memory

_PAGE = 4096
_SIZE = _PAGE + (1 << 16)  # code, the result, and a buffer
_BUFFER_AT = _PAGE + 64
BUFFER_SIZE = _SIZE - _BUFFER_AT
_TRIES = 5
_FIXED_NOREPLACE = 0x100000
_USER_END = 1 << 47

# The code, for a function in rdi and what it is given in rsi, rdx and rcx:
#     push %rbp;  mov %rsp, %rbp
#     sub $3072, %rsp;  and $-64, %rsp
#     mov %rdi, %r11;  mov %rdx, %r10;  mov %rcx, %r9
#     lea 512(%rsp), %rdi;  mov $8, %ecx;  xor %eax, %eax;  cld;  rep stosq
#     mov $0xe7, %eax;  xor %edx, %edx;  xsave64 (%rsp)
#     mov %rsi, %rdi;  mov %r10, %rsi;  mov %r9, %rdx
#     xor %eax, %eax;  call *%r11
#     mov %rax, RESULT(%rip)
#     mov $0xe7, %eax;  xor %edx, %edx;  xrstor64 (%rsp)
#     leave;  ret
_CODE = bytes.fromhex(
    "55 4889e5 4881ec000c0000 4883e4c0 4989fb 4989d2 4989c9 488dbc2400020000"
    "b908000000 31c0 fc f348ab b8e7000000 31d2 480fae2424 4889f7 4c89d6 4c89ca"
    "31c0 41ffd3 488905b40f0000 b8e7000000 31d2 480fae2c24 c9 c3")
# For processors without xsave: fxsave64, fxrstor64.
_OLD_FORMS = ((bytes.fromhex("480fae2424"), bytes.fromhex("480fae0424")),
              (bytes.fromhex("480fae2c24"), bytes.fromhex("480fae0c24")))


def _has_xsave() -> bool:
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as info:
        return any(" xsave " in line + " " for line in info
                   if line.startswith("flags"))


def _code() -> bytes:
    code = _CODE
    for new, old in () if _has_xsave() else _OLD_FORMS:
        code = code.replace(new, old)
    return code


def _room(pid: int) -> int:
    """The middle of the largest gap in the process's memory."""
    mapped = [m for m in memory.mapped_ranges(pid) if m[1] < _USER_END]
    starts = [start for start, _ in mapped] + [_USER_END]
    ends = [_PAGE] + [end for _, end in mapped]
    size, at = max((start - end, end) for start, end in zip(starts, ends))
    return at + size // 2 // _PAGE * _PAGE


def _run(address: int, *arguments: int) -> None:
    gdb.parse_and_eval("((double (*)(%s)) %#x)(%s)" % (
        ", ".join(["unsigned long"] * len(arguments)), address,
        ", ".join("%#xul" % (a & (1 << 64) - 1) for a in arguments)))


class Calls:
    """Calls from the selected thread.  gdb.error: one has not returned."""

    def __init__(self, pid: int, at: int) -> None:
        self._pid = pid
        self._at = at

    def __call__(self, address: int, *arguments: int) -> int:
        """Three arguments at most."""
        _run(self._at, address, *arguments, *[0] * (3 - len(arguments)))
        return int.from_bytes(memory.read(self._pid, self._at + _PAGE, 8),
                              "little")

    def put(self, data: bytes, offset: int = 0) -> int:
        """The address of the data, in a buffer of BUFFER_SIZE bytes."""
        at = self._at + _BUFFER_AT + offset
        memory.write(self._pid, at, data)
        return at


def _map(pid: int, function: int) -> int:
    """What mmap() returns is not known, for it keeps no result in memory."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _FIXED_NOREPLACE
    for _ in range(_TRIES):
        at = _room(pid)
        _run(function, at, _PAGE, mmap.PROT_READ | mmap.PROT_EXEC, flags, -1, 0)
        _run(function, at + _PAGE, _SIZE - _PAGE,
             mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
        found = dict(memory.mapped_ranges(pid))
        if found.get(at) == at + _PAGE and at + _PAGE in found:
            return at
    raise gdb.error("the process has no memory for calls")


@contextlib.contextmanager
def calls(function_of: Callable[[str], int]) -> Iterator[Calls]:
    """function_of gives the addresses of libc's functions.  gdb.error: the
    process does not run them, or has no memory."""
    pid = gdb.selected_inferior().pid
    with changed("unwindonsignal", "on"), changed("language", "c"):
        try:
            at = _map(pid, function_of("mmap"))
            memory.write(pid, at, _code())
        except OSError as e:
            raise gdb.error(str(e)) from None
        try:
            yield Calls(pid, at)
        finally:
            with contextlib.suppress(gdb.error):
                _run(function_of("munmap"), at, _SIZE)


class _Reader(Unwinder):
    """Unwinds nothing."""

    def __init__(self) -> None:
        super().__init__("cstrace-vectors")

    def __call__(self, pending: Any) -> None:
        if not pending.level():
            pending.read_register("st0")  # gdb reads all of them with it


@contextlib.contextmanager
def undone() -> Iterator[None]:
    """For a call that executes nothing, and stops: gdb undoes it, and has read
    the registers of vectors."""
    reader = _Reader()
    register_unwinder(None, reader, replace=True)
    try:
        with changed("unwindonsignal", "on"), changed("language", "c"):
            yield
    finally:
        gdb.frame_unwinders.remove(reader)
