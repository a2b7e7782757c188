# SPDX-License-Identifier: MIT
"""The formats of other tools, each read by a reader not of our making or by
the strict ones of lib_formats.py, and held against the JSON lines."""

import html
import json
import re
import subprocess
from collections import Counter

import pytest

from lib_build import TESTS, build
from lib_formats import (CHOICES, Span, calls_alone, check_nesting, chrome,
                         cstrace, folded, json_lines, save, speedscope, stacks,
                         strict_json)


def by_name(calls):
    return Counter(c["function"] for c in calls)


# ---- Chrome ---------------------------------------------------------------------


def check_times(call, begin, end):
    """Trimmed, if at all, by the nanosecond that rounding takes."""
    if call["start_ns"] is not None:
        assert abs(begin - call["start_ns"]) <= 1
    if call["duration_ns"] is not None:
        assert abs(end - begin - call["duration_ns"]) <= 2


@pytest.mark.parametrize("choice", CHOICES, ids=" ".join)
def test_chrome_has_each_call_once(ended, choice):
    calls = json_lines(ended, *choice)
    events, names = chrome(save(ended, "t.json", *choice))
    assert [e["args"]["id"] for e in events] == [c["id"] for c in calls]
    for e, c in zip(events, calls):
        assert e["name"] == c["function"]
        assert e["pid"] == c["process"]
        assert c["lane"] or e["tid"] == c["thread"]
        assert e["args"].get("end", "return") == c["end"]
        at = c["file"] and c["file"].split("/")[-1]
        if at and c["line"]:
            at += ":%d" % c["line"]
        assert e["args"].get("from") == at
        check_times(c, e["ts"], e["ts"] + e["dur"])
        assert (e["pid"], e["tid"]) in names["thread_name"]
    for pid in {e["pid"] for e in events}:
        assert pid in {p for p, _ in names["process_name"]}


@pytest.mark.parametrize("folder", ["ended", "left_open"])
def test_chrome_nests_on_each_track(request, folder):
    events, _ = chrome(save(request.getfixturevalue(folder), "t.json"))
    tracks = {}
    for e in events:
        tracks.setdefault((e["pid"], e["tid"]), []).append(
            Span(e["name"], e["ts"], e["ts"] + e["dur"]))
    assert len(tracks) >= 4  # three threads and the child
    for spans in tracks.values():
        check_nesting(spans)


def test_open_calls_end_with_the_trace(left_open):
    events, _ = chrome(save(left_open, "t.json"))
    still_open = [e for e in events if e["args"].get("end") == "open"
                  and e["pid"] == events[0]["pid"]]
    assert [e["name"].split("::")[-1] for e in still_open] \
        == ["main"] + ["stop(int)"] * 4
    last = max(e["ts"] + e["dur"] for e in events)
    assert {e["ts"] + e["dur"] for e in still_open} <= {last, last - 1}


def test_unwound_calls_say_so(ended):
    events, _ = chrome(save(ended, "t.json"))
    unwound = Counter(e["name"].split("::")[-1] for e in events
                      if e["args"].get("end") == "unwound")
    assert unwound["leap(int)"] == 4


# ---- speedscope -----------------------------------------------------------------


@pytest.mark.parametrize("choice", CHOICES, ids=" ".join)
def test_speedscope_has_each_call_in_its_lane(ended, choice):
    calls = json_lines(ended, *choice)
    profiles = speedscope(save(ended, "t.speedscope.json", *choice))
    lanes = {}
    for c in calls:
        lanes.setdefault((c["thread"], c["lane"]), []).append(c)
    assert len(profiles) == len(lanes)
    for name, spans in profiles.items():
        (found,) = [cs for (tid, _), cs in lanes.items()
                    if name.endswith(" %d" % tid)]
        assert [s.function for s in spans] == [c["function"] for c in found]
        for s, c in zip(spans, found):
            check_times(c, s.begin, s.end)


def test_speedscope_closes_open_calls(left_open):
    profiles = speedscope(save(left_open, "t.speedscope"))
    assert sum(len(s) for s in profiles.values()) \
        == len(json_lines(left_open))


def test_a_coroutines_stack_is_a_track_of_its_own(tmp_path):
    done = cstrace(tmp_path, "record", "-o", "t.cst", "--",
                   build(TESTS / "fidelity" / "coroutines.c"))
    assert done.returncode == 0, done.stderr
    calls = json_lines(tmp_path)
    lanes = {c["lane"] for c in calls}
    assert len(lanes) > 1 and 0 in lanes
    profiles = speedscope(save(tmp_path, "t.speedscope"))
    tid = calls[0]["thread"]
    assert set(profiles) == {"coroutines %d" % tid + (
        ", stack %d" % lane if lane else "") for lane in lanes}
    events, names = chrome(save(tmp_path, "t.json"))
    tracks = {}
    for e in events:
        tracks.setdefault(e["tid"], []).append(
            Span(e["name"], e["ts"], e["ts"] + e["dur"]))
    assert len(tracks) == len(lanes) and tid in tracks
    for spans in tracks.values():
        check_nesting(spans)
    assert {args["name"] for args in names["thread_name"].values()} \
        == {"coroutines" + (", stack %d" % lane if lane else "")
            for lane in lanes}


