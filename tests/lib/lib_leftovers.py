# SPDX-License-Identifier: MIT
"""What gdbs leave in the cache folders."""

import os
import subprocess
from pathlib import Path

from lib_build import BUILD
from lib_gdb import wait_for
from lib_tree import own_sites, tree_of_text

# cstrace's second choice, where the first is in memory or cannot be had.
SECOND = Path("/var/tmp/cstrace-%d" % os.geteuid())


def held_by(home, pid):
    """The files of this gdb's traces, oldest first."""
    found = [path for folder in (home / ".cache" / "cstrace", SECOND)
             if folder.is_dir() for path in folder.glob("*-%d.*" % pid)]
    return sorted(found, key=lambda path: path.stat().st_mtime)


def the_file(home, pid):
    found = held_by(home, pid)
    assert len(found) == 1, found
    return found[0]


def shown(path, *words):
    """The tree in a file, as the cstrace command reads it; "": it does not."""
    done = subprocess.run([str(BUILD / "cstrace"), "show", *words, str(path)],
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=240, check=False)
    return own_sites(tree_of_text(done.stdout)) if done.returncode == 0 else ""


def wait_until_kept(home, pid, expected):
    """Until the file has this tree; returns it."""
    wait_for(lambda: any(shown(path) == expected
                         for path in held_by(home, pid)), "the trace's file")
    return the_file(home, pid)
