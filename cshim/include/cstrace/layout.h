/* SPDX-License-Identifier: MIT
 *
 * The layout of the area: the one mapping that the shim (in the traced program)
 * writes and the reader (in gdb or the cstrace command) reads.  This header and
 * control.h are all that the two have in common; both check magic, layout and
 * size.
 *
 *	header | processes | threads | chunk states | mappings | text | copies |
 *	steps | hooks | sites | chunks
 *
 * Each table has its largest size from the start; the file is sparse, so that
 * costs address space, not memory.  All numbers are little endian.  A field
 * that both sides use is accessed atomically, and a field "written last" is
 * stored with release: once it is set, the others of its struct are complete.
 *
 * What happens to a record:
 *
 * 1. A thread claims a free chunk (free_head), or waits for one, at most
 *    wait_limit_ms.  The chunk is CST_CHUNK_OPEN and belongs to the thread.
 * 2. The hook looks up its site (callee, caller, hook), which it adds if it is
 *    new.  It writes the record into the chunk's next slot, the time last.
 * 3. After CST_CHUNK_RECORDS records the chunk becomes CST_CHUNK_FULL, and the
 *    thread claims another one.
 * 4. The reader consumes full chunks in the order of their seq, and records of
 *    open chunks as far as their times are set.  It zeroes full chunks and puts
 *    them on the free list.
 *
 * Nothing in the area is ever locked by the program: a hook that finds no chunk
 * waits on a futex, and counts a loss after the limit.
 */
#ifndef CSTRACE_LAYOUT_H
#define CSTRACE_LAYOUT_H

#include "cstrace/control.h"

#include "cstrace/plan_layout.h"
#include <stdint.h>

enum {
	CST_CHUNK_SIZE = 65536,	  /* bytes, and the alignment in memory */
	CST_CHUNK_RECORDS = 2666, /* a chunk is full after so many records */
	CST_CHUNK_SLOTS = 2730,	  /* all slots: the rest is for signal handlers
				   * that come before the next chunk */
	CST_RECORD_SIZE = 24,

	CST_MAX_PROCESSES = 4096,
	CST_MAX_THREADS = 65536,
	CST_MAX_CHUNKS = 16384, /* 1 GiB */
	CST_MAX_SITES = 2097152,
	CST_MAX_MAPPINGS = 65536,
	CST_TEXT_SIZE = 4194304, /* bytes of text of the mappings */
	CST_NAME_SIZE = 64,
	CST_MAX_COPIES = 1 << 18, /* steps of copy programs */
	CST_MAX_HOOKS = 1 << 16,  /* slots of the table of hooks */
	CST_HOOK_PROBES = 16,	  /* so many of them may hold one hook */
};

/* The kind of a site: a place that calls a hook; one where an exception is
 * thrown, thrown again or caught; or one where the program uses cstrace.h, see
 * struct cst_site.  0: the site is not published yet. */
enum cst_kind {
	CST_ENTER = 1,
	CST_EXIT = 2,
	CST_THROW = 3,
	CST_RETHROW = 4,
	CST_CATCH = 5,
	CST_SPAN = 6, /* a scope of the program's own; nests like a call */
	CST_SPAN_END = 7,
	CST_MESSAGE = 8, /* the place's name is its printf format */
	CST_COUNT = 9,	 /* a counter's new value, the record's first one */
	CST_CALL = 10,	 /* a function that reports itself, without hooks */
	CST_CALL_END = 11,
	/* A span that may end in another thread; the record's first value is
	 * the number that tells which one ends. */
	CST_ASYNC = 12,
	CST_ASYNC_END = 13,
	/* Ends a CST_CALL that a callback vetoed: its body did not run.  No
	 * CST_CALL_END follows. */
	CST_VETO = 14,
};

/* Whether a hook records a site's events; the reader sets it, the hook obeys,
 * but does not look while the area has no verdicts (has_verdicts). */
