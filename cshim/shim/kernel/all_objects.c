/* SPDX-License-Identifier: MIT
 *
 * What the dynamic linker has for debuggers (r_debug) has the other namespaces,
 * from glibc 2.35 on.  With musl's linker all is read from there, for its
 * dl_iterate_phdr() waits for a lock that dlopen() holds.
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

/* The program itself, where the linker is musl's. */
static struct dl_phdr_info program;

/* It comes first. */
static int keep_program(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	program = *info;
	program.dlpi_name = "";
	return 1;
}

static const struct r_debug *programs_debug(void)
{
	const Elf64_Dyn *d = 0;

	dl_iterate_phdr(keep_program, 0);
	for (int i = 0; i < program.dlpi_phnum; i++)
		if (program.dlpi_phdr[i].p_type == PT_DYNAMIC)
			d = (const Elf64_Dyn *)(program.dlpi_addr +
						program.dlpi_phdr[i].p_vaddr);
	for (; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_DEBUG)
			return (const struct r_debug *)d->d_un.d_ptr;
	return 0;
}

const struct r_debug *linkers_debug(void)
{
	static const struct r_debug *found;

	if (!found)
		found = dlsym(RTLD_DEFAULT, "_r_debug");
	if (!found)
		found = programs_debug();
	return found;
}

static void visit_from(const struct link_map *map, visit_object *visit,
		       void *arg)
{
	for (; map; map = map->l_next)
		visit_one(map, visit, arg);
}

void all_objects(visit_object *visit, void *arg)
{
	const struct linker_space *now =
		(const struct linker_space *)linkers_debug();

	if (now && program.dlpi_phnum) {
		visit(&program, sizeof(program), arg);
		visit_from(now->base.r_map->l_next, visit, arg);
		return;
	}
	dl_iterate_phdr(visit, arg);
	now = now && now->base.r_version >= HAS_NEXT ? now->next : 0;
	for (; now; now = now->next)
		if (now->base.r_state == RT_CONSISTENT)
			visit_from(now->base.r_map, visit, arg);
}
