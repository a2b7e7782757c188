# SPDX-License-Identifier: MIT
"""gdb's own commands in a program without hooks: the same lines with patches as
without cstrace."""

import re
import shutil
import subprocess

import pytest

from lib_as_without import IN_LINKER, SESSIONS, lines
from lib_build import Variant, build
from lib_gdb import LOADER, needs_watchpoints

GCC = [(level, flags) for level in ("-O0", "-Og", "-O1", "-O2", "-O3", "-Os")
       for flags in ((), ("-fcf-protection",), ("-no-pie",), ("-flto",))
       if level in ("-O0", "-O2") or not flags]
BUILDS = ([("gcc", level, flags) for level, flags in GCC]
          + [("clang", level, ()) for level in ("-O0", "-O1", "-O2", "-O3",
                                                 "-Os", "-Og")])

# A program faults where its argument says.
FAULTS = {
    **{what: ["run " + what, "bt", "info locals", "info symbol $pc", "x/i $pc",
              "print $_siginfo._sifields._sigfault.si_addr",
              "info program", "up", "continue"]
       for what in ("reads", "writes", "divides", "loops")},
    "survives": ["run", "bt", "info args", "continue", "bt", "info args",
                 "continue", "continue"],
    "watches": ["break survives", "run", "watch rounds", "continue", "bt",
                "continue", "bt", "info locals", "next", "next", "continue",
                "continue", "bt", "finish", "continue"],
    "watches a node": ["break writes", "run", "watch -l p->mean", "continue",
                       "continue", "bt", "next", "bt", "continue", "bt",
                       "continue", "bt", "continue", "continue"],
}


@pytest.mark.wide("compiler level flags", "session")
@pytest.mark.parametrize("session", SESSIONS)
@pytest.mark.parametrize("compiler, level, flags", BUILDS, ids=lambda v:
                         "".join(v) if isinstance(v, tuple) else v)
def test_lines_are_as_without(gdb, compiler, level, flags, session):
    if not shutil.which(compiler):
        pytest.skip("there is no %s" % compiler)
    program = build("debugged.c", *flags, variant=Variant(compiler, level),
                    is_traced=False)
    commands = SESSIONS[session]
    alone = lines(gdb, program, commands, False,
                  LOADER if session in IN_LINKER else None)
    assert lines(gdb, program, commands, True) == alone


# These end where gdb guesses what called musl's code, which has no call frame
# information, from any word of the stack.
GUESSES = ("signal", "counted instructions")


@pytest.mark.parametrize("session", [s for s in SESSIONS if s not in GUESSES])
def test_lines_with_another_libc(gdb, session):
    program = build("debugged.c", "-Wl,--build-id,--eh-frame-hdr",
                    variant=Variant("musl-gcc", "-O2"), is_traced=False)
    commands = SESSIONS[session]
    # These step on behind the end, through all libraries' destructors.
    alone = lines(gdb, program, commands, False,
                  LOADER if session == "many steps" else None)
    assert lines(gdb, program, commands, True) == alone


@pytest.mark.wide("compiler level", "session")
@pytest.mark.parametrize("session", FAULTS)
@pytest.mark.parametrize("compiler, level, flags", [
    b for b in BUILDS if not b[2]], ids=lambda v:
    "".join(v) if isinstance(v, tuple) else v)
def test_faults_are_where_they_are_without(gdb, compiler, level, flags,
                                           session):
    """Also where the code that faults, or writes what is watched, runs in a
    trampoline."""
    if not shutil.which(compiler):
        pytest.skip("there is no %s" % compiler)
    program = build("faulty.c", *flags, variant=Variant(compiler, level),
                    is_traced=False)
    alone = lines(gdb, program, FAULTS[session], False)
    assert lines(gdb, program, FAULTS[session], True) == alone


# Each from a fresh run.
SHORT = {
    "instructions": ["break *push", "run", *["stepi"] * 30, "bt", "finish",
                     *["stepi"] * 12, "bt", "delete", "continue"],
    "steps": ["break push", "run", "bt", *["step"] * 9, "bt", "info locals"],
    "at its begin": ["break *push", "run", "bt", "info args", "next", "bt",
                     "finish", "bt", "continue", "until", "until", "bt",
                     "delete", "continue"],
    "each line": [*("break two_bytes.c:%d" % n for n in range(13, 20)), "run",
                  *["continue"] * 9, "bt", "info breakpoints"],
    "ways out": ["break push", "run", "return", "bt", "next", "continue",
                 "finish", "call push(&s, 5)", "delete", "print s.b",
                 "tbreak push", "jump main", "bt", "continue"],
    "watch": ["break push", "run", "watch -l s->a", "continue", "bt",
              "continue", "bt", "next", "bt"],
}


