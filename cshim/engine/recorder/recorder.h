/* SPDX-License-Identifier: MIT
 *
 * The parts of a recorder, for recorder.c (its life and thread), drain.c (what
 * one round of reading does) and one_trace.c (one trace's begin and end).
 */
#ifndef ENGINE_RECORDER_H
#define ENGINE_RECORDER_H

#include "area/clock.h"
#include "area/reader.h"
#include "calls/threads.h"
#include "recorder/handover.h"
#include "recorder/live.h"
#include "recorder/mirror.h"
#include "recorder/process_ends.h"
#include "recorder/tally.h"
#include "recorder/sampling.h"

#include <pthread.h>

enum { SEEN_NUMBERS = 4096 };

/* Seeds that wait for their names. */
struct seeding {
	struct thread *thread;
	struct cst_seed seed;
	uint32_t function, call_site;
};

struct cst_recorder {
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t named; /* the last question was answered */
	pthread_t thread;
	struct cst_callbacks callbacks;

	struct area *area;
	struct handover handover; /* of the area to another user's process */
	struct mirror mirror;	  /* if it is_elsewhere */
	struct reader reader;
	struct names *names;
	struct sites sites;
	struct callstack calls;
	struct threads threads;
	struct process_ends lives;
	struct sampling sampling;
	struct live live;
	struct filter *mute; /* what is dropped for good; NULL: nothing */
	struct pauses pauses;

	struct writer *writer; /* the trace under way, or NULL */
	struct cst_trace *snapshot;
	struct tally tally;   /* of the trace under way */
	uint64_t start_ticks; /* its time 0: stops left out */
	uint64_t n_records;   /* of earlier traces */
	uint32_t n_traces;
	char changed[300]; /* path of a module whose change is to be reported;
			      "" */
	uint32_t n_reported_sites; /* sites when modules were last reported */

	struct seeding *seeding;
	uint32_t n_seeding, cap_seeding;
	struct hashmap injected; /* sites made by cst_recorder_inject() */

	uint64_t seen[SEEN_NUMBERS]; /* hits, by number */
	uint64_t last_peek_ns, last_mark_ns, last_keep_ns;
	uint64_t keep_ns;	 /* shorter calls are not kept */
	uint64_t n_kept_dropped; /* dropped calls that recorder_keep() last
				    wrote */
	uint32_t n_kept;	 /* lanes that it last wrote */
	uint32_t n_processes;	 /* in the area, as of the last round */
	uint32_t n_quiet;	 /* ticks with nothing to take */
	uint32_t pid;
	uint32_t mode;
	uint32_t pool_chunks; /* chunks of the pool when no rows are drawn: what
				 waits when the program stops is drawn first */
	uint8_t is_running, is_stopping;
	uint8_t is_filling; /* the pool is to have pool_chunks */
	/* In a flood of rows the newest may wait (may_hold), and did
	 * (has_held). */
	uint8_t may_hold, has_held;
	uint8_t is_asking; /* the wanted callback was called */
	uint8_t is_full;   /* the limit was reported to the user */
	uint8_t has_reported_rows;
	uint8_t has_begun; /* the trace's first record or seed has come */
};

/* Prepares what records go through, from the reader to the calls, for r->area.
 * What was prepared before a failure is released by cst_recorder_close(). */
int recorder_init_stages(struct cst_recorder *r, struct cst_error *err);

/* Tells the user once if no more can be written.  Unlocks the recorder
 * meanwhile. */
void recorder_tell_full(struct cst_recorder *r);

#endif
