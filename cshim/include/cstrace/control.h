/* SPDX-License-Identifier: MIT
 *
 * What gdb writes into the shim of a process, and reads there: whether and
 * where it records.  gdb's extension has this header's layout too
 * (gdbext/_abi.py).
 *
 * gdb finds the two objects by their symbols, cstrace_state and
 * cstrace_control.  It compares magic and layout before it writes anything. All
 * numbers are little endian, and accessed atomically by the shim.
 */
#ifndef CSTRACE_CONTROL_H
#define CSTRACE_CONTROL_H

#include <stdint.h>

#define CST_AREA_MAGIC 0x31616572615f7463ull /* "ct_area1" */

/* The version of this layout and that of the area: another one for each change
 * of a struct. */
enum { CST_LAYOUT = 4 };

/* The word that each hook tests first (cstrace_state).  It is in a page of its
 * own that the kernel zeroes at a fork, so that the child's first event asks.
 * */
enum cst_state {
	CST_STATE_ASK = 0, /* obey cstrace_control first */
	CST_STATE_ON = 1,
	CST_STATE_OFF = 2,
	CST_STATE_SYNC = 3, /* on; each record waits for the reader */
};

enum cst_mode {
	CST_MODE_OFF = 0,
	CST_MODE_RING = 1,
	/* CST_MODE_RING, and each hook calls cstrace_hook_enter/exit(). */
	CST_MODE_BREAKPOINT = 2,
	/* CST_MODE_RING, and each hook waits for the reader. */
	CST_MODE_HANDSHAKE = 3,
};

/* The shim exports this struct as cstrace_control.  gdb writes area_path (when
 * it changes), then mode, then CST_STATE_ASK into cstrace_state; the program's
 * next event obeys.  An area stays mapped until the process ends. */
struct cst_control {
	uint64_t magic; /* CST_AREA_MAGIC */
	uint32_t layout;
	uint32_t mode; /* enum cst_mode */
	/* Code in [retire_start, retire_end) was unmapped: the shim forgets its
	 * sites.  gdb increments retire_seq after it has written the other two,
	 * then writes CST_STATE_ASK. */
	uint64_t retire_start, retire_end;
	uint32_t retire_seq;
	/* The shim's answers to gdb: an enum cst_state, and the errno of the
	 * last failed attempt to map the area, or 0. */
	uint32_t answer_state;
	int32_t answer_errno;
	uint32_t is_file; /* area_path is a file to make; gdb never sets it */
	char area_path[256];
};

#endif
