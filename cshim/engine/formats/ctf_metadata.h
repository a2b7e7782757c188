/* SPDX-License-Identifier: MIT
 *
 * Writes a CTF folder's metadata: what its streams look like, for its readers.
 */
#ifndef ENGINE_CTF_METADATA_H
#define ENGINE_CTF_METADATA_H

#include "formats/folder.h"
#include "trace/loader.h"

/* The numbers of the events, which are in this order in the metadata. */
enum ctf_event {
	CTF_ENTRY = 0,
	CTF_EXIT = 1,
	CTF_DUMP_START = 2,
	CTF_DUMP_OBJECT = 3,
	CTF_DUMP_BUILD_ID = 4,
	CTF_DUMP_END = 5,
	CTF_LOG = 6,
};

enum { CTF_UUID = 16 };

/* Sets out to the folder's UUID, which is equal for all folders that are saved
 * of one trace. */
void ctf_uuid(const struct cst_trace *t, uint8_t out[CTF_UUID]);

/* Writes the metadata file into the folder.  Returns 0 or a negative status. */
int ctf_metadata_write(const struct cst_trace *t, struct folder *folder,
		       struct cst_error *err);

#endif
