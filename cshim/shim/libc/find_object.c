/* SPDX-License-Identifier: MIT
 *
 * libc's _dl_find_object(), which the unwinder asks for the call frame
 * information of a return address: here it learns that of the trampolines,
 * which no library holds.
 */
#include "libc/find_object.h"
#include <dlfcn.h>
#include "core/function_at.h"
#include "core/patches.h"
#include "kernel/arch.h"
#include "kernel/state.h"

/* What libc's <dlfcn.h> has from 2.35 on. */
struct found_object {
	unsigned long long flags;
	void *start, *end;
	void *map;
	void *frames;
	unsigned long long reserved[7];
};

typedef int find_fn(void *, struct found_object *);

static find_fn *libcs_find;

static int tables_at(uint64_t address, struct loaded_tables *out)
{
	struct found_object found;

	if (libcs_find((void *)address, &found) || !found.frames)
		return -1;
	*out = (struct loaded_tables){
		.start = (uint64_t)found.start,
		.end = (uint64_t)found.end,
		.header = (uint64_t)found.frames,
	};
	return 0;
}

void find_begin(void)
{
	libcs_find = (find_fn *)dlsym(RTLD_NEXT, "_dl_find_object");
	if (libcs_find)
		function_tables = tables_at;
}

/* It has another name in here: libc's header may declare it, or be older. */
EXPORT int find_object(void *pc,
		       struct found_object *out) __asm__("_dl_find_object");

/* Async-signal-safe, as libc's. */
int find_object(void *pc, struct found_object *out)
{
	uint64_t frames;
	const struct cst_patched *area = patches_area((uint64_t)pc, &frames);

	if (!area) {
		/* A library's constructor may throw before we have begun. */
		if (unlikely(!libcs_find))
			find_begin();
		return libcs_find ? libcs_find(pc, out) : -1;
	}
	*out = (struct found_object){
		.start = (void *)area->area,
		.end = (void *)(area->area + area->area_size),
		.frames = (void *)frames,
	};
	return 0;
}
__asm__(DEBUGGERS_NAME(_dl_find_object));
