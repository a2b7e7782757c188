/* SPDX-License-Identifier: MIT
 *
 * The sampler, a guest in a program that need not be instrumented: a signal
 * interrupts each thread so many times a second, its handler walks the stack
 * and leaves the addresses in shared memory.  What a handler may come to is
 * async-signal-safe: no lock that another thread could hold for long, no
 * malloc, nothing of the dynamic linker's, errno as it was.
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

/* Begins to sample all threads, or ends it.  Both may be called at any place of
 * the program.  0: no samples are to be had. */
int sampler_start(void);
void sampler_stop(void);
int sampler_is_on(void);
/* Begins, anew, if gdb asks for that; for the handler. */
void sampler_obey(void);
/* Returns whether it was to end by now. */
int sampler_is_over(uint64_t now);

/* ---- tasks.c: the threads ---- */

/* Finds the threads of this process and gives each its timer. */
void tasks_scan(void);
/* The calling thread begins, or ends. */
void task_begin(void);
void task_end(void);
/* Takes all timers away. */
void tasks_stop(void);
/* A fork child begins with one thread and no timers. */
void tasks_forked(void);
/* Does tasks_scan() if the last one was long ago; for the handler. */
void tasks_look(void);
/* The signal that is sent changes: all timers are made anew. */
void tasks_resignal(void);

/* Returns the lane of the calling thread, or NULL: none is free. */
struct cst_lane *lane_own(void);

/* ---- handler.c ---- */

/* The signal that samples, 0: none is free. */
extern int sample_signal;
int handler_install(void);
/* The program wants that signal for itself. */
void handler_yield(void);

/* ---- stack.c ---- */

struct walk {
	uint64_t pc, sp, fp;
	uint64_t readable_from, readable_to;
	int is_exact; /* pc is no return address */
	int is_cut;
};

/* Sets w for the code that a signal interrupted. */
void walk_begin(struct walk *w, const ucontext_t *context);
/* Puts the next frame's address into *out.  0: there are no more. */
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

/* How to come from a frame to its caller's. */
struct rule {
	uint8_t cfa, fp_base, ra_base;
	uint8_t is_signal; /* the caller was interrupted, and called nothing */
	uint8_t is_guess;  /* there is no information on the code */
	int32_t cfa_offset, fp_offset, ra_offset;
};

/* Makes ready, while nothing is interrupted yet. */
int rules_begin(void);
/* Sets *out for the code at pc. */
void rules_find(uint64_t pc, struct rule *out);
/* Code may have gone: what is known of it counts no more. */
void rules_forget(void);
/* Returns whether the code at pc is that of the library which finds rules.  It
 * locks with all signals blocked; then the handler must not come. */
int rules_are_found_by(uint64_t pc);
/* No rule is being looked for in this process until rules_release(): a fork
 * child finds nothing half done. */
void rules_hold(void);
void rules_release(int is_child);

/* ---- interpose.c ---- */

/* Finds libc's own functions; before any of ours is called. */
void libc_find(void);
/* libc's, unseen by ours. */
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
