/* SPDX-License-Identifier: MIT
 *
 * The places where a program uses cstrace.h: each has a function that stands
 * for it in the trace, by the text that the shim stored with its site.
 */
#ifndef ENGINE_OWN_PLACE_H
#define ENGINE_OWN_PLACE_H

#include "sites/sites.h"

/* Returns whether a site of that kind is one of cstrace.h. */
static inline int is_own_kind(uint32_t kind)
{
	return kind >= CST_SPAN && kind <= CST_VETO;
}

/* What the site of such a place says. */
struct own_place {
	uint32_t function; /* in names; UINT32_MAX: it has none */
	uint64_t code;	   /* an address in its code */
	char file[1024];   /* "": not known */
	uint32_t line;
};

/* Reads the text of a site of the area, and finds or adds its function. */
void own_place_learn(struct sites *s, struct space *space,
		     const struct cst_site *raw, struct own_place *out);

/* Returns the call site of a message of gdb's at that place, as of a logpoint
 * with this template (borrowed); word is as for cst_recorder_message().  It is
 * added, with its function, if it is new.  UINT32_MAX: out of memory.  file may
 * be NULL. */
uint32_t own_place_point(struct sites *s, const char *word,
			 const char *template_text, const char *file,
			 uint32_t line);

/* Returns the function that stands for a veto, which is added if there is none,
 * or UINT32_MAX when out of memory. */
uint32_t own_place_veto(struct sites *s);

#endif
