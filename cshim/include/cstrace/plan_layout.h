/* SPDX-License-Identifier: MIT
 *
 * The layout of a plan: how one ELF file is changed while it is loaded, so that
 * its functions report their calls.  The engine makes plans; the shim or gdb
 * applies them.  A plan's addresses are the file's own: the load bias is added.
 *
 * An area of new code is mapped near the file (the module).  It begins with
 * slots, addresses of functions of the shim that the applier fills in.  Behind
 * them is code: a gate for each slot, which jumps to that function, one more
 * for a debugger, then the trampolines.  The call frame information of this
 * code follows.  Patches write jumps to the trampolines over the begin and the
 * ends of functions.  Nothing on the stack changes.
 *
 * A trampoline reports like this, and a slot's function keeps all registers,
 * vectors too, but for rax and the flags:
 *
 *     push %rax
 *     lea  FUNCTION(%rip), %rax     the function's begin
 *     call GATE                     its return address is the patch's own
 *     pop  %rax
 *
 * In the slot's function so is (%rsp) the return address, in the area; 8(%rsp)
 * the rax that is restored; 16(%rsp) the return address of the function that is
 * traced.  Below %rsp nothing is live.  For CST_SLOT_FRAMED and CST_SLOT_BEGUN
 * the return address of the function is at 8(%rbp) instead, and the trampoline
 * steps over the red zone and saves the flags itself.  For CST_SLOT_DEEP, of
 * which the same is true, 16(%rsp) is the address of that return address.  For
 * CST_SLOT_FRAMED_EXIT it is as for CST_SLOT_FRAMED, but flags are not needed.
 *
 * A border plan is of a library whose functions are traced only where traced
 * modules call them: its slots' functions report nothing unless the return
 * address is in a traced module.  What cannot be patched there is patched in
 * the plans of the files that call it, whose stubs (the PLT) are functions then
 * that have an entry and no end.
 */
#ifndef CSTRACE_PLAN_LAYOUT_H
#define CSTRACE_PLAN_LAYOUT_H

#include <stdint.h>

#define CST_PLAN_MAGIC 0x316e616c70747363ull /* "cstplan1" */

enum {
	CST_PLAN_VERSION = 37, /* also of what the planner does: see plan.h */
	CST_PLAN_BUILD_ID = 20,
	CST_PATCH_MAX = 16, /* bytes */
	CST_PLAN_AREA_PAGE = 4096,
	CST_PLAN_GATE = 8, /* bytes of each gate */
};

enum cst_plan_slot {
	CST_SLOT_ENTER = 0,
	CST_SLOT_EXIT = 1,
	CST_SLOT_TAIL = 2, /* an exit: the function ends by a jump to another */
	CST_SLOT_FRAMED = 3, /* an entry, behind a prologue that sets %rbp */
	CST_SLOT_BEGUN = 4,  /* the like, where %rsp is still what %rbp is */
	/* These are for border plans. */
	CST_SLOT_BORDER_ENTER = 5,
	CST_SLOT_BORDER_EXIT = 6,
	/* An end of a function that border functions jump to: whichever of them
	 * was called ends there. */
	CST_SLOT_BORDER_RETURN = 7,
	/* An entry behind instructions that have moved the stack pointer or set
	 * %rbp, and have changed no register that holds an argument. */
	CST_SLOT_DEEP = 8,
	/* An exit before the instructions that give the frame up: in a plan for
	 * gdb, whose user may stop there and see the function's variables. */
	CST_SLOT_FRAMED_EXIT = 9,
	/* These are for border plans: as CST_SLOT_TAIL, of a function that
	 * traced files call, or of one that border functions jump to. */
	CST_SLOT_BORDER_TAIL = 10,
	CST_SLOT_BORDER_PASS = 11,
	CST_PLAN_SLOTS = 12,
};

/* In bytes of the code.  The debugger's gate jumps to where the word behind the
 * slots leads, which is 0 at first; before the gate is room for an instruction.
 * A debugger writes both.  Behind the gates is what a trampoline has behind its
 * call of the slot for an exit or a framed exit, up to a return, to report an
 * end that has no patch. */
enum {
	CST_PLAN_STEP_SLOT = CST_PLAN_SLOTS,
	CST_PLAN_STEP_ROOM = 16,
	CST_PLAN_STEP_GATE =
		CST_PLAN_GATE * CST_PLAN_STEP_SLOT + CST_PLAN_STEP_ROOM,
	CST_PLAN_BACK = CST_PLAN_STEP_GATE + CST_PLAN_GATE + 1,
	CST_PLAN_BACK_FRAMED = CST_PLAN_BACK + 3,
};

