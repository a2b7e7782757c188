# SPDX-License-Identifier: MIT
"""The live tree in front ends that speak gdb's machine interface."""

import re

import pytest

from lib_build import ROOT, TESTS, build
from lib_gdb import wait_for
from lib_mi import FrontEnd, said, stop_of, text_of
from lib_tree import live_tree, own_sites, rows, tree, without_values
from test_reasons import REASONS, behind_the_rows

RECORD_BYTES = 65536
HOOK_SCRIPT = TESTS / "gdb" / "in_gdb_hook.py"

pytestmark = pytest.mark.parametrize("is_async", [True, False],
                                     ids=["async", "sync"])


def test_rows_come_while_the_program_waits(tmp_path, is_async):
    with FrontEnd(tmp_path, build("waits.c"), is_async=is_async) as f:
        f.start()
        seen = f.wait(lambda records: "heard  waits.c:32" in said(records),
                      "rows")
        assert not any(r.startswith(b"*stopped") for r in seen)
        f.type("q\n")
        last = f.until_stop()
        assert "exited-normally" in stop_of(last)
        assert [own_sites(without_values(row.text))
                for row in rows(said(last))] \
            == ["<- heard", "<- round_trip", "<- main"]


def test_rows_come_before_the_stop(tmp_path, is_async):
    with FrontEnd(tmp_path, build("ends.c"), is_async=is_async) as f:
        f.start("main", "end")
        first = f.until_stop()
        assert 'reason="breakpoint-hit"' in stop_of(first)
        second = f.go("-exec-continue")
        assert re.search(r"open +\S+ +end\(how=\"return\"\)  ends.c:44\n\n"
                         "Breakpoint 2, end",
                         said(second))
        # What the engine does at each stop: neither rows nor notes in between.
        asked = f.ask("-stack-list-frames --thread 1 0 1000")
        assert [r for r in asked if r[:1] in b"~&="] == []
        assert own_sites(live_tree(without_values(said(f.records)))) == tree("""
            main  (open)
              middle  ends.c:50  (open)
                leaf  ends.c:43
                end  ends.c:44  (open)
            """)
        assert "end-stepping-range" in stop_of(f.go("-exec-next"))
        assert "function-finished" in stop_of(f.go("-exec-finish"))


def test_front_ends_are_told_of_no_settings(tmp_path, is_async):
    """They show their users what they do not know: =cmd-param-changed."""
    with FrontEnd(tmp_path, build("ends.c"), is_async=is_async) as f:
        f.start("main", "end")
        f.until_stop()
        f.go("-exec-continue")
        f.go("-exec-next")
        assert "leaf" in f.console("cstrace show")
        f.console("cstrace stop")
        f.console("cstrace start -sync")
        f.console("cstrace stop")
        assert not any(r.startswith(b"=cmd-param-changed") for r in f.records)
        assert not any(r.startswith(b"&") and b"leaf" in r for r in f.records)


@pytest.mark.parametrize("how", ["segv", "kill"])
def test_a_signal_is_read_behind_all_rows(tmp_path, is_async, how):
    with FrontEnd(tmp_path, build("many.c"), args=[how],
                  is_async=is_async) as f:
        f.start(before=["set cstrace fold off"])
        last = f.until_stop()
        assert re.match(REASONS[how], behind_the_rows(said(last)))


def test_many_rows_are_many_records(tmp_path, is_async):
    with FrontEnd(tmp_path, build("crew.c"), args=[1, 3000],
                  is_async=is_async) as f:
        f.start(before=["set cstrace fold off"])
        f.until_stop()
        streams = [r for r in f.records if r[:1] == b"~"]
        assert max(map(len, f.records)) <= RECORD_BYTES
        # Each of whole lines, or a front end would show halves.
        for r in streams:
            if "crew.c:" in text_of(r):
                assert text_of(r).endswith("\n")
        shown = f.console("cstrace show")
        assert len(rows(shown)) == 9002
        assert max(map(len, f.records)) <= RECORD_BYTES


def test_nobody_reads_and_the_program_goes_on(tmp_path, is_async):
    """A front end that does not keep up holds up gdb, not the program."""
    end = tmp_path / "end"
    with FrontEnd(tmp_path, build("flood.c"), args=[end, 600000],
                  is_async=is_async) as f:
        f.start(before=["set cstrace fold off"])
        wait_for(end.exists, "the program to come to its end")
        f.until_stop()
        assert " rows not shown; " in said(f.records)
        assert "1600002 calls in 1 thread" in said(f.records)


