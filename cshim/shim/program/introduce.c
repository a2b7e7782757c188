/* SPDX-License-Identifier: MIT
 *
 * A program that is not independent of its position was linked with "there is
 * no shim" where cstrace.h asks for it, also if the shim is preloaded.  The
 * notes that cstrace.h leaves say where the two pointers are that must be set.
 */
#include "program/introduce.h"
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include "core/watch.h"
#include "program/kept_spans.h"
#include "program/shim.h"

enum { NAME_SIZE = 8, POINTERS = 1, WANTS = 2, MAX_WORDS = 2 };
enum { WANTS_CALLS = 1, WANTS_SPANS = 2, FIRST_SPANS = 4096 };

struct note {
	Elf64_Nhdr head;
	char name[NAME_SIZE];
	/* POINTERS: the distances from here to the two; WANTS: one word */
	int32_t words[MAX_WORDS];
};

static int is_ours(const struct note *n)
{
	static const char name[NAME_SIZE] = "cstrace";

	if (n->head.n_namesz != NAME_SIZE)
		return 0;
	for (int i = 0; i < NAME_SIZE; i++)
		if (n->name[i] != name[i])
			return 0;
	return 1;
}

static void set(const struct note *n, int i, const void *value)
{
	const void **pointer = (const void **)((uint64_t)&n->words[i] +
					       (uint64_t)(int64_t)n->words[i]);

	if (!*pointer)
		*pointer = value;
}

static void heed(const struct note *n, uint32_t *wants)
{
	if (n->head.n_type == POINTERS && n->head.n_descsz == 8) {
		set(n, 0, &state_page.state);
		set(n, 1, &cstrace_shim);
	}
	if (n->head.n_type == WANTS && n->head.n_descsz == 4)
		*wants |= (uint32_t)n->words[0];
}

static uint64_t rounded(uint64_t size)
{
	return (size + 3) & ~3ull;
}

static void look_at(uint64_t notes, uint64_t size, uint32_t *wants)
{
	const uint64_t least = offsetof(struct note, words) + sizeof(int32_t);

	for (uint64_t at = 0; at + least <= size;) {
		const struct note *n = (const struct note *)(notes + at);
		uint64_t all = sizeof(n->head) + rounded(n->head.n_namesz) +
			       rounded(n->head.n_descsz);

		if (at + all > size)
			return;
		if (is_ours(n))
			heed(n, wants);
		at += all;
	}
}

static int look_into(struct dl_phdr_info *object, size_t size, void *wants)
{
	(void)size;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &object->dlpi_phdr[i];

		if (p->p_type == PT_NOTE && p->p_align <= 4)
			look_at(object->dlpi_addr + p->p_vaddr, p->p_memsz,
				wants);
	}
	return 0;
}

/* What comes later is a library, which is independent of its position. */
void introduce(void)
{
	uint32_t wants = 0;

	dl_iterate_phdr(look_into, &wants);
	if (wants & WANTS_CALLS)
		watch_set(WATCH_CALLS, 1);
	if (wants & WANTS_SPANS)
		kept_spans_keep(FIRST_SPANS);
}
