/* SPDX-License-Identifier: MIT
 *
 * Knows which process lives in which address space, and keeps each space's
 * modules up to date with what the shim and /proc report.
 */
#include "sites/address_space.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

static void space_free(struct space *space)
{
	if (!space)
		return;
	hashmap_release(&space->functions);
	hashmap_release(&space->physicals);
	hashmap_release(&space->scopes);
	modules_free(space->modules);
	free(space);
}

/* NULL: no memory. */
static struct space *space_add(struct spaces *s, uint32_t process)
{
	struct space *space = calloc(1, sizeof(*space));

	if (!space)
		return NULL;
	space->number = s->n + 1;
	space->process = process;
	space->is_stale = 1;
	space->modules =
		s->n ? modules_new_beside(s->all[0]->modules) : modules_new();
	if (!space->modules || array_room(&s->all, &s->cap, s->n + 1ull) < 0) {
		space_free(space);
		return NULL;
	}
	s->all[s->n++] = space;
	return space;
}

int spaces_init(struct spaces *s, const struct area *a)
{
	*s = (struct spaces){.area = a};
	s->asker = space_add(s, UINT32_MAX);
	return s->asker ? 0 : CST_MEMORY;
}

void spaces_release(struct spaces *s)
{
	while (s->n)
		space_free(s->all[--s->n]);
	free(s->all);
	free(s->of_process);
	free(s->is_taken);
	*s = (struct spaces){0};
}

/* ---- whose is which ------------------------------------------------------ */

/* 0: no such process. */
static uint32_t pid_of(const struct spaces *s, uint32_t process)
{
	return __atomic_load_n(&s->area->processes[process].pid,
			       __ATOMIC_ACQUIRE);
}

/* A program that was exec'ed (or is the first). */
static struct space *space_begin(struct spaces *s, uint32_t process)
{
	struct space *space;

	if (s->asker->process == UINT32_MAX && process >= s->asker_from &&
	    pid_of(s, process) == s->pid) {
		s->asker->process = process;
		return s->asker;
	}
	space = space_add(s, process);
	return space ? space : s->asker;
}

struct space *spaces_of(struct spaces *s, uint32_t process)
{
	uint32_t parent;

	if (process >= CST_MAX_PROCESSES || !pid_of(s, process) ||
	    array_room(&s->of_process, &s->cap_processes, process + 1ull) < 0)
		return s->asker;
	if (s->of_process[process])
		return s->of_process[process];
	/* Data from outside: a parent comes before its child. */
	parent = __atomic_load_n(&s->area->processes[process].parent,
				 __ATOMIC_RELAXED);
	s->of_process[process] = parent && parent <= process
					 ? spaces_of(s, parent - 1)
					 : space_begin(s, process);
	return s->of_process[process];
}

struct space *spaces_asker(const struct spaces *s)
{
	return s->asker;
}

/* The last process of that pid: those before it were the same one before an
 * exec. */
static struct space *space_of_pid(struct spaces *s, uint32_t pid)
{
	uint32_t n =
		__atomic_load_n(&s->area->head->n_processes, __ATOMIC_ACQUIRE);

	if (n > CST_MAX_PROCESSES)
		n = CST_MAX_PROCESSES;
	while (n-- > s->asker_from)
		if (pid_of(s, n) == pid)
			return spaces_of(s, n);
	return NULL;
}

void spaces_ask(struct spaces *s, uint32_t pid, int has_ended)
{
	struct space *now;

	if (has_ended) {
		s->pid = 0;
		return;
	}
	s->pid = pid;
	now = space_of_pid(s, pid);
	if (now)
		s->asker = now;
}

int spaces_exec(struct spaces *s)
{
	struct space *next = space_add(s, UINT32_MAX);

	if (!next)
		return CST_MEMORY;
	s->asker = next;
	s->asker_from =
		__atomic_load_n(&s->area->head->n_processes, __ATOMIC_ACQUIRE);
	return 0;
}

