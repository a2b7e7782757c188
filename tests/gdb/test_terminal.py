# SPDX-License-Identifier: MIT
"""What the user sees and types at a terminal."""

import re

import pytest

from lib_build import build
from lib_term import PROMPT, Terminal
from lib_tree import own_sites, rows

PAGER = "--Type <RET>"


def test_rows_appear_while_the_program_waits(tmp_path):
    """Nothing ends, no stop: the rows come by themselves."""
    with Terminal(tmp_path, build("waits.c")) as t:
        t.ask("cstrace start")
        t.send("run\n")
        seen = t.wait("open +\\S+ +heard  waits.c:32")
        assert [row.text.split("  ")[0] for row in rows(seen)
                if not row.is_close] == ["main", "round_trip", "quick",
                                         "quick", "heard"]
        t.send("more\n")
        seen = t.wait("<- heard", "open +\\S+ +round_trip", "open +\\S+ +heard")
        t.send("q\n")
        seen = t.wait(PROMPT)
        assert re.search(r"<- round_trip.*<- main.*exited normally", seen,
                         re.S)
        assert "rounds 2" in seen


def test_the_prompt_stands_alone_in_its_line(tmp_path):
    with Terminal(tmp_path, build("calls.c")) as t:
        t.ask("cstrace start")
        t.send("run\n")
        seen = t.wait(PROMPT)
        assert seen.splitlines()[-1] == "(gdb) "
        assert "cstrace: 18 calls in 1 thread" in seen.splitlines()[-2]
        # and nothing comes after it
        assert t.ask("echo x\\n") == "x\n"


def test_a_hook_stop_defined_later_does_not_draw_too_late(tmp_path):
    (tmp_path / "hook.gdb").write_text(
        "define hook-stop\n  echo mine\\n\nend\n")
    with Terminal(tmp_path, build("calls.c")) as t:
        t.ask("cstrace start")
        t.ask("break down")
        t.ask("run")
        t.ask("source hook.gdb")
        seen = t.ask("continue")
        assert re.search(r"open .*down.*mine\n\nBreakpoint 1, down", seen,
                         re.S)
        t.ask("cstrace stop")
        assert t.ask("show user hook-stop") \
            == 'User command "hook-stop":\n  echo mine\\n\n\n'


def test_live_rows_do_not_meet_the_pager(tmp_path):
    with Terminal(tmp_path, build("calls.c"), rows=8,
                  commands=("set height 8",)) as t:
        t.ask("cstrace start")
        t.send("run\n")
        seen = t.wait(PROMPT)
        assert PAGER not in seen
        assert len(rows(seen)) >= 18


def test_show_meets_the_pager_and_can_be_left(tmp_path):
    with Terminal(tmp_path, build("calls.c"), rows=8,
                  commands=("set height 8",)) as t:
        t.ask("set cstrace live off")
        t.ask("cstrace start")
        t.ask("run")
        t.send("cstrace show\n")
        seen = t.wait(PAGER)
        assert 0 < len(rows(seen)) < 9
        t.send("q\n")
        t.wait(PROMPT)
        t.send("cstrace show\n")
        t.wait(PAGER)
        t.send("c\n")
        seen = t.wait(PROMPT)
        assert own_sites(rows(seen)[-1].text) == "leaf  calls.c:53"


def test_ctrl_c_stops_the_program_with_a_whole_tree(tmp_path):
    with Terminal(tmp_path, build("waits.c")) as t:
        t.ask("cstrace start")
        t.send("run\n")
        t.wait("open +\\S+ +heard")
        t.interrupt()
        seen = t.wait("Program received signal SIGINT", PROMPT)
        assert "heard" in t.ask("backtrace")
        shown = rows(t.ask("cstrace show"))
        assert [row.text.split("  ")[0] for row in shown] \
            == ["main", "round_trip", "quick", "quick", "heard"]
        assert [row.is_open for row in shown] \
            == [True, True, False, False, True]
        t.go_on()
        t.send("q\n")
        seen = t.wait("exited normally", PROMPT)
        assert "<- main" in seen


def test_ctrl_c_again_and_again(tmp_path):
    with Terminal(tmp_path, build("spin.c")) as t:
        t.ask("set cstrace live off")
        t.ask("cstrace start")
        t.send("run\n")
        t.wait("ready")
        for _ in range(5):
            t.interrupt()
            t.wait("SIGINT", PROMPT)
            t.go_on()
        t.send("end\n")
        t.wait("spun on", "exited normally", PROMPT)


# A Ctrl-C that comes while one of our own handlers runs: in `continue`, and
# at a breakpoint of the sync mode.
IN_CONTINUE = "gdbext._session", "apply_settings"
AT_A_HIT = "gdbext._session.recording.recorder", "hit"


