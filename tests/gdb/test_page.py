# SPDX-License-Identifier: MIT
"""`save x.html`: what the page knows, held against the JSON lines and the
report, and what it does, in a real browser."""

import re
import shutil
import subprocess

import pytest

import lib_browser
from lib_build import BUILD, build
from lib_formats import cstrace, json_lines, record, save
from lib_gdb import run_gdb

lib_browser.skip_unless_possible()

HOSTILE = "</script><script>hacked=1</script>&amp;'"


@pytest.fixture(scope="module", name="ended")
def ended_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ended")
    record(folder)
    save(folder, "t.html")
    return folder


@pytest.fixture(scope="module", name="small")
def small_folder(tmp_path_factory):
    """Its turns are wide enough to point at: once more where the program was
    put aside between them."""
    folder = tmp_path_factory.mktemp("small")
    for _ in range(50):
        record_rounds(folder, 3)
        took = {name: min(c["duration_ns"] for c in json_lines(folder)
                          if c["function"] == name)
                for name in ("main", "turn")}
        if took["turn"] * 40 > took["main"]:
            break
    return folder


@pytest.fixture(scope="module", name="large")
def large_folder(tmp_path_factory):
    return record_rounds(
        tmp_path_factory.mktemp("large"), 600,
        told="cstrace: of 2993404 calls a page has only the 2000000 longest "
             "one by one: below, filter or range make it a part with all\n")


def record_rounds(folder, n, told=""):
    done = cstrace(folder, "record", "-o", "t.cst", "--",
                   build("page.c"), n)
    assert done.returncode == 0, done.stderr
    save(folder, "t.html", told=told)
    return folder


# ---- what it knows ----------------------------------------------------------

# Each call as the JSON lines have it.
CALLS = """(() => {
  const { calls } = cstrace.trace, { names } = cstrace, out = [];
  for (let i = 0; i < calls.n; i++) {
    const parent = calls.parent[i], end = calls.end[i] & 3;
    out.push({ id: names.id(i), parent: parent < 0 ? null : names.id(parent),
      function: names.full(names.functionOf(i)), depth: calls.depth[i],
      thread: cstrace.trace.head.threads[calls.thread[i]].tid,
      start_ns: calls.end[i] & 4 ? null : calls.start[i],
      duration_ns: end ? calls.duration[i] : null,
      end: ['open', 'return', 'unwound'][end] });
  }
  return out;
})()"""


def check_calls(page, folder, *choice):
    mine = {call["id"]: call for call in page.run(CALLS)}
    theirs = {call["id"]: call for call in json_lines(folder, *choice)}
    assert mine.keys() == theirs.keys()
    for key, call in mine.items():
        other = theirs[key]
        for time in ("start_ns", "duration_ns"):
            a, b = call.pop(time), other[time]
            # A nanosecond may be trimmed for strict nesting.
            assert a == b or abs(a - b) <= 2, (key, time)
        assert call == {k: other[k] for k in call}


@pytest.mark.parametrize("choice", [
    [], ["--depth", "2"], ["--filter", "even"], ["--exclude", "odd|leap"],
    ["--min-time", "200ns"], ["--thread", "2"],
    ["--below", "1.1", "--depth", "3"]], ids=" ".join)
def test_has_each_call(page, ended, choice):
    save(ended, "chosen.html", *choice)
    check_calls(page.open(ended / "chosen.html"), ended, *choice)
    assert bool(choice) == ("were chosen: " in page.text("#banner"))


def test_has_calls_that_are_open(page, tmp_path):
    record(tmp_path, "stop")
    save(tmp_path, "t.html")
    check_calls(page.open(tmp_path / "t.html"), tmp_path)
    page.view("3", "tree")
    page.wait("document.querySelector('#tree .row .duration')")
    assert page.text("#tree .row:not(.title) .duration") == "open"


KEYS = ["calls", "total", "self", "mean", "min", "max", "share", "function"]


def report_of(folder):
    """The text's rows, as far as the page has their columns."""
    head, *rows = cstrace(folder, "report", "--names", "full",
                          "t.cst").stdout.splitlines()
    keys = head[1:].lower().split()
    columns = {"calls": r"\d+", "share": r"[\d.]+%", "function": r".+"}
    pattern = r"\s+".join("(%s)" % columns.get(key, r"[\d.]+ [num]?s")
                          for key in keys)
    cells = [re.fullmatch(pattern, row.strip()).groups() for row in rows
             if not row.startswith("#")]
    return [[row[keys.index(key)] for key in KEYS] for row in cells]


