/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Samples a process from outside: by perf events, or, where the kernel refuses
 * them, stops one thread after the other for as long as it takes to walk its
 * stack (ptrace, libunwind), and leaves it alone otherwise.
 */
#ifndef CLI_OUTSIDE_H
#define CLI_OUTSIDE_H

#include "cstrace/samples.h"

#include <sys/types.h>

struct outside;

/* Returns whether the process can be sampled at all, and reports why not.
 * Nothing stops for that. */
int outside_check(pid_t pid);

/* Begins with the process; samples go to the memory at path
 * (cst_recorder_samples_path()).  NULL: a failure was reported. */
struct outside *outside_new(pid_t pid, const char *path);
void outside_free(struct outside *o);

/* Sleeps until a time of CLOCK_MONOTONIC, or a signal of ours; takes samples of
 * perf events meanwhile. */
void outside_wait(struct outside *o, uint64_t until_ns);

/* Returns errno of the kernel's refusal of perf events, or E2BIG if there are
 * too many threads for them; 0: they take the samples. */
int outside_refusal(const struct outside *o);

/* Takes the samples that are due, and those of perf events.   Returns 0 when
 * the process has ended. */
int outside_round(struct outside *o);

/* Returns how long a thread was stopped on the average, in ns;
 * 0: none was. */
uint64_t outside_stop_ns(const struct outside *o);

#endif
