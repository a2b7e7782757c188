# SPDX-License-Identifier: MIT
"""A call during which gdb stopped the program says so: its duration includes
what stopping took, which is more than most calls take."""

import json
import re

import pytest

from lib_build import build, build_library
from lib_folders import ctf_calls
from lib_tree import read_jsonl, rows

STOPPED = {"main", "spread", "pair"}


def marked(text):
    """The functions whose duration bears the mark, and the others."""
    found, others = set(), set()
    for line in text.splitlines():
        for row in rows(line):
            name = row.text.replace("<- ", "").split("  ")[0]
            (found if "* " in line[:26] else others).add(name)
    return found, others


def test_calls_that_are_open_at_a_breakpoint_are_marked(gdb, tmp_path):
    gdb(build("calls.c"), "set cstrace live off", "cstrace start",
        "break pair", "run", "continue", "cstrace save t.txt",
        "cstrace save t.jsonl")
    text = (tmp_path / "t.txt").read_text()
    found, others = marked(text)
    assert found == STOPPED
    assert {"leaf", "down", "compare"} <= others
    assert text.count("# *: gdb stopped the program meanwhile") == 1
    calls = read_jsonl(tmp_path / "t.jsonl")
    assert {c["function"] for c in calls if c.get("stopped")} == STOPPED


def test_sums_and_other_formats_bear_the_mark(gdb, tmp_path):
    run = gdb(build("calls.c"), "set cstrace live off", "cstrace start",
              "break pair", "run", "continue", "cstrace report",
              "cstrace graph", "cstrace save t.json",
              "cstrace save t.otlp.json")
    report, graph = run.out.split("#    CALLS ")[1:]
    for text in (report, graph):
        found = {line.split()[-1] for line in text.splitlines()
                 if "s*" in line}
        assert found == STOPPED
        assert text.count("# *: gdb stopped the program in such a call") == 1
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert {e["name"] for e in events if e["args"].get("stopped")} == STOPPED
    assert (tmp_path / "t.otlp.json").read_text().count(
        '{"key":"cstrace.stopped","value":{"boolValue":true}}') == 3


def test_sums_at_a_breakpoint_bear_the_mark_of_open_calls(gdb):
    """The breakpoint made them longer, though the program has not gone on."""
    run = gdb(build("calls.c"), "set cstrace live off", "cstrace start",
              "break pair", "run", "cstrace report", "cstrace graph")
    for text in run.out.split("#    CALLS ")[1:]:
        found = {line.split()[-1] for line in text.splitlines()
                 if "s*" in line}
        assert found == STOPPED
    # Calls that are open when it has ended were not stopped.
    run = gdb(build("ends.c"), "set cstrace live off", "cstrace start",
              "run", "cstrace report", args=["exit"])
    assert "SHARE" in run.out and "s*" not in run.out


def test_a_mark_does_not_touch_the_next_column(gdb):
    run = gdb(build("calls.c"), "set cstrace live off", "cstrace start",
              "break pair", "run", "cstrace report -filter pair -depth 1")
    assert re.search(r"[mu]s\*  100%  pair$", run.out, re.M)


def test_formats_of_functions_and_folders_bear_the_mark(gdb, tmp_path):
    gdb(build("calls.c"), "set cstrace live off", "cstrace start",
        "break pair", "run", "continue", "cstrace save t.dot",
        "cstrace save t.callgrind", "cstrace save t.ctf")
    dot = (tmp_path / "t.dot").read_text()
    assert set(re.findall(r'label="(\w+)\\n\d+ calls?, [\d.]+ \ws\*',
                          dot)) == STOPPED
    assert r"\n*: gdb stopped the program in such a call" in dot
    assert "\ndesc: Note: gdb stopped the program in some calls" \
        in (tmp_path / "t.callgrind").read_text()
    (calls,) = ctf_calls(tmp_path / "t.ctf").values()
    assert {c.function for c in calls if c.fields["stopped"]} == STOPPED


def test_live_rows_bear_the_mark(gdb):
    run = gdb(build("calls.c"), "cstrace start", "break pair", "run",
              "continue")
    ends = {line.split("<- ")[1]: "* " in line
            for line in run.out.splitlines() if "<- " in line}
    assert {name for name, is_marked in ends.items() if is_marked} == STOPPED
    assert run.out.count("# *: gdb stopped the program meanwhile") == 1


def test_without_a_stop_there_is_no_mark(gdb, tmp_path):
    gdb(build("calls.c"), "cstrace start", "run", "cstrace save t.txt",
        "cstrace save t.jsonl", "cstrace save t.dot",
        "cstrace save t.callgrind")
    text = (tmp_path / "t.txt").read_text()
    assert marked(text)[0] == set() and "# *" not in text
    assert "stopped" not in (tmp_path / "t.jsonl").read_text()
    for name in ("t.dot", "t.callgrind"):
        assert "stopped" not in (tmp_path / name).read_text()


OPENS = r"""
#include <dlfcn.h>
static void *opens(const char *path) { return dlopen(path, RTLD_NOW); }
static int uses(void *library)
{
	return ((int (*)(int))dlsym(library, "plugin_run"))(1);
}
static void closes(void *library) { dlclose(library); }
int main(int argc, char **argv)
{
	void *library = argc > 1 ? opens(argv[1]) : 0;

	if (!library || uses(library) != 2)
		return 1;
	closes(library);
	return 0;
}
"""


@pytest.mark.parametrize("is_traced", [False, True], ids=["patches", "hooks"])
def test_calls_in_which_gdb_looks_at_a_library_are_marked(gdb, tmp_path,
                                                          is_traced):
    """It stops the program for that, without a word."""
    (tmp_path / "opens.c").write_text(OPENS)
    gdb(build(str(tmp_path / "opens.c"), is_traced=is_traced),
        "set cstrace live off", "cstrace start", "run", "cstrace save t.txt",
        args=[build_library("plugin.c", is_traced=is_traced)])
    found, others = marked((tmp_path / "t.txt").read_text())
    assert found == {"main", "opens", "closes"}
    assert {"uses", "plugin_run"} <= others
