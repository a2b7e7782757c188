# SPDX-License-Identifier: MIT
"""Packages of npm that tests/readers/package-lock.json names: readers of our
files that are not of our making.  Fetched once for each lock file."""

import fcntl
import functools
import shutil
import subprocess
import time

import pytest

from lib_build import BUILD, TESTS

_FROM = TESTS / "readers"
_FOLDER = BUILD / "readers"
_LIMIT_S = 180


def _fetch():
    """What npm says where it cannot."""
    try:
        done = subprocess.run(
            ["npm", "ci", "--fetch-retries=1", "--fetch-timeout=15000",
             "--loglevel=error"], cwd=_FOLDER, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=_LIMIT_S)
    except subprocess.TimeoutExpired:
        return "it took more than %d s" % _LIMIT_S
    lines = [line for line in done.stdout.splitlines() if "error" in line]
    return "; ".join(lines[:2] or ["?"]) if done.returncode else None


@functools.lru_cache(maxsize=None)
def _why_not():
    """What is in the way, or None."""
    if not shutil.which("npm"):
        return "npm is not installed"
    _FOLDER.mkdir(parents=True, exist_ok=True)
    fetched, failed = _FOLDER / "fetched", _FOLDER / "failed"
    began = time.time()
    lock = (_FROM / "package-lock.json").read_bytes()
    with open(_FOLDER / "lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # the other workers' tests
        if fetched.exists() and fetched.read_bytes() == lock:
            return None
        if failed.exists() and failed.stat().st_mtime >= began:
            return failed.read_text()  # while we waited
        fetched.unlink(missing_ok=True)
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(_FROM / name, _FOLDER)
        why = _fetch()
        if not why:
            fetched.write_bytes(lock)
            return None
        why = "npm could not fetch tests/readers: %s" % why
        failed.write_text(why)
    return why


def package(name):
    """The folder of one; or the test is skipped."""
    why = _why_not()
    if why:
        pytest.skip(why)
    return _FOLDER / "node_modules" / name