@pytest.mark.parametrize("session", SHORT)
@pytest.mark.parametrize("compiler, level", [
    ("gcc", "-O1"), ("gcc", "-O2"), ("clang", "-O1")])
def test_where_a_line_begins_in_the_first_bytes(gdb, compiler, level, session):
    """A short jump leads to ten bytes of one line then."""
    if not shutil.which(compiler):
        pytest.skip("there is no %s" % compiler)
    program = build("two_bytes.c", variant=Variant(compiler, level),
                    is_traced=False)
    alone = lines(gdb, program, SHORT[session], False)
    assert lines(gdb, program, SHORT[session], True) == alone
    if not session == "steps":
        return
    run = gdb(program, "cstrace start -no-args", "run")
    assert run.out.count(" push  ") == 9 or "push (x9)" in run.out


def each(*commands):
    """In each function that calls itself, a fresh stop at its begin."""
    return [command for name in ("fac", "fib", "even") for command in
            ("tbreak " + name, "run", *commands, "kill", "delete")]


RECURSION = {
    **{name: each("bt", *[name] * 8, "bt", *[name] * 12) for name in
       ("step", "next", "until")},
    "first instruction": ["break *fac", "run", "delete", *["until"] * 4,
                          "tbreak *fib", "continue", *["step"] * 9, "bt",
                          "tbreak *even", "continue", *["next"] * 9],
    "mixed": each("step", "until", "next 3", "bt", "step 5", "until", "finish",
                  "next", "stepi 7", "next", "step", "bt", "nexti 5", "until",
                  "until", "bt", "advance main"),
    "third call": each(*["tbreak *$pc", "continue"] * 2, *["step"] * 3, "bt", *["until", "next", "step"] * 6,
                       "bt"),
    "checkpoint": ["break fac", "tbreak fib", "run", "checkpoint", "next",
                   "delete 1", "restart 1", *["until"] * 3, "bt",
                   *["step", "next"] * 3],
    "hardware breakpoints": ["tbreak fac", "run", *["hbreak main"] * 4,
                             *["until", "step"] * 4, "bt"],
}


@pytest.mark.wide("compiler level", "session")
@pytest.mark.parametrize("session", RECURSION)
@pytest.mark.parametrize("compiler, level", [
    (c, level) for c in ("gcc", "clang") for level in
    ("-O0", "-O1", "-O2", "-O3")])
def test_steps_go_on_in_a_recursive_call(gdb, compiler, level, session):
    """There gdb does not compare the frames."""
    if not shutil.which(compiler):
        pytest.skip("there is no %s" % compiler)
    program = build("recursive.c", "-fno-optimize-sibling-calls",
                    variant=Variant(compiler, level), is_traced=False)
    alone = lines(gdb, program, RECURSION[session], False)
    assert lines(gdb, program, RECURSION[session], True) == alone


@pytest.mark.parametrize("name", ["step", "next", "until", "step 2", "until 3"])
@pytest.mark.parametrize("function", ["begins", "goes_on", "ends"])
def test_they_do_where_the_room_for_a_jump_is_further_on(gdb, function, name):
    program = build("calls_in_range.c", variant=Variant("gcc", "-O1"),
                    is_traced=False)
    commands = ["break " + function, "run", "delete", "next", "bt",
                *[name, "bt"] * 12]
    alone = lines(gdb, program, commands, False)
    assert lines(gdb, program, commands, True) == alone


