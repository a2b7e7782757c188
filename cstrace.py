# SPDX-License-Identifier: MIT
"""Loader: `gdb -x cstrace.py ./app`, or `source cstrace.py` in gdb.

Finds the package gdbext (beside this file, or where an installation put it)
and registers its commands.  Nothing else happens here."""

import os
import sys

_here = os.path.dirname(os.path.realpath(__file__))
for _folder in (_here, os.path.join(_here, "..", "lib", "cstrace")):
    if os.path.isdir(os.path.join(_folder, "gdbext")):
        if _folder not in sys.path:
            sys.path.insert(0, _folder)
        break

import gdbext  # noqa: E402

gdbext.register()
