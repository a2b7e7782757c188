# SPDX-License-Identifier: MIT
"""What is shown of a trace is chosen by settings, options and spans, at once,
and each answer says what it leaves out."""

import re

import pytest

from lib_build import build
from lib_cstrace import cstrace
from lib_tree import (live_tree, outcome, own_sites, read_jsonl, rows,
                      tree)

QUIET = "set cstrace live off"
NOTE = re.compile(r"^# (.* of \d+ calls?.*)$", re.M)


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("steering")
    done = cstrace(folder, "record", "-o", "shop.cst", build("shop.cc"))
    assert done.status == 0, done.err
    return folder


def names(text):
    return [row.text.removeprefix("<- ").split("  ")[0] for row in rows(text)]


# ---- settings --------------------------------------------------------------


def test_a_setting_acts_on_a_running_trace(gdb, tmp_path):
    """What was recorded stays, and comes back with -all."""
    run = gdb(build("calls.c"), "break pair", "break through",
              "cstrace start", "run", "set cstrace filter ^leaf$", "continue",
              "set cstrace filter", "set cstrace depth 2", "continue",
              "cstrace save few.jsonl", "cstrace save -all all.jsonl")
    first, second, third = re.split(r"^Breakpoint \d, .*$", run.out,
                                    flags=re.M)
    assert names(first)[-3:] == ["main", "spread", "pair"]
    assert {row.text.split("  ")[0] for row in rows(second)} \
        == {"<- pair", "<- spread", "leaf"}
    assert names(third)[-1] == "main"
    assert len(read_jsonl(tmp_path / "all.jsonl")) == 18
    assert len(read_jsonl(tmp_path / "few.jsonl")) == 9
    assert "9 calls saved to few.jsonl (depth 2: 9 of 18 calls; -all shows " \
        "the others)" in run.out


def test_a_row_that_a_filter_hides_later_is_closed(gdb):
    """It would look as if the call had never returned."""
    run = gdb(build("calls.c"), "break pair", "cstrace start", "run",
              "set cstrace filter ^through$", "continue")
    first, second = re.split(r"^Breakpoint 1, .*$", run.out, flags=re.M)
    assert names(first) == ["main", "spread", "pair"]
    assert [row.text.split("  ")[0] for row in rows(second)] \
        == ["<- pair", "<- spread", "through", "leaf", "<- main"]


def test_settings_stand_for_each_trace_and_options_for_one(gdb):
    run = gdb(build("calls.c"), QUIET, "set cstrace depth 1",
              "cstrace start -depth 2", "run", "cstrace show",
              "show cstrace depth", "show cstrace", "cstrace stop",
              "cstrace start", "run",
              "show cstrace depth", "cstrace show")
    assert NOTE.findall(run.out) == [
        "depth 2: 9 of 18 calls; -all shows the others",
        "depth 1: 1 of 18 calls; -all shows the others"]
    assert "depth: 1 (this trace: 2)\n" in run.out
    assert "\ndepth        1 (this trace: 2)\n" in run.out
    assert "depth: 1\n" in run.out


def test_exclude_ends_and_begins_recording(gdb, tmp_path):
    gdb(build("calls.c"), QUIET, "break down if n == 3", "break through",
        "cstrace start", "run", "set cstrace exclude ^down$", "continue",
        "set cstrace exclude", "continue", "cstrace save -all t.jsonl")
    functions = [c["function"] for c in read_jsonl(tmp_path / "t.jsonl")]
    assert functions.count("down") == 1  # the one at the stop
    assert functions.count("leaf") == 7 and functions.count("through") == 1


@pytest.mark.parametrize("setting, line", [
    ("filter (", "bad regex '(': missing closing parenthesis"),
    ("exclude [", "bad regex '[': "),
    ("depth x", '-depth wants a number, not "x"'),
    ("min-time 5", "-min-time wants a time with its unit")])
def test_a_bad_setting_leaves_the_old_one(gdb, setting, line):
    name = setting.split()[0]
    good = {"depth": "7", "min-time": "7us"}.get(name, "seven")
    run = gdb(None, "set cstrace %s %s" % (name, good),
              "set cstrace " + setting, "show cstrace " + name)
    assert line in run.out
    assert "%s: %s\n" % (name, good) in run.out


# ---- start, again ----------------------------------------------------------