enum cst_verdict {
	CST_RECORDED = 0,
	CST_MUTED = 1,
	/* Recorded, and the site's copy program is run.  A site of a hook
	 * begins with this where the reader wants values. */
	CST_COPIED = 2,
};

/* How an entry's site leads from its record to the canonical frame address, as
 * the reader has found out; 0: it has not looked yet. */
enum cst_base {
	CST_CFA_OF_SP = 1, /* sp + 8 * cfa_words */
	CST_CFA_OF_FP = 2, /* fp + 8 * cfa_words */
	CST_CFA_UNKNOWN = 3,
	CST_INLINED = 4, /* a flag: in another function's frame */
};

/* The owner of a chunk. */
enum cst_chunk_state {
	CST_CHUNK_FREE = 0, /* on the free list, zeroed */
	CST_CHUNK_OPEN = 1, /* its thread writes into it */
	CST_CHUNK_FULL = 2, /* the reader's, which will free it */
	/* In a flight that is read through a debugger: was full, and read. */
	CST_CHUNK_READ = 3,
};

/* One event: an entry, an exit, or one of the marks below CST_FIRST_SITE.  sp
 * is the stack pointer just before the hook was called (the address above the
 * hook's return address); fp is the frame pointer register at that point,
 * whatever it holds.  Both have 48 bits. */
struct cst_record {
	uint64_t time; /* clock ticks; written last, 0: not written yet */
	uint64_t site_and_sp; /* site number << 32 | low half of sp */
	uint64_t sp_and_fp;   /* sp bits 32-47 << 48 | fp's low 48 bits */
};
_Static_assert(sizeof(struct cst_record) == CST_RECORD_SIZE, "area layout");

/* The record's site number.  The load is atomic, so that the compiler does not
 * read a number again after the caller has checked it: the program may change
 * it. */
static inline uint32_t cst_record_site(const struct cst_record *r)
{
	return (uint32_t)(__atomic_load_n(&r->site_and_sp, __ATOMIC_RELAXED) >>
			  32);
}

static inline uint64_t cst_record_sp(const struct cst_record *r)
{
	return (uint32_t)r->site_and_sp | r->sp_and_fp >> 48 << 32;
}

static inline uint64_t cst_record_fp(const struct cst_record *r)
{
	return r->sp_and_fp & 0xffffffffffffull;
}

/* Numbers of a call that have room in its own record (struct cst_copy) stand in
 * fp's place; sp is then what leads to the canonical frame address, be it sp or
 * fp, and has its top bit set. */
enum { CST_NUMBERS_BITS = 48 };
#define CST_HAS_NUMBERS (1ull << 47)

static inline int cst_record_has_numbers(const struct cst_record *r)
{
	return (int64_t)r->sp_and_fp < 0;
}

/* The record's sp without that bit. */
static inline uint64_t cst_record_frame(const struct cst_record *r)
{
	return cst_record_sp(r) & ~CST_HAS_NUMBERS;
}

/* Writes a record; the time, which completes it, is written last. */
static inline void cst_record_set(struct cst_record *r, uint64_t time,
				  uint32_t site, uint64_t sp, uint64_t fp)
{
	r->site_and_sp = (uint64_t)site << 32 | (uint32_t)sp;
	r->sp_and_fp = sp >> 32 << 48 | (fp & 0xffffffffffffull);
	__atomic_store_n(&r->time, time, __ATOMIC_RELEASE);
}

/* What values are known by: a hook's return address, or an address that is
 * none, in the first bytes of a function that is patched. */
static inline uint64_t cst_hook_place(uint64_t hook, uint64_t callee)
{
	return hook <= CST_PATCHED_LAST ? callee + hook : hook;
}

/* The opposite. */
static inline uint64_t cst_place_hook(uint64_t place, uint64_t callee)
{
	return place - callee <= CST_PATCHED_FRAMED_EXIT ? place - callee
							 : place;
}

