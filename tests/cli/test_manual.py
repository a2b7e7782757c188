# SPDX-License-Identifier: MIT
"""The manual page: that it draws, and says all that the command can do."""

import re
import subprocess

import pytest

from lib_build import ROOT
from lib_cstrace import cstrace

PAGE = ROOT / "man/cstrace.1"


def groff(*options):
    done = subprocess.run(["groff", "-ww", "-man", *options, str(PAGE)],
                          text=True, capture_output=True, timeout=240)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture(scope="module")
def text():
    """The page as a terminal shows it, without bold and line breaks."""
    drawn = groff("-Tutf8", "-P-c", "-P-b", "-P-u", "-rLL=200n")
    drawn = re.sub(r"(.)\x08\1|_\x08", r"\1", drawn)
    return re.sub(r"\s+", " ", drawn)


def test_it_draws_without_a_warning():
    assert groff("-Tutf8").count("\n") > 100
    assert "%%EOF" in groff("-Tps")


def test_it_has_the_usual_sections():
    titles = re.findall(r"^\.SH (.*)", PAGE.read_text(), re.M)
    assert titles[:3] == ["NAME", "SYNOPSIS", "DESCRIPTION"]
    assert {"EXIT STATUS", "ENVIRONMENT", "FILES",
        "EXAMPLES", "SEE ALSO"} <= set(titles)


def test_it_has_the_version_of_the_command(text):
    assert cstrace(".", "--version").out.splitlines()[0] in text


def commands():
    return re.findall("^(?!help)[a-z]+", cstrace(".", "--complete", "").out, re.M)


def test_it_has_what_help_says(text):
    for command in commands():
        told = cstrace(".", command, "--help").out
        usage = told.splitlines()[0].removeprefix("usage: ")
        assert text.count(usage) >= 2  # synopsis, and the command's own part
        for name, meaning in re.findall(r"^  (--.*?)  +(.*)", told, re.M):
            assert "%s %s" % (name, meaning) in text
        for example in re.findall(r"^  (cstrace .*)", told, re.M):
            assert example in text
