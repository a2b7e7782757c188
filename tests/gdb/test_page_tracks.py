# SPDX-License-Identifier: MIT
"""The page of a program that counts by cstrace.h: tracks above the threads,
held against the JSON lines, and spans with a colour of their own."""

import pytest

import lib_browser
from lib_browser import WIDTHS
from lib_build import ROOT, build
from lib_formats import json_lines, record_program, save

lib_browser.skip_unless_possible()


@pytest.fixture(scope="module", name="counted")
def counted_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("counted")
    record_program(folder, build("counters.c", "-DCSTRACE", "-O1", "-I%s" % (
        ROOT / "cshim/include")))
    save(folder, "t.html")
    return folder


def counts_of(folder, name):
    return sorted((call["start_ns"], call["id"], call["value"])
                  for call in json_lines(folder)
                  if call.get("kind") == "count" and call["name"] == name)


TRACKS = """cstrace.names.tracks().map((track) => ({ name: track.name,
  range: track.range, texts: track.texts,
  ids: track.calls.map((call) => cstrace.names.id(call)) }))"""

# The pixels of the track's line at these shares of the window: how far above
# the lowest of the track, or -1 where there is no line.
HEIGHTS = """(([name, shares]) => {
  const { plugin, engine, section, colors } = cstrace.views.chart;
  const canvas = section.querySelector('canvas');
  const copy = document.createElement('canvas');
  Object.assign(copy, { width: canvas.width, height: canvas.height });
  const probe = copy.getContext('2d', { willReadFrequently: true });
  probe.fillStyle = colors.said;
  probe.fillRect(0, 0, 1, 1);
  const color = probe.getImageData(0, 0, 1, 1).data.join();
  probe.drawImage(canvas, 0, 0);
  const ratio = canvas.width / engine.width;
  const i = plugin.tracks.all.findIndex((track) => track.name === name);
  const top = plugin.renderEngine.position + 22 + 38 * i - plugin.positionY;
  return shares.map((share) => {
    for (let y = 15; y < 38; y++) {
      const pixel = probe.getImageData(
        Math.round(share * engine.width * ratio),
        Math.round((top + y) * ratio), 1, 1).data.join();
      if (pixel === color) return 38 - y;
    }
    return -1;
  });
})(arguments)"""

# Where a value of a track is, in the window.
AT = """(([name, value]) => {
  const { plugin, engine, section } = cstrace.views.chart;
  const area = section.getBoundingClientRect();
  const i = plugin.tracks.all.findIndex((track) => track.name === name);
  return [area.left + 3
    + engine.timeToPosition(plugin.tracks.all[i].times[value]),
    area.top + plugin.renderEngine.position + 22 + 38 * i + 25];
})(arguments)"""


# Shows the time from the value before to that behind it.
ZOOM = """(([name, value]) => {
  const { times } = cstrace.names.tracks().find((track) => track.name === name);
  cstrace.views.chart.setView(times[value - 1], times[value + 1]);
})(arguments)"""


def test_each_counter_has_its_values(page, counted):
    page.open(counted / "t.html")
    tracks = {track["name"]: track for track in page.run(TRACKS)}
    assert sorted(tracks) == ["limit", "load", "queue"]
    for name, track in tracks.items():
        expected = counts_of(counted, name)
        assert track["ids"] == [call for _, call, _ in expected]
        assert [float(text) for text in track["texts"]] == [
            float(value) for _, _, value in expected]
    assert tracks["queue"]["range"] == "-3 to 4"
    assert tracks["load"]["range"] == "-1.5 to 2"
    # This is the program's own number, which no float can hold.
    assert tracks["limit"]["range"] == "18446744073709551615"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_track_is_drawn_on_the_time_axis(page, counted, width, scheme):
    page.scheme(scheme)
    page.resize(width)
    try:
        page.open(counted / "t.html")
        times = page.run("Array.from(cstrace.names.tracks().find("
                         "({ name }) => name === 'queue').times)")

        def heights(start, end, shares):
            page.run("cstrace.views.chart.setView(...arguments)", start, end)
            page.settle()
            return page.run(HEIGHTS, "queue", shares)

        # Nothing was counted yet; then it holds until the next one.
        assert heights(0, 1.5 * times[0], [0.3]) == [-1]
        low, top, end = ([heights(times[i], times[i + 1], [0.1, 0.5, 0.9])
                          for i in (0, 7, 14)])
        for values in (low, top, end):
            assert len(set(values)) == 1
        assert 0 < low[0] == end[0] < top[0] - 15
        assert heights(2 * times[7] - times[8], times[8], [0.4, 0.6]) != \
            [top[0]] * 2
    finally:
        page.scheme("")
        page.resize(1200)


