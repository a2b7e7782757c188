# SPDX-License-Identifier: MIT
"""cstrace record and programs, and machines, that make life hard: the program
runs as without us, and every call is there or is counted as lost."""

import os
import re
import shutil
import signal
import subprocess

import pytest

from lib_build import BUILD, FOUR, Variant, build, build_library
from lib_cstrace import CSTRACE, LIMIT_S, command
from lib_gdb import environment
from lib_record import compiled, finish, start, wait_for
from test_robust_deaths import cpu_ticks
from test_robust_guest import HARDSHIPS, WHOLE, alone, root_only


def n_calls(text):
    found = re.search(r"^cstrace: (?:the newest \d+ of )?(\d+) calls? in",
                      text, re.M)
    return int(found[1]) if found else 0


def n_lost(text):
    return sum(map(int, re.findall(r"; (\d+) records? lost", text)))


def check_as_alone(done, program, *args, cwd):
    status, output = alone(program, *args, cwd=cwd)
    assert (done.returncode, done.stdout) == (status, output)


@pytest.mark.parametrize("hardship", HARDSHIPS)
def test_a_hardship_before_the_first_call(tmp_path, hardship):
    program = build("robust_guest.c")
    done = command("record", program, hardship, cwd=tmp_path)
    check_as_alone(done, program, hardship, cwd=tmp_path)
    assert n_calls(done.stderr) == WHOLE and "lost" not in done.stderr


@pytest.mark.parametrize("mib, is_traced", [(40, False), (140, True)])
def test_little_address_space(tmp_path, mib, is_traced):
    program = build("robust_guest.c")
    done = command("record", "prlimit", "--as=%d" % (mib << 20), program,
                   "none", cwd=tmp_path)
    check_as_alone(done, program, "none", cwd=tmp_path)
    assert n_calls(done.stderr) == (WHOLE if is_traced else 0)


@pytest.mark.parametrize("variant", FOUR, ids=str)
def test_the_hook_calls_nothing_of_the_programs(tmp_path, variant):
    program = build("robust_override.c", "-fno-builtin", variant=variant)
    done = command("record", program, cwd=tmp_path)
    check_as_alone(done, program, cwd=tmp_path)
    assert n_calls(done.stderr) == 501502 and "lost" not in done.stderr


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_hooks_in_what_a_static_program_begins_with(tmp_path, compiler):
    """Its own memcpy() is called before there is thread-local data."""
    program = build("robust_override.c", "-fno-builtin", "-static",
                    "-Wl,-z,muldefs", str(BUILD / "libcstrace.a"),
                    variant=Variant(compiler))
    done = command("record", program, cwd=tmp_path)
    check_as_alone(done, program, cwd=tmp_path)
    assert n_calls(done.stderr) >= 501502 and "lost" not in done.stderr


@pytest.mark.parametrize("args, status", [((), 24), (("x",), 13)])
def test_jumps_of_a_library_stay_its_own(tmp_path, args, status):
    library = build_library("own_jumps.c", "-fno-builtin")
    program = build("own_jumps.c", "-DJUMPS", str(library),
                    "-Wl,-rpath," + str(library.parent))
    assert alone(program, *args, cwd=tmp_path)[0] == status
    check_as_alone(command("record", program, *args, cwd=tmp_path), program,
                   *args, cwd=tmp_path)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_registers_masks_and_stacks_are_as_without_us(tmp_path, compiler):
    program = build("robust_state.c", "-lm", variant=Variant(compiler, "-O2"))
    check_as_alone(command("record", program, cwd=tmp_path), program,
                   cwd=tmp_path)


@pytest.mark.parametrize("how, calls", [("sleep", 2000), ("pass", 30000)])
def test_a_thousand_threads(tmp_path, how, calls):
    done = command("record", build("robust_crowd.c"), how, 1000, cwd=tmp_path)
    assert done.returncode == 0
    assert n_calls(done.stderr) == calls and "lost" not in done.stderr


# ---- deaths ------------------------------------------------------------------


