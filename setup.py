# SPDX-License-Identifier: MIT
"""pip's way to what `make install` does: builds with make, same layout."""

import os
import subprocess
from glob import glob

from setuptools import setup
from setuptools.command.build import build
from setuptools.dist import Distribution
from wheel.bdist_wheel import bdist_wheel

LIBRARIES = [
    "libcstrace.so",
    "libcstrace.a",
    "static.opts",
    "libcstrace-engine.so",
    "libcstrace-sample.so",
]

# Not made where npm is missing.
PAGE = "build/page.html"


class MakeThenBuild(build):
    def run(self) -> None:
        # pip may bring its own PATH; the compiler is make's affair.
        subprocess.check_call(["make", f"-j{os.cpu_count()}", "all"])
        if os.path.exists(PAGE):
            self.distribution.data_files.append(("lib/cstrace", [PAGE]))
        super().run()


class BinaryDistribution(Distribution):
    """Not one for all machines, although no module is compiled for Python."""

    def has_ext_modules(self) -> bool:
        return True


class PlatformWheel(bdist_wheel):
    """A wheel of this machine, for any Python: ours is gdb's, whichever that is."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


def folder_files(top: str, below: str, which: str) -> list[tuple[str, list[str]]]:
    """A folder of the tree as it is there, folder by folder."""
    folders = []
    for folder, _, _ in os.walk(top):
        files = sorted(
            filter(os.path.isfile, glob(os.path.join(folder, which))))
        if files:
            folders.append((os.path.join(below, folder), files))
    return folders


setup(
    cmdclass={"build": MakeThenBuild, "bdist_wheel": PlatformWheel},
    distclass=BinaryDistribution,
    data_files=[
        ("bin", ["build/cstrace"]),
        ("lib/cstrace", ["cstrace.py"] +
         [f"build/{name}" for name in LIBRARIES]),
        ("include/cstrace", sorted(glob("cshim/include/cstrace/*.h"))),
        ("share/doc/cstrace", ["README.md", "CHANGELOG.md", "LICENSE"]),
        *folder_files("docs", "share/doc/cstrace", "*"),
        ("share/man/man1", ["man/cstrace.1"]),
        ("share/man/man3", ["man/cstrace.h.3"]),
        ("share/bash-completion/completions", ["completion/cstrace"]),
        ("share/zsh/site-functions", ["completion/_cstrace"]),
        *folder_files("gdbext", "lib/cstrace", "*.py"),
    ],
)
