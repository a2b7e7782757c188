/* SPDX-License-Identifier: MIT
 *
 * A thread faults in the first instruction of an inlined call, in another
 * function's first bytes.
 */
#define main of_another_program
#include "inlined_begin.c"
#undef main

#include <pthread.h>

static void *work(void *machine)
{
	static int kind;

	kind = kind_of(machine, 1);
	return &kind;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	(void)argv;
	if (argc > 1)
		return of_another_program();
	if (pthread_create(&thread, NULL, work, NULL))
		return 1;
	return pthread_join(thread, NULL);
}
