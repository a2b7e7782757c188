# SPDX-License-Identifier: MIT
"""What a program says by cstrace.h, in the tree, in every format and in the
commands that sum up."""

import json
import re

import pytest

from lib_build import FOUR, ROOT, build, line_of
from lib_cst import Trace
from lib_formats import cstrace, json_lines, record_program, save, strict_json
from lib_tree import tree_of_text

FLAGS = ("-DCSTRACE", "-I%s" % (ROOT / "cshim/include"))

# hooks: the calls, of which the spans alone are left without them.
NESTED = """\
main
  catcher  nested_words.cc:79
    span around  nested_words.cc:32
      span trying  nested_words.cc:34  (unwound)
        fail  nested_words.cc:35  (unwound)
          span failing  nested_words.cc:25  (unwound)
            leaf  nested_words.cc:26
            throw std::runtime_error("no")  nested_words.cc:27
      catch std::runtime_error("no")  nested_words.cc:36
      leaf  nested_words.cc:37
      inlined  nested_words.cc:39
      leaf  nested_words.cc:40
  jumps  nested_words.cc:80
    span rounds  nested_words.cc:55
      jumper  nested_words.cc:58  (unwound)
        span left  nested_words.cc:47  (unwound)
          leaf  nested_words.cc:48
      jumper  nested_words.cc:58  (unwound)
        span left  nested_words.cc:47  (unwound)
          leaf  nested_words.cc:48
      leaf  nested_words.cc:59
  down  nested_words.cc:81
    span down(n=2)  nested_words.cc:64
      inlined  nested_words.cc:65
      down  nested_words.cc:67
        span down(n=1)  nested_words.cc:64
          inlined  nested_words.cc:65
          down  nested_words.cc:67
            span down(n=0)  nested_words.cc:64
              inlined  nested_words.cc:65
              log: up 0  nested_words.cc:68
          log: up 1  nested_words.cc:68
      log: up 2  nested_words.cc:68
  span raising  nested_words.cc:84
    handler
      span handler(signal=10)  nested_words.cc:73
        leaf  nested_words.cc:74
    leaf  nested_words.cc:86
"""
ALONE = """\
span around  nested_words.cc:32
  span trying  nested_words.cc:34  (unwound)
    span failing  nested_words.cc:25  (unwound)
      throw std::runtime_error("no")  nested_words.cc:27
  catch std::runtime_error("no")  nested_words.cc:36
span rounds  nested_words.cc:55
  span left  nested_words.cc:47  (unwound)
  span left  nested_words.cc:47  (unwound)
span down(n=2)  nested_words.cc:64
  span down(n=1)  nested_words.cc:64
    span down(n=0)  nested_words.cc:64
      log: up 0  nested_words.cc:68
    log: up 1  nested_words.cc:68
  log: up 2  nested_words.cc:68
span raising  nested_words.cc:84
  span handler(signal=10)  nested_words.cc:73
"""


@pytest.mark.parametrize("hooks", (True, False), ids=("hooks", "alone"))
@pytest.mark.parametrize("variant", FOUR, ids=str)
def test_spans_nest_among_calls(tmp_path, variant, hooks):
    program = build("nested_words.cc", "-std=c++17", *FLAGS, variant=variant,
                    is_traced=hooks)
    record_program(tmp_path, program)
    tree = tree_of_text(save(tmp_path, "t.txt").decode())
    assert re.sub("^main .*", "main", tree) == (NESTED if hooks else ALONE)


@pytest.mark.parametrize("variant", FOUR, ids=str)
def test_an_inlined_function_has_the_line_of_its_own_call(tmp_path, variant):
    source = "inlined_words.c"
    program = build(source, *FLAGS, variant=variant, is_traced=False)
    record_program(tmp_path, program)
    inner = [("light", "first"), ("leaf", "in light"), ("leaf", "in middle"),
             ("light", "second"), ("leaf", "in light")]
    calls = [("middle", "one"), *inner, ("apart", "not inlined"),
             ("middle", "other"), *inner]
    got = json_lines(tmp_path)
    assert [(c["function"], c["line"]) for c in got] == [
        (name, line_of(source, word + " */")) for name, word in calls]
    assert [c["depth"] for c in got] == [0, 1, 2, 1, 1, 2, 0,
                                         0, 1, 2, 1, 1, 2]


