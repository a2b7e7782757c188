# SPDX-License-Identifier: MIT
"""(FROM): where the nearest caller that is shown called from, whatever is
hidden in between."""

import re

import pytest

from lib_build import FOUR, build, line_of
from lib_cstrace import cstrace
from lib_tree import rows


def recorded(folder, program):
    cstrace(folder, "record", "-o", "t.cst", "--", program)


def shown(folder, *options):
    return rows(cstrace(folder, "show", "t.cst", *options).out)


def place(row):
    return re.search(r"  ([^ ]+:\d+)(  \(unwound\))?$", row.text)


@pytest.mark.parametrize("variant", FOUR, ids=str)
def test_no_row_names_the_library(tmp_path, variant):
    recorded(tmp_path, build("shop.cc", variant=variant))
    found = shown(tmp_path)
    assert len(found) > 200
    places = [place(row)[1] for row in found if row.depth and place(row)]
    # What throws is in no line of the program's; the rest is.
    assert len(places) > 0.95 * len(found)
    assert {p.split(":")[0] for p in places} == {"shop.cc"}


def test_it_is_the_line_in_that_caller(tmp_path):
    recorded(tmp_path, build("shop.cc"))
    found = [row.text for row in shown(tmp_path)]
    line = line_of("shop.cc", "std::for_each(")
    visited = "Shop::pack::{lambda"
    places = {re.sub(r"  \(unwound\)$", "", text).split("  ")[-1]
              for text in found if visited in text}
    assert places == {"shop.cc:%d" % line}
    # With the library shown, it is the library's line.
    inner = [row.text for row in shown(tmp_path, "--std")
             if visited in row.text]
    assert any("stl_algo.h:" in text for text in inner)


def test_live_rows_have_the_same(gdb, tmp_path):
    run = gdb(build("shop.cc"), "cstrace start", "run", "cstrace save t.txt")
    live = {row.text for row in rows(run.out) if not row.is_close}
    saved = {row.text for row in rows((tmp_path / "t.txt").read_text())}

    def places(texts):
        return {re.sub(r"  \(unwound\)$", "", text) for text in texts}

    live, saved = places(live), places(saved)
    # A row that is shown before another function of that name was called has no
    # parameters, which tell them apart; nothing else differs.
    assert live - saved == {re.sub(r"\([^)]*\)(?=  )", "", text)
                            for text in saved - live}


def test_callers_that_the_user_hides(tmp_path):
    recorded(tmp_path, build("calls.c"))
    hidden = [row.text for row in shown(tmp_path, "--exclude", "^spread$")]
    # pair and leaf are called in spread, which main calls.
    spread = line_of("calls.c", "spread(1)")
    assert hidden[:3] == ["main" + hidden[0][4:], "pair  calls.c:%d" % spread,
                          "leaf  calls.c:%d" % line_of("calls.c",
                                                       "leaf(n) *")]
    # Without any caller in sight it is the line of the call.
    alone = [row.text for row in shown(tmp_path, "^pair$")]
    assert alone[0] == "pair  calls.c:%d" % line_of("calls.c", "pair(n)")
