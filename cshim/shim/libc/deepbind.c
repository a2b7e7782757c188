/* SPDX-License-Identifier: MIT
 *
 * Libraries that bind past the preload find libc's empty hooks before ours:
 * opened with RTLD_DEEPBIND, or by dlmopen() into a namespace with a libc of
 * its own.  So libc's symbols, in memory, are given the address of ours: a
 * symbol holds a difference to where its library lies, and may lead anywhere.
 * gdb does this from outside; here it is done where no gdb is.
 */
#include "libc/deepbind.h"
#include <dlfcn.h>
#include <link.h>
#include "core/area.h"
#include "core/control.h"
#include "core/patched.h"
#include "kernel/arch.h"
#include "kernel/config.h"
#include "kernel/loaded_object.h"
#include "kernel/state.h"
#include "kernel/syscall.h"
#include "libc/opened.h"

#pragma weak dladdr1 /* musl has neither that nor dlmopen() */

typedef void *dlmopen_fn(Lmid_t, const char *, int);

static const char *const names[] = {"__cyg_profile_func_enter",
				    "__cyg_profile_func_exit"};

enum { N_NAMES = 2 };

/* ---- changing memory -------------------------------------------------------
 *
 * Through the kernel: no page's protection is changed, not for a moment. */

struct memory {
	int fd;	       /* of /proc/self/mem; negative: it cannot be opened */
	int is_sealed; /* it could not be written */
};

static void poke(struct memory *m, const void *at, uint64_t value)
{
	if (sys_pwrite(m->fd, &value, sizeof(value), (long)at) != sizeof(value))
		m->is_sealed = 1;
}

/* The hooks have other names here: gcc knows their own, and lets nobody take
 * the address. */
extern void hook_enter(void) __asm__("__cyg_profile_func_enter");
extern void hook_exit(void) __asm__("__cyg_profile_func_exit");

static uint64_t our_hook(int i)
{
	return (uint64_t)(i == 0 ? hook_enter : hook_exit);
}

/* The addresses of libc's own hooks, into empty[], before they lead to ours. */
static void libc_lead(struct memory *memory, const struct object *o,
		      uint64_t empty[N_NAMES])
{
	for (int i = 0; i < N_NAMES; i++) {
		const Elf64_Sym *s = object_find(o, names[i]);
		uint64_t away = our_hook(i) - o->bias;

		if (!s || s->st_value == away)
			continue;
		empty[i] = o->bias + s->st_value;
		poke(memory, &s->st_value, away);
	}
}

/* Entries that were bound to libc's hooks before.  Returns how many. */
static int slots_lead(struct memory *memory, const struct object *o,
		      const uint64_t empty[N_NAMES])
{
	int n = 0;

	for (int t = 0; t < N_TABLES; t++) {
		const Elf64_Rela *r = o->tables[t];
		const Elf64_Rela *end = r + o->sizes[t] / sizeof(*r);

		for (; r && r < end; r++) {
			const Elf64_Sym *s =
				&o->symbols[ELF64_R_SYM(r->r_info)];
			const uint64_t *slot =
				(const uint64_t *)(o->bias + r->r_offset);

			for (int i = 0; s != o->symbols && i < N_NAMES; i++) {
				if (!empty[i] || *slot != empty[i] ||
				    !is_text(o->strings + s->st_name, names[i]))
					continue;
				poke(memory, slot, our_hook(i));
				n++;
			}
		}
	}
	return n;
}

/* ---- a namespace ----------------------------------------------------------
 */

struct space {
	const struct link_map *map; /* one of its libraries */
	struct memory memory;
	uint32_t n_late;   /* libraries whose constructors have run already */
	uint32_t n_traced; /* libraries that call the hooks */
};

static int is_libc(const struct object *o)
{
	return is_text(o->soname, "libc.so.6");
}

/* dl_iterate_phdr() calls it once, and keeps the list still meanwhile. */
static int space_lead(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct space *space = arg;
	const struct link_map *first = space->map;
	uint64_t empty[N_NAMES] = {0, 0};
	struct object o;

	(void)info;
	(void)size;
	while (first->l_prev)
		first = first->l_prev;
	for (const struct link_map *m = first; m; m = m->l_next)
		if (object_read(&o, m) && is_libc(&o))
			libc_lead(&space->memory, &o, empty);
	for (const struct link_map *m = first; m; m = m->l_next) {
		if (!object_read(&o, m))
			continue;
		space->n_traced += object_slot(&o, names[0]) != 0;
		/* One constructor is the compiler's own. */
		if (slots_lead(&space->memory, &o, empty) &&
		    o.n_constructors > 1)
			space->n_late++;
	}
	return 1;
}

