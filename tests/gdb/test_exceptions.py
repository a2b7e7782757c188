# SPDX-License-Identifier: MIT
"""Exceptions: what is thrown where, which calls it leaves, who catches it."""

import json
import re

import pytest

from lib_build import FOUR, build, line_of
from lib_cst import Trace
from lib_cstrace import cstrace
from lib_tree import read_jsonl

STOCK = {"type": "shop::OutOfStock", "what": "no stock of candle"}


def of_kind(calls, *kinds):
    return [c for c in calls if c.get("kind") in kinds]


def record(folder, program):
    done = cstrace(folder, "record", "-o", "t.cst", "--", program)
    assert "cstrace: " in done.err
    return done


def saved(folder, program):
    record(folder, program)
    assert cstrace(folder, "save", "t.cst", "t.jsonl").status == 0
    return read_jsonl(folder / "t.jsonl")


@pytest.mark.parametrize("variant", FOUR, ids=str)
def test_what_is_thrown_is_told_with_its_text(tmp_path, variant):
    calls = saved(tmp_path, build("thrown.cc", variant=variant))
    thrown = [c["exception"] for c in of_kind(calls, "throw")]
    assert thrown == [
        STOCK,
        {"type": "shop::Late", "what": "never"},
        {"type": "shop::Silent", "what": "never"},
        {"type": "std::__cxx11::basic_string<char, std::char_traits<char>, "
                 "std::allocator<char> >", "what": None},
        {"type": "std::runtime_error", "what": 256 * "x" + "..."},
        {"type": "shop::Unpaid", "what": "12 euros to pay"},
        STOCK,
        {"type": "long", "what": None},
        {"type": "std::out_of_range",
         "what": "vector::_M_range_check: __n (which is 7) >= this->size() "
                 "(which is 0)"},
        STOCK,
        {"type": "decltype(nullptr)", "what": None}]


# At -O2 gcc gives some handlers another line, or none.
@pytest.mark.parametrize("variant", [v for v in FOUR if v.level == "-O0"],
                         ids=str)
def test_each_has_its_place_and_a_handler(tmp_path, variant):
    calls = saved(tmp_path, build("thrown.cc", variant=variant))
    stock = [c for c in of_kind(calls, "throw", "rethrow", "catch")
             if c["exception"] == STOCK]
    thrown = line_of("thrown.cc", "throw OutOfStock")
    caught = line_of("thrown.cc", "catch (...)", 2)
    worker = line_of("thrown.cc", "catch (...)", 1)
    lines = [(c["kind"], c["line"]) for c in stock]
    assert lines == [
        ("throw", thrown), ("catch", caught),
        ("throw", thrown), ("catch", caught),
        ("throw", thrown), ("catch", worker),
        ("rethrow", line_of("thrown.cc", "rethrow_exception")),
        ("catch", caught)]
    assert stock[4]["thread"] == stock[5]["thread"] != stock[6]["thread"]


def thrown_by_reserve(calls):
    by_id = {c["id"]: c for c in calls}
    return [c["exception"] for c in of_kind(calls, "throw")
            if by_id[c["parent"]]["function"] == "shop::reserve(int)"]


@pytest.mark.parametrize("variant", FOUR, ids=str)
def test_the_calls_between_are_unwound(tmp_path, variant):
    calls = saved(tmp_path, build("thrown.cc", variant=variant))
    by_id = {c["id"]: c for c in calls}
    ends = {}
    for event in of_kind(calls, "throw"):
        call = by_id[event["parent"]]
        ends.setdefault(call["function"], set()).add(call["end"])
    # Guard's destructor and main catch what they throw.
    assert ends == {"shop::reserve(int)": {"unwound"},
                    "shop::out_of_range()": {"unwound"},
                    "shop::Guard::~Guard()": {"return"},
                    "main": {"return"}}
    for name in ("shop::guarded()", "shop::hand_over()"):
        assert [c["end"] for c in calls if c["function"] == name] == [
            "unwound"]
    assert [c["end"] for c in calls if c["function"] == "shop::work()"] == [
        "return"]
    # Each says what has left it, and one that returned says nothing.
    left = [c for c in calls if c["end"] == "unwound"]
    assert [c["exception"] for c in left
            if c["function"] == "shop::reserve(int)"] == thrown_by_reserve(
                calls)
    for name in ("shop::guarded()", "shop::hand_over()"):
        assert [c["exception"] for c in left if c["function"] == name] == [
            STOCK]
    assert not [c for c in calls if c["end"] == "return" and "kind" not in c
                and "exception" in c]
    for event in of_kind(calls, "catch"):
        assert by_id[event["parent"]]["end"] == "return"


