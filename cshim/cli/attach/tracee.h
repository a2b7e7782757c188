/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The threads of another process, stopped by ptrace for a moment, and its
 * memory.
 */
#ifndef CLI_TRACEE_H
#define CLI_TRACEE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct stopped {
	pid_t tid;
	int signal; /* that is delivered when it goes on; 0: none */
};

struct tracee {
	pid_t pid;
	int memory;	     /* descriptor of /proc/PID/mem */
	struct stopped *all; /* the threads that stand still */
	uint32_t n, cap;
	uint64_t since_ns, all_since_ns; /* they do; 0: not all of them */
	/* The longest time for which all of them did, or some. */
	uint64_t longest_ns, longest_some_ns;
	/* A signal of ours that is dropped where it meets a thread that stands
	 * still in a wait, which would end early; 0: none. */
	int own_signal;
};

/* Opens the memory of the process.  Returns 0, or an errno.  Close t in any
 * case. */
int tracee_open(struct tracee *t, pid_t pid);
/* Lets all threads go on, and closes the memory. */
void tracee_close(struct tracee *t);

/* Stops one thread.  Returns whether it stands still within a second. */
int tracee_stop(struct tracee *t, pid_t tid);
/* Stops all threads but those that stand still already.  Returns 0 if one of
 * them did not stop within a second. */
int tracee_stop_all(struct tracee *t);
/* Lets all threads go on but `kept` (0: all).  System calls that waited are
 * made anew. */
void tracee_let_go(struct tracee *t, pid_t kept);

/* Returns the threads' numbers, which the caller frees, and sets *n; with
 * is_sorted those that have run least come first.  NULL: the process has ended.
 */
pid_t *tracee_threads(const struct tracee *t, int is_sorted, uint32_t *n);

/* Waits until a thread stops; returns its wait status, or -1. */
int tracee_wait(pid_t tid, uint64_t limit_ms);

/* Reads or writes memory.  Returns 1, or 0 if not all of it is there. */
int tracee_read(const struct tracee *t, uint64_t at, void *out, size_t size);
int tracee_write(const struct tracee *t, uint64_t at, const void *from,
		 size_t size);

uint64_t tracee_now_ns(void);

#endif