/* One distinct (callee, caller, hook) of one process.  The kind is written
 * last.
 *
 * A site of an exception has the place of the throw or catch, as a return
 * address, in caller and hook; its callee only makes it distinct.  In its
 * records sp belongs to the frame that throws or catches, and fp is a number of
 * bytes: so much text the thread's CST_TEXT records just before it hold, the
 * linkage name of the exception's type and, after a NUL, its what(), if that is
 * known.
 *
 * A site of cstrace.h (CST_SPAN and above) has in callee the address of the
 * place's descriptor in the program, a multiple of 8; plus 1 in a site of a
 * CST_..._END and plus 3 in one of CST_VETO, which end what began there.  A
 * site of CST_CALL has there an address in the code that reports the call: it
 * tells inlined copies of the function apart.  caller is the return address of
 * the function for CST_CALL, CST_CALL_END and CST_VETO, else an address in the
 * code of the place.  hook is 1 + the offset of the place's text in the area's
 * text, or 0 where there is none or it has no room:
 *
 *	name NUL file NUL line NUL function NUL value names NUL code NUL
 *
 * The line is decimal, commas stand between the names of values, and code is an
 * address in the code of the place, hexadecimal.  The writer stores the text
 * before it publishes the site.  In the site's records sp is the stack pointer
 * of the frame that holds the place, as it is before a call from there: calls
 * whose CFAs are at or below it lie within the span.  fp is a number of bytes:
 * so much the thread's CST_TEXT records just before it hold of values (enum
 * cst_value). */
struct cst_site {
	uint64_t callee; /* the hook's first argument: the function's address */
	uint64_t caller; /* its second: the function's return address */
	uint64_t hook;	 /* the hook's own return address */
	uint8_t verdict; /* enum cst_verdict */
	uint8_t frame;	 /* enum cst_base; written after cfa_words */
	uint16_t cfa_words;
	uint16_t process; /* index of the process that made it */
	uint16_t kind;	  /* enum cst_kind */
};
_Static_assert(sizeof(struct cst_site) == 32, "area layout");

/* The registers that a copy program can use: those that a hook has as its
 * caller had them.  CST_REG_SP is the record's sp. */
enum cst_copy_register {
	CST_REG_RBX = 0,
	CST_REG_RBP,
	CST_REG_R12,
	CST_REG_R13,
	CST_REG_R14,
	CST_REG_R15,
	CST_REG_SP,
	CST_N_REGS,
	/* No register: the address where the hook has put these. */
	CST_REG_SAVED = CST_N_REGS,
};

/* What a step of a copy program does.  Steps "emit" raw bytes, which the
 * CST_VALUES record hands to the reader; A is an address that a step sets for
 * those after it.  No step can fault: what cannot be read has a status that
 * says so, and A then leads nowhere.  A status and what follows it are emitted
 * together. A step whose bytes have no room within CST_RAW_MAX emits nothing
 * and ends the program, as does a register or frame step that cannot be done:
 * the reader sees that the bytes end too early. */
