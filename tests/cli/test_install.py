# SPDX-License-Identifier: MIT
"""make install, pip install: what is put where, that it works there, and that
uninstalling takes exactly that away."""

import os
import subprocess
import sys

import pytest

TOP = os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))

SOURCE = """
#include <cstrace/cstrace.h>
static int leaf(int n) { return n + 1; }
int main(void) { return leaf(1) - 2; }
"""

JUMP = """
#include <setjmp.h>
#include <stdlib.h>
static jmp_buf env;
static void leave(void) { longjmp(env, 1); }
static int compare(const void *a, const void *b) { return a < b; }
int main(void)
{
	int numbers[2] = {1, 2};
	if (!setjmp(env)) leave();
	else qsort(numbers, 2, sizeof(*numbers), compare);
	return 0;
}
"""

TRACE = ["-ex", "cstrace start", "-ex", "run"]


def run(*words, status=0, **options):
    environment = dict(os.environ)
    # They come from the make that may run this test.
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES"):
        environment.pop(name, None)
    done = subprocess.run(
        list(map(str, words)),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        timeout=240,
        env=environment,
        **options,
    )
    assert done.returncode == status, done.stdout
    return done.stdout


def files_below(folder):
    return sorted(
        os.path.relpath(os.path.join(where, name), folder)
        for where, _, names in os.walk(folder)
        for name in names
    )


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """Installed once; with a blank in its name, as home folders may have."""
    prefix = tmp_path_factory.mktemp("in stalled")
    run("make", "install", f"PREFIX={prefix}", cwd=TOP)
    return prefix


@pytest.fixture(scope="module")
def app(tmp_path_factory, prefix):
    folder = tmp_path_factory.mktemp("app")
    (folder / "app.c").write_text(SOURCE)
    run(
        *("gcc", "-g", "-finstrument-functions", f"-I{prefix}/include"),
        *("app.c", "-o", "app"),
        cwd=folder,
    )
    return folder / "app"


def test_the_installed_command_traces(prefix, app):
    text = run(
        *(prefix / "bin/cstrace", "gdb", "-q", "-nx", "-batch"),
        *(*TRACE, "--args", app),
        cwd="/",
    )
    assert "leaf" in text and "exited normally" in text


def test_what_shells_and_man_look_for_is_in_place(prefix):
    share = prefix / "share"
    assert (share / "man/man1/cstrace.1").is_file()
    assert (share / "man/man3/cstrace.h.3").is_file()
    assert (share / "bash-completion/completions/cstrace").is_file()
    assert (share / "zsh/site-functions/_cstrace").is_file()


def test_the_installed_loader_traces(prefix, app):
    loader = prefix / "lib/cstrace/cstrace.py"
    text = run("gdb", "-q", "-nx", "-batch", "-x", loader, *TRACE, app, cwd="/")
    assert "leaf" in text and "exited normally" in text


def test_the_installed_loader_finds_the_command(prefix, app):
    text = run(
        *("gdb", "-q", "-nx", "-batch", "-x"),
        *(prefix / "lib/cstrace/cstrace.py", "-ex", "cstrace check", app),
        cwd=app.parent,
    )
    assert "./app can be traced: " in text


@pytest.mark.parametrize("how", [["-lcstrace"], ["-l:libcstrace.a"]])
def test_a_program_linked_with_the_shim_runs_and_is_traced(prefix, app, how):
    linked = app.parent / "linked"
    run(
        *("gcc", "-g", "-finstrument-functions",
          f"-I{prefix}/include", "app.c"),
        *("-o", linked, f"-L{prefix}/lib", *how, f"-Wl,-rpath,{prefix}/lib"),
        cwd=app.parent,
    )
    assert run(linked) == ""
    loader = prefix / "lib/cstrace/cstrace.py"
    text = run("gdb", "-q", "-nx", "-batch", "-x", loader, *TRACE, linked)
    assert "leaf" in text and "exited normally" in text