def test_the_mouse_tells_the_value(page, counted):
    page.open(counted / "t.html")
    page.point(5, 5)
    # On a busy machine its neighbours may be at the same pixel.
    page.run(ZOOM, "queue", 7)
    page.settle()
    page.point(*page.run(AT, "queue", 7))
    page.wait("!document.querySelector('#tip').hidden")
    tip = page.text("#tip")
    assert "count queue" in tip and "value 4 " in tip
    assert "least -3 greatest 4 values 30" in tip
    page.run(ZOOM, "load", 3)
    page.settle()
    view = page.run("cstrace.views.chart.view()")
    page.point(*page.run(AT, "load", 3), click=True)
    page.wait("cstrace.selected >= 0")
    assert page.run("cstrace.names.id(cstrace.selected)") == \
        counts_of(counted, "load")[3][1]
    assert page.run("cstrace.views.chart.view()") == view


def test_a_click_folds_the_counters(page, counted):
    page.open(counted / "t.html")
    page.settle()
    x, y = page.run(AT, "limit", 0)
    before = page.run("cstrace.views.chart.plugin.tops[0]")
    page.point(x, y - 35, click=True)
    page.wait("cstrace.views.chart.plugin.tops[0] === %d" % (before - 3 * 38))
    page.settle()
    page.point(x, y - 35, click=True)
    page.wait("cstrace.views.chart.plugin.tops[0] === %d" % before)


def test_the_values_are_read_without_a_mouse(page, counted):
    page.open(counted / "t.html").view("3", "tree")
    page.press("/", "count queue", "\ue007", "\ue00c")
    page.wait("cstrace.selected >= 0")
    rows = page.run("[...document.querySelectorAll('#details .item .value')]"
                    ".map((cell) => cell.textContent)")
    assert rows == [str(v) for _, _, v in counts_of(counted, "queue")]
    assert "Values of queue" in page.text("#details")


def test_spans_have_a_colour_of_their_own(page, counted):
    page.open(counted / "t.html")
    calls = [c for c in json_lines(counted) if "kind" not in c]
    spans = [c for c in json_lines(counted) if c.get("kind") == "span"]
    assert page.text("#meta").startswith(
        "%d calls, %d spans · 2 threads" % (len(calls), len(spans)))
    assert "spans " in page.text("#legend")
    hues = page.run("""cstrace.trace.head.sums.map(([fn]) =>
      [cstrace.names.fn(fn), cstrace.colors.all[fn].split(' ')[0]])""")
    of_spans = {hue for name, hue in hues if name.startswith("span ")}
    assert len(of_spans) == 1
    assert not of_spans & {h for n, h in hues if not n.startswith("span ")}
    page.view("2", "flame")
    page.wait("[...document.querySelectorAll('#legend .chip .group')].some("
              "({ textContent }) => textContent === 'spans')")
    page.click("#legend .chip")
    page.wait("cstrace.search.flags")
    assert page.run("[...cstrace.search.flags].flatMap((flag, fn) => "
                    "(flag ? [cstrace.names.fn(fn)] : [])).sort()") == [
                        "span drain", "span fill"]