TABLE = """[...document.querySelectorAll('#report .row:not([hidden])')].map(
  (row) => ['calls', 'total', 'self', 'mean', 'min', 'max', 'share',
    'name'].map((key) => row.querySelector('.' + key))
  .map((cell) => cell.title || cell.textContent))"""


@pytest.mark.parametrize("which", ["ended", "large"])
def test_has_the_report(page, request, which):
    folder = request.getfixturevalue(which)
    page.open(folder / "t.html").view("5", "report")
    expected = report_of(folder)
    page.wait("document.querySelector('#report .row')")
    rows = [[row[0].replace(",", ""), *row[1:]] for row in page.run(TABLE)]
    assert sorted(rows) == sorted(expected)


def test_tells_what_is_left_out(page, large):
    page.open(large / "t.html")
    n = page.run("cstrace.trace.head.n_calls")
    shown = page.run("cstrace.trace.calls.n")
    assert n > 2000000 >= shown > 10000
    assert shown == page.run("cstrace.trace.nShown")
    assert "%s calls are more than a page can draw" % format(n, ",") \
        in page.text("#banner")
    assert format(shown, ",") in page.text("#banner")
    left = page.run("[...cstrace.trace.calls.without.values()]"
                    ".reduce((a, b) => a + b, cstrace.trace.nLost)")
    assert shown + left == n
    stacked = page.run("cstrace.trace.stacks.calls.reduce((a, b) => a + b)")
    assert stacked == n


def test_a_small_one_leaves_nothing_out(page, small):
    page.open(small / "t.html")
    assert not page.find("#banner").is_displayed()
    assert page.run("cstrace.trace.calls.without.size") == 0


def test_gdb_saves_it_as_well(page, tmp_path):
    out = tmp_path / "x.html"
    done = run_gdb(tmp_path, build("page.c"),
                   "cstrace start", "run", "cstrace save %s" % out)
    assert any(" calls saved to %s" % out in line for line in done.said())
    page.open(out)
    assert page.run("cstrace.trace.head.n_calls") > 4000


def test_a_name_cannot_break_out(page, small):
    page.open(small / "t.html")
    assert page.run("typeof hacked") == "undefined"
    page.find("#query").send_keys("hacked")
    page.wait("document.querySelector('#found').textContent")
    assert page.text("#found") == "1 call of 1 function"
    page.click("[data-view=report]")
    page.wait("document.querySelectorAll('#report .row:not([hidden])')"
              ".length === 1")
    assert page.text("#report .row .name") == HOSTILE


def test_names_of_threads_are_escaped(page, thread_names):
    save(thread_names, "t.html")
    page.open(thread_names / "t.html")
    names = page.run("cstrace.trace.lanes.map((lane) => lane.name)")
    assert set(names) == {
        "we\"ir\\d <&;>", "q\"u\\o'<&>", r"\x1b[31m\xff\xc3",
        r"a;b c\x0a\x0d\x09\x01", r"\xe2\x80\xae\xe2\x81\xa6x",
        r'child"\xfe'}


def test_cut_short(page, small):
    text = (small / "t.html").read_bytes()
    (small / "cut.html").write_bytes(text[:-400])
    page.open(small / "cut.html",
              "document.querySelector('#loading').textContent"
              ".includes('Cannot')")
    assert "cut short" in page.text("#loading")
    log = page.driver.get_log("browser")
    assert len(log) == 1 and "cut short" in log[0]["message"]


def test_no_calls(page, small):
    save(small, "none.html", "--filter", "nosuch",
         told="cstrace: no function matches 'nosuch'\n")
    page.open(small / "none.html")
    n = len(json_lines(small, "--std"))
    assert page.text("#loading") == \
        "No call matches: filter nosuch. (%s calls were recorded)" \
        % format(n, ",")
    assert not page.find("#bar").is_displayed()


def test_without_the_page(small, tmp_path):
    (tmp_path / "bin").mkdir()
    alone = shutil.copy(BUILD / "cstrace", tmp_path / "bin")
    done = subprocess.run([alone, "save", small / "t.cst",
                           tmp_path / "x.html"], capture_output=True,
                          text=True, timeout=240)
    assert done.returncode == 1
    assert done.stderr == ("cstrace: cannot make a page: cstrace was built "
                           "without it; `make page` makes it, with npm\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin"]


# ---- what it does -----------------------------------------------------------

# Where a box is in the window.
PLACE = """(([view, box]) => {
  const { engine, plugin, boxes, section } = cstrace.views[view];
  const area = section.getBoundingClientRect();
  return [area.left + (boxes.start[box] + boxes.duration[box] / 2
      - engine.positionX) * engine.zoom,
    area.top + plugin.renderEngine.position + plugin.topOf(box)
      - plugin.positionY + 8];
})(arguments)"""