def program_of(process):
    """The pid of what a recorder runs."""
    path = "/proc/%d/task/%d/children" % (process.pid, process.pid)
    with open(path) as f:
        return int(f.read().split()[0])


def crowd_under_way(folder, *options, millions=20):
    """A recorder whose program has begun its millions of calls."""
    process = start(folder, *options, build("robust_crowd.c"), "wait",
                    millions, stdin=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    pid = program_of(process)
    process.stdin.write("x")
    process.stdin.flush()
    wait_for(lambda: cpu_ticks(pid) >= 5, "calls")
    return process, pid


@pytest.mark.parametrize("how", ["KILL", "SEGV", "ABRT"])
def test_a_signal_in_the_middle_of_many_calls(tmp_path, how):
    process, pid = crowd_under_way(tmp_path, millions=1000)
    os.kill(pid, getattr(signal, "SIG" + how))
    status, _out, err = finish(process)
    assert status == 128 + getattr(signal, "SIG" + how)
    assert n_calls(err) > 10000 and n_lost(err) <= 1
    shown = command("show", "--last", 3, "cstrace.cst", cwd=tmp_path)
    assert shown.stdout.count("leaf") == 3


def test_a_killed_recorder_leaves_the_program_unhurt(tmp_path):
    process, pid = crowd_under_way(tmp_path)
    process.kill()
    process.wait()
    assert process.stdout.read() == "20000000 calls\n"
    wait_for(lambda: not os.path.exists("/proc/%d" % pid), "end")
    process.communicate()
    assert command("info", "cstrace.cst", cwd=tmp_path).returncode == 0


def test_a_stopped_recorder_holds_the_program_up_once(tmp_path):
    """It lives, but takes nothing: after the limit calls are lost, and
    counted once it goes on."""
    process = start(tmp_path, build("robust_crowd.c"), "midway", 20,
                    stdin=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    process.stdin.write("x")
    process.stdin.flush()
    assert process.stdout.readline() == "midway\n"
    process.send_signal(signal.SIGSTOP)
    process.stdin.write("x")
    process.stdin.flush()
    # Longer than the limit of 10 s in which a program waits.
    assert process.stdout.readline() == "20000000 calls\n"
    process.send_signal(signal.SIGCONT)
    status, _out, err = finish(process)
    assert status == 0
    calls, lost = n_calls(err), n_lost(err)
    assert calls > 1000 and lost > 0
    assert 20000001 * 2 - 2 <= calls * 2 + lost
    assert calls <= 20000001


# ---- no room -----------------------------------------------------------------


def limited(folder, *words, limit, **options):
    return subprocess.run(
        ["prlimit", limit, "--", CSTRACE, "record", *map(str, words)],
        cwd=folder, text=True, capture_output=True, timeout=LIMIT_S,
        stdin=subprocess.DEVNULL, **options)


def test_a_file_size_limit_is_no_death(tmp_path):
    """The kernel's SIGXFSZ would be the end of the recorder."""
    done = limited(tmp_path, build("robust_crowd.c"), "calls", 20,
                   limit="--fsize=100000")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == ("cstrace: cannot make the shared memory: File too "
                           "large\n")


@pytest.mark.parametrize("limit", ["--nofile=3", "--nofile=4", "--nofile=6",
                                   "--nofile=8", "--as=30000000",
                                   "--as=100000000"])
def test_a_recorder_short_of_everything(tmp_path, limit):
    """It records, or says why it does not: one line, no crash."""
    done = limited(tmp_path, build("ends.c"), "exit", limit=limit)
    if done.returncode == 3:
        assert n_calls(done.stderr) == 5 or "cstrace: " in done.stderr
    else:
        assert done.returncode in (1, 127)
        assert done.stderr and done.stderr.count("\n") <= 2


COUNTS_FILES = r"""
#include <fcntl.h>
static void count(int *n, int fd) { *n += fcntl(fd, F_GETFD) >= 0; }
int main(void)
{
	int n = 0;

	for (int fd = 0; fd < 64; fd++)
		count(&n, fd);
	return n;
}
"""


def test_without_standard_input_output_and_error(tmp_path):
    """No file of ours takes their places: neither the program's messages nor
    ours would go where they belong."""
    program = compiled(tmp_path, COUNTS_FILES, "counts")
    for words in ([program], [CSTRACE, "record", program]):
        done = subprocess.run(
            ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *map(str, words)],
            cwd=tmp_path, env=environment(tmp_path), timeout=LIMIT_S,
            check=False)
        assert done.returncode == 0  # not one is open
    done = command("info", "cstrace.cst", cwd=tmp_path)
    assert "calls       65 (0 open" in done.stdout


IN_A_SPACE = {
    "disk": "mount -t tmpfs -o size=2m full . && cd .",
    "shm": "mount -t tmpfs -o size=4k,mode=0 full /dev/shm",
    "proc": "mount -t tmpfs none /proc",
}


@root_only
@pytest.mark.parametrize("what", IN_A_SPACE)
def test_a_machine_without(tmp_path, what):
    """A full disk, no room for shared memory, no /proc."""
    if subprocess.run(["unshare", "-m", "true"], check=False,
                      stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no mount namespaces here")
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c",
         'cd "$0" && %s && cd "$0" && exec "$@"' % IN_A_SPACE[what],
         str(tmp_path), CSTRACE, "record", str(build("robust_crowd.c")),
         "calls", "20"],
        text=True, capture_output=True, timeout=LIMIT_S,
        stdin=subprocess.DEVNULL, env=environment(tmp_path))
    if what == "proc":
        assert done.returncode == 1 and done.stderr.count("\n") == 1
        assert "/proc" in done.stderr
        return
    assert (done.returncode, done.stdout) == (0, "20000000 calls\n")
    if what == "shm":
        assert n_calls(done.stderr) == 20000000
    else:
        assert "No space left on device" in done.stderr
        assert re.search(r"; \d+ calls not kept", done.stderr)


