# SPDX-License-Identifier: MIT
"""One trace reads the same in gdb and by the command, byte for byte."""

import pytest

from lib_cstrace import cstrace
from lib_formats import formats, record
from lib_gdb import run_gdb

# A line between what two commands wrote.
MARK = "-- next --"

LISTS = [
    ["show"],
    ["show", "even"],
    ["show", "-depth", "2"],
    ["show", "-last", "7"],
    ["show", "-around", "1.20"],
    ["show", "-below", "1.1", "-depth", "3"],
    ["show", "-thread", "2"],
    ["show", "-filter", "even", "-exclude", "leaf"],
    ["show", "-min-time", "1us"],
    ["show", "-all"],
    ["report"],
    ["report", "fib|odd"],
    ["report", "-sort", "calls", "-limit", "3"],
    ["report", "-sort", "self"],
    ["report", "-sort", "max"],
    ["report", "-by", "callsite"],
    ["report", "-callers", "leaf"],
    ["report", "-callees", "^main$"],
    ["report", "-exclude", "fib"],
    ["info"],
]

# What gdb calls a setting is an option of the command.
LOOKS = {
    ("timestamp", "off"): ["--timestamp", "off"],
    ("timestamp", "wall"): ["--timestamp", "wall"],
    ("duration", "off"): ["--no-duration"],
    ("callsite", "off"): ["--no-callsite"],
    ("fold", "on"): ["--fold"],
    ("std", "on"): ["--std"],
}


@pytest.fixture(scope="module", params=["ended", "open"], name="folder")
def recorded(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    record(folder, *(["stop"] if request.param == "open" else []))
    return folder


def same_words(text):
    """What the C++ library's calls are shown by is another word in gdb."""
    return text.replace("`set cstrace std on`", "--std")


def in_gdb(folder, *commands):
    """What each of them wrote, t.cst loaded."""
    words = []
    for command in commands:
        words += ["echo %s\\n" % MARK, command]
    run = run_gdb(folder, None, "cstrace load t.cst", *words)
    return same_words(run.out).split(MARK + "\n")[1:]


def by_command(folder, words):
    done = cstrace(folder, *words)
    assert (done.status, done.err) == (0, ""), done
    return done.out


def spelled(words):
    """-depth is --depth there."""
    return ["-" + word if word.startswith("-") else word for word in words]


def test_show_report_and_info(folder):
    told = in_gdb(folder, *("cstrace " + " ".join(words) for words in LISTS))
    for words, text in zip(LISTS, told, strict=True):
        name, *options = spelled(words)
        # A REGEX comes behind the file.
        mine = by_command(folder, [name, "t.cst", *options])
        assert text == mine, words
        assert mine.count("\n") > 1, words


def test_each_look_of_the_tree(folder):
    told = in_gdb(folder, *(
        "with cstrace %s %s -- cstrace show" % look for look in LOOKS))
    plain = by_command(folder, ["show", "t.cst"])
    for (look, options), text in zip(LOOKS.items(), told, strict=True):
        mine = by_command(folder, ["show", *options, "t.cst"])
        assert text == mine, look
        assert mine != plain or look[0] in ("std", "fold"), look


def contents(path):
    if not path.is_dir():
        return path.read_bytes()
    return {f.name: f.read_bytes() for f in path.iterdir()}


def test_save(folder):
    told = in_gdb(folder, *("cstrace save gdb." + f for f in formats()))
    if "built without it" in "".join(told):
        told.pop(formats().index("html"))
    assert all(" calls saved to gdb." in text for text in told), told
    for name in formats():
        theirs = folder / ("gdb." + name)
        if not theirs.exists() and name == "html":
            continue
        by_command(folder, ["save", "t.cst", "mine." + name])
        assert contents(theirs) == contents(folder / ("mine." + name)), name
