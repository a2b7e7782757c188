# SPDX-License-Identifier: MIT
"""The page of a program whose calls have values, or are made by jumps: boxes,
tree and details have that as rows do."""

import re
import subprocess

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


def test_values_leave_room_for_the_name(page, tmp_path):
    """What is long is cut, and that is the values."""
    done = cstrace(tmp_path, "record", "--args", "-o", "t.cst",
                   build("shop.cc", "-pthread"))
    assert done.returncode == 0, done.stderr
    save(tmp_path, "t.html")
    page.open(tmp_path / "t.html")
    page.view("3", "tree")
    page.wait("document.querySelector('#tree .row .values')")
    rows = page.run("""[...document.querySelectorAll('#tree .row')]
      .map((row) => ['.own', '.values'].map((part) => row.querySelector(part)))
      .filter(([own, values]) => own && values)
      .map((parts) => parts.map((e) => [e.clientWidth, e.scrollWidth]))""")
    assert all(own[0] == own[1] for own, _ in rows)
    assert any(values[0] < values[1] for _, values in rows)


def test_a_tail_call_is_marked(page, tmp_path):
    (tmp_path / "app.c").write_text(r"""
volatile int sum;
#define ALONE __attribute__((noinline))
ALONE int leaf(int n) { sum += n; return sum; }
ALONE int first(int n)
{
	leaf(n);
	return leaf(n + 1);
}
int main(void) { return first(1) * 0; }
""")
    subprocess.run(["gcc", "-g", "-O2", "app.c", "-o", "app"], cwd=tmp_path,
                   check=True)
    save(record_program(tmp_path, "./app"), "t.html")
    page.open(tmp_path / "t.html")
    assert page.run("""[...Array(cstrace.trace.calls.n).keys()].map((call) =>
      [cstrace.names.ofCall(call), cstrace.names.isTail(call)])""") == [
          ["main", False], ["first", False], ["leaf", False], ["leaf", True]]
    page.run("cstrace.select(3, 'chart')")
    page.wait("document.querySelector('#details').textContent"
              ".includes('app.c:8, tail call')")
    assert page.run("cstrace.names.stackText(3)").endswith(
        "leaf  app.c:8  (tail call)\n")
    page.view("3", "tree")
    page.wait("document.querySelector('#tree .selected')")
    assert page.text("#tree .selected .call") == "leaf tail call"
