# SPDX-License-Identifier: MIT
"""The sessions that the documents show: they print today what stands there."""

import html
import re
import subprocess
import sys

import pytest

from lib_build import ROOT, build
from lib_cstrace import cstrace

HOWTO = ROOT / "docs/howto"
PAGES = ["README.md", *sorted(str(path.relative_to(ROOT))
                              for path in HOWTO.glob("*.md"))]
LINK = re.compile(r"\]\(([^)#]*)(?:#([^)]*))?\)")


def replay(*words):
    return subprocess.run([sys.executable, str(ROOT / "tools/replay"), *words],
                          cwd=ROOT, text=True, capture_output=True, timeout=550)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_what_is_printed_now(page):
    done = replay("--check", page)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


SESSION = """<!-- $ gcc -g -finstrument-functions examples/calc.c -o build/examples/calc -->
```text
$ cstrace record -o t.cst build/examples/calc 1
1
cstrace: 9 calls in 1 thread, 1 KiB in t.cst, 0.005 s
$ cstrace show --depth 2 t.cst
# Equal calls are one row (x3), each below and right of its caller
#     START    DURATION  ID   CALL  (FROM)
   0.000000    1.167 ms  1.1  main  libc_start_call_main.h:58
...
   0.000008   10.000 us  1.3    sum  calc.c:88
# depth 2: 3 of 9 calls
```
"""


@pytest.mark.parametrize("old, new", [
    ("sum  calc.c:88", "sun  calc.c:88"), ("sum  calc.c:88", "sum  calc.c:89"),
    ("CALL  (FROM)", "CALLS"), ("calls in 1 thread", "rows in 1 thread")])
def test_a_page_that_shows_something_else_is_found(tmp_path, old, new):
    page = tmp_path / "page.md"
    page.write_text(SESSION.replace("calc.c:89", "calc.c:88"))
    assert replay("--check", str(page)).stdout == ""
    page.write_text(SESSION.replace(old, new))
    done = replay("--check", "--tries=1", str(page))
    assert done.returncode == 1
    assert "shows something else" in done.stdout


def test_a_result_may_come_behind_its_row(tmp_path):
    """A row that is due while the call is open has none; another is wrong."""
    page = tmp_path / "page.md"
    page.write_text(SESSION.replace("record", "record --args").replace(
        "main  lib", "main(argc=2, argv=0x7ffe12345678) = 0  lib").replace(
            "sum  calc.c:88", "sum = 1  calc.c:88"))
    assert replay("--check", str(page)).stdout == ""
    text = page.read_text()
    page.write_text(text.replace("sum = 1  calc", "sum  calc"))
    assert replay("--check", str(page)).stdout == ""
    page.write_text(text.replace("sum = 1  calc", 'sum = "1"  calc'))
    assert "shows something else" in replay(
        "--check", "--tries=1", str(page)).stdout


def test_calls_that_take_as_long_may_be_one_row(tmp_path):
    """Folded, they show (...) in place of values that differ."""
    page = tmp_path / "page.md"
    page.write_text(SESSION.replace("sum  calc.c:88", "sum(...)  calc.c:88"))
    assert replay("--check", str(page)).stdout == ""
    page.write_text(SESSION.replace("sum  calc.c:88", "sun(...)  calc.c:88"))
    assert "shows something else" in replay(
        "--check", "--tries=1", str(page)).stdout


def test_a_page_is_rewritten_with_what_it_leaves_out(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(SESSION.replace(
        "1 KiB", "77 KiB").replace("DURATION", "LENGTH"))
    assert replay(str(page)).returncode == 0
    text = page.read_text()
    assert "77 KiB" not in text and "DURATION" in text
    rows = re.findall(r"^(?:\.\.\.| .*)$", text, re.M)
    assert [row.split()[-2:] for row in rows] == [
        ["main", "libc_start_call_main.h:58"], ["..."], ["sum", "calc.c:88"]]


PICTURES = ["terminal.svg", "page.png"]


@pytest.mark.parametrize("picture", PICTURES)
def test_a_picture_is_of_this_version(picture):
    """`make pictures` makes them anew."""
    version = cstrace(".", "--version").out.splitlines()[0]
    data = (ROOT / "docs" / picture).read_bytes()
    assert f"Made by tools/pictures with {version}".encode() in data
    assert len(data) < 150_000


def test_the_terminal_shows_the_columns_of_today(tmp_path):
    program = build("../../examples/stock.c")
    cstrace(tmp_path, "record", "-o", "t.cst", program)
    heading = cstrace(tmp_path, "show", "t.cst").out.splitlines()[1]
    drawn = (ROOT / "docs/terminal.svg").read_text()
    assert "(FROM)" in heading
    assert all(">%s<" % word in drawn or " %s<" % word in drawn
               or ">%s " % word in drawn for word in heading.split()[1:-1])


@pytest.mark.parametrize("page", ["docs/terminal.svg", "examples/README.md"])
def test_pages_show_the_values_of_today(tmp_path, page):
    program = build("../../examples/stock.c")
    cstrace(tmp_path, "record", "--args", "-o", "t.cst", program)
    shown = cstrace(tmp_path, "show", "t.cst").out
    calls = set(re.findall(r"item_find\(.*\) = \S+", shown))
    page = html.unescape((ROOT / page).read_text())
    assert len(calls) == 4
    assert all(call in page for call in calls)


def anchors(path):
    """The anchors that GitHub makes from headings."""
    titles = re.findall(r"^#+ (.*)", path.read_text(), re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
            for title in titles}


@pytest.mark.parametrize("page", [
    str(path.relative_to(ROOT)) for path in sorted(
        [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"),
         *ROOT.glob("examples/*.md")])])
def test_links_lead_somewhere(page):
    path = ROOT / page
    # In a transcript operator[](this=...) is none.
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.M | re.S)
    for target, anchor in LINK.findall(text):
        if "://" in target or "\n" in target:
            continue
        there = path.parent / target if target else path
        assert there.exists(), target
        if anchor:
            assert anchor in anchors(there), f"{target}#{anchor}"


def test_the_index_has_each_page():
    index = (HOWTO / "README.md").read_text()
    pages = {path.name for path in HOWTO.glob("*.md")} - {"README.md"}
    assert pages <= set(re.findall(r"\]\(([\w-]+\.md)\)", index))


@pytest.mark.parametrize("page", sorted(HOWTO.glob("*.md")),
                         ids=lambda path: path.name)
def test_the_index_has_the_titles_of_the_pages(page):
    title = page.read_text().splitlines()[0].removeprefix("# ")
    if page.name != "README.md":
        assert f"[{title}]({page.name})" in (HOWTO / "README.md").read_text()
