# SPDX-License-Identifier: MIT
"""Completion of the command's words: the real bash, without and with the
package bash-completion, and the real zsh, on a terminal."""

import re

import pytest

from lib_build import build
from lib_cstrace import cstrace
from lib_shell import SHELLS, Shell


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("completion")
    for name in ("first.cst", "second.cst", "app.c", "in put.cst", "notes.txt"):
        (folder / name).write_text("")
    (folder / "program").write_text("#!/bin/sh\n")
    (folder / "program").chmod(0o755)
    (folder / "sub").mkdir()
    (folder / "empty").mkdir()
    (folder / "empty/raw.area").write_text("")
    return folder


@pytest.fixture(scope="module")
def calc(folder):
    """A trace with values."""
    cstrace(folder, "record", "--args", "-o", "sub/calc.cst", "--",
            build("../../examples/calc.c"), "1+2")
    return "sub/calc.cst"


@pytest.fixture(scope="module", params=SHELLS)
def shell(request, folder, tmp_path_factory):
    shell = Shell(request.param, folder, tmp_path_factory.mktemp("home"))
    yield shell
    shell.end()


def option_names(command):
    return re.findall(r"^  (--[\w-]+)", cstrace(".", command, "--help").out, re.M)


def command_names():
    text = cstrace(".", "--help").out.partition("Commands:\n")[2]
    return [line.split()[0] for line in text.partition("\n\n")[0].splitlines()]


def test_commands(shell):
    assert shell.offers("cstrace ") == sorted(command_names() + ["help"])
    assert shell.complete("cstrace rep") == "cstrace report"
    assert shell.offers("cstrace help s") == ["sample", "save", "show"]


@pytest.mark.parametrize("command", ["show", "record", "save", "diff"])
def test_all_options_of_a_command_and_no_others(shell, command):
    offers = shell.offers("cstrace %s --" % command)
    assert len(offers) > 5 and offers == sorted(option_names(command))


def test_options_may_stand_behind_the_file(shell):
    assert (shell.complete("cstrace report first.cst --so")
            == "cstrace report first.cst --sort")


def test_values_of_options(shell):
    assert (shell.offers("cstrace report --sort ")
            == ["calls", "function", "max", "mean", "min", "self", "share",
                "size", "total"])
    assert shell.complete(
        "cstrace show --color=a") == "cstrace show --color=auto"
    formats = shell.offers("cstrace save first.cst out --format ")
    assert {"json", "folded", "html"} <= set(formats)


def test_values_are_listed_bare(shell):
    """Without the `--' that zsh puts before an explanation."""
    listed = shell.listed("cstrace report --sort ")
    listed += shell.listed("cstrace report --sort ")  # bash beeps first
    assert not re.search(r"\s--\s", listed)


def test_names_in_a_condition(shell, calc):
    show = "cstrace show %s --where " % calc
    assert shell.complete(show + "'acc") == show + "'accept."
    assert (shell.complete(show + "'result == 3 && acc")
            == show + "'result == 3 && accept.")
    assert shell.complete(show + '"accept.re') == show + '"accept.result'
    listed = shell.listed(show + "'accept.\t")  # bash beeps first
    assert {"accept.c", "accept.result"} <= set(listed.split())


def test_a_value_that_nobody_can_guess(shell):
    assert shell.complete("cstrace show --filter ") == "cstrace show --filter"


def test_traces_are_offered_by_their_ending(shell):
    assert (shell.complete("cstrace show f") == "cstrace show first.cst")
    assert shell.complete("cstrace show app") == "cstrace show app.c"
    offers = [o.rstrip("/") for o in shell.offers("cstrace diff first.cst s")]
    assert offers == ["second.cst", "sub"]


def test_a_trace_alone_is_a_line_of_show(shell):
    assert shell.complete("cstrace fir") == "cstrace first.cst"
    assert (shell.complete("cstrace first.cst --dep")
            == "cstrace first.cst --depth")


def test_a_blank_in_a_name_is_quoted(shell):
    assert shell.complete("cstrace info in") == r"cstrace info in\ put.cst"
    assert shell.complete(r"cstrace info in\ p") == r"cstrace info in\ put.cst"


def test_a_folder_without_traces_offers_what_it_has(shell):
    assert (shell.complete("cstrace show empty/")
            == "cstrace show empty/raw.area")


def test_the_output_is_any_file(shell):
    assert (shell.complete("cstrace save first.cst not")
            == "cstrace save first.cst notes.txt")


@pytest.mark.parametrize("before", [
    "cstrace record ", "cstrace record -- ", "cstrace record -o x.cst --depth 3 ",
    "cstrace gdb --args ", "cstrace gdb -q --args "])
def test_a_program_and_its_arguments(shell, before):
    assert shell.complete(before + "./prog") == before + "./program"
    assert (shell.complete(before + "./program --long no")
            == before + "./program --long notes.txt")


def test_a_program_of_the_path(shell):
    assert shell.complete("cstrace record uname") == "cstrace record uname"
    assert shell.complete("cstrace record cstr") == "cstrace record cstrace"


def test_an_option_behind_the_program_is_not_ours(shell):
    assert (shell.complete("cstrace record ./program --fli")
            == "cstrace record ./program --fli")


def test_a_command_that_is_not_there_offers_nothing(shell):
    assert shell.complete("cstrace nonsense f") == "cstrace nonsense f"
