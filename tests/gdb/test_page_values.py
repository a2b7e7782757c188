# SPDX-License-Identifier: MIT
"""The page of a program whose calls have values: boxes, tree and details have
them as rows do."""

import re

import pytest

import lib_browser
from lib_build import ROOT, build
from lib_formats import cstrace, record_program, save

lib_browser.skip_unless_possible()

LABEL = "cstrace.views.chart.plugin.label(arguments[0])"
CALL = """[...Array(cstrace.trace.calls.n).keys()].find(
  (call) => cstrace.names.id(call) === arguments[0])"""


@pytest.fixture(scope="module", name="valued")
def valued_folder(tmp_path_factory):
    folder = record_program(
        tmp_path_factory.mktemp("valued"),
        build("values.c", "-DCSTRACE", "-I%s" % (ROOT / "cshim/include")))
    save(folder, "t.html")
    return folder


def test_values_are_where_the_call_is(page, valued):
    done = cstrace(valued, "show", "--where", "text == '4x'", "t.cst")
    id, = re.findall(r" (1\.\d+) ", done.stdout)
    page.open(valued / "t.html")
    call = page.run(CALL, id)
    name, values = page.run(LABEL, call)[:2]
    assert (name, values) == ("parse", '(text="4x", base=10) = -1')
    page.run("cstrace.select(arguments[0], 'chart')", call)
    page.wait("document.querySelector('#details').textContent"
              ".includes('4x')")
    assert values in page.text("#details")
    page.view("3", "tree")
    page.wait("document.querySelector('#tree .selected')")
    assert page.text("#tree .selected .call") == "parse" + values