def test_start_while_on_takes_options(gdb, tmp_path):
    run = gdb(build("calls.c"), QUIET, "break pair", "cstrace start", "run",
              "cstrace start -depth 2 -to t.txt", "continue")
    assert "cstrace: on, as before, now with depth 2: ring mode, 3 calls so " \
        "far\n" in run.out
    assert "9 calls saved to %s (depth 2: 9 of 18 calls" \
        % (tmp_path / "t.txt") in run.out


def test_start_while_on_ends_no_breakpoint_commands(gdb, tmp_path):
    (tmp_path / "commands").write_text(
        "commands 1\ncstrace start\necho after\\n\nend\n")
    run = gdb(build("calls.c"), QUIET, "break pair", "source commands",
              "cstrace start", "run")
    assert re.search(r"^cstrace: already on: ring mode, \d+ calls? so far\n"
                     r"after$", run.out, re.M)
    run = gdb(build("calls.c"), QUIET, "break pair", "cstrace start", "run",
              "cstrace start -sync")
    assert "-sync cannot begin in the middle of a trace" in run.out


def test_start_while_on_takes_what_is_to_be_kept(gdb, tmp_path):
    run = gdb(build("calls.c"), QUIET, "break pair", "break through",
              "cstrace start", "run", "cstrace start -keep-depth 2",
              "cstrace status", "continue", "cstrace start -keep-depth 0",
              "continue", "cstrace save -all t.jsonl")
    assert "cstrace: on, as before, now with keep-depth 2: ring mode, 3 " \
        "calls so far\n" in run.out
    assert "\nrecorded   with keep-depth 2\n" in run.out
    calls = read_jsonl(tmp_path / "t.jsonl")
    assert [c["function"] for c in calls] == (
        "main spread pair down compare compare compare through leaf leaf "
        "leaf").split()
    assert [c["depth"] for c in calls if c["function"] == "leaf"][0] == 2
    assert "11 calls in 1 thread" in run.out and "7 calls not kept" in run.out


def test_start_while_on_keeps_what_lasts(gdb, tmp_path):
    """Calls that were open before are recorded as they were."""
    run = gdb(build("calls.c"), QUIET, "break pair", "break through",
              "cstrace start", "run", "cstrace start -keep-time 100s",
              "continue", "cstrace start -keep-time 0", "continue",
              "cstrace save -all t.jsonl")
    assert "now with keep-time 100.0" in run.out
    assert [c["function"] for c in read_jsonl(tmp_path / "t.jsonl")] \
        == ["main", "spread", "pair", "through", "leaf", "leaf", "leaf"]


@pytest.mark.parametrize("option, shown", [
    ("-keep-depth 2", ["main", "spread", "down", "compare", "compare",
                       "compare", "through", "leaf", "leaf"]),
    ("-keep-time 100s", [])])
def test_what_is_not_kept_has_no_live_row(gdb, option, shown):
    run = gdb(build("calls.c"), "cstrace start " + option, "run")
    assert names(run.out.split("[Inferior")[0]) == shown


# ---- from and until --------------------------------------------------------

SPAN = """
    pair  calls.c:38
      leaf  calls.c:16
      leaf  calls.c:16
    leaf  calls.c:40
    leaf  calls.c:40
    down  calls.c:49
    """


def test_from_and_until(gdb, tmp_path):
    run = gdb(build("calls.c"), "cstrace start -from pair -until ^down$",
              "run", "cstrace save t.txt", "cstrace save t.jsonl",
              "cstrace save -all t.cst")
    assert own_sites(live_tree(run.out)) == tree(SPAN)
    assert outcome(tmp_path) == tree(SPAN)
    for words in (("show", "--from", "pair", "--until", "^down$"),
                  ("show", "--from", "1.3", "--until", "1.8")):
        out = cstrace(tmp_path, *words, "t.cst").out
        assert own_sites(live_tree(out)) == tree(SPAN)
        assert NOTE.findall(out) == ["from %s, until %s: 6 of 18 calls"
                                     % words[2::2]]


