/* SPDX-License-Identifier: MIT
 *
 * Which values of calls the hooks copy: the plans of the sites, and the area's
 * tables that hold them for the hooks.
 */
#ifndef ENGINE_COPIES_H
#define ENGINE_COPIES_H

#include "base/bytes.h"
#include "base/hashmap.h"
#include "cstrace/engine.h"
#include "cstrace/layout.h"

#include <stdint.h>

struct args;
struct args_plan;
struct regex;
struct sites;

/* What is wanted, and what was found out for it. */
struct copies {
	struct args *args;	     /* NULL: nothing was wanted so far */
	struct args_plan **plans;    /* by site; NULL: nothing to copy */
	uint8_t *is_planned;	     /* by site: its plan was asked for */
	uint32_t n_plans, n_planned; /* room */
	struct regex *functions;     /* of these only; NULL: of all */
	struct hashmap ahead;	     /* files that were looked into (ahead.h) */
	char *plan_folder;	     /* with those of patched files, or NULL */
	uint8_t wants_args, wants_results;
};

/* Frees what s->copies has, and zeroes it. */
void copies_release(struct sites *s);

/* Sets what is wanted from now on, of the functions whose name matches (NULL:
 * all), which becomes the property of s.  Returns 0 or CST_MEMORY. */
int copies_want(struct sites *s, const struct cst_values *v,
		struct regex *functions);

/* Has the hooks copy at a site what is wanted of it; it must be known whether
 * the site is muted. */
void copies_judge(struct sites *s, uint32_t site);

/* Returns what a call of the function at a hook, or at the patch of that one,
 * is to copy, as the area's table of copies has it, before there was one; 0:
 * that is not known. */
uint32_t copies_ahead(struct sites *s, uint32_t process, uint64_t hook,
		      int kind);
uint32_t copies_ahead_patched(struct sites *s, uint32_t process, uint64_t hook,
			      uint64_t callee, int kind);

/* Answers the hooks that wait for the sites up to the last one that is known.
 */
void copies_answer(struct sites *s, uint32_t from);

/* Unpacks the numbers that an event's own record holds into the raw bytes that
 * the site's program emits, at most CST_RAW_MAX.  Returns how many these are.
 */
uint32_t copies_unpack(const struct sites *s, uint32_t site, uint64_t packed,
		       uint8_t *raw);

/* What args_compute() and args_compute_packed() do, for a site whose codes say
 * that its result is computed. */
int copies_compute(const struct sites *s, uint32_t site, const uint8_t *raw,
		   uint32_t n, uint64_t *result);
uint64_t copies_compute_packed(const struct sites *s, uint32_t site,
			       uint64_t packed);

/* Appends the values to out that the n raw bytes of the site's hook hold. */
void copies_decode(struct sites *s, uint32_t site, const void *raw, uint32_t n,
		   struct bytes *out);

#endif
