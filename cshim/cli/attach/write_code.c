/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Patches are written a page at a time.
 */
#include "attach/write_code.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

enum { PAGE = 4096 };

/* Reads the code from the patch `first` on, a page at most: between a file's
 * segments nothing may be mapped.  Sets *end to the first patch behind it.
 * Returns its size, or 0: it cannot be read. */
static size_t read_page(const struct live_file *f, const struct tracee *t,
			uint32_t first, uint32_t *end, uint8_t code[PAGE])
{
	const struct cst_patch *p = live_file_patches(f);
	uint32_t last = first;
	size_t size;

	while (last + 1 < f->plan->patches.n &&
	       p[last + 1].address + p[last + 1].length <=
		       p[first].address + PAGE)
		last++;
	*end = last + 1;
	size = p[last].address + p[last].length - p[first].address;
	return tracee_read(t, p[first].address + f->where.bias, code, size)
		       ? size
		       : 0;
}

/* The page with the patches from first on; sets *end to the first behind. */
static int write_page(const struct live_file *f, const struct tracee *t,
		      uint32_t first, uint32_t *end, int is_undone)
{
	const struct cst_patch *p = live_file_patches(f);
	uint8_t bytes[PAGE];
	size_t size = read_page(f, t, first, end, bytes);

	if (!size)
		return 0;
	for (uint32_t i = first; i < *end; i++) {
		uint8_t *to = bytes + (p[i].address - p[first].address);
		uint8_t new[CST_PATCH_MAX];

		if (f->is_left[p[i].function])
			continue;
		live_file_bytes(f, &p[i], new);
		if (!is_undone)
			memcpy(to, new, p[i].length);
		/* The library may have gone, and another have come. */
		else if (!memcmp(to, new, p[i].length))
			memcpy(to, p[i].old_bytes, p[i].length);
	}
	return tracee_write(t, p[first].address + f->where.bias, bytes, size);
}

static int write_all(const struct live_file *f, const struct tracee *t,
		     int is_undone)
{
	for (uint32_t i = 0; i < f->plan->patches.n;)
		if (!write_page(f, t, i, &i, is_undone))
			return 0;
	return 1;
}

/* Is the patch still to be written, or has a recorder left it that was killed?
 */
static int is_known(const struct live_file *f, const struct cst_patch *p,
		    const uint8_t *code)
{
	uint8_t new[CST_PATCH_MAX];

	live_file_bytes(f, p, new);
	return !memcmp(code, p->old_bytes, p->length) ||
	       !memcmp(code, new, p->length);
}

static int is_as_planned(const struct live_file *f, const struct tracee *t)
{
	const struct cst_patch *p = live_file_patches(f);
	uint32_t n = f->plan->patches.n;
	uint8_t code[PAGE];

	for (uint32_t first = 0, end; first < n; first = end) {
		if (!read_page(f, t, first, &end, code))
			return 0;
		for (uint32_t i = first; i < end; i++)
			if (!is_known(f, &p[i],
				      code + (p[i].address - p[first].address)))
				return 0;
	}
	return n > 0;
}

static int set_pc(void *arg, pid_t tid, uint64_t pc)
{
	struct user_regs_struct r;

	(void)arg;
	if (ptrace(PTRACE_GETREGS, tid, NULL, &r) < 0)
		return 0;
	r.rip = pc;
	return ptrace(PTRACE_SETREGS, tid, NULL, &r) == 0;
}

static void look(struct live_code *c, const struct tracee *t, int is_undone)
{
	pid_t *tids = malloc((t->n + 1ull) * sizeof(*tids));
	struct live_threads threads = {.pid = t->pid,
				       .memory = t->memory,
				       .all = tids,
				       .n = t->n,
				       .move = set_pc};

	for (uint32_t i = 0; tids && i < t->n; i++)
		tids[i] = t->all[i].tid;
	if (tids)
		live_code_look(c, &threads, is_undone);
	free(tids);
}

uint32_t write_code(struct live_code *c, const struct tracee *t)
{
	uint32_t n = 0;

	look(c, t, 0);
	for (uint32_t i = 0; i < c->n; i++) {
		struct live_file *f = &c->all[i];

		if (!is_as_planned(f, t))
			continue;
		f->is_written = write_all(f, t, 0);
		if (f->is_written)
			n++;
		else
			write_all(f, t, 1);
	}
	return n;
}

void restore_code(struct live_code *c, const struct tracee *t)
{
	look(c, t, 1);
	for (uint32_t i = 0; i < c->n; i++) {
		struct live_file *f = &c->all[i];

		if (f->is_written)
			write_all(f, t, 1);
	}
}

/* Is the first patch of it there, which is written? */
static int is_file_written(const struct live_file *f, const struct tracee *t)
{
	const struct cst_patch *p = live_file_patches(f);
	uint8_t wanted[CST_PATCH_MAX], there[CST_PATCH_MAX];
	uint32_t k = 0;

	while (k < f->plan->patches.n && f->is_left[p[k].function])
		k++;
	if (!f->is_written || k == f->plan->patches.n)
		return 0;
	live_file_bytes(f, &p[k], wanted);
	return tracee_read(t, p[k].address + f->where.bias, there,
			   p[k].length) &&
	       !memcmp(there, wanted, p[k].length);
}

int is_code_written(const struct live_code *c, const struct tracee *t)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (is_file_written(&c->all[i], t))
			return 1;
	return 0;
}

void forget_gone_code(struct live_code *c, const struct tracee *t)
{
	for (uint32_t i = 0; i < c->n; i++)
		c->all[i].is_written = is_file_written(&c->all[i], t);
}
