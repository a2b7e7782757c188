/* SPDX-License-Identifier: MIT
 *
 * What the dynamic linker has for debuggers (r_debug) has the other namespaces,
 * from glibc 2.35 on.
 */
#include "kernel/all_objects.h"
#include <dlfcn.h>
#include "kernel/syscall.h"

/* libc's struct r_debug_extended. */
struct linker_space {
	struct r_debug base;
	const struct linker_space *next;
};

enum { HAS_NEXT = 2 };

/* Its head is at its first address, where its linker has not put other things
 * there. */
static const Elf64_Ehdr *head_of(const struct link_map *map)
{
	static const char magic[] = ELFMAG;
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)map->l_addr;
	uint8_t is_in_memory;

	if (!head ||
	    gate_call(SYS_mincore, (long)head, 1, (long)&is_in_memory, 0, 0, 0))
		return 0;
	for (int i = 0; i < SELFMAG; i++)
		if (head->e_ident[i] != (uint8_t)magic[i])
			return 0;
	return head->e_phentsize == sizeof(Elf64_Phdr) ? head : 0;
}

static void visit_one(const struct link_map *map, visit_object *visit,
		      void *arg)
{
	const Elf64_Ehdr *head = head_of(map);
	struct dl_phdr_info info;

	if (!head)
		return;
	info = (struct dl_phdr_info){
		.dlpi_addr = map->l_addr,
		.dlpi_name = map->l_name,
		.dlpi_phdr = (const Elf64_Phdr *)((const char *)head +
						  head->e_phoff),
		.dlpi_phnum = head->e_phnum,
	};
	visit(&info, sizeof(info), arg);
}

void all_objects(visit_object *visit, void *arg)
{
	static const struct linker_space *first;
	const struct linker_space *now;
	const struct link_map *map;

	dl_iterate_phdr(visit, arg);
	if (!first)
		first = dlsym(RTLD_DEFAULT, "_r_debug");
	now = first && first->base.r_version >= HAS_NEXT ? first->next : 0;
	for (; now; now = now->next) {
		map = now->base.r_state == RT_CONSISTENT ? now->base.r_map : 0;
		for (; map; map = map->l_next)
			visit_one(map, visit, arg);
	}
}
