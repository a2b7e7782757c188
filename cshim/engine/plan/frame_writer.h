/* SPDX-License-Identifier: MIT
 *
 * Call frame information for code that is made: what was moved keeps the rules
 * of where it came from.
 */
#ifndef ENGINE_PLAN_FRAME_WRITER_H
#define ENGINE_PLAN_FRAME_WRITER_H

#include "base/bytes.h"
#include "plan/frame_cursor.h"

struct frame_place {
	uint32_t code; /* where it begins, in bytes of the code */
	uint32_t fde;  /* where its FDE begins, in bytes of the table */
};

struct frame_writer {
	struct bytes table; /* as of .eh_frame */
	struct frame_place *places;
	uint32_t n, cap;
	struct frame_rules rules; /* as written so far */
	uint32_t at;		  /* in the code */
	int failed;		  /* a rule cannot be written */
};

/* Writes the CIE.  w is all 0 before; frame_writer_release() in any case. */
void frame_writer_init(struct frame_writer *w);
void frame_writer_release(struct frame_writer *w);

/* Begins the FDE of the code from that byte on, and ends it.  The code of FDEs
 * lies in order. */
void frame_writer_begin(struct frame_writer *w, uint32_t code);
void frame_writer_end(struct frame_writer *w, uint32_t code);

/* Forgets the last FDE, and that a rule of it could not be written. */
void frame_writer_drop(struct frame_writer *w);

/* Says that from that byte on these rules hold, while `pushed` more bytes are
 * on the stack than they know of. */
void frame_writer_rules(struct frame_writer *w, uint32_t code,
			const struct frame_rules *rules, int64_t pushed);

/* The rules where the return address is on top of the stack, and all registers
 * are the caller's. */
extern const struct frame_rules frame_rules_bare;

/* Ends the table, whose code begins at code_at of the area and which itself
 * lies at table_at; and writes the search table that lies at header_at. */
void frame_writer_finish(struct frame_writer *w, uint32_t code_at,
			 uint32_t table_at, uint32_t header_at,
			 struct bytes *header);
/* Returns how many bytes frame_writer_finish() will have in the table and write
 * to the header. */
uint32_t frame_writer_table_size(const struct frame_writer *w);
uint32_t frame_writer_header_size(const struct frame_writer *w);

#endif
