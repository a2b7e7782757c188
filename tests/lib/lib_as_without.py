# SPDX-License-Identifier: MIT
"""Sessions of gdb that print the same with patches as without cstrace."""

import re

from lib_gdb import LOADER, setting_registers

# What cstrace says at a stop.
QUIET = ("set cstrace frame-ids off", "set cstrace live off",
         "set cstrace step-report off")

# With tests/targets/debugged.c, each from a fresh run.
SESSIONS = {
    "steps": ["break outer", "run", "bt", *["step"] * 12, "bt",
              *["next"] * 6, "up", "info locals"],
    "many steps": ["handle SIGUSR1 nostop noprint", "break main", "run",
                   *["step"] * 130, "bt", *["step", "next", "step"] * 40, "bt",
                   *["next"] * 20],
    "many ways out": ["handle SIGUSR1 nostop noprint", "break leaf", "run",
                      *["finish", "step", "step", "until", "continue"] * 30,
                      "bt", "info breakpoints"],
    "ways out": ["break leaf", "run", "bt", "finish", "bt", "until", "until",
                 "advance leaf", "bt", "finish", "step", "info locals"],
    "tbreak": ["tbreak middle", "run", "info args", "until", "until",
               "advance outer", "bt", "delete", "continue"],
    "conditions": ["break leaf if n == 1", "run", "bt", "info args",
                   "ignore 1 1", "continue", "bt", "info breakpoints"],
    "watch": ["break main", "run", "watch total", *["continue"] * 4, "bt",
              "delete", "continue"],
    "watch a register": ["set print frame-arguments none", "break middle",
                         "run", "watch $rsp", *["continue"] * 12, "bt",
                         "stepi", "next", "step", "nexti 3", "continue",
                         "finish", *["continue"] * 8, "stepi 4", "bt"],
    "watch by steps": ["set can-use-hw-watchpoints 0",
                       "set print frame-arguments none", "break middle", "run",
                       "watch n", "watch total", "continue", "continue",
                       "next", "finish", "continue", "bt", "until",
                       *["continue"] * 4, "bt", "info breakpoints", "delete",
                       "continue"],
    "calls": ["break middle", "run", "call leaf(5)", "print leaf(2) + 1",
              "call (int)middle(3)", "delete", "print outer(1)", "bt",
              "continue"],
    "call to a breakpoint": ["break outer", "run", "break leaf",
                             "call middle(2)", "bt", "finish",
                             "delete", "continue", "continue"],
    "return": ["break leaf", "run", "return 7", "bt", "next", "step",
               "bt", "delete", "continue"],
    "jump": ["break outer", "run", "tbreak leaf", "jump outer", "bt",
             "delete", "continue"],
    "code": ["break outer", "run", "disassemble leaf", "disassemble middle",
             "disassemble /s outer", "x/12i &leaf", "x/3i $pc",
             "info symbol leaf", "info symbol *(void **)$sp",
             "info line leaf", "display/i $pc", "next", "next", "step"],
    "checkpoint": ["break middle", "run", "checkpoint", "continue", "bt",
                   "restart 1", "bt", "next", "bt", "info checkpoints"],
    "record": ["break middle", "run", "record", "next", "next", "step",
               "reverse-step", "reverse-next", "bt", "reverse-continue",
               "bt", *["step"] * 20, "reverse-finish", "bt", "record stop",
               "bt", "next", "step", "bt", "delete", "continue"],
    "record up to an end": ["set print frame-arguments none", "break leaf",
                            "run", "record", "finish", "reverse-stepi",
                            "x/i $pc", "record stop", "step", "bt", "delete",
                            "next", "step", "continue"],
    "instructions": ["set print frame-arguments none", "break outer", "run",
                     *["stepi"] * 60, "bt", "display/i $pc",
                     *["stepi"] * 160, "bt", "finish", *["stepi"] * 80, "bt"],
    "instructions but calls": ["handle SIGUSR1 nostop noprint", "break outer",
                               "run", *["nexti"] * 60, "bt", "display/i $pc",
                               *["nexti"] * 60, "stepi", *["nexti"] * 60, "bt",
                               "finish", *["nexti"] * 60, "bt"],
    "counted instructions": ["handle SIGUSR1 nostop noprint",
                             "set print frame-arguments none", "break outer",
                             "run", *["stepi %d" % n for n in range(2, 30)],
                             "bt", "display/i $pc", "stepi 100", "finish",
                             *["stepi 7"] * 40, "bt", "delete", "break leaf",
                             "continue", "stepi 5", "finish"],
    "counted but calls": ["handle SIGUSR1 nostop noprint",
                          "set print frame-arguments none", "break outer",
                          "run", *["nexti %d" % n for n in range(2, 20)],
                          "bt", "stepi 20", "nexti 30", "bt", "finish",
                          "delete", *["nexti 7", "stepi 3"] * 15, "bt"],
    # Before its first instructions a parameter is what the stack has had.
    "into instructions": ["set print frame-arguments none", "break middle",
                          "run", *["stepi", "x/i $pc"] * 9,
                          "info registers rip rsp", "up", "info locals",
                          "continue", "stepi", "continue", "stepi", "bt",
                          "next", "bt", "delete", "continue"],
    "signal": ["handle SIGUSR1 stop print pass", "run", "bt", "signal 0"],
}


# They come to the dynamic linker, which has to look in one library more with cstrace.
IN_LINKER = ("counted instructions",)


def lines(gdb, program, commands, is_patched, loader=None):
    """What gdb prints of the commands, with patches or without: then with that
    loader, or without cstrace."""
    start = [*QUIET, "cstrace start"] if is_patched else []
    run = gdb(program, "set confirm off", *start, *commands,
              loader=LOADER if is_patched else loader,
              **setting_registers("checkpoint" in commands))
    assert not is_patched or re.search(r"^cstrace: patching \d+ function",
                                       run.out, re.M)
    return comparable(run.out)


def comparable(out):
    """What gdb has printed, but for what is another each time."""
    out = re.sub(r"^cstrace: .*\n", "", out, flags=re.M)
    out = re.sub(r"process \d+|Thread 0x\w+ \(LWP \d+\)", "process N", out)
    # The stack lies elsewhere with another environment, libraries do with one
    # more of them.
    return re.sub(r"0x(0000)?7f\w{10}|\b140737\d{9}\b", "0xN", out)
