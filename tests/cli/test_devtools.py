# SPDX-License-Identifier: MIT
"""Chrome's JSON, read by what Chrome's DevTools read it with."""

import json
import shutil
import subprocess

import pytest

import lib_npm
from lib_build import TESTS
from lib_formats import chrome, json_lines, save


def devtools(path):
    """Tracks by (pid, tid)."""
    packages = lib_npm.package("@paulirish/trace_engine").parents[2]
    script = shutil.copy(TESTS / "readers" / "devtools.mjs", packages)
    done = subprocess.run(["node", script, path], capture_output=True,
                          timeout=240, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    return {(t["pid"], t["tid"]): t for t in json.loads(done.stdout)}


def parents(tracks):
    """The caller's ID by ID of the call; of one track's first: None."""
    return {c["id"]: c["parent"] for t in tracks.values() for c in t["calls"]}


def test_devtools_see_our_tree(hard_folder):
    events, names = chrome(save(hard_folder, "t.json"))
    tracks = devtools(hard_folder / "t.json")
    assert {key: t["name"] for key, t in tracks.items()} \
        == {key: args["name"] for key, args in names["thread_name"].items()}
    by_id = {e["args"]["id"]: e for e in events}
    for (pid, tid), track in tracks.items():
        for call in track["calls"]:
            e = by_id.pop(call["id"])
            assert (e["pid"], e["tid"], e["name"]) == (pid, tid, call["name"])
            assert call["ts"] * 1000 == pytest.approx(e["ts"], abs=1)
            assert call["dur"] * 1000 == pytest.approx(e["dur"], abs=1)
    assert not by_id
    # Within a track; what a coroutine's stack began is on another one.
    calls = {c["id"]: c for c in json_lines(hard_folder)}
    for call, parent in parents(tracks).items():
        theirs = calls[call]["parent"]
        assert parent == theirs or (parent is None and (
            calls[theirs]["lane"], calls[theirs]["thread"]) != (
            calls[call]["lane"], calls[call]["thread"]))


def test_devtools_lose_calls_that_cross(ended):
    """Or else the other test shows nothing."""
    raw = save(ended, "t.json")
    (ended / "crossed.json").write_bytes(raw.replace(b',"dur":',
                                                     b',"dur":9'))
    assert len(parents(devtools(ended / "crossed.json"))) \
        < len(parents(devtools(ended / "t.json"))) == len(json_lines(ended))
