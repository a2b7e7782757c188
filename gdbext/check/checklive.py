# SPDX-License-Identifier: MIT
"""What `cstrace check` says of the running process."""

from __future__ import annotations

import os
from typing import Any

import gdb

from .. import locate
from ..process import hooks, relocations
from ..process.control import Control
from ..session.session import Session, is_native


def tell(page: Any, session: Session) -> None:
    """On a page of cstrace check."""
    page.line()
    if not is_native():
        page.row("process", "not on this machine: cannot be traced")
        return
    control = Control.find()
    if control is None:
        page.row("process", "runs without libcstrace.so")
        page.mend("cstrace start, then run it again (from here on, "
                  "breakpoints on its hooks are slow but work)")
    elif control.version_error():
        page.row("process", control.version_error())
        page.mend("run it again")
    else:
        page.row("process", "libcstrace.so is in it")
        _astray(page)
    state = "off"
    if session.is_on():
        state = "on, " + session.summary()
    page.row("trace", state)
    if state == "off":
        page.mend("cstrace start")


def _astray(page: Any) -> None:
    """Files whose hooks lead elsewhere, as with dlmopen or RTLD_DEEPBIND."""
    memory = hooks.Memory()
    mapped = hooks.mappings(gdb.selected_inferior().pid)
    for path in sorted({m[3] for m in mapped}):
        if not hooks.uses_hooks(path):
            continue
        base = hooks.load_address(path)
        slots = relocations.slots(path, os.stat(path).st_mtime_ns,
                                  hooks.NAMES)
        for slot in [s for found in slots.values() for s in found]:
            to = memory.word((base or 0) + slot)
            where = next((m[3] for m in mapped if m[0] <= to < m[1]), None)
            if where in (None, path) or locate.is_shim(where):
                continue  # not bound yet, or as it should be
            page.row("astray", "%s calls the hooks of %s"
                     % (os.path.basename(path), os.path.basename(where)))
            page.mend("cstrace start before it is loaded (dlmopen, "
                      "RTLD_DEEPBIND), or load it by dlopen")
            break
