/* SPDX-License-Identifier: MIT
 *
 * Relocations that name one of the hooks.
 */
#include "elf/hook_slots.h"
#include "elf/slots.h"

#include <string.h>

int hook_of_name(const char *name)
{
	if (!name)
		return 0;
	return !strcmp(name, "__cyg_profile_func_enter")  ? 1
	       : !strcmp(name, "__cyg_profile_func_exit") ? 2
							  : 0;
}

static int is_address(const GElf_Rela *r)
{
	uint64_t type = GELF_R_TYPE(r->r_info);

	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
	       (type == R_X86_64_64 && !r->r_addend);
}

struct search {
	struct cst_hook_slot *out;
	uint32_t room, n;
};

static void see(void *arg, const GElf_Rela *r, const char *name)
{
	struct search *s = arg;
	int hook = is_address(r) ? hook_of_name(name) : 0;

	if (!hook)
		return;
	if (s->n < s->room)
		s->out[s->n] = (struct cst_hook_slot){
			.address = r->r_offset,
			.is_exit = hook == 2,
		};
	s->n++;
}

uint32_t hook_slots_find(Elf *elf, struct cst_hook_slot *out, uint32_t room)
{
	struct search s = {out, room, 0};

	slots_each(elf, see, &s);
	return s.n;
}

int cst_hook_slots(const char *path, struct cst_hook_slot *out, uint32_t room)
{
	struct elf_file f;
	uint32_t n;

	if (!elf_file_open(&f, elf_file_descriptor(path)))
		return 0;
	n = hook_slots_find(f.elf, out, room);
	elf_file_close(&f);
	return (int)n;
}
