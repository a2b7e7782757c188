/* SPDX-License-Identifier: MIT
 *
 * Functions that call themselves, on one line and on several; with an argument
 * while another thread makes calls.
 */
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile int sink;

/* clang-format off */
NOINLINE int fac(int n) { if (n < 2) return 1; int r = fac(n - 1); return r * n; }

NOINLINE int odd(int n);
NOINLINE int even(int n) { if (!n) return 1; int r = odd(n - 1); sink += r; return r; }
NOINLINE int odd(int n) { if (!n) return 0; int r = even(n - 1); sink += r; return r; }
/* clang-format on */

NOINLINE int fib(int n)
{
	if (n < 2)
		return n;
	int a = fib(n - 1);
	int b = fib(n - 2);
	return a + b;
}

NOINLINE int busy(int n)
{
	return n ? busy(n - 1) + sink : 0;
}

static void *other(void *unused)
{
	(void)unused;
	for (;;) {
		for (int i = 0; i < 1000; i++)
			busy(3);
		usleep(1000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	(void)argv;
	if (argc > 1)
		pthread_create(&thread, NULL, other, NULL);
	sink += fac(4);
	sink += fib(4);
	sink += even(4);
	return 0;
}