enum cst_copy_op {
	CST_COPY_END = 0,
	/* Emits the low `size` bytes (at most 8) of the register. */
	CST_COPY_REGISTER,
	/* Emits the `size` bytes at the register + offset. */
	CST_COPY_FRAME,
	CST_COPY_POINT,	   /* A = register + offset */
	CST_COPY_POINT_AT, /* A = the 8 bytes at the register + offset */
	CST_COPY_FOLLOW,   /* A = the 8 bytes at A + offset */
	/* Emits a status, CST_COPIED_BAD or CST_COPIED_OK, and in the latter
	 * case the `size` bytes at A + offset. */
	CST_COPY_BYTES,
	/* The text at A: emits a status (any), and for CST_COPIED_OK and
	 * CST_COPIED_CUT a byte n and n bytes, at most `size` (0: 32). */
	CST_COPY_TEXT,
	/* Likewise the text whose address is at A + offset, and whose length
	 * is at A + offset + 8 * (int8_t)reg. */
	CST_COPY_SIZED_TEXT,
	/* A vector whose begin is at A + offset and whose end is 8 bytes behind
	 * that.  Emits a status, CST_COPIED_BAD, _OK or _CUT, and in the latter
	 * two cases the 8 bytes end - begin, and so many whole elements of
	 * `size` bytes as fit into 16 bytes (none, if size is 0). */
	CST_COPY_HEAD,
	/* Emits nothing.  As a program's first step: the `reg` steps that
	 * follow, at least one, are all that it has, and each of them is
	 * CST_COPY_FRAME of 1, 2, 4 or 8 bytes (cst_copy_saved() makes such a
	 * step of a register); together they emit at most CST_PLAIN_BYTES.  If
	 * `size` is not 0 and the numbers, as signed ones, have room in so many
	 * bits each, they may stand in the event's own record
	 * (cst_record_has_numbers()), the first one lowest, with 1 << (size -
	 * 1) added to each.  `offset` is then the enum cst_copy_register that
	 * leads to the canonical frame address, and may have more in its other
	 * bytes (enum cst_quick).
	 */
	CST_COPY_PLAIN,
};

/* What a program with CST_COPY_PLAIN may be besides: one or two numbers of four
 * bytes each, or one of eight (`size` is CST_NUMBERS_BITS by their number), all
 * of them at rbp, or all as cst_copy_saved() makes them.  The third byte of
 * `offset` is then where the first number is, and the fourth one where the
 * second: in units of four bytes from rbp, signed, or its enum
 * cst_copy_register. */
enum cst_quick {
	CST_INTS_AT_FP = 1 << 8,
	CST_INTS_SAVED = 1 << 9,
	CST_LONG_AT_FP = 1 << 10,
	CST_LONG_SAVED = 1 << 11,
};

enum cst_copied {
	CST_COPIED_BAD = 0, /* the memory cannot be read */
	CST_COPIED_OK = 1,
	CST_COPIED_CUT = 2, /* there is more than was copied */
	CST_COPIED_NULL = 3,
};

/* A step.  The program of a site begins at the step that copies[site] tells,
 * and ends at CST_COPY_END, or after CST_COPY_STEPS_MAX steps. */
struct cst_copy {
	uint8_t op;    /* enum cst_copy_op */
	uint8_t reg;   /* enum cst_copy_register */
	uint16_t size; /* bytes */
	int32_t offset;
};
_Static_assert(sizeof(struct cst_copy) == 8, "area layout");

/* What is to be copied at a hook, found out before a site of it exists, so that
 * its first call need not wait. */
struct cst_hook {
	uint64_t hook;	  /* its return address; 0: the slot is free */
	uint32_t process; /* index */
	uint32_t copies;  /* as copies[site]; written last; 0: not known */
};
_Static_assert(sizeof(struct cst_hook) == 16, "area layout");

/* The first slot that may hold the hook; the others are behind it. */
static inline uint32_t cst_hook_first(uint64_t hook, uint32_t process)
{
	return (uint32_t)((hook + process) * 0x9e3779b97f4a7c15ull >> 32) %
	       (CST_MAX_HOOKS - CST_HOOK_PROBES);
}

/* A hook has put the registers, in the order of their numbers, below its return
 * address: there CST_COPY_FRAME finds them, too. */
static inline struct cst_copy cst_copy_saved(uint8_t reg, uint16_t size)
{
	return (struct cst_copy){CST_COPY_FRAME, CST_REG_SP, size,
				 8 * (reg - CST_N_REGS - 1)};
}

/* Where a patched function's registers are, in bytes from the record's sp:
 * CST_COPY_FRAME and the like find them there.  For CST_PATCHED_BEGUN that is
 * CST_PATCHED_BELOW lower, for CST_PATCHED_FRAMED anywhere; and for
 * CST_PATCHED_DEEP and CST_PATCHED_FRAMED_EXIT CST_PATCHED_ABOVE higher, from
 * CST_REG_SAVED. */
