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
enum { CST_LAYOUT = 17 };

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
	/* 1: area_path is a file to make; 2: it is the size of a flight
	 * recorder without a reader; 3: of one that a debugger on another
	 * machine reads.  gdb sets only 0 and 3. */
	uint32_t is_file;
	char area_path[256];
};

enum {
	CST_MAX_STOPS = 32,
	CST_STOP_BITS = 12,
	CST_STOP_SLOTS = 1 << CST_STOP_BITS,
};

/* What is special about a condition. */
enum cst_stop_flags {
	CST_STOP_ON = 1,
	/* Stops at the end of the call at whose entry all else was true. */
	CST_STOP_AT_EXIT = 2,
	/* Only for calls below one of the functions that have it as `under`. */
	CST_STOP_UNDER = 4,
	/* Stops where the call is left by a jump or an exception. */
	CST_STOP_UNWOUND = 8,
	/* Compares what the call is given (struct cst_tests). */
	CST_STOP_VALUES = 16,
	/* Compares what the call returns, and stops at its end. */
	CST_STOP_RESULT = 32,
};

/* The second argument of cstrace_hook_stop(place of the condition, enum
 * cst_stop_at, nanoseconds that the call took, 0). */
enum cst_stop_at {
	CST_STOP_IS_ENTRY = 1,
	CST_STOP_IS_EXIT = 2,
	CST_STOP_IS_JUMP = 3, /* one is about to leave the call */
	/* No stop: gdb is asked for the comparisons at a hook of an entry or an
	 * exit.  The third argument is where the hook returns to, the fourth
	 * the function. */
	CST_STOP_ASKS_ENTRY = 4,
	CST_STOP_ASKS_EXIT = 5,
	CST_STOP_IS_UNWINDER = 6, /* an exception is about to leave the call */
};

/* One condition for the program to stop at a call; of the numbers a zero is no
 * condition. */
struct cst_stop {
	uint32_t flags;	    /* enum cst_stop_flags */
	uint32_t thread;    /* only in the process's n-th thread, from 1 */
	uint32_t depth;	    /* only if so many calls of the thread are open */
	uint32_t n_skipped; /* the shim's: it could not tell so often */
	uint64_t longer_ns; /* stops at the end of calls that took longer */
	uint64_t count;	    /* stops only when all else is true this time */
	uint64_t n_true;    /* the shim's: so often all else was true */
};

/* A function and, each a bit, the conditions it is named in: as the one that is
 * called, or as one that is open around that. */
struct cst_stop_function {
	uint64_t callee; /* 0: a free slot */
	uint32_t called, under;
};

/* The shim exports this struct as cstrace_stops.  gdb writes it while the
 * process stands still, then CST_STATE_ASK into cstrace_state.  A hook that
 * finds a condition to be true calls cstrace_hook_stop(). */
struct cst_stops {
	/* Only in this process: a breakpoint is not in its fork children. */
	uint32_t pid;
	uint32_t is_on; /* 1: there are conditions */
	uint32_t any;	/* those that any function meets, a bit each */
	/* 1: some condition wants to know which calls are open. */
	uint32_t needs_open;
	struct cst_stop stops[CST_MAX_STOPS];
	/* A function's slot is (callee * 0x9e3779b97f4a7c15) >> (64 -
	 * CST_STOP_BITS) or, if that is taken, the next that is free. */
	struct cst_stop_function functions[CST_STOP_SLOTS];
};

/* gdb has set threads back to where a patch reports an event that is recorded
 * already: each reports it once more.  The shim exports this as cstrace_again;
 * gdb adds to it while the process stands still, then writes CST_STATE_ASK. */
enum { CST_MAX_AGAIN = 32 };
struct cst_reported {
	uint64_t sp; /* as in struct cst_record; 0: none */
	uint64_t callee;
	uint64_t hook; /* CST_PATCHED_ENTRY and the like */
};
struct cst_again {
	uint32_t pid; /* only in this process */
	uint32_t n;   /* how many there are; no patch goes the fast way then */
	struct cst_reported all[CST_MAX_AGAIN];
};

