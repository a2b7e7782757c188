# SPDX-License-Identifier: MIT
"""tools/words finds comments that lean on something outside themselves."""

import subprocess

import pytest

from lib_build import ROOT


def words(*paths):
    """What tools/words prints of these files, or of all, and its status."""
    done = subprocess.run([ROOT / "tools" / "words", *paths], cwd=ROOT,
                          text=True, capture_output=True, timeout=60,
                          check=False)
    assert done.stderr == ""
    return done.stdout.splitlines(), done.returncode


def test_the_code_is_in_plain_words():
    assert words() == ([], 0)


@pytest.mark.parametrize("beginning", [
    "The same", "Of", "As", "By", "Those", "Whose", "Who"])
def test_a_comment_without_a_subject(tmp_path, beginning):
    planted = tmp_path / "planted.h"
    planted.write_text("/* SPDX-License-Identifier: MIT\n *\n * A header.\n"
                       f" */\n\n/* {beginning} one that is\n * there. */\n")
    assert words(planted) == (
        [f'{planted}:6: a comment begins with "{beginning}"'], 1)


def test_the_beginning_of_a_file(tmp_path):
    planted = tmp_path / "planted.c"
    planted.write_text("/* SPDX-License-Identifier: MIT\n *\n * Of it.\n */\n")
    assert words(planted) == (
        [f'{planted}:1: a comment begins with "Of"'], 1)


def test_a_banned_word(tmp_path):
    planted = tmp_path / "planted.c"
    planted.write_text("/* It is locked, lest\n * it ends in some\n"
                       " * ms. */\nint i;\n")
    assert words(planted) == ([f'{planted}:1: "lest" in a comment',
                               f'{planted}:1: "some ms" in a comment'], 1)


def test_a_docstring(tmp_path):
    planted = tmp_path / "planted.py"
    planted.write_text('def f():\n    """As g()."""\n')
    assert words(planted) == (
        [f'{planted}:2: a comment begins with "As"'], 1)


def test_a_number_between_the_banned_words(tmp_path):
    planted = tmp_path / "planted.cc"
    planted.write_text("int i;\n// It takes\n// some 20 ms, as he said.\n")
    assert words(planted) == ([f'{planted}:2: "some 20 ms" in a comment',
                               f'{planted}:2: "said" in a comment'], 1)


def test_comments_of_python(tmp_path):
    planted = tmp_path / "planted.py"
    planted.write_text('a = "# Of"\n# Whoever is\n# told apart\n'
                       "b = 1  # As told\n")
    assert words(planted) == (
        [f'{planted}:2: "Whoever" in a comment',
         f'{planted}:4: a comment begins with "As"',
         f'{planted}:4: "told" in a comment'], 1)


def test_a_page(tmp_path):
    planted = tmp_path / "planted.md"
    planted.write_text("# As ever\n\n```text\nlest it is said\n```\n\n"
                       "A word, `said`, that\nit is told.\n")
    assert words(planted) == ([f'{planted}:7: "told" on a page'], 1)


def test_what_is_no_comment(tmp_path):
    planted = tmp_path / "planted.c"
    planted.write_text('const char *p = "/* Of */ lest";\n'
                       "/* Asks others; the order of whose turns. */\n")
    assert words(planted) == ([], 0)
