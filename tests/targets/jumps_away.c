/* SPDX-License-Identifier: MIT
 *
 * Functions that end by jumps which name no target, or go on behind one, while
 * another thread sleeps and wakes. */
#include <pthread.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))

enum { N_ROUNDS = 600, N_CASES = 6, PAUSE_US = 300 };

typedef int function(int);

static volatile int is_over;

static void *doze(void *nothing)
{
	while (!is_over)
		usleep(PAUSE_US);
	return nothing;
}

KEPT int grow(int n)
{
	return (((n ^ 5) + n) * 4) ^ n;
}

KEPT int shrink(int n)
{
	return (((n ^ 9) - n) * 8) ^ n;
}

static function *volatile all[] = {grow, shrink};

KEPT int chosen(int n)
{
	return all[n & 1](n ^ 3);
}

KEPT int given(int n, function *f)
{
	if (n & 1)
		return f(n + 2);
	return f(n * 3 + 1);
}

KEPT int sorted(int n)
{
	switch (n) {
	case 0:
		return grow(3);
	case 1:
		return shrink(n) + 1;
	case 2:
		return n * 7;
	case 3:
		return given(n, grow);
	case 4:
		return n ^ 99;
	case 5:
		return n - 7;
	}
	return 0;
}

int main(void)
{
	pthread_t thread;
	int total = 0;

	if (pthread_create(&thread, NULL, doze, NULL))
		return 1;
	for (int i = 0; i < N_ROUNDS; i++) {
		total += chosen(i);
		total += given(i, all[i & 1]);
		total += sorted(i % N_CASES);
	}
	is_over = 1;
	pthread_join(thread, NULL);
	return total == 99;
}