/* ---- what is mapped ------------------------------------------------------ */

enum { MAX_LINE = 8192, MAX_OBJECT = BUILD_ID_SIZE + 17 };

static void copy_text(const struct spaces *s, uint32_t at, char *out,
		      uint32_t size)
{
	uint32_t n = 0;

	while (at < CST_TEXT_SIZE && n < size - 1 && s->area->text[at])
		out[n++] = s->area->text[at++];
	out[n] = 0;
}

void space_forget(struct space *space, uint64_t start, uint64_t end)
{
	hashmap_drop(&space->functions, start, end);
	hashmap_drop(&space->physicals, start, end);
	hashmap_drop(&space->scopes, start, end);
}

/* Can this machine's kernel be asked? */
static int is_here(const struct spaces *s)
{
	return !s->area->is_past && !s->area->is_elsewhere;
}

static void take_mapping(struct spaces *s, const struct cst_mapping *m)
{
	char line[MAX_LINE], object[MAX_OBJECT] = "";
	uint32_t process = __atomic_load_n(&m->process, __ATOMIC_RELAXED);
	uint32_t id = __atomic_load_n(&m->object, __ATOMIC_RELAXED);
	uint64_t start, end;
	struct space *space;

	if (process >= CST_MAX_PROCESSES)
		return;
	space = spaces_of(s, process);
	copy_text(s, __atomic_load_n(&m->text, __ATOMIC_RELAXED), line,
		  sizeof(line));
	if (id)
		copy_text(s, id - 1, object, sizeof(object));
	modules_map(space->modules, is_here(s) ? pid_of(s, process) : 0, line,
		    object, &start, &end);
	if (end)
		space_forget(space, start, end);
}

void spaces_take_mappings(struct spaces *s, uint32_t site)
{
	uint32_t n =
		__atomic_load_n(&s->area->head->n_mappings, __ATOMIC_ACQUIRE);

	if (n > CST_MAX_MAPPINGS)
		n = CST_MAX_MAPPINGS;
	if (n > s->n_mappings && !s->is_taken)
		s->is_taken = calloc(CST_MAX_MAPPINGS, 1);
	/* With two processes the later entry may belong to the earlier site;
	 * and an entry may never be complete, if its writer died there. */
	for (uint32_t i = s->n_mappings; s->is_taken && i < n; i++) {
		const struct cst_mapping *m = &s->area->mappings[i];

		if (s->is_taken[i] ||
		    !__atomic_load_n(&m->is_complete, __ATOMIC_ACQUIRE) ||
		    m->n_sites > site)
			continue;
		take_mapping(s, m);
		s->is_taken[i] = 1;
	}
	while (s->n_mappings < n && s->is_taken && s->is_taken[s->n_mappings])
		s->n_mappings++;
}

/* The pid whose maps are those of the process; 0: it has exec'ed since. */
static uint32_t mapping_pid(const struct spaces *s, uint32_t process)
{
	uint32_t n =
		__atomic_load_n(&s->area->head->n_processes, __ATOMIC_ACQUIRE);
	uint32_t pid;

	if (process >= CST_MAX_PROCESSES || !pid_of(s, process))
		return s->pid;
	pid = pid_of(s, process);
	if (pid == s->pid && process < s->asker_from)
		return 0;
	for (uint32_t i = process + 1; i < n && i < CST_MAX_PROCESSES; i++)
		if (pid_of(s, i) == pid)
			return 0;
	return pid;
}

void spaces_look(struct spaces *s, struct space *space, uint32_t process,
		 uint64_t addr)
{
	uint32_t pid;

	if (!space->is_stale || !is_here(s) ||
	    modules_has(space->modules, addr))
		return;
	space->is_stale = 0;
	/* The process's own: a child may have loaded what its parent has
	 * not. */
	pid = mapping_pid(s, process);
	if (pid)
		modules_refresh(space->modules, pid, NULL);
}
