/* SPDX-License-Identifier: MIT
 *
 * Conditions on the values of calls: gdb has written comparisons for the hooks
 * that it was asked about (struct cst_tests).
 */
#ifndef SHIM_STOP_VALUES_H
#define SHIM_STOP_VALUES_H

#include "core/copy.h"
#include "core/site.h"
#include "cstrace/control.h"

/* A hook that was called. */
struct stop_event {
	struct site_key key;
	const struct copy_registers *registers; /* NULL: not known */
};

enum stop_truth {
	STOP_FALSE,
	STOP_TRUE,
	STOP_NOT_KNOWN,
	STOP_NOT_ASKED, /* gdb was not asked about this hook */
};

/* Returns whether the values that the hook's caller has now meet condition
 * `stop`.  Async-signal-safe. */
enum stop_truth stop_values(uint32_t stop, const struct stop_event *e);

#endif