static struct space space_redirect(const struct link_map *map)
{
	struct space space = {
		.map = map,
		.memory.fd = sys_open("/proc/self/mem", O_RDWR | O_CLOEXEC),
	};

	dl_iterate_phdr(space_lead, &space);
	if (space.memory.fd >= 0)
		sys_close(space.memory.fd);
	return space;
}

/* ---- dlmopen ---------------------------------------------------------------
 */

static const struct link_map *map_of(const void *addr)
{
	Dl_info info;
	struct link_map *map = 0;

	return addr && dladdr1(addr, &info, (void **)&map, RTLD_DL_LINKMAP)
		       ? map
		       : 0;
}

/* Does what is opened depend on who opens it?  Then it must not be us. */
static int is_callers_own(const char *file, const void *caller)
{
	const struct link_map *map;
	struct object o;
	int is_path = 0;

	if (!file)
		return 1;
	for (const char *c = file; *c; c++) {
		if (*c == '$')
			return 1;
		is_path |= *c == '/';
	}
	if (is_path)
		return 0;
	map = map_of(caller);
	/* A library may have inherited a path from those that opened it. */
	return !map || map->l_prev || !object_read(&o, map) || o.has_path;
}

static dlmopen_fn *libcs_dlmopen(void)
{
	static dlmopen_fn *libcs;
	dlmopen_fn *next = __atomic_load_n(&libcs, __ATOMIC_RELAXED);

	if (!next) {
		next = (dlmopen_fn *)dlsym(RTLD_NEXT, "dlmopen");
		__atomic_store_n(&libcs, next, __ATOMIC_RELAXED);
	}
	return next;
}

static void count(uint32_t *counter, uint32_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* Is a recording under way that no gdb looks after? */
static int is_ours_to_do(void)
{
	if (state_now() == CST_STATE_OFF)
		return 0;
	control_obey();
	return config_is_own() && area && area->has_mappings &&
	       state_is_on(state_now());
}

static void count_past(const struct link_map *map)
{
	struct space space = space_redirect(map);

	if (space.memory.is_sealed)
		count(&area->n_past_sealed, space.n_traced);
	else
		count(&area->n_past_begin, space.n_late);
}

EXPORT void *dlmopen(Lmid_t space, const char *file, int mode)
{
	dlmopen_fn *next = libcs_dlmopen();
	void *handle;

	if (!next)
		return 0;
	/* These calls are jumps: libc sees who called us. */
	if (space == LM_ID_BASE || !is_ours_to_do())
		return next(space, file, mode);
	if (is_callers_own(file, __builtin_return_address(0))) {
		if (file)
			count(&area->n_past_all, 1);
		return next(space, file, mode);
	}
	handle = next(space, file, mode);
	if (handle)
		count_past(handle);
	patched_end(dlmopen, callers_sp() - 8);
	return handle;
}
__asm__(DEBUGGERS_NAME(dlmopen));

/* ---- dlopen ----------------------------------------------------------------
 *
 * Nothing is to be done then, for libc's hooks lead to ours.  Where they could
 * not be made to, each use of RTLD_DEEPBIND is counted. */

static int is_sealed; /* our own libc */

extern HIDDEN void *libcs_dlopen;
void *libcs_dlopen;

void before_dlopen(const char *file, int mode)
{
	if (!libcs_dlopen)
		libcs_dlopen = dlsym(RTLD_NEXT, "dlopen");
	opened_later();
	if (is_sealed && file && mode & RTLD_DEEPBIND && is_ours_to_do())
		count(&area->n_past_sealed, 1);
}
PASSING_FUNCTION(dlopen, before_dlopen, libcs_dlopen);

/* ---- the beginning ---------------------------------------------------------
 */

static int is_traced(const struct link_map *map)
{
	struct object o;

	while (map->l_prev)
		map = map->l_prev;
	for (; map; map = map->l_next)
		if (object_read(&o, map) && object_slot(&o, names[0]))
			return 1;
	return 0;
}

void redirect_begin(void)
{
	const struct link_map *map;

	libcs_dlopen = dlsym(RTLD_NEXT, "dlopen");
	if (!config_is_own())
		return;
	map = map_of(dlsym(RTLD_NEXT, names[0]));
	if (!map)
		return;
	is_sealed = space_redirect(map).memory.is_sealed;
	/* Now: by its first call the program may have changed its user or its
	 * root, or live in a sandbox. */
	if (is_traced(map))
		control_obey();
}
