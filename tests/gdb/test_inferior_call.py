# SPDX-License-Identifier: MIT
"""Our inferior calls: the results, and the registers of vectors behind them."""

import re
import subprocess

import pytest

APP = """
__attribute__((noinline)) unsigned long counts(unsigned long a, unsigned long b,
                                               unsigned long c)
{
    __asm__ volatile("pcmpeqd %%xmm0, %%xmm0\\n\\tpcmpeqd %%xmm7, %%xmm7"
                     : : : "xmm0", "xmm7");
    return (a << 40) + (b << 20) + c;
}
int main(void) { return counts(0, 0, 0) != 0; }
"""
CALLS = """
import gdb
from gdbext.process import inferior_call, memory
from gdbext.process.hooks import symbol_address
def vectors():
    return [str(gdb.parse_and_eval("$xmm%%d.uint128" %% n)) for n in (0, 7)]
if not %s:
    inferior_call._has_xsave = lambda: False
before, pid = vectors(), gdb.selected_inferior().pid
ranges = memory.mapped_ranges(pid)
with inferior_call.calls(symbol_address) as call:
    text = call.put(b"text", 100)
    print("PUT", memory.read(pid, text, 4).decode())
    for numbers in (1, 2, 3), (4, 5), (), (2**23, 1, 2**20 - 1):
        print("GOT", hex(call(symbol_address("counts"), *numbers)))
print("KEPT", before == vectors(), len(set(before + [str(2**128 - 1)])) > 1)
print("LEFT", ranges == memory.mapped_ranges(pid))
"""


@pytest.mark.parametrize("has_xsave", [True, False], ids=["xsave", "fxsave"])
def test_vectors_are_kept(gdb, tmp_path, has_xsave):
    (tmp_path / "app.c").write_text(APP)
    (tmp_path / "calls.py").write_text(CALLS % has_xsave)
    subprocess.run(["gcc", "-g", "-O1", "app.c", "-o", "app"], cwd=tmp_path,
                   check=True)
    out = gdb(tmp_path / "app", "break main", "run", "source calls.py", "next",
              "continue").out
    assert re.findall("^GOT (.*)", out, re.M) == [
        "0x10000200003", "0x40000500000", "0x0", "0x80000000001fffff"]
    assert "PUT text" in out and "KEPT True True" in out and "LEFT True" in out
    assert "exited normally" in out and "extended state" not in out
