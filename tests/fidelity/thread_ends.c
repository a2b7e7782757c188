/* SPDX-License-Identifier: MIT
 *
 * pthread_exit, cancellation of both kinds, the bare system call, destructors
 * of thread data; nothing stays open.
 */
#include "expect.h"
#include <pthread.h>
#include <sched.h>

static pthread_key_t key;
static volatile int is_there;

NOINLINE static void leaf(int d)
{
	expect(d, "leaf");
}

NOINLINE static void destroy(void *arg)
{
	(void)arg;
	expect(0, "destroy");
	leaf(1);
}

NOINLINE static void leave(int d)
{
	expect(d, "leave");
	pthread_exit(NULL);
}

NOINLINE static void *exits(void *arg)
{
	expect(0, "exits");
	pthread_setspecific(key, arg);
	leave(1);
	return NULL;
}

NOINLINE static void wait_for_it(int d)
{
	expect(d, "wait_for_it");
	is_there = 1;
	for (;;)
		pause();
}

NOINLINE static void *is_cancelled(void *arg)
{
	expect(0, "is_cancelled");
	pthread_setspecific(key, arg);
	leaf(1);
	wait_for_it(1);
	return NULL;
}

NOINLINE static void spin(int d)
{
	expect(d, "spin");
	is_there = 1;
	for (;;)
		sched_yield();
}

NOINLINE static void *is_cancelled_anywhere(void *arg)
{
	int old;

	expect(0, "is_cancelled_anywhere");
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	pthread_setspecific(key, arg);
	spin(1);
	return NULL;
}

NOINLINE static void run(int d, void *(*body)(void *), int cancel)
{
	pthread_t t;

	expect(d, "run");
	is_there = !cancel;
	pthread_create(&t, NULL, body, &key);
	while (!is_there)
		sched_yield();
	if (cancel)
		pthread_cancel(t);
	pthread_join(t, NULL);
}

NOINLINE static void vanish(int d)
{
	expect(d, "vanish");
	syscall(SYS_exit, 0);
}

NOINLINE static void *vanishes(void *arg)
{
	(void)arg;
	expect(0, "vanishes");
	vanish(1);
	return NULL;
}

NOINLINE static void *exits_plainly(void *arg)
{
	(void)arg;
	expect(0, "exits_plainly");
	leave(1);
	return NULL;
}

int main(void)
{
	static const char none_open[] = "counts (open) 0\n";

	expect(0, "main");
	pthread_key_create(&key, destroy);
	for (int i = 0; i < 3; i++) {
		run(1, exits, 0);
		run(1, is_cancelled, 1);
		run(1, is_cancelled_anywhere, 1);
		run(1, vanishes, 0);
		run(1, exits_plainly, 0);
	}
	if (write(9, none_open, sizeof(none_open) - 1) < 0)
		return 1;
	return 0;
}
