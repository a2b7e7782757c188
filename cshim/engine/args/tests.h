/* SPDX-License-Identifier: MIT
 *
 * From a condition on values to comparisons that the program can make itself
 * (struct cst_test), with the steps that copy the values.
 */
#ifndef ENGINE_TESTS_H
#define ENGINE_TESTS_H

#include "args/args.h"
#include "base/error.h"
#include "cstrace/control.h"
#include "cstrace/engine.h"
#include "names/where_parse.h"

/* Where a condition's values are. */
struct tests_at {
	const struct args_plan *plan;
	const char *function; /* its name, without parameters */
	uint64_t hook;	      /* where it returns to */
	int is_exit;	      /* the plan is of a result */
	int is_patched;	      /* the function calls no hook */
};

/* Makes comparisons of the condition, at most n (CST_TESTS_EACH at most), and
 * sets the first of out to them.  Returns how many, or CST_BAD_INPUT, with the
 * reason in err. */
int tests_make(const struct tests_at *at, const struct where *w,
	       struct cst_test *out, uint32_t n, struct cst_error *err);

/* Returns whether the condition names the result. */
int tests_name_result(const struct where *w);
/* Reports that the result is not known at an entry; returns CST_BAD_INPUT. */
int tests_result_ahead(const struct tests_at *at, struct cst_error *err);

/* Sets *out to what the value is that the first comparison of w names.  Returns
 * 0, or CST_BAD_INPUT: why it is not copied there. */
int tests_value(const struct tests_at *at, const struct where *w,
		struct cst_test_value *out, struct cst_error *err);

#endif