INLINED = {
    "faults in calls by gdb": [
        "break sum", "run", "print kind_of(0, 1)", "bt", "info locals", "up",
        "x/i $pc", "print $_siginfo.si_code", "up", "bt",
        "print $_siginfo._sifields._sigfault", "call set(0, 1, 2)", "bt",
        "return", "bt", "delete", "continue"],
    "from main": ["break main", "run", *["step"] * 40],
    "from begins": ["break kind_of", "break set", "break sum", "run",
                    *["step", "next", "step", "bt", "step", "until",
                      "continue"] * 8],
    "mixed": ["tbreak kind_of", "run", *["next", "until", "step", "step 2",
                                         "bt", "next 2", "stepi 3"] * 5],
    "counted lines": ["tbreak sum", "run", *["step 5", "next 3", "step 4",
                                             "until", "step 2", "bt"] * 5],
    "instructions": ["tbreak set", "run", *["stepi"] * 60, "bt",
                     *["stepi", "next", "stepi 2", "step"] * 9, "bt"],
    "counted": ["tbreak set", "run", *["stepi %d" % n for n in range(2, 14)],
                "bt", *["stepi 3", "finish", "nexti 5", "step"] * 6, "bt"],
    "stops within": ["break *kind_of+7", "break *set+7", "run",
                     *["stepi 3", "next", "continue", "nexti 2", "until",
                       "continue", "stepi 2", "continue"] * 3],
    "fault": ["display/i $pc", "break kind_of", "run", "set var $rdi = 0",
              "continue", "bt", "info breakpoints", "info program",
              "show scheduler-locking", "print $_siginfo.si_signo", "step",
              "bt", "step", "bt", "next"],
    "fault in a step": ["break kind_of", "run", "set var $rdi = 0", "next",
                        "bt", "up", "info locals", "stepi", "bt"],
}


@pytest.mark.wide("compiler level", "session")
@pytest.mark.parametrize("session", INLINED)
@pytest.mark.parametrize("compiler, level", [
    (c, level) for c in ("gcc", "clang") for level in
    ("-O1", "-O2", "-O3", "-Os", "-Og")])
def test_steps_in_inlined_calls(gdb, compiler, level, session):
    """gdb looks where their code begins and ends, and which line and call the
    code is of that a short jump leads to."""
    if not shutil.which(compiler):
        pytest.skip("there is no %s" % compiler)
    program = build("inlined_begin.c", variant=Variant(compiler, level),
                    is_traced=False)
    commands = ["set print entry-values no", *INLINED[session]]
    alone = lines(gdb, program, commands, False)
    assert lines(gdb, program, commands, True) == alone


@pytest.mark.parametrize("name", ["step", "next", "until"])
@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3", "-Os"])
def test_steps_where_no_statement_begins_an_inlined_call(gdb, level, name):
    """There `step` stops behind the first instruction."""
    program = build("inlined_apart.c", variant=Variant("gcc", level),
                    is_traced=False)
    commands = ["set print entry-values no", "break get", "run", "delete",
                *[name, "step", "step"] * 30]
    alone = lines(gdb, program, commands, False)
    assert lines(gdb, program, commands, True) == alone


