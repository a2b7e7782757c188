# SPDX-License-Identifier: MIT
"""Programs that make their own life hard: they run as without us, to the
same output and exit status, and every call is there or is counted as lost."""

import os
import re
import shutil
import subprocess

import pytest

from lib_build import FOUR, Variant, build
from lib_gdb import environment

QUIET = "set cstrace live off"
STATUS = "python print('status', gdb.parse_and_eval('$_exitcode'))"
RSS = ("python print('rss', [line for line in open('/proc/self/status')"
       " if line.startswith('RssAnon')][0].split()[1])")
WHOLE = 21002  # calls of robust_guest
LONG = os.environ.get("CSTRACE_TEST_LONG") == "1"

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="for root only")


def alone(program, *args, cwd):
    """Exit status and output without gdb."""
    done = subprocess.run([str(program), *map(str, args)], cwd=cwd,
                          env=environment(cwd), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=240, text=True)
    return done.returncode, done.stdout


def exit_status(run):
    return int(re.search(r"^status (\d+)", run.out, re.M)[1])


def check_as_alone(run, program, *args, cwd):
    status, output = alone(program, *args, cwd=cwd)
    assert exit_status(run) == status, run.out
    for line in output.splitlines():
        assert line in run.lines(), run.out
    assert "changed" not in run.out and "errno" not in run.out


def n_calls(run):
    """How many calls the trace has that ended last."""
    return int(re.findall(r"^cstrace: (\d+) calls in", run.out, re.M)[-1])


HARDSHIPS = [
    "none", "close-all", "dup2", "nofile", "chdir", "clearenv", "fsize",
    "seccomp", "seccomp-kill", "as",
    pytest.param("chroot", marks=root_only),
    pytest.param("setuid", marks=root_only),
]


@pytest.mark.parametrize("hardship", HARDSHIPS)
def test_a_hardship_before_the_first_call(gdb, tmp_path, hardship):
    program = build("robust_guest.c")
    run = gdb(program, QUIET, "cstrace start", "run", STATUS, args=[hardship])
    check_as_alone(run, program, hardship, cwd=tmp_path)
    assert n_calls(run) == WHOLE and "lost" not in run.out


# The area cannot be mapped any more: a line says so, and nothing else happens.
TOO_LATE = {
    "nofile": "Too many open files",
    "seccomp": "Operation not permitted",
    "chroot": "Permission denied",
    "setuid": "Permission denied",
}


# seccomp-kill: there opening the area would be what kills it.
@pytest.mark.parametrize("hardship", [h for h in HARDSHIPS
                                      if h != "seccomp-kill"])
def test_a_hardship_before_cstrace_start(gdb, tmp_path, hardship):
    program = build("robust_guest.c")
    run = gdb(program, QUIET, "break begin", "run", "cstrace start",
              "delete", "continue", STATUS, args=[hardship, "late"])
    check_as_alone(run, program, hardship, "late", cwd=tmp_path)
    why = TOO_LATE.get(hardship)
    if why:
        assert ("cstrace: the program could not open the recorder's memory: "
                + why) in run.lines()
        assert n_calls(run) == 0
    else:
        assert n_calls(run) == WHOLE


@pytest.mark.parametrize("mib, is_traced", [(40, False), (140, True),
                                            (400, True)])
def test_little_address_space_from_the_start(gdb, tmp_path, mib, is_traced):
    program = build("robust_guest.c")
    run = gdb(program, QUIET, "set exec-wrapper prlimit --as=%d" % (mib << 20),
              "cstrace start", "run", STATUS, args=["none"])
    check_as_alone(run, program, "none", cwd=tmp_path)
    told = "could not open the recorder's memory: Cannot allocate memory"
    assert n_calls(run) == (WHOLE if is_traced else 0)
    assert (told in run.out) == (not is_traced)


@pytest.mark.parametrize("variant", FOUR, ids=str)
def test_the_hook_calls_nothing_of_the_programs(gdb, tmp_path, variant):
    program = build("robust_override.c", "-fno-builtin", variant=variant)
    run = gdb(program, QUIET, "cstrace start", "run", STATUS)
    check_as_alone(run, program, cwd=tmp_path)
    assert n_calls(run) == 501502


@pytest.mark.parametrize("sync", ["", " -sync"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_registers_masks_and_stacks_are_as_without_us(gdb, tmp_path, compiler,
                                                      sync):
    program = build("robust_state.c", "-lm",
                    variant=Variant(compiler, "-O2"))
    # The breakpoint mode takes about 100 us an event: the handshake here.
    run = gdb(program, QUIET, "set cstrace sync-method handshake",
              "handle SIGUSR1 nostop noprint pass", "cstrace start" + sync,
              "run", STATUS)
    check_as_alone(run, program, cwd=tmp_path)


@pytest.mark.parametrize("pool", ["512K", "64M"])
def test_a_thousand_sleepers_each_with_a_chunk(gdb, pool):
    run = gdb(build("robust_crowd.c"), QUIET, "set cstrace pool " + pool,
              "set print thread-events off", "cstrace start", "run", STATUS,
              RSS, args=["sleep", 1000])
    assert exit_status(run) == 0 and "2000 calls" in run.out
    assert n_calls(run) == 2000 and "lost" not in run.out
    assert int(re.search(r"^rss (\d+)", run.out, re.M)[1]) < 200 * 1024


def test_a_thousand_threads_come_and_go(gdb):
    run = gdb(build("robust_crowd.c"), QUIET, "set print thread-events off",
              "cstrace start", "run", STATUS, args=["pass", 1000])
    assert exit_status(run) == 0
    assert n_calls(run) == 30000 and "lost" not in run.out


def test_memory_stays_flat_on_both_sides(gdb):
    """Ten times the calls, the same memory.  (Long: 10^8 and 10^9.)"""
    few, many = (100, 1000) if LONG else (3, 30)
    own = ("python print('program_rss', [line for line in open('/proc/%d/status' %"
           " gdb.selected_inferior().pid) if line.startswith('RssAnon')][0]"
           ".split()[1])")
    sizes = []
    for millions in (few, many):
        run = gdb(build("robust_crowd.c", "-O2"), QUIET, "break finish",
                  "cstrace start", "run", own, "continue", RSS,
                  args=["calls", millions])
        assert n_calls(run) == millions * 10**6 and "lost" not in run.out
        sizes.append([int(re.search(r"^%s (\d+)" % what, run.out, re.M)[1])
                      for what in ("rss", "program_rss")])
    (rss, program), (rss_many, program_many) = sizes
    assert rss_many - rss < 16 * 1024, sizes
    assert program_many - program < 1024, sizes


@root_only
@pytest.mark.parametrize("how", ["setuid", "setgid", "capability"])
def test_a_privileged_program_is_refused(gdb, tmp_path, how):
    """The dynamic linker would leave the shim out."""
    program = tmp_path / "robust_guest"
    shutil.copy(build("robust_guest.c"), program)
    os.chown(program, 65534, 65534)
    if how == "capability":
        capability = bytes.fromhex("0100000200000400000000000000000000000000")
        os.setxattr(program, "security.capability", capability)
    else:
        os.chmod(program, 0o4755 if how == "setuid" else 0o2755)
    run = gdb(program, QUIET, "cstrace start", "run", STATUS, args=["none"])
    assert exit_status(run) == 42 and "21000 leaves" in run.out
    assert "runs with another user's rights" in run.out
    assert "recording begins" not in run.out
