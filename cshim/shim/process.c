/* SPDX-License-Identifier: MIT
 *
 * A process's entry in the area.  A fork child finds its page wiped but this
 * file's variable as its parent left it: so it knows whose child it is.
 */
#include <errno.h>
#include "process.h"
#include "area.h"
#include "mappings.h"
#include "state.h"
#include "syscall.h"

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
	/* Pairs with the reader's acquire: a process with a pid is whole. */
	__atomic_store_n(&p->pid, sys_getpid(), __ATOMIC_RELEASE);
	return (uint32_t)index + 1;
}

int process_register(void)
{
	uint32_t process;

	if (state_page.process)
		return 0;
	process = process_add(last_process);
	if (!process)
		return ENOSPC;
	last_process = state_page.process = process;
	mappings_begin();
	return 0;
}
