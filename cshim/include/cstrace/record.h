/* SPDX-License-Identifier: MIT
 *
 * The area: the one mapping that the shim (inside the traced program) writes
 * and the reader (inside gdb or the cstrace command) reads.  This file is the
 * whole contract between the two; both validate magic, layout and size.
 *
 *   header | processes | threads | chunk states | mappings | text | sites |
 *   chunks ...
 *
 * Every table has its largest size from the start (the file is sparse, so
 * that costs address space, not memory).  All numbers are little endian and
 * every field that two sides touch is accessed atomically.
 */
#ifndef CSTRACE_RECORD_H
#define CSTRACE_RECORD_H

#include <stdint.h>

#define CST_AREA_MAGIC 0x31616572615f7463ull /* "ct_area1" */

enum {
	CST_LAYOUT = 3,

	CST_CHUNK_SIZE = 65536,	  /* and its alignment in the writer's memory */
	CST_CHUNK_RECORDS = 2666, /* a chunk is full behind this many records */
	CST_CHUNK_SLOTS = 2730,	  /* with the spare slots for signal handlers */
	CST_RECORD_SIZE = 24,

	CST_MAX_PROCESSES = 4096,
	CST_MAX_THREADS = 65536,
	CST_MAX_CHUNKS = 16384, /* 1 GiB */
	CST_MAX_SITES = 2097152,
	CST_MAX_MAPPINGS = 65536,
	CST_TEXT_SIZE = 4194304, /* of the mappings */
	CST_NAME_SIZE = 64,
};

/* What a site is: the place of a hook call, or a place in the program where an
 * exception is thrown, thrown again or caught.  0: it is not published yet. */
enum cst_kind {
	CST_ENTER = 1,
	CST_EXIT = 2,
	CST_THROW = 3,
	CST_RETHROW = 4,
	CST_CATCH = 5,
};

/* A site's verdict, written by the reader, obeyed by the hook. */
enum cst_verdict { CST_RECORDED = 0, CST_MUTED = 1 };

/* Who holds a chunk. */
enum cst_chunk_state {
	CST_CHUNK_FREE = 0, /* on the free list, zeroed */
	CST_CHUNK_OPEN = 1, /* its thread writes into it */
	CST_CHUNK_FULL = 2, /* handed over: the reader recycles it */
};

/* One entry or exit, exactly as the hook saw it.
 * sp is the stack pointer before the hook was called (the address just above
 * the hook's own return address); fp is the frame pointer register there,
 * whatever it holds; both as 48 bits. */
struct cst_record {
	uint64_t time; /* clock ticks; written last, 0: not written yet */
	uint64_t site_and_sp; /* site number << 32 | low half of sp */
	uint64_t sp_and_fp;   /* sp bits 32-47 << 48 | fp's low 48 bits */
};
_Static_assert(sizeof(struct cst_record) == CST_RECORD_SIZE, "area layout");

/* Atomic, so that a number that was checked is not read again: the memory is
 * the other side's. */
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

/* All but the time, which makes the record whole, is written first. */
static inline void cst_record_set(struct cst_record *r, uint64_t time,
				  uint32_t site, uint64_t sp, uint64_t fp)
{
	r->site_and_sp = (uint64_t)site << 32 | (uint32_t)sp;
	r->sp_and_fp = sp >> 32 << 48 | (fp & 0xffffffffffffull);
	__atomic_store_n(&r->time, time, __ATOMIC_RELEASE);
}

/* One distinct (callee, caller, hook) triple of one address space.  The kind
 * is written last (release): a site with a kind is whole.  The site of an
 * exception has its place, as a return address, for caller and hook; its
 * callee only tells it from others.  The sp of its records is that of the
 * frame it is in, fp the number of bytes of text that the thread's CST_TEXT
 * records before it end with: the type's linkage name, and, behind a NUL, what
 * the exception says of itself, if that is known. */
struct cst_site {
	uint64_t callee;  /* the function the hook was told of */
	uint64_t caller;  /* its return address, as the hook was told */
	uint64_t hook;	  /* the hook's own return address */
	uint32_t verdict; /* enum cst_verdict */
	uint16_t process; /* index of the process that made it */
	uint16_t kind;	  /* enum cst_kind */
};
_Static_assert(sizeof(struct cst_site) == 32, "area layout");