def test_rows_of_odd_names_fit_their_records(tmp_path, is_async):
    source = tmp_path / "odd.cc"
    source.write_text("""
        #include <cstddef>
        template <char... C> struct text {};
        template <char... C> __attribute__((noinline)) int say(text<C...>)
        { return sizeof...(C); }
        int main() {
            int n = 0;
            for (int i = 0; i < 2000; i++)
                n += say(text<'"', '\\\\', '"', '\\\\', '"', '\\\\'>());
            return n == 0;
        }
        """)
    with FrontEnd(tmp_path, build(source), is_async=is_async) as f:
        f.start(before=["set cstrace live off", "set cstrace fold off"])
        f.until_stop()
        shown = f.console("cstrace show")
        assert len(rows(shown)) == 2001
        assert max(map(len, f.records)) <= RECORD_BYTES


def test_a_pause_in_a_hook_shows_the_users_function(tmp_path, is_async):
    """Front ends ask for the frames, whatever gdb has printed."""
    with FrontEnd(tmp_path, build("many.c"), is_async=is_async) as f:
        f.start("leaf", before=["set cstrace live off",
                                "source %s" % HOOK_SCRIPT])
        f.until_stop()
        f.ask("-break-delete")
        f.console("python stand_in('__cyg_profile_func_exit')")
        f.console("python send('SIGINT')")
        stopped = stop_of(f.go("-exec-continue"))
        assert 'signal-name="SIGINT"' in stopped
        assert 'func="leaf"' in stopped and "many.c" in stopped
        frames = b"".join(f.ask("-stack-list-frames")).decode()
        assert re.search(r'stack=\[frame=\{level="0",[^}]*func="leaf"', frames)
        assert "main" in stop_of(f.go("-exec-next"))


def test_rows_under_microsofts_engine(tmp_path, is_async):
    if not is_async:
        pytest.skip("the engine sets it")
    with FrontEnd(tmp_path, build("shop.cc"), args=[2, 6]) as f:
        f.start_as_engine("shop::Shop::refuse", setup=[
            '-interpreter-exec console "source %s"' % (ROOT / "cstrace.py"),
            '-interpreter-exec console "cstrace start"'])
        n_known = len(f.records)
        stopped = f.go("-exec-continue")
        assert 'func="shop::Shop::refuse"' in stop_of(stopped)
        assert re.search(r"Shop::refuse\(this=.*\)  shop.cc:242\n(.+\n)*\n"
                         "Thread . .+ hit Breakpoint 2, shop::Shop::refuse",
                         said(stopped))
        thread = int(re.search(r'thread-id="(\d+)"', stop_of(stopped))[1])
        asked = f.look_around(thread)
        assert [r for r in asked if r[:1] in b"~&="] == []
        f.ask("-break-delete 2")
        stopped = f.go("-exec-next --thread %d" % thread)
        assert "end-stepping-range" in stop_of(stopped)
        last = f.go("-exec-continue")
        assert 'reason="exited-normally"' in stop_of(last)
        assert "<- main" in said(last)
        assert re.search(r"^cstrace: \d+ calls in 3 threads", said(last), re.M)
        assert not any(r.startswith(b"=cmd-param-changed")
                       for r in f.records[n_known:])


def test_commands_on_a_front_ends_console(tmp_path, is_async):
    """In VS Code's debug console `-exec cstrace show`."""
    with FrontEnd(tmp_path, build("many.c"), args=["no way"],
                  is_async=is_async) as f:
        f.start(before=["set height 10", "set width 40", "set style enabled on",
                        "set cstrace live off", "set cstrace fold off"])
        f.until_stop()
        for command in ("cstrace show", "cstrace show -last 3",
                        "cstrace report", "cstrace graph", "cstrace status",
                        "help cstrace show"):
            answer = f.console(command)
            assert answer.endswith("\n") and "\033" not in answer
            assert "--Type <RET>" not in answer
        assert f.refused("cstrace show nosuch") \
            == "cstrace: no function matches 'nosuch'"
        assert "-nosuch" in f.refused("cstrace show -nosuch")
        told = b"".join(f.ask('-complete "cstrace sho"'))
        assert b'completion="cstrace show"' in told
        told = b"".join(f.ask('-complete "cstrace show lea"'))
        assert b'matches=["cstrace show leaf"]' in told
