/* SPDX-License-Identifier: MIT
 *
 * The values of calls: runs the copy programs that the reader has written
 * (struct cst_copy), and puts what they emit before an event's record.
 */
#ifndef SHIM_COPY_H
#define SHIM_COPY_H

#include "cstrace/layout.h"

/* The registers of a hook's caller, by enum cst_copy_register. */
struct copy_registers {
	uint64_t r[CST_N_REGS];
};

/* An event whose registers are known. */
struct copy_event {
	const struct copy_registers *registers;
	uint64_t time; /* 0: when its values have been copied */
	uint64_t sp, fp;
	uint32_t site;
	enum cst_kind kind;
};

/* Runs a program, of at most n steps, and puts what it emits into
 * raw[CST_RAW_MAX + 8], of which the last 8 bytes only make room.  Returns the
 * number of bytes. */
uint32_t copy_run(const struct cst_copy *steps, uint32_t n,
		  const struct copy_registers *registers, uint8_t *raw);

/* Puts an event of a site whose verdict is CST_COPIED into the thread's chunk,
 * with its values.  If there is no room the loss is counted.  Returns whether
 * there was room.  Async-signal-safe. */
int copy_put(const struct copy_event *e);

/* Says that a library was unloaded, and another may come to its addresses. */
void copy_unloaded(void);

/* Returns how many records an event with n raw bytes takes. */
static inline uint32_t copy_records(uint32_t n)
{
	return n / CST_TEXT_BYTES + (n > 0) + 1;
}

#endif
