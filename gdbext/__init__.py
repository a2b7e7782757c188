# SPDX-License-Identifier: MIT
"""cstrace in gdb: the thin skin over the C engine.  Importing it defines
things; register() puts them into gdb, and may run again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from .session.session import Session

_session: Optional[Session] = None


def register() -> None:
    """Add commands, settings and event handlers to gdb."""
    global _session
    import gdb

    from . import commands, engine, functions
    from .session import session
    from .ui import charset, ctrlc, events, frames, params, window

    if _session is not None:
        _session.refresh_preload()
        return
    ctrlc.install()
    charset.widen()
    _session = session.Session()
    _session.settings = params.register(_session.setting_changed,
                                        _session.open_output)
    _session.settings.tell_own(_session.own_of_trace)
    view = window.register(_session)
    commands.register(_session, view)
    functions.register(_session)
    events.register(_session)
    frames.register(_session)
    view.connect()
    try:
        engine.library()
        _session.refresh_preload()
    except engine.CstraceError as e:
        gdb.write("cstrace: %s\n" % e, gdb.STDERR)


def at(what: str) -> None:
    """The body of our hooks of gdb's commands; what: a function of
    ui.events.Events."""
    from .ui import events

    if events.events is not None:
        getattr(events.events, what)()
