/* SPDX-License-Identifier: MIT
 *
 * The page that the kernel wipes in a fork child.  Its first word is what
 * every hook tests; the rest is what must not be inherited either.
 */
#ifndef SHIM_STATE_H
#define SHIM_STATE_H

#include "cstrace/layout.h"

#define EXPORT __attribute__((visibility("default")))
/* -fvisibility does not act on what is only declared. */
#define HIDDEN __attribute__((visibility("hidden")))
#define COLD __attribute__((noinline, cold))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* More states beside those of enum cst_state.  STATE_ANSWERING: a thread reads
 * the control.  If gdb writes CST_STATE_ASK meanwhile, that is seen, for this
 * value is then overwritten.  STATE_SHALLOW: on, and deep calls are passed
 * over (depth.h). */
enum { STATE_ANSWERING = 4, STATE_SHALLOW = 5 };

/* And one for "off" while the program itself watches (core/watch.h): the hooks
 * go the slow way, and record nothing.  "On" is CST_STATE_SYNC then. */
enum { STATE_LOCAL = 6 };

struct state_page {
	uint32_t state;	     /* enum cst_state */
	uint32_t mode;	     /* enum cst_mode, as last obeyed */
	uint32_t process;    /* our index in the area + 1; 0: not registered */
	uint32_t lock;	     /* lock.h: it may be locked when a fork comes */
	uint32_t has_guests; /* raw_clone.h */
	uint32_t n_answers;  /* times that the state was asked for */
	/* Far from the former, which every hook reads. */
	uint32_t n_in_calls __attribute__((aligned(2048))); /* syscall_gate.h */
	uint8_t rest[2048 - 4];
} __attribute__((aligned(4096)));
_Static_assert(sizeof(struct state_page) == 4096, "neighbours are wiped too");

/* The page, which the shim exports as cstrace_state. */
extern HIDDEN struct state_page state_page;

static inline uint32_t state_now(void)
{
	/* Pairs with the release in control.c: "on" comes after the area. */
	return __atomic_load_n(&state_page.state, __ATOMIC_ACQUIRE);
}

static inline int state_is_on(uint32_t state)
{
	return state == CST_STATE_ON || state == CST_STATE_SYNC ||
	       state == STATE_SHALLOW;
}

#endif
