# SPDX-License-Identifier: MIT
"""Programs that bring something along: sanitizers, a linked shim, no dynamic
linker at all; and programs that run already."""

import shutil
import subprocess

import pytest

from lib_build import BUILD, TARGETS, Variant, build
from lib_gdb import kill_session
from lib_tree import CALLS, live_tree, outcome, own_sites, read_jsonl

SAVE = ("cstrace save t.txt", "cstrace save t.jsonl")
BOTH = [Variant("gcc"), Variant("clang")]

LINKED = ("-L" + str(BUILD), "-lcstrace", "-Wl,--no-as-needed",
          "-Wl,-rpath," + str(BUILD))
STATIC_SHIM = ("-static", str(BUILD / "libcstrace.a"))
WRAPPED = (*STATIC_SHIM, "-Wl,@%s" % (BUILD / "static.opts"))


@pytest.mark.parametrize("variant", BOTH, ids=str)
@pytest.mark.parametrize("kind", ["address", "undefined", "thread"])
def test_sanitizers(gdb, tmp_path, kind, variant):
    run = gdb(build("calls.c", "-fsanitize=" + kind, variant=variant),
              "cstrace start", "run", *SAVE,
              ASAN_OPTIONS="detect_leaks=0")
    assert "exited normally" in run.out
    assert "sum 18" in run.out
    # Some runtimes have a qsort() of their own.
    assert outcome(tmp_path).replace("  compare\n", "") \
        == CALLS.replace("  compare\n", "")


@pytest.mark.parametrize("variant", BOTH, ids=str)
def test_a_sanitizer_that_ends_the_program(gdb, variant):
    program = build("undefined.c", "-fsanitize=undefined",
                    "-fno-sanitize-recover=all", variant=variant)
    run = gdb(program, "cstrace start", "run",
              UBSAN_OPTIONS="print_summary=0")
    last_row = run.out.rindex("shift  undefined.c:17")
    assert last_row < run.out.index("exited with code 01")


@pytest.mark.parametrize("variant", BOTH, ids=str)
def test_control_flow_protection(gdb, tmp_path, variant):
    program = build("calls.c", "-fcf-protection=full", "-Wl,-z,shstk",
                    variant=variant)
    gdb(program, "cstrace start", "run", *SAVE)
    assert outcome(tmp_path) == CALLS


def test_the_shim_leaves_a_program_its_shadow_stack():
    notes = subprocess.run(["readelf", "-n", str(BUILD / "libcstrace.so")],
                           stdout=subprocess.PIPE, text=True, timeout=240)
    assert "SHSTK" in notes.stdout


@pytest.mark.parametrize("variant", BOTH, ids=str)
def test_a_program_that_links_the_shim(gdb, tmp_path, variant):
    flags = ("-Wl,--no-as-needed",) + LINKED
    run = gdb(build("calls.c", *flags, variant=variant), "cstrace start",
              "run", *SAVE)
    assert outcome(tmp_path) == CALLS
    assert own_sites(live_tree(run.out)) == CALLS


def test_a_program_that_links_the_shim_runs_without_gdb():
    program = build("calls.c", "-Wl,--no-as-needed", *LINKED)
    done = subprocess.run([str(program)], stdout=subprocess.PIPE, timeout=240)
    assert (done.returncode, done.stdout) == (0, b"sum 18\n")


@pytest.mark.parametrize("variant", BOTH, ids=str)
def test_a_static_program_with_the_shim(gdb, tmp_path, variant):
    run = gdb(build("calls.c", *STATIC_SHIM, variant=variant),
              "cstrace start", "run", *SAVE)
    assert outcome(tmp_path) == CALLS
    assert run.out.rindex("calls.c:53") < run.out.index("exited normally")


# A program's symbols in a file of their own, or compressed in a section.
APART = {
    "link": "objcopy --only-keep-debug a a.debug && strip a && "
            "objcopy --add-gnu-debuglink=a.debug a",
    "compressed": "objcopy --only-keep-debug a a.debug && "
                  "objcopy --strip-debug a.debug && strip a && xz a.debug && "
                  "objcopy --add-section .gnu_debugdata=a.debug.xz a",
}


@pytest.mark.parametrize("way", APART)
def test_a_static_program_with_its_symbols_apart(gdb, tmp_path, way):
    shutil.copy(build("calls.c", *STATIC_SHIM), tmp_path / "a")
    subprocess.run(APART[way], shell=True, cwd=tmp_path, check=True)
    run = gdb(tmp_path / "a", "cstrace start", "run", "cstrace save t.jsonl")
    assert "recording begins with `run`" in run.out
    assert "exited normally" in run.out
    assert len(read_jsonl(tmp_path / "t.jsonl")) == len(CALLS.splitlines())


