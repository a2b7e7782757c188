/* SPDX-License-Identifier: MIT
 *
 * The source files of a trace on this machine.  A trace has their names as they
 * were given to the compiler; where the compiler was run, the debug information
 * of the object files says.
 */
#ifndef ENGINE_SOURCES_H
#define ENGINE_SOURCES_H

#include "elf/symbolfile.h"
#include "trace/loader.h"

struct sources {
	/* private */
	struct modules **all;
	uint64_t *at; /* an address in each */
	uint32_t n;
};

/* Opens the trace's object files that are here, as cst_trace_rename() finds
 * them.  Those that cannot be opened are left out. */
void sources_open(struct sources *s, const struct cst_trace *t,
		  const struct symbol_places *places);
void sources_close(struct sources *s);

/* Returns the full path of a file named as compiled; NULL: not known.  s owns
 * the string, unless it is file. */
const char *sources_path(const struct sources *s, const char *file);

/* Sets the full path of all call sites in relative files, once for a trace. */
void sources_find(struct cst_trace *t);

#endif
