# SPDX-License-Identifier: MIT
"""The word before all others."""

from __future__ import annotations

import gdb

from ..session.session import Session
from ..ui.words import instead

_TEXT = """\
cstrace start     trace calls, from the next `run` or from here
cstrace stop      end the trace, put everything back
cstrace sample    samples of where the program is, without hooks
cstrace status    what is going on
cstrace show      the calls as a tree
cstrace report    a row for each function
cstrace graph     all calls folded into one tree of functions
cstrace calls     a row for each call of a function
cstrace here      where the selected thread stands, and its last calls
cstrace list      the source of a call
cstrace goto      run the program again, up to a call
cstrace stop-when  stop at a call that meets conditions
cstrace on        do something at a call that meets conditions
cstrace window    move in the tree of `layout cstrace`, in the TUI
cstrace log       a line in the tree whenever the program gets to a place
cstrace zoom      the arguments of chosen calls, in the tree
cstrace info      what the trace holds, and which files it was made with
cstrace save      write the calls to a file: .txt, .jsonl, .cst, ...
cstrace load      read a saved trace
cstrace diff      compare a saved trace with the calls
cstrace expect    compare the calls with a golden tree
cstrace clear     forget what was recorded
cstrace check     why a program or a function cannot be traced
show cstrace      the settings
`help cstrace start` and so on tell more.
"""

_WORDS = [line.split()[1] for line in _TEXT.splitlines()
          if line.startswith("cstrace ")]


class CstraceCommand(gdb.Command):
    """Trace the function calls of a program, as a tree.

    Usage: cstrace start | stop | sample | status | show | report | graph
                   | calls | here | list | goto | stop-when | on | window
                   | log | zoom | info | save | load | diff | expect | clear
                   | check

    The program need not be compiled for it: functions without hooks are
    patched in memory.  Without a word behind it, list what there is."""

    def __init__(self, session: Session) -> None:
        super().__init__("cstrace", gdb.COMMAND_DATA, gdb.COMPLETE_NONE, True)
        self._session = session

    def invoke(self, arg: str, from_tty: bool) -> None:
        self.dont_repeat()
        words = arg.split()
        if words:
            raise gdb.GdbError('cstrace: no command "%s"%s'
                               % (words[0], instead(words[0], _WORDS)))
        state = "off"
        if self._session.is_on():
            state = "on: " + self._session.summary()
        gdb.write("cstrace is %s\n%s" % (state, _TEXT))