@pytest.mark.parametrize("start, place", [
    ("cstrace start", IN_CONTINUE), ("cstrace start -sync", AT_A_HIT)])
def test_ctrl_c_in_a_handler_stops_the_program(tmp_path, start, place):
    owner, name = place
    with Terminal(tmp_path, build("spin.c")) as t:
        t.ask("set cstrace live off")
        t.ask(start)
        t.ask("break spin")
        t.ask("run")
        t.ask("python import gdbext, os, signal")
        t.ask("python owner, name = %s, '%s'" % (owner, name))
        t.ask("python old = getattr(owner, name)")
        t.ask("python setattr(owner, name, lambda *a: ("
              "setattr(owner, name, old), os.kill(os.getpid(), "
              "signal.SIGINT), old(*a))[-1])")
        t.send("continue\n")
        seen = t.wait("received signal SIGINT", PROMPT)
        assert "Python Exception" not in seen
        called = rows(t.ask("cstrace show -filter main -depth 2"))
        assert [row.text.split("  ")[0] for row in called] == ["main", "spin"]


def many(tmp_path):
    return Terminal(tmp_path, build("crew.c"), args=[4, 30000],
                    commands=("set height 0", "set cstrace live off"))


def test_ctrl_c_ends_a_long_show(tmp_path):
    with many(tmp_path) as t:
        t.ask("cstrace start")
        t.ask("run")
        t.send("cstrace show\n")
        t.wait("one  crew.c:27")
        t.interrupt()
        seen = t.wait(PROMPT)
        assert len(seen.splitlines()) < 300000
        assert "Traceback" not in seen
        assert "360005 calls" in t.ask("cstrace status").replace(
            "calls      360005", "360005 calls")
        assert len(rows(t.ask("cstrace show -last 3"))) >= 3


def test_ctrl_c_ends_show_at_any_moment(tmp_path):
    with many(tmp_path) as t:
        t.ask("cstrace start")
        t.ask("run")
        for n in range(1, 30):
            t.send("cstrace show\n")
            t.wait(*["one  crew.c:27"] * n)
            t.interrupt()
            t.wait(PROMPT)
        assert "360005" in t.ask("cstrace status")


def test_ctrl_c_ends_a_long_report_or_leaves_it_whole(tmp_path):
    with many(tmp_path) as t:
        t.ask("cstrace start")
        t.ask("run")
        t.send("cstrace report\n")
        t.wait("cstrace report")  # or Ctrl-C would take the words back
        t.interrupt()
        # gdb says nothing of a Ctrl-C that comes just before its prompt.
        t.send("echo and on\\n\n")
        t.wait("\nand on", PROMPT)
        assert "two" in t.ask("cstrace report")


def test_ctrl_c_during_a_save_leaves_no_half_file(tmp_path):
    (tmp_path / "t.txt").write_text("old\n")
    with many(tmp_path) as t:
        t.ask("cstrace start")
        t.ask("run")
        t.send("cstrace save t.txt\n")
        t.wait("save t.txt")  # or Ctrl-C would take the words back
        t.interrupt()
        # gdb says nothing of a Ctrl-C that comes just before its prompt.
        t.send("echo and on\\n\n")
        seen = t.wait("\nand on", PROMPT)
        text = (tmp_path / "t.txt").read_text()
        # What is on its way through the terminal goes with the Ctrl-C.
        if "calls saved" in seen or text != "old\n":
            assert text.count("\n") >= 360005
        names = [p.name for p in tmp_path.iterdir() if p.name != ".cache"]
        assert names == ["t.txt"]


def test_ctrl_c_just_after_a_save_leaves_it_told(tmp_path):
    with Terminal(tmp_path, build("calls.c")) as t:
        t.ask("cstrace start")
        t.ask("run")
        t.ask("python import gdbext.trace, os, signal")
        t.ask("python T = gdbext.trace.Trace; old = T.save")
        t.ask("python T.save = lambda *a: (old(*a), os.kill(os.getpid(), "
              "signal.SIGINT))[0]")
        assert "saved to t.txt" in t.ask("cstrace save t.txt")
        assert "leaf" in t.ask("cstrace show")


@pytest.mark.parametrize("how", ["at the prompt", "stopped", "ended"])
def test_quit(tmp_path, how):
    with Terminal(tmp_path, build("waits.c")) as t:
        t.ask("cstrace start")
        if how != "at the prompt":
            t.send("run\n")
            t.wait("open +\\S+ +heard")
        if how == "stopped":
            t.interrupt()
            t.wait("SIGINT", PROMPT)
        if how == "ended":
            t.send("q\n")
            t.wait(PROMPT)
        assert t.end() == 0


