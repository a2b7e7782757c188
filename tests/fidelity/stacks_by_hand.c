/* SPDX-License-Identifier: MIT
 *
 * Stacks switched by the program's own assembly, side by side in one array,
 * several in each of two threads; they begin in four ways, hand over to each
 * other, and go on in the other thread.
 */
#ifndef IS_DOWN
#define IS_DOWN 0
#endif
#include "expect.h"
#include <pthread.h>

enum { N = 8, ROUNDS = 24, STACK = 32768 };

struct coroutine {
	void *sp;    /* while it is suspended */
	void **home; /* where it goes back to */
	int number;
};

/* Save the callee's registers on this stack, go on on the other one. */
void switch_stack(void **from, void *to);
/* Where a stack begins: calls rbx(r12). */
void trampoline(void);

__asm__(".text\n"
	".globl switch_stack, trampoline\n"
	".type switch_stack, @function\n"
	"switch_stack:\n"
	"	push %rbp; push %rbx; push %r12; push %r13; push %r14\n"
	"	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
	"	mov %r12, %rdi\n"
	"	ret\n"
	".size switch_stack, . - switch_stack\n"
	".type trampoline, @function\n"
	"trampoline:\n"
	"	mov %r12, %rdi\n"
	"	call *%rbx\n"
	"	ud2\n"
	".size trampoline, . - trampoline\n"
	"label_only:\n"
	"	call *%rbx\n"
	"	ud2\n");
void label_only(void);

static char stacks[2 * N][STACK] __attribute__((aligned(4096)));
static struct coroutine all[2 * N];
static const char *const names[2 * N] = {"a0", "a1", "a2", "a3", "a4", "a5",
					 "a6", "a7", "b0", "b1", "b2", "b3",
					 "b4", "b5", "b6", "b7"};
static pthread_barrier_t barrier;

NOINLINE static void leaf(const char *s, int d)
{
	expect_on(s, d, "leaf");
}

NOINLINE static void pause_here(const char *s, int d, struct coroutine *c)
{
	expect_on(s, d, "pause_here");
	leaf(s, d + 1);
	switch_stack(&c->sp, *c->home);
	leaf(s, d + 1);
}

/* To the next one without going home: that one goes home for it. */
NOINLINE static void hand_over(const char *s, int d, struct coroutine *c)
{
	struct coroutine *next = c + 1;

	expect_on(s, d, "hand_over");
	next->home = c->home;
	switch_stack(&c->sp, next->sp);
	leaf(s, d + 1);
}

NOINLINE static void inner(const char *s, int d, struct coroutine *c, int n)
{
	expect_on(s, d, "inner");
	if (n)
		inner(s, d + 1, c, n - 1);
	pause_here(s, d + 1, c);
}

static void body(struct coroutine *c)
{
	const char *s = names[c->number];

	expect_on(s, 0, "body");
	if (c->number % 2 == 0)
		hand_over(s, 1, c);
	inner(s, 1, c, c->number);
	for (;;) {
		if (c->number % 2 == 0)
			hand_over(s, 1, c);
		pause_here(s, 1, c);
	}
}

/* A library's function that knows nothing of hooks. */
QUIET static NOINLINE void begin(struct coroutine *c)
{
	volatile char room[200];

	room[0] = 1;
	body(c);
	room[1] = 1;
}

QUIET static void make(int i)
{
	int place = IS_DOWN ? 2 * N - 1 - i : i;
	void **sp = (void **)(stacks[place] + STACK);
	void (*entry)(struct coroutine *) = body;
	void *from = NULL;

	all[i].number = i;
	/* A first one by a library's function must not lie close below
	 * another stack: nothing would tell it from a callback there. */
	switch (i % N / 2 ^ 3 * IS_DOWN) {
	case 0: /* nobody's return address */
		*--sp = NULL;
		*--sp = NULL;
		from = (void *)body;
		break;
	case 1:
		from = (void *)trampoline;
		break;
	case 2:
		from = (void *)label_only;
		break;
	case 3:
		entry = begin;
		from = (void *)trampoline;
		break;
	}
	*--sp = from;
	*--sp = NULL;	       /* rbp */
	*--sp = (void *)entry; /* rbx */
	*--sp = &all[i];       /* r12 */
	sp -= 3;
	all[i].sp = sp;
}

NOINLINE static void resume(int d, int i)
{
	void *here;

	expect(d, "resume");
	all[i].home = &here;
	switch_stack(&here, all[i].sp);
	leaf("", d + 1);
}

/* A library's scheduler: nothing is seen of the way back and forth. */
QUIET static NOINLINE void resume_unseen(int i)
{
	void *here;

	all[i].home = &here;
	switch_stack(&here, all[i].sp);
}

/* Each thread begins its own; at each barrier they change over. */
NOINLINE static void *thread(void *arg)
{
	int self = arg != NULL;

	expect(0, "thread");
	for (int r = 0; r < ROUNDS; r++) {
		int first = (self ^ (r / 4 & 1)) * N;

		for (int i = 0; i < N; i += 1 + (i % 2 == 0 && !(r & 1))) {
			if ((r + self) & 2)
				resume(1, first + i);
			else
				resume_unseen(first + i);
		}
		leaf("", 1);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	expect(0, "main");
	for (int i = 0; i < 2 * N; i++)
		make(i);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&a, NULL, thread, NULL);
	pthread_create(&b, NULL, thread, &b);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
