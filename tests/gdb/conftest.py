# SPDX-License-Identifier: MIT
"""Fixtures of the gdb ring: the real gdb on small programs, no mock of it."""

import functools

import pytest

from lib_formats import record
from lib_gdb import run_gdb


@pytest.fixture
def gdb(tmp_path):
    """run_gdb() in an empty folder, which is the user's home as well."""
    return functools.partial(run_gdb, tmp_path)


@pytest.fixture(scope="module", name="ended")
def ended_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ended")
    record(folder)
    return folder


@pytest.fixture(scope="module", name="left_open")
def left_open_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("open")
    record(folder, "stop")
    return folder