@pytest.fixture(scope="module", name="own")
def own_folder(tmp_path_factory):
    return record_program(tmp_path_factory.mktemp("own"),
                          build("own.c", *FLAGS))


def of_kind(calls, kind):
    return [c for c in calls if c.get("kind") == kind]


def test_json_lines_have_kinds_and_values(own):
    calls = json_lines(own)
    assert [(c["name"], c["args"]) for c in of_kind(calls, "span")] == [
        ("load", {"file": "a.txt", "n": 1}), ("parse", {"big": 0}),
        ("load", {"file": "b.txt", "n": 3}), ("parse", {"big": 1})]
    assert [c.get("result") for c in of_kind(calls, "span")] == [
        None, 2, None, 6]
    assert [c["text"] for c in of_kind(calls, "log")] == [
        "a.txt: 1 of  12.5%, ab", "b.txt: 3 of  12.5%, ab", "nothing for you"]
    assert [(c["name"], c["value"]) for c in of_kind(calls, "count")] == [
        ("bytes", 512)]
    begin, = of_kind(calls, "async")
    end, = of_kind(calls, "async end")
    assert begin["async"] == end["async"] == 7
    assert end["thread"] != begin["thread"]
    # Each is rounded.
    assert abs(end["duration_ns"] - end["start_ns"] + begin["start_ns"]) <= 1
    added = [c for c in calls if c["name"] == "add"]
    assert [(c["args"], c["result"]) for c in added] == [
        ({"a": 1, "b": 1}, 2), ({"a": 3, "b": 1}, 4)]
    guarded, = (c for c in calls if c["name"] == "guarded")
    assert guarded["end"] == "vetoed"


def test_the_file_says_what_the_lines_say(own):
    trace = Trace((own / "t.cst").read_bytes())
    calls = json_lines(own)
    rows = trace.rows()
    assert set(rows) == {c["id"] for c in calls}
    for call in calls:
        if "value" not in call and call.get("kind") not in ("async", "async end"):
            assert rows[call["id"]]["duration_ns"] == call["duration_ns"]
        assert rows[call["id"]]["function"] == call["function"]
    said = [c.values for c in trace.calls[0] if c.values]
    assert (("s", "a.txt"), ("i", 1)) in said


def test_chromes_format_has_its_own_events(own):
    events = strict_json(save(own, "t.json"))["traceEvents"]

    def of(phase):
        return [e for e in events if e["ph"] == phase]

    assert {e["name"] for e in of("X") if e.get("cat") == "span"} == {
        "load", "parse"}
    assert [e["name"] for e in of("i")] == [
        "a.txt: 1 of  12.5%, ab", "b.txt: 3 of  12.5%, ab", "nothing for you"]
    assert [(e["name"], e["args"]) for e in of("C")] == [
        ("bytes", {"value": 512})]
    assert [(e["name"], e["id"]) for e in of("b") + of("e")] == [
        ("request", "7")] * 2


def test_a_message_is_an_event_of_its_span_in_otlp(own):
    spans = [s for r in strict_json(save(own, "t.otlp.json"))["resourceSpans"]
             for o in r["scopeSpans"] for s in o["spans"]]
    loads = [s for s in spans if s["name"] == "load" and "events" in s]
    assert [e["name"] for s in loads for e in s["events"]] == [
        "a.txt: 1 of  12.5%, ab", "b.txt: 3 of  12.5%, ab"]
    for span in loads:
        assert {"key": "cstrace.value.file", "value": {
            "stringValue": span["events"][0]["name"][:5]}} in span["attributes"]
        event, = span["events"]
        assert [a["key"] for a in event["attributes"]] == [
            "cstrace.value.%d" % n for n in range(1, 6)]
        assert int(span["startTimeUnixNano"]) <= int(event["timeUnixNano"]) \
            <= int(span["endTimeUnixNano"])


def test_an_asynchronous_span_is_one_in_otlp(own):
    """Begun in one thread, ended in another."""
    begin, end = (c for c in json_lines(own) if "async" in c)
    span, = (s for r in strict_json(save(own, "a.otlp.json"))["resourceSpans"]
             for o in r["scopeSpans"] for s in o["spans"]
             if s["name"] == "request")
    assert end["thread"] != begin["thread"]
    assert int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"]) == (
        begin["duration_ns"])
    assert {"key": "cstrace.end", "value": {"stringValue": "return"}} \
        in span["attributes"]


