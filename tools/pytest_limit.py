# SPDX-License-Identifier: MIT
"""A time limit for each test of the gdb ring, set-up and tear-down included.

A test that waits for gdb has limits of its own; this one is for the test that
hangs where nobody thought of it.
"""

import os
import signal
from typing import Iterator

import pytest

LIMIT_S = int(os.environ.get("TEST_LIMIT_S", "600"))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "limit(seconds): more than others have")


def limit_of(item: pytest.Item) -> int:
    marker = item.get_closest_marker("limit")
    return max(LIMIT_S, marker.args[0]) if marker else LIMIT_S


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    limit_s = limit_of(item)

    def give_up(_signal: int, _frame: object) -> None:
        pytest.fail(f"took longer than {limit_s} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(limit_s)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
