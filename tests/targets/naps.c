/* SPDX-License-Identifier: MIT
 *
 * A thread that goes on while main() is stopped in halt().
 */
#include <pthread.h>
#include <unistd.h>

enum { ALL_NAPS = 20 };

static volatile int is_halted, n_naps;

static void nap(void)
{
	usleep(1000);
}

static void *napper(void *arg)
{
	while (!is_halted)
		;
	for (; n_naps < ALL_NAPS; n_naps++)
		nap();
	return arg;
}

static void halt(void)
{
	is_halted = 1;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, napper, NULL);
	halt();
	pthread_join(thread, NULL);
	return 0;
}
