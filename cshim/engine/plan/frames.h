/* SPDX-License-Identifier: MIT
 *
 * The call frame information of .eh_frame: which addresses it describes, by
 * which programs, and the landing pads behind it.
 */
#ifndef ENGINE_PLAN_FRAMES_H
#define ENGINE_PLAN_FRAMES_H

#include "plan/image.h"

/* One FDE. */
struct frame {
	uint64_t start, end;
	uint64_t lsda; /* address; 0: none */
	const uint8_t *program, *program_end;
	uint32_t cie; /* index */
};

enum { FRAME_RETURN = 16 }; /* DWARF's number of the return address */

struct frame_cie {
	uint64_t offset; /* in .eh_frame */
	const uint8_t *program, *program_end;
	uint64_t code_factor;
	int64_t data_factor;
	uint8_t pointers, lsda_pointers; /* DW_EH_PE_ */
	uint8_t is_sized; /* its FDEs say how long their augmentation is */
	uint8_t is_usual; /* not of a signal handler; usual return address */
};

struct frames {
	struct frame *all; /* by address; none overlaps another */
	uint32_t n, cap;
	struct frame_cie *cies;
	uint32_t n_cies, cap_cies;
};

/* Reads the image's .eh_frame.  What is damaged is left out.  Returns 0 or
 * CST_MEMORY; frames_release() in any case. */
int frames_init(struct frames *f, const struct image *im);
void frames_release(struct frames *f);

/* Returns the frame that describes addr, or NULL. */
const struct frame *frames_at(const struct frames *f, uint64_t addr);

/* Calls mark(context, addr) for each landing pad of the frame's LSDA. */
void frames_landing_pads(const struct image *im, const struct frame *frame,
			 void (*mark)(void *context, uint64_t addr),
			 void *context);

#endif
