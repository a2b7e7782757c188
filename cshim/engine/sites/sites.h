/* SPDX-License-Identifier: MIT
 *
 * What the engine knows of each site of the area: its function, how to find its
 * frame, and its numbers in the trace's names; and the questions about names
 * that only gdb can answer.
 */
#ifndef ENGINE_SITES_H
#define ENGINE_SITES_H

#include "area/area.h"
#include "base/hashmap.h"
#include "elf/inline_scopes.h"
#include "names/filter.h"
#include "names/names.h"
#include "sites/address_space.h"
#include "sites/copies.h"
#include "sites/points.h"
#include "sites/questions.h"
#include "sites/tail_jumps.h"

/* How an address that stands in for the CFA relates to the frame. */
enum nearness {
	NEAR_FP = 1, /* within the frame, and above its stack pointer */
	NEAR_SP = 2, /* the stack pointer itself */
};

struct site {
	_Alignas(8) uint32_t function; /* in names */
	uint32_t call_site; /* in names; not set for exits, but for those by a
			       jump: that of `joined` */
	uint32_t physical;  /* physical function that holds the hook call */
	uint32_t caller_physical; /* ... that holds the caller; 0: none */
	int32_t cfa_offset;
	/* The site that it is inlined in; of an exit by a jump, what it led to
	 * last; or 0. */
	uint32_t joined;
	uint8_t is_cfa_of_fp; /* the CFA is fp + cfa_offset, else sp + ... */
	uint8_t is_near;      /* ... or only near to it: enum nearness */
	uint8_t kind;	      /* enum cst_kind, or KIND_UNCAUGHT, KIND_HIDDEN */
	uint8_t is_return;    /* an exit of whatever has its frame */
	union {
		struct {
			uint8_t is_muted : 1; /* its records are dropped */
			/* The program reports it by cstrace.h: it is muted, as
			 * it is not for the fast path; and whether its records
			 * are dropped. */
			uint8_t is_own : 1;
			uint8_t is_excluded : 1;
			/* An entry that a logpoint may be at (points.h). */
			uint8_t has_point : 1;
			/* Its hook copies values, or has done so; it does now;
			 * its values are known without what it copies. */
			uint8_t has_plan : 1;
			uint8_t is_copied : 1;
			uint8_t is_static : 1;
			/* An exit by a jump, to another function (tails.h). */
			uint8_t is_jump : 1;
		};
		/* Not 0 if it has any of these: its records are not plain. */
		uint8_t is_special;
	};
	/* How many bits each number has in an event's own record; and the codes
	 * of the values that its hook copies (codes.h). */
	uint8_t bits;
	uint16_t codes;
};
/* A cache line holds two: one is looked up for each record. */
_Static_assert(sizeof(struct site) == 32, "half a line");

/* Sets how the CFA is found from a record of a site: code is that at its
 * hook. */
static inline void site_set_frame(struct site *site, const struct code *code)
{
	site->is_cfa_of_fp =
		code->cfa_base == CFA_FP || code->cfa_base == CFA_FP_NEAR;
	site->is_near = code->cfa_base == CFA_UNKNOWN	? NEAR_SP
			: code->cfa_base == CFA_FP_NEAR ? NEAR_FP
							: 0;
	if (code->cfa_base != CFA_UNKNOWN)
		site->cfa_offset = code->cfa_offset;
}

/* The rest of a site, which is needed less often. */
struct site_place {
	uint64_t caller;
	uint64_t hook;
	uint32_t scope; /* the inlined call that it is; 0: none, or not known */
	/* The caller's CFA less the function's, in bytes; 0: not known. */
	int32_t caller_frame;
	uint32_t next_of_function; /* site number, or 0 */
	uint8_t is_first;	   /* called from where a stack begins */
	uint8_t is_tail;	   /* the exit hook was tail-called */
	uint8_t is_patched; /* by code that was patched in: hook is no address
			     */
	uint8_t is_signal;  /* called by the kernel, as a handler */
	uint8_t is_bare;    /* called by code without CFI, unlike the rest */
	uint8_t is_inlined; /* in another physical function, or split off */
	uint8_t is_part;    /* the hook is in a part of an unknown function */
	uint8_t is_by_part; /* the caller is in one */
};

/* The names that exceptions made, see exceptions.c. */
struct exceptions {
	struct hashmap functions; /* by their names' addresses */
	struct hashmap sites;	  /* by function and site */
	uint32_t n_messages;
};

/* An object file with functions that were called: one of its addresses. */
struct called_file {
	struct space *space;
	uint64_t addr;
	uint32_t number;
};

