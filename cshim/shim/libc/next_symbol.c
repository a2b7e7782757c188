/* SPDX-License-Identifier: MIT
 *
 * Finds the function that a call to an interposed one was meant for: the one of
 * the object that the caller's object is bound to by a neighbouring symbol, or
 * else everybody's (dlsym).
 */
#include <dlfcn.h>
#include "libc/next_symbol.h"
#include "kernel/loaded_object.h"
#include "kernel/state.h"

struct search {
	struct next *next;
	uint64_t caller;
	uint64_t bound; /* to the neighbour; 0: not known */
};

/* The segment of the object that holds the address, or NULL. */
static const Elf64_Phdr *segment_of(const struct dl_phdr_info *info,
				    uint64_t addr)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD &&
		    addr - info->dlpi_addr - p->p_vaddr < p->p_memsz)
			return p;
	}
	return 0;
}

static int look_at_caller(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	const uint64_t *slot;
	struct object o;

	(void)size;
	if (!segment_of(info, s->caller))
		return 0;
	slot = object_read_info(&o, info) ? object_slot(&o, s->next->neighbour)
					  : 0;
	s->bound = slot ? *slot : 0;
	return 1;
}

static uint64_t address_of(const struct object *o, const char *name)
{
	const Elf64_Sym *s = name ? object_find(o, name) : 0;

	return s ? o->bias + s->st_value : 0;
}

static void take(struct next *n, const struct dl_phdr_info *info,
		 const struct object *o, uint64_t found)
{
	const Elf64_Phdr *code = segment_of(info, found);

	n->found = found;
	n->code = code ? info->dlpi_addr + code->p_vaddr : 0;
	n->code_size = code ? code->p_memsz : 0;
	for (int i = 0; i < 3; i++)
		n->found_companions[i] = address_of(o, n->companions[i]);
}

static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	struct object o;
	uint64_t found;
	int is_sure;

	(void)size;
	if (!object_read_info(&o, info))
		return 0;
	found = address_of(&o, s->next->name);
	if (!found || found == s->next->ours)
		return 0;
	is_sure = s->bound && address_of(&o, s->next->neighbour) == s->bound;
	if (is_sure || !s->next->found)
		take(s->next, info, &o, found);
	return is_sure;
}

static uint64_t everybodys(const char *name)
{
	return (uint64_t)dlsym(RTLD_NEXT, name);
}

/* No symbol is asked for that is not there: a message would be made, in memory
 * that may be the program's affair. */
void next_begin(struct next *n)
{
	struct search s = {.next = n};

	dl_iterate_phdr(look, &s);
	if (n->found && everybodys(n->name) != n->found)
		n->found = 0;
}

COLD struct next next_of(const struct next *n, const void *caller)
{
	struct next found = *n;
	struct search s = {.next = &found, .caller = (uint64_t)caller};

	dl_iterate_phdr(look_at_caller, &s);
	dl_iterate_phdr(look, &s);
	if (!found.found)
		found.found = everybodys(n->name);
	return found;
}
