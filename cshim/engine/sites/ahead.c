/* SPDX-License-Identifier: MIT
 *
 * Makes the plans of a file's hooks, or of its patches, and the area's table of
 * them.
 */
#include "sites/ahead.h"

#include "area/clock.h"
#include "base/io.h"
#include "plan/hooks.h"
#include "plan/plan.h"
#include "plan/plan_id.h"
#include "sites/copies.h"
#include "sites/hook_slot.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
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

static int is_over(const struct look *l)
{
	const struct cst_area *head = l->s->area->head;

	return clock_monotonic_ns() > l->until_ns ||
	       head->n_hooks >= MOST_HOOKS || head->n_copies >= l->most_steps;
}

/* Calls of functions that are chosen by name are too few to look for. */
static int is_wanted(const struct sites *s)
{
	return !s->copies.functions && !s->area->is_past &&
	       (s->copies.wants_args | s->copies.wants_results);
}

enum what { HOOKS, PATCHES };

/* Was the file at that address looked into for these? */
static int is_known(const struct look *l, struct modules *m, enum what what,
		    uint64_t addr, uint64_t *key)
{
	uint32_t file = modules_number(modules_place(m, addr));

	*key = (uint64_t)what << 63 | (uint64_t)file << 32 | (l->process + 1);
	return !file || hashmap_get(&l->s->copies.ahead, *key);
}

/* Is it one that was not?  From now on it was. */
static int is_first(const struct look *l, struct modules *m, enum what what,
		    uint64_t addr)
{
	uint64_t key;

	return !is_known(l, m, what, addr, &key) &&
	       hashmap_put(&l->s->copies.ahead, key, 1) == 0;
}

/* Puts what is to be copied there into the table, if that is known.
 * place: as in cst_hook_place(). */
static void put_copies(const struct look *l, uint64_t place, uint32_t copies)
{
	struct cst_hook *slot =
		copies ? hook_slot(l->s->area, place, l->process) : NULL;

	if (!slot)
		return;
	l->s->area->head->n_hooks += !slot->hook;
	slot->hook = place;
	slot->process = l->process;
	/* Pairs with the hook's acquire: what it leads to is complete. */
	__atomic_store_n(&slot->copies, copies, __ATOMIC_RELEASE);
}

/* ---- hooks -----------------------------------------------------------------
 */

/* 1: go on. */
static int hear_hook(void *arg, uint64_t hook, int kind)
{
	const struct look *l = arg;

	if (is_over(l))
		return 0;
	hook += l->bias;
	put_copies(l, hook, copies_ahead(l->s, l->process, hook, kind));
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

/* ---- patches ---------------------------------------------------------------
 */

static void look_at_patch(const struct look *l, const struct plan *p,
			  const struct cst_plan_function *f, uint32_t place)
{
	uint64_t hook = cst_slot_hook(plan_slot(p, place));
	uint64_t callee = f->address + l->bias;
	int kind = cst_patched_enters(hook) ? CST_ENTER : CST_EXIT;

	put_copies(l, cst_hook_place(hook, callee),
		   f->is_stub ? CST_COPY_NOTHING
			      : copies_ahead_patched(l->s, l->process, hook,
						     callee, kind));
}

/* The plan of the file at path, or NULL: the folder has none, or it is bare, so
 * that no hook waits. */
static struct plan *plan_of_file(const char *folder, const char *path)
{
	char id[BUILD_ID_SIZE], name[PATH_MAX];
	struct plan *p = NULL;
	auto_close int fd = -1;
	struct cst_plan head;
	struct elf_file f;

	if (!elf_file_open(&f, elf_file_descriptor(path)))
		return NULL;
	plan_id(&f, id);
	elf_file_close(&f);
	if (snprintf(name, sizeof(name), "%s/%s.plan", folder, id) <
	    (int)sizeof(name))
		fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || io_read_at(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    head.is_bare || plan_read(fd, &p, NULL) < 0)
		return NULL;
	return p;
}

static void look_into_plan(const struct look *l, const struct plan *p)
{
	for (uint32_t i = 0; i < p->header->patches.n; i++) {
		const struct cst_patch *patch = &p->patches[i];
		const struct cst_plan_function *f =
			&p->functions[patch->function];

		if (is_over(l))
			return;
		if (patch->hook)
			look_at_patch(l, p, f, patch->hook);
		if (patch->end_hook)
			look_at_patch(l, p, f, patch->end_hook);
	}
}

static int is_planned(const struct sites *s)
{
	return s->copies.plan_folder && is_wanted(s);
}

void ahead_look_patched(struct sites *s, uint32_t process)
{
	struct look l = {
		.s = s,
		.until_ns = clock_monotonic_ns() + MOST_NS,
		.process = process,
		.most_steps = MOST_STEPS,
	};
	struct modules *m = spaces_of(&s->spaces, process)->modules;
	struct module_file file;

	for (uint64_t at = 0; is_planned(s) && (at = modules_next(m, at));) {
		struct plan *p = NULL;

		if (is_first(&l, m, PATCHES, at) && modules_file(m, at, &file))
			p = plan_of_file(s->copies.plan_folder, file.path);
		if (!p)
			continue;
		l.bias = at - file.addr;
		look_into_plan(&l, p);
		plan_free(p);
	}
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

	if (site->hook <= CST_PATCHED_LAST || !is_wanted(s) ||
	    !is_first(&l, m, HOOKS, site->hook) ||
	    !modules_file(m, site->hook, &file))
		return;
	l.bias = site->hook - file.addr;
	look_into(&l, file.path);
}

void ahead_look(struct sites *s, const struct cst_site *site)
{
	struct modules *m = spaces_of(&s->spaces, site->process)->modules;
	struct look l = {.s = s, .process = site->process};
	uint64_t key;

	if (site->hook <= CST_PATCHED_LAST && is_planned(s) &&
	    !is_known(&l, m, PATCHES, site->callee, &key))
		ahead_look_patched(s, site->process);
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
