/* SPDX-License-Identifier: MIT
 *
 * Records written by hand, and the tree that the engine makes of them: one line
 * a call, indented, with how it ended, behind its lane ('.' is the first).
 */
#ifndef UNIT_RECORD_BUILDER_H
#define UNIT_RECORD_BUILDER_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "calls/callstack.h"

/* Functions; the physical function has the same number by default. */
enum { MAIN = 1, F, G, H, LIBC, CO };

struct drawing {
	char text[4096];
	struct stack *stacks[8];
	uint32_t n_stacks;
};

struct fixture {
	struct sites sites;
	struct callstack calls;
	struct pauses pauses;
	struct site all[CST_FIRST_SITE + 32];
	struct site_place places[CST_FIRST_SITE + 32];
	struct thread thread, second;
	struct thread *now; /* whose records come */
	struct drawing drawing;
	uint64_t time;
};

static void draw(struct drawing *d, struct stack *s, const char *what,
		 const struct open_call *o)
{
	char line[64];
	uint32_t lane = 0;

	while (lane < d->n_stacks && d->stacks[lane] != s)
		lane++;
	if (lane == d->n_stacks)
		d->stacks[d->n_stacks++] = s;
	snprintf(line, sizeof(line), "%c%*s%s%c\n",
		 lane ? '0' + (int)lane : '.', (int)(o - s->calls) + 1, "",
		 what, " mfghlc"[o->function]);
	strcat(d->text, line);
}

static void on_entered(void *arg, struct thread *t, struct stack *s,
		       struct open_call *o)
{
	(void)t;
	draw(arg, s, "", o);
}

static void on_left(void *arg, struct thread *t, struct stack *s,
		    struct open_call *o, uint64_t end, enum call_end how)
{
	(void)t;
	(void)end;
	draw(arg, s,
	     how == CALL_RETURN	     ? "/"
	     : how == CALL_ESTIMATED ? "~"
				     : "!",
	     o);
}

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){0};
	f.sites.all = f.all;
	f.sites.places = f.places;
	f.sites.n = CST_FIRST_SITE;
	for (uint32_t i = 0; i < CST_FIRST_SITE; i++)
		f.all[i].is_muted = 1; /* as sites.c has them */
	callstack_init(&f.calls, &f.sites, &f.pauses);
	f.calls.listener =
		(struct call_listener){on_entered, on_left, &f.drawing};
	f.thread.ordinal = 1;
	f.thread.own = f.thread.current = stack_add(&f.calls, &f.thread, 0);
	f.second.own = f.second.current = stack_add(&f.calls, &f.second, 0);
	f.second.ordinal = 2;
	f.now = &f.thread;
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	callstack_release(&f->calls);
	free(f->thread.text);
	free(f->second.text);
	return 0;
}

struct event {
	uint32_t function, caller;
	uint32_t physical; /* 0: the function itself */
	uint64_t hook;
	uint8_t is_near;
	uint8_t is_first; /* called from where a stack begins */
	uint8_t is_patched;
	int32_t cfa_offset;
};

static uint32_t site_number(struct fixture *f, const struct site *site,
			    const struct site_place *place)
{
	uint32_t i;

	for (i = CST_FIRST_SITE; i < f->sites.n; i++) {
		if (f->places[i].hook == place->hook &&
		    f->places[i].caller == place->caller)
			return i;
	}
	f->all[i] = *site;
	f->places[i] = *place;
	f->sites.n++;
	return i;
}

static void record(struct fixture *f, enum cst_kind kind, struct event e,
		   uint64_t cfa)
{
	struct site site = {
		.kind = (uint8_t)kind,
		.function = e.function,
		.physical = e.physical ? e.physical : e.function,
		.caller_physical = e.caller == LIBC ? 0 : e.caller,
		.is_near = e.is_near,
		.cfa_offset = e.cfa_offset,
	};
	struct site_place place = {
		.caller = e.caller * 0x1000,
		.hook = e.hook ? e.hook
			       : e.function * 0x1000 + (uint64_t)kind * 16,
		.is_first = e.is_first,
		.is_patched = e.is_patched,
	};
	/* The record stands in an array as in a chunk, of which the reader
	 * looks ahead. */
	struct cst_record r[40] = {0};

	cst_record_set(r, ++f->time, site_number(f, &site, &place), cfa, 0);
	assert_int_equal(callstack_take(&f->calls, f->now, r, 1, f->sites.n),
			 1);
}

#define ENTER(cfa, ...) record(f, CST_ENTER, (struct event){__VA_ARGS__}, cfa)
#define LEAVE(cfa, ...) record(f, CST_EXIT, (struct event){__VA_ARGS__}, cfa)

static void mark(struct fixture *f, uint32_t number, uint64_t sp, uint64_t fp)
{
	struct cst_record r[40] = {0};

	cst_record_set(r, ++f->time, number, sp, fp);
	assert_int_equal(callstack_take(&f->calls, f->now, r, 1, f->sites.n),
			 1);
}

static void jump_to(struct fixture *f, uint64_t sp)
{
	mark(f, CST_JUMP, sp, 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
