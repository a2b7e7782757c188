/* SPDX-License-Identifier: MIT
 *
 * What a thread will come back to is on its stack: each word there is looked
 * up, for return addresses never lie within a patch, and what does is the place
 * where a signal handler interrupted the thread.
 */
#include "process/live_code.h"
#include "base/array.h"
#include "elf/maps.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <unistd.h>

enum { MOST_STACK = 8 << 20, JUMP = 0xe9, SHORT_JUMP = 0xeb };

static int read_at(int memory, uint64_t at, void *out, size_t size)
{
	return pread(memory, out, size, (off_t)at) == (ssize_t)size;
}

/* ---- plans -----------------------------------------------------------------
 */

static struct cst_plan *plan_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct cst_plan *plan = NULL;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
		plan = malloc((size_t)st.st_size);
		if (plan && (read(fd, plan, (size_t)st.st_size) != st.st_size ||
			     !cst_plan_is_valid(plan, (uint64_t)st.st_size))) {
			free(plan);
			plan = NULL;
		}
	}
	if (fd >= 0)
		close(fd);
	return plan;
}

static uint64_t sum_of(const struct cst_plan *p)
{
	uint64_t sum;

	memcpy(&sum, (const char *)p + p->size - 8, 8);
	return sum;
}

static int add(struct live_code *c, const struct cst_patched *where,
	       const char *folder)
{
	char path[PATH_MAX];
	struct live_file *f;
	struct cst_plan *plan;

	snprintf(path, sizeof(path), "%s/%.64s", folder, where->plan);
	plan = strchr(where->plan, '/') ? NULL : plan_read(path);
	/* An earlier recorder's, perhaps of other functions. */
	if (!plan || sum_of(plan) != where->sum) {
		free(plan);
		return 1;
	}
	if (array_room(&c->all, &c->cap, c->n + 1ull) < 0) {
		free(plan);
		return 0;
	}
	f = &c->all[c->n++];
	*f = (struct live_file){.plan = plan, .where = *where};
	f->is_left = calloc(plan->functions.n + 1, 1);
	return f->is_left != NULL;
}

static int is_known(const struct live_code *known,
		    const struct cst_patched *where)
{
	for (uint32_t i = 0; known && i < known->n; i++)
		if (known->all[i].is_written &&
		    known->all[i].where.area == where->area &&
		    known->all[i].where.sum == where->sum)
			return 1;
	return 0;
}

struct cst_patched_table *live_code_table(int memory, uint64_t address)
{
	struct cst_patched_table *t = malloc(sizeof(*t));

	if (!t || !read_at(memory, address, t, sizeof(*t))) {
		free(t);
		return NULL;
	}
	if (t->n > CST_MAX_PATCHED)
		t->n = CST_MAX_PATCHED;
	for (uint64_t i = 0; i < t->n; i++)
		t->all[i].plan[sizeof(t->all[i].plan) - 1] = '\0';
	return t;
}

int live_code_init(struct live_code *c, int memory, uint64_t table,
		   const char *folder, const struct live_code *known)
{
	struct cst_patched_table *all = live_code_table(memory, table);
	int is_well = all != NULL;

	*c = (struct live_code){0};
	for (uint64_t i = 0; is_well && i < all->n; i++)
		if (all->all[i].area_size && !is_known(known, &all->all[i]))
			is_well = add(c, &all->all[i], folder);
	free(all);
	return is_well;
}

int live_code_join(struct live_code *c, struct live_code *more)
{
	if (array_room(&c->all, &c->cap, c->n + (uint64_t)more->n) < 0)
		return 0;
	for (uint32_t i = 0; i < more->n; i++)
		c->all[c->n++] = more->all[i];
	c->n_left += more->n_left;
	free(more->all);
	*more = (struct live_code){0};
	return 1;
}

void live_code_release(struct live_code *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		free(c->all[i].plan);
		free(c->all[i].is_left);
	}
	free(c->all);
	*c = (struct live_code){0};
}

/* The patch with the address in the process, or NULL. */
static const struct cst_patch *patch_at(const struct live_file *f, uint64_t pc)
{
	const struct cst_patch *all = live_file_patches(f);
	uint32_t low = 0, high = f->plan->patches.n;

	pc -= f->where.bias;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (all[middle].address + all[middle].length <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low < f->plan->patches.n && all[low].address <= pc ? &all[low]
								  : NULL;
}

/* Is pc where no thread may go on once the patch comes or, with is_undone,
 * goes?  What is written is one jump. */
static int is_inside(const struct live_file *f, const struct cst_patch *p,
		     uint64_t pc, int is_undone)
{
	return p->kind == CST_PATCH_LANDING ||
	       (!is_undone && pc != p->address + f->where.bias);
}

void live_file_bytes(const struct live_file *f, const struct cst_patch *p,
		     uint8_t out[CST_PATCH_MAX])
{
	uint32_t word;

	memcpy(out, p->new_bytes, CST_PATCH_MAX);
	if (!p->moved)
		return;
	memcpy(&word, out + p->moved, 4);
	word += (uint32_t)f->where.moved;
	memcpy(out + p->moved, &word, 4);
}

/* ---- threads ---------------------------------------------------------------
 */

static void leave(struct live_file *f, const struct cst_patch *p)
{
	f->is_left[p->function] = 1;
	if (p->kind == CST_PATCH_LANDING && p->trampoline)
		f->is_left[p->trampoline - 1] = 1;
}

static void look_at_word(struct live_code *c, uint64_t word, int is_undone)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct live_file *f = &c->all[i];
		const struct cst_patch *p;

		if (word - f->where.bias - f->plan->image_at >=
		    f->plan->image_size)
			continue;
		p = patch_at(f, word);
		if (p && is_inside(f, p, word, is_undone))
			leave(f, p);
	}
}

