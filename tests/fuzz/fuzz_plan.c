/* SPDX-License-Identifier: MIT
 *
 * libFuzzer's way into plans: a program or library that is planned, or a plan
 * that somebody wrote, whose sum is right.
 */
#include "cstrace/plan_layout.h"
#include "elf/dynsym.h"
#include "elf/elffile.h"
#include "plan/plan_make.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* It forgets what it made of sections of a damaged file. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libelf";
}

/* Reads what who applies a plan does. */
static uint64_t read_all(const struct plan *p)
{
	const struct cst_plan *h = p->header;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < h->patches.n; i++) {
		const struct cst_patch *patch = &p->patches[i];

		sum += patch->address + patch->function + patch->length;
		if (patch->trampoline_size)
			sum += p->area[patch->trampoline +
				       patch->trampoline_size - 1];
		for (uint32_t k = 0; k < patch->length; k++)
			sum += patch->old_bytes[k] + patch->new_bytes[k];
		if (patch->moved)
			sum += patch->new_bytes[patch->moved + 3];
	}
	for (uint32_t i = 0; i < h->copies.n; i++)
		sum += p->area[p->copies[i].copy] +
		       p->patches[p->copies[i].patch].address;
	for (uint32_t i = 0; i < h->moves.n; i++)
		sum += p->area[p->moves[i] + 3];
	for (uint32_t i = 0; i < h->functions.n; i++)
		sum += strlen(plan_name(p, i)) +
		       strlen(plan_reason(p->functions[i].reason));
	return sum + cst_plan_sum(p->area, h->area_size);
}

static void try_plan(const uint8_t *data, size_t size)
{
	struct cst_plan *h;
	struct plan *p;
	uint64_t sum;

	size &= ~7ull;
	h = malloc(size + 1);
	if (!h)
		return;
	memcpy(h, data, size);
	h->magic = CST_PLAN_MAGIC;
	h->version = CST_PLAN_VERSION;
	h->size = (uint32_t)size;
	sum = cst_plan_sum(h, size - 8);
	memcpy((char *)h + size - 8, &sum, 8);
	if (!plan_of_bytes(h, size, &p, NULL)) {
		volatile uint64_t used = read_all(p);

		(void)used;
		plan_free(p);
	}
}

static void try_choice(const char *path, const struct plan_choice *choice)
{
	struct plan *p;

	if (!plan_make(path, choice, &p, NULL)) {
		volatile uint64_t used = read_all(p);

		(void)used;
		plan_free(p);
	}
}

/* All that its dynamic symbols name. */
static void read_names(const char *path, struct imports *out)
{
	struct dynsym_entry e;
	struct elf_file f;
	struct dynsym d;

	if (!elf_file_open(&f, elf_file_descriptor(path)))
		return;
	dynsym_init(&d, f.elf);
	while (dynsym_next(&d, &e))
		imports_add(out, e.name);
	imports_order(out);
	elf_file_close(&f);
}

/* It is a traced file, one with hooks, or a library that is called. */
static void try_file(const uint8_t *data, size_t size)
{
	struct imports names = {0}, none = {0};
	const struct plan_choice choices[] = {
		{0},
		{.calls = &names, .open = &names},
		{.calls = &names, .open = &none, .only_calls = 1},
		{.border = &names, .handed = &none, .is_for_gdb = 1},
		{.border = &names, .handed = &names},
	};
	int fd = memfd_create("planned", MFD_CLOEXEC);
	char path[64];

	if (fd < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size) {
		read_names(path, &names);
		for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++)
			try_choice(path, &choices[i]);
	}
	imports_release(&names);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* What libdw makes of damaged debug information is not ours. */
	if (size >= 4 && !memcmp(data, "\177ELF", 4)) {
		if (!memmem(data, size, "debug_", 6))
			try_file(data, size);
	} else if (size >= sizeof(struct cst_plan) + 8) {
		try_plan(data, size);
	}
	return 0;
}
