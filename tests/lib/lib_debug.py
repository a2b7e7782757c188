# SPDX-License-Identifier: MIT
"""libc's debug information as gdb reads it fastest: unpacked and with an index.

Each gdb of the tests reads it, which is a third of what a small test computes.
What is in it stays the same.
"""

import functools
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

USUAL = Path("/usr/lib/debug")
MADE = Path(__file__).resolve().parents[2] / "build/tests/debug"


def _files():
    """The debug files of the libc and the dynamic linker of this process, which
    is the one of most programs, as paths below USUAL."""
    maps = Path("/proc/self/maps").read_text()
    for path in sorted(set(re.findall(r"/\S*/(?:libc\.so\.6|ld-linux\S*)",
                                      maps))):
        notes = subprocess.run(["readelf", "-n", path], capture_output=True,
                               text=True, check=False).stdout
        found = re.search(r"Build ID: (..)(\w+)", notes)
        if found:
            file = Path(".build-id") / found[1] / (found[2] + ".debug")
            if (USUAL / file).exists():
                yield file


def _make(file):
    """Another test may make it at the same time: the last one stays."""
    target = MADE / file
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        made = Path(folder) / target.name
        subprocess.run(["objcopy", "--decompress-debug-sections",
                        str(USUAL / file), str(made)], check=True)
        subprocess.run(["gdb-add-index", str(made)], check=True,
                       capture_output=True)
        os.replace(made, target)


@functools.lru_cache(maxsize=None)
def gdb_words():
    """What gdb's command line needs to read them; nothing where they cannot be
    made."""
    if not shutil.which("gdb-add-index") or not shutil.which("objcopy"):
        return []
    try:
        for file in _files():
            _make(file)
    except (OSError, subprocess.CalledProcessError):
        return []
    return ["-iex", "set debug-file-directory %s:%s" % (MADE, USUAL)]
