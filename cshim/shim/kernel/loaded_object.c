/* SPDX-License-Identifier: MIT
 *
 * Reads the dynamic section of a loaded object in memory, and finds its symbols
 * and slots, without a call to libc.
 */
#include "kernel/loaded_object.h"

int is_text(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* Most of these addresses the dynamic linker has made true already. */
static const void *object_at(const struct link_map *map, uint64_t addr)
{
	return (const void *)(addr < map->l_addr ? addr + map->l_addr : addr);
}

static void object_take(struct object *o, const struct link_map *map,
			const Elf64_Dyn *d, uint64_t *soname)
{
	const void *at = object_at(map, d->d_un.d_ptr);

	switch (d->d_tag) {
	case DT_SYMTAB:
		o->symbols = at;
		break;
	case DT_STRTAB:
		o->strings = at;
		break;
	case DT_GNU_HASH:
		o->hash = at;
		break;
	case DT_SONAME:
		*soname = d->d_un.d_val;
		break;
	case DT_JMPREL:
		o->tables[0] = at;
		break;
	case DT_PLTRELSZ:
		o->sizes[0] = d->d_un.d_val;
		break;
	case DT_RELA:
		o->tables[1] = at;
		break;
	case DT_RELASZ:
		o->sizes[1] = d->d_un.d_val;
		break;
	case DT_INIT_ARRAYSZ:
		o->n_constructors = d->d_un.d_val / sizeof(uint64_t);
		break;
	case DT_RPATH:
	case DT_RUNPATH:
		o->has_path = 1;
		break;
	}
}

int object_read(struct object *o, const struct link_map *map)
{
	uint64_t soname = 0;

	*o = (struct object){.bias = map->l_addr};
	for (const Elf64_Dyn *d = map->l_ld; d && d->d_tag != DT_NULL; d++)
		object_take(o, map, d, &soname);
	if (!o->symbols || !o->strings)
		return 0;
	o->soname = o->strings + soname; /* 0 is the empty text */
	return 1;
}

int object_read_info(struct object *o, const struct dl_phdr_info *info)
{
	struct link_map map = {.l_addr = info->dlpi_addr};

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			map.l_ld = (Elf64_Dyn *)(info->dlpi_addr +
						 info->dlpi_phdr[i].p_vaddr);
	return map.l_ld && object_read(o, &map);
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

const Elf64_Sym *object_find(const struct object *o, const char *name)
{
	const uint32_t *h = o->hash, *buckets, *chains;
	uint32_t hash = hash_of(name), first, i;

	if (!h || !h[0])
		return 0;
	first = h[1];
	buckets = h + 4 + h[2] * (sizeof(uint64_t) / sizeof(uint32_t));
	chains = buckets + h[0];
	i = buckets[hash % h[0]];
	if (i < first)
		return 0;
	for (;; i++) {
		uint32_t link = chains[i - first];

		if ((link ^ hash) >> 1 == 0 &&
		    is_text(o->strings + o->symbols[i].st_name, name))
			return &o->symbols[i];
		if (link & 1)
			return 0;
	}
}

const uint64_t *object_slot(const struct object *o, const char *name)
{
	for (int t = 0; t < N_TABLES; t++) {
		const Elf64_Rela *r = o->tables[t];
		const Elf64_Rela *end = r + o->sizes[t] / sizeof(*r);

		for (; r && r < end; r++) {
			uint64_t i = ELF64_R_SYM(r->r_info);

			if (i &&
			    is_text(o->strings + o->symbols[i].st_name, name))
				return (const uint64_t *)(o->bias +
							  r->r_offset);
		}
	}
	return 0;
}