@pytest.mark.parametrize("is_running", [True, False])
def test_a_hang_up_leaves_nobody_behind(tmp_path, is_running):
    with Terminal(tmp_path, build("waits.c")) as t:
        t.ask("cstrace start")
        t.send("run\n")
        t.wait("open +\\S+ +heard")
        if not is_running:
            t.interrupt()
            t.wait(PROMPT)
        t.hang_up()


COMPLETIONS = [
    ("cstrace st", {"cstrace start", "cstrace status", "cstrace stop",
                    "cstrace stop-when"}),
    ("cstrace sh", {"cstrace show"}),
    ("cstrace on visit do s", {"cstrace on visit do " + w for w in (
        "snapshot", "start", "stop")}),
    ("cstrace zoom -o", {"cstrace zoom -off"}),
    ("set cstrace step-report ", {"set cstrace step-report " + w for w in (
        "auto", "off", "10", "30")}),
    ("cstrace start -e", {"cstrace start -exclude"}),
    ("cstrace start -", {"cstrace start -" + o for o in (
        "border", "depth", "exclude", "filter", "flight", "from", "in", "keep-depth",
        "keep-size", "keep-time", "min-time", "module",
        "no-args", "patch", "hooks", "functions", "modules", "size", "sync", "to",
        "until",
        "where")}),
    ("cstrace report -sort ", {"cstrace report -sort " + w for w in (
        "calls", "total", "self", "mean", "min", "max", "size", "share",
        "function")}),
    ("cstrace save -format js", {"cstrace save -format json",
                                 "cstrace save -format jsonl"}),
    ("cstrace show spr", {"cstrace show spread"}),
    ("cstrace start -filter spr", {"cstrace start -filter spread"}),
    ("set cstrace ti", {"set cstrace timestamp"}),
    ("set cstrace timestamp e", {"set cstrace timestamp elapsed"}),
    ("set cstrace sync-method h", {"set cstrace sync-method handshake"}),
    ("show cstrace po", {"show cstrace pool"}),
    ("info cst", {"info cstrace", "info cstrace-log", "info cstrace-on",
                  "info cstrace-stops"}),
]


def test_completion(gdb):
    asked = []
    for words, _ in COMPLETIONS:
        asked += ["echo @@\\n", "complete " + words]
    run = gdb(build("calls.c"), *asked)
    parts = run.out.split("@@\n")[1:]
    for (words, expected), part in zip(COMPLETIONS, parts):
        assert set(part.splitlines()) == expected, words


def test_the_tab_key_completes(tmp_path):
    with Terminal(tmp_path, build("calls.c")) as t:
        t.send("cstrace rep\t-so\tself\n")
        seen = t.wait(PROMPT)
        assert "nothing is recorded yet" in seen
        t.send("cstrace save -format \t\t")
        t.wait("callgrind", "jsonl", "txt")
        t.send("\x15\n")  # clear the line
        t.wait(PROMPT)


def test_min_time_rows_appear_once_a_call_has_lasted(tmp_path):
    with Terminal(tmp_path, build("waits.c")) as t:
        t.ask("cstrace start -min-time 300ms")
        t.send("run\n")
        seen = t.wait("open +\\S+ +heard  waits.c:32")
        assert "quick" not in seen
        t.send("q\n")
        t.wait("exited normally", PROMPT)


def test_colour_on_a_terminal_follows_gdbs_style(tmp_path):
    with Terminal(tmp_path, build("calls.c"), TERM="xterm") as t:
        t.ask("cstrace start")
        assert "\033[2m" not in t.ask("run")
        t.ask("set style enabled on")
        assert "\033[2m" in t.ask("run")


def test_a_log_file_has_the_rows_too(gdb, tmp_path):
    gdb(build("calls.c"), "set logging file log", "set logging enabled on",
        "cstrace start", "run", "set logging enabled off")
    assert len(rows((tmp_path / "log").read_text())) >= 18


def test_rows_to_another_file(gdb, tmp_path):
    run = gdb(build("calls.c"), "set cstrace output rows.txt",
              "cstrace start", "run")
    assert rows(run.out) == []
    assert len(rows((tmp_path / "rows.txt").read_text())) >= 18


def test_help_says_how_each_is_used(gdb):
    listed = re.findall("^cstrace [a-z-]+(?=  )",
                        gdb(None, "cstrace").out, re.M)
    assert len(listed) > 20
    for command in ("cstrace", *listed, "set cstrace", "show cstrace", "info cstrace"):
        run = gdb(None, "help " + command)
        first = run.lines()[0]
        assert first.endswith(".") and first[0].isupper(), command
        if not command.startswith(("set", "show")):
            assert "Usage: %s" % command in run.out, command
