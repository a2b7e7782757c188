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

int process_register(void)
{
	struct cst_process *p;
	int64_t index;

	if (state_page.process)
		return 0;
	index = area_draw(&area->n_processes, 0, CST_MAX_PROCESSES);
	if (index < 0 || area_reserve(area_process((uint32_t)index),
				      sizeof(struct cst_process))) {
		area_count(&area->n_lost_threads);
		return ENOSPC;
	}
	p = area_process((uint32_t)index);
	p->parent = last_process;
	p->start = clock_ticks();
	last_process = (uint32_t)index + 1;
	state_page.process = last_process;
	/* Pairs with the reader's acquire: a process with a pid is whole. */
	__atomic_store_n(&p->pid, sys_getpid(), __ATOMIC_RELEASE);
	mappings_begin();
	return 0;
}