OWN_NAMES = """main
""" + 2 * """  leaf  own_names.c:26
  longjmp  own_names.c:26
  swapcontext  own_names.c:27
  leaf  own_names.c:28
  clone  own_names.c:28
"""


@pytest.mark.parametrize("variant", BOTH, ids=str)
def test_a_static_program_with_functions_of_libcs_names(gdb, tmp_path,
                                                        variant):
    """Not taken for libc's, whose arguments would be looked into."""
    program = build("own_names.c", str(TARGETS / "own_names_there.c"), "-w",
                    "-fno-builtin", *WRAPPED, variant=variant)
    run = gdb(program, "cstrace start", "run", *SAVE)
    assert "exited normally" in run.out
    assert outcome(tmp_path) == OWN_NAMES


@pytest.mark.parametrize("variant", BOTH, ids=str)
def test_a_static_program_without_the_shim(gdb, tmp_path, variant):
    """Breakpoints on its own hooks, from main on."""
    run = gdb(build("calls.c", "-static", variant=variant), "break main",
              "run", "cstrace start", "delete", "continue", *SAVE)
    assert "exited normally" in run.out
    calls = CALLS.replace("main\n", "", 1)
    assert outcome(tmp_path).partition("\n")[2] == calls


class Running:
    """spin.c, started without gdb, that has printed "ready"."""

    def __init__(self, *flags, variant=Variant()):
        self.process = subprocess.Popen(
            [str(build("spin.c", *flags, variant=variant))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            start_new_session=True)

    def __enter__(self):
        assert self.process.stdout.readline() == b"ready\n"
        return self

    def __exit__(self, *what):
        kill_session(self.process.pid)
        self.process.communicate()

    def end(self):
        """Its last words and its status."""
        out, _ = self.process.communicate(b"end\n", timeout=240)
        return out, self.process.returncode


ATTACH = ("set cstrace live off", "attach {pid}", "break tick", "continue",
          "cstrace start", "delete", "break turn", "continue", "continue",
          "continue", "cstrace stop", "detach")


def check_attached(run, folder, running):
    assert running.end() == (b"spun on\n", 0)
    calls = read_jsonl(folder / "t.jsonl")
    names = [call["function"] for call in calls]
    assert names[:4] == ["main", "spin", "turn", "tick"]
    turns = [c["id"] for c in calls if c["function"] == "turn"]
    assert len(turns) >= 3
    for turn in turns[1:-1]:
        ticks = [c for c in calls if c["parent"] == turn]
        assert [c["function"] for c in ticks] == ["tick"] * 3
        assert {c["end"] for c in ticks} == {"return"}


@pytest.mark.parametrize("flags", [(), ("-Wl,-z,now",), ("-fno-plt",),
                                   ("-static",)], ids=str)
@pytest.mark.parametrize("variant", BOTH, ids=str)
def test_attach_to_a_program_without_the_shim(gdb, tmp_path, flags, variant):
    with Running(*flags, variant=variant) as running:
        commands = [c.format(pid=running.process.pid) for c in ATTACH]
        run = gdb(running.process.args[0], *commands, *SAVE)
        check_attached(run, tmp_path, running)


def test_attach_to_a_program_that_links_the_shim(gdb, tmp_path):
    with Running("-Wl,--no-as-needed", *LINKED) as running:
        commands = [c.format(pid=running.process.pid) for c in ATTACH]
        run = gdb(running.process.args[0], *commands, *SAVE)
        assert "ring mode" in run.out
        check_attached(run, tmp_path, running)


def test_attach_again_once_the_first_gdb_is_gone(gdb, tmp_path):
    """The shim takes the second one's area."""
    with Running("-Wl,--no-as-needed", *LINKED) as running:
        commands = [c.format(pid=running.process.pid) for c in ATTACH]
        run = gdb(running.process.args[0], *commands)
        assert "ring mode" in run.out
        again = ("cstrace start", *commands[6:-2])
        run = gdb(running.process.args[0], *commands[:-1], *again, "detach",
                  *SAVE)
        assert run.out.count("on (ring mode)") == 2
        check_attached(run, tmp_path, running)


def test_attach_after_start(gdb, tmp_path):
    with Running() as running:
        run = gdb(running.process.args[0], "cstrace start",
                  "attach %d" % running.process.pid, "break turn", "continue",
                  "continue", "cstrace stop", "detach", *SAVE)
        assert "on (ring mode)" in run.out
        assert running.end() == (b"spun on\n", 0)
        assert "    turn" in outcome(tmp_path)


def test_the_end_of_gdb_leaves_an_attached_program_alone(gdb):
    with Running() as running:
        gdb(running.process.args[0], "attach %d" % running.process.pid,
            "cstrace start")
        assert running.end() == (b"spun on\n", 0)
