/* SPDX-License-Identifier: MIT
 *
 * The sampler, a guest in a program that need not be instrumented: a signal
 * interrupts each thread so many times a second, and its handler walks the
 * stack and puts the addresses into shared memory.  All that a handler calls is
 * async-signal-safe: it takes no lock that another thread could hold for long,
 * calls neither malloc() nor the dynamic linker, and keeps errno.
 */
#ifndef SAMPLER_H
#define SAMPLER_H

#include "cstrace/samples.h"

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>
#include <ucontext.h>

#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORT __attribute__((visibility("default")))

#pragma GCC visibility push(hidden)

/* The shared memory, or NULL: there is no reader. */
extern struct cst_samples *samples;
/* This process's index in it. */
extern uint32_t sampled_process;

/* ---- sampler.c ---- */

/* Begin and end the sampling of all threads.  Both may be called at any place
 * of the program.  sampler_start() returns 0 if no samples can be taken. */
int sampler_start(void);
void sampler_stop(void);
int sampler_is_on(void);
/* Returns whether a recorder has loaded the sampler into a program that ran
 * already: nothing of ours stands before libc's functions then. */
int sampler_is_attached(void);
/* Ends the sampling of such a program if its recorder has ended; for the
 * handler, where nobody reads its samples. */
void sampler_look_for_reader(void);
/* Begins again if gdb asks for that; for the handler. */
void sampler_obey(void);
/* Returns whether the time for which samples were wanted is over. */
int sampler_is_over(uint64_t now);

/* ---- tasks.c: the threads ---- */

/* Finds the threads of this process and gives each its timer. */
void tasks_scan(void);
/* Are called by a thread that begins or ends. */
void task_begin(void);
void task_end(void);
/* Delays the calling thread's next sample, so that none ends the wait that a
 * recorder has interrupted, before the thread is back in it; and undoes that,
 * for the handler. */
void task_delay(void);
void task_end_delay(void);
/* Deletes all timers. */
void tasks_stop(void);
/* Is called in a fork child, which has one thread and no timers. */
void tasks_forked(void);
/* Makes each thread claim a lane anew: the memory is another. */
void tasks_forget_lanes(void);
/* Does tasks_scan() if the last one was long ago; for the handler. */
void tasks_look(void);
/* Makes all timers again, as the signal that they send has changed. */
void tasks_resignal(void);

/* Returns the lane of the calling thread, or NULL: none is free. */
struct cst_lane *lane_own(void);

/* ---- handler.c ---- */

/* The signal that samples, 0: none is free. */
extern int sample_signal;
int handler_install(void);
/* Takes another signal, as the program wants that one for itself. */
void handler_yield(void);
/* Gives the signal back.  No timer sends it any more; what still waits is
 * dropped. */
void handler_remove(void);
/* Returns whether no thread is in the handler, or all have left it within a
 * second.  Sampling has ended. */
int handler_is_left(void);
/* Is called in a fork child, where no other thread is in the handler. */
void handler_forked(void);

/* ---- stack.c ---- */

struct walk {
	uint64_t pc, sp, fp;
	uint64_t readable_from, readable_to;
	int is_exact; /* pc is no return address */
	int is_cut;
};

/* Sets w for the code that a signal interrupted. */
void walk_begin(struct walk *w, const ucontext_t *context);
/* Sets *out to the next frame's address.  Returns 0 if there are no more. */
int walk_next(struct walk *w, uint64_t *out);
/* Returns whether 8 bytes at addr can be read. */
int is_readable(struct walk *w, uint64_t addr);

/* ---- rules.c ---- */

enum rule_cfa {
	CFA_NONE = 0, /* nothing is known: the walk is cut */
	CFA_END,      /* nobody called this: the stack begins here */
	CFA_IS_SP,
	CFA_IS_FP,
	CFA_AT_SP, /* in memory there */
	CFA_AT_FP,
};

enum rule_base { BASE_SAME, BASE_CFA, BASE_SP, BASE_LOST };

/* How a walk gets from a frame to its caller's: where its CFA (the stack
 * pointer in the caller), return address and frame pointer are. */
struct rule {
	uint8_t cfa, fp_base, ra_base;
	uint8_t is_signal; /* the caller was interrupted, and called nothing */
	uint8_t is_guess;  /* there is no information on the code */
	int32_t cfa_offset, fp_offset, ra_offset;
};

/* Opens libunwind, before any thread is interrupted.  Returns 0 if it cannot be
 * used. */
int rules_begin(void);
/* Sets *out for the code at pc. */
void rules_find(uint64_t pc, struct rule *out);
/* Forgets all rules, as a library may have been unloaded. */
void rules_forget(void);
/* Returns whether the code at pc is libunwind's.  It takes locks with all
 * signals blocked, and the handler must not run meanwhile. */
int rules_is_libunwind(uint64_t pc);
/* Keeps all threads out of libunwind until rules_release(), so that a fork
 * child finds none of its locks taken. */
void rules_hold(void);
void rules_release(int is_child);

/* ---- interpose.c ---- */

/* Finds libc's own functions, before any of ours is called. */
void libc_find(void);
/* Call libc's sigaction() and pthread_sigmask(), past ours. */
int sampler_sigaction(int number, const struct sigaction *action,
		      struct sigaction *old);
void sampler_sigmask(int how, const sigset_t *set);

/* ---- small things ---- */

static inline uint64_t clock_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

#pragma GCC visibility pop

#endif
