/* SPDX-License-Identifier: MIT
 *
 * A process's entry in the area.  A fork child finds its page wiped but this
 * file's variable as its parent left it: so it knows whose child it is.
 */
#include <errno.h>
#include "core/process.h"
#include "core/area.h"
#include "core/mappings.h"
#include "kernel/state.h"
#include "kernel/syscall.h"

static uint32_t last_process; /* as state_page.process, not wiped */

uint32_t process_add(uint32_t parent)
{
	int64_t index = area_draw(&area->n_processes, 0, CST_MAX_PROCESSES);
	struct cst_process *p;

	if (index < 0 || area_reserve(area_process((uint32_t)index),
				      sizeof(struct cst_process))) {
		area_count(&area->n_lost_threads);
		return 0;
	}
	p = area_process((uint32_t)index);
	p->parent = parent;
	p->start = clock_ticks();
	/* Pairs with the reader's acquire: a process with a pid is complete. */
	__atomic_store_n(&p->pid, sys_getpid(), __ATOMIC_RELEASE);
	return (uint32_t)index + 1;
}

/* The entry + 1 that the reader made for us, or 0. */
static uint32_t process_expected(void)
{
	uint32_t n = __atomic_load_n(&area->n_processes, __ATOMIC_ACQUIRE);
	uint32_t pid = sys_getpid();

	for (uint32_t i = 0; i < n && i < CST_MAX_PROCESSES; i++) {
		struct cst_process *p = area_process(i);

		if (__atomic_load_n(&p->pid, __ATOMIC_ACQUIRE) != pid ||
		    !__atomic_exchange_n(&p->is_expected, 0, __ATOMIC_RELAXED))
			continue;
		p->start = clock_ticks();
		return i + 1;
	}
	return 0;
}

void process_forget(void)
{
	last_process = state_page.process = 0;
}

int process_register(void)
{
	uint32_t process;

	if (state_page.process)
		return 0;
	process = last_process ? 0 : process_expected();
	if (!process)
		process = process_add(last_process);
	if (!process)
		return ENOSPC;
	last_process = state_page.process = process;
	mappings_begin();
	return 0;
}
