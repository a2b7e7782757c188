# SPDX-License-Identifier: MIT
"""What the page of `save x.html` says of the trace itself: who recorded what,
and why calls are missing."""

import re

import pytest

import lib_browser
from lib_browser import WIDTHS
from lib_build import Variant, build
from lib_formats import (
    calls_alone, cstrace, json_lines, record_program, save)

lib_browser.skip_unless_possible()


def test_who_recorded_what_and_when(page, shop):
    page.open(shop / "t.html")
    info = cstrace(shop, "info", "t.cst").stdout
    command = re.search(r"^command +(.*)$", info, re.M)[1]
    assert page.text("#title") == command.split("/")[-1]
    meta = page.text("#meta")
    n = len(calls_alone(shop))
    assert "%s calls · 4 threads" % format(n, ",") in meta
    all_calls = len(calls_alone(shop, "--std"))
    assert "%s library calls hidden" % format(all_calls - n, ",") in meta
    head = page.run("cstrace.trace.head")
    assert head["host"] and head["host"] in meta
    page.click("#meta")
    page.wait("document.querySelector('#about').open")
    about = page.text("#facts")
    assert command in about
    assert "t2: " in about
    assert "lostnone" in about
    year = page.run("new Date(Number(BigInt(cstrace.trace.head"
                    ".start_wall_ns) / 1000000n)).getFullYear()")
    assert str(year) in meta


@pytest.mark.parametrize("width", WIDTHS)
def test_a_long_command_leaves_room_for_the_rest(page, tmp_path, width):
    word = "--config=/a/long/path/to/a/file.json"
    save(record_program(tmp_path, build("server.c"), 1, *6 * [word]), "t.html")
    page.resize(width)
    try:
        page.open(tmp_path / "t.html")
        assert page.run("""[...document.querySelectorAll('#meta, #help-button')]
          .every((element) => element.offsetWidth > 20
            && element.scrollWidth <= element.clientWidth
            && element.scrollHeight <= element.clientHeight)""")
        assert page.find("#title").get_attribute("title").endswith(word)
    finally:
        page.resize(1200)


@pytest.mark.parametrize("options, words", [
    (["--in", "shop.cc"], "chosen: in shop.cc."),
    (["--range", "1ms.."], "chosen: range 1ms...")])
def test_says_what_was_chosen(page, shop, tmp_path, options, words):
    """Each condition, and not that the library is hidden."""
    out = tmp_path / "some.html"
    assert cstrace(shop, "save", "t.cst", out, *options).returncode == 0
    page.open(out)
    assert page.text("#banner").endswith(words)
    assert "library" not in page.text("#meta")


def test_says_what_was_not_kept(page, tmp_path):
    done = cstrace(tmp_path, "record", "--keep-depth", "4", "-o", "t.cst",
                   "--", build("deep.c"))
    assert done.returncode == 0, done.stderr
    assert cstrace(tmp_path, "save", "t.cst", "t.html").returncode == 0
    page.open(tmp_path / "t.html")
    assert re.search(r"\d{4,} calls not kept \(too deep or short\)\.",
                     page.text("#banner"))


@pytest.mark.parametrize("options, why", [
    (["--filter", "nosuch"], "No call matches: filter nosuch. ("),
    (["--min-time", "3600s", "--thread", "2"],
     "No call matches: min-time 3600s, thread 2. ("),
    (["--range", "1000s.."], "No call matches: range 1000s... (")])
def test_says_why_there_is_nothing(page, shop, tmp_path, options, why):
    out = tmp_path / "none.html"
    done = cstrace(shop, "save", "t.cst", out, *options)
    assert done.returncode == 0
    page.open(out)
    n = len(calls_alone(shop, "--std"))
    assert page.text("#loading") == why + "%s calls were recorded)" % format(
        n, ",")


def test_says_that_all_is_hidden(page, shop, tmp_path):
    """Nothing but the C++ library's calls is recorded."""
    program = build("shop.cc", "-pthread", variant=Variant("clang"))
    done = cstrace(tmp_path, "record", "-o", "t.cst",
                   "--exclude", "^(main|Shop|Shelf|Queue|Clerk|Order|Item|Line"
                   "|Price|(No)?Discount|Percent|OutOfStock|shop)",
                   "--", program, 1, 2)
    assert done.returncode == 0, done.stderr
    assert cstrace(tmp_path, "save", "t.cst", "t.html").returncode == 0
    page.open(tmp_path / "t.html")
    n = len(json_lines(tmp_path, "--std"))
    assert n > 100
    assert page.text("#loading") == (
        "No call is shown: the C++ library's and system headers' are hidden, "
        "unless the page is saved with --std. (%s calls were recorded)"
        % format(n, ","))
