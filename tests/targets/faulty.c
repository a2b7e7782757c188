/* SPDX-License-Identifier: MIT
 * Faults in the middle of functions: its argument says which. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define KEPT __attribute__((noinline))

struct node {
	struct node *next;
	int n, mean;
};

static sigjmp_buf before;
volatile int rounds;

KEPT int reads(struct node *p)
{
	return p->next->n;
}

KEPT int writes(struct node *p, int n)
{
	int doubled = n * 2;

	p->n = n;
	p->mean = doubled;
	rounds++;
	return p->n + p->mean;
}

KEPT int divides(struct node *p, int by)
{
	p->n = 12;
	p->mean = p->n / by;
	return p->mean;
}

KEPT int loops(struct node *p, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		p = p->next;
		sum += p->n;
	}
	return sum;
}

static void handle(int signal)
{
	siglongjmp(before, signal);
}

KEPT int survives(struct node *p)
{
	signal(SIGSEGV, handle);
	if (sigsetjmp(before, 1))
		return writes(p, 4);
	return reads(p) + writes(NULL, 3);
}

int main(int argc, char **argv)
{
	static struct node last = {NULL, 2, 0}, first = {&last, 1, 0};
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "reads"))
		return reads(&last);
	if (!strcmp(what, "writes"))
		return writes(first.next->next, 3);
	if (!strcmp(what, "divides"))
		return divides(&first, last.mean);
	if (!strcmp(what, "loops"))
		return loops(&first, 3);
	return survives(&last) + survives(&first);
}