def test_a_report_of_a_span(tmp_path):
    cstrace(tmp_path, "record", "-o", "t.cst", build("calls.c"))
    out = cstrace(tmp_path, "report", "--from", "pair", "--until", "^down$",
                  "t.cst").out
    found = {name: int(n) for n, name in
             re.findall(r"^ *(\d+) .*%  (\w+)$", out, re.M)}
    assert found == {"pair": 1, "leaf": 4, "down": 1}
    assert NOTE.findall(out) == ["from pair, until ^down$: 6 of 18 calls"]


def test_a_beginning_that_was_never_called_is_said(gdb, tmp_path):
    program = build("basic.c")
    run = gdb(program, "cstrace start -from die", "run", "cstrace stop")
    told = ", but 'die' was never called: only -all shows them"
    assert len([line for line in run.said() if told in line]) == 1
    done = cstrace(tmp_path, "record", "--from", "die", "--", program)
    assert done.err.startswith(
        "cstrace: 'die' was never called: only --all shows the calls that "
        "there are\n")
    done = cstrace(tmp_path, "record", "--from", "main", "--", program)
    assert "never called" not in done.err


@pytest.mark.parametrize("words, n", [
    (("--from", "nosuch"), 0), (("--until", "nosuch"), 18),
    (("--from", "through", "--until", "pair"), 4),
    (("--until", "pair"), 3), (("--from", "1.18"), 1),
    (("--from", "leaf", "--until", "leaf"), 2)])
def test_ends_of_a_span(tmp_path, words, n):
    cstrace(tmp_path, "record", "-o", "t.cst", build("calls.c"))
    done = cstrace(tmp_path, "show", *words, "t.cst")
    assert len(names(done.out)) == n
    assert done.status == (0 if n else 1)


def test_a_span_wants_a_function_before_there_are_calls(gdb, tmp_path):
    run = gdb(build("calls.c"), "cstrace start -from 1.2")
    assert '-from wants a function, not "1.2": no call has a number yet' \
        in run.out
    cstrace(tmp_path, "record", "-o", "t.cst", build("calls.c"))
    for word, line in (("1.99", "no call 1.99 in this trace"),
                       ("7.1", "no thread 7 in this trace"),
                       ("1x", "'1x' is not a call's ID")):
        done = cstrace(tmp_path, "show", "--from", word, "t.cst")
        assert done.status == 2 and line in done.err


# ---- files and modules -----------------------------------------------------


def test_the_functions_of_a_file(shop):
    def files(*words):
        out = cstrace(shop, "show", "--std", *words, "shop.cst").out
        return names(out), NOTE.findall(out)

    everything, _ = files()
    own, note = files("--in", "shop.cc")
    assert 20 < len(own) < len(everything) / 2
    assert note == ["in shop.cc: %d of %d calls" % (
        len(own), int(re.search(r"of (\d+)", note[0])[1]))]
    assert files("--in", "targets/shop.cc")[0] == own
    assert files("--in", "hop.cc")[0] == []
    vectors = files("--in", "stl_vector.h")[0]
    assert vectors and not set(vectors) & {"main"}


def test_the_functions_of_a_module(gdb, tmp_path):
    program = build("shop.cc")
    said = gdb(program, QUIET, "cstrace start -module shop", "run",
               "cstrace show", "cstrace show -module libnosuch",
               "set cstrace module libnosuch", "cstrace show").out
    assert re.search(r"^# module shop: \d+ of", said, re.M)
    assert said.count("no function of the trace is in 'libnosuch'") == 2


# ---- what is left out ------------------------------------------------------


def test_calls_that_are_too_short_are_not_said_to_be_the_librarys(shop):
    for command, what in (("show", "calls"), ("report", "functions")):
        done = cstrace(shop, command, "--min-time", "1000s", "shop.cst")
        assert done.status == 1
        assert done.err == "cstrace: no such %s (min-time 1000s)\n" % what


def test_a_function_that_is_too_deep_is_not_said_to_be_the_librarys(gdb, shop):
    assert cstrace(shop, "save", "shop.cst", "all.jsonl", "--force").status == 0
    calls = read_jsonl(shop / "all.jsonl")
    shallow = {c["name"] for c in calls if c["depth"] < 2}
    name = next(c["name"] for c in calls if c["name"] not in shallow)
    done = cstrace(shop, "report", "--depth", "1", "shop.cst", name)
    assert done == (1, "", "cstrace: no such functions (depth 1)\n")
    run = gdb(build("shop.cc"), "cstrace load %s" % (shop / "shop.cst"),
              "cstrace report -depth 1 " + name, "cstrace start -depth 1",
              "cstrace graph " + name)
    assert run.out.count("no such functions (depth 1") == 2


