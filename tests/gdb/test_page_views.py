# SPDX-License-Identifier: MIT
"""What the page of `save x.html` shows of a C++ program and of an idle
server, as it is seen in a browser."""

import re
from collections import Counter

import pytest

import lib_browser
from lib_browser import CHART_VIEW, WIDTHS
from lib_build import ROOT, build
from lib_formats import json_lines, record_program, save

lib_browser.skip_unless_possible()

VIEWS = ["chart", "flame", "tree", "graph", "report"]


# ---- boxes and colours ------------------------------------------------------

# All texts that the chart draws, with their places.
DRAWN = """new Promise((done) => {
  const { renderEngine: engine } = cstrace.views[arguments[0]].plugin;
  const { fillText } = engine, drawn = [];
  engine.fillText = function (text, x, y) {
    drawn.push([text, Math.round(x), Math.round(y)]);
    fillText.call(this, text, x, y);
  };
  cstrace.views[arguments[0]].container.render();
  requestAnimationFrame(() => requestAnimationFrame(() => {
    engine.fillText = fillText;
    done(drawn);
  }));
})"""


@pytest.mark.parametrize("view", ["chart", "flame"])
def test_a_box_begins_with_the_functions_own_name(page, shop, view):
    page.open(shop / "t.html")
    page.run("cstrace.open(arguments[0])", view)
    page.settle()
    page.run("""((name) => {
      const view = cstrace.views[name];
      view.zoomTo(view.boxes.start.findIndex((_, box) =>
        cstrace.names.fn(view.boxes.fn(box)).endsWith('Clerk::operator()')));
    })(arguments[0])""", view)
    page.settle()
    lefts = {}
    for text, x, y in page.run(DRAWN, view):
        if not re.match("[▾▸] t", text):
            lefts.setdefault(y, []).append((x, text))
    firsts, others = [], []
    for row in lefts.values():
        firsts.append(min(row)[1])
        others += [text for _, text in row]
    own = page.run("cstrace.trace.head.sums.map(([fn]) =>"
                   " cstrace.names.own(fn))")
    assert firsts and all(
        any(name.startswith(first.rstrip("…")) for name in own)
        for first in firsts), firsts
    # What they belong to comes behind, where there is room.
    assert any(text.endswith("Clerk") for text in others)


def test_the_legend_tells_the_colours(page, shop):
    page.open(shop / "t.html")
    chips = page.run("""[...document.querySelectorAll('#legend .chip')].map(
      (chip) => [chip.title.split(': ')[0],
        getComputedStyle(chip.querySelector('.swatch')).backgroundColor])""")
    groups = [name for name, _ in chips]
    assert any(name.endswith("Shelf") for name in groups)
    assert "shop.cc" in groups  # of main
    named = [color for name, color in chips if not name.endswith("others")]
    assert len(set(named)) == len(named)
    # Long names are cut as far as they can still be told apart.
    texts = page.run("""[...document.querySelectorAll('#legend .group')]
      .map((group) => group.textContent)""")
    assert len(set(texts)) == len(texts) and "Shelf" in texts
    # A function looks like its group but for a little lightness.
    hues = page.run("""((name) => {
      const { colors, names } = cstrace;
      const group = colors.groups.find((group) => group.name === name);
      return group.fns.map((fn) => [names.group(fn), colors.all[fn],
                                    group.color]);
    })(arguments[0])""", groups[0])
    for name, color, of_group in hues:
        assert name == groups[0]
        assert color.split()[:2] == of_group.split()[:2]
    assert "unwound" in page.text("#legend")
    assert "open" not in page.text("#legend")


def test_a_click_on_the_legend_marks_its_calls(page, shop):
    page.open(shop / "t.html")
    page.click("#legend .chip")
    name = page.run("document.querySelector('#legend .chip')"
                    ".title.split(': ')[0]")
    page.wait("document.querySelector('#legend .chip')"
              ".getAttribute('aria-pressed') === 'true'")
    n = page.run("""(() => {
      const { names, trace: { calls } } = cstrace;
      let n = 0;
      for (let i = 0; i < calls.n; i++) {
        n += names.group(names.functionOf(i)) === arguments[0];
      }
      return n;
    })()""".replace("arguments[0]", repr(name)))
    assert page.run("cstrace.views.chart.boxes.hits.at(-1)") == n > 0
    page.click("#legend .chip")
    page.wait("cstrace.views.chart.boxes.hits === null")


