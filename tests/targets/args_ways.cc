// SPDX-License-Identifier: MIT
//
// Calls with values in places where reading them is harder: args_ways WAY.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { TIMES = 300, STACK = 64 << 10 };

#define QUIET __attribute__((no_instrument_function))

static __attribute__((noinline)) int plus(int a, int b)
{
	return a + b;
}

static __attribute__((noinline)) unsigned size(const char *word)
{
	return (unsigned)strlen(word);
}

static __attribute__((noinline)) long wide(long a, long b, short c)
{
	return a ^ b ^ c;
}

/* Its values lie in its own frame, and in its caller's. */
static __attribute__((noinline)) int many(int a, int b, int c, int d, int e,
					  int f, int g, int h)
{
	volatile char room[100];

	room[a & 7] = (char)h;
	return a + b + c + d + e + f + g + h + room[a & 7] * 0;
}

static __attribute__((noinline)) void some(int i)
{
	char here[16];

	plus(i, -i * 1000);
	size(i % 2 ? "a literal" : "one");
	snprintf(here, sizeof(here), "here %d", i);
	size(here);
	wide((1l << 60) + i, -i, (short)i);
	many(i, 2, 3, 4, 5, 6, 7, -8);
}

static void all(void)
{
	for (int i = 0; i < TIMES; i++)
		some(i);
}

/* What is not listed ends the program. */
QUIET static void enter_sandbox(void)
{
	static const unsigned allowed[] = {SYS_write, SYS_exit_group,
					   SYS_rt_sigreturn, SYS_futex};
	enum { N = sizeof(allowed) / sizeof(*allowed) };
	struct sock_filter filter[N + 3];
	struct sock_fprog program = {N + 3, filter};

	filter[0] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
	for (unsigned i = 0; i < N; i++)
		filter[1 + i] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i],
					 (unsigned char)(N - i), 0);
	filter[N + 1] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	filter[N + 2] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		abort();
}

static jmp_buf back;

static __attribute__((noinline)) void leap(int i, const char *word)
{
	plus(i, 1);
	size(word);
	longjmp(back, 1);
}

static void jumps(void)
{
	for (volatile int i = 0; i < TIMES; i++)
		if (!setjmp(back))
			leap(i, "over");
}

static __attribute__((noinline)) void fail(int i, const char *word)
{
	plus(i, 1);
	throw word;
}

static void throws(void)
{
	for (int i = 0; i < TIMES; i++)
		try {
			fail(i, "ball");
		} catch (const char *word) {
			size(word);
		}
}

static __attribute__((noinline)) int deep(int n, const char *word)
{
	plus(n, n);
	return n ? deep(n - 1, word) + 1 : (int)size(word);
}

static void on_signal(int number)
{
	plus(number, number);
	some(1);
}

static void handlers(void)
{
	stack_t stack = {};
	struct sigaction action = {};

	stack.ss_sp = malloc(STACK);
	stack.ss_size = STACK;
	sigaltstack(&stack, nullptr);
	action.sa_handler = on_signal;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, nullptr);
	for (int i = 0; i < TIMES; i++)
		raise(SIGUSR1);
}

static ucontext_t ways[3];

static void walk(int way)
{
	for (int i = 0; i < TIMES / 2; i++) {
		some(2 * i + way);
		swapcontext(&ways[way], &ways[2]);
	}
}

/* Their stacks end at pages that are not there. */
static void coroutines(void)
{
	for (int way = 0; way < 2; way++) {
		char *stack =
			(char *)mmap(nullptr, 2 * STACK, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		munmap(stack + STACK, STACK);
		getcontext(&ways[way]);
		ways[way].uc_stack.ss_sp = stack;
		ways[way].uc_stack.ss_size = STACK;
		ways[way].uc_link = &ways[2];
		makecontext(&ways[way], (void (*)())walk, 1, way);
	}
	for (int i = 0; i < TIMES; i++)
		swapcontext(&ways[2], &ways[i % 2]);
}

/* What a pointer of the program's own leads to, and one past the end. */
static void heap(void)
{
	char *page = (char *)mmap(nullptr, 8192, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(page + 4096, 4096);
	strcpy(page + 4090, "brink");
	for (int i = 0; i < TIMES; i++) {
		char *word = strdup("from the heap");

		size(word);
		free(word);
		size(page + 4090);
	}
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	if (!strcmp(way, "sandbox"))
		enter_sandbox();
	if (!strcmp(way, "jumps"))
		jumps();
	else if (!strcmp(way, "throws"))
		throws();
	else if (!strcmp(way, "deep"))
		return deep(TIMES, "ground") != TIMES + 6;
	else if (!strcmp(way, "handlers"))
		handlers();
	else if (!strcmp(way, "coroutines"))
		coroutines();
	else if (!strcmp(way, "heap"))
		heap();
	else
		all();
	return 0;
}