@pytest.mark.parametrize("variant", FOUR, ids=str)
def test_a_thread_that_is_ended_leaves_its_calls(tmp_path, variant):
    program = build("quitters.cc", variant=variant)
    calls = saved(tmp_path, program)
    ends = {}
    for c in calls:
        if c["thread"] != calls[0]["thread"]:
            ends.setdefault(c["function"], []).append(c["end"])
    # One quits, one is cancelled, one is cancelled where its caller catches
    # that and throws it on; each has a guard in each call.
    for name in ("office::work(int)", "office::wait_for_work(int)",
                 "office::quit(int)"):
        assert set(ends[name]) == {"unwound"}, (name, ends[name])
    assert set(ends["office::begin(void*)"]) == {"unwound"}
    assert len(ends["office::begin(void*)"]) == 3
    assert {c["exception"]["type"] for c in calls
            if c["end"] == "unwound"} == {"__cxxabiv1::__forced_unwind"}
    for name in ("office::Coat::Coat()", "office::Coat::~Coat()",
                 "office::take_coat()"):
        assert set(ends[name]) == {"return"}, (name, ends[name])
    assert [c["name"] for c in of_kind(calls, "catch", "rethrow")] == [
        "catch __cxxabiv1::__forced_unwind",
        "rethrow __cxxabiv1::__forced_unwind"]
    assert len(ends["office::Coat::~Coat()"]) == len(
        ends["office::Coat::Coat()"]) == 9


@pytest.mark.parametrize("variant", FOUR, ids=str)
def test_what_an_exception_is_asked_leaves_no_calls(tmp_path, variant):
    calls = saved(tmp_path, build("thrown.cc", variant=variant))
    names = {c["function"] for c in calls}
    # The constructor is the program's affair, what() and its calls are not.
    assert "shop::Unpaid::Unpaid(int)" in names
    assert not {n for n in names if "what() const" in n or "amount" in n
                or "parse" in n}
    assert "std::invalid_argument" not in {
        c["exception"]["type"] for c in of_kind(calls, "throw", "catch")}
    unpaid = [c for c in of_kind(calls, "throw", "catch")
              if c["exception"]["type"] == "shop::Unpaid"]
    assert [c["exception"]["what"] for c in unpaid] == 2 * ["12 euros to pay"]
    by_id = {c["id"]: c for c in calls}
    thrown, caught = (by_id[c["parent"]] for c in unpaid)
    assert thrown["function"] == "shop::reserve(int)"
    assert thrown["end"] == "unwound" and caught["end"] == "return"


@pytest.mark.parametrize("how", ["option", "environment", "setting"])
def test_an_exception_is_not_asked_if_the_user_says_so(gdb, tmp_path, how):
    program = build("thrown.cc")
    assert "asked" in record(tmp_path, program).out
    if how == "setting":
        run = gdb(program, "cstrace start", "set cstrace what off", "run",
                  "cstrace save t.jsonl", "show cstrace what")
        assert "asked" not in run.out
        assert "\nwhat: off\n" in run.out
    else:
        given = ["--no-what"] if how == "option" else []
        set_there = {} if given else {"CSTRACE_WHAT": "off"}
        done = cstrace(tmp_path, "record", "-o", "t.cst", *given, "--",
                       program, **set_there)
        assert "cstrace: " in done.err and "asked" not in done.out
        assert cstrace(tmp_path, "save", "t.cst", "t.jsonl").status == 0
    texts = {c["exception"]["type"]: c["exception"]["what"]
             for c in of_kind(read_jsonl(tmp_path / "t.jsonl"), "throw")}
    # Only what the library knows: that of the base, or nothing.
    assert texts["shop::OutOfStock"] == "no stock of candle"
    assert texts["shop::Late"] == "too late"
    assert texts["shop::Silent"] is texts["shop::Unpaid"] is None


def test_rows_show_them_live_and_saved(gdb, tmp_path):
    run = gdb(build("thrown.cc"), "cstrace start", "run",
              "cstrace save t.txt", "cstrace show 'reserve'")
    row = 'throw shop::OutOfStock("no stock of candle")  thrown.cc:%d' % (
        line_of("thrown.cc", "throw OutOfStock"))
    # Live, and by `show`: below the three calls that throw it.
    assert run.out.count(row) == 6
    assert (tmp_path / "t.txt").read_text().count(row) == 3
    assert "catch decltype(nullptr)" in run.out


# Its line is asked for when it has been thrown, not before.
def test_they_have_their_place_without_a_live_view(gdb, tmp_path):
    run = gdb(build("thrown.cc"), "set cstrace live off", "cstrace start",
              "run", "cstrace show 'reserve'")
    assert run.out.count('throw shop::OutOfStock("no stock of candle")  '
                         "thrown.cc:%d" %
                         line_of("thrown.cc", "throw OutOfStock")) == 3


