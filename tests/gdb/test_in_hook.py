# SPDX-License-Identifier: MIT
"""A signal that comes while a hook runs shows the user's function, which is
gone on with as after a breakpoint."""

import re

import pytest

from lib_build import BUILD, TESTS, build
from lib_term import PROMPT, Terminal
from lib_tree import own_sites, rows

HOOKS = {"enter": "__cyg_profile_func_enter", "exit": "__cyg_profile_func_exit"}
SCRIPT = TESTS / "gdb" / "in_gdb_hook.py"


def in_hook(hook, *then):
    """Commands, to stand in the hook that comes after leaf(1)'s beginning."""
    return ["source %s" % SCRIPT, "set cstrace live off",
            "break leaf if n == 1", "cstrace start", "run", "delete",
            "python stand_in('%s')" % HOOKS[hook], "echo @@\\n", *then]


def with_signal(name):
    return ["python send('%s')" % name, "continue"]


@pytest.mark.parametrize("signal", ["SIGINT", "SIGUSR1"])
@pytest.mark.parametrize("hook", HOOKS)
def test_the_program_stands_in_the_users_function(gdb, hook, signal):
    run = gdb(build("many.c"), "set cstrace frame-ids off",
              "set cstrace step-report off",
              *in_hook(hook, *with_signal(signal)), "bt",
              "info locals", "p $_siginfo.si_signo", "handle %s nopass" % signal,
              "next", *["finish"] * (hook == "enter"), "kill")
    seen = run.out.split("@@\n")[1]
    function = "leaf \\(n=1\\)" if hook == "exit" else "leaf \\(n=2\\)"
    assert re.search(r"received signal %s, .*\n%s at .*many.c:\d+\n\d+\t"
                     % (signal, function), seen), seen
    assert re.search(r"\n#0  %s at .*many.c:\d+\n#1 .* in main \(" % function,
                     seen), seen
    assert "Single stepping" not in seen
    # as `next` and `finish` end
    assert re.search(r"\nmain \(.*many.c:32\n32\t", seen), seen
    assert "cyg_profile" not in seen
    number = {"SIGINT": 2, "SIGUSR1": 10}[signal]
    assert "$1 = %d\n" % number in seen


def test_a_fault_in_the_hook_is_shown_at_the_user_function(gdb):
    """It cannot be gone on from, as where the stack is used up."""
    run = gdb(build("many.c"), "set cstrace frame-ids off",
              "set cstrace step-report off",
              *in_hook("enter", *with_signal("SIGSEGV")), "bt",
              "bt -no-filters", "disable frame-filter global cstrace", "bt")
    seen = run.out.split("@@\n")[1]
    assert re.search(r"received signal SIGSEGV, .*\n0x\w+ in leaf \(n=2\) at "
                     r".*many.c", seen), seen
    filtered, whole, plain = seen.split("SIGSEGV")[1].split("in main (")[:3]
    assert re.search(r"\n#1 .* in leaf \(n=2\)", filtered)
    assert "#0 " not in filtered
    for text in whole, plain:
        assert re.search(r"#0 .* in __cyg_profile_func_enter \(\)", text)


def test_a_breakpoint_in_the_hook_stays_there(gdb):
    run = gdb(build("many.c"), *in_hook("enter", "stepi"))
    assert re.search(r"in __cyg_profile_func_enter \(\) from .*libcstrace.so$",
                     run.out, re.M)


# A program that is in its hooks nearly all the time, and one that waits for
# a reader that has to draw each row.
WAYS = {"running": ["set cstrace live off"],
        "waiting": ["set cstrace pool 1M", "set cstrace output /dev/null"],
        "in step": ["set cstrace live off", "set cstrace sync-method handshake"]}


@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_in_the_midst_of_calls(tmp_path, way):
    start = "cstrace start -sync" if way == "in step" else "cstrace start"
    with Terminal(tmp_path, build("hot.c"), commands=tuple(WAYS[way])) as t:
        t.ask(start + " -depth 2")
        t.ask("tbreak leaf")
        t.ask("run")
        t.go_on()
        for _ in range(8):
            t.interrupt()
            seen = t.wait("received signal SIGINT", PROMPT)
            assert "cyg_profile" not in seen and "libcstrace" not in seen
            seen = t.ask("bt")
            assert re.match(
                r"#0 .*(leaf|work|main)(?: \[[\d.]+\])? \(.*hot.c", seen)
            assert re.search(r"^\d+\t", t.ask("next"), re.M)
            t.go_on()
        t.interrupt()
        t.wait("received signal SIGINT", PROMPT)
        last = rows(t.ask("cstrace show -last 1"))
        assert own_sites(last[0].text).startswith("main")


# Linked with the shim: its functions lie among the program's.
STATIC = ("-static", "-L%s" % BUILD, "-lcstrace",
          "-Wl,@%s" % (BUILD / "static.opts"))


@pytest.mark.parametrize("linked", ["shared", "static"])
def test_all_threads_are_in_the_users_functions(tmp_path, linked):
    """The user may select any, and gdb shows its innermost frame at once."""
    flags = STATIC if linked == "static" else ()
    with Terminal(tmp_path, build("hot_threads.c", *flags),
                  commands=("set cstrace live off",)) as t:
        t.ask("cstrace start -depth 2")
        t.ask("tbreak puts")
        t.ask("run")
        t.go_on()
        for _ in range(6):
            t.interrupt()
            seen = t.wait("received signal SIGINT", PROMPT)
            for thread in range(2, 6):
                seen += t.ask("thread %d" % thread) + t.ask("bt 1")
            assert "cyg_profile" not in seen and "libcstrace" not in seen
            assert len(re.findall(r"^#0 .*(leaf|work|spin)(?: \[[\d.]+\])? \(.*hot_threads.c",
                                  seen, re.M)) == 8, seen
            t.go_on()
        t.interrupt()
        t.wait("received signal SIGINT", PROMPT)


def test_ctrl_c_in_a_static_program(tmp_path):
    with Terminal(tmp_path, build("hot.c", *STATIC),
                  commands=("set cstrace pool 1M",
                            "set cstrace output /dev/null")) as t:
        t.ask("cstrace start -depth 2")
        t.ask("tbreak leaf")
        t.ask("run")
        t.go_on()
        for _ in range(8):
            t.interrupt()
            t.wait("received signal SIGINT", PROMPT)
            assert re.match(
                r"#0 .*(leaf|work|main)(?: \[[\d.]+\])? \(.*hot.c", t.ask("bt"))
            t.go_on()
        t.interrupt()
        t.wait("received signal SIGINT", PROMPT)
