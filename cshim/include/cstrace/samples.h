/* SPDX-License-Identifier: MIT
 *
 * The layout of the memory in which sampled programs leave their samples for a
 * reader: libcstrace-sample.so writes it, the engine reads it.  A lane is the
 * ring of one thread, which alone writes to it.
 */
#ifndef CSTRACE_SAMPLES_H
#define CSTRACE_SAMPLES_H

#include <stdint.h>

#define CST_SAMPLES_MAGIC 0x32736c706d617363ull /* "csampls2" */

enum {
	CST_SAMPLED_PROCESSES = 128,
	CST_SAMPLED_MAPS = 65536, /* bytes of a process's mappings, as text */
	CST_SAMPLE_LANES = 1024,
	CST_LANE_WORDS = 16384,	 /* a power of 2 */
	CST_SAMPLE_FRAMES = 512, /* deeper stacks lose their outer frames */
	CST_SAMPLE_HEAD = 2,	 /* words before the addresses */
};

enum cst_sample_clock { CST_SAMPLE_CPU = 0, CST_SAMPLE_WALL = 1 };

/* What interrupts the threads. */
enum cst_sample_source {
	CST_SAMPLE_UNKNOWN = 0,
	CST_SAMPLE_TIMERS = 1, /* timer_create(), a timer for each thread */
	CST_SAMPLE_PERF = 2,   /* perf_event_open(), an event for each thread */
	CST_SAMPLE_STOPS = 3,  /* a tracer stops the threads from outside */
};

/* One exec'ed program, or fork child; filled before n_processes counts it. */
struct cst_sampled_process {
	uint32_t pid;
	uint32_t parent; /* of a fork child: its parent's index + 1; else 0 */
	uint32_t maps_size; /* bytes of maps; written last (release) */
	uint32_t is_ended;
	char maps[CST_SAMPLED_MAPS - 16]; /* lines of /proc/PID/maps */
};
_Static_assert(sizeof(struct cst_sampled_process) == CST_SAMPLED_MAPS,
	       "samples layout");

/* A sample is contiguous but for the ring's end: a word with the number of
 * addresses (bits 0 to 15), enum cst_sample_flags (16 to 31) and its weight (32
 * to 63); its clock tick; then the addresses, innermost first.  A return
 * address is written less 1. */
enum cst_sample_flags {
	CST_SAMPLE_CUT = 1, /* outer frames are missing */
};

struct cst_lane {
	uint32_t tid; /* 0: free */
	uint32_t process;
	uint32_t is_ended; /* the thread has; the reader frees the lane */
	uint32_t n_lost;   /* samples without room */
	uint64_t head;	   /* words written (release) */
	uint64_t tail;	   /* words read (release) */
	uint64_t reserved[4];
	uint64_t words[CST_LANE_WORDS];
};

/* In libcstrace-sample.so, as cstrace_sample_control.  gdb writes the path
 * before the library's constructor runs; later it adds 1 to request and sends
 * the signal, and the process begins to sample (anew). */
struct cst_sample_control {
	uint64_t magic;
	char path[56]; /* of the memory, in place of CSTRACE_SAMPLES */
	uint32_t request;
	uint32_t signal; /* that is used here; 0: none yet */
};

struct cst_samples {
	uint64_t magic;
	uint64_t size;	 /* of all */
	uint32_t hz;	 /* samples a second */
	uint32_t clock;	 /* enum cst_sample_clock */
	uint32_t source; /* enum cst_sample_source: what the program found */
	uint32_t is_on;	 /* 0: who samples ends it */
	uint32_t n_processes;
	uint32_t n_no_lane; /* threads without a lane */
	uint64_t for_ticks; /* a process ends to sample after so long; 0: never
			     */
	uint32_t each;	    /* samples that an interrupt of a perf event is */
	uint32_t reserved;
	struct cst_sampled_process processes[CST_SAMPLED_PROCESSES]
		__attribute__((aligned(4096)));
	struct cst_lane lanes[CST_SAMPLE_LANES] __attribute__((aligned(4096)));
};

#endif
