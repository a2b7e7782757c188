/* SPDX-License-Identifier: MIT
 *
 * A trace file as it was found: where its blocks lie and all that they say
 * without being unpacked.  Everything is checked: the numbers of threads, lanes
 * and functions in here exist.
 */
#ifndef ENGINE_LOADER_H
#define ENGINE_LOADER_H

#include "file/pack.h"
#include "trace/samples.h"
#include "names/names.h"

enum { NO_BLOCK = UINT32_MAX };

struct trace_block {
	uint64_t data_at; /* in the file */
	uint32_t data_size;
	uint32_t next; /* of the same lane, or NO_BLOCK */
	struct pack_info info;
};

struct trace_thread {
	uint32_t process, pid; /* ordinal and kernel's */
	uint32_t ordinal, tid;
	const char *name; /* in the names' arena; "" */
};

struct trace_lane {
	uint32_t process, thread, ordinal;
	uint32_t first_block, last_block; /* those with calls */
	uint32_t blocks_at, n_blocks;	  /* of lane_blocks */
	uint64_t n_calls;
	uint64_t end_ticks; /* the process's, or the trace's */
};

struct trace_late {
	uint64_t seq, end_ticks;
	uint32_t lane;
	uint32_t thrown; /* as in struct packed_call */
	uint8_t end;
	uint32_t n_result;
	const char *result; /* in the names' arena */
};

struct trace_pause {
	uint64_t at, ticks;
};

/* The end of a process (ordinal) before the end of the trace. */
struct trace_end {
	uint64_t ticks;
	uint32_t process;
};

struct trace_module {
	const char *path, *build_id; /* in the names' arena; "" */
	const char *symbols;	     /* the file of its names, if looked up
				      * again; or NULL */
	uint64_t start, end, bias;
	uint32_t space;
};

struct cst_trace {
	int fd;
	const char *path; /* for messages */
	char *cache_path; /* its own file (cache_file.h); or NULL */
	uint64_t size;	  /* in bytes, without a block that is cut short */
	int is_cut;	  /* the file ends within a block */
	int is_sealed;	  /* its writer came to its end */
	int has_sources;  /* sources_find() was here */
	int is_stopped;	  /* gdb holds the program: open calls last since */
	int is_renamed;	  /* what is dirty in names is not in the file */
	struct names *names;
	struct trace_thread *threads;
	struct trace_lane *lanes;
	struct trace_block *blocks; /* CALLS, in the file's order */
	uint32_t *lane_blocks;	    /* their indexes, lane after lane */
	struct trace_late *late;    /* by lane and seq */
	struct trace_pause *pauses;
	struct trace_end *ends; /* by process */
	struct trace_module *modules;
	struct trace_samples samples;
	struct cst_trace *as_calls; /* sample_calls.h; or NULL */
	uint32_t n_threads, n_lanes, n_blocks, n_late, n_pauses, n_modules,
		n_ends;
	uint32_t cap_threads, cap_lanes, cap_blocks, cap_late, cap_pauses,
		cap_modules, cap_ends;
	const char *version, *host, *command, *module; /* never NULL */
	uint64_t start_ticks, start_wall_ns, end_ticks;
	/* What it was recorded to show. */
	const char *filter;
	uint32_t depth;
	uint64_t min_ns;
	uint32_t ns_mult, ns_shift;
	const char *from, *until, *in_file, *in_module;
	struct cst_status_report status;
	uint64_t n_notes; /* rows beside its calls: exceptions, spans, ... */
	struct answer *answer;	   /* answer.h; its readers' own */
	struct async_times *async; /* async_times.h; theirs, too */
};

/* Reads what t->fd holds into *t, which is zeroed but for fd and path.  Returns
 * 0 or a negative status; release t in any case. */
int loader_scan(struct cst_trace *t, struct cst_error *err);

/* Frees the memory that loader_scan() allocated. */
void loader_release(struct cst_trace *t);

/* Reports that the trace "is damaged: why"; returns CST_BAD_FILE. */
int loader_damaged(const struct cst_trace *t, struct cst_error *err,
		   const char *why);
/* Reads n bytes at offset `at` of the file; returns 0, or CST_FAILED if it
 * cannot read all of them. */
int loader_read(const struct cst_trace *t, uint64_t at, void *out, size_t n);

/* Returns whether an entry of that site is a call: what an exception did, a
 * span or a message is written like one, and is none. */
static inline int trace_is_call(const struct cst_trace *t, uint32_t site)
{
	const struct names *n = t->names;

	return !n->functions[n->sites[site].function].kind;
}

/* Converts ticks to nanoseconds.  ns_shift is below 64; the product is shifted
 * in halves, because a shift of 128 bits has to check whether it is. */
static inline uint64_t trace_ns(const struct cst_trace *t, uint64_t ticks)
{
	unsigned __int128 product = (unsigned __int128)ticks * t->ns_mult;

	return (uint64_t)product >> t->ns_shift |
	       (uint64_t)(product >> 64) << 1 << (63 - t->ns_shift);
}

/* Returns the tick, from the trace's first, at which so many nanoseconds have
 * passed. */
static inline uint64_t trace_ticks(const struct cst_trace *t, uint64_t ns)
{
	uint64_t ticks = (uint64_t)(((unsigned __int128)ns << t->ns_shift) /
				    (t->ns_mult ? t->ns_mult : 1));

	while (trace_ns(t, ticks) < ns)
		ticks++;
	return ticks;
}

#endif
