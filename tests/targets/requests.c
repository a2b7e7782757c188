/* SPDX-License-Identifier: MIT
 *
 * Three requests, one after another, of one number: each begins in main's
 * thread and ends in one of its own.  The last span never ends.
 */
#include <cstrace/cstrace.h>

#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static void *serve(void *unused)
{
	usleep(2000);
	CSTRACE_ASYNC_END("request", 7);
	return unused;
}

static void accept_one(int n)
{
	CSTRACE_ASYNC_BEGIN("request", 7, "n", n);
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		accept_one(i);
		pthread_create(&thread, NULL, serve, NULL);
		pthread_join(thread, NULL);
	}
	CSTRACE_ASYNC_BEGIN("shutdown", 1);
	return 0;
}
