# SPDX-License-Identifier: MIT
"""Bad input is one clear line, without a traceback, and nothing that was
recorded is lost by it."""

import re

import pytest

from lib_build import build
from lib_tree import outcome, read_jsonl

QUIET = "set cstrace live off"
SAVE = ("cstrace save t.txt", "cstrace save t.jsonl")
REGEX = r"bad regex '\S+': .+"
USED = r"use one of txt jsonl cst( \w+)+"

# Command and the one line that answers it, as a regex for the whole line.
ALWAYS = [
    ("cstrace dance", 'cstrace: no command "dance"; there is start, stop, .*'),
    ("cstrace show -bogus", r"cstrace show: no option -bogus; there is -last,"
                            r" .*"),
    ("cstrace sohw", 'cstrace: no command "sohw": did you mean show\\?'),
    ("cstrace show -dpeth 2", r"cstrace show: no option -dpeth: did you mean "
                              r"-depth\?"),
    ("set cstrace filtr x", 'set cstrace: no setting "filtr": did you mean '
                            r"filter\?"),
    ("show cstrace std-on", 'show cstrace: no setting "std-on": did you mean '
                            r"std\?"),
    ("cstrace show -depth x", '-depth wants a number, not "x"'),
    ("cstrace show -depth", "cstrace show: -depth needs a value"),
    ("cstrace show -depth -3", '-depth wants a number, not "-3"'),
    ("cstrace show -depth 99999999999", "-depth: 99999999999 is too much"),
    ("cstrace show -thread x:1", '-thread wants t2 or p2:t1, as in rows, or '
                                 'a number, not "x:1"'),
    ("cstrace show -min-time 5", "-min-time wants a time with its unit.*"),
    ("cstrace report -sort age", "no field 'age': there are calls, .*"),
    ("cstrace save", r"cstrace save: which file\?.*"),
    ("cstrace save t.txt more", 'cstrace save: "more" is too much; .*'),
    ("cstrace save t.txt -format pdf", '-format wants one of .*, not "pdf"'),
    ("cstrace load", r"cstrace load: which file\?"),
    ("cstrace stop now", 'cstrace stop: "now" is too much; .*'),
    ("cstrace clear all", 'cstrace clear: "all" is too much; .*'),
    ("cstrace status -x", "cstrace status: no option -x; there is none"),
    ("set cstrace dance on", 'set cstrace: no setting "dance"; there is .*'),
    ("show cstrace dance", 'show cstrace: no setting "dance"; there is .*'),
    ("set cstrace limit lots", '"lots" is not a size: write 512M, .*'),
    ("set cstrace pool 1", "the pool may have 512K to 1G"),
    ("set cstrace output /nowhere/x", "cannot open /nowhere/x: No such .*"),
    ("set cstrace timestamp noon", 'Undefined item: "noon".'),
]

START = [
    ("cstrace start -bogus", r"cstrace start: no option -bogus; there is .*"),
    ("cstrace start app", 'cstrace start: "app" is too much; .*'),
    ("cstrace start -filter (", REGEX),
    ("cstrace start -exclude [", REGEX),
    ("cstrace start -exclude x{2,1}", REGEX),
    ("cstrace start -min-time soon", "-min-time wants a time with its unit.*"),
    ("cstrace start -to /nowhere/t.txt", "cannot save to /nowhere/t.txt: "
                                         "there is no folder /nowhere"),
    ("cstrace start -to t.pdf", "cannot tell a format from .*t.pdf: .*"),
    ("cstrace start -to", "cstrace start: -to needs a value"),
]

NOTHING = r"nothing is recorded yet: `cstrace start`, then `run`"
BEFORE = [
    ("cstrace show", NOTHING),
    ("cstrace report", NOTHING),
    ("cstrace save t.txt", NOTHING),
    ("cstrace stop", "cstrace is not on: `cstrace start` begins"),
    ("cstrace load nothing.cst", "cannot open 'nothing.cst': No such file .*"),
]

