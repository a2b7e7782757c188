/* SPDX-License-Identifier: MIT
 *
 * Which function is entered at a hook.
 */
#ifndef ENGINE_INSTANCE_H
#define ENGINE_INSTANCE_H

#include "args/abi.h"
#include "args/place.h"

/* A function as it is at one hook. */
struct instance {
	struct frame frame;
	Dwarf_Die die; /* the function, or the inlined call of it */
	struct modules *modules;
	uint64_t hook, start; /* in the process; start of the function */
	int is_inlined;
	uint32_t file;
	struct abi abi; /* of a function that was patched */
	int is_framed;	/* the patch is behind its prologue */
	int32_t below;	/* how much lower the registers are than they may be */
	int is_deep;	/* they are where the hook has put them */
};

/* These find one.  Return 1, or 0: it is not known. */

/* The call of callee that the hook at pc is of: an inlined one, or the function
 * that was compiled there. */
int instance_of_call(struct modules *m, uint64_t pc, uint64_t callee,
		     struct instance *out);

/* The innermost one, of which the hook at pc is, unless the compiler has moved
 * it. */
int instance_innermost(struct modules *m, uint64_t pc, struct instance *out);

/* The one of callee at a hook, which is its return address, or what a patch has
 * instead (cstrace/plan_layout.h). */
int instance_at(struct modules *m, uint64_t hook, uint64_t callee,
		struct instance *out);

#endif
