/* SPDX-License-Identifier: MIT
 *
 * Says whether what the hooks must not touch is as the program left it: errno,
 * the floating point's control and status words, vector registers across a
 * hook, arguments, the signal mask and the alternate stack; in plain code, and
 * in a signal handler that runs on that stack.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <immintrin.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUIET __attribute__((no_instrument_function))

enum { ROUNDS = 6000 }; /* some chunks full */

void __cyg_profile_func_enter(void *callee, void *caller);
void __cyg_profile_func_exit(void *callee, void *caller);

static int n_wrong, n_handled;
static char stack[65536];

QUIET static void check(int is_right, const char *what)
{
	if (is_right)
		return;
	if (n_wrong++ < 10)
		printf("changed: %s\n", what);
}

QUIET static uint32_t mxcsr(void)
{
	return _mm_getcsr();
}

QUIET static uint16_t x87_control(void)
{
	uint16_t word;

	__asm__ volatile("fnstcw %0" : "=m"(word));
	return word;
}

static double sum(double a, double b, double c, double d, double e, double f,
		  double g, double h, long i, long j, long k, long l, long m,
		  long n, long o)
{
	return a + b + c + d + e + f + g + h + (double)(i + j + k + l) +
	       (double)(m + n + o);
}

/* A hook called with all vector registers in use. */
QUIET static void across_a_hook(void (*hook)(void *, void *), int round)
{
	static uint64_t before[16][2], after[16][2];

	for (int i = 0; i < 16; i++)
		before[i][0] = before[i][1] =
			(uint64_t)(round + i) * 0x9e3779b97f4a7c15u;
#define LOAD(i) "movups " #i "*16(%[b]), %%xmm" #i "\n\t"
#define STORE(i) "movups %%xmm" #i ", " #i "*16(%[a])\n\t"
#define ALL(x)                                                              \
	x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11) x(12) \
		x(13) x(14) x(15)
	__asm__ volatile("subq $128, %%rsp\n\t" /* over the red zone */
			 "movq %%rsp, %%rbx\n\t"
			 "andq $-16, %%rsp\n\t" ALL(
				 LOAD) "movq %[b], %%r12\n\t"
				       "movq %[a], %%r13\n\t"
				       "call *%[hook]\n\t"
				       "movq %%r13, %[a]\n\t" ALL(
					       STORE) "movq %%rbx, %%rsp\n\t"
						      "addq $128, %%rsp\n\t"
			 : [a] "+r"((uint64_t(*)[2]){after})
			 : [b] "r"(before), [hook] "r"(hook),
			   "D"(across_a_hook), "S"(check)
			 : "memory", "rax", "rbx", "rcx", "rdx", "r8", "r9",
			   "r10", "r11", "r12", "r13", "xmm0", "xmm1", "xmm2",
			   "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
			   "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
			   "xmm15");
	check(!memcmp(before, after, sizeof(after)), "vector registers");
}

QUIET static void one_round(int round)
{
	int number = round % 130;

	errno = number;
	check(sum(1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, round) ==
		      57.0 + round,
	      "arguments");
	check(errno == number, "errno");
	across_a_hook(__cyg_profile_func_enter, round);
	across_a_hook(__cyg_profile_func_exit, round);
	check(errno == number, "errno behind a hook");
}

static void handle(int signal)
{
	stack_t now;

	(void)signal;
	n_handled++;
	for (int i = 0; i < 100; i++)
		one_round(i);
	sigaltstack(NULL, &now);
	check(now.ss_flags & SS_ONSTACK, "the handler's stack");
}

int main(void)
{
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)}, now;
	struct sigaction action = {.sa_handler = handle,
				   .sa_flags = SA_ONSTACK};
	sigset_t mask, mask_now;
	uint32_t csr;

	fesetround(FE_UPWARD);
	feenableexcept(FE_DIVBYZERO);
	csr = mxcsr();
	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	sigaddset(&mask, 40);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		one_round(i);
		if (i % 100 == 0)
			raise(SIGUSR1);
	}
	check((mxcsr() & ~0x3fu) == (csr & ~0x3fu), "MXCSR");
	check(fegetround() == FE_UPWARD && (x87_control() & 0xc00) == 0x800,
	      "rounding");
	check(fegetexcept() == FE_DIVBYZERO, "exceptions");
	sigprocmask(SIG_SETMASK, NULL, &mask_now);
	check(!memcmp(&mask, &mask_now, sizeof(uint64_t)), "signal mask");
	sigaltstack(NULL, &now);
	check(now.ss_sp == stack && now.ss_size == sizeof(stack) &&
		      !now.ss_flags,
	      "alternate stack");
	printf("%d wrong, %d handled\n", n_wrong, n_handled);
	return n_wrong != 0;
}