enum {
	CST_PATCHED_RAX = -8,
	CST_PATCHED_RCX = -24,
	CST_PATCHED_RDX = -32,
	CST_PATCHED_RSI = -40,
	CST_PATCHED_RDI = -48,
	CST_PATCHED_R8 = -56,
	CST_PATCHED_R9 = -64,
	CST_PATCHED_XMM = -144, /* 8 bytes of each, up to the eighth */
	CST_PATCHED_BELOW = -152,
	CST_PATCHED_ABOVE = 200,
};

/* The entries of the table of copies, by site: 0, the reader has not looked
 * yet; CST_COPY_NOTHING; or more than that, by which the number of the
 * program's first step is smaller.  The reader writes the steps, then the entry
 * (release), then the site's verdict. */
enum { CST_COPY_NOTHING = 1, CST_COPY_FIRST = 2 };

/* A process that writes into the area: the traced one or a child of it. */
struct cst_process {
	uint32_t pid;	 /* written last (release), 0: unused */
	uint32_t parent; /* index + 1 of the process it was forked from, or 0 */
	uint64_t start;	 /* clock ticks */
	/* 1: the reader made this entry for a process that is to come (with
	 * its open calls); the process claims it and sets 0. */
	uint32_t is_expected;
	uint32_t reserved;
	uint64_t end; /* clock ticks, set when it exits through libc; or 0 */
};
_Static_assert(sizeof(struct cst_process) == 32, "area layout");

/* A thread that has claimed a chunk.  Its index is its ordinal over all
 * processes, in the order of their first events. */
struct cst_thread {
	uint32_t tid; /* written last (release), 0: unused */
	uint32_t process;
	uint32_t n_claimed; /* chunks claimed so far: the next one's seq */
	uint32_t is_ended;  /* set by the thread's own end */
	uint64_t start;	    /* clock ticks */
	char name[16];	    /* the kernel's, when it claimed its last chunk */
	/* For the first thread of a fork child: the index + 1 of the parent
	 * thread whose open calls it inherits, and the number of that fork
	 * among the thread's CST_FORK records (0: the program forked by an
	 * instruction of its own, without such a record). */
	uint32_t forked_from;
	uint32_t n_fork;
	uint64_t end; /* clock ticks; valid if is_ended is set */
	/* The highest address of the thread's stack, if libc made it, or a
	 * little more; 0: not known. */
	uint64_t base;
};
_Static_assert(sizeof(struct cst_thread) == 64, "area layout");

struct cst_chunk {
	uint32_t state; /* enum cst_chunk_state; released after the others */
	uint32_t thread;
	uint32_t seq; /* 0, 1, ...: the thread's chunks in order */
	/* In a free chunk: the index + 1 of the next free one, or 0. In an open
	 * one: 0. In a full one: the number of its used slots, or 0 if the
	 * writer has not set it. */
	uint32_t next;
};
_Static_assert(sizeof(struct cst_chunk) == 16, "area layout");

/* An entry in the log of what each process has mapped, for a reader that starts
 * after the program has ended; written if has_mappings is set.  The entries of
 * different processes come in any order.  An entry is valid for the process's
 * sites from n_sites on, and replaces what was mapped there before. */
struct cst_mapping {
	uint32_t
		text; /* offset of its line of /proc/PID/maps, NUL-terminated */
	uint32_t n_sites;
	uint16_t process;
	uint16_t is_complete; /* written last (release) */
	/* 1 + the offset of a text: the object's build-id, a space, and the
	 * address at which the file's address 0 is mapped, both hexadecimal;
	 * 0: not known. */
	uint32_t object;
};
_Static_assert(sizeof(struct cst_mapping) == 16, "area layout");

