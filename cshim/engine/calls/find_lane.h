/* SPDX-License-Identifier: MIT
 *
 * Finds which of a process's stacks a frame is on: the part of the nesting rule
 * that looks beyond the innermost call.  Only the files of this room use it.
 */
#ifndef ENGINE_FIND_LANE_H
#define ENGINE_FIND_LANE_H

#include "calls/callstack.h"

enum {
	/* A callback's frame lies this near below the frame it was called
	 * from, through code without hooks; farther away is another stack. */
	SAME_STACK_BYTES = 1 << 20,
	/* ... and code that runs after the outermost call returned (atexit,
	 * destructors) this near above it. */
	ABOVE_STACK_BYTES = 1 << 16,
	/* A stack that is used again begins this near to where it did. */
	SAME_BEGIN_BYTES = 2048,
	/* Less than what is left of a stack when another one is begun. */
	CALLBACK_BYTES = 4096,
	/* A realigned frame's stand-in lies this near to its true CFA. */
	NEAR_BYTES = 4096,
	/* The caller is looked for this far above a frame: what lies between
	 * was left by longjmp, and is little. */
	CALLER_DISTANCE = 64,
};

/* What one record says about its frame. */
struct frame {
	const struct site *site;
	uint64_t cfa;
	uint64_t time;
	uint32_t number;	     /* the site's */
	uint64_t sp;		     /* as the hook's caller had it */
	const struct values *values; /* an exit's result, or NULL */
	uint32_t tail; /* of a tail call: its call site + 1; else 0 */
};

static inline struct open_call *stack_top(struct stack *s)
{
	return s->n ? &s->calls[s->n - 1] : NULL;
}

/* Returns the stack that the thread is on.  If all calls of a stack have
 * returned it goes back to the stack that was interrupted. */
static inline struct stack *stack_now(struct thread *t)
{
	while (!t->current->n && t->current->interrupted) {
		struct stack *next = t->current->interrupted;

		t->current->interrupted = NULL;
		t->current = next->ordinal ? next : t->own;
	}
	return t->current;
}

/* Returns whether the record shows that the thread changes to another stack:
 * its step is too far for a call.  Marks of other events have no stack pointer,
 * but for the two that say where the thread is. */
static inline int lanes_leaves(const struct thread *t,
			       const struct cst_record *r)
{
	const struct stack *s = t->current;
	uint64_t at = s->n ? s->calls[s->n - 1].cfa : s->high;
	uint32_t number;

	if (!at)
		at = t->base;
	if (!at || !__atomic_load_n(&r->time, __ATOMIC_ACQUIRE))
		return 0;
	number = cst_record_site(r);
	return (number >= CST_FIRST_SITE || number == CST_JUMP ||
		number == CST_PASSED) &&
	       cst_record_frame(r) - at + SAME_STACK_BYTES >
		       2 * SAME_STACK_BYTES;
}

/* Adds a stack that begins near the frame at cfa, or returns NULL when out of
 * memory. */
struct stack *lanes_add(struct callstack *c, struct thread *t, uint64_t cfa);

/* Returns whether the frame of call i on s belongs to a function without hooks,
 * into which functions with hooks are inlined. */
int lanes_is_hookless(const struct callstack *c, const struct stack *s,
		      uint32_t i);

/* Returns the index + 1 of the innermost open call on s that is the frame's
 * caller, or 0. */
uint32_t lanes_find_caller(const struct callstack *c, const struct stack *s,
			   const struct frame *f);

/* Returns the other stack of the process whose innermost call is the caller: if
 * there are several in that function, the one just above the frame.  Returns
 * NULL if there is none, or a call of the current stack lies nearer. */
struct stack *lanes_of_caller(struct callstack *c, struct thread *t,
			      const struct frame *f);

/* Returns the stack that begins at this frame: one that is new, or is used
 * again, or whose outermost call has a callee inlined. */
struct stack *lanes_first(struct callstack *c, struct thread *t,
			  const struct frame *f);

/* Returns the stack that a frame with an unknown caller is on: the thread's
 * current one if it is near, else another one that is near, else a new one.
 * Stacks may lie side by side, so near is not enough; what the return addresses
 * did before is taken into account. */
struct stack *lanes_near(struct callstack *c, struct thread *t,
			 const struct frame *f);

/* Makes the thread go over to s by a jump, in the middle of the calls that are
 * open there. */
void lanes_jump_over(const struct callstack *c, struct thread *t,
		     struct stack *s);
/* Makes the thread go over to s, the stack that the frame is on. */
void lanes_go_over(const struct callstack *c, struct thread *t, struct stack *s,
		   const struct frame *f);

#endif
