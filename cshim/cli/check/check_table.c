/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keeps the table of the functions' names that `cstrace check` lists: one entry
 * for each name, sorted at the end with the program's own first.
 */
#include "check/check_table.h"
#include "base/array.h"
#include "names/names.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

struct key {
	const char *text; /* the name's own */
	uint32_t name;
};

static int compare_keys(const void *a, const void *b)
{
	return strcmp(((const struct key *)a)->text,
		      ((const struct key *)b)->text);
}

static void name_release(struct check_name *n)
{
	free(n->key);
	free(n->name);
	free(n->file);
}

static uint32_t name_add(struct check_names *n, const char *name,
			 const char *key)
{
	struct check_name *new;

	if (array_room(&n->all, &n->capacity, n->n + 1ull) < 0)
		return UINT32_MAX;
	new = &n->all[n->n];
	*new = (struct check_name){
		.key = strdup(key),
		.name = strdup(name),
		.unit = UINT32_MAX,
	};
	if (!new->key || !new->name) {
		name_release(new);
		return UINT32_MAX;
	}
	return n->n++;
}

uint32_t check_names_put(struct check_names *n, const char *name,
			 const char *key)
{
	struct key wanted = {.text = key}, *new, **found;
	uint32_t i;

	found = tfind(&wanted, &n->by_key, compare_keys);
	if (found)
		return (*found)->name;
	new = malloc(sizeof(*new));
	i = new ? name_add(n, name, key) : UINT32_MAX;
	if (i == UINT32_MAX) {
		free(new);
		return UINT32_MAX;
	}
	*new = (struct key){n->all[i].key, i};
	if (!tsearch(new, &n->by_key, compare_keys)) {
		free(new);
		return UINT32_MAX;
	}
	return i;
}

static int is_own(const struct check_name *n)
{
	return n->has_debug || n->n_copies || n->n_inlined;
}

/* Drops the functions that are only declared, of which nothing is known, and
 * those of libraries unless they were asked for. */
static void drop_others(struct check_names *o)
{
	uint32_t n = 0, n_own = 0;

	for (uint32_t i = 0; i < o->n; i++)
		n_own += is_own(&o->all[i]);
	for (uint32_t i = 0; i < o->n; i++) {
		struct check_name *name = &o->all[i];

		if (is_own(name) || (!n_own && name->is_imported))
			o->all[n++] = *name;
		else
			name_release(name);
	}
	o->n = n;
}

/* The C++ library's and system headers' functions are not shown by default. */
static void judge_std(struct check_names *o)
{
	struct names *table = names_new();

	for (uint32_t i = 0; table && i < o->n; i++) {
		uint32_t id = names_add_function(table, i);

		if (id == UINT32_MAX)
			break;
		names_set_function(table, id, o->all[i].name, NULL, NULL,
				   o->all[i].file);
		o->all[i].is_std = table->functions[id].is_std;
	}
	names_free(table);
}

static int compare_names(const void *a, const void *b)
{
	const struct check_name *x = a, *y = b;

	/* The functions of the C++ library and of libraries linked in come
	 * last. */
	if (x->is_std != y->is_std)
		return x->is_std - y->is_std;
	if (x->has_debug != y->has_debug)
		return y->has_debug - x->has_debug;
	return strcmp(x->key, y->key);
}

void check_names_settle(struct check_names *n)
{
	drop_others(n);
	judge_std(n);
	if (n->n)
		qsort(n->all, n->n, sizeof(*n->all), compare_names);
}

void check_names_release(struct check_names *n)
{
	if (n->by_key)
		tdestroy(n->by_key, free);
	for (uint32_t i = 0; i < n->n; i++)
		name_release(&n->all[i]);
	free(n->all);
	*n = (struct check_names){0};
}
