/* SPDX-License-Identifier: MIT
 *
 * One numbering for the functions and the call sites of two traces, so that
 * they can be compared.  Functions are the same by name: addresses are not
 * looked at.  Call sites of one function are the same by file and line, or by
 * their order in the file where lines have moved between two builds.
 */
#ifndef ENGINE_MATCH_FUNCTIONS_H
#define ENGINE_MATCH_FUNCTIONS_H

#include "trace/loader.h"

/* What stands for a number: a function or site of one of the traces. */
struct matched_functions_item {
	uint32_t trace;	   /* 0 or 1 */
	uint32_t index;	   /* in its names */
	uint32_t function; /* of a site: its callee's joint number */
	int is_anywhere; /* a site that stands for all calls of the function */
};

struct matched_functions {
	const struct cst_trace *traces[2];
	uint32_t *functions[2]; /* joint numbers, by the trace's own */
	uint32_t *sites[2];
	struct matched_functions_item *function_items, *site_items;
	uint32_t n_functions, n_sites;
};

/* Numbers the functions and sites of both traces, which are borrowed until
 * matched_functions_release().  Returns 0 or a negative status; release j in
 * any case. */
int matched_functions_init(struct matched_functions *j,
			   const struct cst_trace *a, const struct cst_trace *b,
			   struct cst_error *err);

/* Frees the memory of j. */
void matched_functions_release(struct matched_functions *j);

/* Return what a joint number stands for: a function, or its full name, of the
 * first trace that has it.  They are borrowed from that trace. */
static inline const struct function *
matched_functions_function(const struct matched_functions *j, uint32_t function)
{
	const struct matched_functions_item *i = &j->function_items[function];

	return &j->traces[i->trace]->names->functions[i->index];
}

static inline const char *
matched_functions_name(const struct matched_functions *j, uint32_t function)
{
	return matched_functions_function(j, function)->name;
}

#endif