VIEW = "cstrace.views[arguments[0]].view()"


def place(page, view, box):
    page.settle()
    return page.run(PLACE, view, box)


FIRST = """(() => { for (let i = 0; i < cstrace.trace.calls.n; i++)
  if (cstrace.names.ofCall(i) === arguments[0]) return i; })()"""


def first_call(page, function):
    return page.run(FIRST.replace("arguments[0]", repr(function)))


def test_a_click_zooms(page, small):
    page.open(small / "t.html")
    call = first_call(page, "turn")
    whole = page.run(VIEW, "chart")
    page.point(*place(page, "chart", call), click=True)
    page.wait("cstrace.selected === %d" % call)
    start, end = page.run(VIEW, "chart")
    first = page.run("cstrace.trace.calls.start[arguments[0]]", call)
    length = page.run("cstrace.trace.calls.duration[arguments[0]]", call)
    assert start == pytest.approx(first, abs=1)
    assert end == pytest.approx(first + length, abs=1)
    assert "turn" in page.text("#details")
    page.press("\ue003")  # Backspace
    assert page.run(VIEW, "chart") == pytest.approx(whole)
    page.point(*place(page, "chart", call), click=True)
    page.press("\ue00c")  # Escape
    assert page.run(VIEW, "chart") == pytest.approx(whole)


def test_a_click_is_not_repeated_by_a_key(page, small):
    page.open(small / "t.html").view("3", "tree")
    page.view("1", "chart")
    page.point(*place(page, "chart", first_call(page, "turn")),
               click=True)
    page.wait("cstrace.selected === %d" % first_call(page, "turn"))
    page.press("/", "leaf", "\ue007", "\ue00c")
    leaf = page.run("cstrace.selected")
    page.view("3", "tree")  # the canvas goes from under the mouse
    page.wait("document.querySelector('#tree .selected')")
    page.view("5", "report")
    assert page.run("cstrace.selected") == leaf
    assert page.run("cstrace.names.ofCall(cstrace.selected)") == "leaf"


@pytest.mark.parametrize("zoomed", [False, True])
def test_another_window_shows_the_same(page, small, zoomed):
    page.resize(1200)
    page.open(small / "t.html")
    if zoomed:
        page.point(*place(page, "chart", first_call(page, "turn")),
                   click=True)
    shown = page.run(VIEW, "chart")
    try:
        for width in (800, 2500):
            page.resize(width)
            page.wait("cstrace.views.chart.engine.width === innerWidth")
            assert page.run(VIEW, "chart") == pytest.approx(shown)
            assert page.run("document.documentElement.scrollWidth") \
                <= page.run("innerWidth")
    finally:
        page.resize(1200)


def test_a_click_zooms_the_flame_graph(page, small):
    page.open(small / "t.html").view("2", "flame")
    page.wait("cstrace.views.flame.engine.height > 100")
    box = page.run("cstrace.views.flame.boxes.lanes[0].rows[1].from")
    page.point(*place(page, "flame", box), click=True)
    page.wait("document.querySelector('#details').textContent"
              ".includes('calls 3')")
    start, end = page.run(VIEW, "flame")
    assert end - start == pytest.approx(
        page.run("cstrace.views.flame.boxes.duration[arguments[0]]", box))


def test_a_click_folds_a_thread(page, small):
    page.open(small / "t.html")
    call = first_call(page, HOSTILE)  # on the second one
    x, below = place(page, "chart", call)
    page.point(x, place(page, "chart", 0)[1] - 18, click=True)
    page.wait("cstrace.views.chart.plugin.shown[0] === 1")
    assert place(page, "chart", call)[1] < below
    page.run("cstrace.select(arguments[0], '')", first_call(page, "fib"))
    page.run("cstrace.showSelected()")  # it is in what was folded
    page.wait("cstrace.views.chart.plugin.shown[0] > 1")
    page.point(x, place(page, "chart", 0)[1] - 18, click=True)
    page.wait("cstrace.views.chart.plugin.shown[0] === 1")


def test_the_mouse_tells(page, small):
    page.open(small / "t.html")
    page.point(5, 5)
    page.point(*place(page, "chart", first_call(page, "turn")))
    page.wait("!document.querySelector('#tip').hidden")
    tip = page.text("#tip")
    for word in ("turn", "duration ", "start 0.", "page.c:", "ID 1.2"):
        assert word in tip
    page.point(5, 5)
    page.wait("document.querySelector('#tip').hidden")


