# SPDX-License-Identifier: MIT
"""Traces of gdbs that died.  A gdb has its trace in a file of the user's cache
folder, under a lock, and removes it when it ends: one without a lock was left."""

from __future__ import annotations

import fcntl
import os
import re
import stat
import time
from typing import NamedTuple, Optional

from .. import locate, temp_folder
from ..ui.console import say
from ..engine import CstraceError
from ..trace import Trace
from ..ui.words import age_text, count

MOST_FILES = 5
MOST_BYTES = 8 << 30
MOST_S = 7 * 24 * 3600
_COMMAND_WIDTH = 60

_OURS = r"(?:.+-(\d+)(?:\.\d+)?\.cst|new-\d+)"  # cache_file.c


def file_name(program: str) -> str:
    """What the file of this gdb's trace is named, without its ending."""
    base = re.sub(r"[^\w+.-]", "_", os.path.basename(program), flags=re.A)
    return "%s-%d" % (base.lstrip(".-")[:64] or "program", os.getpid())


class Leftover(NamedTuple):
    path: str
    pid: int
    written: float  # for the last time
    size: int
    is_reported: bool


def _status(path: str) -> Optional[os.stat_result]:
    """The status of a file of ours that no process has locked."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
                     | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        st = os.fstat(fd)
        if not stat.S_ISREG(st.st_mode) or st.st_uid != os.geteuid():
            return None
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return st
    except OSError:
        return None
    finally:
        os.close(fd)


def _look(path: str) -> Optional[Leftover]:
    name = re.fullmatch(_OURS, os.path.basename(path))
    st = _status(path) if name else None
    if not name or not st:
        return None
    return Leftover(path, int(name[1] or 0), st.st_mtime, st.st_size,
                    not st.st_mode & stat.S_IWUSR)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def _is_worth_it(left: Leftover) -> bool:
    return left.pid != 0 and left.size != 0


def find() -> list[Leftover]:
    """The newest first.  Those that are too old or too many are removed."""
    found: list[Leftover] = []
    for folder in locate.old_caches():
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        found += filter(None, (_look(os.path.join(folder, n)) for n in names))
    kept: list[Leftover] = []
    n_bytes = 0
    for left in sorted(found, key=lambda each: -each.written):
        n_bytes += left.size
        if (not _is_worth_it(left) or len(kept) == MOST_FILES
                or time.time() - left.written > MOST_S
                or (kept and n_bytes > MOST_BYTES)):
            _remove(left.path)
        else:
            kept.append(left)
    return kept


def _contents(left: Leftover) -> Optional[str]:
    """What the trace holds, in words; None: nothing."""
    try:
        trace = Trace.load(left.path)
    except CstraceError as e:
        return "a trace that cannot be read (%s)" % e
    s, command = trace.status(), trace.command()
    trace.free()
    n = s.n_calls + s.n_seeds
    if len(command) > _COMMAND_WIDTH:
        command = command[:_COMMAND_WIDTH - 3] + "..."
    return "%s of %s" % (count(n, "call"), command or "?") if n else None


def _as_word(path: str) -> str:
    """The path as `cstrace load` and a shell accept it."""
    home = os.path.expanduser("~").rstrip("/") + "/"
    if path.startswith(home) and not re.search(r"[\s'\"\\]", path):
        return "~/" + path[len(home):]
    return '"%s"' % path if re.search(r"[\s'\"\\]", path) else path


def _line(left: Leftover) -> Optional[str]:
    contents = _contents(left)
    if contents is None:
        _remove(left.path)
        return None
    return "gdb %d died and left %s, %s old: `cstrace load %s`" % (
        left.pid, contents, age_text(time.time() - left.written),
        _as_word(left.path))


class Leftovers:
    """What this gdb has reported of them."""

    def __init__(self) -> None:
        self._reported: Optional[list[Leftover]] = None  # None: not looked for
        self._is_seen = False

    def tell(self) -> None:
        """Once in a session, in a line: the newest of those that were
        reported to no user."""
        if self._reported is not None:
            return
        self._reported = []
        temp_folder.sweep()
        line = None
        for left in find():
            if left.is_reported:
                continue
            line = line or _line(left)
            if line:
                self._reported.append(left)
        if line:
            more = len(self._reported) - 1
            say(line + ("; %d more: `cstrace load`" % more if more else ""))

    def tell_the_user(self) -> None:
        """Reports them before gdb shows a prompt, where a user is sure to read
        that, and marks them as reported."""
        if self._is_seen:
            return
        self._is_seen = True
        self.tell()
        for left in self._reported or ():
            try:
                os.chmod(left.path, 0o400)
            except OSError:
                pass

    def list(self) -> bool:
        """Prints a line for each; False: there are none."""
        lines = [line for line in map(_line, find()) if line]
        for line in lines:
            say(line)
        return bool(lines)
