# SPDX-License-Identifier: MIT
"""docs/map.md and CONTRIBUTING.md name what is there."""

import re
import subprocess

import pytest

from lib_build import ROOT

MAP = (ROOT / "docs/map.md").read_text()
ROOMS, STEPS = MAP.split("## The path of a record")
STAGES = re.findall(r"^\| .*? \| `(\w+)` \| `([\w./]+)` \|$", STEPS, re.M)
FOLDERS = {folder for row in re.findall(r"^\| (`.*?`) \|", ROOMS, re.M)
           for folder in re.findall(r"`([^`]+)`", row)}
PATH = re.compile(r"`((?:cshim|gdbext|tests|tools|docs|completion|man|page|examples)"
                  r"/[\w./*-]+)`")


def defines(path, function):
    """A definition begins in the first column, or is a line of Python."""
    text = (ROOT / path).read_text()
    if path.endswith(".py"):
        return re.search(r"^ *def %s\(" % function, text, re.M)
    for match in re.finditer(r"^\w[^\n;(]*?\b%s\(" % function, text, re.M):
        if re.match(r"[^;{]*\)\s*\{", text[match.end():]):
            return True
    return False


@pytest.mark.parametrize("function, path", STAGES)
def test_a_stage_of_the_path_is_where_the_map_says(function, path):
    assert defines(path, function)


def test_what_is_not_there_is_noticed():
    assert not defines("cshim/shim/core/chunk.h", "chunk_slot")  # declared only
    assert not defines("cshim/shim/core/chunk.c", "chunk_slo")
    assert not defines("gdbext/session/session.py", "chunk_slot")


def test_the_picture_has_the_stages():
    picture = STEPS.split("```")[1]
    drawn = set(re.findall(r"\w*_\w+", picture))
    assert len(drawn) >= 15
    assert drawn == {name for name,
        path in STAGES if path.endswith((".c", ".h"))}


def test_each_folder_of_the_map_is_there():
    missing = [folder for folder in FOLDERS if not (ROOT / folder).is_dir()]
    assert (len(FOLDERS) > 30, missing) == (True, [])


def test_each_folder_with_sources_is_on_the_map():
    listed = subprocess.run(["git", "ls-files", "cshim", "gdbext"], cwd=ROOT,
                            text=True, capture_output=True, check=False).stdout
    names = listed.split() or [
        str(path.relative_to(ROOT)) for top in ("cshim", "gdbext")
        for path in (ROOT / top).rglob("*.[chp]*")]
    there = {name.rpartition("/")[0] for name in names
             if name.endswith((".c", ".h", ".py"))}
    assert there and there - FOLDERS == set()


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/map.md",
                                  "docs/design.md"])
def test_the_paths_of_a_page_are_there(page):
    text = (ROOT / page).read_text()
    paths = {path for path in PATH.findall(text) if "NAME" not in path}
    assert paths
    assert [path for path in sorted(paths) if not any(ROOT.glob(path))] == []
