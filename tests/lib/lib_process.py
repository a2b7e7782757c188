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

# A thread is always in code of no file, as a JIT makes it, in memory with a name
# or without; and has there on top of its stack what a debugger takes for a return
# address: that of a word.  The program's status is 3, and 4 if the word has
# changed.  With an argument it is the only thread, and sometimes elsewhere.
RUNS_MADE_CODE = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static volatile sig_atomic_t is_over;
static volatile int stop;
static volatile unsigned long word = 0x1122334455667788;
static void end(int n) { (void)n; is_over = 1; }
/*	push %rbp; xor %ebp, %ebp; push %rdi
 * 1:	mov (%rdi), %rax; cmp %rdx, %rax; jne 2f
 *	mov (%rsi), %ecx; test %ecx, %ecx; je 1b
 * 2:	pop %rdi; pop %rbp; sub %rdx, %rax; ret */
static const unsigned char code[] = {
	0x55, 0x31, 0xed, 0x57, 0x48, 0x8b, 0x07, 0x48, 0x39, 0xd0, 0x75,
	0x06, 0x8b, 0x0e, 0x85, 0xc9, 0x74, 0xf2, 0x5f, 0x5d, 0x48, 0x29,
	0xd0, 0xc3};
static void *runs(void *made)
{
	unsigned long (*looks)(volatile unsigned long *, volatile int *,
			       unsigned long);
	memcpy(&looks, &made, sizeof(looks));
	return (void *)looks(&word, &stop, word);
}
__attribute__((noinline)) static int step(int n)
{
	struct timespec short_time = {0, 1000000};
	nanosleep(&short_time, NULL);
	return n + 1;
}
static void end_looks(int n) { (void)n; stop = 1; }
static int run_alone(void *made)
{
	const struct itimerval soon = {{0, 0}, {0, 5000}};
	int is_changed = 0;
	signal(SIGALRM, end_looks);
	for (int n = 0; !is_over; stop = 0) {
		setitimer(ITIMER_REAL, &soon, NULL);
		is_changed |= runs(made) != NULL;
		n = step(n);
	}
	return is_changed ? 4 : 3;
}
int main(int argc, char **argv)
{
	pthread_t thread;
#ifdef NAMED
	int fd = memfd_create("made", 0), flags = MAP_SHARED;
#else
	int fd = -1, flags = MAP_PRIVATE | MAP_ANONYMOUS;
#endif
	void *made, *changed;
	int n = 0;
	(void)argv;
	if (fd >= 0 && ftruncate(fd, 4096))
		return 1;
	made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, flags, fd, 0);
	signal(SIGTERM, end);
	memcpy(made, code, sizeof(code));
	if (argc == 1)
		pthread_create(&thread, NULL, runs, made);
	puts("ready");
	fflush(stdout);
	if (argc > 1)
		return run_alone(made);
	while (!is_over)
		n = step(n);
	stop = 1;
	pthread_join(thread, &changed);
	return changed ? 4 : 3;
}
"""

# The code is in two segments, between which nothing is mapped.
HAS_A_HOLE = r"""
#include <stdio.h>
#include <time.h>
__attribute__((noinline, section(".far"))) static int far_step(int n)
{
	struct timespec short_time = {0, 1000000};
	nanosleep(&short_time, NULL);
	return n + 1;
}
__attribute__((noinline)) static int near_step(int n)
{
	return far_step(n) + 1;
}
int main(void)
{
	puts("ready");
	fflush(stdout);
	for (int n = 0;; )
		n = near_step(n);
}
"""
HOLE = ("-no-pie", "-fno-pie", "-Wl,--section-start=.far=0x10000000")


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
