# SPDX-License-Identifier: MIT
"""The cstrace command, and small programs recorded with it."""

import os
import subprocess
from typing import NamedTuple

from lib_build import BUILD

CSTRACE = str(BUILD / "cstrace")
# What of the tester's own environment is for the shim.
KEPT = {key: value for key, value in os.environ.items()
        if key == "CSTRACE_CHECK_ENDS"}
LIMIT_S = 240


class Done(NamedTuple):
    status: int
    out: str
    err: str


def command(*words, cwd=None, **options):
    """Runs it as it is; the options are those of subprocess.run()."""
    return subprocess.run([CSTRACE, *map(str, words)], cwd=cwd, text=True,
                          capture_output=True, timeout=LIMIT_S,
                          stdin=subprocess.DEVNULL, **options)


def cstrace(folder, *words, **environment):
    """Runs it in the folder; nobody's settings but those given."""
    done = command(*words, cwd=folder, env={
        "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **KEPT,
        **environment})
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
