# SPDX-License-Identifier: MIT
"""The lines of docs/editors.md do what it says."""

import json
import re
import shutil
import subprocess

import pytest

from lib_build import ROOT, build
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
        assert "middle  ends.c:50" in said(f.records)


def test_gdbinit(gdb, tmp_path):
    (tmp_path / "init").write_text(here(block("text")))
    run = gdb(build("ends.c"), "source init", "cstrace start", "run",
              loader=None)
    assert "middle  ends.c:50" in run.out


def project(folder):
    (folder / "app.c").write_text("int main(void) { return 0; }\n")
    (folder / "more.cc").write_text("int main() { return 0; }\n")


BUILDS = {
    "cmake": lambda: ({"CMakeLists.txt":
                       "cmake_minimum_required(VERSION 3.10)\n"
                       "project(app C CXX)\n" + block("cmake")
                       + "add_executable(app app.c)\n"
                       "add_executable(more more.cc)\n"},
                      "cmake -B out -DCSTRACE=ON . && cmake --build out"),
    "meson": lambda: ({"meson.build": "project('app', 'c', 'cpp')\n"
                       + block("meson") + "executable('app', 'app.c')\n"
                       "executable('more', 'more.cc')\n",
                       "meson_options.txt": block("text", 1)},
                      "meson setup -Dcstrace=true out && ninja -C out"),
    "make": lambda: ({"Makefile": block("make")},
                     "make CSTRACE=1 app more && mkdir out && mv app more out"),
}


@pytest.mark.parametrize("tool", BUILDS)
def test_builds(tmp_path, tool):
    if not shutil.which(tool):
        pytest.skip("no " + tool)
    project(tmp_path)
    files, command = BUILDS[tool]()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    done = subprocess.run(command, shell=True, cwd=tmp_path, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    for name in "app", "more":
        names = subprocess.run(["nm", tmp_path / "out" / name], text=True,
                               capture_output=True).stdout
        assert "__cyg_profile_func_enter" in names