def test_the_search_finds(page, small):
    n = sum(c["function"] == "fib" for c in json_lines(small))
    page.open(small / "t.html")
    page.press("/")
    page.press("fib")
    page.wait("cstrace.search.flags")
    found = "%s calls of 1 function" % format(n, ",")
    assert page.text("#found") == found
    assert page.run("cstrace.views.chart.boxes.hits.at(-1)") == n
    for i in (1, 2):
        page.press("\ue007")  # Enter
        assert page.text("#found") == "%d of %s" % (i, found)
    assert page.run("cstrace.names.ofCall(cstrace.selected)") == "fib"
    page.click("#previous")
    assert page.text("#found") == "1 of %s" % found
    page.press("\ue00c")
    assert page.text("#found") == ""
    assert page.run("cstrace.views.chart.boxes.hits") is None


def test_a_bad_regex_is_told(page, small):
    page.open(small / "t.html")
    page.press("/")
    page.press("/fib(")
    page.wait("document.querySelector('#query:invalid')")
    assert "nterminated group" in page.text("#found")
    page.press(")$")
    page.wait("cstrace.search.flags")
    assert "calls of 1 function" in page.text("#found")


ROWS = """[...document.querySelectorAll('#tree .row:not([hidden]) .name')]
  .map((name) => name.textContent)"""


def test_the_tree_folds(page, small):
    page.open(small / "t.html").view("3", "tree")
    page.press("f")  # loops are not folded
    page.wait("%s.slice(0, 3).join() === 'main,turn,fib'" % ROWS)
    page.click("#tree .fold")
    page.wait("%s.length === 4" % ROWS)
    assert page.run(ROWS) == ["main", "helper", HOSTILE, "leaf"]
    page.press("\ue014")  # Right: main is chosen, and unfolds
    page.wait("%s[1] === 'turn'" % ROWS)
    page.press("\ue015", "\ue012")  # Down to turn, which Left folds
    page.wait("%s.slice(1, 3).join() === 'turn,turn'" % ROWS)
    page.press("*")
    page.wait("%s[2] === 'fib'" % ROWS)


def test_a_row_that_stays_the_same_stays_in_place(page, small):
    page.open(small / "t.html").view("3", "tree")
    page.wait("document.querySelector('#tree .fold')")
    # Drawn once more between the mouse button's down and up.
    assert page.run("""new Promise((done) => {
      const { list } = cstrace.views.tree, { render } = list;
      const fold = document.querySelector('#tree .fold');
      list.render = () => {
        render.call(list);
        list.render = render;
        done(fold.isConnected);
      };
      list.later();
    })""")


def test_the_tree_shows_what_the_chart_chose(page, small):
    page.open(small / "t.html")
    call = page.run("cstrace.trace.calls.n - 1")  # on the last lane
    page.run("cstrace.select(arguments[0], 'chart')", call)
    page.view("3", "tree")
    page.wait("document.querySelector('#tree .selected')")
    assert page.text("#tree .selected .name") == "leaf"


def test_a_click_sorts(page, small):
    page.open(small / "t.html").view("5", "report")
    by_calls = "%s.map((row) => Number(row[0].replaceAll(',', '')))" % TABLE
    page.wait("document.querySelector('#report .row')")
    for is_up in (False, True):
        page.click("#report .headings .calls")
        page.wait("document.querySelector('#report [aria-sort=%s]')"
                  % ("ascending" if is_up else "descending"))
        page.wait("(%s)[0] %s 100" % (by_calls, "<" if is_up else ">"))
        calls = page.run(by_calls)
        assert calls == sorted(calls, reverse=not is_up)


def test_a_narrow_report_has_room_for_names(page, small):
    page.resize(800)
    try:
        page.open(small / "t.html").view("5", "report")
        page.wait("document.querySelector('#report .row .function')?"
                  ".offsetWidth > 250")
        page.click("#report .row")
        assert re.search(r"mean \d", page.text("#details"))
    finally:
        page.resize(1200)


def test_a_row_of_the_report_marks_its_calls(page, small):
    page.open(small / "t.html").view("5", "report")
    page.wait("document.querySelector('#report .row')")
    rows = [row[-1] for row in page.run(TABLE)]
    page.click("#report .row:nth-child(%d)" % (rows.index("work") + 1))
    assert page.run("cstrace.views.chart.boxes.hits.at(-1)") == \
        sum(c["function"] == "work" for c in json_lines(small))
    page.wait("document.querySelector('#report .selected')")
    assert page.text("#report .selected .name") == "work"