/* In place of a hook's return address: the function was not compiled with
 * hooks, its code was patched.  sp in the site's records is the address of the
 * function's own return address then, so that the CFA is 8 above it. */
enum {
	CST_PATCHED_ENTRY = 1,
	CST_PATCHED_EXIT = 2,
	CST_PATCHED_TAIL = 3,	/* an exit by a jump to another function */
	CST_PATCHED_FRAMED = 4, /* an entry behind the function's prologue */
	/* An exit of what was called with this return address, for the callee
	 * is a function that others jump to. */
	CST_PATCHED_RETURN = 5,
	/* An entry of a library's function that traced code calls, by a border
	 * plan. */
	CST_PATCHED_BORDER = 6,
	/* An entry behind what sets the frame pointer; the other registers are
	 * those at the function's begin. */
	CST_PATCHED_BEGUN = 7,
	/* An entry behind the function's first instructions; the registers of
	 * arguments are those at its begin. */
	CST_PATCHED_DEEP = 8,
	/* An exit before the frame is given up; registers are as for a deep
	 * entry. */
	CST_PATCHED_FRAMED_EXIT = 9,
	/* An exit by a jump of what was called with this return address, for
	 * the callee is a function that others jump to. */
	CST_PATCHED_PASS = 10,
	CST_PATCHED_LAST = 15,
};

/* Returns what a slot's events have there. */
static inline uint64_t cst_slot_hook(enum cst_plan_slot slot)
{
	static const uint8_t hooks[CST_PLAN_SLOTS] = {
		[CST_SLOT_ENTER] = CST_PATCHED_ENTRY,
		[CST_SLOT_EXIT] = CST_PATCHED_EXIT,
		[CST_SLOT_TAIL] = CST_PATCHED_TAIL,
		[CST_SLOT_FRAMED] = CST_PATCHED_FRAMED,
		[CST_SLOT_BEGUN] = CST_PATCHED_BEGUN,
		[CST_SLOT_BORDER_ENTER] = CST_PATCHED_BORDER,
		[CST_SLOT_BORDER_EXIT] = CST_PATCHED_EXIT,
		[CST_SLOT_BORDER_RETURN] = CST_PATCHED_RETURN,
		[CST_SLOT_DEEP] = CST_PATCHED_DEEP,
		[CST_SLOT_FRAMED_EXIT] = CST_PATCHED_FRAMED_EXIT,
		[CST_SLOT_BORDER_TAIL] = CST_PATCHED_TAIL,
		[CST_SLOT_BORDER_PASS] = CST_PATCHED_PASS,
	};

	return slot < CST_PLAN_SLOTS ? hooks[slot] : 0;
}

/* Is it an entry? */
static inline int cst_patched_enters(uint64_t hook)
{
	return hook == CST_PATCHED_ENTRY || hook == CST_PATCHED_FRAMED ||
	       hook == CST_PATCHED_BEGUN || hook == CST_PATCHED_DEEP ||
	       hook == CST_PATCHED_BORDER;
}

/* Is it an end of whatever was called with its return address? */
static inline int cst_patched_ends_any(uint64_t hook)
{
	return hook == CST_PATCHED_RETURN || hook == CST_PATCHED_PASS;
}

/* Is it an end by a jump? */
static inline int cst_patched_jumps(uint64_t hook)
{
	return hook == CST_PATCHED_TAIL || hook == CST_PATCHED_PASS;
}

/* Tail calls of tail calls: what is deeper lies beside the last one, in the
 * tree and for conditions. */
enum { CST_MOST_TAILS = 16 };

enum cst_patch_kind {
	CST_PATCH_ENTRY = 0,
	CST_PATCH_EXIT = 1,
	CST_PATCH_TAIL = 2,
	CST_PATCH_LANDING = 3, /* what another patch's short jump goes to */
	/* A jump around a landing: the trampoline has what lay there, and calls
	 * no slot. */
	CST_PATCH_HOST = 4,
};

enum cst_patch_flags {
	/* The trampoline pushes a return address and jumps, in place of a call:
	 * not for a thread with a shadow stack. */
	CST_PATCH_PUSHES = 1,
};

/* Whether calls by a name are seen where the function begins; if not, whether
 * all its ends are patched, so that its calls end exactly. */
