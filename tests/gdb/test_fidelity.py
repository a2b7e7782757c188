# SPDX-License-Identifier: MIT
"""The hard cases of tests/fidelity, in every build: the recorded tree is what
the program says that it did."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "fidelity"))

import fidelity  # noqa: E402
import recipes  # noqa: E402


@pytest.mark.parametrize("case", recipes.cases())
@pytest.mark.parametrize("compiler,level", recipes.BUILDS)
def test_tree_is_what_the_program_says(case, compiler, level, tmp_path):
    fault = fidelity.check(case, compiler, level, tmp_path)
    if fault == "skip":
        pytest.skip("no " + compiler)
    assert fault is None