struct sites {
	struct area *area; /* borrowed */
	struct spaces spaces;
	struct names *names; /* borrowed */
	struct questions questions;
	struct site *all;	   /* by number in the area */
	struct site_place *places; /* likewise */
	uint32_t n, cap;	   /* known ones: [CST_FIRST_SITE, n) */
	uint32_t n_published;	   /* those that the hooks know all of */
	uint32_t n_first;	   /* sites where a stack begins */
	uint32_t n_physical;	   /* physical functions, numbered from 1 */
	struct scopes scopes;
	struct exceptions exceptions;
	struct copies copies;
	struct points points;
	struct tail_jumps tail_jumps;
	/* What own_place.c made: by the addresses of interned texts, and by
	 * where the area has the places' texts. */
	struct hashmap own_functions, own_places;
	uint32_t veto; /* the function that stands for a veto + 1, or 0 */
	/* private */
	struct hashmap by_place; /* functions, by modules_place() */
	uint32_t *first_of_function;
	uint32_t cap_functions;
	uint32_t keep_bytes;  /* functions of fewer bytes are muted; 0: none */
	struct filter *mute;  /* borrowed; NULL: nothing is muted */
	struct filter *shown; /* likewise: hears of functions */
	struct called_file *files;
	uint32_t n_files, cap_files;
	uint8_t has_news; /* mute has heard a function's name */
};

/* Prepares s; a and n are borrowed.  Returns 0, or CST_MEMORY; release s in any
 * case. */
int sites_init(struct sites *s, struct area *a, struct names *n);

/* Frees the memory of s and zeroes it. */
void sites_release(struct sites *s);

/* Makes room for what is known of a function.  Returns 0, or a negative number
 * when out of memory. */
int sites_room_function(struct sites *s, uint32_t function);

/* Learns the sites that are new in the area.  Returns how many are known now:
 * records of a site with this number or a higher one must wait. */
uint32_t sites_learn(struct sites *s);

/* Returns the function at this address, in names; adds it if it is new (for a
 * seed). */
uint32_t sites_function(struct sites *s, uint64_t addr);
/* Returns the function, in names, that holds the code at pc in the process with
 * this index of the area (added if it is new): the one that was compiled there,
 * not one inlined into it.  UINT32_MAX: nothing is known to be there. */
uint32_t sites_function_with(struct sites *s, uint32_t process, uint64_t pc);
/* Returns the number of the physical function that holds pc, or 0. */
uint32_t sites_physical(struct sites *s, uint64_t pc);
/* Returns the address where the function that holds pc begins, or 0. */
uint64_t sites_function_start(struct sites *s, uint64_t pc);
/* Adds a call site, in names, for a call that has no record (a seed), and
 * returns its number. */
uint32_t sites_add_call(struct sites *s, uint32_t function, uint64_t caller);

/* Asks for the line of site `number` of the area, on behalf of call_site of the
 * names, which is at the same place. */
void sites_ask_line(struct sites *s, uint32_t number, uint32_t call_site);

/* Puts the innermost inlined call at pc, or 0 if there is none, into *out.
 * Returns 1; or 0 if pc is not in this physical function, or nothing is
 * known. */
int sites_scope(struct sites *s, uint32_t process, uint32_t physical,
		uint64_t pc, uint32_t *out);

/* Returns 0 if pc is no return address: no call instruction lies before it.
 * Else, or if that is not known, 1. */
int sites_is_return(struct sites *s, uint32_t process, uint64_t pc);

/* Returns the CFA of the frame that has these stack and frame pointers at pc, a
 * return address; or an address that stands in for it (NEAR_FP); or 0 if it is
 * not known. */
uint64_t sites_cfa(struct sites *s, uint32_t process, uint64_t pc, uint64_t sp,
		   uint64_t fp);

/* Mutes the functions that `mute` excludes, from now on.  Reports to it and to
 * `shown` (each may be NULL; both are borrowed) the functions of each object
 * file of which any function is called. */
void sites_filter(struct sites *s, struct filter *mute, struct filter *shown);

/* Mutes the functions whose symbol has fewer than so many bytes, from now on;
 * 0: none. */
void sites_keep(struct sites *s, uint32_t bytes);

/* Drops what is known of the code at [start, end), which was unmapped. */
void sites_unmap(struct sites *s, uint64_t start, uint64_t end);

/* Answers a question, as questions_answer() does. */
uint32_t sites_answer(struct sites *s, uint32_t id, const char *name,
		      const char *file, uint32_t line);

#endif