enum cst_border_name {
	CST_BORDER_SEEN = 0x2b, /* '+' */
	CST_BORDER_ENDS = 0x3d, /* '=' */
	CST_BORDER_OPEN = 0x7e, /* '~' */
};

/* Why a function has no patches. */
enum cst_plan_reason {
	CST_PLAN_TRACED = 0,
	CST_PLAN_UNREADABLE = 1,   /* some bytes are no instructions */
	CST_PLAN_NO_FRAME = 2,	   /* no call frame information */
	CST_PLAN_ASSEMBLER = 3,	   /* written in assembler */
	CST_PLAN_RESTARTABLE = 4,  /* has a restartable sequence */
	CST_PLAN_NO_ROOM = 5,	   /* its begin is too short, or jumped into */
	CST_PLAN_IMMOVABLE = 6,	   /* instructions that run at one place only */
	CST_PLAN_HOOKED = 7,	   /* reports its calls by itself */
	CST_PLAN_OF_RUNTIME = 8,   /* libc, the dynamic linker, libgcc */
	CST_PLAN_READ_BY_GDB = 9,  /* its prologue is, and no line follows it */
	CST_PLAN_CHOSEN_LATE = 10, /* one of several, by the processor's kind */
	CST_PLAN_UNUSUAL = 11,	   /* returns twice, or switches stacks */
	CST_PLAN_ENDS_OTHERS =
		12, /* not left out, but has no row: see ends_others */
	CST_PLAN_BEHIND_SHIM = 13, /* libcstrace.so stands before it */
	CST_PLAN_NO_STUB = 14,	   /* its callers have no stub for it */
	CST_PLAN_REASONS = 15,
};

/* A part of the plan: so many items from that byte of the plan on. */
struct cst_plan_part {
	uint32_t offset, n;
};

/* The parts lie behind the header, each at a multiple of 8; the last 8 bytes of
 * the plan are its cst_plan_sum(). */
struct cst_plan {
	uint64_t magic;
	uint32_t version;
	uint32_t size; /* of the plan, in bytes */
	/* Cut, or 0 behind it; what stands for it if the file has none. */
	uint8_t build_id[CST_PLAN_BUILD_ID];
	uint32_t build_id_size; /* 0: it cannot be known */

	/* The loaded file, and where its area is best: whole pages.  The area
	 * may be elsewhere, if the moves below are made, as long as none of its
	 * bytes is 2 GiB or more from one of the image. */
	uint64_t image_at, image_size;
	int64_t area_at;
	uint32_t area_size;

	/* In bytes from the area's begin; the slots are at 0. */
	uint32_t code_at, code_size;	 /* trampolines: a multiple of pages */
	uint32_t frames_at, frames_size; /* as of .eh_frame */
	uint32_t header_at, header_size; /* as of .eh_frame_hdr */
	uint32_t is_border;
	uint32_t n_inlined; /* functions that have no code but in others */
	/* Functions that are not here as they have no line information, while
	 * others of the file do. */
	uint32_t n_lineless;
	uint32_t is_bare; /* no debug information: values are not known */
	/* In names: from there on those of functions of other files that end
	 * calls of this one's, which jump to them; of a border plan. */
	uint32_t handed;
	/* In names: from there on those by which traced files call functions of
	 * a border plan, each behind one of enum cst_border_name.  Where none
	 * of that name is seen in any border plan, the callers' stubs are
	 * patched instead. */
	uint32_t called;
	uint32_t reserved;

	struct cst_plan_part area;	/* bytes: area_size */
	struct cst_plan_part patches;	/* by address; none overlaps another */
	struct cst_plan_part copies;	/* by address */
	struct cst_plan_part moves;	/* uint32_t */
	struct cst_plan_part functions; /* by address */
	struct cst_plan_part names;	/* bytes: texts that end with a 0 */
};
_Static_assert(sizeof(struct cst_plan) == 168, "plan layout");

struct cst_patch {
	uint64_t address;
	uint32_t function; /* index */
	/* In the area: the trampoline, and where its call of a gate returns
	 * to.  For a landing, hook is 0, and trampoline is 0 or 1 + the index
	 * of a function whose entry displaces the landing's bytes: it stays
	 * patched as long as the landing is there. */
	uint32_t trampoline, hook;
	/* In the area, for an entry whose function also ends in the trampoline:
	 * where the second call returns to; 0: there is none. */
	uint32_t end_hook;
	uint16_t trampoline_size;
	uint8_t kind;	  /* enum cst_patch_kind */
	uint8_t end_kind; /* of the second call: CST_PATCH_EXIT or _TAIL */
	uint8_t length;	  /* bytes that are written */
	/* In an area that lies d bytes above area_at, the 32 bits at this index
	 * of the new bytes grow by d; 0: none. */
	uint8_t moved;
	uint8_t flags; /* enum cst_patch_flags */
	uint8_t reserved;
	uint8_t old_bytes[CST_PATCH_MAX];
	uint8_t new_bytes[CST_PATCH_MAX];
};
_Static_assert(sizeof(struct cst_patch) == 64, "plan layout");

