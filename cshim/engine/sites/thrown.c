/* SPDX-License-Identifier: MIT
 *
 * What was thrown or caught has a row of its own, so a function of its own in
 * the trace, one for each kind, type and message.
 */
#include "sites/thrown.h"

/* A program may say something else with each exception. */
enum { NAMES_MAX = 20000 };

static uint32_t function_new(struct exceptions *x, struct names *n,
			     const struct exception_name *e)
{
	uint32_t id = names_add_function(n, 0);

	if (id == UINT32_MAX)
		return id;
	names_set_exception(n, id, e);
	x->n_messages += e->message != NULL;
	hashmap_put(&x->functions, (uint64_t)n->functions[id].name, id);
	return id;
}

uint32_t thrown_function(struct exceptions *x, struct names *n,
			 const struct exception_name *e)
{
	const char *name = names_intern(n, e->name);
	uint32_t *known =
		name ? hashmap_get(&x->functions, (uint64_t)name) : NULL;

	if (known)
		return *known;
	return x->functions.n < NAMES_MAX ? function_new(x, n, e) : UINT32_MAX;
}