AFTER = [
    ("cstrace start", "cstrace: already on: .*"),
    ("cstrace show (", REGEX),
    ("cstrace report *", REGEX),
    ("cstrace show -around 9.9", "no thread 9 in this trace"),
    ("cstrace show -around 1.99", "no call 1.99: thread 1 made 18 calls"),
    ("cstrace show -around here", "'here' is not a call's ID: .*"),
    ("cstrace show -thread 7", "no thread 7: the trace has 1"),
    ("cstrace show -depth 4294967296", "-depth: 4294967296 is too much"),
    ("cstrace show -min-time 99999999999999s",
     "-min-time: 99999999999999s is too much"),
    ("cstrace save tree", "cannot tell a format from 'tree': " + USED),
    ("cstrace save tree.pdf", "cannot tell a format from 'tree.pdf': " + USED),
    ("cstrace save /nowhere/t.txt", "cannot write '/nowhere/t.txt': No such "
                                    ".*"),
    ("cstrace save . -format txt", "cannot write '.': it is a folder"),
    ("cstrace load nothing.cst", "cannot open 'nothing.cst': No such file .*"),
]


def answers(run, commands):
    """What each command was answered, between the marks of ask()."""
    parts = re.split(r"^@@\d+@@$\n?", run.out, flags=re.M)[1:]
    assert len(parts) == len(commands) + 1
    return [part.rstrip("\n") for part in parts[:-1]]


def ask(commands):
    asked = []
    for i, command in enumerate(commands):
        asked += ["echo @@%d@@\\n" % i, command]
    return asked + ["echo @@%d@@\\n" % len(commands)]


def check(run, cases):
    commands = [command for command, _ in cases]
    for (command, expected), answer in zip(cases, answers(run, commands)):
        assert re.fullmatch("(cstrace: )?(%s)" %
                            expected, answer), "%s: %r" % (command, answer)


def test_before_anything_was_recorded(gdb):
    cases = BEFORE + ALWAYS + START
    run = gdb(build("calls.c"), *ask([c for c, _ in cases]), "cstrace status")
    check(run, cases)
    assert re.search(r"^cstrace +off$", run.out, re.M)


def test_what_was_recorded_survives_bad_input(gdb, tmp_path):
    cases = AFTER + ALWAYS
    run = gdb(build("calls.c"), QUIET, "cstrace start", "run", *SAVE,
              *ask([c for c, _ in cases]), "cstrace save u.jsonl")
    check(run, cases)
    assert outcome(tmp_path).count("\n") == 18
    assert (tmp_path / "t.jsonl").read_bytes() \
        == (tmp_path / "u.jsonl").read_bytes()


def test_bad_input_in_mid_run_disturbs_nothing(gdb, tmp_path):
    cases = [(c, e) for c, e in AFTER
             if "around" not in c and "load" not in c] + ALWAYS
    run = gdb(build("calls.c"), QUIET, "break down if n == 3",
              "cstrace start", "run", *ask([c for c, _ in cases]),
              "continue", *SAVE)
    check(run, cases)
    assert outcome(tmp_path).count("\n") == 18
    assert "(open)" not in outcome(tmp_path)


HOOKLESS = ".* has no -finstrument-functions hooks: compile it with .*"


@pytest.mark.parametrize("commands", [["cstrace start -hooks"],
                                      ["cstrace start -hooks -sync"]], ids=str)
def test_a_program_without_hooks(gdb, commands):
    program = build("calls.c", is_traced=False)
    run = gdb(program, *ask(commands), "run")
    check(run, [(commands[0], HOOKLESS)])
    assert "exited normally" in run.out


def test_a_program_without_hooks_that_runs(gdb):
    program = build("calls.c", is_traced=False)
    run = gdb(program, "break main", "run", *ask(["cstrace start -hooks"]),
              "continue")
    check(run, [("cstrace start -hooks", HOOKLESS)])
    assert "exited normally" in run.out