@pytest.mark.parametrize("ending", ("folded", "speedscope.json", "callgrind",
                                    "dot"))
def test_a_span_is_a_function_elsewhere(own, ending):
    assert b"span load" in save(own, "t." + ending)


@pytest.fixture(scope="module", name="requests")
def requests_folder(tmp_path_factory):
    return record_program(tmp_path_factory.mktemp("requests"),
                          build("requests.c", *FLAGS))


def test_an_asynchronous_span_has_its_time(requests):
    """At both its ends, which are in different threads."""
    calls = json_lines(requests)
    begins = [c for c in of_kind(calls, "async") if c["name"] == "request"]
    ends = of_kind(calls, "async end")
    assert [b["args"]["n"] for b in begins] == [0, 1, 2]
    assert len({e["thread"] for e in ends}) == len(ends) == 3
    for begin, end in zip(begins, ends):
        assert begin["duration_ns"] == end["duration_ns"] >= 2000000
        assert begin["end"] == "return"
        assert abs(end["start_ns"] - begin["start_ns"]
                   - begin["duration_ns"]) <= 1
    left, = (c for c in calls if c["name"] == "shutdown")
    assert (left["duration_ns"], left["end"]) == (None, "open")
    done = cstrace(requests, "show", "t.cst", "--min", "2ms")
    assert len(re.findall(r"ms +1\.\d+ +span request", done.stdout)) == 3
    rows = {row["name"]: row for row in json.loads(
        cstrace(requests, "report", "t.cst", "--format", "json").stdout)[
            "rows"]}
    assert rows["span request"]["calls"] == 3
    assert rows["span request"]["self_ns"] == 0
    assert rows["span request"]["total_ns"] == pytest.approx(
        sum(b["duration_ns"] for b in begins), abs=3)
    # It is nobody else's: not that of the function that began it.
    made = [c for c in calls if c["name"] == "accept_one"]
    assert rows["accept_one"]["self_ns"] == pytest.approx(
        sum(c["duration_ns"] for c in made), abs=3)


def test_asynchronous_spans_are_all_in_otlp(requests):
    calls = json_lines(requests)
    spans = [s for r in strict_json(
        save(requests, "t.otlp.json"))["resourceSpans"]
             for o in r["scopeSpans"] for s in o["spans"]]
    assert sorted(int(s["endTimeUnixNano"]) - int(s["startTimeUnixNano"])
                  for s in spans if s["name"] == "request") == sorted(
                      c["duration_ns"] for c in of_kind(calls, "async end"))


def test_sums_have_spans_as_rows_of_functions(own):
    report = json.loads(cstrace(own, "report", "t.cst", "--format",
                                "json").stdout)
    calls = {row["name"]: row["calls"] for row in report["rows"]}
    assert calls["span load"] == calls["span parse"] == calls["add"] == 2
    assert not [name for name in calls if name.startswith(("log", "count"))]
    info = cstrace(own, "info", "t.cst").stdout
    assert re.search(r"^other rows  10: spans, messages, counters' values, "
                     "vetoes$", info, re.M)
    assert "span parse" in cstrace(own, "graph", "t.cst").stdout


SAID = """\
#    TIMES        LAST         MIN         MAX  COUNTER OR MESSAGE
         4           5          -2          12  count queue
         3           -           -           -  log: step %d
         2        0.25        0.25         0.5  count load
         1  18446744073709551615  18446744073709551615  18446744073709551615  \
count bytes
"""


def said(folder, *options):
    done = cstrace(folder, "report", "t.cst", *options)
    assert done.returncode == 0, done.stderr
    return re.sub(r"(?s).*(?=^#    TIMES)", "", done.stdout, flags=re.M)


