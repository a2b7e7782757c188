# SPDX-License-Identifier: MIT

from __future__ import annotations

import os
from typing import Any, Callable

import gdb

from .. import engine
from ..ui import ctrlc, options
from ..ui.console import run_long, say
from ..ui.options import Option
from ..ui.words import saved_text
from .base import (
    ALL, BELOW, CHOICE, FORCE, NAMES, SAMPLES, THREAD, WHERE, TraceCommand,
    choice_of)


MIXED = ("without the threads' column (or -id) `cstrace expect` cannot read "
         "the tree: it has several threads")


def _read_format(name: str, word: str) -> str:
    return options.read_one_of(tuple(engine.formats()))(name, word)


@ctrlc.held  # or Ctrl-C could come before the new file is reported
def write_and_tell(save: Callable[[], int], tell: Callable[[int], str]) -> None:
    say(tell(run_long(save)))


class SaveCommand(TraceCommand):
    """Save the recorded calls in a file.

    Usage: cstrace save FILE [-format F]
           cstrace save [-below ID] [-thread T] [-from WHERE] [-until WHERE]
                        [-range A..B]
                        [-in FILE] [-module M] [-depth N] [-filter REGEX]
                        [-exclude REGEX] [-min-time T] [-where CONDITION]
                        [-all] [-force]
                        [-format F] [-names simple|full] [-id] [-no-thread]
                        [-samples] FILE

    FILE's ending gives the format; -format F where it does not:

      .txt         the tree
      .jsonl       a JSON object for each call
      .cst         the trace itself, for `cstrace load`
      .html        a page for any browser: charts, tree, call graph, report
      .json        Chrome trace events, for Perfetto
      .speedscope.json, .speedscope
                   for speedscope
      .folded      stacks with their time, for flame graphs
      .callgrind   for KCachegrind and callgrind_annotate
      .pb.gz, .pprof   for pprof
      .dot         the graph of functions, for Graphviz
      .otlp.json, .otlp
                   OpenTelemetry spans, best with -below or -depth
      .ctf         a folder for babeltrace2 and Trace Compass
      .uftrace     a folder for uftrace's replay, report, graph

    A file that cstrace wrote is replaced once the new one is complete, any
    other only with -force.  What `cstrace start` and the settings choose is what is saved, unless -all or options of
    this command, as those of `cstrace show`, say otherwise; -below ID saves
    the call with this number (1.42) and what it calls.  Rows have their
    calls' IDs with -id, no threads with -no-thread, parameters and templates'
    arguments with -names full.  -samples saves the samples of a trace that has
    calls, too."""

    name = "cstrace save"
    rest = gdb.COMPLETE_FILENAME

    @property  # type: ignore[override]
    def options(self) -> list[Option]:
        try:
            formats = engine.formats()
        except engine.CstraceError:
            formats = []
        return [Option("format", _read_format, formats), BELOW, THREAD,
                *CHOICE, WHERE, ALL, SAMPLES, FORCE, NAMES, Option("id", None),
                Option("no-thread", None)]

    def run(self, values: dict[str, Any], rest: str) -> None:
        path, more = options.first_word(rest)
        if not path:
            raise gdb.GdbError("cstrace save: which file?  As in: "
                               "cstrace save tree.txt")
        options.no_more(more, self.name)
        trace = self.session.trace()
        choice = self.session.choice(**choice_of(
            values, ("thread",)))
        look = self.session.saved_look("id" in values)
        look.names = choice.names
        look.thread &= "no_thread" not in values
        path = os.path.expanduser(path)
        form = values.get("format")
        if "force" not in values:
            engine.may_replace(path, form)
        much = trace.announcement(path, form, choice)
        if much:
            say(much)
        if trace.mixes_threads(path, form, look, choice):
            say(MIXED)
        write_and_tell(
            lambda _write: trace.save(path, form, look, choice),
            lambda n: saved_text(n, path, trace, look, choice, form))
        n = trace.status().n_too_deep
        if n:
            say("%s left out: the format has no room for calls so deep"
                % ("1 call was" if n == 1 else "%d calls were" % n))