def test_colours_by_function(page, server):
    page.open(server / "t.html")
    assert page.run("cstrace.colors.way") == "function"  # it has one file
    assert "wait_for_events" in page.text("#legend")


# The least contrast of the texts that are to be seen, of those in boxes, and of
# the page's few on colours of its own.
CONTRAST = """(() => {
  const context = document.createElement('canvas').getContext('2d',
    { willReadFrequently: true });
  const light = (...colors) => {
    for (const color of colors) {
      context.fillStyle = color;
      context.fillRect(0, 0, 1, 1);
    }
    const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map((v) => {
      const part = v / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const ratio = (back, text) => {
    const [a, b] = [light(...back), light(...back, text)];
    return Math.max(a, b) / Math.min(a, b);
  };
  const low = [];
  const check = (what, back, text) => {
    const found = ratio(back, text);
    if (found < 4.5) low.push([what, found]);
  };
  const { colors, trace } = cstrace;
  for (const box of [...trace.head.sums.map(([fn]) => colors.all[fn]),
    colors.faint]) {
    check('box', [box], colors.text);
    check('behind its name', [box], colors.ontop);
  }
  const style = getComputedStyle(document.documentElement);
  for (const back of ['back', 'panel', 'hover', 'hit', 'note', 'chosen']) {
    for (const text of ['text', 'dim', 'accent', 'bad', 'good', 'odd',
      'stopped']) {
      check(text + ' on ' + back, [style.getPropertyValue('--' + back)],
        style.getPropertyValue('--' + text));
    }
  }
  for (const back of ['own', 'total']) {
    check('on a bar', [style.getPropertyValue('--' + back)],
      style.getPropertyValue('--text'));
  }
  check('placeholder', [style.getPropertyValue('--back')],
    getComputedStyle(document.querySelector('#query'),
      '::placeholder').color);
  return [low, light(style.getPropertyValue('--back'))];
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out(page, shop, scheme):
    page.scheme(scheme)
    try:
        low, back = page.open(shop / "t.html").run(CONTRAST)
        assert low == []
        assert (back > 0.5) == (scheme == "light")
    finally:
        page.scheme("light")


@pytest.mark.parametrize("view, marks", [
    ("chart", ["many short calls", "thrown", "caught", "unwound"]),
    ("flame", ["many short calls"]), ("report", []), ("tree", None)])
def test_the_legend_has_what_the_view_has(page, shop, view, marks):
    page.open(shop / "t.html")
    page.run("cstrace.open(arguments[0])", view)
    assert page.run("[...document.querySelectorAll('#legend .key')]"
                    ".map((key) => key.textContent)") == (marks or [])
    assert page.find("#legend").is_displayed() == (marks is not None)


# ---- room -------------------------------------------------------------------

OUTSIDE = """[...document.querySelectorAll(
    'header *, #banner, #legend, #details > *, main')].filter((element) => {
  const { left, right, width } = element.getBoundingClientRect();
  return width && (left < -1 || right > innerWidth + 1);
}).map((element) => element.outerHTML.slice(0, 80))"""

OVERLAPS = """(() => {
  const all = [...document.querySelectorAll('header button, h1, #query')]
    .map((element) => element.getBoundingClientRect())
    .filter(({ width }) => width);
  return all.some((a, i) => all.slice(i + 1).some((b) =>
    a.left < b.right - 2 && b.left < a.right - 2
    && a.top < b.bottom - 2 && b.top < a.bottom - 2));
})()"""


@pytest.mark.parametrize("which", ["shop", "server"])
@pytest.mark.parametrize("width", WIDTHS)
def test_all_views_fit_the_window(page, request, which, width):
    folder = request.getfixturevalue(which)
    page.resize(width)
    try:
        page.open(folder / "t.html")
        page.run("cstrace.select(0, '')")
        for view in VIEWS:
            page.run("cstrace.open(arguments[0])", view)
            page.settle()
            assert page.run("document.documentElement.scrollWidth") <= width
            assert page.run(OUTSIDE) == [], view
            assert not page.run(OVERLAPS), view
            names = page.run("[...document.querySelectorAll("
                             "'.view:not([hidden]) .row .name')]"
                             ".map((name) => name.offsetWidth)")
            assert all(name > 20 for name in names), (view, names)
    finally:
        page.resize(1200)


def test_a_long_name_keeps_its_own_part(page, shop):
    page.resize(500)
    try:
        page.open(shop / "t.html").view("5", "report")
        page.wait("document.querySelector('#report .row .own')")
        cut = page.run("""[...document.querySelectorAll('#report .name')]
          .filter((name) => {
            const [before, own] = name.children;
            return own.scrollWidth > own.clientWidth + 1
              && before.clientWidth > 0;
          }).map((name) => name.textContent)""")
        assert cut == []
    finally:
        page.resize(1200)


# What can be clicked, and is smaller than a finger hits.
SMALL = """[...document.querySelectorAll(
    'button, input, select, .view:not([hidden]) .row, .fold')]
  .filter((element) => element.offsetWidth && !element.closest('dialog')
    && element.type !== 'checkbox')
  .filter(({ offsetWidth, offsetHeight }) => offsetWidth < 24
    || offsetHeight < 24).map((element) => element.outerHTML.slice(0, 80))"""


def test_a_finger_hits_what_it_means(page, shop):
    page.resize(500)
    try:
        page.open(shop / "t.html")
        page.run("cstrace.select(0, '')")
        for view in VIEWS:
            page.run("cstrace.open(arguments[0])", view)
            page.settle()
            assert page.run(SMALL) == [], view
            assert page.run("""[...document.querySelectorAll(
              '#legend, #meta, #details')].every((element) =>
                element.scrollWidth <= element.clientWidth)"""), view
    finally:
        page.resize(1200)


# ---- keys, and readers of the screen ----------------------------------------

# The tree of what a screen reader gets, as far as it has a name.
def told(page, role):
    nodes = page.driver.execute_cdp_cmd(
        "Accessibility.getFullAXTree", {})["nodes"]
    return [node.get("name", {}).get("value", "") for node in nodes
            if not node["ignored"] and node["role"]["value"] == role]


def test_what_can_be_used_has_a_name(page, shop):
    page.open(shop / "t.html")
    page.run("cstrace.select(0, '')")
    for view in VIEWS:
        page.run("cstrace.open(arguments[0])", view)
        page.settle()
        for role in ("button", "checkbox", "combobox", "searchbox", "image",
                     "treegrid", "grid"):
            assert all(told(page, role)), (view, role)
    assert {"Close", "Previous hit", "Next hit"} <= set(told(page, "button"))
    assert len(told(page, "columnheader")) == 8


def test_the_tree_tells_its_levels_and_what_is_chosen(page, shop):
    page.open(shop / "t.html").view("3", "tree")
    page.wait("document.querySelector('#tree .row .own')")
    page.press("\ue015", "\ue014", "\ue014")  # Down, then two levels deeper
    page.settle()
    page.wait("document.querySelector('#tree .selected')")
    row = page.run("""((row) => [row.id, row.ariaLevel, row.ariaSelected,
      document.querySelector('#tree').getAttribute('aria-activedescendant'),
      document.activeElement.id])(document.querySelector('#tree .selected'))""")
    assert row == [row[0], "3", "true", row[0], "tree"]
    open_rows = page.run("""[...document.querySelectorAll(
      '#tree .row:not(.title)')].every((row) => (row.querySelector('.leaf')
        ? null : String(row.textContent.includes('▾'))) === row.ariaExpanded)""")
    assert open_rows


def test_a_view_that_was_clicked_has_the_keys(page, shop):
    """Enter is for what is chosen in it, not for the button once more."""
    page.open(shop / "t.html")
    page.click("[data-view=graph]")
    page.wait("cstrace.name === 'graph'")
    assert page.run("document.querySelector('[aria-current=true]')"
                    ".dataset.view") == "graph"
    page.press("\ue015", "\ue007")  # Down, Enter
    page.wait("cstrace.focused >= 0")


@pytest.mark.parametrize("view", ["chart", "flame"])
def test_keys_go_from_box_to_box(page, shop, view):
    page.open(shop / "t.html")
    page.view("1" if view == "chart" else "2", view)
    page.press("\ue007")  # Enter
    chosen = "cstrace.view.plugin.selected"
    page.wait(chosen + " >= 0")

    def press(key):
        page.press(key)
        box = page.run(chosen)
        return box, page.run("cstrace.view.boxes.level[%d]" % box)

    first = page.run(chosen)
    below, level = press("\ue015")
    assert level == 1 and below != first
    beside, level = press("\ue014")
    assert level == 1 and beside != below
    assert press("\ue012") == (below, 1)
    assert press("\ue013") == (first, 0)
    page.press("\ue015", "\ue007")
    page.wait("!cstrace.view.isAll()")
    page.press("\ue00c", "\ue00c")  # Escape: the zoom, the choice
    page.wait(chosen + " < 0")
    page.press("\ue014")
    assert page.run(chosen) == -1


def test_where_the_browser_does_not_copy(page, shop):
    """The text can be copied by hand."""
    page.open(shop / "t.html")
    page.run("""(document.execCommand = () => false,
      Object.defineProperty(navigator, 'clipboard', { value: undefined }), 1)""")
    page.run("cstrace.select(0, '')")
    page.press("c")
    page.wait("document.querySelector('#copy').open")
    assert page.run("getSelection().toString()") == "cstrace show 1.1"
    page.press("\ue00c")
    page.wait("!document.querySelector('#copy').open")
    assert page.run("cstrace.selected") == 0
    # The command that runs the program up to there stands on its button.
    assert "Copy cstrace goto 1.1" in page.run(
        "[...document.querySelectorAll('button')].map((b) => b.textContent)")
    page.press("o")
    page.wait("document.querySelector('#copy').open")
    assert page.run("getSelection().toString()") == "cstrace goto 1.1"


# ---- the tree ---------------------------------------------------------------

ROWS = """[...document.querySelectorAll('#tree .row:not([hidden])')].map(
  (row) => row.querySelector('.call').textContent)"""


def test_an_event_loop_is_one_row(page, server):
    page.open(server / "t.html").view("3", "tree")
    page.wait("document.querySelector('#tree .times')")
    times = page.run("""cstrace.views.tree.rows.map(({ item }) => item)
      .filter((item) => item.fns?.length === 2).map(({ times }) => times)""")
    single = page.run("""cstrace.views.tree.rows.filter(({ item }) =>
      item >= 0 && cstrace.names.ofCall(item) === 'wait_for_events').length""")
    # Each 16th turn writes the log, which is slow.
    assert sum(times) + single == 100 and max(times) == 15
    assert any("15 ×wait_for_events, do_chores" in row
               for row in page.run(ROWS))
    # Its calls are below it.
    n_rows = page.run("cstrace.views.tree.rows.length")
    page.run("""(() => {
      const { tree } = cstrace.views;
      const { item } = tree.rows.find(({ item }) => item.fns?.length === 2);
      tree.choose(item);
      return item.calls.length;
    })()""")
    page.wait("!document.querySelector('#details').hidden")
    assert "wait_for_events, do_chores" in page.text("#details .what")
    page.press("\ue014")  # Right unfolds
    more = page.run("cstrace.views.tree.at.calls.length")
    page.wait("cstrace.views.tree.rows.length === %d" % (n_rows + more))
    page.press("f")
    page.wait("!%s.some((row) => row.includes('×'))" % ROWS)


# Each loop of the whole tree: its calls' ends, durations and functions.
LOOPS = """(() => {
  const { trace: { calls, lanes }, names, views: { tree } } = cstrace;
  const loops = [], open = lanes.map((_, i) => ~i);
  while (open.length) {
    for (const item of tree.below(open.pop())) {
      if (typeof item !== 'number') {
        loops.push({ times: item.times, fns: item.fns,
          calls: item.calls.map((i) => [names.functionOf(i),
            // it and all below it
            calls.end.slice(i, calls.next[i]).every((end) => (end & 3) === 1),
            calls.duration[i]]) });
      }
      for (const call of item.calls ?? [item]) {
        if (!tree.isLeaf(call)) open.push(call);
      }
    }
  }
  return loops;
})()"""


@pytest.mark.parametrize("which", ["shop", "server"])
def test_what_stands_out_is_not_folded(page, request, which):
    folder = request.getfixturevalue(which)
    page.open(folder / "t.html").view("3", "tree")
    loops = page.run(LOOPS)
    assert loops
    for loop in loops:
        assert loop["times"] >= 3
        assert {fn for fn, _, _ in loop["calls"]} == set(loop["fns"])
        for wanted in loop["fns"]:
            took = [ns for fn, _, ns in loop["calls"] if fn == wanted]
            assert len(took) >= loop["times"]
            assert max(took) <= 10 * sum(took) / len(took)
        assert all(has_returned for _, has_returned, _ in loop["calls"])
    if which == "shop":  # and there are some that might be
        assert any(call["end"] == "unwound" for call in json_lines(folder))


def test_exceptions_are_told_where_they_happen(page, shop):
    page.open(shop / "t.html")
    calls = json_lines(shop)
    thrown = next(call for call in calls if call.get("kind") == "throw")
    assert all(word in page.text("#legend")
               for word in ("thrown", "caught", "unwound"))
    n = sum("kind" in call for call in calls)
    assert page.run("cstrace.views.chart.boxes.moments.length") == n > 0
    page.open_link("file://%s#view=tree&id=%s" % (shop / "t.html",
                                                  thrown["id"]))
    page.wait("document.querySelector('#tree .selected .instant.throw')")
    assert page.text("#tree .selected .name") == thrown["name"]
    assert page.text("#tree .selected .duration") == "-"
    assert "duration" not in page.text("#details")
    assert "%(file)s:%(line)d" % thrown in page.text("#details")
    # They are no functions.
    for view in ("graph", "report"):
        page.run("cstrace.open(arguments[0])", view)
        page.settle()
        assert "throw " not in page.text("#" + view)


def test_messages_and_values_are_shown(page, tmp_path):
    record_program(tmp_path, build("own.c", "-DCSTRACE", "-I%s" % (
        ROOT / "cshim/include")))
    save(tmp_path, "t.html")
    calls = json_lines(tmp_path)
    message = next(c for c in calls if c.get("kind") == "log")
    span = next(c for c in calls if c.get("kind") == "span")
    page.open(tmp_path / "t.html")
    assert "said" in page.text("#legend")
    link = "file://%s#view=tree&id=%%s" % (tmp_path / "t.html")
    page.open_link(link % message["id"])
    page.wait("document.querySelector('#tree .selected .instant.log')")
    assert page.text("#tree .selected .name") == "log: " + message["text"]
    assert message["text"] in page.text("#details")
    page.open_link(link % span["id"])
    page.wait("document.querySelector('#tree .selected .values')")
    assert page.text("#tree .selected .values") == '(file="a.txt", n=1)'


def test_asynchronous_spans_have_their_times(page, tmp_path):
    """Their marks do not reach over what follows their begins."""
    record_program(tmp_path, build("requests.c", "-DCSTRACE", "-I%s" % (
        ROOT / "cshim/include")))
    save(tmp_path, "t.html")
    begin, *_ = (c for c in json_lines(tmp_path) if c.get("kind") == "async")
    page.open(tmp_path / "t.html")
    assert page.run("""cstrace.views.chart.boxes.moments.every(
      (i) => cstrace.views.chart.boxes.duration[i] === 0)""")
    page.open_link("file://%s#view=tree&id=%s" % (tmp_path / "t.html",
                                                  begin["id"]))
    page.wait("document.querySelector('#tree .selected .instant.async')")
    assert page.text("#tree .selected .duration") == "%.3f ms" % (
        begin["duration_ns"] // 1000 / 1000)
    assert "duration" in page.text("#details")
    assert page.run("""Array.from({ length: cstrace.trace.calls.n },
      (_, i) => cstrace.names.self(i)).every((self) => self >= 0)""")


def test_places_are_in_callers_that_are_shown(page, shop):
    page.open(shop / "t.html")
    places = dict(page.run("""Array.from({ length: cstrace.trace.calls.n },
      (_, i) => [cstrace.names.id(i), cstrace.names.longSite(i)])"""))
    calls = json_lines(shop)
    assert any("from" in call for call in calls)
    for call in calls:
        place = call.get("from", call)
        if place["file"] and place["line"]:
            assert places[call["id"]] == "%(file)s:%(line)d" % place


def test_self_times_and_bars(page, shop):
    page.open(shop / "t.html").view("3", "tree")
    page.press("f")
    page.wait("document.querySelectorAll('#tree .row .share').length > 20")
    calls = {call["id"]: call for call in json_lines(shop)}
    below = Counter()
    for call in calls.values():
        below[call["parent"]] += call["duration_ns"]
    selves = page.run("""Array.from({ length: cstrace.trace.calls.n },
      (_, i) => [cstrace.names.id(i), cstrace.names.self(i)])""")
    for key, self_ns in selves:
        expected = calls[key]["duration_ns"] - below[key]
        # Some nanoseconds may be trimmed for strict nesting.
        assert abs(self_ns - expected) <= 2 + expected * 0.01
    first = page.run("""(({ style }) => [style.getPropertyValue('--total-width'),
      style.getPropertyValue('--own-width')])(
        document.querySelector('#tree .row .share'))""")
    total, own = (float(width.rstrip("%")) for width in first)
    assert (total, page.text("#tree .row .share")) == (100, "100.0%")
    main = next(call for call in calls.values() if call["id"] == "1.1")
    assert own == pytest.approx(
        100 * (1 - below["1.1"] / main["duration_ns"]), abs=1)


# ---- recursion --------------------------------------------------------------

def test_recursion_is_one_row_and_can_be_shown_call_by_call(page, fibs):
    calls = {call["id"]: call for call in json_lines(fibs)
             if call["function"] == "fib"}
    first = next(iter(calls.values()))
    assert first["parent"] not in calls
    end = first["start_ns"] + first["duration_ns"]
    inner = [call for call in calls.values() if call["start_ns"] < end]
    levels = max(call["depth"] for call in inner) - first["depth"] + 1
    row = "%d × in %d levels" % (len(inner), levels)
    page.open_link("file://%s#view=tree&id=%s" % (fibs / "t.html",
                                                  first["id"]))
    page.wait("document.querySelector('#tree .selected .levels')")
    assert page.text("#tree .selected .levels") == row
    n = page.run("cstrace.views.tree.rows.length")
    page.press("r")
    page.wait("cstrace.views.tree.rows.length > %d" % n)
    page.settle()
    assert page.run("cstrace.names.id(cstrace.views.tree.at)") == first["id"]
    page.press("r")
    page.wait("cstrace.views.tree.rows.length === %d" % n)
    # The innermost call of all is to be seen when it is chosen.
    deep = max(inner, key=lambda call: call["depth"])
    page.open_link("file://%s#view=tree&id=%s" % (fibs / "t.html",
                                                  deep["id"]))
    page.wait("document.querySelector('#tree .selected .id')")
    assert page.text("#tree .selected .id") == deep["id"]


# ---- stops ------------------------------------------------------------------

def test_times_with_a_stop_in_them_are_marked(page, gdb, tmp_path):
    gdb(build("calls.c"), "set cstrace live off", "cstrace start",
        "break pair", "run", "continue", "cstrace save t.html")
    stopped = {"main", "spread", "pair"}
    page.open(tmp_path / "t.html")
    assert "stop at gdb's prompt" in page.text("#stops")
    marks = page.run("""Array.from(
      { length: cstrace.trace.calls.n }, (_, i) =>
      [cstrace.names.ofCall(i), cstrace.views.chart.boxes.markOf(i)])""")
    assert {name for name, mark in marks if mark == "stopped"} == stopped
    for view in ("tree", "graph", "report"):
        page.run("cstrace.open(arguments[0])", view)
        page.settle()
        found = page.run("""[...document.querySelectorAll('#' + arguments[0]
          + ' .row:not([hidden])')].map((row) => [row.querySelector('.own')
            .textContent, row.querySelector('.duration, .total').textContent,
            row.querySelector('.self').textContent])""", view)
        assert {name for name, total, _ in found
                if total.endswith("s*")} == stopped
        assert {name for name, _, own in found
                if own.endswith("s*")} == {"pair"}
        assert page.find("#stops").is_displayed()


def test_without_a_stop_there_is_no_mark(page, fibs):
    page.open(fibs / "t.html")
    assert not page.run("document.querySelector('#stops')")
    page.view("3", "tree")
    assert not page.run("document.querySelector('#tree .star')")
    assert not page.find("#legend").is_displayed()


# ---- the strip above the chart ----------------------------------------------


def drag(page, start, end):
    """From one share of the strip to another."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.actions.action_builder import \
        ActionBuilder

    left, top, width = page.run("""(({ left, top, width }) =>
      [left, top, width])(document.querySelector('#minimap')
        .getBoundingClientRect())""")
    page.point(left + start * width, top + 20)
    ActionChains(page.driver).click_and_hold().perform()
    actions = ActionBuilder(page.driver)
    for share in (start + (end - start) / 2, end):
        actions.pointer_action.move_to_location(
            round(left + share * width), round(top + 20))
    actions.pointer_action.release()
    actions.perform()
    page.settle()