def counts(folder, *words):
    """The counts of calls, as the command prints them."""
    out = cstrace(folder, *words).out
    found = re.findall(r"^(?:calls +|# .*?)(\d+)(?: of \d+ calls| \()", out,
                       re.M)
    assert len(found) == 1, out
    return int(found[0])


@pytest.mark.parametrize("variant", FOUR, ids=str)
def test_they_are_in_no_number_of_calls(tmp_path, variant):
    done = record(tmp_path, build("shop.cc", variant=variant))
    told = int(re.search(r"cstrace: (\d+) calls in", done.err)[1])
    assert counts(tmp_path, "info", "t.cst") == told
    assert json.loads(cstrace(tmp_path, "info", "--format", "json",
                              "t.cst").out)["calls"] == told
    cstrace(tmp_path, "save", "--std", "t.cst", "t.jsonl")
    calls = read_jsonl(tmp_path / "t.jsonl")
    assert len(of_kind(calls, "throw", "catch")) == 2
    assert len(calls) == told + 2
    cstrace(tmp_path, "save", "t.cst", "again.cst")
    assert counts(tmp_path, "info", "again.cst") == told
    # Nor in what was shown of them, though their rows are.
    assert counts(tmp_path, "show", "t.cst", "/OutOfStock|pack/") == sum(
        line.lstrip()[:1].isdigit() and "throw" not in line
        and "catch" not in line
        for line in cstrace(tmp_path, "show", "t.cst",
                            "/OutOfStock|pack/").out.splitlines())


def test_throw_is_the_name_of_all_that_is_thrown(tmp_path):
    record(tmp_path, build("shop.cc"))
    out = cstrace(tmp_path, "show", "t.cst", "throw").out
    assert re.findall(r"throw .*", out)[0].startswith(
        'throw shop::OutOfStock("no stock of candle")  shop.cc:')
    assert re.search(r"^# filter throw: 0 of \d+ calls, 1 other row$",
                     out, re.M)
    assert "catch shop::OutOfStock" in cstrace(tmp_path, "show", "t.cst",
                                               "catch").out


def test_list_shows_the_line_that_throws(gdb, tmp_path):
    program = build("shop.cc")
    thrown, = of_kind(saved(tmp_path, program), "throw")
    run = gdb(program, "cstrace load t.cst", "cstrace list %s" % thrown["id"])
    line = line_of("shop.cc", "throw OutOfStock")
    assert re.search(r'^throw shop::OutOfStock\("no stock of candle"\) is at '
                     r".*/shop\.cc:%d$" % line, run.out, re.M)
    assert "%d\t\t\t\tthrow OutOfStock(name, n);" % line in run.out
    assert "was called" not in run.out and "do not tell" not in run.out


def test_a_report_is_of_functions(tmp_path):
    record(tmp_path, build("thrown.cc"))
    out = cstrace(tmp_path, "report", "t.cst").out
    assert "reserve" in out
    assert "throw" not in out and "catch" not in out


def test_info_counts_functions_alone(tmp_path):
    """Not what stands for exceptions: of that the file has no symbol."""
    record(tmp_path, build("thrown.cc"))
    trace = Trace((tmp_path / "t.cst").read_bytes())
    functions = [symbol for _name, symbol, _module
                 in trace.functions.values() if symbol]
    assert 0 < len(functions) < len(trace.functions)
    info = json.loads(cstrace(tmp_path, "info", "--format", "json",
                              "t.cst").out)
    assert info["functions"] == len(functions)
    assert info["call_sites"] == sum(
        trace.functions[function][1] is not None
        for function, _file, _line in trace.sites.values())


def test_one_that_nobody_catches_leaves_its_calls_open(tmp_path):
    source = tmp_path / "lost.cc"
    source.write_text("void lose() { throw 1; }\nint main() { lose(); }\n")
    program = build(str(source), name="lost")
    calls = saved(tmp_path, program)
    assert [(c["function"], c["end"]) for c in calls] == [
        ("main", "open"), ("lose()", "open"), ("throw int", "return"),
        ("uncaught int", "return")]


@pytest.mark.parametrize("ending", ["folded", "dot", "callgrind"])
def test_sums_of_calls_have_no_exceptions(tmp_path, ending):
    record(tmp_path, build("thrown.cc"))
    name = "t." + ending
    assert cstrace(tmp_path, "save", "t.cst", name).status == 0
    text = (tmp_path / name).read_text()
    assert "main" in text
    assert "throw " not in text and "catch " not in text


def test_the_graph_has_no_exceptions(tmp_path):
    record(tmp_path, build("thrown.cc"))
    done = cstrace(tmp_path, "graph", "t.cst")
    assert "main" in done.out
    assert "throw " not in done.out and "catch " not in done.out
