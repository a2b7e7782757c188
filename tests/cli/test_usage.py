# SPDX-License-Identifier: MIT
"""The command's words: its help, and the one line that mends a mistake."""

import re

import pytest

from lib_cstrace import cstrace

COMMANDS = re.findall(r"^  (\w+) +[A-Z]", cstrace(".", "--help").out, re.M)


def told(tmp_path, *words):
    """The one line about bad usage."""
    done = cstrace(tmp_path, *words)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("cstrace") and done.err.count("\n") == 1
    return done.err


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_one_shape(command):
    done = cstrace(".", command, "--help")
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("usage: cstrace %s " % command)
    blank = lines.index("")
    assert re.fullmatch(r"[A-Z].*[^.]\.", lines[blank + 1])
    assert "Examples:" in lines and max(map(len, lines)) <= 80
    if command != "gdb":
        assert lines[lines.index("Options:") + 1].startswith("  --")
        assert "  --help              this text; also -h" in lines


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_asked_for_in_three_ways(command):
    text = cstrace(".", command, "--help").out
    assert cstrace(".", "help", command) == (0, text, "")
    assert cstrace(".", command, "-h") == (0, text, "")


def test_help_alone_lists_the_commands():
    assert len(COMMANDS) >= 8
    assert cstrace(".", "help") == cstrace(".", "--help") == cstrace(".", "-h")


@pytest.mark.parametrize("wrong, right", [
    ("shwo", "show"), ("reprot", "report"), ("rec", "record"),
    ("expct", "expect"), ("--hlep", "--help"), ("--verison", "--version")])
def test_a_command_that_is_near(tmp_path, wrong, right):
    assert told(tmp_path, wrong).endswith("did you mean %s?\n" % right)


def test_help_for_a_command_that_is_near(tmp_path):
    assert "did you mean show?" in told(tmp_path, "help", "sho")


def test_a_file_in_place_of_a_command(tmp_path):
    (tmp_path / "app").write_text("")
    (tmp_path / "app").chmod(0o755)
    assert "did you mean cstrace record ./app?" in told(tmp_path, "./app", "1")


def test_an_option_that_is_near(tmp_path):
    line = told(tmp_path, "show", "--dpeth", "3", "x.cst")
    assert line == "cstrace show: no option '--dpeth': did you mean --depth?\n"
    assert "did you mean --color?" in told(tmp_path, "show", "x", "--colour=on")


def test_an_option_of_another_command(tmp_path):
    assert "one of cstrace report" in told(tmp_path, "show", "--sort=self", "x")


def test_an_option_with_gdbs_single_dash(tmp_path):
    line = told(tmp_path, "show", "x.cst", "-depth", "5")
    assert "'-depth' is spelled --depth here" in line


def test_options_may_be_shortened_while_they_are_clear(tmp_path):
    assert "bad value 'x' for --depth" in told(tmp_path, "show", "--dep=x", "t")
    line = told(tmp_path, "show", "--no", "t")
    assert "which option is '--no'?" in line


@pytest.mark.parametrize("words, part", [
    (["show", "--depth"], "--depth needs a value: --depth N"),
    (["record", "-o"], "-o needs a value"),
    (["show", "--fold=3", "t"], "--fold takes no value"),
    (["show", "--help=3"], "--help takes no value"),
    (["show", "-x", "t"], "no option '-x'"),
    (["report", "--quark"], "no option '--quark': see cstrace report --help"),
    (["report", "--sort", "time", "t"],
     "calls, total, self, mean, min, max, size, function"),
    (["record", "--max-size", "10Q", "x"], "bad value '10Q' for --max-size"),
    (["record", "--on-signal", "USR1", "x"], "--flight"),
    (["record", "-o", "-", "--flight", "1M", "true"], "--flight needs a file"),
    (["record"], "cstrace record [OPTION...] [--] ./app [ARG...]"),
    (["save", "t"], "cstrace save [OPTION...] [FILE.cst] OUT"),
    (["save", "t", "-"], "--format"),
    (["expect", "--make"], "there is no cstrace.cst here"),
    (["info", "a", "b"], "too many arguments")])
def test_other_mistakes(tmp_path, words, part):
    assert part in told(tmp_path, *words)
    assert list(tmp_path.iterdir()) == []


def test_an_option_of_another_command_is_told_with_that(tmp_path):
    own = {command: set(re.findall(
        r"^  (--[a-z-]+)", cstrace(".", command, "--help").out, re.M))
        for command in COMMANDS}
    for option in set.union(*own.values()) - own["list"]:
        found = re.search(r"no option '%s' here: it is one of cstrace (\w+)$"
                          % option, told(tmp_path, "list", option))
        assert found and option in own[found[1]]