@pytest.fixture(scope="module", params=[True, False], ids=["hooks", "alone"])
def counters(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("counters")
    hooks = ("-finstrument-functions",) if request.param else ()
    record_program(folder, build("own_counters.c", *FLAGS, *hooks))
    return folder


def test_reports_say_how_often_what_was_said(counters):
    assert said(counters) == SAID
    heading, *rows = SAID.splitlines(True)
    assert said(counters, "count") == "".join([heading, rows[0], *rows[2:]])
    assert said(counters, "--limit", "1") == heading + rows[0]
    assert said(counters, "log") == ("#    TIMES  MESSAGE\n"
                                     "         3  log: step %d\n")
    places = said(counters, "--by", "callsite", "log|load").split("\n")[1:]
    assert [row.split()[0] for row in places if row] == ["2", "1", "1", "1"]
    assert re.search(r"^ +2 .* log: step %d  own_counters.c:\d+$", places[0])
    assert said(counters, "--thread", "1", "queue").split("\n")[1].split() == [
        "3", "-2", "-2", "12", "count", "queue"]


def silent(folder, *options):
    done = cstrace(folder, "report", "t.cst", *options)
    assert "step" not in done.stdout and "queue" not in done.stdout
    return done


def test_reports_of_something_else_say_nothing(counters):
    for options in (("--by", "thread"), ("--format", "csv")):
        done = silent(counters, *options)
        assert done.returncode == 0 and done.stdout, done.stderr
    for options in (("--callers", "say"), ("--min-time", "1ns"),
                    ("--exclude", "^(log|count)")):
        silent(counters, *options)


@pytest.mark.parametrize("counters", [True], indirect=True, ids=["hooks"])
def test_reports_of_functions_alone_say_nothing(counters):
    for options in (("--callers", "say"), ("--min-time", "1ns"),
                    ("--exclude", "^(log|count)")):
        done = silent(counters, *options)
        assert done.returncode == 0 and "main" in done.stdout, done.stderr


def test_reports_for_programs_have_what_was_said(counters):
    rows = json.loads(cstrace(counters, "report", "t.cst", "--format",
                              "json").stdout)["messages"]
    assert [(row["name"], row["times"], row["last"], row["min"], row["max"])
            for row in rows] == [
        ("count queue", 4, 5, -2, 12), ("log: step %d", 3, None, None, None),
        ("count load", 2, 0.25, 0.25, 0.5),
        ("count bytes", 1, *[18446744073709551615] * 3)]


def test_info_counts_the_calls_that_are_open(tmp_path):
    """In a coroutine that is never resumed; a span is none, open or not."""
    record_program(tmp_path, build("own_left.c", *FLAGS))
    info = json.loads(cstrace(tmp_path, "info", "t.cst", "--format",
                              "json").stdout)
    assert (info["calls"], info["calls_open"], info["calls_unwound"],
            info["rows_that_are_no_calls"]) == (3, 2, 0, 3)


def test_spans_are_named_like_functions(own):
    def shown(*options):
        done = cstrace(own, "show", "t.cst", *options)
        assert done.returncode == 0, done.stderr
        return tree_of_text(done.stdout)

    assert shown("span load").splitlines()[0].startswith(
        'span load(file="a.txt", n=1)')
    assert len(re.findall("^ *span", shown("span"), re.M)) == 5
    assert len(re.findall("^ *log: ", shown("log"), re.M)) == 3
    assert "log: " not in shown("--exclude", "log")


LOOP = r"""
#include <cstrace/cstrace.h>
int main(void)
{
	for (int i = 0; i < 6; i++) {
		CSTRACE_SPAN("round", "i", i);
		cstrace_log("half is %d", i / 4);
	}
	return 0;
}
"""


def test_equal_ones_fold(tmp_path):
    """Where values differ they are left out; messages are what they say."""
    (tmp_path / "loop.c").write_text(LOOP)
    record_program(tmp_path, build(str(tmp_path / "loop.c"), *FLAGS))
    done = cstrace(tmp_path, "show", "t.cst", "--fold")
    assert tree_of_text(done.stdout).splitlines()[1:] == [
        "  span round(...)  x6  loop.c:6", "    log: half is 0  x4  loop.c:7",
        "    log: half is 1  x2  loop.c:7"]


def test_expected_trees_and_comparisons_take_them(own):
    done = cstrace(own, "expect", "--make", "t.cst", "new.golden")
    assert done.returncode == 0, done.stderr
    golden = (own / "new.golden").read_text()
    assert "    span load\n      span parse\n        add\n" in golden
    assert cstrace(own, "expect", "t.cst", "new.golden").returncode == 0
    (own / "new.golden").write_text(golden.replace("span parse", "span x"))
    assert cstrace(own, "expect", "t.cst", "new.golden").returncode == 1
    assert cstrace(own, "diff", "t.cst", "t.cst").returncode == 0
