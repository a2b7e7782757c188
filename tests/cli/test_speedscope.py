# SPDX-License-Identifier: MIT
"""What we save, opened in speedscope itself: it shows each profile without a
complaint, and what it exports again is what was saved."""

import json
from collections import Counter

import pytest

import lib_browser
from lib_formats import chrome, folded, save, speedscope
from lib_speedscope import Refused, Speedscope

lib_browser.skip_unless_possible()


@pytest.fixture(scope="module", name="app")
def app_in_a_browser(tmp_path_factory):
    driver = lib_browser.start(tmp_path_factory.mktemp("profile"))
    yield Speedscope(driver)
    driver.quit()


def title_of(names):
    """In the toolbar, where more profiles than one can be chosen from."""
    return names[0] + (" (1/%d)" % len(names) if len(names) > 1 else "")


def check_spans(expected, found, ns):
    """Checks that the calls are these, in order, within a nanosecond."""
    assert [name for name, _, _ in expected] == [s.function for s in found]
    origin, first = expected[0][1], found[0].begin
    for (_, begin, end), span in zip(expected, found):
        assert abs(begin - origin - (span.begin - first) * ns) <= 1
        assert abs(end - origin - (span.end - first) * ns) <= 1


def test_takes_the_chrome_json(app, hard_folder):
    events, names = chrome(save(hard_folder, "t.json"))
    tracks = {}
    for e in events:
        # It has what we say of a call in the name.
        name = "%s %s" % (e["name"], json.dumps(
            e["args"], ensure_ascii=False, separators=(",", ":")))
        tracks.setdefault((e["pid"], e["tid"]), []).append(
            (name, e["ts"], e["ts"] + e["dur"]))
    title, exported = app.open(hard_folder / "t.json")
    profiles = speedscope(exported, "microseconds")
    pids = {pid: args["name"]
            for (pid, _), args in names["process_name"].items()}
    titles = {"%s (pid %d), %s (tid %d)" % (
        pids[pid], pid, names["thread_name"][pid, tid]["name"], tid): spans
              for (pid, tid), spans in tracks.items()}
    assert titles.keys() == profiles.keys()
    assert title == title_of(list(profiles))
    for name, spans in titles.items():
        check_spans(spans, profiles[name], ns=1000)


def test_takes_its_own_format(app, hard_folder):
    saved = speedscope(save(hard_folder, "t.speedscope.json"))
    title, exported = app.open(hard_folder / "t.speedscope.json")
    profiles = speedscope(exported)
    assert list(profiles) == list(saved)
    assert title == title_of(list(saved))
    for name, spans in saved.items():
        check_spans(spans, profiles[name], ns=1)


def own_time(spans):
    """Weight at the top of each distinct stack."""
    own, stack = Counter(), []
    for span in spans:
        while stack and stack[-1][1].end <= span.begin:
            stack.pop()
        above = stack[-1][0] if stack else ()
        stack.append(((*above, span.function), span))
        own[stack[-1][0]] += span.end - span.begin
        if above:
            own[above] -= span.end - span.begin
    return own


def test_takes_folded_stacks(app, hard_folder):
    saved = folded(save(hard_folder, "t.folded"))
    title, exported = app.open(hard_folder / "t.folded")
    ((_, spans),) = speedscope(exported, "none").items()
    assert title == "t.folded"
    assert +own_time(spans) == +Counter(saved)


def test_takes_callgrinds_format(app, ended):
    """It makes a tree of the graph, without what took next to nothing."""
    saved = folded(save(ended, "t.folded", "--names", "full"))
    save(ended, "t.callgrind")
    title, exported = app.open(ended / "t.callgrind")
    assert title == "t.callgrind -- ns"
    ((_, spans),) = speedscope(exported, "none").items()
    total = Counter()
    for stack, ns in saved.items():
        for name in set(stack):
            total[name] += ns
    functions = {s.function for s in spans} - {"(root)"}
    assert "main" in functions and functions <= set(total)
    assert functions >= {name for name, ns in total.items()
                         if ns > 0.01 * sum(saved.values())}
    assert max(s.end for s in spans) == pytest.approx(
        sum(saved.values()), rel=0.001)


@pytest.mark.parametrize("name", ["t.json", "t.speedscope", "t.folded"])
def test_takes_a_single_call(app, ended, name):
    save(ended, name, "--below", "1.3", "--depth", "1")
    _, exported = app.open(ended / name)
    (profile,) = json.loads(exported)["profiles"]
    assert [e["type"] for e in profile["events"]] == ["O", "C"]


@pytest.mark.parametrize("name", ["t.json", "t.speedscope"])
def test_takes_none_at_all(app, ended, name):
    save(ended, name, "--filter", "nosuch",
         told="cstrace: no function matches 'nosuch'\n")
    with pytest.raises(Refused, match="Successfully imported.*empty"):
        app.open(ended / name)


@pytest.mark.parametrize("name, old, new, told", [
    ("t.json", "traceEvents", "traceevents", "Unrecognized format"),
    ("t.json", ',"dur":', ',"dur":9', "Tried to end"),
    ("t.json", "]}\n", "}\n", "Unrecognized format"),
    ("t.speedscope", '"type":"C"', '"type":"O"', "went wrong"),
    ("t.speedscope", '{"type":"O","frame":0', '{"type":"O","frame":9999',
     "went wrong"),
    ("t.folded", " ", "_", "Unrecognized format"),
], ids=lambda value: None)
def test_refuses_what_is_damaged(app, ended, name, old, new, told):
    """Or else the others show nothing."""
    raw = save(ended, name).decode()
    assert old in raw
    (ended / ("bad" + name)).write_text(raw.replace(old, new))
    with pytest.raises(Refused, match=told):
        app.open(ended / ("bad" + name))