struct cst_area {
	uint64_t magic;
	uint32_t layout;
	uint32_t is_ended; /* the reader has ended by itself: do not wait */
	uint64_t size;	   /* of the whole mapping */

	/* A writer claims an entry by fetch-add and fills it afterwards, so the
	 * last entries may still be empty.  Sites count from CST_FIRST_SITE. */
	uint32_t n_processes;
	uint32_t n_threads;
	uint32_t n_sites;
	uint32_t n_chunks; /* chunks that exist; the reader grows it */

	/* Lost records, by cause. */
	uint64_t
		n_lost_full; /* no chunk: the reader has ended or is too slow */
	uint64_t n_lost_sites; /* the site table is full */
	/* The thread or process table is full; or a thread used another one's
	 * cursor, which may have lost more than the one record counted. */
	uint64_t n_lost_threads;

	/* Free chunks, last in first out: tag << 32 | index + 1. */
	uint64_t free_head __attribute__((aligned(64)));
	uint32_t free_seq; /* futex: incremented for each chunk that is freed */
	uint32_t n_waiting; /* writers that wait for a chunk */
	uint64_t n_waits;   /* times that a writer had to wait */

	/* A robust, process-shared mutex that the reader has locked as long as
	 * it lives; FUTEX_OWNER_DIED in its word says that it was killed. */
	uint8_t reader_lock[64] __attribute__((aligned(64)));
	uint32_t wait_limit_ms; /* how long a writer waits for a live reader */

	/* The reader drops calls that are deeper on their stack than this; 0:
	 * it does not.  The hooks may pass over them. */
	uint32_t keep_depth;
	uint32_t no_what;  /* 1: no what() of the program's is called */
	uint32_t n_begun;  /* traces that were begun or have ended */
	uint32_t n_judged; /* changes of what the sites' entries say */

	/* CST_MODE_HANDSHAKE: a ticket for each record, answered in order. */
	uint32_t sync_asked __attribute__((aligned(64)));
	uint32_t sync_done; /* futex of the writers */
	/* Futex of the reader: 1 while it sleeps until its next tick.  A writer
	 * that waits for a chunk or a ticket sets 0 and wakes it. */
	uint32_t reader_sleeps;
	/* The last third argument of cstrace_hook_enter() and _exit(). */
	uint32_t sync_number;

	uint32_t n_mappings __attribute__((aligned(64)));
	uint32_t n_text;       /* bytes used */
	uint32_t has_mappings; /* 1: the log of mappings is to be written */
	/* 1: the area is a file that is read after the program has ended;
	 * chunks are claimed in order and never freed.  The two moments below
	 * tell the rate of the ticks. */
	uint32_t is_file;
	uint64_t first_ticks, first_ns, first_wall_ns;
	uint64_t last_ticks, last_ns;

	/* Libraries that dlmopen() opened, so that calls are missing: those of
	 * their constructors, or all; and libraries without our hooks. */
	uint32_t n_past_begin, n_past_all, n_past_sealed;

	/* Programs that were run with an environment without the shim, and the
	 * path of the first one (its end, if it is longer). */
	uint32_t n_past_exec;
	char past_exec[CST_NAME_SIZE];

	/* Processes whose recording ended before they did, because they entered
	 * a sandbox. */
	uint32_t n_ended;

	/* CSTRACE_FLIGHT, if flight_chunks is not 0: there is no reader, and so
	 * many chunks are used in turn; when all of them were used, a writer
	 * zeroes the oldest full one and claims it.  is_file is set.
	 * flight_hand counts the chunks that were looked at for that. */
	uint32_t flight_chunks, flight_hand;

	/* A debugger on another machine reads the flight while the process with
	 * this pid stands still, and marks what it has read (CST_CHUNK_READ).
	 * 0: nobody reads it.  Where a chunk is wanted and no full one is read,
	 * the process calls cstrace_hook_full(), at which the debugger stops
	 * it, and which has answered if n_flight_reads is another one then. */
	uint32_t flight_pid, n_flight_reads;