def test_a_file_that_cannot_be_written_leaves_the_old_one(gdb, tmp_path):
    ours = ("# One row a call, in order of entry, each below and right of its "
            "caller\n")
    (tmp_path / "old.txt").write_text(ours)
    run = gdb(build("calls.c"), QUIET, "cstrace start", "run",
              *ask(["cstrace save old.txt -depth x",
                    "cstrace save old.txt -filter ("]))
    check(run, [("-depth", '-depth wants a number, not "x"'),
                ("-filter", REGEX)])
    assert (tmp_path / "old.txt").read_text() == ours
    assert [p.name for p in tmp_path.iterdir() if p.name != ".cache"] \
        == ["old.txt"]


def recorded(gdb, folder):
    gdb(build("calls.c"), QUIET, "cstrace start", "run",
        "cstrace save good.cst")
    return (folder / "good.cst").read_bytes()


def test_a_file_that_is_no_trace(gdb, tmp_path):
    (tmp_path / "empty.cst").write_bytes(b"")
    (tmp_path / "text.cst").write_text("not a trace\n" * 100)
    run = gdb(None, *ask(["cstrace load empty.cst", "cstrace load text.cst",
                          "cstrace load /"]))
    check(run, [("empty", "'empty.cst' is not a cstrace trace"),
                ("text", "'text.cst' is not a cstrace trace"),
                ("folder", "'/' is not a regular file")])


def test_a_trace_of_another_version(gdb, tmp_path):
    good = recorded(gdb, tmp_path)
    # Eight bytes of magic, then the format's number.
    other = good[:8] + (77).to_bytes(4, "little") + good[12:]
    (tmp_path / "other.cst").write_bytes(other)
    run = gdb(None, *ask(["cstrace load other.cst"]))
    check(run, [("load", "'other.cst' was made by another version "
                         r"\(format 77; this cstrace reads \d+\)")])


def test_a_damaged_trace(gdb, tmp_path):
    good = recorded(gdb, tmp_path)
    places = range(16, len(good), 23)
    for at in places:
        bad = bytearray(good)
        bad[at] ^= 0xFF
        (tmp_path / ("bad%d.cst" % at)).write_bytes(bad)
    run = gdb(None, *ask(["cstrace load bad%d.cst" % at for at in places]))
    one_line = (r"'bad\d+.cst' is damaged: .*|'bad\d+.cst' is not a cstrace "
                r"trace|cstrace: .*bad\d+.cst: 18 calls in .*")
    # A new trace replaces the old one where one was good after all.
    replaced = r"(cstrace: the loaded trace replaces the old one \(.*\)\n)?"
    check(run, [("at %d" % at, replaced + "(%s)" % one_line)
                for at in places])


def test_a_trace_that_was_cut_short_is_good_up_to_there(gdb, tmp_path):
    good = recorded(gdb, tmp_path)
    (tmp_path / "cut.cst").write_bytes(good[:-20])
    run = gdb(None, "cstrace load cut.cst", "cstrace save cut.jsonl",
              "cstrace info")
    assert "; it was cut short" in run.said()[0]
    assert "complete    no: the file was cut short, or is being written" \
        in run.lines()
    assert len(read_jsonl(tmp_path / "cut.jsonl")) == 18


def test_loading_what_is_bad_keeps_what_was_there(gdb, tmp_path):
    (tmp_path / "text.cst").write_text("not a trace\n")
    gdb(build("calls.c"), QUIET, "cstrace start", "run", *SAVE,
        "cstrace load text.cst", "cstrace save u.jsonl")
    assert (tmp_path / "t.jsonl").read_bytes() \
        == (tmp_path / "u.jsonl").read_bytes()


def test_the_size_limit_ends_the_recording_not_the_program(gdb, tmp_path):
    run = gdb(build("oracle.cc"), QUIET, "set cstrace limit 20K",
              "cstrace start", "run", "cstrace status", "cstrace save t.jsonl",
              args=[1, 50000, "log"])
    assert "exited normally" in run.out
    assert any("limit" in line for line in run.said())
    kept = len(read_jsonl(tmp_path / "t.jsonl"))
    assert 0 < kept < len((tmp_path / "log").read_text().splitlines())


def test_no_start_with_a_core_file(gdb):
    run = gdb(build("calls.c"), "break pair", "run", "generate-core-file core",
              "kill", "core-file core", "cstrace start")
    assert run.lines()[-1].endswith("not those of `target core`")
