# SPDX-License-Identifier: MIT
"""The temporary folders of a cstrace that was killed: the next run removes
them, and those of nobody else."""

import os
import shutil
import subprocess
import threading

import pytest

from lib_build import BUILD
from lib_cstrace import CSTRACE, LIMIT_S

WAITS = r"""
#include <stdio.h>
__attribute__((noinline)) static int heard(int c) { __asm__(""); return c; }
int main(void)
{
	puts("ready");
	fflush(stdout);
	return heard(getchar()) != EOF;
}
"""


@pytest.fixture(name="app")
def an_app(tmp_path):
    (tmp_path / "app.c").write_text(WAITS)
    subprocess.run(["gcc", "-g", "-O1", "app.c", "-o", "app"], cwd=tmp_path,
                   check=True)
    (tmp_path / "tmp").mkdir()
    return tmp_path / "app"


class Running:
    """A process that ends when its standard input does."""

    def __init__(self, app, *words, command=CSTRACE):
        self.folder = app.parent
        self.process = subprocess.Popen(
            [command, *map(str, words)], cwd=self.folder,
            env=environment(app), text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        self.process.stdin.close()
        self.process.stdout.read()  # until the program has ended, too
        self.process.stdout.close()

    def wait(self, word="ready"):
        timer = threading.Timer(LIMIT_S, self.kill)
        timer.start()
        found = any(word in line for line in self.process.stdout)
        timer.cancel()
        assert found
        return self

    def end(self):
        """Returns its output."""
        self.process.stdin.close()
        said = self.process.stdout.read()
        self.process.wait(LIMIT_S)
        return said

    def kill(self):
        self.process.kill()
        self.process.wait(LIMIT_S)


def environment(app):
    folder = str(app.parent / "tmp")
    return dict(os.environ, TMPDIR=folder, XDG_RUNTIME_DIR=folder,
                XDG_CACHE_HOME=str(app.parent / "cache"))


def folders(app):
    return sorted(path.name.rpartition("-")[0]
                  for path in (app.parent / "tmp").iterdir())


def next_run(app):
    done = subprocess.run([CSTRACE, "record", "--force", "-o", "next.cst",
                           str(app)], cwd=app.parent, env=environment(app),
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_of_a_recorder_that_was_killed(app):
    with Running(app, "record", app) as one:
        one.wait()
        next_run(app)
        assert folders(app) == ["cstrace-plans"]  # it lives
        one.kill()
        next_run(app)
        assert folders(app) == ["cstrace-plans"]  # its program lives
    next_run(app)
    assert not folders(app)


def test_of_one_that_was_attached(app):
    with Running(app, command=app) as program:
        program.wait()
        with Running(app, "record", "-p", program.process.pid) as one:
            one.wait("recording")
            next_run(app)
            assert folders(app) == ["cstrace-plans"]
        assert folders(app) == ["cstrace-plans"]
        next_run(app)
        assert not folders(app)
        program.process.stdin.write("x")
        program.process.stdin.close()
        assert program.process.wait(LIMIT_S) == 1


def test_of_a_link_without_blanks(app):
    home = app.parent / "a home"
    home.mkdir()
    for name in ("cstrace", "libcstrace.so", "libcstrace-engine.so"):
        shutil.copy(BUILD / name, home)
    with Running(app, "record", "--force", app,
                 command=home / "cstrace") as one:
        one.wait()
        next_run(app)
        assert folders(app) == ["cstrace-link", "cstrace-plans"]
    next_run(app)
    assert not folders(app)


def orphan(folder):
    """One that looks as if its owner had died."""
    folder.mkdir()
    (folder / ".owner").touch()
    (folder / "file").touch()
    return folder


def test_what_is_none_of_ours_stays(app):
    tmp = app.parent / "tmp"
    elsewhere = orphan(app.parent / "elsewhere")
    (tmp / "cstrace-linked-1").symlink_to(elsewhere)
    (tmp / "cstrace-notes").mkdir()
    (tmp / "cstrace-notes" / "file").touch()
    (tmp / "cstrace-file").touch()
    orphan(tmp / "another")
    owner = orphan(tmp / "cstrace-owner") / ".owner"
    owner.unlink()
    owner.symlink_to(elsewhere / ".owner")
    if os.geteuid() == 0:
        os.chown(orphan(tmp / "cstrace-others"), 1, 1)
    before = sorted(path for path in app.parent.rglob("*")
                    if "tmp" in path.parts or "elsewhere" in path.parts)
    next_run(app)
    assert all(path.exists() for path in before)


def test_links_in_one_of_ours_are_not_followed(app):
    tmp = app.parent / "tmp"
    kept = app.parent / "kept"
    kept.mkdir()
    (kept / "file").touch()
    ours = orphan(tmp / "cstrace-plans-1")
    (ours / "link").symlink_to(kept)
    (ours / "link2").symlink_to(kept / "file")
    next_run(app)
    assert not ours.exists() and (kept / "file").exists()


def test_many_that_sweep_at_once(app):
    for n in range(40):
        orphan(app.parent / "tmp" / ("cstrace-plans-%d" % n))
    with Running(app, "record", "-o", "a.cst", app) as a, \
            Running(app, "record", "-o", "b.cst", app) as b, \
            Running(app, "record", "-o", "c.cst", app) as c:
        for one in (a, b, c):
            one.wait()
        assert folders(app) == ["cstrace-plans"] * 3
        for one in (a, b, c):
            assert "patched 2 functions of app" in one.end()
    assert not folders(app)