def test_the_strip_moves_the_chart(page, server):
    page.open(server / "t.html")
    page.settle()
    first, last = page.run(CHART_VIEW)
    span = last - first

    def shares():
        return [(time - first) / span for time in page.run(CHART_VIEW)]

    drag(page, 0.25, 0.5)
    assert shares() == pytest.approx([0.25, 0.5], abs=0.01)
    drag(page, 0.4, 0.6)  # the window is moved
    assert shares() == pytest.approx([0.45, 0.7], abs=0.01)
    drag(page, 0.45, 0.3)  # its edge is
    assert shares() == pytest.approx([0.3, 0.7], abs=0.01)
    page.press("\ue003")  # Backspace: the zoom before
    assert shares() == pytest.approx([0.45, 0.7], abs=0.01)
    page.press("\ue00c")  # Escape
    assert shares() == pytest.approx([0, 1], abs=0.01)


@pytest.mark.parametrize("view", ["chart", "flame"])
def test_fingers_move_and_zoom(page, shop, view):
    page.open(shop / "t.html")
    page.run("cstrace.open(arguments[0])", view)
    page.settle()

    def times():
        return page.run("cstrace.views[arguments[0]].view()", view)

    first, last = times()
    span = last - first
    left, top, width = page.run(
        "((box) => [box.left, box.top, box.width])(document.querySelector("
        "`#${arguments[0]} canvas`).getBoundingClientRect())", view)

    def at(share):
        return (left + share * width, top + 100)

    page.touch([at(0.4), at(0.6)], [at(0.3), at(0.7)])
    shares = [(time - first) / span for time in times()]
    assert shares == pytest.approx([0.25, 0.75], abs=0.01)
    page.touch([at(0.5)], [at(0.6)])
    shares = [(time - first) / span for time in times()]
    assert shares == pytest.approx([0.2, 0.7], abs=0.01)
    page.press("\ue003")  # Backspace: the zoom before
    assert (times()[0] - first) / span == pytest.approx(0.25, abs=0.01)
