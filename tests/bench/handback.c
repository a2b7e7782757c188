/* SPDX-License-Identifier: MIT
 *
 * handback COMMAND [ARGUMENT...]: run a program with the shim recording into
 * an area whose chunks are handed back unread.  So the hooks are at work as
 * they are in a trace, and nothing else is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "area/area.h"

enum { N_CHUNKS = 1024, TICK_MS = 1 };

static uint32_t hand_back_all(struct area *a)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->n_chunks; i++) {
		uint32_t *state = &a->chunks[i].state;

		if (__atomic_load_n(state, __ATOMIC_ACQUIRE) != CST_CHUNK_FULL)
			continue;
		area_give(a, i);
		n++;
	}
	return n;
}

static int serve(struct area *a, pid_t pid)
{
	uint32_t n, all = 0;
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		n = hand_back_all(a);
		all += n;
		if (n)
			continue;
		if (area_is_starved(a))
			area_grow(a);
		else
			area_sleep(a, TICK_MS);
	}
	if (!all)
		fputs("handback: nothing was recorded\n", stderr);
	return all && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void start(const struct area *a, char **command)
{
	const char *preload = getenv("BENCH_PRELOAD");

	if (preload && !setenv("BENCH_AREA", a->path, 1) &&
	    !setenv("LD_PRELOAD", preload, 1))
		execv(command[0], command);
	_exit(127);
}

int main(int argc, char **argv)
{
	struct cst_error err;
	struct area *a;
	int status;
	pid_t pid;

	if (argc < 2) {
		fputs("usage: handback COMMAND [ARGUMENT...]\n", stderr);
		return 2;
	}
	if (area_new(N_CHUNKS, &a, &err) < 0) {
		fprintf(stderr, "handback: %s\n", err.text);
		return 1;
	}
	area_hold(a);
	pid = fork();
	if (pid == 0)
		start(a, argv + 1);
	status = pid < 0 ? 1 : serve(a, pid);
	area_end(a);
	area_free(a);
	return status;
}
