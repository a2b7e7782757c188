/* SPDX-License-Identifier: MIT
 *
 * The reader's side of the area: makes it, hands out chunks, takes them back.
 * What the traced program writes into it is not trusted: every index that
 * comes out is checked here.
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
	struct cst_site *sites;
	uint8_t *records;    /* chunk i begins at i * CST_CHUNK_SIZE */
	uint32_t n_chunks;   /* as last grown: the head's copy is not trusted */
	uint32_t max_chunks; /* that are mapped here */
	uint32_t n_given;    /* since a writer was last woken */
	uint64_t since_ticks; /* when it was made */
	int fd;
	char path[64]; /* for the shim to open */
	/* Left in a file by processes that may be gone: our copy of it. */
	int is_past;
	int is_short;	    /* somebody cut the file, or it cannot be read */
	int file;	    /* borrowed */
	uint8_t *is_copied; /* by chunk */
};

int area_new(uint32_t n_chunks, struct area **out, struct cst_error *err);
void area_free(struct area *a);
/* Where the parts are: private to the two that make areas. */
void area_place(struct area *a, uint8_t *base);

/* By the thread that is the reader, for as long as it lives: writers see by
 * this lock that it does. */
void area_hold(struct area *a);

/* Let no writer wait for us any more. */
void area_end(struct area *a);

/* Make more chunks: twice as many, as far as there is room. */
void area_grow(struct area *a);

/* Give back a chunk, zeroed.  Writers that wait for one are woken once there is
 * an eighth of the pool, or by area_wake() at the end of a round: each wake-up
 * is a system call. */
void area_give(struct area *a, uint32_t chunk);
void area_wake(struct area *a);

/* Is a writer waiting although nothing is left to give back? */
int area_is_starved(const struct area *a);

static inline struct cst_record *area_chunk(const struct area *a, uint32_t i)
{
	return (struct cst_record *)(a->records + (uint64_t)i * CST_CHUNK_SIZE);
}

/* Memory that the area holds, in bytes. */
uint64_t area_bytes(const struct area *a);

/* The path of the first program that was run without us, or "". */
void area_past_exec(const struct area *a, char out[CST_NAME_SIZE]);

/* Has the process become another one, which was entered later? */
int area_has_execed(const struct area *a, uint32_t process);

/* Did the thread of this index end? */
int area_thread_is_gone(const struct area *a, uint32_t thread);

/* The index of the process with this pid, from `first` on, the last of them: it
 * is entered if it is not there.  UINT32_MAX: there is no room. */
uint32_t area_expect(struct area *a, uint32_t pid, uint32_t first);
/* The same of one that may not be there. */
uint32_t area_find_process(const struct area *a, uint32_t pid, uint32_t first);

/* Append a site in the reader's own name (injected events); its number, or 0
 * when the table is full. */
uint32_t area_add_site(struct area *a, const struct cst_site *site);

/* Sleep at most timeout_ms, or until a writer wants us. */
void area_sleep(struct area *a, uint32_t timeout_ms);
/* It is under way on another thread: end it. */
void area_end_sleep(struct area *a);
/* Answer all handshake tickets up to this one. */
void area_answer(struct area *a, uint32_t ticket);

#endif