	/* 1: the reader wants values of calls.  A hook that has made a site of
	 * a hook wakes it, and waits until the site's entry in the table of
	 * copies (which is the futex) is not 0. */
	uint32_t wants_values;
	uint32_t n_copy_waiting; /* hooks that wait so */
	uint32_t n_copies;	 /* steps that are used */
	uint32_t n_hooks;	 /* slots of the table of hooks that are used */

	/* What hooks copy in a flight, which has no reader, was found out by a
	 * process that ended before the first call (enum cst_ahead; a futex).
	 * The table of hooks has all of it, for process 0, and the program's
	 * fork children use these entries, too. */
	uint32_t ahead;
	uint32_t ahead_pid; /* that process */

	/* 1: some site has, or had, a verdict but CST_RECORDED.  Set before the
	 * first one is. */
	uint32_t has_verdicts;

	/* How long the debugger has had the program stand still, in all. */
	uint64_t paused_ticks;
};

enum cst_ahead {
	CST_AHEAD_NONE = 0,
	CST_AHEAD_OFFERED = 1, /* nobody has mapped the area yet */
	CST_AHEAD_ASKED = 2,   /* a program has, and waits */
	CST_AHEAD_MADE = 3,
};

/* Numbers below CST_FIRST_SITE in a record's place of a site: marks of other
 * events of the thread.  0 is in no complete record. */
enum {
	/* The thread is about to fork, for the sp-th time: the child inherits
	 * the calls that are open now. */
	CST_FORK = 1,
	/* The thread jumps (longjmp, swapcontext): the stack pointer becomes
	 * sp, and it continues at the return address fp (0: not known).  Calls
	 * whose frames lie below sp on that stack are unwound, and so are
	 * inlined ones that do not contain that place.  If fp is
	 * CST_BY_UNWINDER the unwinder continues there; a handler there is
	 * reported (CST_CATCH). */
	CST_JUMP = 2,
	/* The thread's alternate signal stack is now at sp, fp bytes large; 0:
	 * it has none.  At the begin of a chunk the time is 1: no event. */
	CST_ALTERNATE = 3,
	/* The thread's next CST_JUMP continues in the frame that ends at the
	 * address sp and has the frame pointer fp. */
	CST_FRAME = 4,
	/* The next CST_TEXT_BYTES bytes of a text, in sp, then in fp. */
	CST_TEXT = 5,
	/* The thread runs code of the program for the shim (what()), below the
	 * stack pointer sp: its calls are not shown.  sp 0: that has ended. */
	CST_QUIET = 6,
	/* The hooks have passed over fp calls of the thread since its last
	 * record, for they are deeper than keep_depth; sp is where it is. */
	CST_PASSED = 7,
	/* Raw bytes of the thread's next record of a site, as its copy program
	 * emitted them.  Byte 0 is their number (at most CST_RAW_MAX); the last
	 * ones, at most CST_VALUES_BYTES, follow; those before them are in
	 * CST_TEXT records.  Bytes 0 to 5 are in sp, the others in fp. */
	CST_VALUES = 8,
	CST_FIRST_SITE = 16,
};

/* A value in a record is one of these bytes, and what follows it.  A varint has
 * seven bits a byte, the lowest first, the top bit set on all but the last. */
