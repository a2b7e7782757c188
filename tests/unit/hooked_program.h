/* SPDX-License-Identifier: MIT
 *
 * What the library made of hooked_program.c writes down while it runs.
 */
#ifndef UNIT_HOOKED_PROGRAM_H
#define UNIT_HOOKED_PROGRAM_H

#include <stdint.h>

enum { SUBJECT_MAX = 64 };

struct subject_event {
	int kind; /* '<' or '>' */
	uint64_t callee, caller, hook, sp, fp;
};

struct subject_truth {
	uint64_t callee, cfa;
	uint32_t line;
};

struct subject_log {
	struct subject_event events[SUBJECT_MAX];
	struct subject_truth truths[SUBJECT_MAX];
	int n_events, n_truths;
	uint64_t cold_pc, with_cold; /* an address in the cold part */
	uint64_t tell_pc, tell;	     /* the same of a static function */
};

#endif