/* The end of what is mapped around sp, from the text of /proc/PID/maps. */
static uint64_t stack_end(const char *maps, uint64_t sp)
{
	uint64_t start, end;

	for (const char *at = maps; at && *at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (sscanf(at, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 &&
		    sp >= start && sp < end)
			return end;
	}
	return sp;
}

static void look_at_stack(struct live_code *c, const struct live_threads *t,
			  const char *maps, uint64_t sp, int is_undone)
{
	uint64_t words[8192], end = stack_end(maps, sp);

	sp &= -8ull;
	if (end - sp > MOST_STACK)
		end = sp + MOST_STACK;
	while (sp < end) {
		size_t size =
			end - sp < sizeof(words) ? end - sp : sizeof(words);

		if (!read_at(t->memory, sp, words, size))
			return;
		for (size_t i = 0; i < size / 8; i++)
			look_at_word(c, words[i], is_undone);
		sp += size;
	}
}

/* Where the thread goes on in place of pc before the patches come; 0: nowhere.
 */
static uint64_t copy_of(const struct live_file *f, uint64_t pc)
{
	const struct cst_plan_copy *copies =
		cst_plan_at(f->plan, &f->plan->copies);

	for (uint32_t i = 0; i < f->plan->copies.n; i++)
		if (copies[i].address + f->where.bias == pc)
			return f->where.area + copies[i].copy;
	return 0;
}

/* Before the patches go: the place that the jump at pc leads to. */
static uint64_t target_of(int memory, uint64_t pc)
{
	uint8_t code[5];
	int32_t far;

	if (!read_at(memory, pc, code, sizeof(code)))
		return 0;
	memcpy(&far, code + 1, 4);
	return code[0] == JUMP	       ? pc + 5 + (uint64_t)(int64_t)far
	       : code[0] == SHORT_JUMP ? pc + 2 + (uint64_t)(int8_t)code[1]
				       : 0;
}

static void look_at_thread(struct live_code *c, const struct live_threads *t,
			   const char *maps, pid_t tid, int is_undone)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &r) < 0)
		return;
	look_at_stack(c, t, maps, r.rsp, is_undone);
	for (uint32_t i = 0; i < c->n; i++) {
		struct live_file *f = &c->all[i];
		const struct cst_patch *p;
		uint64_t to;

		if (r.rip - f->where.bias - f->plan->image_at >=
		    f->plan->image_size)
			continue;
		p = patch_at(f, r.rip);
		if (!p || !is_inside(f, p, r.rip, is_undone) ||
		    (is_undone && f->is_left[p->function]))
			continue;
		to = is_undone ? target_of(t->memory, r.rip)
			       : copy_of(f, r.rip);
		if (!to || !t->move(t->arg, tid, to))
			leave(f, p);
		return;
	}
}

/* A landing is written over what the entry of another function displaces: it
 * comes with that entry, and goes before it, or not at all. */
static void close_over_landings(struct live_file *f, int is_undone)
{
	const struct cst_patch *p = live_file_patches(f);
	int has_more = 1;

	while (has_more) {
		has_more = 0;
		for (uint32_t i = 0; i < f->plan->patches.n; i++) {
			uint32_t owner = p[i].function, under = p[i].trampoline;
			uint32_t from, to;

			if (p[i].kind != CST_PATCH_LANDING || !under)
				continue;
			from = is_undone ? owner : under - 1;
			to = is_undone ? under - 1 : owner;
			if (!f->is_left[from] || f->is_left[to])
				continue;
			f->is_left[to] = 1;
			has_more = 1;
		}
	}
}

static void count_left(struct live_code *c)
{
	c->n_left = 0;
	for (uint32_t i = 0; i < c->n; i++)
		for (uint32_t k = 0; k < c->all[i].plan->functions.n; k++)
			c->n_left += c->all[i].is_left[k];
}

void live_code_look(struct live_code *c, const struct live_threads *t,
		    int is_undone)
{
	struct maps maps = {0};

	if (maps_read(&maps, (uint32_t)t->pid, NULL) < 0)
		return; /* it is gone */
	for (uint32_t i = 0; i < t->n; i++)
		look_at_thread(c, t, maps.text, t->all[i], is_undone);
	maps_release(&maps);
	for (uint32_t i = 0; i < c->n; i++)
		close_over_landings(&c->all[i], is_undone);
	count_left(c);
}