/* An instruction that a patch displaced: who stands strictly inside the patch
 * may go on at the copy. */
struct cst_plan_copy {
	uint64_t address;
	uint32_t copy;	/* in the area */
	uint32_t patch; /* index */
};

/* A move is the place, in the area, of 32 bits that shrink by d in an area that
 * lies d bytes above area_at. */

struct cst_plan_function {
	uint64_t address, size;
	uint32_t name;	     /* in names */
	uint32_t n_exits;    /* of its patches: exits and tails */
	uint32_t n_missed;   /* ends that have no patch: estimated */
	uint16_t reason;     /* enum cst_plan_reason */
	uint8_t ends_others; /* its ends are those of what jumps to it, too */
	/* It is the linker's stub for another file's function, by whose name it
	 * goes. */
	uint8_t is_stub;
};

static inline uint64_t cst_plan_sum(const void *plan, uint64_t size)
{
	const unsigned char *at = (const unsigned char *)plan;
	uint64_t sum = 0x9e3779b97f4a7c15ull, word;

	for (uint64_t i = 0; i + 8 <= size; i += 8) {
		__builtin_memcpy(&word, at + i, 8);
		sum = ((sum << 25 | sum >> 39) ^ word) * 0xbf58476d1ce4e5b9ull;
	}
	return sum ^ sum >> 32;
}

/* A file without a build-id is known by its ELF header, its program headers, of
 * which it has no more than this, and its PT_GNU_EH_FRAME segment, which says
 * where each function begins, or all segments that are only read, .eh_frame
 * among them: a sum of these, in blocks.  The bytes that a patch replaces are
 * compared in any case. */
enum {
	CST_PLAN_MAX_SEGMENTS = 32,
	CST_PLAN_ID_BLOCK = 4096,
	CST_PLAN_ID_SIZE = 12,
};

/* Is a segment of that type and flags part of the sum? */
static inline int cst_plan_id_has(uint32_t type, uint32_t flags,
				  int has_frame_table)
{
	enum { LOAD = 1, READ = 4, FRAME_TABLE = 0x6474e550 };

	return has_frame_table ? type == FRAME_TABLE
			       : type == LOAD && flags == READ;
}

/* Returns the sum with one more block; the first one is added to 0. */
static inline uint64_t cst_plan_id_more(uint64_t id, const void *block,
					uint64_t size)
{
	const uint64_t both[] = {id, cst_plan_sum(block, size)};

	return cst_plan_sum(both, sizeof(both));
}

/* Makes of the sum what stands for a build-id. */
static inline void cst_plan_id_put(uint64_t id, uint8_t out[CST_PLAN_ID_SIZE])
{
	for (int i = 0; i < CST_PLAN_ID_SIZE; i++)
		out[i] = i < 4 ? 0 : (uint8_t)(id >> 8 * (i - 4));
}

static inline const void *cst_plan_at(const struct cst_plan *plan,
				      const struct cst_plan_part *part)
{
	return (const unsigned char *)plan + part->offset;
}

static inline int cst_plan_has_part(const struct cst_plan *plan,
				    const struct cst_plan_part *part,
				    uint64_t item)
{
	return part->offset >= sizeof(*plan) && part->offset % 8 == 0 &&
	       part->offset + part->n * item <= plan->size - 8ull;
}

static inline int cst_plan_has_area(const struct cst_plan *p)
{
	uint64_t code_end = (uint64_t)p->code_at + p->code_size;
	uint64_t frames_end = (uint64_t)p->frames_at + p->frames_size;
	uint64_t header_end = (uint64_t)p->header_at + p->header_size;

	return p->area.n == p->area_size &&
	       p->area_size % CST_PLAN_AREA_PAGE == 0 &&
	       p->area_size <= 1u << 30 && p->image_size <= 1u << 30 &&
	       p->code_at > 8 * CST_PLAN_STEP_SLOT &&
	       p->code_at % CST_PLAN_AREA_PAGE == 0 &&
	       p->code_size % CST_PLAN_AREA_PAGE == 0 &&
	       code_end <= p->frames_at && frames_end <= p->header_at &&
	       header_end <= p->area_size;
}

