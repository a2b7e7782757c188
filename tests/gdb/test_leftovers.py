# SPDX-License-Identifier: MIT
"""A gdb that dies leaves its trace, and the next one tells of it; one that ends
leaves nothing."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import time

import pytest

from lib_build import BUILD, build
from lib_gdb import (command_line, environment, is_left_alone, kill_session,
                     run_gdb, wait_for)
from lib_leftovers import SECOND, held_by, shown, the_file, wait_until_kept
from lib_term import PROMPT, Terminal
from lib_tree import own_sites, tree, tree_of_text

# waits.c, while it waits.
WAITING = tree("""
    main  (open)
      round_trip  waits.c:37  (open)
        quick  waits.c:30
        quick  waits.c:31
        heard  waits.c:32  (open)
    """)

# ends.c, at a breakpoint in end().
AT_END = tree("""
    main  (open)
      middle  ends.c:50  (open)
        leaf  ends.c:43
        end  ends.c:44  (open)
    """)


class Doomed:
    """A gdb in batch mode that we kill.  Its last command waits for ever."""

    def __init__(self, home, program, *commands, args=(), **env):
        self.home = home
        self.log = home / ("log-%d" % time.monotonic_ns())
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                command_line(program, commands + ("shell cat",), args),
                cwd=home, env=environment(home, **env), stdout=log,
                stderr=log, stdin=subprocess.PIPE, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        kill_session(self.process.pid)
        self.process.stdin.close()
        self.process.wait(timeout=240)
        for path in held_by(self.home, self.process.pid):
            path.unlink()

    @property
    def pid(self):
        return self.process.pid

    def said(self):
        return self.log.read_text(errors="replace")

    def kill(self):
        self.process.kill()
        self.process.wait(timeout=240)
        self.process.stdin.close()
        assert is_left_alone(self.pid), self.said()


def start(t):
    t.ask("cstrace start")
    t.send("run\n")
    t.wait("open +\\S+ +heard")


def die(t):
    """Its program dies with it."""
    os.kill(t.session(), signal.SIGKILL)
    assert t.end("") == -signal.SIGKILL


def the_line(text):
    """What is reported of one: the gdb, the calls, whose, and the file, below its
    home."""
    found = re.findall(r"^cstrace: gdb (\d+) died and left (\d+) calls? of "
                       r"(.*), \d+ \w+ old: `cstrace load (.*?)`", text, re.M)
    assert len(found) == 1, text
    return found[0]


def info(path):
    done = subprocess.run([str(BUILD / "cstrace"), "info", str(path)],
                          capture_output=True, text=True, timeout=240,
                          stdin=subprocess.DEVNULL, check=False)
    return done.stderr + done.stdout


def typed(path, home):
    return "~/%s" % path.relative_to(home)


def test_killed_in_mid_run(tmp_path):
    program = build("waits.c")
    with Terminal(tmp_path, program) as t:
        start(t)
        pid = t.session()
        path = wait_until_kept(tmp_path, pid, WAITING)
        assert path.stat().st_mode & 0o777 == 0o600
        die(t)
    with Terminal(tmp_path, program) as t:
        assert the_line(t.seen) == (str(pid), "5", str(program),
                                    typed(path, tmp_path))
        assert "5 calls in 1 thread" in t.ask("cstrace load " +
                                              typed(path, tmp_path))
        assert own_sites(tree_of_text(t.ask("cstrace show"))) == WAITING
    with Terminal(tmp_path, program) as t:
        assert "died" not in t.seen + t.ask("cstrace start")
        # It is reported once, and listed as long as it is there.
        assert the_line(t.ask("cstrace load"))[3] == typed(path, tmp_path)
        path.unlink()
        assert "which file?" in t.ask("cstrace load")


def test_killed_at_a_stop_it_says_that_the_file_was_cut(gdb, tmp_path):
    with Doomed(tmp_path, build("ends.c"), "break end", "cstrace start",
                "run") as d:
        path = wait_until_kept(tmp_path, d.pid, AT_END)
        d.kill()
        run = gdb(build("ends.c"), "cstrace start", "cstrace load %s" % path,
                  "cstrace show", "cstrace info")
        again = gdb(build("ends.c"), "cstrace start")
        assert the_file(tmp_path, d.pid) == path
    assert the_line(run.out)[0] == str(d.pid)
    assert "4 calls in 1 thread" in run.out and "was cut short" in run.out
    assert own_sites(tree_of_text(run.out)) == AT_END
    assert re.search(r"^module +\S*/ends\b.*, build-id \w+$", run.out, re.M)
    # Nobody may have read the first one's output.
    assert the_line(again.out)[0] == str(d.pid)


def test_gdbs_own_internal_error(gdb, tmp_path):
    """gdb goes through exit() then, but not in order."""
    with Doomed(tmp_path, build("ends.c"), "maint set internal-error quit yes",
                "maint set internal-error corefile no", "break end",
                "cstrace start", "run", "shell read line",
                "maint internal-error") as d:
        path = wait_until_kept(tmp_path, d.pid, AT_END)
        d.process.stdin.write(b"go on\n")
        d.process.stdin.flush()
        d.process.wait(timeout=240)
        run = gdb(None, "cstrace load %s" % path, "cstrace show")
    assert own_sites(tree_of_text(run.out)) == AT_END


def test_killed_while_it_saves(gdb, tmp_path):
    with Doomed(tmp_path, build("crew.c"), "set cstrace live off",
                "cstrace start", "run", "cstrace save t.jsonl",
                args=[8, 100000]) as d:
        saved = tmp_path / "t.jsonl"  # if it comes to that
        wait_for(lambda: list(tmp_path.glob("*.tmp")) or saved.exists(),
                 "the save")
        d.kill()
        assert not saved.exists() or saved.read_text().count("\n") == 2400009
        path = the_file(tmp_path, d.pid)
        run = gdb(None, "cstrace load %s" % path, "cstrace status")
    assert "was cut short" not in run.out
    assert re.search(r"calls +2400009 \(0 open", run.out)


def test_names_are_there_without_a_stop(tmp_path):
    """gdb was not asked for them yet: the command finds them itself."""
    with Doomed(tmp_path, build("robust_crowd.c"), "set cstrace live off",
                "cstrace start", "run", args=["calls", 2000]) as d:
        wait_for(lambda: "leaf" in "".join(
            shown(path, "--last", "3") for path in held_by(tmp_path, d.pid)),
            "some calls")
        d.kill()
        path = the_file(tmp_path, d.pid)
        last = shown(path, "--last", "3", "--depth", "0")
        told = info(path)
    assert "was cut short" in told and "lost        none" in told
    assert re.search(r"leaf  robust_crowd\.c:\d+", last), last


def test_past_the_limit_it_is_told_what_was_not_kept(tmp_path):
    with Doomed(tmp_path, build("robust_crowd.c"), "set cstrace live off",
                "set cstrace limit 100K", "cstrace start", "run",
                args=["calls", 2000]) as d:
        def dropped():
            found = [re.search(r"(\d+) calls not kept \(size limit\)",
                               info(path))
                     for path in held_by(tmp_path, d.pid)]
            return int(found[0][1]) if found and found[0] else 0

        wait_for(lambda: dropped() > 0, "the limit")
        first = dropped()
        wait_for(lambda: dropped() > first, "more")
        d.kill()
        assert the_file(tmp_path, d.pid).stat().st_size < 300 << 10


def test_two_gdbs_at_once(gdb, tmp_path):
    commands = ("break end", "cstrace start", "run")
    with Doomed(tmp_path, build("ends.c"), *commands) as first:
        one = wait_until_kept(tmp_path, first.pid, AT_END)
        with Doomed(tmp_path, build("ends.c"), *commands) as second:
            wait_until_kept(tmp_path, second.pid, AT_END)
            assert "died" not in first.said() + second.said()
            first.kill()
            run = gdb(None, "cstrace load")
            assert the_line(run.out)[3] == typed(one, tmp_path)
            # What is held is not left, but can be looked at.
            two = the_file(tmp_path, second.pid)
            run = gdb(None, "cstrace load %s" % two, "cstrace show")
            assert own_sites(tree_of_text(run.out)) == AT_END
            second.kill()
            run = gdb(None, "cstrace start")
            assert run.out.count("died and left") == 1
            assert "; 1 more: `cstrace load`" in run.out


def test_a_closed_terminal_leaves_it_as_well(tmp_path):
    with Terminal(tmp_path, build("waits.c")) as t:
        start(t)
        pid = t.session()
        t.hang_up()
    path = the_file(tmp_path, pid)
    try:
        with Terminal(tmp_path, build("waits.c")) as t:
            assert the_line(t.seen)[3] == typed(path, tmp_path)
            assert "cut short" not in t.ask("cstrace load %s" % path)
            # The program's input has ended, too: it may have come to its end.
            seen = own_sites(tree_of_text(t.ask("cstrace show")))
            assert seen.replace("  (open)", "") == WAITING.replace("  (open)",
                                                                   "")
    finally:
        path.unlink()


# ---- nothing is left ---------------------------------------------------------


def quit_it(t):
    t.interrupt()
    t.wait("SIGINT", PROMPT)
    t.end()


def terminate_it(t):
    os.kill(t.session(), signal.SIGTERM)
    t.end("")


def end_its_input(t):
    t.interrupt()
    t.wait("SIGINT", PROMPT)
    t.send("\x04")
    t.end("y")


@pytest.mark.parametrize("end", [quit_it, terminate_it, end_its_input])
def test_an_orderly_end_leaves_nothing(tmp_path, end):
    with Terminal(tmp_path, build("waits.c")) as t:
        start(t)
        pid = t.session()
        wait_until_kept(tmp_path, pid, WAITING)
        end(t)
    assert held_by(tmp_path, pid) == []


def test_a_trace_that_is_not_wanted_has_no_file(tmp_path):
    with Terminal(tmp_path, build("ends.c")) as t:
        pid = t.session()
        t.ask("cstrace start")
        t.ask("run")
        assert the_file(tmp_path, pid)
        assert "replaces the old one" in t.ask("run")
        assert the_file(tmp_path, pid)
        t.ask("cstrace save t.cst")
        t.ask("cstrace clear")
        assert held_by(tmp_path, pid) == []
        t.ask("run")
        assert held_by(tmp_path, pid) != []
        t.ask("cstrace load t.cst")
        assert held_by(tmp_path, pid) == []
    assert (tmp_path / "t.cst").exists()


# ---- where it cannot be ------------------------------------------------------


@pytest.mark.parametrize("obstacle", ["a link", "a file"])
def test_a_folder_that_is_none_is_left_alone(gdb, tmp_path, obstacle):
    others = tmp_path / "others"
    others.mkdir()
    cache = tmp_path / ".cache"
    cache.mkdir()
    if obstacle == "a link":
        (cache / "cstrace").symlink_to(others)
    else:
        (cache / "cstrace").write_text("here")
    with Doomed(tmp_path, build("ends.c"), "break end", "cstrace start",
                "run", CSTRACE_CACHE="") as d:
        path = wait_until_kept(tmp_path, d.pid, AT_END)
        assert path.parent == SECOND
        d.kill()
        run = gdb(None, "cstrace load", CSTRACE_CACHE="")
        assert "gdb %d died and left 4 calls" % d.pid in run.out
    assert os.listdir(others) == [] and os.listdir(cache) == ["cstrace"]


def test_no_home_is_made(tmp_path):
    home = tmp_path / "none"
    with Doomed(tmp_path, build("ends.c"), "break end", "cstrace start",
                "run", CSTRACE_CACHE="", XDG_CACHE_HOME="",
                HOME=str(home)) as d:
        assert wait_until_kept(tmp_path, d.pid, AT_END).parent == SECOND
    assert not home.exists()


def test_without_a_folder_it_records_as_ever(gdb, tmp_path):
    run = gdb(build("ends.c"),
              "set cstrace live off", "break end", "cstrace start", "run",
              "cstrace show", CSTRACE_CACHE="not/absolute")
    assert own_sites(tree_of_text(run.out)) == AT_END
    assert not (tmp_path / ".cache").exists()


# ---- bounds ------------------------------------------------------------------


@pytest.fixture(name="one")
def one_leftover(tmp_path):
    with Doomed(tmp_path, build("ends.c"), "break end", "cstrace start",
                "run") as d:
        path = wait_until_kept(tmp_path, d.pid, AT_END)
        d.kill()
        yield path


def left(path, pid, age_s):
    """Another like that."""
    copy = path.parent / ("made-%d.cst" % pid)
    shutil.copyfile(path, copy)
    at = time.time() - age_s
    os.utime(copy, (at, at))
    return copy


def test_only_the_newest_stay_and_not_for_ever(tmp_path, gdb, one):
    files = [left(one, 100 + hours, 3600 * hours) for hours in range(1, 8)]
    run = gdb(None, "cstrace load")
    assert re.findall(r"gdb (\d+) died", run.out)[1:] == [
        "101", "102", "103", "104"]
    assert "3 hours old" in run.out
    assert [path.exists() for path in files] == [True] * 4 + [False] * 3
    os.utime(files[3], (0, 0))
    run = gdb(None, "cstrace load")
    assert run.out.count("died") == 4 and not files[3].exists()
    for path in files[:3]:
        path.unlink()


def test_only_what_is_ours_goes(tmp_path, gdb, one):
    """Nor what is held, whatever its age."""
    old = {name: one.parent / name for name in (
        "mine.cst", "notes.txt", "x-12.cst.bak", "held-13.cst")}
    for path in old.values():
        shutil.copyfile(one, path)
        os.utime(path, (0, 0))
    (one.parent / "far-14.cst").symlink_to(old["notes.txt"])
    empty = one.parent / "empty-15.cst"
    empty.touch()
    with open(old["held-13.cst"], "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        run = gdb(None, "cstrace load")
    assert the_line(run.out)[3] == typed(one, tmp_path)
    assert all(path.exists() for path in old.values())
    assert not empty.exists()


def test_what_cannot_be_read_is_told_all_the_same(gdb, one):
    one.write_bytes(b"no trace at all")
    run = gdb(None, "cstrace start")
    assert "left a trace that cannot be read" in run.out


def test_a_path_with_a_blank_can_be_typed_back(tmp_path):
    home = tmp_path / "my home"
    home.mkdir()
    with Doomed(home, build("ends.c"), "break end", "cstrace start",
                "run") as d:
        path = wait_until_kept(home, d.pid, AT_END)
        d.kill()
        run = run_gdb(home, None, "cstrace load")
        word = the_line(run.out)[3]
        assert word == '"%s"' % path
        run = run_gdb(home, None, "cstrace load " + word)
    assert "4 calls in 1 thread" in run.out
