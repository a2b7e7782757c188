/* SPDX-License-Identifier: MIT
 *
 * A server that nobody asks for anything: server ROUNDS begins, then waits for
 * events so many times, 2 ms each, and does its chores in between.
 */
#include <poll.h>
#include <stdlib.h>

enum { OPTIONS = 50, KEYS = 8 };

static int n_rounds;

static int set_option(int option)
{
	return option * 2;
}

static void configure(void)
{
	for (int i = 0; i < OPTIONS; i++)
		set_option(i);
}

static int is_expired(int key)
{
	return key < 0;
}

static void expire(void)
{
	for (int i = 0; i < KEYS; i++)
		is_expired(i);
}

static void write_log(void)
{
	poll(NULL, 0, 1);
}

static void do_chores(void)
{
	expire();
	if (n_rounds % 16 == 0)
		write_log();
}

static void wait_for_events(void)
{
	poll(NULL, 0, 2);
}

static void serve(int rounds)
{
	while (n_rounds < rounds) {
		wait_for_events();
		do_chores();
		n_rounds++;
	}
}

int main(int argc, char **argv)
{
	configure();
	serve(argc > 1 ? atoi(argv[1]) : 100);
	return 0;
}
