/* SPDX-License-Identifier: MIT
 *
 * Nothing of cstrace: what leaves functions in other ways than by a return, in
 * threads and a child, and what unwinds its own stack.
 */
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdexcept>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT __attribute__((noinline))

struct Guard {
	const char *name;
	explicit Guard(const char *n) : name(n)
	{
	}
	~Guard()
	{
		printf("end of %s\n", name);
	}
};

KEPT static void throws(int n)
{
	Guard g("throws");

	if (!n)
		throw std::runtime_error("thrown");
	throws(n - 1);
	puts("not here");
}

KEPT static int depth(int n)
{
	void *frames[64];

	if (n)
		return depth(n - 1) + 1;
	return backtrace(frames, 64) * 100;
}

static jmp_buf back;

KEPT static void leaps(int n)
{
	if (!n)
		longjmp(back, 1);
	leaps(n - 1);
	puts("not here");
}

KEPT static void *waits(void *ready)
{
	Guard g("waits");
	char byte = 1;

	if (write(*(int *)ready, &byte, 1) == 1)
		for (;;)
			pause();
	return NULL;
}

KEPT static void *quits(void *)
{
	Guard g("quits");

	pthread_exit(NULL);
}

KEPT static void in_child(void)
{
	puts("child");
	fflush(stdout);
}

static volatile sig_atomic_t n_signals;

KEPT static void handles(int)
{
	void *frames[64];

	n_signals += backtrace(frames, 64) > 4;
}

KEPT static long works(int n)
{
	return n < 2 ? n : works(n - 1) + works(n - 2);
}

KEPT static void under_signals(void)
{
	static char memory[1 << 16];
	stack_t stack = {};
	struct sigaction action = {};
	struct timespec every = {0, 100000};
	struct sigevent event = {};
	struct itimerspec spec = {every, every};
	timer_t timer;
	long sum = 0;

	stack.ss_sp = memory;
	stack.ss_size = sizeof(memory);
	sigaltstack(&stack, NULL);
	action.sa_handler = handles;
	action.sa_flags = SA_ONSTACK | SA_RESTART;
	sigaction(SIGUSR1, &action, NULL);
	event.sigev_signo = SIGUSR1;
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &spec, NULL);
	while (n_signals < 100)
		sum += works(12) - 144;
	timer_delete(timer);
	printf("sum %ld\n", sum);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int ready[2];
	char byte;

	if (argc > 1 && !strcmp(argv[1], "again")) {
		printf("depth %d\n", depth(2) % 100);
		return 4;
	}
	try {
		throws(3);
	} catch (const std::exception &e) {
		puts(e.what());
	}
	printf("depth %d\n", depth(5) / 100 > 7);
	if (!setjmp(back))
		leaps(3);
	if (pipe(ready) < 0)
		return 1;
	pthread_create(&thread, NULL, waits, &ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		return 1;
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, quits, NULL);
	pthread_join(thread, NULL);
	fflush(stdout);
	if (!fork()) {
		in_child();
		_exit(0);
	}
	wait(NULL);
	if (argc > 1)
		under_signals();
	fflush(stdout);
	if (argc > 1)
		execl("/proc/self/exe", argv[0], "again", (char *)NULL);
	return 3;
}
