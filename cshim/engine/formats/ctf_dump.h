/* SPDX-License-Identifier: MIT
 *
 * A CTF folder's state dump: where each object file was mapped.
 */
#ifndef ENGINE_CTF_DUMP_H
#define ENGINE_CTF_DUMP_H

#include "formats/ctf_stream.h"
#include "formats/thread_ids.h"

/* Writes the dump's stream into the folder: the object files of each process,
 * but not those that were mapped where another one was, whose addresses would
 * name calls wrongly.  tracks has an element for each lane; s is ready for a
 * new stream and is used for this one.  Returns 0 or a negative status. */
int ctf_dump_write(const struct cst_trace *t, const struct track *tracks,
		   struct folder *folder, struct ctf_stream *s,
		   struct cst_error *err);

#endif
