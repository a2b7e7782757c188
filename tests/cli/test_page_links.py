# SPDX-License-Identifier: MIT
"""What a page's address says, and what can be copied from it."""

import pytest

import lib_browser
from lib_browser import CHART_VIEW, call_of, hash_of
from lib_build import Variant, build
from lib_formats import json_lines, record_program, save

lib_browser.skip_unless_possible()


def test_a_link_shows_the_same(page, shop):
    page.open(shop / "t.html")
    call = call_of(page, "pack")
    page.run("cstrace.select(arguments[0], '')", call)
    page.run("cstrace.views.chart.zoomTo(arguments[0])", call)
    page.press("/", "take")
    page.wait("location.hash.includes('find=take')"
              " && location.hash.includes('zoom=')")
    link = page.run("location.href")
    assert hash_of(page)["view"] == "chart"
    view = page.run(CHART_VIEW)
    page.open_link(link)
    assert page.run("cstrace.selected") == call
    assert page.run("cstrace.search.text").split()[1] == "calls"
    assert page.run(CHART_VIEW) == pytest.approx(view, abs=2)
    page.press("\ue00c")
    page.run("document.activeElement.blur()")
    page.view("3", "tree")
    page.wait("location.hash.includes('view=tree')")
    page.open_link(page.run("location.href"))
    page.wait("document.querySelector('#tree .selected')")
    assert page.run("cstrace.selected") == call


def test_a_link_to_a_function(page, shop):
    page.open(shop / "t.html")
    page.run("cstrace.focus(cstrace.names.functionOf(arguments[0]))",
             call_of(page, "serve"))
    page.wait("location.hash.includes('fn=')")
    fn = page.run("cstrace.focused")
    page.open_link(page.run("location.href"))
    assert page.run("cstrace.name") == "graph"
    assert page.run("cstrace.focused") == fn


def test_a_link_holds_in_a_page_of_another_recording(page, shop, tmp_path):
    """Where functions and stacks have other numbers."""
    record_program(tmp_path, build("shop.cc", "-pthread",
                                   variant=Variant("clang")), 2, 5)
    save(tmp_path, "t.html", "--std")
    page.open(shop / "t.html")
    call = call_of(page, "serve")
    page.run("cstrace.focus(cstrace.names.functionOf(arguments[0]))", call)
    page.wait("location.hash.includes('fn=')")
    name = page.run("cstrace.names.full(cstrace.focused)")
    assert hash_of(page)["fn"] == name
    page.open_link("file://%s%s" % (tmp_path / "t.html",
                                    page.run("location.hash")))
    assert page.run("cstrace.names.full(cstrace.focused)") == name
    # The first stack with a shelf on it, from main.
    path = """(() => {
      const { names, stack, trace: { stacks } } = cstrace, path = [];
      for (let i = stack; i >= 0; i = stacks.parent[i]) {
        path.push(names.full(stacks.fn[i]));
      }
      return path;
    })()"""
    page.open(shop / "t.html").view("2", "flame")
    page.run("""cstrace.selectStack(cstrace.views.flame.boxes.start.findIndex(
      (_, box) => /Shelf::Shelf/.test(
        cstrace.names.full(cstrace.views.flame.boxes.fn(box)))))""")
    page.wait("location.hash.includes('stack=')")
    wanted = page.run(path)
    assert wanted[-1] == "main" and "Shelf" in wanted[0]
    page.open_link("file://%s%s" % (tmp_path / "t.html",
                                    page.run("location.hash")))
    assert page.run(path) == wanted


def test_a_link_by_hand(page, shop):
    ident = json_lines(shop)[-1]["id"]
    page.open_link("file://%s#view=tree&id=%s" % (shop / "t.html", ident))
    page.wait("document.querySelector('#tree .selected .id')")
    assert page.text("#tree .selected .id") == ident
    page.run("void (location.hash = 'view=tree&id=9.9')")
    page.wait("!document.querySelector('#toast').hidden")
    assert page.text("#toast") == "Call 9.9 is not in this page"


# ---- copies -----------------------------------------------------------------

def copied(page, key):
    page.press(key)
    page.wait("!document.querySelector('#toast').hidden")
    return page.driver.execute_async_script(
        "navigator.clipboard.readText().then(arguments[0])")


def test_copies(page, shop):
    page.open(shop / "t.html")
    page.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": [
        "clipboardReadWrite", "clipboardSanitizedWrite"]})
    call = call_of(page, "pack")
    page.run("cstrace.select(arguments[0], '')", call)
    ident = page.run("cstrace.names.id(arguments[0])", call)
    assert copied(page, "i") == ident
    assert copied(page, "c") == "cstrace show %s" % ident
    rows = [line.split() for line in copied(page, "s").splitlines()]
    stack, at = [], ident
    calls = {call["id"]: call for call in json_lines(shop)}
    while at:
        stack.insert(0, at)
        at = calls[at]["parent"]
    assert [row[0] for row in rows] == stack
    link = copied(page, "l")
    assert "id=%s" % ident in link
    page.open_link(link)
    assert page.run("cstrace.selected") == call


def test_copies_where_there_is_no_clipboard(page, shop):
    """A page from a server without TLS has none."""
    page.open(shop / "t.html")
    page.run("cstrace.select(0, '')")
    page.run("""void Object.defineProperty(navigator, 'clipboard',
                                           { value: undefined })""")
    page.run("""void document.addEventListener('copy', () => {
      window.copied = String(document.activeElement.value); })""")
    page.press("i")
    page.wait("window.copied === '1.1'")
