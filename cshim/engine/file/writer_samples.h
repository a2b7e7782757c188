/* SPDX-License-Identifier: MIT
 *
 * The writer's samples, and the stacks that they name.
 */
#ifndef ENGINE_WRITER_SAMPLES_H
#define ENGINE_WRITER_SAMPLES_H

#include <stdint.h>

struct writer;

/* How the program is sampled: so many times a second of a clock (enum
 * cst_sample_clock), by timers or other means (enum cst_sample_source). */
struct writer_sampling {
	uint32_t hz, clock, source;
};

/* A sample: a thread's, as writer_thread() numbered it; node is where it was
 * (0: not known), weight how many samples it stands for; is_cut 1: outer frames
 * of the stack are missing. */
struct writer_sample {
	uint64_t tick;
	uint32_t thread, node, weight;
	uint8_t is_cut;
};

/* Say how the program is sampled, anew if that changes; add a sample; say how
 * many were lost in all. */
void writer_sampling(struct writer *w, const struct writer_sampling *s);
void writer_sample(struct writer *w, const struct writer_sample *s);
void writer_samples_lost(struct writer *w, uint64_t n);
/* Add a place in a function's code, and a node of the tree of stacks: a place
 * and the node of its caller (0: none).  Places are numbered from 0, nodes from
 * 1. */
void writer_place(struct writer *w, uint32_t place, uint32_t function,
		  uint64_t addr);
void writer_node(struct writer *w, uint32_t node, uint32_t parent,
		 uint32_t place);

/* Writes the stacks and samples that wait. */
void writer_put_samples(struct writer *w);

#endif
