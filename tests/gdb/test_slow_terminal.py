# SPDX-License-Identifier: MIT
"""Live rows where they cannot be drawn as fast as they come."""

import re

from lib_build import build
from lib_gdb import wait_for
from lib_term import PROMPT, Terminal
from lib_tree import rows

N_STEPS = 60000
N_CALLS = 2 + N_STEPS + N_STEPS // 3 + N_STEPS // 3 * 2 * 2
NOTE = r"# ([\d,]+) rows? not shown; `cstrace show -from (\S+)`\r?\n"
IN_FULL = "set cstrace fold off"


def left_out(text):
    return sum(int(n.replace(",", ""))
               for n, _id in re.findall(NOTE, text))


def drawn(text):
    """Those of calls."""
    return [row for row in rows(re.sub(NOTE, "", text)) if not row.is_close]


def test_nobody_reads_and_the_program_goes_on(tmp_path):
    """What is not shown is counted, and the last rows are there."""
    end = tmp_path / "end"
    with Terminal(tmp_path, build("flood.c"),
                  args=[str(end), str(N_STEPS)]) as t:
        t.ask("cstrace start")
        t.send("run\n")
        wait_for(end.exists, "the program to come to its end")
        seen = t.wait("exited normally", PROMPT)
        assert "%d calls in 1 thread" % N_CALLS in seen.replace(",", "")
        assert len(drawn(seen)) + left_out(seen) == N_CALLS
        assert left_out(seen) > N_CALLS // 2
        assert [row.text.split()[0] for row in drawn(seen)[-4:]] \
            == ["step", "leaf", "leaf", "done"]


def test_the_note_names_the_first_that_is_missing(tmp_path):
    end = tmp_path / "end"
    with Terminal(tmp_path, build("flood.c"),
                  args=[str(end), str(N_STEPS)]) as t:
        t.ask("cstrace start")
        seen = t.ask("run")
        first = re.search(NOTE, seen).group(2)
        before = seen[:re.search(NOTE, seen).start()]
        shown = [int(n) for n in re.findall(r"  1\.(\d+) ", before)]
        assert first == "1.%d" % (max(shown, default=0) + 1)
        assert "no call" not in t.ask("cstrace show -last 3 -from %s" % first)


def test_a_pipe_has_all_rows(gdb, tmp_path):
    run = gdb(build("flood.c"), IN_FULL, "cstrace start", "run",
              args=[str(tmp_path / "end"), str(N_STEPS)])
    assert len(drawn(run.out)) == N_CALLS
    assert not left_out(run.out)


def test_a_file_has_all_rows(tmp_path):
    out = tmp_path / "rows"
    with Terminal(tmp_path, build("flood.c"),
                  args=[str(tmp_path / "end"), str(N_STEPS)]) as t:
        t.ask("set cstrace output %s" % out)
        t.ask("cstrace start")
        t.ask("run")
    text = out.read_text()
    assert len(drawn(text)) == N_CALLS
    assert not left_out(text)