static inline int cst_plan_has_patch(const struct cst_plan *p,
				     const struct cst_patch *patch)
{
	uint64_t from_image = patch->address - p->image_at;
	uint64_t end = (uint64_t)p->code_at + p->code_size;

	if (patch->kind > CST_PATCH_HOST || patch->length < 1 ||
	    patch->length > CST_PATCH_MAX ||
	    patch->function >= p->functions.n || from_image >= p->image_size ||
	    patch->length > p->image_size - from_image ||
	    (patch->moved && patch->moved + 4 > patch->length))
		return 0;
	if (patch->kind == CST_PATCH_LANDING)
		return patch->trampoline <= p->functions.n && !patch->hook;
	if (patch->end_hook &&
	    (patch->end_hook <= patch->hook ||
	     patch->end_hook - patch->trampoline >= patch->trampoline_size ||
	     patch->end_kind < CST_PATCH_EXIT ||
	     patch->end_kind > CST_PATCH_TAIL))
		return 0;
	if (patch->kind == CST_PATCH_HOST
		    ? patch->hook != 0
		    : patch->hook <= patch->trampoline ||
			      patch->hook - patch->trampoline >=
				      patch->trampoline_size)
		return 0;
	return patch->trampoline >= p->code_at &&
	       patch->trampoline + (uint64_t)patch->trampoline_size <= end;
}

static inline int cst_plan_has_items(const struct cst_plan *p)
{
	const struct cst_patch *patches =
		(const struct cst_patch *)cst_plan_at(p, &p->patches);
	const struct cst_plan_copy *copies =
		(const struct cst_plan_copy *)cst_plan_at(p, &p->copies);
	const uint32_t *moves = (const uint32_t *)cst_plan_at(p, &p->moves);
	const struct cst_plan_function *functions =
		(const struct cst_plan_function *)cst_plan_at(p, &p->functions);
	const char *names = (const char *)cst_plan_at(p, &p->names);

	for (uint32_t i = 0; i < p->patches.n; i++)
		if (!cst_plan_has_patch(p, &patches[i]) ||
		    (i && patches[i].address < patches[i - 1].address +
						       patches[i - 1].length))
			return 0;
	for (uint32_t i = 0; i < p->copies.n; i++)
		if (copies[i].patch >= p->patches.n ||
		    copies[i].copy < p->code_at ||
		    copies[i].copy - p->code_at >= p->code_size)
			return 0;
	for (uint32_t i = 0; i < p->moves.n; i++)
		if (moves[i] < p->code_at || p->code_size < 4 ||
		    moves[i] - p->code_at > p->code_size - 4)
			return 0;
	for (uint32_t i = 0; i < p->functions.n; i++)
		if (functions[i].name >= p->names.n ||
		    functions[i].reason >= CST_PLAN_REASONS)
			return 0;
	return p->handed <= p->called && p->called <= p->names.n &&
	       (!p->names.n || !names[p->names.n - 1]);
}

/* Returns 1 if the size bytes at plan (a multiple of 8) are a complete plan of
 * this version, all of whose offsets and indexes lie within it. */
static inline int cst_plan_is_valid(const void *plan, uint64_t size)
{
	const struct cst_plan *p = (const struct cst_plan *)plan;
	uint64_t sum;

	if (size < sizeof(*p) + 8 || size % 8 || size > UINT32_MAX ||
	    p->magic != CST_PLAN_MAGIC || p->version != CST_PLAN_VERSION ||
	    p->size != size || p->build_id_size > CST_PLAN_BUILD_ID)
		return 0;
	__builtin_memcpy(&sum, (const char *)plan + size - 8, 8);
	return sum == cst_plan_sum(plan, size - 8) && cst_plan_has_area(p) &&
	       cst_plan_has_part(p, &p->area, 1) &&
	       cst_plan_has_part(p, &p->patches, sizeof(struct cst_patch)) &&
	       cst_plan_has_part(p, &p->copies, sizeof(struct cst_plan_copy)) &&
	       cst_plan_has_part(p, &p->moves, sizeof(uint32_t)) &&
	       cst_plan_has_part(p, &p->functions,
				 sizeof(struct cst_plan_function)) &&
	       cst_plan_has_part(p, &p->names, 1) && cst_plan_has_items(p);
}

#endif
