# SPDX-License-Identifier: MIT
"""Rounds, medians and the table."""

import statistics
import sys

ROUNDS = 5


def rounds(variants, n=ROUNDS):
    """variants: name -> function without arguments.  Runs them in turns, so
    that whatever disturbs the machine disturbs all; returns name -> list."""
    got = {name: [] for name in variants}
    for i in range(n):
        order = list(variants) if i % 2 == 0 else list(reversed(variants))
        for name in order:
            got[name].append(variants[name]())
    return got


def median(values, key=None):
    return statistics.median(key(v) for v in values) if key else \
        statistics.median(values)


class Table:
    """Rows come out as they are known."""

    LAYOUT = "%-28s %14s %-30s %9s  %-9s %s"

    def __init__(self):
        self.n_missed = 0

    def section(self, name, what):
        print("\n%s: %s" % (name, what))
        print(self.LAYOUT % ("", "ours", "  against", "is", "goal", ""))
        sys.stdout.flush()

    def row(self, what, ours, peer, ratio, goal=None, unit="x"):
        """goal: ("<=", 1.25), or None for a figure that is only shown."""
        verdict = wanted = ""
        if goal:
            is_met = ratio <= goal[1] if goal[0] == "<=" else ratio >= goal[1]
            verdict = "ok" if is_met else "MISSED"
            wanted = "%s %g" % goal
            self.n_missed += not is_met
        print((self.LAYOUT % (what, ours, "  " + peer, "%.2f %s" % (
            ratio, unit), wanted, verdict)).rstrip())
        sys.stdout.flush()