/* A process that writes into the area: the traced one, or a fork child. */
struct cst_process {
	uint32_t pid;	 /* written last (release), 0: unused */
	uint32_t parent; /* index + 1 of the process it was forked from, or 0 */
	uint64_t start;	 /* clock ticks */
	/* Entered by the reader, which knows calls that it has open, or as it
	 * made the file: it takes this entry for its own, and 0 in here. */
	uint32_t is_expected;
	uint32_t reserved;
	uint64_t end; /* as it exits by way of libc; 0: it has not */
};
_Static_assert(sizeof(struct cst_process) == 32, "area layout");

/* A thread that claimed a chunk.  Its index is its ordinal over all
 * processes, in order of first calls. */
struct cst_thread {
	uint32_t tid; /* written last (release), 0: unused */
	uint32_t process;
	uint32_t n_claimed; /* chunks claimed so far: the next one's seq */
	uint32_t is_ended;  /* set by the thread's own end */
	uint64_t start;	    /* clock ticks */
	char name[16];	    /* as the kernel knows it, at the last claim */
	/* The first thread of a fork child: index + 1 of the parent's thread
	 * that forked, and which of its CST_FORK records was of this fork (0:
	 * none, the program did it by an instruction of its own). */
	uint32_t forked_from;
	uint32_t n_fork;
	uint64_t end; /* clock ticks; of use if is_ended */
	/* Where the stack of a thread that libc made begins, or just above
	 * that; 0: not known. */
	uint64_t base;
};
_Static_assert(sizeof(struct cst_thread) == 64, "area layout");

struct cst_chunk {
	uint32_t state; /* enum cst_chunk_state; released after the others */
	uint32_t thread;
	uint32_t seq; /* 0, 1, ...: the thread's chunks in order */
	/* Free: index + 1 of the next free one, or 0.  Open: 0.  Full: how many
	 * of its slots were taken, or 0 where the writer did not say. */
	uint32_t next;
};
_Static_assert(sizeof(struct cst_chunk) == 16, "area layout");

/* A log of what each process had mapped, in no order between processes: for a
 * reader that comes too late to look itself.  Written where has_mappings is
 * set.  An entry counts for the process's sites from n_sites on, and takes the
 * place of what was mapped there before. */
struct cst_mapping {
	uint32_t text; /* where its line of /proc/PID/maps begins, NUL-ended */
	uint32_t n_sites;
	uint16_t process;
	uint16_t is_whole; /* written last (release) */
	/* Where the text of its object's build-id begins + 1, behind which and
	 * a space stands the address of the file's own address 0, all in hex;
	 * 0: not known. */
	uint32_t object;
};
_Static_assert(sizeof(struct cst_mapping) == 16, "area layout");

struct cst_area {
	uint64_t magic;
	uint32_t layout;
	uint32_t is_ended; /* the reader left in an orderly way: do not wait */
	uint64_t size;	   /* of the whole mapping */

	uint32_t n_processes; /* claimed by fetch-add; entries may lag */
	uint32_t n_threads;
	uint32_t n_sites;  /* from CST_FIRST_SITE; entries may lag */
	uint32_t n_chunks; /* chunks that exist; the reader grows it */

	/* Losses, by cause, in records. */
	uint64_t n_lost_full;  /* no chunk, and the reader gone or too slow */
	uint64_t n_lost_sites; /* the site table is full */
	/* The thread or process table is full; or a thread used another's
	 * cursor, which may have cost more than the one that is counted. */
	uint64_t n_lost_threads;

	/* Free chunks, last in first out: tag << 32 | index + 1. */
	uint64_t free_head __attribute__((aligned(64)));
	uint32_t free_seq;  /* futex: bumped for each chunk given back */
	uint32_t n_waiting; /* writers that wait for a chunk */
	uint64_t n_waits;   /* times that a writer had to wait */

	/* The reader's robust, process-shared mutex: held while it lives.
	 * FUTEX_OWNER_DIED in its word says that it died. */
	uint8_t reader_lock[64] __attribute__((aligned(64)));
	uint32_t wait_limit_ms; /* how long a writer waits for a live reader */

	/* The handshake road: a ticket for each record, answered in order. */
	uint32_t sync_asked __attribute__((aligned(64)));
	uint32_t sync_done; /* futex of the writers */
	/* Futex of the reader: 1 while it sleeps a whole tick; whoever needs
	 * it (a writer that waits, a ticket) swaps in 0 and wakes it. */
	uint32_t reader_sleeps;
	/* Draws the numbers of cstrace_hook_enter's third argument. */
	uint32_t sync_number;

	uint32_t n_mappings __attribute__((aligned(64)));
	uint32_t n_text;       /* bytes taken */
	uint32_t has_mappings; /* the reader wants them */
	/* A file on disk that nobody reads yet: its chunks are taken in order
	 * and never given back; what its clock was at two moments. */
	uint32_t is_file;
	uint64_t first_ticks, first_ns, first_wall_ns;
	uint64_t last_ticks, last_ns;

