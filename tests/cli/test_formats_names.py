# SPDX-License-Identifier: MIT
"""Names from a hostile program in the formats of other tools."""

import subprocess

import pytest

from lib_formats import chrome, cstrace, folded, save, speedscope, strict_json
from test_formats import FLAMEGRAPH
from test_robust_names import LONGEST, check_is_plain, nasty_program

assert nasty_program  # a fixture


@pytest.fixture(name="folder")
def recorded_folder(tmp_path, nasty):
    done = cstrace(tmp_path, "record", "-o", "t.cst", "--", nasty)
    assert done.returncode == 0, done.stderr
    return tmp_path


def test_json_has_nothing_but_json(folder):
    events, _ = chrome(save(folder, "t.json"))
    (spans,) = speedscope(save(folder, "t.speedscope")).values()
    names = [e["name"] for e in events]
    assert names == [s.function for s in spans] and len(names) == 7
    assert any(name.startswith("red\x1b[31m") for name in names)
    assert any(name.startswith("q\"uo\\te'%s\xc2") or
               name.startswith("q\"uo\\te'%s\x9b") for name in names)
    assert LONGEST.startswith(names[-1][:4000])
    for name in ("t.json", "t.speedscope", "t.otlp"):
        raw = save(folder, name)
        strict_json(raw)
        assert not set(range(0x20)) - {0x0a} & set(raw)


def test_text_is_printable(folder):
    for name in ("t.folded", "t.callgrind", "t.dot"):
        text = check_is_plain(save(folder, name))
        assert "\\x1b" in text, name
    assert len(folded((folder / "t.folded").read_bytes())) == 7


def test_readers_take_the_names(folder):
    save(folder, "t.dot")
    save(folder, "t.folded")
    save(folder, "t.callgrind")
    for command in (["dot", "-Tsvg", "t.dot"],
                    ["perl", FLAMEGRAPH, "t.folded"],
                    ["callgrind_annotate", "t.callgrind"]):
        done = subprocess.run(command, cwd=folder, capture_output=True)
        assert (done.returncode, done.stderr) == (0, b"")
        assert rb"\x1b[31m" in done.stdout
