# SPDX-License-Identifier: MIT
"""The page's call graph, and recursion in its trees, beside those of the
command."""

import json
import re
from collections import Counter

import pytest

import lib_browser
from lib_browser import WIDTHS, call_of
from lib_build import build
from lib_formats import cstrace, record_program, save

lib_browser.skip_unless_possible()

# The rows of its tree as `cstrace graph` has them.
GRAPH = """(() => {
  const rows = [];
  const add = (nodes, depth) => nodes.forEach((node) => {
    rows.push([cstrace.names.full(node.fn), depth, node.calls,
      node.isRecursive, node.isRecursive ? null : node.total]);
    add(node.below, depth + 1);
  });
  cstrace.views.graph.parts.forEach(({ nodes }) => add(nodes, 0));
  return rows;
})()"""


@pytest.fixture(scope="module", name="deep")
def deep_folder(tmp_path_factory):
    folder = record_program(tmp_path_factory.mktemp("deep"), build("deep.c"))
    save(folder, "t.html")
    return folder


def graph_rows(folder, *words):
    done = cstrace(folder, "graph", "--format", "json", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["rows"]


@pytest.mark.parametrize("which", ["shop", "ended", "deep"])
def test_the_graph_is_that_of_the_command(page, request, which):
    folder = request.getfixturevalue(which)
    save(folder, "t.html")
    page.open(folder / "t.html").view("4", "graph")
    mine = Counter(tuple(row[:4]) for row in page.run(GRAPH))
    theirs = [row for row in graph_rows(folder, "t.cst")
              if not re.match("throw |catch ", row["function"])]
    base = min(row["depth"] for row in theirs)
    assert mine == Counter((row["function"], row["depth"] - base,
                            row["calls"], row["is_recursive"])
                           for row in theirs)
    totals = sorted(tuple(row[:4]) + (row[4] or 0,) for row in page.run(GRAPH))
    for row, mine in zip(sorted((
            row["function"], row["depth"] - base, row["calls"],
            row["is_recursive"], row["total_ns"] or 0) for row in theirs),
            totals):
        assert row[:4] == mine[:4]
        assert mine[4] == pytest.approx(row[4], rel=0.01, abs=99), row


def test_recursion_takes_no_longer_than_its_caller(page, deep):
    """Two functions that call each other are folded into one another."""
    page.open(deep / "t.html").view("4", "graph")
    totals = page.run("""(() => {
      const own = (fn) => cstrace.names.own(fn);
      const [main] = cstrace.callgraph.tree();
      const even = main.below.find(({ fn }) => own(fn) === 'even');
      const odd = even.below.find(({ fn }) => own(fn) === 'odd');
      return [odd, even, main].map(({ total }) => total);
    })()""")
    assert 0 < totals[0] <= totals[1] <= totals[2]
    assert not page.find("#banner").is_displayed()
    assert page.run("cstrace.callgraph.tree()[0].below[0].calls") == 5001


def test_functions_that_call_each_other_are_a_row_each(page, deep):
    page.open(deep / "t.html").view("3", "tree")
    page.wait("document.querySelector('#tree .levels')")
    rows = """[...document.querySelectorAll('#tree .row:not([hidden])')].map(
      (row) => row.querySelector('.call').textContent)"""
    assert page.run(rows) == [
        "▾main", "5,001 × in 5,001 levelsdown", "▾301 × in 301 levelseven",
        "300 × in 300 levelsodd", "177 × in 10 levelsfib"]
    n = page.run("cstrace.trace.calls.n")
    page.press("f")
    page.run("cstrace.views.tree.unfoldAll(0)")
    assert page.run("cstrace.views.tree.rows.length") == n
    # Each call can be reached, and is once in the tree of rows.
    page.press("f")
    page.run("cstrace.views.tree.unfoldAll(0)")
    assert page.run("cstrace.views.tree.rows.length") == 5
    inner = page.run("""cstrace.trace.calls.depth.findIndex((depth, i) =>
      depth === 300 && cstrace.names.ofCall(i) === 'odd'
      || depth === 301 && cstrace.names.ofCall(i) === 'odd')""")
    page.run("(cstrace.select(arguments[0], ''), cstrace.showSelected(), 1)",
             inner)
    page.wait("document.querySelector('#tree .selected')")
    assert page.text("#tree .selected .id") == page.run(
        "cstrace.names.id(arguments[0])", inner)
    # All of the recursion that it is in is shown level by level.
    assert page.run("cstrace.views.tree.rows.length") > 300


@pytest.mark.parametrize("which", ["deep", "fibs", "shop", "ended", "server"])
def test_each_call_is_in_one_row(page, request, which):
    """Its own, or that of the recursion that it is in."""
    folder = request.getfixturevalue(which)
    save(folder, "t.html")
    page.open(folder / "t.html").view("3", "tree")
    rows, n = page.run("""(() => {
      const { trace: { calls, lanes }, views: { tree } } = cstrace;
      const items = lanes.flatMap((_, i) => tree.below(~i));
      for (let i = 0; i < items.length; i++) tree.unfoldAll(items[i]);
      let inner = 0;
      for (let i = 0; i < calls.n; i++) inner += tree.recursion.isInner[i];
      const rows = tree.rows.map(({ item }) => item).filter((i) => i >= 0);
      return [rows, calls.n - inner];
    })()""")
    assert len(rows) == len(set(rows)) == n


@pytest.mark.parametrize("width", WIDTHS)
def test_a_deep_row_has_room_for_its_name(page, deep, width):
    page.resize(width)
    try:
        page.open(deep / "t.html").view("3", "tree")
        page.wait("document.querySelector('#tree .row .own')")
        for _ in range(3):
            names = page.run("""[...document.querySelectorAll(
              '#tree .row:not([hidden]) .own')].map((own) =>
                [own.textContent, own.scrollWidth <= own.clientWidth + 1
                  && own.clientWidth > 10])""")
            assert all(fits for _, fits in names), names
            page.press("\ue00f")  # Page Down
            page.settle()
        # The level is a number where it is not drawn.
        level = 300
        page.run("""((level) => {
          const { names, trace: { calls } } = cstrace;
          cstrace.select(calls.depth.findIndex((depth, i) => depth === level
            && names.ofCall(i) !== 'down'), '');
          cstrace.showSelected();
        })(arguments[0])""", level)
        page.settle()
        assert page.text("#tree .selected .call").startswith("[%d] " % level)
    finally:
        page.resize(1200)


def test_callers_above_and_callees_below(page, shop):
    page.open(shop / "t.html")
    page.run("cstrace.select(arguments[0], '')", call_of(page, "pack"))
    page.press("g")
    page.wait("cstrace.name === 'graph'")
    page.settle()
    # A title, or a function's name without what it belongs to.
    rows = page.run("""[...document.querySelectorAll(
      '#graph .row:not([hidden])')].map((row) => (
        row.querySelector('.own') ?? row).textContent.split('(')[0])""")
    titles = [rows.index("Callers, with the calls and the time that came "
                         "through them"), rows.index("The function and its callees")]
    callers = rows[1:titles[1]]
    assert titles[0] == 0 and callers[0] == "serve"
    assert {"operator", "main"} <= set(callers)
    assert rows[titles[1] + 1] == "pack"
    assert any("each" in row for row in rows[titles[1] + 2:])
    page.click("#graph .focus button")
    page.wait("cstrace.focused === -1")
    assert page.run("cstrace.views.graph.parts.length") == 1


def test_times_of_a_function_in_focus(page, shop):
    page.open(shop / "t.html").view("4", "graph")
    sums = page.run("cstrace.trace.head.sums")
    mine = page.run("""cstrace.trace.head.sums.map(([fn]) => {
      const [own] = cstrace.callgraph.tree(fn);
      return [fn, own.calls, own.total];
    })""")
    for (fn, calls, total, *_), (_, my_calls, my_total) in zip(sums, mine):
        assert (calls, total) == (my_calls, pytest.approx(my_total, abs=99)), fn


def test_the_details_lead_to_callers_and_callees(page, shop):
    page.open(shop / "t.html")
    call = call_of(page, "pack")
    page.run("cstrace.select(arguments[0], '')", call)
    assert "Callers" in page.text("#details")
    assert "Callees" in page.text("#details")
    page.click("#details .item")  # the nearest caller
    page.wait("cstrace.selected === cstrace.trace.calls.parent[%d]" % call)
