# SPDX-License-Identifier: MIT
"""`cstrace record`, no gdb in sight: runs it, and reads what it recorded."""

import json
import subprocess
import time

from lib_cstrace import CSTRACE, LIMIT_S, command

# A program with a child, which then becomes the program that it is given.
FAMILY = r"""
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void in_child(void) { }
static void in_parent(void) { }

static void run(void)
{
	if (fork() == 0) {
		in_child();
		_exit(0);
	}
	wait(NULL);
	in_parent();
}

int main(int argc, char **argv)
{
	run();
	if (argc > 1)
		execvp(argv[1], argv + 1);
	return 7;
}
"""

# A program that calls until a signal comes.
TALKER = r"""
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t got;

static void handler(int signo) { got = signo; }
static void work(void) { }

int main(void)
{
	signal(SIGTERM, handler);
	signal(SIGINT, handler);
	work();
	puts("ready");
	fflush(stdout);
	while (!got) {
		work();
		usleep(1000);
	}
	printf("got %d\n", got);
	return 9;
}
"""


def record(folder, *words, **options):
    """The run, and what has hooks: each call a line of the JSON lines."""
    done = command("record", "--hooks", *words, cwd=folder, **options)
    return done, calls(folder)


def calls(folder, trace="cstrace.cst"):
    out = folder / "out.jsonl"
    saved = command("save", "--std", trace, out, cwd=folder)
    assert saved.returncode == 0, saved.stderr
    return [json.loads(line) for line in out.read_text().splitlines()]


def functions(found, **where):
    return [c["function"] for c in found
            if all(c[k] == v for k, v in where.items())]


def wait_for(done, what):
    limit = time.monotonic() + LIMIT_S
    while not done():
        assert time.monotonic() < limit, "no " + what
        time.sleep(0.005)


def start(folder, *words, stdin=subprocess.DEVNULL, **options):
    return subprocess.Popen([CSTRACE, "record", *map(str, words)], cwd=folder,
                            text=True, stdin=stdin, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, **options)


def finish(process):
    out, err = process.communicate(timeout=LIMIT_S)
    return process.returncode, out, err


def compiled(folder, source, name, *flags):
    path = folder / name
    path.with_suffix(".c").write_text(source)
    subprocess.run(["gcc", "-g", "-finstrument-functions", *flags,
                    str(path.with_suffix(".c")), "-o", str(path)], check=True)
    return path
