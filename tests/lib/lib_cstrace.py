# SPDX-License-Identifier: MIT
"""The cstrace command, and small programs recorded with it."""

import os
import subprocess
from typing import NamedTuple

from lib_build import BUILD

CSTRACE = BUILD / "cstrace"


class Done(NamedTuple):
    status: int
    out: str
    err: str


def cstrace(folder, *words, **environment):
    """Run it in the folder; nobody's settings but those given."""
    done = subprocess.run(
        [str(CSTRACE), *map(str, words)], cwd=folder, text=True,
        capture_output=True, timeout=240, stdin=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **environment})
    assert "\033" not in done.stdout
    return Done(done.returncode, done.stdout, done.stderr)


def compile_c(folder, name, source):
    (folder / (name + ".c")).write_text(source)
    subprocess.run(["gcc", "-g", "-pthread", "-finstrument-functions",
                    name + ".c", "-o", name], cwd=folder, check=True,
                   timeout=240)


def record(folder, trace, program, *args):
    done = cstrace(folder, "record", "-o", trace, "--", "./" + program, *args)
    assert done.status == 0, done
