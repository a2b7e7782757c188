# SPDX-License-Identifier: MIT
"""The section sample: what 997 samples a second cost the program."""

import os
import subprocess

import bench_build as build
import running
from table import rounds


def _cpu_s(*prefix):
    return float(running.run([*prefix, build.built("sampled")],
                             stdout=subprocess.PIPE).stdout)


def _sampled():
    path = build.built("sampled.cst")
    try:
        return _cpu_s(build.COMMAND, "record", "--sample", "-o", path)
    finally:
        if os.path.exists(path):
            os.remove(path)


def sample(table):
    table.section("sample", "CPU time of a program, 997 samples a second "
                            "against none")
    got = rounds({"without": _cpu_s, "sampled": _sampled})
    # The fastest of the rounds: a neighbour adds more than samples do.
    without, sampled = min(got["without"]), min(got["sampled"])
    table.row("a sample", "%.3f s" % sampled, "%.3f s without" % without,
              (sampled / without - 1) * 100, ("<=", 2), unit="%")