# ---- other users' rights -----------------------------------------------------


@root_only
@pytest.mark.parametrize("mode", [0o4755, 0o2755])
def test_a_privileged_program_is_told(tmp_path, mode):
    program = tmp_path / "robust_guest"
    shutil.copy(build("robust_guest.c"), program)
    os.chown(program, 65534, 65534)
    os.chmod(program, mode)
    done = command("record", program, "none", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (42, "21000 leaves\n")
    assert "another user's rights" in done.stderr


@pytest.mark.parametrize("kib", [200000, 1000000])
def test_a_small_pool(tmp_path, kib):
    """The pool fits the address space; nothing is lost that does not fit it."""
    done = limited(tmp_path, build("robust_crowd.c"), "calls", 3,
                   limit="--as=%d" % (kib << 10))
    assert (done.returncode, done.stdout) == (0, "3000000 calls\n")
    assert n_calls(done.stderr) == 3000000 and "lost" not in done.stderr
    done = limited(tmp_path, build("robust_crowd.c"), "calls", 3,
                   limit="--as=%d" % (150000 << 10))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(
        "cstrace: cannot map the shared memory: the address space is limited "
        "to 150000 KiB (ulimit -v), ")


@pytest.mark.parametrize("kib", [32, 64, 256])
def test_a_small_stack(tmp_path, kib):
    """The program has it, too."""
    done = limited(tmp_path, "sh", "-c", 'ulimit -s; exec "$0"',
                   build("names.cc"), limit="--stack=%d" % (kib << 10))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == str(kib)
    calls = n_calls(done.stderr)
    assert calls > 10
    for words in (["show"], ["report"], ["save", "cstrace.cst", "out.jsonl"]):
        done = subprocess.run(
            ["prlimit", "--stack=%d" % (kib << 10), "--", CSTRACE, words[0],
             *(words[1:] or ["cstrace.cst"])], cwd=tmp_path, text=True,
            capture_output=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.jsonl").read_text().count("\n") == calls
