# SPDX-License-Identifier: MIT
"""Where the selected inferior lives: here, elsewhere, or in a core file."""

from __future__ import annotations

import re

import gdb


def is_native() -> bool:
    """Does the selected inferior live on this machine, in gdb's own hands?"""
    connection = gdb.selected_inferior().connection
    return connection is None or connection.type == "native"


def connection_name() -> str:
    connection = gdb.selected_inferior().connection
    return "" if connection is None else str(connection.type)


def core_path() -> str:
    """The core file that gdb has; gdb says its path in `info files` only."""
    text = gdb.execute("info files", to_string=True)
    found = re.search(r"^Local core dump file:\n\s*`(.*)', file type", text,
                      re.M)
    return found[1] if found else ""


def connection_type() -> str:
    return gdb.selected_inferior().connection.type


def is_remote() -> bool:
    """Is it reached through gdb's remote protocol (gdbserver)?"""
    return connection_name() in ("remote", "extended-remote")


def foreign() -> str:
    """That the program that there is cannot be recorded."""
    return "programs of `target %s` are not recorded" % connection_type()


def check_native(what: str = "cstrace traces",
                 instead: str = "") -> None:
    """Raises GdbError, which names what to do instead."""
    if not is_native():
        raise gdb.GdbError(
            "%s programs that gdb runs or attaches to on this machine, not "
            "those of `target %s`%s" % (what, connection_type(), instead))


def check_recordable() -> None:
    if not is_remote():
        check_native()
