/* SPDX-License-Identifier: MIT
 *
 * A library that begins a thread before main().
 */
#include <pthread.h>
#include <unistd.h>

static void *run(void *p)
{
	pause();
	return p;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_t t;

	pthread_create(&t, 0, run, 0);
}
