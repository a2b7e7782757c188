/* SPDX-License-Identifier: MIT
 *
 * Address spaces: what a program has mapped, from its exec to its end.  A fork
 * child shares its parent's space, an exec'ed program begins a new one.  One of
 * them, the asker's, is that of the process whose names gdb knows.
 */
#ifndef ENGINE_ADDRESS_SPACE_H
#define ENGINE_ADDRESS_SPACE_H

#include "area/area.h"
#include "base/hashmap.h"
#include "elf/modules.h"

struct space {
	struct modules *modules;
	struct hashmap functions, physicals,
		scopes;	  /* by address; see sites.c */
	uint32_t number;  /* from 1, as trace files count them */
	uint32_t process; /* the index of the process that it began with;
			     UINT32_MAX: none */
	uint8_t is_stale; /* the maps were not read since a library came */
};

struct spaces {
	const struct area *area; /* borrowed */
	struct space **all;
	uint32_t n, cap;
	/* private */
	struct space *asker;
	uint32_t pid;	     /* the asker's process; 0: it has ended */
	uint32_t asker_from; /* processes of a lower index are from before its
				exec */
	struct space **of_process; /* by the process's index in the area; NULL:
				      not known */
	uint32_t cap_processes;
	uint32_t n_mappings; /* entries of the area's log that are consumed,
				without gaps */
	uint8_t *is_taken; /* for each entry: whether it is consumed; NULL: none
			      is */
};

/* Begins with one space, the asker's.  a is borrowed.  Returns 0, or
 * CST_MEMORY. */
int spaces_init(struct spaces *s, const struct area *a);

/* Frees all spaces and zeroes s. */
void spaces_release(struct spaces *s);

/* Returns the space of the process with this index in the area; never NULL: it
 * is the asker's when the process or memory is missing. */
struct space *spaces_of(struct spaces *s, uint32_t process);

/* Returns the asker's space. */
struct space *spaces_asker(const struct spaces *s);

/* Makes the space of the process with this pid the asker's; with has_ended that
 * process has ended, and there is no asker any more. */
void spaces_ask(struct spaces *s, uint32_t pid, int has_ended);
/* Reports that the asker's process runs another program now, and gives it a new
 * space.  Returns 0, or CST_MEMORY. */
int spaces_exec(struct spaces *s);

/* Reads what the processes have reported of their mappings before they made the
 * site with this number. */
void spaces_take_mappings(struct spaces *s, uint32_t site);

/* Drops what is known of the addresses in [start, end), where other code is
 * now. */
void space_forget(struct space *space, uint64_t start, uint64_t end);

/* Prepares for looking up the code at addr: reads the maps of that process (by
 * index), if nothing is known to be at addr and they were not read since
 * is_stale was set. */
void spaces_look(struct spaces *s, struct space *space, uint32_t process,
		 uint64_t addr);

#endif
