/* SPDX-License-Identifier: MIT
 *
 * In code built by clang, exceptions run no hooks of the calls they leave.  But
 * before one goes on in a handler or a destructor, that code's language tells
 * the unwinder so, through us: all frames below that one's are left.
 */
#include <dlfcn.h>
#include "arch.h"
#include "jump.h"
#include "object.h"
#include "state.h"

/* The unwinder's own functions; each takes what it knows of a frame. */
struct unwinder {
	void (*set_ip)(void *context, uint64_t ip);
	uint64_t (*get_cfa)(void *context);
};

static const char set_ip_name[] = "_Unwind_SetIP";

/* Loaded with the program, for all to see: nobody else's can be meant, and it
 * is never unloaded. */
static struct unwinder everybodys;

EXPORT void _Unwind_SetIP(void *context, uint64_t ip);

/* ---- looking for it --------------------------------------------------------
 *
 * A plugin may have one of its own, unseen by the rest, and there may be
 * several such plugins.  libc's functions that look for symbols take a lock
 * that another thread may hold until we are done: it waits for us in a
 * constructor. */

struct search {
	uint64_t caller; /* in a library that is bound to the right one */
	uint64_t bound;	 /* its neighbour's address there; 0: not known */
	struct unwinder found;
	int is_sure;
};

static int read(struct object *o, const struct dl_phdr_info *info)
{
	struct link_map map = {.l_addr = info->dlpi_addr};

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			map.l_ld = (Elf64_Dyn *)(info->dlpi_addr +
						 info->dlpi_phdr[i].p_vaddr);
	return map.l_ld && object_read(o, &map);
}

static int is_in(const struct dl_phdr_info *info, uint64_t addr)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD &&
		    addr - info->dlpi_addr - p->p_vaddr < p->p_memsz)
			return 1;
	}
	return 0;
}

/* Called just before _Unwind_SetIP(), and so bound by now. */
static const char neighbour[] = "_Unwind_SetGR";

static int look_at_caller(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	const uint64_t *slot;
	struct object o;

	(void)size;
	if (!is_in(info, s->caller))
		return 0;
	slot = read(&o, info) ? object_slot(&o, neighbour) : 0;
	s->bound = slot ? *slot : 0;
	return 1;
}

static uint64_t address_of(const struct object *o, const char *name)
{
	const Elf64_Sym *s = object_find(o, name);

	return s ? o->bias + s->st_value : 0;
}

static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	struct object o;
	uint64_t set_ip;

	(void)size;
	if (!read(&o, info))
		return 0;
	set_ip = address_of(&o, set_ip_name);
	if (!set_ip || set_ip == (uint64_t)_Unwind_SetIP)
		return 0;
	s->is_sure = s->bound && address_of(&o, neighbour) == s->bound;
	if (s->is_sure || !s->found.set_ip) {
		s->found.set_ip = (void (*)(void *, uint64_t))set_ip;
		s->found.get_cfa =
			(uint64_t(*)(void *))address_of(&o, "_Unwind_GetCFA");
	}
	return s->is_sure;
}

static COLD struct unwinder callers_own(const void *caller)
{
	struct search s = {.caller = (uint64_t)caller};

	dl_iterate_phdr(look_at_caller, &s);
	dl_iterate_phdr(look, &s);
	if (!s.found.set_ip)
		s.found.set_ip = (void (*)(void *, uint64_t))dlsym(RTLD_NEXT,
								   set_ip_name);
	return s.found;
}

/* No symbol is asked for that is not there: a message would be made, in memory
 * that may be the program's affair. */
__attribute__((constructor)) static void unwind_begin(void)
{
	struct search s = {.caller = 0};

	dl_iterate_phdr(look, &s);
	if (s.found.set_ip &&
	    dlsym(RTLD_NEXT, set_ip_name) == (void *)s.found.set_ip)
		everybodys = s.found;
}

/* ---- in its place ----------------------------------------------------------
 */

EXPORT void _Unwind_SetIP(void *context, uint64_t ip)
{
	struct unwinder u = everybodys;

	if (unlikely(!u.set_ip))
		u = callers_own(__builtin_return_address(0));
	if (u.get_cfa)
		jump_tell(u.get_cfa(context), 0);
	if (u.set_ip)
		u.set_ip(context, ip);
}
__asm__(DEBUGGERS_NAME(_Unwind_SetIP));
