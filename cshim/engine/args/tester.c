/* SPDX-License-Identifier: MIT
 *
 * Answers what the program asks about a hook: which comparisons a condition is
 * there.  Before the program runs, its functions' own hooks are found in the
 * code.
 */
#include "args/plan.h"
#include "args/tests.h"
#include "args/flow.h"
#include "cstrace/engine.h"
#include "names/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CALLS = 512, NAME_ROOM = 1024 };

struct cst_tester {
	struct modules *modules;
	struct args *args;
};

/* ---- one hook -------------------------------------------------------------
 */

/* Its demangled name without parameters. */
static void name_of(struct modules *m, uint64_t callee, char *out)
{
	struct symbol symbol;

	snprintf(out, NAME_ROOM, "the function");
	if (modules_symbol(m, callee, &symbol) && symbol.symbol) {
		cst_demangle(symbol.symbol, out, NAME_ROOM);
		if (!strstr(out, "(anonymous") && !strstr(out, "operator"))
			out[strcspn(out, "(")] = '\0';
	}
}

/* Returns whether there is anything to say of the function at all. */
static int has_lines(struct modules *m, uint64_t callee)
{
	uint64_t inside;

	return modules_inlines(m, callee, &inside) != NULL;
}

static int no_plan(const struct tests_at *at, struct modules *m,
		   uint64_t callee, struct cst_error *err)
{
	if (!has_lines(m, callee))
		return cst_fail(CST_BAD_INPUT, err,
				"there is no debug information of %s()",
				at->function);
	return cst_fail(CST_BAD_INPUT, err, "%s() %s%s", at->function,
			at->is_exit ? "returns nothing that "
				    : "has no values that are known where it ",
			at->is_patched
				? at->is_exit ? "could be seen" : "begins"
			: at->is_exit ? "its exit's hook could see"
				      : "calls the hook");
}

/* What is asked about a hook: the comparisons of a condition, or the value that
 * its first one names. */
struct question {
	const struct where *w;
	struct cst_test *tests; /* NULL: the value */
	uint32_t n;
	struct cst_test_value *value;
};

static int test_at(struct cst_tester *t, const struct question *q,
		   const struct cst_test_hook *hook, struct cst_error *err)
{
	char name[NAME_ROOM];
	struct tests_at at = {
		.function = name,
		.hook = hook->hook,
		.is_exit = hook->is_exit != 0,
		.is_patched = cst_place_hook(hook->hook, hook->callee) <=
			      CST_PATCHED_LAST};

	name_of(t->modules, hook->callee, name);
	at.plan = args_plan(t->args, t->modules, hook->hook, hook->callee,
			    hook->is_exit ? CST_EXIT : CST_ENTER);
	if (!at.plan)
		return !at.is_exit && tests_name_result(q->w)
			       ? tests_result_ahead(&at, err)
			       : no_plan(&at, t->modules, hook->callee, err);
	return q->tests ? tests_make(&at, q->w, q->tests, q->n, err)
			: tests_value(&at, q->w, q->value, err);
}

/* ---- a function's hooks ----------------------------------------------------
 */

/* The first call is that of the entry's hook.  Which of the others are calls of
 * the exit's hook is seen by what follows: a result on its way out. */
static int test_function(struct cst_tester *t, const struct question *q,
			 const struct cst_test_hook *of, struct cst_error *err)
{
	struct cst_test_hook hook = *of;
	uint64_t calls[MAX_CALLS];
	struct symbol symbol;
	uint32_t n_calls = 0, i = 0;
	int status;

	if (modules_symbol(t->modules, of->callee, &symbol))
		n_calls =
			flow_calls(t->modules, of->callee,
				   symbol.end ? symbol.end : of->callee + 4096,
				   calls, of->is_exit ? MAX_CALLS : 1);
	do {
		hook.hook =
			i < n_calls ? calls[i] : of->callee + CST_PATCHED_LAST;
		status = test_at(t, q, &hook, err);
	} while (status < 0 && ++i < n_calls);
	return status;
}

static int test(struct cst_tester *t, const struct question *q,
		const struct cst_test_hook *hook, struct cst_error *err)
{
	return hook->hook ? test_at(t, q, hook, err)
			  : test_function(t, q, hook, err);
}

int cst_tester_make(struct cst_tester *t, const char *condition,
		    const struct cst_test_hook *hook, struct cst_test *out,
		    uint32_t n, struct cst_error *err)
{
	struct where *w;
	int status = where_new(condition, &w, err);
	const struct question q = {
		.w = w,
		.tests = out,
		.n = n > CST_TESTS_EACH ? CST_TESTS_EACH : n,
	};

	if (status < 0)
		return status;
	if (hook)
		status = test(t, &q, hook, err);
	where_free(w);
	return status;
}

int cst_tester_value(struct cst_tester *t, const char *name,
		     const struct cst_test_hook *hook,
		     struct cst_test_value *out, struct cst_error *err)
{
	char condition[NAME_ROOM];
	struct where *w;
	int status;

	snprintf(condition, sizeof(condition), "%s == 0", name);
	status = where_new(condition, &w, err);
	if (status < 0)
		return status;
	status = test(t, &(struct question){.w = w, .value = out}, hook, err);
	where_free(w);
	return status;
}

/* ---- files -----------------------------------------------------------------
 */

int cst_tester_open(uint32_t pid, const char *path, struct cst_tester **out,
		    struct cst_error *err)
{
	const struct module_note note = {.path = path, .end = 1ull << 47};
	struct cst_tester *t = calloc(1, sizeof(*t));
	int status = 0;

	if (!t || !(t->modules = modules_new()) || !(t->args = args_new())) {
		cst_tester_close(t);
		return cst_fail_memory(err);
	}
	if (pid)
		status = modules_refresh(t->modules, pid, err);
	else if (!modules_add_file(t->modules, &note, path))
		status = cst_fail(CST_FAILED, err, "cannot read '%s'", path);
	if (status < 0) {
		cst_tester_close(t);
		return status;
	}
	*out = t;
	return 0;
}

void cst_tester_close(struct cst_tester *t)
{
	if (!t)
		return;
	args_free(t->args);
	modules_free(t->modules);
	free(t);
}
