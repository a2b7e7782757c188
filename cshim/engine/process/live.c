/* SPDX-License-Identifier: MIT
 *
 * What gdb asks of a process that it has stopped.  All that needs ptrace is
 * done in gdb's own thread, which is the tracer; gdb itself writes code and
 * registers.
 */
#include "cstrace/engine.h"
#include "base/error.h"
#include "elf/x86_64.h"
#include "process/live_code.h"
#include "process/obstacle.h"
#include "process/safe_place.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cst_live {
	pid_t pid;
	int memory;
	struct remote_modules modules;
};

int cst_live_open(uint32_t pid, struct cst_live **out, struct cst_error *err)
{
	struct cst_live *l = calloc(1, sizeof(*l));
	char path[64];
	int status;

	if (!l)
		return cst_fail_memory(err);
	l->pid = (pid_t)pid;
	snprintf(path, sizeof(path), "/proc/%u/mem", pid);
	l->memory = open(path, O_RDONLY | O_CLOEXEC);
	status = l->memory < 0
			 ? cst_fail_sys(err, "cannot read process %u", pid)
			 : remote_modules_init(&l->modules, l->pid, err);
	if (status < 0)
		cst_live_close(l);
	else
		*out = l;
	return status;
}

void cst_live_close(struct cst_live *l)
{
	if (!l)
		return;
	remote_modules_release(&l->modules);
	if (l->memory >= 0)
		close(l->memory);
	free(l);
}

const char *cst_live_obstacle(const struct cst_live *l, const char *shim)
{
	const char *why = obstacle(l->pid, &l->modules, shim);

	return why ? why : "";
}

const char *cst_live_loader_obstacle(const struct cst_live *l)
{
	const char *why = loader_obstacle(l->memory, &l->modules);

	return why ? why : "";
}

const char *cst_live_unsafe(const struct cst_live *l, uint32_t tid)
{
	const char *why = safe_place((pid_t)tid, &l->modules);

	return why ? why : "";
}

int cst_live_is_in_shim(const struct cst_live *l, uint32_t tid, uint64_t table)
{
	struct cst_patched_table *areas = live_code_table(l->memory, table);
	int is_in =
		!areas || safe_place_is_in_shim((pid_t)tid, &l->modules, areas);

	free(areas);
	return is_in;
}

int cst_live_is_return(const struct cst_live *l, uint64_t pc)
{
	const struct remote_module *m = remote_modules_at(&l->modules, pc);
	uint8_t before[PROCESSOR_CALL_BYTES];

	return m && (m->kind == MODULE_OWN || m->kind == MODULE_ALLOCATOR) &&
	       pread(l->memory, before, sizeof(before),
		     (off_t)(pc - sizeof(before))) == sizeof(before) &&
	       processor_ends_in_call(before);
}

uint64_t cst_live_libc(const struct cst_live *l, const char *name)
{
	return remote_modules_libc(&l->modules, name);
}

/* ---- code ------------------------------------------------------------------
 */

struct moves {
	const struct cst_live_look *look;
	uint64_t *pcs;
};

static int note_move(void *arg, pid_t tid, uint64_t pc)
{
	const struct moves *m = arg;

	for (uint32_t i = 0; i < m->look->n_threads; i++)
		if (m->look->threads[i] == (uint32_t)tid)
			m->pcs[i] = pc;
	return 1;
}

/* A thread is moved only where the function's code changes. */
static uint32_t note_left(const struct live_code *c, struct cst_code_left *out,
			  uint32_t room)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n; i++)
		for (uint32_t k = 0; k < c->all[i].plan->functions.n; k++) {
			if (!c->all[i].is_left[k])
				continue;
			if (n < room)
				out[n] = (struct cst_code_left){
					.area = c->all[i].where.area,
					.function = k};
			n++;
		}
	return n;
}

int cst_live_look(const struct cst_live *l, const struct cst_live_look *look,
		  uint64_t *pcs, struct cst_code_left *left, uint32_t room,
		  struct cst_error *err)
{
	struct moves moves = {look, pcs};
	struct live_threads threads = {.pid = l->pid,
				       .memory = l->memory,
				       .all = (const pid_t *)look->threads,
				       .n = look->n_threads,
				       .move = note_move,
				       .arg = &moves};
	struct live_code code;
	uint32_t n;

	memset(pcs, 0, look->n_threads * sizeof(*pcs));
	if (!live_code_init(&code, l->memory, look->table, look->folder,
			    NULL)) {
		live_code_release(&code);
		return cst_fail(CST_FAILED, err,
				"out of memory, or the process has ended");
	}
	live_code_look(&code, &threads, (int)look->is_undone);
	n = note_left(&code, left, room);
	live_code_release(&code);
	return n > room ? cst_fail(CST_FAILED, err,
				   "too many functions are on the stacks")
			: (int)n;
}