def test_a_static_program_tells_its_jumps(prefix, tmp_path):
    """The shim is linked first here, as by LDFLAGS: no order is asked for."""
    (tmp_path / "jump.c").write_text(JUMP)
    command = prefix / "bin/cstrace"
    run(
        *("gcc", "-static", "-g", "-finstrument-functions"),
        *(f"-L{prefix}/lib", "-lcstrace"),
        f"-Wl,@{prefix}/lib/cstrace/static.opts",
        *("jump.c", "-o", "jump"),
        cwd=tmp_path,
    )
    run(command, "record", "-o", "jump.cst", "./jump", cwd=tmp_path)
    rows = run(command, "show", "jump.cst", cwd=tmp_path).splitlines()
    at = {name: row.index(name) for row in rows
          for name in ("main", "leave", "compare") if name in row}
    assert at["leave"] == at["compare"] == at["main"] + 2


def test_uninstall_takes_away_exactly_what_install_put_there(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/other").write_text("somebody else's")
    run("make", "install", "DESTDIR=", f"PREFIX={tmp_path}", cwd=TOP)
    run(tmp_path / "bin/cstrace", "gdb", "-nx", "-batch")
    run("make", "uninstall", f"PREFIX={tmp_path}", cwd=TOP)
    assert files_below(tmp_path) == ["lib/other"]
    assert os.listdir(tmp_path) == ["lib"]
    assert os.listdir(tmp_path / "lib") == ["other"]


def test_uninstall_leaves_no_folder_of_its_own(tmp_path):
    prefix = tmp_path / "in stalled"
    for _ in range(2):
        run("make", "install", "DESTDIR=", f"PREFIX={prefix}", cwd=TOP)
    run("make", "uninstall", f"PREFIX={prefix}", cwd=TOP)
    assert os.listdir(tmp_path) == []


def test_uninstall_leaves_the_folders_that_were_there(tmp_path):
    kept = tmp_path / "share/man/man1"
    kept.mkdir(parents=True)
    run("make", "install", "DESTDIR=", f"PREFIX={tmp_path}", cwd=TOP)
    (tmp_path / "include/other.h").write_text("")
    run("make", "uninstall", f"PREFIX={tmp_path}", cwd=TOP)
    assert sorted(os.listdir(tmp_path)) == ["include", "share"]
    assert os.listdir(kept) == []
    assert files_below(tmp_path) == ["include/other.h"]


def test_a_staged_tree_may_be_moved(tmp_path):
    stage = tmp_path / "stage"
    run("make", "install", f"DESTDIR={stage}", "PREFIX=/usr", cwd=TOP)
    os.rename(stage / "usr", tmp_path / "moved")
    run(tmp_path / "moved/bin/cstrace", "gdb", "-nx", "-batch", "-ex", "cstrace")
    assert os.path.exists(tmp_path / "moved/lib/libcstrace.so")


def test_pip_install_puts_the_same_in_place(tmp_path, app, prefix):
    python = tmp_path / "bin/python"
    run(
        *(sys.executable, "-m", "venv", "--system-site-packages"),
        *("--without-pip", tmp_path),
    )
    run(
        *(python, "-m", "pip", "install", "--no-build-isolation", "--no-deps"),
        *("--no-index", TOP),
    )
    for name in files_below(prefix / "lib/cstrace"):
        if name != "installed.txt" and "__pycache__" not in name:
            assert (tmp_path / "lib/cstrace" / name).exists()
    for name in files_below(prefix / "share"):
        assert (tmp_path / "share" / name).exists()
    text = run(
        *(tmp_path / "bin/cstrace", "gdb", "-q", "-nx", "-batch"),
        *(*TRACE, "--args", app),
    )
    assert "leaf" in text and "exited normally" in text
    run(python, "-m", "pip", "uninstall", "-y", "cstrace")
    assert not (tmp_path / "lib/cstrace/cstrace.py").exists()
