/* SPDX-License-Identifier: MIT
 *
 * The least that the shim takes for a reader: a pool of chunks in a memory
 * file, emptied by a thread into one array for each traced thread.  For test
 * programs that are themselves compiled with -finstrument-functions: whatever
 * is not to be traced is QUIET.
 */
#ifndef MINI_READER_H
#define MINI_READER_H

#include <stddef.h>
#include "cstrace/cstrace.h"
#include "cstrace/layout.h"

#define QUIET __attribute__((no_instrument_function))

enum { MAX_STREAMS = 256, MAX_ALTERNATES = 32 };

/* A thread's alternate stack, as recorded before its n-th record. */
struct alternate {
	uint64_t low, size;
	size_t n;
};

/* All records of one traced thread, in order. */
struct stream {
	struct cst_record *records;
	size_t n, cap;
	uint32_t next_seq;
	/* Marks, not among the records; the first alternates. */
	uint32_t n_forks, n_alternates;
	struct alternate alternates[MAX_ALTERNATES];
	uint64_t n_passed; /* calls that the hooks passed over */
};

struct mini_reader;

/* can_grow: more chunks when a writer waits and none is left. */
QUIET struct mini_reader *reader_start(uint32_t n_chunks, int can_grow);
/* Take all that is written, end the thread, unmap nothing. */
QUIET void reader_stop(struct mini_reader *r);
/* End the thread as a killed gdb does: without a word. */
QUIET void reader_kill(struct mini_reader *r);
/* Stop taking chunks (the thread lives), and go on. */
QUIET void reader_hold(struct mini_reader *r, int is_held);

QUIET struct cst_area *reader_area(struct mini_reader *r);
QUIET const char *reader_path(struct mini_reader *r);
QUIET struct cst_thread *reader_thread(struct mini_reader *r, uint32_t i);
QUIET struct cst_process *reader_process(struct mini_reader *r, uint32_t i);
QUIET struct cst_site *reader_site(struct mini_reader *r, uint32_t i);
QUIET struct stream *reader_stream(struct mini_reader *r, uint32_t thread);
/* The stream of the calling thread's records, or NULL. */
QUIET struct stream *reader_my_stream(struct mini_reader *r);

QUIET const struct cst_site *record_site(struct mini_reader *r,
					 const struct cst_record *record);
/* Entries of callee in all streams (or NULL: of anything). */
QUIET size_t reader_count(struct mini_reader *r, void *callee, int kind);
/* Tell the hooks where frames are, of programs that keep frame pointers. */
QUIET void reader_judge(struct mini_reader *r);
/* Fails the test unless entries and exits pair off in each stream. */
QUIET void reader_check_nesting(struct mini_reader *r);

/* What gdb does: poke the control, then ask. */
QUIET volatile struct cst_control *shim_control(void);
QUIET volatile uint32_t *shim_state(void);
QUIET void shim_mode(const char *path, uint32_t mode);

#endif
