/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Samples a process that runs already from within: it loads the sampler, whose
 * timers interrupt its threads.
 */
#ifndef CLI_INSIDE_H
#define CLI_INSIDE_H

#include "attach/guest.h"
#include "cstrace/samples.h"

struct inside {
	struct tracee tracee;
	struct guest guest;
	uint64_t attach, look, detach, control; /* in the sampler's file */
	struct cst_samples *samples;
	int signal; /* that samples */
	/* Threads that blocked the signal, and do so again in the end. */
	pid_t *opened;
	uint32_t n_opened, cap_opened;
	/* Threads without a sample yet. */
	struct unsampled {
		pid_t tid;
		uint64_t since_ns; /* of its CPU time, as it was first seen */
		uint32_t n_tries;
		uint64_t mask; /* the signals that it blocked when last seen */
	} * unsampled;
	uint32_t n_unsampled, cap_unsampled;
	/* What had been taken when the last sample came, and the CPU time. */
	uint64_t n_words, words_ns;
};

/* Has the process sample itself into the memory at path
 * (cst_recorder_samples_path()).  Returns 1, or 0 with the reason in
 * s->guest.why, in words that follow "process 12: ". It waits for a safe place
 * for limit_ms, or if that is 0 for ten seconds.  End s in any case. */
int inside_begin(struct inside *s, pid_t pid, const char *path,
		 uint64_t limit_ms, const volatile int *is_cancelled);

/* Begins with threads that have come since; is called some ten times a second,
 * with the CPU time of the process.  Returns 0 if there will be no more
 * samples, because the process has ended or runs another program (s->guest.why
 * is ""), or for a reason in s->guest.why. */
int inside_look(struct inside *s, uint64_t ran_ns);

/* Takes timers and handler out of the process again; the library stays. Returns
 * 0 if that cannot be now, with the reason in s->guest.why. */
int inside_undo(struct inside *s);
/* Frees what belongs to s. */
void inside_end(struct inside *s);

#endif
