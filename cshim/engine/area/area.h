/* SPDX-License-Identifier: MIT
 *
 * The reader's side of the area: makes it, gives chunks to the traced program
 * and gets them back.  What the traced program writes into it is not trusted:
 * every index that is read from it is checked here.
 */
#ifndef ENGINE_AREA_H
#define ENGINE_AREA_H

#include "base/error.h"
#include "cstrace/layout.h"

enum { CST_USUAL_CHUNKS = 1536 }; /* of the pool: 96 MiB */

struct area {
	struct cst_area *head;
	struct cst_process *processes;
	struct cst_thread *threads;
	struct cst_chunk *chunks;
	struct cst_mapping *mappings;
	const char *text; /* of the mappings: CST_TEXT_SIZE bytes */
	uint32_t *copies;
	struct cst_copy *steps;
	struct cst_hook *hooks;
	struct cst_site *sites;
	uint8_t *records;    /* chunk i begins at i * CST_CHUNK_SIZE */
	uint32_t n_chunks;   /* as grown here; the head's copy is not trusted */
	uint32_t max_chunks; /* that are mapped here */
	uint32_t n_sites_seen; /* when the reader last slept */
	uint32_t n_given;      /* since a writer was last woken */
	uint64_t since_ticks;  /* when it was made */
	int fd;
	char path[64]; /* for the shim to open */
	/* The area was left in a file by processes that may have ended; this is
	 * a private copy of it. */
	int is_past;
	/* Its processes are on another machine, of which this one's kernel
	 * knows nothing: a copy of what is read through a debugger. */
	int is_elsewhere;
	int has_ended;	    /* they have, if is_elsewhere */
	int is_short;	    /* the file was cut short, or cannot be read */
	int file;	    /* borrowed */
	uint8_t *is_copied; /* by chunk */
};

/* Makes an area with n_chunks chunks (fewer if the address space is limited) in
 * memory that processes share.  The caller frees *out with area_free(). Returns
 * 0, CST_FAILED or CST_MEMORY. */
int area_new(uint32_t n_chunks, struct area **out, struct cst_error *err);

/* Unmaps the area, closes its file descriptor and frees a, which may be
 * NULL. */
void area_free(struct area *a);
/* Sets the pointers to the parts of the area that is mapped at base.  Only
 * area.c and area_file.c call it. */
void area_place(struct area *a, uint8_t *base);

/* Locks the reader's lock.  The reader thread calls it once and holds the lock
 * as long as it lives: the writers see by this lock that it does. */
void area_hold(struct area *a);

/* Marks the area as ended, and wakes all writers: none waits for the reader any
 * more. */
void area_end(struct area *a);

/* Doubles the number of chunks (adds 64 at least), up to max_chunks. */
void area_grow(struct area *a);

/* Adds a few chunks, a matter of some milliseconds, up to `most` of them all.
 * Returns whether there are fewer still. */
int area_fill(struct area *a, uint32_t most);

/* Zeroes a chunk that was read and gives it back to the pool.  Writers that
 * wait for one are woken when an eighth of the pool was given back, or by
 * area_wake() at the end of a round: each wake-up is a system call. */
void area_give(struct area *a, uint32_t chunk);
void area_wake(struct area *a);

/* Returns whether a writer waits for a chunk and none is free. */
int area_is_starved(const struct area *a);

/* Returns the records of chunk i, CST_CHUNK_RECORDS of them. */
static inline struct cst_record *area_chunk(const struct area *a, uint32_t i)
{
	return (struct cst_record *)(a->records + (uint64_t)i * CST_CHUNK_SIZE);
}

/* Returns how many bytes of memory the area occupies. */
uint64_t area_bytes(const struct area *a);

/* Returns whether the process of this index exec'ed a program with the shim,
 * which then has a later index. */
int area_has_execed(const struct area *a, uint32_t process);

/* Returns whether the thread of this index has ended. */
int area_thread_has_ended(const struct area *a, uint32_t thread);

/* Returns the index of the last process that has this pid, from index `first`
 * on; adds it, as one that is expected to register, if there is none.  Returns
 * UINT32_MAX if there is no room. */
uint32_t area_expect(struct area *a, uint32_t pid, uint32_t first);
/* Returns the index of the last process that has this pid, from index `first`
 * on, or UINT32_MAX. */
uint32_t area_find_process(const struct area *a, uint32_t pid, uint32_t first);

/* Appends a site in the reader's own name (an injected event). Returns its
 * number, or 0 when the table is full. */
uint32_t area_add_site(struct area *a, const struct cst_site *site);

/* Sleeps until timeout_us have passed or a writer wakes the reader; does not
 * sleep if a writer waits already. */
void area_sleep(struct area *a, uint32_t timeout_us);
/* Ends the area_sleep() that is under way on another thread. */
void area_end_sleep(struct area *a);
/* Answers all handshake tickets up to this one: wakes the writers that wait for
 * them. */
void area_answer(struct area *a, uint32_t ticket);

#endif
