/* SPDX-License-Identifier: MIT
 *
 * Counters that go up and down, the last value of one from another thread, and
 * messages of two places with one format.
 */
#include <cstrace/cstrace.h>
#include <pthread.h>

static void *count_there(void *unused)
{
	(void)unused;
	cstrace_count("queue", 5);
	return NULL;
}

static void say(int n)
{
	cstrace_log("step %d", n);
}

int main(void)
{
	pthread_t thread;

	cstrace_count("queue", 3);
	cstrace_count("queue", 12);
	cstrace_count("queue", -2);
	cstrace_count("load", 0.5);
	cstrace_count("load", 0.25);
	cstrace_count("bytes", 18446744073709551615ull);
	say(1);
	say(2);
	cstrace_log("step %d", 3);
	pthread_create(&thread, NULL, count_there, NULL);
	pthread_join(thread, NULL);
	return 0;
}
