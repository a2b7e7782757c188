/* SPDX-License-Identifier: MIT
 *
 * Spends its time where it says: the work of one, two and four is one to two to
 * four, on the stack that the first argument names.  Compiled without hooks.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile unsigned long sink;
static unsigned long rounds;

/* Rounds differ in length, or samples at a steady rate would fall in step with
 * them. */
static _Thread_local unsigned long units = 100000, seed = 1;

/* Each has this very code, so that the same work takes the same time. */
#define WORK(name, times)                                          \
	NOINLINE void name(void)                                   \
	{                                                          \
		unsigned long x = 1, n = units * (times);          \
                                                                   \
		for (unsigned long i = 0; i < n; i++)              \
			__asm__ volatile("imul $3, %0" : "+r"(x)); \
		sink += x;                                         \
	}
WORK(one, 1)
WORK(two, 2)
WORK(four, 4)

NOINLINE void all(void)
{
	for (unsigned long i = 0; i < rounds; i++) {
		seed = seed * 6364136223846793005ul + 1442695040888963407ul;
		units = 50000 + (seed >> 33) % 100001;
		one();
		two();
		four();
	}
	sink++;
}

static void *thread_all(void *arg)
{
	all();
	return arg;
}

static void handler(int number)
{
	(void)number;
	all();
}

static void on_alternate_stack(void)
{
	stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	struct sigaction action = {.sa_handler = handler,
				   .sa_flags = SA_ONSTACK};

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

static ucontext_t main_context, other_context;

static void coroutine(void)
{
	for (unsigned long n = rounds, i = 0; i < n; i++) {
		rounds = 1;
		all();
		swapcontext(&other_context, &main_context);
	}
}

static void in_coroutine(void)
{
	unsigned long n = rounds;

	getcontext(&other_context);
	other_context.uc_stack.ss_sp = malloc(1 << 16);
	other_context.uc_stack.ss_size = 1 << 16;
	other_context.uc_link = &main_context;
	makecontext(&other_context, coroutine, 0);
	for (unsigned long i = 0; i < n; i++)
		swapcontext(&main_context, &other_context);
}

static void in_threads(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, thread_all, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static void in_fork(void)
{
	pid_t pid = fork();

	if (!pid) {
		all();
		exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void *allocate(void *arg)
{
	for (unsigned long i = 0; i < rounds * 1000; i++) {
		void *volatile memory = malloc(i % 3000);

		free(memory);
	}
	return arg;
}

static void in_malloc(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, allocate, NULL);
	allocate(NULL);
	pthread_join(thread, NULL);
}

/* The loader's lock is taken and left while a thread is sampled. */
static void in_loader(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, thread_all, NULL);
	for (unsigned long i = 0; i < rounds; i++) {
		void *library = dlopen("libm.so.6", RTLD_NOW);

		if (library)
			dlclose(library);
	}
	pthread_join(thread, NULL);
}

static int is_handled(int number)
{
	struct sigaction now;

	return sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_DFL;
}

static volatile int n_own;

static void own_handler(int number)
{
	(void)number;
	n_own++;
}

/* All of them are the program's: none is handled, each may be taken and
 * blocked, and errno stays. */
static void of_signals(void)
{
	int n_handled = 0, n_taken = 0;
	sigset_t every, before;

	for (int i = SIGRTMIN; i <= SIGRTMAX; i++)
		n_handled += is_handled(i);
	for (int i = SIGRTMIN; i <= SIGRTMAX - 8; i++) {
		signal(i, own_handler);
		raise(i);
		n_taken += is_handled(i);
		signal(i, SIG_DFL);
	}
	n_handled += is_handled(SIGURG);
	signal(SIGURG, own_handler);
	raise(SIGURG);
	n_taken += is_handled(SIGURG);
	for (int i = SIGRTMAX; i > SIGRTMAX - 5; i--)
		signal(i, own_handler);
	errno = ENOTTY;
	all();
	printf("errno %d, handled %d, taken %d, own %d\n", errno == ENOTTY,
	       n_handled, n_taken == n_own, n_own > 0);
	n_own = 0;
	sigfillset(&every);
	sigprocmask(SIG_SETMASK, &every, &before);
	all();
	sigprocmask(SIG_SETMASK, &before, NULL);
	printf("strange %d\n", n_own);
}

static void of_nothing(void)
{
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{"plain", all},
	{"alternate", on_alternate_stack},
	{"coroutine", in_coroutine},
	{"threads", in_threads},
	{"fork", in_fork},
	{"malloc", in_malloc},
	{"loader", in_loader},
	{"signals", of_signals},
	{"nothing", of_nothing},
};

int main(int argc, char **argv)
{
	rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 100;
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(ways[i].name, argv[1]))
			ways[i].run();
	puts("done");
	return 0;
}
