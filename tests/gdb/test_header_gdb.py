# SPDX-License-Identifier: MIT
"""What a program says by cstrace.h, live in gdb; and a program that watches
itself while gdb does."""

import re

import pytest

from lib_build import ROOT, build
from lib_tree import rows

INCLUDE = "-I%s" % (ROOT / "cshim/include")
ROWS = ['span request #7(file="x")', 'span load(file="a.txt", n=1)',
        "span parse(big=0) = 2", "add(a=1, b=1) = 2",
        "log: a.txt: 1 of  12.5%, ab", 'span load(file="b.txt", n=3)',
        "span parse(big=1) = 6", "add(a=3, b=1) = 4",
        "log: b.txt: 3 of  12.5%, ab", 'nothing(p=<cannot read>, d=0.5, s="you")',
        "log: nothing for you", "light", "count bytes = 512", "guarded",
        "end of span request #7"]


def texts(out):
    return [re.sub(r"  \(vetoed\)$", "", row.text).split("  own.c:")[0]
            for row in rows(out) if not row.is_close]


@pytest.mark.parametrize("hooks", (False, True), ids=("alone", "with-hooks"))
def test_its_rows_are_live(gdb, hooks):
    run = gdb(build("own.c", "-DCSTRACE", INCLUDE, is_traced=hooks),
              "cstrace start", "run")
    assert "exited normally" in run.out
    seen = texts(run.out)
    if hooks:  # what has no macro is there by its hook
        assert [t for t in seen if t.startswith("main")]
        assert [t for t in seen if t.startswith("load")]
    assert [t for t in seen if t in ROWS] == ROWS


def test_the_end_of_an_asynchronous_span_has_its_time(gdb):
    """Begun in one thread, ended in another, thrice with one number."""
    run = gdb(build("requests.c", "-DCSTRACE", INCLUDE),
              "cstrace start", "run")
    assert "exited normally" in run.out
    assert len(re.findall(r"^ +[\d.]+ +\d+\.\d{3} ms .* end of span request #7 ",
                          run.out, re.M)) == 3


# A call's result is not known as it begins.
@pytest.mark.parametrize("method", ("breakpoint", "handshake"))
def test_its_rows_come_at_once_where_that_is_wanted(gdb, method):
    run = gdb(build("own.c", "-DCSTRACE", INCLUDE, is_traced=False),
              "set cstrace sync-method " + method, "cstrace start -sync",
              "break light", "run", "continue")
    before, _, after = run.out.partition("Breakpoint 1, light")
    assert "log: nothing for you" in before and "count bytes" not in before
    assert "count bytes = 512" in after
    assert "exited normally" in after


def test_callbacks_outlive_the_recording(gdb):
    run = gdb(build("watcher.c", "-DCSTRACE", INCLUDE), "set cstrace live off",
              "break halfway", "cstrace start", "run", "cstrace stop",
              "continue", "cstrace report")
    assert "exited normally" in run.out
    assert "20 callbacks" in run.out
    assert re.search(r"^ +10 .* work$", run.out, re.M)


def test_open_calls_can_be_asked_for_at_a_stop(gdb):
    run = gdb(build("watcher.c", "-DCSTRACE", INCLUDE), "break halfway", "run",
              "call cstrace_shim_at_->print_calls(1)", "kill")
    assert re.search(r"^#0   halfway, called from main\+0x", run.out, re.M)
