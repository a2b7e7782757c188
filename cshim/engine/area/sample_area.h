/* SPDX-License-Identifier: MIT
 *
 * The reader's side of the memory in which sampled programs leave their samples
 * (samples.h): makes it, and reads each lane.  What the program writes into it
 * is not trusted.
 */
#ifndef ENGINE_SAMPLE_AREA_H
#define ENGINE_SAMPLE_AREA_H

#include "base/error.h"
#include "cstrace/samples.h"

struct sample_area {
	struct cst_samples *head;
	int fd;
	char path[64]; /* for the program to open */
};

/* One sample, copied. */
struct sample {
	uint64_t tick;
	uint32_t process; /* index in the memory's table */
	uint32_t tid;
	uint32_t weight;
	uint32_t flags; /* enum cst_sample_flags */
	uint32_t n;
	uint64_t frames[CST_SAMPLE_FRAMES]; /* innermost first */
};

/* Makes one for so many samples a second of this clock; the caller says who
 * shall interrupt the threads, and frees *out.  Returns 0 or a negative status.
 */
int sample_area_new(uint32_t hz, uint32_t clock, struct sample_area **out,
		    struct cst_error *err);
/* Frees a, which may be NULL. */
void sample_area_free(struct sample_area *a);

/* Reads the next sample that waits, lane after lane; *lane begins as 0. Returns
 * 1, or 0 if there are no more. */
int sample_area_next(struct sample_area *a, uint32_t *lane, struct sample *out);
/* Returns how many samples were lost for want of room, or of a lane. */
uint64_t sample_area_lost(const struct sample_area *a);
/* Returns how many processes have reported, at most as many as there can be. */
uint32_t sample_area_processes(const struct sample_area *a);

#endif
