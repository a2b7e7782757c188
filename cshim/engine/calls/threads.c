/* SPDX-License-Identifier: MIT
 *
 * Makes a trace's threads when their first records or seeds come, numbers them,
 * and keeps their names up to date.
 */
#include "calls/threads.h"

#include "base/array.h"
#include "base/task_file.h"
#include "calls/fork.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A thread mostly gets its name just after its first call; from its second
 * chunk on, and at its end, the shim says what it is. */
enum { MAX_LOOKS = 8 };

void threads_release(struct threads *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		fork_release(c->all[i]);
		free(c->all[i]->text);
		free(c->all[i]);
	}
	free(c->all);
	free(c->by_area);
	free(c->alternates);
	free(c->n_of_process);
	*c = (struct threads){0};
}

static struct thread *threads_add(struct threads *c, struct callstack *calls,
				  uint32_t process, uint32_t pid, uint32_t tid,
				  const char *name)
{
	struct thread *t;
	int index;

	if (array_room(&c->all, &c->cap, c->n + 1ull) < 0 ||
	    array_room(&c->n_of_process, &c->cap_processes, process + 1ull) < 0)
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->area_index = UINT32_MAX;
	t->process = process;
	t->tid = tid;
	t->ordinal = c->n_of_process[process] + 1;
	snprintf(t->name, sizeof(t->name), "%s", name);
	index = calls->writer ? writer_thread(calls->writer, process + 1, pid,
					      t->ordinal, tid, t->name)
			      : 0;
	t->index = index < 0 ? 0 : (uint32_t)index;
	t->own = t->current = stack_add(calls, t, 0);
	if (!t->own) {
		free(t);
		return NULL;
	}
	if (!c->n_of_process[process]++)
		c->n_processes++;
	c->all[c->n++] = t;
	return t;
}

/* 1: the kernel knows the thread, and this is its name. */
static int read_name(uint32_t pid, uint32_t tid, char name[17])
{
	if (!task_file_read(pid, tid, "comm", name, 17))
		return 0;
	name[strcspn(name, "\n")] = '\0';
	return 1;
}

struct thread *threads_of_tid(struct threads *c, struct callstack *calls,
			      uint32_t process, uint32_t pid, uint32_t tid,
			      const char *name)
{
	char own[17] = {0};

	for (uint32_t i = 0; i < c->n; i++) {
		if (c->all[i]->process == process && c->all[i]->tid == tid)
			return c->all[i];
	}
	if (!*name && read_name(pid, tid, own))
		name = own;
	return threads_add(c, calls, process, pid, tid, name);
}

/* A thread that was seeded before it wrote its first record. */
static struct thread *threads_seeded(const struct threads *c, uint32_t process,
				     uint32_t tid)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct thread *t = c->all[i];

		if (t->area_index == UINT32_MAX && t->process == process &&
		    t->tid == tid)
			return t;
	}
	return NULL;
}

int threads_has_met(const struct threads *c, uint32_t index)
{
	return index < c->n_by_area && c->by_area[index];
}

int threads_knows(const struct threads *c, const struct area *a, uint32_t index)
{
	if (threads_has_met(c, index))
		return 1;
	return index < CST_MAX_THREADS &&
	       threads_seeded(c, a->threads[index].process,
			      __atomic_load_n(&a->threads[index].tid,
					      __ATOMIC_ACQUIRE));
}

void threads_hear(struct threads *c, uint32_t index,
		  const struct cst_record *mark)
{
	if (cst_record_site(mark) == CST_ALTERNATE && index < CST_MAX_THREADS &&
	    array_room(&c->alternates, &c->n_alternates, index + 1ull) == 0)
		c->alternates[index] = (struct extent){cst_record_sp(mark),
						       cst_record_fp(mark)};
}

static void threads_inherit(const struct threads *c, struct thread *t,
			    const struct cst_thread *shared)
{
	uint32_t from = __atomic_load_n(&shared->forked_from, __ATOMIC_RELAXED);

	if (!from || from > c->n_by_area)
		return;
	t->heir_of = c->by_area[from - 1];
	t->n_fork = shared->n_fork;
}

/* A process of that pid begins: should there have been one, it has exec'ed, and
 * the kernel was perhaps asked too late for the name of its thread. */
static void threads_exec(struct threads *c, struct callstack *calls,
			 uint32_t process, uint32_t tid)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct thread *t = c->all[i];

		if (t->tid != tid || t->process >= process || !*t->shim_name)
			continue;
		t->n_looks = MAX_LOOKS;
		memcpy(t->name, t->shim_name, sizeof(t->name) - 1);
		if (calls->writer)
			writer_thread_name(calls->writer, t->index, t->name);
	}
}

static struct thread *threads_meet(struct threads *c, struct callstack *calls,
				   const struct area *a, uint32_t index)
{
	/* The writer sets tid last: pairs with its release. */
	uint32_t tid =
		__atomic_load_n(&a->threads[index].tid, __ATOMIC_ACQUIRE);
	uint32_t process =
		__atomic_load_n(&a->threads[index].process, __ATOMIC_RELAXED);
	struct thread *t;
	char name[17] = {0};

	if (process >= CST_MAX_PROCESSES)
		return NULL;
	memcpy(name, a->threads[index].name, 16);
	t = threads_seeded(c, process, tid);
	if (!t)
		t = threads_add(c, calls, process, a->processes[process].pid,
				tid, name);
	if (!t)
		return NULL;
	t->area_index = index;
	t->base = a->threads[index].base;
	if (index < c->n_alternates)
		t->alternate = c->alternates[index];
	if (!a->processes[process].parent)
		threads_exec(c, calls, process, tid);
	threads_inherit(c, t, &a->threads[index]);
	return t;
}

/* A call that was recorded under another name now goes by this one. */
static void threads_name(struct callstack *calls, const struct area *a,
			 struct thread *t)
{
	const struct cst_thread *shared = &a->threads[t->area_index];
	char name[17] = {0};

	if (memcmp(t->shim_name, shared->name, sizeof(t->shim_name)) != 0) {
		memcpy(t->shim_name, shared->name, sizeof(t->shim_name));
		memcpy(name, t->shim_name, 16);
	} else if (t->n_looks == MAX_LOOKS || a->is_past || a->is_elsewhere ||
		   !read_name(a->processes[t->process].pid, t->tid, name)) {
		return;
	}
	if (t->n_looks < MAX_LOOKS)
		t->n_looks++;
	snprintf(t->name, sizeof(t->name), "%s", name);
	if (calls->writer)
		writer_thread_name(calls->writer, t->index, t->name);
}

struct thread *threads_of_area(struct threads *c, struct callstack *calls,
			       const struct area *a, uint32_t index)
{
	if (index >= CST_MAX_THREADS ||
	    array_room(&c->by_area, &c->n_by_area, index + 1ull) < 0)
		return NULL;
	if (!c->by_area[index])
		c->by_area[index] = threads_meet(c, calls, a, index);
	if (c->by_area[index])
		threads_name(calls, a, c->by_area[index]);
	return c->by_area[index];
}
