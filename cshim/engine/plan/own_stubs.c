/* SPDX-License-Identifier: MIT
 *
 * A stub is one jump, long enough for a patch.
 */
#include "plan/own_stubs.h"

#include <string.h>

/* Does it run code of the kernel's that is no file's, and take no arguments on
 * the stack?  Then who calls it may be another.  gdb would step into that. */
static int is_to_be_called(const char *name, const struct plan_choice *choice)
{
	return !choice->is_for_gdb && imports_has(choice->open, name) &&
	       (!strcmp(name, "time") || !strcmp(name, "gettimeofday"));
}

int own_stubs_add(struct functions *f, const struct stubs *stubs,
		  const struct plan_choice *choice)
{
	int status = 0;

	for (uint32_t i = 0; i < stubs->n_code && !status; i++) {
		const struct stub_code *code = &stubs->code[i];
		const char *name = stubs->all[code->stub].name;
		struct plan_function new = {
			.start = code->start,
			.end = code->end,
			.name = name,
			.is_stub = 1,
			.is_chosen = 1,
			.reason = CST_PLAN_TRACED,
		};

		if (!name || !imports_has(choice->calls, name))
			continue;
		new.is_called = new.ends_in_entry =
			(uint8_t)is_to_be_called(name, choice);
		new.n_missed = !new.is_called &&imports_has(choice->open, name);
		status = functions_add(f, &new);
	}
	functions_order(f);
	return status;
}

static int is_loaded(const struct image *im, const struct stub_code *code)
{
	uint64_t n = 0;

	return image_bytes(im, code->jump, &n) && n >= code->end - code->jump;
}

void own_stubs_place(struct placements *p, const struct stubs *stubs)
{
	for (uint32_t i = 0; i < p->f->n; i++) {
		struct plan_function *now = &p->f->all[i];
		const struct stub_code *code =
			now->is_stub ? stubs_at(stubs, now->start) : NULL;
		const struct placement new = {
			.addr = code ? code->jump : 0,
			.end = now->end,
			.function = i,
			.kind = CST_PATCH_ENTRY,
			.length = NEAR_JUMP,
			.slot = CST_SLOT_ENTER,
		};

		if (!code)
			continue;
		if (!is_loaded(p->im, code) || !placement_add(p, &new)) {
			now->reason = CST_PLAN_NO_ROOM;
			continue;
		}
		now->entry = new.addr;
		now->entry_end = new.end;
		now->placement = p->n - 1;
	}
}
