# SPDX-License-Identifier: MIT
"""A program that is compiled for one test, and processes that end with it."""

import subprocess

LIMIT_S = 120

# Part of a program that gives up root's rights as it starts.
AS_NOBODY = """
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void changes_user(void)
{
	if (setgid(65534) || setuid(65534))
		abort();
}
"""


def compiled(folder, source, *flags):
    (folder / "app.c").write_text(source)
    subprocess.run(["gcc", "-g", "-O2", "app.c", "-o", "app", *flags],
                   cwd=folder, check=True)
    return folder / "app"


def nobody_can_read(path):
    return subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", "test",
                           "-r", path], check=False).returncode == 0


def started_processes():
    """For a fixture: a function that starts a process, which is ready when it
    says so and takes orders; it ends with the test."""
    started = []

    def start(*words):
        one = subprocess.Popen([*map(str, words)], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        started.append(one)
        assert one.stdout.readline() == "ready\n"
        return one

    yield start
    for one in started:
        if one.poll() is None:
            one.kill()
        one.communicate(timeout=LIMIT_S)