def test_a_call_of_the_library_says_what_shows_it(gdb, shop):
    """It and all below it are hidden, by no word of the user's."""
    assert cstrace(shop, "save", "--std", "shop.cst", "std.jsonl",
                   "--force").status == 0
    calls = read_jsonl(shop / "std.jsonl")
    callers = {c["parent"] for c in calls}
    number = next(c["id"] for c in calls
                  if c["function"].startswith("std::")
                  and c["id"] not in callers)
    done = cstrace(shop, "show", "shop.cst", number)
    assert done.status == 1
    assert done.err == ("cstrace: no such calls but the C++ library's or "
                        "system headers', which --std shows\n")
    assert cstrace(shop, "show", "--std", "shop.cst", number).out
    said = gdb(build("shop.cc"), "cstrace load %s" % (shop / "shop.cst"),
               "cstrace show " + number, "set cstrace std on",
               "cstrace show " + number).out
    assert said.count("which `set cstrace std on` shows") == 1


def test_each_answer_tells_what_it_leaves_out(gdb, tmp_path):
    run = gdb(build("calls.c"), QUIET, "cstrace start -filter ^spread$", "run",
              "cstrace show", "cstrace report", "cstrace graph",
              "cstrace show -last 2", "cstrace status", "cstrace show -all",
              "cstrace report -format csv")
    told = "filter ^spread$: 6 of 18 calls; -all shows the others"
    assert NOTE.findall(run.out) == [told] * 3
    assert "# with filter ^spread$; -all shows the others\n" in run.out
    assert re.search(r"^shown +filter \^spread\$; `cstrace show -all` has the "
                     "others$", run.out, re.M)


def test_the_librarys_calls_are_counted(shop):
    out = cstrace(shop, "show", "shop.cst").out
    n, n_all, n_std = map(int, re.search(
        r"^# (\d+) of (\d+) calls; (\d+) library calls hidden: --std$",
        out, re.M).groups())
    assert n + n_std == n_all
    exceptions = re.findall(r"^ *\d.* (?:throw|catch) ", out, re.M)
    assert len(exceptions) == 2  # they are no calls
    assert n == len(re.findall(r"^ *\d", out, re.M)) - 2
    assert not re.search(r"^# .* of \d+ calls",
                         cstrace(shop, "show", "--std", "shop.cst").out, re.M)
    report = cstrace(shop, "report", "shop.cst").out
    assert "# %d of %d calls; %d library calls hidden" % (
        n, n_all, n_std) in report


def test_what_record_was_told_is_told_again(tmp_path):
    cstrace(tmp_path, "record", "--from", "pair", "--in", "calls.c",
            "--until", "^down$", "-o", "t.cst", build("calls.c"))
    told = "in calls.c, from pair, until ^down$: 6 of 18 calls; --all shows " \
        "the others"
    for command in "show", "report", "graph":
        done = cstrace(tmp_path, command, "t.cst")
        assert (done.status, NOTE.findall(done.out)) == (0, [told]), command
    assert cstrace(tmp_path, "save", "t.cst", "t.txt").err \
        == "cstrace: %s\n" % told
    assert cstrace(tmp_path, "save", "t.cst", "u.cst").err == ""


def test_gdb_shows_of_a_file_what_it_was_recorded_for(gdb, tmp_path):
    cstrace(tmp_path, "record", "--depth", "1", "-o", "t.cst",
            build("calls.c"))
    run = gdb(None, "cstrace load t.cst", "cstrace show", "cstrace show -all")
    assert NOTE.findall(run.out) \
        == ["depth 1: 1 of 18 calls; -all shows the others"]


# ---- options stand anywhere ------------------------------------------------


