# SPDX-License-Identifier: MIT
"""Fixtures of the gdb ring: the real gdb on small programs, no mock of it."""

import functools
import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "lib"), str(HERE / "cli"),
                str(HERE / "gdb")]

import lib_browser  # noqa: E402
from lib_build import TESTS, Variant, build  # noqa: E402
from lib_formats import record, record_program, save  # noqa: E402
from lib_gdb import Wish, run_gdb  # noqa: E402
from lib_process import started_processes  # noqa: E402
from test_robust_names import nasty_program  # noqa: E402

assert nasty_program  # a fixture


def pytest_configure(config):
    config.addinivalue_line("markers", (
        "wide(*parameters): of the combinations of these a third is run, in which "
        "each value comes with a third of the others; CSTRACE_TEST_LONG=1 runs "
        "all. Names that have their values together stand in one text."))


def is_run(item, numbers):
    """numbers: those of the values of each test's parameters, in their order."""
    wide = item.get_closest_marker("wide")
    if not wide or os.environ.get("CSTRACE_TEST_LONG") == "1":
        return True
    total = 0
    for names in wide.args:
        values = repr([item.callspec.params[name] for name in names.split()])
        known = numbers.setdefault((item.function, names), {})
        total += known.setdefault(values, len(known))
    return total % 3 == 0


def pytest_collection_modifyitems(items):
    """The longest come first: at the end they would keep one process busy."""
    numbers = {}
    items[:] = sorted(
        (item for item in items if is_run(item, numbers)),
        key=lambda item: item.get_closest_marker("limit") is None)


@pytest.fixture(scope="module", autouse=True)
def wish(request):
    """Sees to it that gdb records what the module's tests expect."""
    Wish.has_values = getattr(request.module, "HAS_VALUES", False)
    yield
    Wish.has_values = False


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


@pytest.fixture
def nasty_names(tmp_path, nasty):
    """Nasty names of functions."""
    return record_program(tmp_path, nasty)


@pytest.fixture(scope="module")
def thread_names(tmp_path_factory):
    return record_program(tmp_path_factory.mktemp("names"),
                          build("thread_names.c", name="we\"ir\\d <&;>"))


@pytest.fixture(scope="module")
def coroutines(tmp_path_factory):
    return record_program(tmp_path_factory.mktemp("coroutines"),
                          build(TESTS / "fidelity" / "coroutines.c"))


@pytest.fixture(params=["ended", "left_open", "nasty_names", "thread_names",
                        "coroutines"])
def hard_folder(request):
    """What is hard to save, each kind once."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module", name="driver")
def driver_of_module(tmp_path_factory):
    """A browser, for modules that called lib_browser.skip_unless_possible()."""
    driver = lib_browser.start(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


def page_of(tmp_path_factory, program, *args):
    """A folder with the page of a run of the program, as t.html."""
    folder = record_program(tmp_path_factory.mktemp("page"), program, *args)
    save(folder, "t.html")
    return folder


@pytest.fixture(scope="module", name="shop")
def shop_folder(tmp_path_factory):
    """A page of shop.cc, built by clang: what an exception leaves is unwound."""
    return page_of(tmp_path_factory, build(
        "shop.cc", "-pthread", variant=Variant("clang")), 3, 60)


@pytest.fixture(scope="module", name="server")
def server_folder(tmp_path_factory):
    return page_of(tmp_path_factory, build("server.c"), 100)


@pytest.fixture(scope="module", name="fibs")
def fibs_folder(tmp_path_factory):
    return page_of(tmp_path_factory, build("page.c"), 1)


@pytest.fixture(name="page")
def page_of_test(driver):
    page = lib_browser.Page(driver)
    yield page
    page.check()


@pytest.fixture(name="start")
def starter_of_test():
    """Starts a process that ends with the test."""
    yield from started_processes()
