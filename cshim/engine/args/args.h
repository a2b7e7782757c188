/* SPDX-License-Identifier: MIT
 *
 * The arguments and the result of a function: which bytes a hook must copy to
 * have them (from the debug information, and for results from the code behind
 * the hook), and how these bytes become values (enum cst_value).
 */
#ifndef ENGINE_ARGS_H
#define ENGINE_ARGS_H

#include "args/compute.h"
#include "cstrace/layout.h"
#include "elf/modules.h"

/* All plans of a trace, and the types that they know. */
struct args;

/* Returns one without plans, or NULL when out of memory. */
struct args *args_new(void);
/* Sets whether plans that are made from now on have members of *this, and how
 * many bytes of each text, at most; 0: CST_COPY_TEXT_MAX. */
void args_want(struct args *a, int members, uint32_t text_bytes);
/* Frees it with all its plans; a may be NULL. */
void args_free(struct args *a);

/* How a site's values are copied.  Sites of one hook instruction have one
 * plan in common, wherever its file is mapped. */
struct args_plan {
	/* The copy program, with its CST_COPY_END. */
	const struct cst_copy *steps;
	uint32_t n_steps;
	/* If not 0: all of the program's steps, so many, are such as
	 * CST_COPY_PLAIN may begin. */
	uint32_t n_plain;
	/* The names of the values, commas between; the same for all sites of a
	 * function.  Of a result: those of its fields. */
	const char *names;
	/* There is nothing to copy: the values are the same at each call. */
	int is_static;
	/* The codes of the values (codes.h), the first one's lowest; 0: there
	 * are too many, or some have none. */
	uint16_t codes;
	/* The modules are needed: one of them may be a pointer with a name. */
	int has_pointers;
	/* The caller's own, 0 at first: where it put the program, and the bits
	 * that each number has in the event's own record. */
	uint32_t first, bits;
	/* private */
	const struct args *of;
	const struct args_item *items;
	const struct compute_node *nodes; /* of the one that is computed */
	uint32_t n_items, n_nodes, n_inputs;
	uint8_t inputs[COMPUTE_INPUTS_MAX]; /* those of the nodes that are such
					     */
};

/* Returns the plan of a hook that is called with this callee (the function's
 * address) and returns to `hook`, for kind CST_ENTER or CST_EXIT; or NULL if
 * there is nothing to copy, or nothing is known.  It is valid until
 * args_free().
 */
struct args_plan *args_plan(struct args *a, struct modules *m, uint64_t hook,
			    uint64_t callee, int kind);

/* Returns 1 with that plan, or NULL, in *out for the hook that returns to
 * `hook`, before it was called; 0 if it is not known which function it is of.
 * Should another one call it, args_plan() returns NULL then. */
int args_plan_ahead(struct args *a, struct modules *m, uint64_t hook, int kind,
		    struct args_plan **out);

#endif