enum {
	CST_MAX_TESTS = 512,
	CST_TEST_STEPS = 8,  /* of one comparison */
	CST_TEST_TEXT = 63,  /* bytes that a text is compared with */
	CST_TESTS_EACH = 16, /* of one condition at one hook */
	CST_TEST_BITS = 9,
	CST_TEST_SLOTS = 1 << CST_TEST_BITS,
};

enum cst_test_kind {
	CST_TEST_INT = 0,  /* a number with a sign */
	CST_TEST_UINT = 1, /* one without */
	CST_TEST_TEXT_IS = 2,
	CST_TEST_TEXT_BEGINS = 3,
	CST_TEST_NULL = 4, /* a text that is none */
	/* An IEEE number of `width` bytes; the constant has its bits. */
	CST_TEST_FLOAT = 5,
};

enum cst_test_relation {
	CST_TEST_EQUAL = 0,
	CST_TEST_UNEQUAL = 1,
	CST_TEST_LESS = 2,
	CST_TEST_LESS_EQUAL = 3,
	CST_TEST_GREATER = 4,
	CST_TEST_GREATER_EQUAL = 5,
};

/* What comes behind a comparison instead of another one. */
enum cst_test_end { CST_TEST_FALSE = 254, CST_TEST_TRUE = 255 };

/* A comparison of a value with a constant.  A value that cannot be read meets
 * none. */
struct cst_test {
	/* Steps that emit the value (struct cst_copy of layout.h). */
	uint64_t steps[CST_TEST_STEPS];
	int64_t add;	    /* to the number */
	int64_t number;	    /* the constant */
	uint8_t kind;	    /* enum cst_test_kind */
	uint8_t relation;   /* enum cst_test_relation */
	uint8_t at, size;   /* the bytes of the number in what is emitted */
	uint8_t width;	    /* bytes of its type */
	uint8_t is_widened; /* the bytes above `size` repeat the sign */
	uint8_t has_status; /* that begins with an enum cst_copied */
	uint8_t is_not;	    /* it is met if the comparison is not */
	/* Where it goes on, counted from the condition's first comparison, or
	 * an enum cst_test_end. */
	uint8_t yes, no;
	uint8_t n_text; /* of the constant */
	char text[CST_TEST_TEXT];
};

/* Where the comparisons of a condition at a hook are; first: 1 + the place of
 * the first one, or CST_TEST_UNKNOWN. */
struct cst_test_place {
	uint64_t hook; /* written last; 0: a free slot */
	uint32_t stop; /* the condition's place */
	uint32_t first;
};
enum { CST_TEST_UNKNOWN = 0xffff };

/* The shim exports this struct as cstrace_tests.  gdb adds to it when it is
 * asked, and zeroes it when it writes the conditions. */
struct cst_tests {
	/* A hook's slot is (hook * 0x9e3779b97f4a7c15) >> (64 - CST_TEST_BITS)
	 * or, if that is taken, the next that is free. */
	struct cst_test_place places[CST_TEST_SLOTS];
	struct cst_test tests[CST_MAX_TESTS];
};

/* Under gdb the shim maps the areas of the plans that CSTRACE_PLANS names, but
 * gdb writes the patches, and no others: only it knows where its breakpoints
 * are. The shim calls the empty function cstrace_patches_mapped() as the
 * program starts, and when libraries were opened or closed: with
 * CST_PATCHES_WANTED before it looks for plans, with CST_PATCHES_MAPPED when
 * the areas are in cstrace_patched. */
enum { CST_MAX_PATCHED = 512 };
enum cst_patches_call {
	CST_PATCHES_WANTED = 0,
	CST_PATCHES_MAPPED = 1,
	/* gdb writes a jump over the function that the second argument is the
	 * address of, to the third: it has a breakpoint of its own there. */
	CST_PATCHES_LED = 2,
};
struct cst_patched {
	uint64_t area, area_size;
	uint64_t bias; /* of the object */
	int64_t moved; /* bytes that the area lies above where it was planned */
	uint64_t sum;  /* the last 8 bytes of the plan */
	char plan[64]; /* the file's name in the folder of plans */
};
struct cst_patched_table {
	uint64_t n;
	struct cst_patched all[512];
};

#endif