def test_options_behind_the_name(gdb, tmp_path):
    run = gdb(build("calls.c"), QUIET, "cstrace start", "run",
              "cstrace show ^spread$ -depth 2", "cstrace show -- -depth",
              "cstrace save t.jsonl -depth 1 -format txt",
              "cstrace show ^spread$ -dpeth 2", "cstrace save -all t.cst")
    assert NOTE.findall(run.out) == ["filter ^spread$, depth 2: 4 of 18 calls"]
    assert "no function matches '-depth'" in run.out
    assert (tmp_path / "t.jsonl").read_text().startswith("# One row")
    assert "cstrace show: no option -dpeth: did you mean -depth?" in run.out
    out = cstrace(tmp_path, "show", "t.cst", "^spread$", "--depth", "2").out
    assert NOTE.findall(out) == ["filter ^spread$, depth 2: 4 of 18 calls"]


# ---- names -----------------------------------------------------------------


def test_a_name_is_itself_before_it_is_a_regex(shop):
    """Whole, then as the last part, then as a regex; between slashes always
    as one, of the name without parameters."""
    def reported(word, *more):
        done = cstrace(shop, "report", "--format", "csv", *more, "shop.cst",
                       word)
        assert done.status == 0, done.err
        return done.out.count("\n") - 1

    n = {word: reported(word) for word in (
        "main", "shop::Shop::total", "total", "tota", "/total/", "serve",
        "shop::Shop::serve", "shop::Shop::serve(shop::Order const&)",
        "/^Shop::/", "shop::Price::operator+")}
    assert n["main"] == n["shop::Shop::total"] == n["total"] == 1
    assert n["shop::Shop::serve(shop::Order const&)"] == 1
    assert n["serve"] == n["shop::Shop::serve"] == 2
    assert n["shop::Price::operator+"] == 1
    assert n["/total/"] >= n["tota"] >= 1 and n["/^Shop::/"] > 4
    assert cstrace(shop, "report", "shop.cst", r"/Order const&\)$/").status == 1


@pytest.mark.parametrize("words, line", [
    (("show", "shop.cst", "tolat"), "'tolat': did you mean Shop::total?"),
    (("report", "shop.cst", "--callers", "mian"), "'mian': did you mean main?"),
    (("graph", "shop.cst", "xyzzy"), "'xyzzy'\n"),
    (("show", "shop.cst", "--from", "mian"), "'mian': did you mean main?")])
def test_a_wrong_name(gdb, shop, words, line):
    done = cstrace(shop, *words)
    assert (done.status, done.out) == (1, "")
    assert "cstrace: no function matches " + line in done.err
    run = gdb(None, "cstrace load %s/shop.cst" % shop, "cstrace " + " ".join(
        w[1:] if w.startswith("--") else w for w in words if w != "shop.cst"))
    assert "no function matches " + line in run.out
    assert run.status == 1 and "#" not in run.out


@pytest.mark.parametrize("option, word, line", [
    ("in", "shpo.cc", "is defined in 'shpo.cc': did you mean shop.cc?"),
    ("in", "xyzzy.rs", "is defined in 'xyzzy.rs'\n"),
    ("module", "libshop", "is in 'libshop': did you mean shop?"),
    ("module", "xyzzy", "is in 'xyzzy'\n")])
def test_a_wrong_file_or_module(gdb, shop, option, word, line):
    line = "no function of the trace " + line
    for command in ("show", "report", "graph"):
        done = cstrace(shop, command, "shop.cst", "--" + option, word)
        assert (done.status, done.out) == (1, "")
        assert "cstrace: " + line in done.err
    run = gdb(None, "cstrace load %s/shop.cst" % shop,
              "cstrace show -%s %s" % (option, word))
    assert run.status == 1 and line in run.out


@pytest.mark.parametrize("option, hint", [
    ("filter", "/this|that/"), ("exclude", "/this|that/"),
    ("until", "/this|that/"), ("in", "one name"), ("module", "one name")])
def test_the_last_of_two_does_not_win_in_silence(gdb, shop, option, hint):
    done = cstrace(shop, "show", "shop.cst", "--" + option, "main",
                   "--%s=serve" % option)
    assert done.status == 2 and "--%s is there twice: " % option in done.err
    assert hint in done.err
    run = gdb(None, "cstrace load %s/shop.cst" % shop,
              "cstrace show -%s main -%s serve" % (option, option))
    assert run.status == 1 and "-%s is there twice: " % option in run.out
    assert hint in run.out


