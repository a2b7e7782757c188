/* SPDX-License-Identifier: MIT
 *
 * The area as this process has it mapped.
 */
#ifndef SHIM_AREA_H
#define SHIM_AREA_H

#include "kernel/arch.h"
#include "kernel/state.h"
#include "kernel/syscall.h"

/* The area.  It is NULL until area_map() succeeds, then constant for the
 * process's life, but for area_forget(): cursors point into it.  gdb finds it
 * as cstrace_area. */
extern HIDDEN struct cst_area *area;

/* Maps the file at path, once; with is_file 1 it is a file on disk, which is
 * made if there is none, with 2 memory is made, and path is the size of the
 * flight; with 3 likewise, and a debugger reads it.  Returns 0, or a positive
 * errno. */
int area_map(const char *path, int is_file);
/* Touches the pages of the pool once, when the area is mapped: without this
 * each page would cost a page fault during the program's calls. */
void area_touch(void);
/* Unmaps the area, while no other thread runs and none has a cursor. */
void area_forget(void);

/* Returns whether the memory of this chunk is mapped, after mapping it if need
 * be.  Called with signals blocked and without the lock, which it may take. */
int area_has_chunk(uint32_t index);
/* Returns whether the memory of the site with this number is mapped, after
 * mapping it if need be; the caller holds the lock. */
int area_has_site(uint32_t number);

/* Makes the kernel provide the memory before it is written: on a full tmpfs a
 * write would end the program.  Returns 0, or a positive errno. */
int area_reserve(void *start, uint64_t size);
/* Does so for the slots that may hold a hook, once for each page. */
int area_reserve_hook(struct cst_hook *slots);

/* Claims the next number of a table by its counter, from first up to below end.
 * Returns the number, or -1 when the table is full. */
int64_t area_draw(uint32_t *counter, uint32_t first, uint32_t end);

/* Puts bytes into the area's text.  Returns their offset, or -1: they would not
 * end below `end`. */
int64_t area_text(const char *bytes, uint32_t size, uint32_t end);

/* Sets *ticks and *ns to the time in ticks and of the monotonic clock; leaves
 * both as they are if that clock cannot be read. */
static inline void area_moment(uint64_t *ticks, uint64_t *ns)
{
	uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);

	if (!now)
		return;
	*ns = now;
	*ticks = clock_ticks();
}

/* Adds 1 to a counter of the area. */
static inline void area_count(uint64_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* Returns the address of the byte at that offset of the area. */
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

static inline uint32_t *area_copies(uint32_t site)
{
	return (uint32_t *)area_at(CST_AT_COPIES) + site;
}

static inline const struct cst_copy *area_step(uint32_t index)
{
	return (const struct cst_copy *)area_at(CST_AT_STEPS) + index;
}

static inline struct cst_hook *area_hook(uint32_t slot)
{
	return (struct cst_hook *)area_at(CST_AT_HOOKS) + slot;
}

static inline struct cst_mapping *area_mapping(uint32_t index)
{
	return (struct cst_mapping *)area_at(CST_AT_MAPPINGS) + index;
}

#endif
