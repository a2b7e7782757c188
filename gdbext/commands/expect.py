# SPDX-License-Identifier: MIT

from __future__ import annotations

import os
from typing import Any

import gdb

from .. import engine
from ..ui import options
from ..ui.console import run_long, say
from ..ui.options import Option
from .base import (
    ALL, CHOICE, FORCE, FORMAT, WHERE, TraceCommand, choice_of, write_note)


class ExpectCommand(TraceCommand):
    """Compare the recorded calls with a golden tree.

    Usage: cstrace expect [-make [-force]] [-depth N] [-filter REGEX]
                          [-exclude REGEX] [-in FILE] [-module M]
                          [-from WHERE] [-until WHERE] [-min-time T]
                          [-where CONDITION] [-all]
                          [-format text|json|csv] FILE

    FILE is a text with a line for a call, and indented below it those that it
    makes, in order and no others:

      main                # a comment
        load  x2          a count: x3, x2..5, x2.., x* (any), x+ (some)
        /^parse_/  x+     a regex; in a name * stands for any text
        check  app.c:12   only when called from there
        ...               any calls, or none
        unordered:        those below in any order
          open
          stat
        !abort            must not be called by main or below
        save  (unwound)   how it ended; also (open)
      thread 2:           what follows is thread 2's; a name with *, or ?
                          for one that no other line is about

    It may begin with "options:" and below that, indented, depth N, filter
    REGEX, exclude REGEX, from WHERE, until WHERE, in FILE, module M, min-time
    T, range A..B, thread N, where CONDITION or std: only those calls are compared.  -make
    writes the options that it was given there.

    Without a match the first call that differs is shown, and the command
    fails.

      -make       write FILE from what was recorded, equal calls folded
      -force      replace a FILE that is no golden tree of the program
      -depth N, -filter, -exclude, -in, -module, -min-time, -from, -until,
      -where      as `cstrace show`: which calls are compared
      -all        all calls, whatever `cstrace start` and the settings say
      -format F   for programs: a row for each call that was open there"""

    name = "cstrace expect"
    rest = gdb.COMPLETE_FILENAME
    options = [Option("make", None), FORCE, *CHOICE, WHERE, ALL, FORMAT]

    def run(self, values: dict[str, Any], rest: str) -> None:
        path, more = options.first_word(rest)
        if not path:
            raise gdb.GdbError("cstrace expect: which file?  As in: "
                               "cstrace expect -make app.golden")
        options.no_more(more, self.name)
        trace = self.session.trace()
        choice = self.session.choice(**choice_of(values, ()))
        path = os.path.expanduser(path)
        if "make" in values:
            run_long(lambda _write: trace.make_golden(
                path, "force" in values, choice))
            say("golden tree saved to %s" % path)
            return
        output = values.get("format", "text")
        if not run_long(lambda write: trace.expect(path, output, choice,
                                                   write)):
            raise gdb.GdbError("the calls are not those of %s" % path)
        if output == "text":
            say("the calls are those of %s" % path)
            if engine.choice_text(choice):
                write_note(trace, choice)
