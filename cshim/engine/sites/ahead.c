/* SPDX-License-Identifier: MIT
 *
 * Makes the plans of a file's hooks, and the area's table of them.
 */
#include "sites/ahead.h"

#include "area/clock.h"
#include "plan/hooks.h"
#include "sites/copies.h"
#include "sites/hook_slot.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOST_NS = 250000000,
	MOST_HOOKS = CST_MAX_HOOKS / 4 * 3,
	/* Some are left for what is called, wherever it is. */
	MOST_STEPS = CST_MAX_COPIES / 2,
};

/* A file that is looked into, for one process. */
struct look {
	struct sites *s;
	uint64_t bias, until_ns;
	uint32_t process, most_steps;
};

/* 1: go on.  What is to be copied at the hook is put into the table, if known.
 */
static int hear_hook(void *arg, uint64_t hook, int kind)
{
	const struct look *l = arg;
	struct cst_area *head = l->s->area->head;
	uint32_t copies;
	struct cst_hook *slot;

	if (clock_monotonic_ns() > l->until_ns || head->n_hooks >= MOST_HOOKS ||
	    head->n_copies >= l->most_steps)
		return 0;
	hook += l->bias;
	copies = copies_ahead(l->s, l->process, hook, kind);
	slot = copies ? hook_slot(l->s->area, hook, l->process) : NULL;
	if (!slot)
		return 1;
	head->n_hooks += !slot->hook;
	slot->hook = hook;
	slot->process = l->process;
	/* Pairs with the hook's acquire: what it leads to is complete. */
	__atomic_store_n(&slot->copies, copies, __ATOMIC_RELEASE);
	return 1;
}

static void look_into(struct look *l, const char *path)
{
	struct functions none = {0};
	struct image im = {0};
	struct hooks hooks;
	struct cst_error err;

	if (image_open(&im, path, &err) == 0) {
		hooks_find(&hooks, &im, &none);
		hooks_each_call(&hooks, &im, hear_hook, l);
	}
	image_close(&im);
}

static void look_until(struct sites *s, const struct cst_site *site,
		       uint32_t most_steps, uint64_t until_ns)
{
	struct look l = {
		.s = s,
		.until_ns = until_ns,
		.process = site->process,
		.most_steps = most_steps,
	};
	struct modules *m = spaces_of(&s->spaces, site->process)->modules;
	struct module_file file;
	uint64_t place, key;

	/* Calls of functions that are chosen by name are too few to look for.
	 */
	if (site->hook <= CST_PATCHED_LAST || s->copies.functions ||
	    s->area->is_past ||
	    !(s->copies.wants_args | s->copies.wants_results))
		return;
	place = modules_place(m, site->hook);
	key = (uint64_t)modules_number(place) << 32 | (l.process + 1);
	if (!place || hashmap_get(&s->copies.ahead, key) ||
	    hashmap_put(&s->copies.ahead, key, 1) < 0 ||
	    !modules_file(m, site->hook, &file))
		return;
	l.bias = site->hook - file.addr;
	look_into(&l, file.path);
}

void ahead_look(struct sites *s, const struct cst_site *site)
{
	look_until(s, site, MOST_STEPS, clock_monotonic_ns() + MOST_NS);
}

void ahead_look_all(struct sites *s, uint32_t most_ms)
{
	uint64_t until_ns = clock_monotonic_ns() + most_ms * 1000000ull;

	spaces_take_mappings(&s->spaces, UINT32_MAX);
	for (uint32_t i = 0; i < s->spaces.n_mappings; i++) {
		const char *line = s->area->text + s->area->mappings[i].text;
		struct cst_site site = {.hook = strtoull(line, NULL, 16) + 1};

		look_until(s, &site, CST_MAX_COPIES, until_ns);
	}
}

void ahead_forget(struct sites *s)
{
	hashmap_release(&s->copies.ahead);
	if (!s->area->head->n_hooks)
		return;
	for (uint32_t i = 0; i < CST_MAX_HOOKS; i++)
		__atomic_store_n(&s->area->hooks[i].copies, 0,
				 __ATOMIC_RELAXED);
}