@pytest.mark.parametrize("option, line", [
    ("-until thruogh", "no function matches 'thruogh': did you mean through?"),
    ("-from nosuch", "no function matches 'nosuch'"),
    ("-filter pairr", "no function matches 'pairr': did you mean pair?"),
    ("-exclude /xyz/", "no function matches '/xyz/'"),
    ("-in call.c", "no source file is called 'call.c': did you mean calls.c?"),
    ("-in calls", "no source file is called 'calls': did you mean calls.c?"),
    ("-module libnosuch",
     "no program or library is called 'libnosuch' so far")])
def test_a_wrong_name_before_the_run(gdb, option, line):
    """It is no error: what is loaded later may have it."""
    name, word = option[1:].split()
    line = "cstrace: %s\n" % line
    run = gdb(build("calls.c"), "cstrace start " + option)
    assert run.status == 0 and run.out.endswith(line)
    if name in ("filter", "exclude", "in", "module"):
        run = gdb(build("calls.c"), "set cstrace %s %s" % (name, word))
        assert run.status == 0 and run.out.endswith(line)


@pytest.mark.parametrize("option", [
    "-from pair -until ^down$", "-filter pai", "-exclude leaf", "-in calls.c",
    "-module " + build("calls.c").name, "-filter /^s.*d$/"])
def test_a_right_name_before_the_run(gdb, option):
    run = gdb(build("calls.c"), QUIET, "cstrace start " + option)
    assert run.out.count("cstrace: ") == 1


def test_a_wrong_name_while_it_is_on(gdb):
    run = gdb(build("calls.c"), QUIET, "break pair", "cstrace start", "run",
              "cstrace start -until thruogh", "set cstrace exclude laef",
              "set cstrace filter pair", "set cstrace filter", "continue",
              "cstrace show -depth 1")
    assert run.out.count("no function matches") == 4
    assert run.out.count("'thruogh': did you mean through?") == 2
    assert "\n# no function matches 'laef': did you mean leaf?\n" in run.out


def test_a_wrong_name_that_was_recorded_with(tmp_path):
    def told(*words):
        done = cstrace(tmp_path, *words)
        assert done.status == 0
        return re.findall("no function matches '(.*)'", done.out + done.err)

    program = build("calls.c")
    assert told("record", "--exclude", "dwon", "--until", "xyzzy",
                "--filter", "pair", "-o", "t.cst", program) \
        == ["dwon", "xyzzy"]
    assert told("show", "--all", "--until", "nosuch", "t.cst") == ["nosuch"]
    assert told("report", "--all", "--exclude", "nosuch", "t.cst") \
        == ["nosuch"]
    assert told("save", "--all", "--exclude", "dwon", "t.cst", "t.txt") \
        == ["dwon"]
    # It is one, though it is not called.
    assert told("record", "--exclude", "never", "-o", "t.cst",
                build("alike.cc")) == []


def test_a_live_filter_knows_the_programs_functions(gdb):
    """`p` is none of them: a regex; `pair` is one before it is called."""
    run = gdb(build("calls.c"), "cstrace start -filter pair", "run")
    assert names(run.out) == ["pair", "leaf", "leaf"]
    run = gdb(build("calls.c"), "cstrace start -filter pai -depth 1", "run")
    assert names(run.out) == ["pair"]


ALIKE = ["main", "order_of", "Sum::operator++", "order", "order_of",
         "Sum::operator+"]


@pytest.mark.parametrize("word, gone", [
    ("order", {"order"}), ("Sum::operator+", {"Sum::operator+"}),
    ("operator+", {"Sum::operator+"}), ("order_of(int)", {"order_of"}),
    ("/order/", {"order", "order_of"}), ("rder", {"order", "order_of"})])
def test_a_name_is_itself_before_it_is_called(gdb, tmp_path, word, gone):
    """What begins or ends like it may have been called by then."""
    left = [name for name in ALIKE if name not in gone]
    done = cstrace(tmp_path, "record", "-o", "t.cst", "--exclude", word,
                   build("alike.cc"))
    assert done.status == 0, done.err
    cstrace(tmp_path, "save", "t.cst", "t.jsonl")
    assert [c["name"] for c in read_jsonl(tmp_path / "t.jsonl")] == left
    run = gdb(build("alike.cc"), "cstrace start -exclude '%s'" % word, "run")
    assert names(run.out) == left
    live = cstrace(tmp_path, "live", "--depth", "1", "--filter", word,
                   build("alike.cc"))
    assert set(names(live.out)) == gone
