/* SPDX-License-Identifier: MIT
 *
 * Writes a large trace, that of fib(N), through the writer: no program runs.
 *
 *   trace N FILE.cst
 */
#include "file/writer.h"

#include <stdio.h>
#include <stdlib.h>

static struct lane *lane;
static uint64_t tick = 1000, n_calls, seed = 1;

/* 22 to 37 ticks. */
static uint64_t step(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return 22 + (seed >> 60);
}

static uint64_t enter(uint32_t site, uint64_t above)
{
	struct lane_entry e = {
		.start = tick, .number = ++n_calls, .above = above};

	if (!lane_is_plain(lane, n_calls, 0) && lane_prepare(lane, &e) < 0)
		exit(1);
	return lane_enter(lane, tick, site);
}

static void fib(int n, uint32_t site, uint64_t above)
{
	uint64_t seq;

	tick += step();
	seq = enter(site, above);
	if (n > 1) {
		fib(n - 1, 1, seq);
		fib(n - 2, 2, seq);
	}
	tick += step();
	lane_exit(lane, seq, tick, CALL_RETURN);
}

static struct names *make_names(void)
{
	struct names *names = names_new();

	names_set_function(names, names_add_function(names, 1), "fib", "fib",
			   "fib", "fib.c");
	for (uint32_t i = 0; i < 3; i++)
		names_set_site(names, names_add_site(names, 0), "fib.c",
			       10 + i);
	return names;
}

int main(int argc, char **argv)
{
	struct writer_options options = {.path = argc > 2 ? argv[2] : NULL,
					 .command = "fib",
					 .start_ticks = tick,
					 .ns_mult = 1u << 30,
					 .ns_shift = 31};
	struct names *names = make_names();
	struct cst_error err;
	struct writer *w;

	if (argc != 3) {
		fprintf(stderr, "usage: trace N FILE.cst\n");
		return 2;
	}
	if (writer_open(&options, names, &w, &err) < 0) {
		fprintf(stderr, "trace: %s\n", err.text);
		return 1;
	}
	writer_thread(w, 1, 4242, 1, 4242, "fib");
	lane = writer_lane(w, 1, 0, 0);
	fib(atoi(argv[1]), 0, NO_SEQ);
	writer_set_end(w, tick);
	if (writer_close(w, NULL, &err) < 0) {
		fprintf(stderr, "trace: %s\n", err.text);
		return 1;
	}
	printf("%llu\n", (unsigned long long)n_calls);
	names_free(names);
	return 0;
}
