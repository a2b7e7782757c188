# SPDX-License-Identifier: MIT
"""The first call at each place: the program does not wait there for what is to
be recorded of its values, so that the durations around it are true."""

import re
import subprocess

import pytest

from lib_cstrace import command
from lib_gdb import run_gdb

HAS_VALUES = True
N_FUNCTIONS = 60
HEAD = r"""
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int sink;
static long waits(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_nvcsw;
}
"""
FUNCTION = """
__attribute__((noinline, noclone)) int f%d(int n, const char *text)
{
	sink += n;
	return sink + text[0] + %d;
}
"""
MAIN = """
int main(int argc, char **argv)
{
	long before;

	f0(argc, argv[0]);
	if (argc > 1 && fork()) {
		wait(NULL);
		return 0;
	}
	f0(argc, argv[0]);
	before = waits();
%s
	printf("%%ld waits\\n", waits() - before);
	return 0;
}
"""


@pytest.mark.parametrize("is_forked", [False, True], ids=["", "child"])
@pytest.mark.parametrize("is_hooked", [False, True], ids=["patches", "hooks"])
@pytest.mark.parametrize("has_gdb", [False, True], ids=["record", "gdb"])
def test_none_waits(gdb, tmp_path, has_gdb, is_hooked, is_forked):
    numbers = range(N_FUNCTIONS)
    (tmp_path / "app.c").write_text(
        HEAD + "".join(FUNCTION % (n, n) for n in numbers) + MAIN % "\n".join(
            '\tf%d(%d, "text");' % (n, n) for n in numbers[1:]))
    subprocess.run(["gcc", "-g", "-O2", "app.c", "-o", "app", *(
        ["-finstrument-functions"] if is_hooked else [])], cwd=tmp_path,
        check=True)
    args = ["child"] if is_forked else []
    if has_gdb:
        out = gdb(tmp_path / "app", "set cstrace live off", "cstrace start",
                  "run", "cstrace show", args=args).out
    else:
        out = "".join(command(*words, cwd=tmp_path).stdout for words in (
            ["record", "--args", "-o", "t.cst", "./app", *args],
            ["show", "t.cst"]))
    assert len(re.findall(r' f\d+\(n=\d+, text="text"\) = \d+ ', out)) \
        == N_FUNCTIONS - 1
    waits, = re.findall(r"^(\d+) waits$", out, re.M)
    assert int(waits) < N_FUNCTIONS / 3, out


ATTACHED = """
int main(void)
{
	long before;
	char line[9];

	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	before = waits();
	f0(1, "text");
	printf("%ld waits\\n", waits() - before);
	return 0;
}
"""


def test_the_first_of_all_does_not_wait_where_gdb_came(tmp_path, start):
    """It would where gdb lets the program go on, and a server's clients with
    it."""
    (tmp_path / "app.c").write_text(HEAD + FUNCTION % (0, 0) + ATTACHED)
    subprocess.run(["gcc", "-g", "-O2", "app.c", "-o", "app"], cwd=tmp_path,
                   check=True)
    one = start(tmp_path / "app")
    out = run_gdb(tmp_path, None, "set cstrace live off",
                  "attach %d" % one.pid, "cstrace start",
                  "shell echo > /proc/%d/fd/0" % one.pid, "continue",
                  "cstrace show").out
    assert re.search(r' f0\(n=1, text="text"\) = \d+ ', out), out
    assert one.stdout.readline() == "0 waits\n"
