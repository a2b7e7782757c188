/* SPDX-License-Identifier: MIT
 *
 * What the blocks of a trace file other than those of calls hold, as it is
 * written; meta_read.c reads it, docs/trace-format.md describes it.  Each
 * function appends one record to out.
 */
#ifndef ENGINE_META_WRITE_H
#define ENGINE_META_WRITE_H

#include "base/bytes.h"
#include "names/names.h"

/* Appends the record of function or call site id of n. */
typedef void (*record_put_fn)(struct bytes *out, const struct names *n,
			      uint32_t id);

void meta_put_function(struct bytes *out, const struct names *n, uint32_t id);
void meta_put_site(struct bytes *out, const struct names *n, uint32_t id);

/* Append where a function or call site is in memory, or nothing if nothing of
 * its name is missing. */
void meta_put_function_place(struct bytes *out, const struct names *n,
			     uint32_t id);
void meta_put_site_place(struct bytes *out, const struct names *n, uint32_t id);
void meta_put_size(struct bytes *out, const struct names *n, uint32_t id);
void meta_put_tail(struct bytes *out, const struct names *n, uint32_t id);

struct thread_record {
	uint32_t process, pid, ordinal, tid;
	char name[64];
};

void meta_put_thread(struct bytes *out, uint32_t index,
		     const struct thread_record *t);
void meta_put_lane(struct bytes *out, uint32_t index, uint32_t process,
		   uint32_t thread, uint32_t ordinal);

/* Appends the content of an END block: end_ticks, and what the trace lacks. */
struct cst_losses;
void meta_put_end(struct bytes *out, uint64_t end_ticks,
		  const struct cst_losses *l);

/* Appends the content of a META block. */
struct writer_options;
void meta_put_meta(struct bytes *out, const struct writer_options *o);

struct writer_module;
/* Appends the record of an object file. */
void meta_put_module(struct bytes *out, const struct writer_module *m);

#endif
