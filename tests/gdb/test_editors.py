# SPDX-License-Identifier: MIT
"""The lines of docs/editors.md do what it says."""

import json
import os
import re
import shutil
import subprocess

import pytest

from lib_build import BUILD, ROOT, build
from lib_mi import FrontEnd, said

TEXT = (ROOT / "docs" / "editors.md").read_text()


def block(language, n=0):
    return re.findall(r"```%s\n(.*?)```" % language, TEXT, re.S)[n]


def here(text):
    return text.replace("/opt/cstrace", str(ROOT))


def test_launch_json(tmp_path):
    launch = json.loads(here(block("json")))
    with FrontEnd(tmp_path, None) as f:
        for command in launch["configurations"][0]["setupCommands"]:
            f.ask(command["text"])
        f.ask("-file-exec-and-symbols %s" % build("ends.c"))
        f.send("-exec-run")
        f.until_stop()
        assert 'middle(how="return")  ends.c:50' in said(f.records)


def test_gdbinit(gdb, tmp_path):
    (tmp_path / "init").write_text(here(block("text")))
    run = gdb(build("ends.c"), "source init", "cstrace start", "run",
              loader=None)
    assert 'middle(how="return")  ends.c:50' in run.out


SOURCES = {"app.c": "int main(void) { return 0; }\n",
           "more.cc": "#include <vector>\n"
                      "int main() { return std::vector<int>(1)[0]; }\n"}


def _cmake(sources):
    languages = "C" if len(sources) == 1 else "C CXX"
    text = ("cmake_minimum_required(VERSION 3.10)\nproject(app %s)\n"
            % languages + block("cmake"))
    for name in sources:
        text += "add_executable(%s %s)\n" % (name.partition(".")[0], name)
    return ({"CMakeLists.txt": text},
            "cmake -B out -DCSTRACE=ON . && cmake --build out")


def _meson(sources):
    languages = "'c'" if len(sources) == 1 else "'c', 'cpp'"
    text = "project('app', %s)\n" % languages + block("meson")
    for name in sources:
        text += "executable('%s', '%s')\n" % (name.partition(".")[0], name)
    return ({"meson.build": text, "meson_options.txt": block("text", 1)},
            "meson setup -Dcstrace=true out && ninja -C out")


def _make(sources):
    names = " ".join(name.partition(".")[0] for name in sources)
    return ({"Makefile": block("make")},
            "make CSTRACE=1 %s && mkdir out && mv %s out" % (names, names))


@pytest.mark.parametrize("compiler, sources", [
    ("gcc", ["app.c", "more.cc"]), ("clang", ["app.c", "more.cc"]),
    ("gcc", ["app.c"])], ids=["gcc", "clang", "c"])
@pytest.mark.parametrize("tool", ["cmake", "meson", "make"])
def test_builds(tmp_path, tool, compiler, sources):
    if not shutil.which(tool):
        pytest.skip("no " + tool)
    files, command = globals()["_" + tool](sources)
    for name in sources:
        (tmp_path / name).write_text(SOURCES[name])
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    env = {**os.environ, "CC": compiler,
           "CXX": compiler.replace("gcc", "g++").replace("clang", "clang++")}
    done = subprocess.run(command, shell=True, cwd=tmp_path, text=True,
                          env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    for name in sources:
        program = tmp_path / "out" / name.partition(".")[0]
        shown = subprocess.run(
            [BUILD / "cstrace", "live", program], cwd=tmp_path, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
        assert re.search(r" main( |$)", shown, re.M), shown