# ---- folded ---------------------------------------------------------------------


@pytest.mark.parametrize("choice", CHOICES, ids=" ".join)
def test_folded_has_each_stack_with_its_own_time(ended, choice):
    events, _ = chrome(save(ended, "t.json", *choice))
    expected = stacks(calls_alone(ended, *choice), events)
    found = folded(save(ended, "t.folded", "--names", "full", *choice))
    assert set(found) == set(expected)
    n_calls = sum(n for _, n in expected.values())
    for stack, ns in found.items():
        assert abs(ns - expected[stack][0]) <= n_calls


def test_folded_has_simple_names_that_tell_stacks_apart(ended):
    found = folded(save(ended, "t.folded"))
    assert len(found) == len(folded(save(ended, "t.folded", "--names", "full")))
    names = {name for stack in found for name in stack}
    assert "fib" in names and "(anonymous namespace)::fib(int)" not in names
    # They are of one template, so they have their arguments.
    assert {n for n in names if "letter" in n} \
        == {"int (anonymous namespace)::letter<(char)%d>()" % c
            for c in b"\";\\"}


FLAMEGRAPH = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"


@pytest.mark.parametrize("folder", ["ended", "left_open"])
def test_flamegraph_draws_each_stack(request, folder):
    folder = request.getfixturevalue(folder)

    def plain(name):  # as flamegraph.pl has it
        return name.replace("<", "(").replace(">", ")")

    total, lines = Counter(), []
    for stack, ns in folded(save(folder, "t.folded")).items():
        if ns:  # or it is drawn in the place of another that ends there
            lines.append("%s %d\n" % (";".join(stack), ns))
        for i in range(len(stack) + 1):
            total[stack[:i]] += ns
    (folder / "some.folded").write_text("".join(lines))
    done = subprocess.run(["perl", FLAMEGRAPH, "--minwidth=0", "some.folded"],
                          cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    drawn = re.findall(r"<title>(.*) \(([\d,]+) samples, .*?\)</title>",
                       done.stdout)
    assert Counter((html.unescape(name), int(ns.replace(",", "")))
                   for name, ns in drawn) \
        == Counter((plain(stack[-1]) if stack else "all", ns)
                   for stack, ns in total.items() if ns)


# ---- callgrind ------------------------------------------------------------------


def annotate(folder, *options):
    """callgrind_annotate's figures: nanoseconds by function."""
    done = subprocess.run(
        ["callgrind_annotate", "--threshold=100", "--auto=no", *options,
         "t.callgrind"], cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    rows = re.findall(r"^ *([\d,]+) \( *[\d.]+%\) +\S*?:(.*?)(?: \[.*\])?$",
                      done.stdout, re.M)
    return {name: int(ns.replace(",", "")) for ns, name in rows}


def report_totals(calls):
    """Total and own time by function, recursion counted once."""
    by_id = {c["id"]: c for c in calls}
    total, own = Counter(), Counter()
    for c in calls:
        own[c["function"]] += c["duration_ns"]
        above = by_id.get(c["parent"])
        if above:
            own[above["function"]] -= c["duration_ns"]
        while above and above["function"] != c["function"]:
            above = by_id.get(above["parent"])
        if not above:
            total[c["function"]] += c["duration_ns"]
    return total, own


@pytest.mark.parametrize("thread, functions", [
    ("1", ["main", "fib(int)", "leap(int)", "rescue()"]),
    ("2", ["work(void*)", "even(int)", "odd(int)", "leaf(int)"]),
], ids=["recursion", "in turns"])
def test_callgrind_annotate_tells_the_reports_figures(ended, thread,
                                                      functions):
    choice = ["--thread", thread, "--below", thread + ".1"]
    save(ended, "t.callgrind", *choice)
    calls = json_lines(ended, *choice)
    assert all(c["end"] != "open" for c in calls)
    total, own = report_totals(calls)
    inclusive = annotate(ended, "--inclusive=yes")
    exclusive = annotate(ended)
    for name in functions:
        if name != "main":
            name = "(anonymous namespace)::" + name
        assert total[name]
        assert abs(inclusive[name] - total[name]) <= len(calls)
        assert abs(exclusive.get(name, 0) - own[name]) <= len(calls)
    assert inclusive["(root)"] == sum(
        c["duration_ns"] for c in calls if not c["parent"])


def test_callgrind_annotates_the_source_at_its_call_sites(ended):
    save(ended, "t.callgrind")
    source = build("formats.cc")
    done = subprocess.run(
        ["callgrind_annotate", "--threshold=100", "--show-percs=no",
         "t.callgrind"], cwd=ended, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), source
    at = done.stdout.index("\tfib(10);") if "\tfib(10);" in done.stdout \
        else done.stdout.index("fib(10);")
    assert re.search(r"=> .*fib\(int\) \(1x\)", done.stdout[at:at + 300])


def test_callgrind_counts_the_calls_of_each_site(ended):
    text = save(ended, "t.callgrind").decode()
    names = dict(re.findall(r"^c?fn=\((\d+)\) (.+)$", text, re.M))
    counts = Counter()
    for number, n in re.findall(
            r"^cfn=\((\d+)\).*\ncalls=(\d+) 0\n\d+ \d+$", text, re.M):
        counts[names[number]] += int(n)
    assert counts == by_name(calls_alone(ended))


# ---- Graphviz -------------------------------------------------------------------


def test_dot_draws_the_graph(ended):
    raw = save(ended, "t.dot")
    done = subprocess.run(["dot", "-Tsvg", "t.dot"], cwd=ended,
                          capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    calls = calls_alone(ended)
    assert len(re.findall(r'class="node"', done.stdout)) \
        == len(by_name(calls))
    by_id = {c["id"]: c["function"] for c in calls}
    edges = {(by_id[c["parent"]], c["function"])
             for c in calls if c["parent"]}
    assert len(re.findall(r'class="edge"', done.stdout)) == len(edges)
    assert b"fib\\n%d calls" % by_name(calls)[
        "(anonymous namespace)::fib(int)"] in raw


WIDE = "".join("void f%d(void) { for (volatile int i = 0; i < %d; i++); }\n"
               % (i, 200000 if i < 5 else 1) for i in range(80)) + (
    "int main(void) { %s return 0; }\n"
    % " ".join("f%d();" % i for i in range(80)))


def test_dot_leaves_out_what_took_no_time(tmp_path):
    (tmp_path / "wide.c").write_text(WIDE)
    subprocess.run(["gcc", "-g", "-finstrument-functions", "wide.c", "-o",
                    "wide"], cwd=tmp_path, check=True)
    assert cstrace(tmp_path, "record", "-o", "t.cst", "--",
                   "./wide").returncode == 0
    text = save(tmp_path, "t.dot").decode()
    nodes = re.findall(r'^f\d+ \[label="(\w+)', text, re.M)
    took = {c["function"]: c["duration_ns"] for c in json_lines(tmp_path)}
    assert len(took) == 81 and len(nodes) < 81
    assert set(nodes) == {name for name, ns in took.items()
                          if ns >= took["main"] // 200}
    assert "%d of 81 functions" % len(nodes) in text


# ---- OTLP -----------------------------------------------------------------------


def spans_of(raw):
    """Every span with the attributes of its resource, as plain values."""
    def plain(attributes):
        found = {}
        for a in attributes:
            ((kind, value),) = a["value"].items()
            assert kind in ("stringValue", "intValue")
            assert isinstance(value, str)
            assert a["key"] not in found
            found[a["key"]] = int(value) if kind == "intValue" else value
        return found

    assert raw.count(b"\n") == 1
    for resource in strict_json(raw)["resourceSpans"]:
        about = plain(resource["resource"]["attributes"])
        for scope in resource["scopeSpans"]:
            assert scope["scope"]["name"] == "cstrace"
            for span in scope["spans"]:
                yield dict(span, resource=about,
                           attributes=plain(span["attributes"]))


@pytest.mark.parametrize("choice", CHOICES, ids=" ".join)
def test_otlp_has_a_span_for_each_call(ended, choice):
    calls = {c["id"]: c for c in json_lines(ended, *choice)}
    spans = list(spans_of(save(ended, "t.otlp.json", *choice)))
    assert sorted(s["attributes"]["cstrace.id"] for s in spans) \
        == sorted(calls)
    ids = {s["spanId"]: s for s in spans}
    assert len(ids) == len(spans) and len({s["traceId"] for s in spans}) == 1
    for s in spans:
        c = calls[s["attributes"]["cstrace.id"]]
        assert re.fullmatch("[0-9a-f]{32}", s["traceId"])
        assert re.fullmatch("[0-9a-f]{16}", s["spanId"])
        assert s["name"] == s["attributes"]["code.function"] == c["function"]
        assert s["attributes"].get("code.filepath") == c["file"]
        assert s["attributes"].get("code.lineno") == c["line"]
        assert s["attributes"]["thread.id"] == c["thread"]
        assert s["resource"]["process.pid"] == c["process"]
        assert s["attributes"]["cstrace.end"] == c["end"]
        begin, end = int(s["startTimeUnixNano"]), int(s["endTimeUnixNano"])
        check_times(dict(c, start_ns=None), begin, end)
        assert ("parentSpanId" in s) == (c["parent"] is not None)
        if c["parent"] in calls:
            above = ids[s["parentSpanId"]]
            assert above["attributes"]["cstrace.id"] == c["parent"]
            assert int(above["startTimeUnixNano"]) <= begin
            assert end <= int(above["endTimeUnixNano"])


def test_otlp_is_the_same_trace_each_time(ended):
    first = save(ended, "a.otlp.json")
    assert save(ended, "b.otlp") == first
    some = {s["spanId"] for s in spans_of(save(ended, "c.otlp", "--depth",
                                               "1"))}
    assert some <= {s["spanId"] for s in spans_of(first)}


# ---- one call and what it calls -------------------------------------------------


def below(calls, root):
    """IDs of the call and of all that it calls."""
    found = {root}
    for c in calls:
        if c["parent"] in found:
            found.add(c["id"])
    return found


def test_from_saves_one_call_and_what_it_calls(ended):
    calls = json_lines(ended)
    for root in [c["id"] for c in calls if "even" in c["function"]][:3] + [
            calls[0]["id"]]:
        some = json_lines(ended, "--below", root)
        assert {c["id"] for c in some} == below(calls, root)
        assert (some[0]["parent"], some[0]["depth"]) == (None, 0)
        whole = {c["id"]: c for c in calls}
        for c in some[1:]:
            assert c["parent"] == whole[c["id"]]["parent"]


def test_from_a_call_that_is_not_there_is_told(ended):
    for root, words in [("1.99999", "no call 1.99999"),
                        ("77.1", "no thread 77"), ("x", "not a call's ID")]:
        for name in ("u.json", "u.folded", "u.jsonl"):
            done = cstrace(ended, "save", "t.cst", name, "--below", root)
            assert done.returncode == 2
            assert words in done.stderr and done.stderr.count("\n") == 1
            assert not (ended / name).exists()


# ---- names of files and formats -------------------------------------------------


def test_the_longest_ending_counts(ended):
    for name, key in [("a.otlp.json", "resourceSpans"),
                      ("a.speedscope.json", "profiles"),
                      ("a.b.json", "traceEvents"), ("A.JSON", "traceEvents"),
                      ("otlp.json", "traceEvents")]:
        assert key in strict_json(save(ended, name))


def test_a_pipe_takes_any_format(ended):
    done = cstrace(ended, "save", "t.cst", "-", "--format", "json")
    assert done.stdout.encode() == save(ended, "t.json")
    done = cstrace(ended, "save", "t.cst", "-")
    assert done.returncode == 2 and "--format" in done.stderr


# ---- in gdb ---------------------------------------------------------------------


def test_gdb_saves_every_format(gdb, tmp_path):
    run = gdb(build("calls.c"), "set cstrace live off", "break pair", "run",
              "cstrace start", "delete", "continue", "cstrace save t.jsonl",
              "cstrace save t.json", "cstrace save t.speedscope.json",
              "cstrace save t.folded", "cstrace save t.callgrind",
              "cstrace save t.dot", "cstrace save -below 1.1 t.otlp.json",
              "cstrace save -thread 1 -format json t.other",
              "cstrace save -below 1.9999 u.json")
    assert "no call 1.9999" in run.out
    calls = [json.loads(line) for line in open(tmp_path / "t.jsonl")]
    events, _ = chrome((tmp_path / "t.json").read_bytes())
    assert [e["args"]["id"] for e in events] == [c["id"] for c in calls]
    seeds = [e for e in events if "s" in e["args"]["id"]]
    assert seeds and all(e["ts"] == 0 for e in seeds)
    (spans,) = speedscope((tmp_path / "t.speedscope.json").read_bytes()
                          ).values()
    assert [s.function for s in spans] == [c["function"] for c in calls]
    found = {s["attributes"]["cstrace.id"]
             for s in spans_of((tmp_path / "t.otlp.json").read_bytes())}
    assert found == below(calls, "1.1")
    assert (tmp_path / "t.other").read_bytes() \
        == (tmp_path / "t.json").read_bytes()
    assert set(folded((tmp_path / "t.folded").read_bytes())) \
        == set(stacks(calls, events))
