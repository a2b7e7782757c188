/* SPDX-License-Identifier: MIT
 *
 * The area as this process has it mapped.
 */
#ifndef SHIM_AREA_H
#define SHIM_AREA_H

#include "kernel/arch.h"
#include "kernel/state.h"
#include "kernel/syscall.h"

/* NULL until mapped, then the same for the process's life: cursors point
 * into it. */
extern HIDDEN struct cst_area *area;

/* Map the file at path, once (is_file: which may have to be made); 0, or a
 * positive errno. */
int area_map(const char *path, int is_file);
/* Once it is: without this each page of the pool costs a fault amid the
 * program's calls. */
void area_touch(void);

/* Is this chunk mapped, or could it be mapped now?  With signals blocked. */
int area_has_chunk(uint32_t index);
/* The same of a site; under the lock. */
int area_has_site(uint32_t number);

/* See that the memory is there before it is written: on a full tmpfs the
 * write would end the program.  0, or a positive errno. */
int area_reserve(void *start, uint64_t size);

/* Draw the next number of a table: -1 when it is full. */
int64_t area_draw(uint32_t *counter, uint32_t first, uint32_t end);

/* What time it is, in ticks and by the monotonic clock, where that tells. */
static inline void area_moment(uint64_t *ticks, uint64_t *ns)
{
	uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);

	if (!now)
		return;
	*ns = now;
	*ticks = clock_ticks();
}

static inline void area_count(uint64_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static inline void *area_at(uint64_t offset)
{
	return (char *)area + offset;
}

static inline struct cst_process *area_process(uint32_t index)
{
	return (struct cst_process *)area_at(CST_AT_PROCESSES) + index;
}

static inline struct cst_thread *area_thread(uint32_t index)
{
	return (struct cst_thread *)area_at(CST_AT_THREADS) + index;
}

static inline struct cst_chunk *area_chunk(uint32_t index)
{
	return (struct cst_chunk *)area_at(CST_AT_CHUNK_STATES) + index;
}

static inline struct cst_mapping *area_mapping(uint32_t index)
{
	return (struct cst_mapping *)area_at(CST_AT_MAPPINGS) + index;
}

#endif
