/* SPDX-License-Identifier: MIT
 *
 * Address spaces: what a program has mapped, from its exec to its end.  A fork
 * child lives in its parent's, an exec'ed program in a new one.  One of them,
 * the asker's, is that of the process whose names gdb knows.
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
	uint32_t process; /* that it began with: its index; UINT32_MAX: none */
	uint8_t is_stale; /* the maps were not read since a library came */
};

struct spaces {
	const struct area *area; /* borrowed */
	struct space **all;
	uint32_t n, cap;
	/* private */
	struct space *asker;
	uint32_t pid;		   /* the asker's process; 0: it is gone */
	uint32_t asker_from;	   /* processes of lower index are of before its
				    * exec */
	struct space **of_process; /* by index in the area; NULL: not known */
	uint32_t cap_processes;
	uint32_t n_mappings; /* of the area's log: all before are taken */
	uint8_t *is_taken;   /* of those behind */
};

int spaces_init(struct spaces *s, const struct area *a);
void spaces_release(struct spaces *s);

/* Where the process with this index lives; never NULL. */
struct space *spaces_of(struct spaces *s, uint32_t process);
struct space *spaces_asker(const struct spaces *s);

/* The asker's process is this one now; is_gone: it has ended. */
void spaces_ask(struct spaces *s, uint32_t pid, int is_gone);
/* The asker's process runs another program now. */
int spaces_exec(struct spaces *s);

/* Take what the processes have told of their mappings before they made the
 * site with this number. */
void spaces_take_mappings(struct spaces *s, uint32_t site);

/* Other code comes to [start, end). */
void space_forget(struct space *space, uint64_t start, uint64_t end);

/* Code at addr is to be looked up: read what is mapped by that process, if
 * nothing is known to be there and it was not read since is_stale was set. */
void spaces_look(struct spaces *s, struct space *space, uint32_t process,
		 uint64_t addr);

#endif