enum cst_value {
	CST_VALUE_INT = 'i',	 /* varint, zigzag: 0, -1, 1, -2, ... */
	CST_VALUE_UINT = 'u',	 /* varint */
	CST_VALUE_HEX = 'x',	 /* varint, shown in hexadecimal */
	CST_VALUE_POINTER = 'p', /* varint */
	/* Other forms, where the varint would be longer; only in files. */
	CST_VALUE_LONG_INT = 'I',     /* eight bytes */
	CST_VALUE_LONG_UINT = 'U',    /* eight bytes */
	CST_VALUE_LONG_POINTER = 'P', /* six bytes */
	CST_VALUE_FLOAT = 'f',	      /* eight bytes, a double */
	CST_VALUE_CHAR = 'c',	      /* one byte */
	CST_VALUE_BOOL = 'b',	      /* one byte, 0 or 1 */
	CST_VALUE_TEXT = 's',	      /* varint n, then n bytes */
	CST_VALUE_CUT_TEXT = 'S', /* likewise the beginning of a longer text */
	CST_VALUE_NULL = '0',	  /* nothing follows: a null text */
	CST_VALUE_BAD = '?',	  /* nothing follows: it cannot be read */
	CST_VALUE_NAME = 'n',	  /* like a text: the name of what it is */
	CST_VALUE_GONE = 'o',	  /* nothing follows: it was optimized out */
	/* The fields follow, each with a name of its own, then the end. */
	CST_VALUE_STRUCT = '{',
	CST_VALUE_STRUCT_END = '}',
	/* varint length, then the first elements, without names, and the end */
	CST_VALUE_ARRAY = '[',
	CST_VALUE_ARRAY_END = ']',
};

enum {
	CST_TEXT_BYTES = 12,	  /* bytes of text in a record */
	CST_BY_UNWINDER = 1,	  /* in place of a return address */
	CST_TYPE_MAX = 512,	  /* most bytes of a type's name */
	CST_MESSAGE_MAX = 256,	  /* most bytes of a what() */
	CST_VALUES_MAX = 1024,	  /* most bytes of values of a record */
	CST_VALUE_TEXT_MAX = 128, /* most bytes of one text, unless asked */
	CST_RAW_MAX = 240,	  /* most bytes that a copy program emits */
	CST_VALUES_BYTES = 11,	  /* most of them in the last record */
	CST_COPY_STEPS_MAX = 256, /* of one program */
	CST_PLAIN_BYTES = 16,	  /* of one that CST_COPY_PLAIN begins */
	CST_COPY_TEXT_MAX = 32,	  /* bytes of a text, unless the step says */
};

/* The type that stands for the end of a thread by pthread_exit() or
 * pthread_cancel(): its linkage name.  C++ code catches it as
 * abi::__forced_unwind. */
#define CST_FORCED_TYPE "N10__cxxabiv115__forced_unwindE"

#define CST_AT_PROCESSES 4096ull
#define CST_AT_THREADS \
	(CST_AT_PROCESSES + CST_MAX_PROCESSES * sizeof(struct cst_process))
#define CST_AT_CHUNK_STATES \
	(CST_AT_THREADS + CST_MAX_THREADS * sizeof(struct cst_thread))
#define CST_AT_MAPPINGS \
	(CST_AT_CHUNK_STATES + CST_MAX_CHUNKS * sizeof(struct cst_chunk))
#define CST_AT_TEXT \
	(CST_AT_MAPPINGS + CST_MAX_MAPPINGS * sizeof(struct cst_mapping))
#define CST_AT_COPIES (CST_AT_TEXT + CST_TEXT_SIZE)
#define CST_AT_STEPS (CST_AT_COPIES + CST_MAX_SITES * sizeof(uint32_t))
#define CST_AT_HOOKS (CST_AT_STEPS + CST_MAX_COPIES * sizeof(struct cst_copy))
#define CST_AT_SITES (CST_AT_HOOKS + CST_MAX_HOOKS * sizeof(struct cst_hook))
#define CST_AT_CHUNKS                                                        \
	((CST_AT_SITES + CST_MAX_SITES * sizeof(struct cst_site) + 0xffff) & \
	 ~0xffffull)
#define CST_AREA_SIZE \
	(CST_AT_CHUNKS + (uint64_t)CST_MAX_CHUNKS * CST_CHUNK_SIZE)

_Static_assert(sizeof(struct cst_area) <= CST_AT_PROCESSES, "area layout");

#endif
