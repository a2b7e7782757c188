/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A library of ours in a program that runs already.  One thread stops where
 * that is safe, loads the library and calls its functions; the others run on,
 * so that whatever lock it waits for is let go.
 */
#ifndef CLI_GUEST_H
#define CLI_GUEST_H

#include "attach/remote_call.h"
#include "attach/tracee.h"
#include "process/remote_modules.h"

#include <limits.h>

struct guest {
	struct tracee *tracee;
	const struct remote_modules *modules; /* from guest_find() on */
	const volatile int *is_cancelled;     /* by the user */
	uint64_t limit_ms;   /* to wait for a safe place; 0: ten seconds */
	char path[PATH_MAX]; /* of the library */
	uint64_t bias;	     /* of the library in the process; 0: not loaded */
	uint64_t gate, dlopen, dlerror;
	struct remote_call *call; /* between guest_enter() and guest_leave() */
	char why[PATH_MAX];	  /* the last failure */
};

/* Returns NULL, or why the process cannot load the library of that file name,
 * in words that follow "process 12: "; advice on how to record it follows a
 * colon. Nothing stops for that. */
const char *guest_obstacle(pid_t pid, const struct remote_modules *m,
			   const char *library);

/* Looks up all that files say, before any thread stands still: the library is
 * the one of that file name and kind.  These functions return 1, or 0 with the
 * reason in g->why. */
int guest_find(struct guest *g, const struct remote_modules *m,
	       const char *library, enum module_kind kind);
/* Sets *out to what a symbol's address is in the library's file; g->bias is
 * added in the process.  A library of that kind that the process has loaded
 * must have it there, too. */
int guest_symbol(struct guest *g, const char *name, int is_data, uint64_t *out);

/* Waits for a thread at a safe place; it stands still from then on. */
int guest_enter(struct guest *g);
/* Loads the library, if the process does not have it. */
int guest_load(struct guest *g);
/* Calls the function at that address of the library's file. */
int guest_call(struct guest *g, uint64_t function, const uint64_t arguments[3],
	       uint64_t *result);
/* Lets all threads go on.  It fails if the process has ended. */
int guest_leave(struct guest *g);

/* Lets the threads run for about 2 ms. */
void guest_rest(void);

#endif
