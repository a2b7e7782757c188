/* SPDX-License-Identifier: MIT
 *
 * Two threads count by cstrace.h, one after the other: "queue" goes from -3 to
 * 4 and back in each, "load" is a half, and "limit" is set once. The calls take
 * long enough to be seen; compile with -DCSTRACE.
 */
#include <cstrace/cstrace.h>
#include <pthread.h>

static volatile unsigned sink;

static void work(unsigned n)
{
	for (unsigned i = 0; i < n * 1000; i++)
		sink += i;
}

static void *count(void *arg)
{
	(void)arg;
	for (int i = -3; i <= 4; i++) {
		CSTRACE_SPAN("fill", "i", i);
		cstrace_count("queue", i);
		cstrace_count("load", i / 2.0);
		work(20);
	}
	for (int i = 3; i >= -3; i--) {
		CSTRACE_SPAN("drain");
		cstrace_count("queue", i);
		work(10);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread;

	cstrace_count("limit", 18446744073709551615u);
	count(NULL);
	pthread_create(&thread, NULL, count, NULL);
	pthread_join(thread, NULL);
	return 0;
}