	/* Libraries that dlmopen() opened and whose calls are missing: those of
	 * constructors, or all; and any that went past our hooks for good. */
	uint32_t n_past_begin, n_past_all, n_past_sealed;

	/* Programs that were run with an environment without the shim, and the
	 * first one's path, or its end. */
	uint32_t n_past_exec;
	char past_exec[CST_NAME_SIZE];

	/* Processes whose recording ended before they did, by a sandbox of
	 * their own. */
	uint32_t n_ended;
};

/* Site numbers below CST_FIRST_SITE are not sites; 0 is never in a whole
 * record. */
enum {
	/* The thread is about to fork, for the sp-th time: what is open now is
	 * what the child begins with. */
	CST_FORK = 1,
	/* The thread jumps (longjmp, swapcontext) to where the stack pointer is
	 * sp, by a return to fp (0: not said): what lies below on that stack is
	 * left, and what was inlined there but does not hold that place.  Where
	 * fp is CST_BY_UNWINDER the unwinder leads there, and a handler there
	 * would be told of (CST_CATCH). */
	CST_JUMP = 2,
	/* The thread's alternate signal stack is now the fp bytes from sp on,
	 * 0: it has none.  At a chunk's begin the time is 1: no matter when. */
	CST_ALTERNATE = 3,
	/* The thread's next CST_JUMP goes on in the frame that, before the
	 * address sp, has the frame pointer fp. */
	CST_FRAME = 4,
	/* The next CST_TEXT_BYTES of a text: the low bytes of sp, then of fp.
	 */
	CST_TEXT = 5,
	/* The thread runs code that it would not run without us, below the
	 * stack pointer sp; 0: no longer. */
	CST_QUIET = 6,
	CST_FIRST_SITE = 16,
};

enum {
	CST_TEXT_BYTES = 12,   /* in a record */
	CST_BY_UNWINDER = 1,   /* no return address */
	CST_TYPE_MAX = 512,    /* bytes of a type's name */
	CST_MESSAGE_MAX = 256, /* ... of what an exception says */
};

/* The type's linkage name for the end of a thread by pthread_exit() or
 * pthread_cancel(), which C++ programs can catch as abi::__forced_unwind. */
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
#define CST_AT_SITES (CST_AT_TEXT + CST_TEXT_SIZE)
#define CST_AT_CHUNKS                                                        \
	((CST_AT_SITES + CST_MAX_SITES * sizeof(struct cst_site) + 0xffff) & \
	 ~0xffffull)
#define CST_AREA_SIZE \
	(CST_AT_CHUNKS + (uint64_t)CST_MAX_CHUNKS * CST_CHUNK_SIZE)

_Static_assert(sizeof(struct cst_area) <= CST_AT_PROCESSES, "area layout");

/* ---- what gdb pokes into the shim ------------------------------------- */

/* The word that every hook tests first, in a page of its own that the kernel
 * wipes on fork: the child's first event asks. */
enum cst_state {
	CST_STATE_ASK = 0, /* look at cstrace_control, then decide */
	CST_STATE_ON = 1,
	CST_STATE_OFF = 2,
	CST_STATE_SYNC = 3, /* on, and each record is waited for */
};

enum cst_mode {
	CST_MODE_OFF = 0,
	CST_MODE_RING = 1,
	CST_MODE_BREAKPOINT = 2, /* ring, then cstrace_hook_enter/exit() */
	CST_MODE_HANDSHAKE = 3,	 /* ring, then wait for the reader */
};

/* The shim exports one of these as cstrace_control.  gdb writes area_path
 * (when it changes), then mode, then CST_STATE_ASK into cstrace_state: the
 * next event obeys.  An area, once mapped, is kept for the process's life. */
struct cst_control {
	uint64_t magic; /* CST_AREA_MAGIC */
	uint32_t layout;
	uint32_t mode; /* enum cst_mode */
	/* Code at [retire_start, retire_end) was unmapped: forget its sites.
	 * retire_seq is bumped after the other two, then CST_STATE_ASK. */
	uint64_t retire_start, retire_end;
	uint32_t retire_seq;
	/* Answers, for gdb to read: enum cst_state and the errno of the last
	 * failed attempt to map the area, or 0. */
	uint32_t answer_state;
	int32_t answer_errno;
	uint32_t is_file; /* area_path is a file to be made (never by gdb) */
	char area_path[256];
};

#endif