@pytest.mark.parametrize("name", ["step", "next", "until"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_they_do_while_another_thread_calls(gdb, level, name):
    program = build("recursive.c", "-fno-optimize-sibling-calls", "-pthread",
                    variant=Variant("gcc", level), is_traced=False)
    commands = [("run threads" if command == "run" else command)
                for command in each("bt", *[name] * 3, "bt")]
    alone, patched = (
        [line for line in lines(gdb, program, commands, is_patched).split("\n")
         if not line.startswith("[")] for is_patched in (False, True))
    assert patched == alone


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_signal_anywhere_shows_the_function(gdb, level):
    """A third of them comes while a trampoline or the shim runs."""
    program = build("alarmed.c", variant=Variant("gcc", level), is_traced=False)
    run = gdb(program, "handle SIGVTALRM stop print nopass",
              "set cstrace live off", "cstrace start", "run",
              *["bt", "continue"] * 60, "kill")
    innermost = re.findall(r"^#0 +(?:0x\w+ in )?(\w+)", run.out, re.M)
    assert len(innermost) == 60 and set(innermost) <= {"fib", "main"}
    assert "__x86_return_thunk" not in run.out


def test_a_signal_again_in_a_trampoline_shows_the_function(gdb):
    """At the second one the shim passes over the entry, which it has recorded
    already: it asks for its process's number then."""
    program = build("alarmed.c", variant=Variant("gcc", "-O0"), is_traced=False)
    signalled = ["stepi", "stepi", "python os.kill("
                 "gdb.selected_inferior().pid, signal.SIGUSR1)", "continue"]
    # The instructions that are stepped are to be the trampoline's.
    stays = ("python P = sys.modules['gdbext.process.patches'].Patches; "
             "P.end_steps = P.before_step = lambda *_, **__: False")
    run = gdb(program, "python import os, signal, sys", stays,
              "set cstrace live off",
              "set cstrace step-report off",
              "handle SIGVTALRM nostop noprint nopass",
              "handle SIGUSR1 stop print nopass", "cstrace start",
              "break *fib", "run", "delete", "stepi", "stepi",
              *signalled, *signalled, "bt 1", "kill")
    stops = re.findall(r"received signal SIGUSR1.*\n(.*)", run.out)
    assert len(stops) == 2
    assert all(re.fullmatch(r"0x\w+ in fib \(n=\w+\) at .*alarmed.c:6", stop)
               for stop in stops), stops


@pytest.mark.parametrize("slot", [0, 1])
def test_a_signal_that_comes_at_a_gate_shows_the_function(gdb, tmp_path, slot):
    """The thread has not stopped there before."""
    program = build("alarmed.c", variant=Variant("gcc", "-O2"),
                    is_traced=False)
    (tmp_path / "at.py").write_text("""
import gdb, os, signal
class Gate(gdb.Breakpoint):
    def stop(self):
        self.enabled = False
        os.kill(gdb.selected_inferior().pid, signal.SIGUSR1)
        return False
Gate("*((char *)&__x86_return_thunk + %d)", internal=True)
""" % (8 * slot))
    run = gdb(program, "handle SIGVTALRM nostop noprint", "handle SIGUSR1 nopass",
              "set cstrace live off", "cstrace start", "break fib", "run",
              "delete", "source %s" % (tmp_path / "at.py"), "continue", "bt",
              "kill")
    assert "received signal SIGUSR1" in run.out
    innermost, = re.findall(r"^#0 +(?:0x\w+ in )?(\w+)", run.out, re.M)
    assert innermost == "fib"


@pytest.mark.parametrize("slot", [0, 1])
def test_a_signal_at_a_gate_shows_the_function(gdb, slot):
    """There a trampoline has called, and nothing of the shim has run."""
    program = build("alarmed.c", variant=Variant("gcc", "-O2"),
                    is_traced=False)
    kill = ("python import os; os.kill(gdb.selected_inferior().pid, "
            "signal.SIGUSR1)")
    run = gdb(program, "python import signal", "handle SIGVTALRM nostop noprint",
              "handle SIGUSR1 nopass", "set cstrace live off", "cstrace start",
              "break fib", "run", "delete",
              "tbreak *((char *)&__x86_return_thunk + %d)" % (8 * slot),
              "continue", kill, "continue", "bt", "kill")
    assert "received signal SIGUSR1" in run.out
    innermost, = re.findall(r"^#0 +(?:0x\w+ in )?(\w+)", run.out, re.M)
    assert innermost == "fib"


# What gdb says of processes and threads, in whatever order, and what is not
# initialized.
NOISE = (r"LWP \d+|Old value = .*"
         r"|^(?:Reading symbols|\[New |\[Thread |\[Switching |\[process ).*\n")


def check_same(gdb, source, how, commands, *flags):
    compiler, level = how
    if not shutil.which(compiler):
        pytest.skip("there is no %s" % compiler)
    program = build(source, *flags, variant=Variant(compiler, level),
                    is_traced=False)
    commands = ["set print frame-arguments none", "set print entry-values no",
                *commands]
    alone, patched = (re.sub(NOISE, "", lines(
        gdb, program, commands, is_patched), flags=re.M)
        for is_patched in (False, True))
    assert patched == alone


IN_A_CHILD = {
    "fault": ["run", "bt", "info locals", "x/i $pc", "info symbol $pc", "up"],
    "stepi": ["break both", "run", *["stepi"] * 20, "bt", "finish"],
    "counted": ["break both", "run", *["stepi 3", "nexti 2"] * 6, "bt"],
    "lines": ["break both", "run", *["step"] * 6, "next", "bt", "continue", "bt"],
    "watch": ["break both", "run", "watch $rsp", *["continue"] * 8, "bt"],
    "breakpoints": ["break scale", "run", "bt", "continue", "finish", "call both(2)",
                    "delete", "call both(5)", "continue", "bt"],
}


@pytest.mark.parametrize("session", IN_A_CHILD)
@pytest.mark.parametrize("compiler, level", [
    ("gcc", "-O0"), ("gcc", "-O1"), ("gcc", "-O2"), ("clang", "-O1")])
def test_a_child_that_gdb_follows(gdb, compiler, level, session):
    check_same(gdb, "follow.c", (compiler, level), [
        "set follow-fork-mode child", *IN_A_CHILD[session]])


def test_stop_in_a_child_puts_its_code_back(gdb):
    program = build("follow.c", variant=Variant("gcc", "-O1"), is_traced=False)
    run = gdb(program, "set follow-fork-mode child", "cstrace start",
              "break scale", "run", "x/8xb &both", "cstrace stop", "x/8xb &both")
    patched, own = re.findall(r"<both>:\t(.*)", run.out)
    assert "0xe9" in patched and "0xe9" not in own


# gdb has both processes, and runs one of them.
IN_BOTH = {
    "the parent first": [
        "break both", "run", "bt", "inferior 2", "break fac", "bt", "continue",
        "bt", "step", "stepi", "stepi 3", "inferior 1", "bt", "step", "step",
        "stepi", "nexti 2", "inferior 2", "bt", "step", "next", "finish", "bt",
        "inferior 1", "finish", "bt", "continue", "continue", "bt"],
    "the child first": [
        "set follow-fork-mode child", "break fac", "run", "bt", "stepi 4",
        "inferior 1", "bt", "break both", "continue", "bt", "stepi", "stepi",
        "inferior 2", "bt", "next", "step", "watch $rsp", "continue",
        "continue", "delete 3", "delete", "continue", "inferior 1", "continue",
        "next"],
    "step into it": [
        "set follow-fork-mode child", "break split", "run", "next", "next",
        "step", "step", "bt", "inferior 1", "bt", "next", "step", "step",
        "step", "bt"],
    "calls": [
        "break both", "run", "inferior 2", "break fac", "continue",
        "signal SIGUSR1", "bt", "inferior 1", "call both(3)", "print fac(2)",
        "bt", "finish", "return", "bt"],
}


@pytest.mark.parametrize("session", IN_BOTH)
@pytest.mark.parametrize("compiler, level", [
    ("gcc", "-O0"), ("gcc", "-O1"), ("gcc", "-O2"), ("clang", "-O1")])
def test_both_processes_of_a_fork(gdb, compiler, level, session):
    check_same(gdb, "parted.c", (compiler, level), [
        "set detach-on-fork off", *IN_BOTH[session]])


def test_stop_puts_the_code_of_both_processes_back(gdb):
    program = build("parted.c", variant=Variant("gcc", "-O1"), is_traced=False)
    show = ["x/8xb &scale", "x/8xb &fac"]
    run = gdb(program, "set detach-on-fork off", "cstrace start", "break both",
              "run", "break *fac+3", *show, "inferior 2", *show, "cstrace stop",
              *show, "inferior 1", *show)
    codes = re.findall(r"<(\w+)>:\t(.*)", run.out)
    scales, facs = ([code for name, code in codes if name == one]
                    for one in ("scale", "fac"))
    assert scales[0] == scales[1] != scales[2] == scales[3]
    # A breakpoint inside its patch takes that away in both.
    assert len(set(facs)) == 1 and "0xe9" not in facs[0]


def test_registers_are_watched_while_other_threads_run(gdb):
    program = build("recursive.c", variant=Variant("gcc", "-O2"),
                    is_traced=False)
    run = gdb(program, "set cstrace live off", "cstrace start", "break fib",
              "run threads", "delete", "watch $rsp thread 1",
              *["continue"] * 30, "bt")
    assert run.out.count("Watchpoint 2: $rsp\n\nOld value") == 30
    assert "__x86_return_thunk" not in run.out
    assert "cstrace.patched" not in run.out


def test_within_a_call_s_copy_it_stands_in_the_callee(gdb):
    """The copy is several instructions, the call is one."""
    program = build("debugged.c", variant=Variant("gcc", "-O2"),
                    is_traced=False)
    run = gdb(program, "set cstrace live off", "cstrace start", "break outer",
              "run", "find /b &__x86_return_thunk, +0x400, "
              "0x48, 0x8d, 0x64, 0x24, 0xf8, 0x50, 0x48, 0x8d, 0x05",
              "tbreak *((char *)$_ + 5)", "continue", "bt", "next")
    assert re.findall(r"^#\d +(?:0x\w+ in )?(\w+)", run.out, re.M) == [
        "middle", "outer", "main"]
    assert "__x86_return_thunk ()" not in run.out


def test_a_signal_that_was_sent_does_not_come_again(gdb):
    """A fault does, at the function's own place."""
    program = build("beside.c", "-pthread", variant=Variant("gcc", "-O2"),
                    is_traced=False)
    run = gdb(program, "set cstrace live off", "cstrace start",
              "break *scale+3", "run", "delete", "find /b &__x86_return_thunk, "
              "+0x400, 0x31, 0xf8, 0x83, 0xc0", "set var $pc = $_",
              # SYS_tkill: either thread may take what the process is sent.
              "python import ctypes, signal; ctypes.CDLL(None).syscall(200, "
              "gdb.selected_thread().ptid[1], int(signal.SIGSEGV))",
              "continue", "bt")
    assert "received signal SIGSEGV" in run.out
    assert re.findall(r"^#\d +(?:0x\w+ in )?(\w+)", run.out, re.M)[:2] == [
        "scale", "sum"]


# Each from a fresh run.
BESIDE = {
    "a sum": ["break sum", "run", "watch total", *["continue"] * 4, "bt",
              "continue", "bt", "next", "bt"],
    "a callee's": ["break scale", "run", "continue", "watch r",
                   *["continue"] * 5, "bt", "next", "bt"],
    "a parameter": ["break scale", "run", "finish", "watch n",
                    *["continue"] * 6, "bt"],
    "from the begin": ["break scale", "run", "watch n", "continue", "bt",
                       "step", "finish", "continue"],
    "nexti": ["break sum", "break scale if n == 9", "run", "watch total",
              *["nexti 4", "nexti 3", "stepi 2"] * 5, "bt"],
    "steps": ["break sum", "run", "watch i", *["step", "next"] * 5, "finish",
              "stepi", "until", "watch total", "nexti", "continue"],
}

# The variable's function returns in a step by lines.
OUT_OF_SCOPE = {
    **{name: ["break leaf", "run", "next", "watch r", *[name] * 7, "bt",
              "continue", "watch r", *[name] * 3, "up", name, "bt"]
       for name in ("next", "step", "until", "next 3", "step 9")},
    "in turn": ["break middle", "run", "next", "watch s", "next", "step", "stepi",
                "next", "until", *["nexti", "next", "step", "finish"] * 4, "bt"],
}


@pytest.mark.parametrize("session", OUT_OF_SCOPE)
@pytest.mark.parametrize("compiler, level", [
    ("gcc", "-O0"), ("clang", "-O0"), ("gcc", "-Og")])
def test_a_watched_variable_ends_in_a_step(gdb, compiler, level, session):
    check_same(gdb, "debugged.c", (compiler, level), OUT_OF_SCOPE[session])


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_watched_variable_lies_below_a_call_by_gdb(gdb, level):
    """Its frame is found from within the trampoline of a recursive call, too."""
    check_same(gdb, "recursive.c", ("gcc", level), [
        "break fac", "run", "watch n", "print fac(2)",
        *["until", "bt"] * 3, "next", "info watchpoints"],
        "-fno-optimize-sibling-calls")


# Some of these ends are where a trampoline has executed the last instruction.
STEPI = {
    "by 2": ["break sum", "run", *["stepi 2"] * 25],
    "by 3": ["break *sum", "run", *["stepi 3"] * 20, "finish", "stepi 3"],
    "by 5": ["break main", "run", "next", "next", *["stepi 5", "bt"] * 12],
    "to breakpoints": ["break *scale", "break scale", "break beside.c:20",
                       "break beside.c:21", "break sum", "run",
                       *["stepi 2", "stepi 3", "nexti 2"] * 8,
                       "info breakpoints"],
    "with displays": ["break scale", "run", "display/i $pc", "display n",
                      *["stepi 2", "nexti 3"] * 8],
    "with conditions": ["break scale", "run", "break beside.c:20 if n == 2",
                        "break beside.c:21 if n == 1", "ignore 1 1",
                        *["stepi 2"] * 15, "info breakpoints"],
}


@pytest.mark.wide("compiler level", "session", "has_hardware")
@pytest.mark.parametrize("has_hardware", [0, 1])
@pytest.mark.parametrize("session", BESIDE)
@pytest.mark.parametrize("compiler, level", [
    (compiler, level) for compiler in ("gcc", "clang")
    for level in ("-O0", "-O1", "-O2")])
def test_variables_are_watched_while_other_threads_run(gdb, compiler, level,
                                                       session, has_hardware):
    check_same(gdb, "beside.c", (compiler, level), [
        "set can-use-hw-watchpoints %d" % has_hardware, *BESIDE[session]],
        "-pthread")


@pytest.mark.wide("compiler level", "session")
@pytest.mark.parametrize("session", STEPI)
@pytest.mark.parametrize("compiler, level", [
    (compiler, level) for compiler in ("gcc", "clang")
    for level in ("-O0", "-O1", "-O2")])
def test_several_instructions_while_other_threads_run(gdb, compiler, level,
                                                      session):
    check_same(gdb, "beside.c", (compiler, level), STEPI[session], "-pthread")


AWAY = {
    "chosen": ["break chosen", "run", *["nexti %d" % n for n in range(2, 12)],
               "bt", "continue", *["nexti 4", "stepi 3"] * 6, "bt"],
    "given": ["break *given", "run", *["nexti 5", "continue", "nexti 3"] * 4,
              "delete", *["nexti 7", "nexti"] * 5, "bt"],
    "sorted": ["break sorted", "run", *[w for n in range(1, 9) for w in (
        "nexti %d" % n, "x/i $pc", "continue")]],
    "conditions": ["break given if n == 3", "break sorted if n == 99",
                   "break grow if n == 99", "run",
                   *["nexti %d" % n for n in range(2, 14)], "bt"],
    "watch": ["break sorted", "run", "continue", "watch n",
              *["nexti 6", "nexti 2"] * 4, "bt"],
}


@pytest.mark.wide("compiler level", "session", "mode")
@pytest.mark.parametrize("mode", ["off", "on"])
@pytest.mark.parametrize("session", AWAY)
@pytest.mark.parametrize("compiler, level", [
    ("gcc", "-O0"), ("gcc", "-O2"), ("clang", "-O1"), ("clang", "-O2")])
def test_nexti_by_jumps_while_other_threads_run(gdb, compiler, level, session,
                                                mode):
    check_same(gdb, "jumps_away.c", (compiler, level), [
        "set non-stop " + mode, *AWAY[session]], "-pthread")


# There no code can change at a stop.
NON_STOP = {
    "a fault": ["run 1", "bt", "x/i $pc", "info symbol $pc", "info program",
                "up", "info locals",
                "print $_siginfo.si_code",
                "print $_siginfo._sifields._sigfault", "continue"],
    "instructions": ["break scale", "run", "stepi 2", "bt", "stepi 3", "stepi",
                     "stepi 2", "x/i $pc", "finish", "stepi 5", "stepi 3",
                     "bt", "continue", "stepi 3", "step", "next", "until"],
    "to breakpoints": ["break *scale", "break beside.c:20", "break sum", "run",
                       *["stepi 2", "stepi 3", "stepi"] * 6,
                       "info breakpoints"],
    "watch": ["break sum", "run", "next", "next", "watch total",
              *["continue", "bt"] * 4, "next", "bt", "stepi 3", "bt"],
    "nexti": ["break scale", "break sum", "run", *["nexti 2", "nexti 5", "stepi",
                                                   "nexti 3"] * 6, "bt"],
    "watch a parameter": ["break *scale", "run", "stepi", "watch n", "continue",
                          "bt", "nexti 3", "watch total", "nexti 4",
                          "continue", "nexti 6", "bt"],
    "calls": ["tbreak scale", "run", "stepi 3", "call scale(3)", "bt",
              "stepi 2", "print scale(4)", "stepi", "call scale(5)",
              "stepi 4", "finish", "continue"],
    "calls that stop": ["break scale", "run", "stepi 3", "call scale(3)", "bt",
                        "finish", "bt", "stepi 2", "call scale(3)", "stepi 3",
                        "finish", "until", "stepi 2", "bt", "delete",
                        "continue"],
    "jumps": ["break scale", "run", "stepi 2", "jump 29", "bt", "stepi 2",
              "tbreak beside.c:31", "continue", "delete", "continue"],
    "signals": ["break scale", "run", "stepi 3", "signal 0", "stepi 2", "jump 19",
                "stepi 2", "return", "bt", "stepi 4", "delete", "continue"],
}


@pytest.mark.wide("compiler level", "session")
@pytest.mark.parametrize("session", NON_STOP)
@pytest.mark.parametrize("compiler, level", [
    (compiler, level) for compiler in ("gcc", "clang")
    for level in ("-O0", "-O1", "-O2")])
def test_in_non_stop_mode(gdb, compiler, level, session):
    check_same(gdb, "beside.c", (compiler, level), [
        "set non-stop on", *NON_STOP[session]], "-pthread")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_a_fault_in_a_thread_that_gdb_switches_to(gdb, compiler, level):
    check_same(gdb, "inlined_thread.c", (compiler, level), [
        "run", "bt", "info program", "thread", "info symbol $pc",
        "print $_siginfo.si_code", "step", "bt", "step", "bt", "continue"],
        "-pthread")


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_no_frame_of_ours_is_where_exceptions_are(gdb, level):
    check_same(gdb, "throw.cc", ("gcc", level), [
        "catch throw", "catch catch", "run", "bt", "up", "finish", "bt", "up",
        "finish", "continue", "bt", "step", "continue", "info frame"])


def test_what_the_user_displays_stays_for_the_next_run(gdb):
    check_same(gdb, "recursive.c", ("gcc", "-O1"), [
        "break fac", "run", "display/i $pc", "display n", "delete", "continue",
        "info display", "break fac", "run", "next", "undisplay 1", "kill",
        "info display", "run", "next"], "-pthread")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2"])
def test_a_recursion_without_an_end_ends_at_its_own_call(gdb, compiler, level):
    check_same(gdb, "endless_own.c", (compiler, level), [
        command for n in range(0, 160, 16) for command in (
            f"run {n}", "bt 3", "x/i $pc", "print n", "info program", "up",
            "print n", "info breakpoints", "break half", "continue",
            "delete")], "-fno-optimize-sibling-calls")


def test_there_is_nothing_to_go_on(gdb):
    """These commands have hooks of ours."""
    check_same(gdb, "recursive.c", ("gcc", "-O1"), [
        command for start in ("tbreak fac", "run", "kill") for command in (
            start, "jump fac", "step", "next", "until", "stepi", "nexti",
            "finish", "advance fac", "signal 0", "info program")[
                :11 if start != "run" else 1]], "-pthread")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2"])
def test_the_program_is_where_it_is(gdb, compiler, level):
    """Not in a trampoline, nor at a breakpoint of ours."""
    check_same(gdb, "recursive.c", (compiler, level), [
        "break even", "run", "stepi", "finish", "info program", "return",
        "info program", "watch sink", *["continue", "info program"] * 9,
        "next", "info program", "stepi", "info program"], "-pthread")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O0", "-O1"])
@pytest.mark.parametrize("source, place", [
    ("inlined_begin.c", "kind_of"), ("debugged.c", "middle")])
def test_a_return_executes_nothing(gdb, compiler, level, source, place):
    """Where patches come back behind the function, gdb would stop at once."""
    check_same(gdb, source, (compiler, level), [
        "break " + place, "run", "delete", "watch $rsp",
        *["continue", "until", "return", "advance " + place,
          "info program"] * 4])


def test_a_watchpoint_stops_before_an_end(gdb, tmp_path):
    """What writes is in the trampoline, and its call of the shim is next."""
    needs_watchpoints()
    program = tmp_path / "app"
    (tmp_path / "app.c").write_text("""
        volatile int total;
        __attribute__((noinline)) void set(int *p, int i, int to)
        {
            p[i] = to;
            total++;
        }
        int main(void)
        {
            int all[2] = {0, 0};
            set(all, 1, 7);
            set(all, 0, 7);
            return total != 2;
        }
        """)
    subprocess.run(["gcc", "-g", "-O2", tmp_path / "app.c", "-o", program],
                   check=True)
    session = ["break main", "run", "watch total", "continue", "bt",
               "info program", "finish", "continue", "next", "stepi"]
    alone = lines(gdb, program, session, False)
    assert "set (" in alone and lines(gdb, program, session, True) == alone


@pytest.mark.parametrize("compiler, level", [
    ("gcc", "-O1"), ("gcc", "-O2"), ("clang", "-O2")])
def test_one_breakpoint_has_been_deleted(gdb, compiler, level):
    """That of `advance`, not ours at the same place."""
    check_same(gdb, "beside.c", (compiler, level), [
        "break sum", "run", *["stepi", "advance sum", "info program",
                              "continue"] * 2], "-pthread")
