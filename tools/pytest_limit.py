# SPDX-License-Identifier: MIT
"""A time limit for each test of the gdb ring, set-up and tear-down included.

A test that waits for gdb has limits of its own; this one is for the test that
hangs where nobody thought of it.
"""

import os
import signal

import pytest

LIMIT_S = int(os.environ.get("TEST_LIMIT_S", "120"))


def give_up(_signal, _frame):
    pytest.fail(f"took longer than {LIMIT_S} s")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(LIMIT_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
