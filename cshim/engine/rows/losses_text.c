/* SPDX-License-Identifier: MIT
 *
 * Tells what a trace lacks: how many records were lost, and in words, for all
 * commands, which libraries' hooks bypassed the shim's (deepbind.c and exec.c
 * there) and which processes are silent (sandbox.c).
 */
#include "base/utf8.h"
#include "cstrace/engine.h"

#include <inttypes.h>
#include <stdio.h>

uint64_t cst_losses_records(const struct cst_losses *l)
{
	return l->n_full + l->n_sites + l->n_threads + l->n_holes;
}

int cst_losses_text(const struct cst_losses *l, uint32_t i, char *out,
		    uint32_t size)
{
	const struct {
		uint64_t n;
		const char *noun, *words;
	} losses[] = {
		{l->n_full, "record", "lost (no room)"},
		{l->n_sites, "record", "lost (too many sites)"},
		{l->n_threads, "record", "lost (no place for the thread)"},
		{l->n_holes, "record", "lost (thread killed in the hook)"},
		{l->n_dropped, "call", "not kept (too deep or short)"},
		{l->n_limit, "call", "not kept (size limit)"},
		{l->n_samples, "sample", "lost"},
	};

	for (uint32_t k = 0; k < sizeof(losses) / sizeof(*losses); k++) {
		if (!losses[k].n || i--)
			continue;
		snprintf(out, size, "%" PRIu64 " %s%s %s", losses[k].n,
			 losses[k].noun, losses[k].n == 1 ? "" : "s",
			 losses[k].words);
		return 1;
	}
	return 0;
}

struct clause {
	uint32_t n;
	const char *before, *behind;
};

static void put_exec(const struct cst_losses *l, char *out, uint32_t size)
{
	char path[4 * sizeof(l->past_exec)];

	*utf8_put(path, l->past_exec, sizeof(path) - 1) = 0;
	snprintf(out, size,
		 "any calls in %" PRIu32
		 " %s (%s%s) are missing: LD_PRELOAD and "
		 "CSTRACE_AREA were not passed on",
		 l->n_past_exec, l->n_past_exec == 1 ? "program" : "programs",
		 *path ? path : "no name", l->n_past_exec == 1 ? "" : ", ...");
}

int cst_losses_untraced(const struct cst_losses *l, uint32_t i, char *out,
			uint32_t size)
{
	const struct clause clauses[] = {
		{l->n_past_begin, "of",
		 "opened by dlmopen() the constructors' calls are missing"},
		{l->n_past_all, "calls in",
		 "opened by dlmopen() are missing: give it a path with a '/', "
		 "or use gdb"},
		{l->n_past_sealed, "any calls in",
		 "opened with RTLD_DEEPBIND or by dlmopen() are missing: "
		 "/proc/self/mem cannot be written, use gdb"},
	};

	for (uint32_t k = 0; k < sizeof(clauses) / sizeof(*clauses); k++) {
		const struct clause *c = &clauses[k];

		if (!c->n || i--)
			continue;
		snprintf(out, size, "%s %" PRIu32 " %s %s", c->before, c->n,
			 c->n == 1 ? "library" : "libraries", c->behind);
		return 1;
	}
	if (l->n_past_exec && !i--) {
		put_exec(l, out, size);
		return 1;
	}
	if (!l->n_ended || i)
		return 0;
	snprintf(out, size,
		 "calls in %" PRIu32 " %s are missing from when %s sandbox "
		 "(seccomp, PR_SET_TSC) ended the recording",
		 l->n_ended, l->n_ended == 1 ? "process" : "processes",
		 l->n_ended == 1 ? "its" : "their");
	return 1;
}
