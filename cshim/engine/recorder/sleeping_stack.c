/* SPDX-License-Identifier: MIT
 *
 * The kernel tells of a waiting thread its stack pointer and where it goes on;
 * the call frame information does the rest, but for code that needs the frame
 * pointer.  libc's calls mostly leave that in its register, which nobody sees
 * from outside: then the frame is looked for on the stack, by the return
 * address of a call of that very function.
 */
#include "recorder/sleeping_stack.h"
#include "base/task_file.h"
#include "elf/x86_64.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

enum {
	PAGE = 4096,
	WORD = 8,
	LOOK_BYTES = 1 << 16, /* how far a frame is looked for */
	MAX_FRAMES = 512,
	/* In the kernel's frame of a signal, from the stack pointer on. */
	SIGNAL_FP = 120,
	SIGNAL_SP = 160,
	SIGNAL_PC = 168,
};

struct memory {
	uint32_t pid;
	uint64_t page; /* what bytes[] are of; 0: nothing */
	uint8_t bytes[PAGE];
};

struct frame {
	uint64_t pc, sp, fp;
	uint8_t has_fp;
	uint8_t is_exact; /* pc is no return address */
};

struct walker {
	struct modules *modules;
	struct memory memory;
};

enum step { STEP_CUT, STEP_UP, STEP_END };

/* ---- what the kernel says --------------------------------------------------
 */

int sleeping_place(uint32_t pid, uint32_t tid, struct sleeping_place *out)
{
	char text[256], *at;

	if (!task_file_read(pid, tid, "syscall", text, sizeof(text)))
		return 0;
	/* "NUMBER ARGUMENTS SP PC", "-1 SP PC" or "running". */
	at = strrchr(text, ' ');
	if (!at || sscanf(at, "%" SCNx64, &out->pc) != 1)
		return 0;
	*at = '\0';
	at = strrchr(text, ' ');
	return at && sscanf(at, "%" SCNx64, &out->sp) == 1;
}

/* ---- memory -----------------------------------------------------------------
 */

static int load_page(struct memory *m, uint64_t page)
{
	struct iovec to = {m->bytes, PAGE}, from = {(void *)page, PAGE};

	if (m->page == page)
		return 1;
	m->page = 0;
	if (page < PAGE ||
	    process_vm_readv((pid_t)m->pid, &to, 1, &from, 1, 0) != PAGE)
		return 0;
	m->page = page;
	return 1;
}

static int read_memory(struct memory *m, uint64_t addr, void *out, uint32_t n)
{
	uint8_t *to = out;

	while (n) {
		uint64_t page = addr & -(uint64_t)PAGE;
		uint32_t at = (uint32_t)(addr - page);
		uint32_t part = n < PAGE - at ? n : PAGE - at;

		if (!load_page(m, page))
			return 0;
		memcpy(to, m->bytes + at, part);
		to += part;
		addr += part;
		n -= part;
	}
	return 1;
}

static int read_word(struct walker *w, uint64_t addr, uint64_t *out)
{
	return read_memory(&w->memory, addr, out, WORD);
}

static uint64_t plus(uint64_t addr, int32_t offset)
{
	return addr + (uint64_t)(int64_t)offset;
}

/* ---- one frame
 * --------------------------------------------------------------- */

static int needs_fp(const struct code *code)
{
	return code->cfa_base == CFA_FP || code->cfa_base == CFA_FP_NEAR;
}

static int find_cfa(struct walker *w, const struct frame *f,
		    const struct code *code, uint64_t *cfa)
{
	switch (code->cfa_base) {
	case CFA_SP:
		*cfa = plus(f->sp, code->cfa_offset);
		return 1;
	case CFA_FP:
		*cfa = plus(f->fp, code->cfa_offset);
		return f->has_fp;
	case CFA_FP_NEAR:
		return f->has_fp &&
		       read_word(w, plus(f->fp, code->cfa_at), cfa);
	default:
		return 0;
	}
}

static void find_fp(struct walker *w, const struct frame *f,
		    const struct code *code, uint64_t cfa, struct frame *caller)
{
	uint64_t base = code->fp_rule == FP_AT_FP ? f->fp : cfa;

	if (code->fp_rule == FP_SAME) {
		caller->fp = f->fp;
		caller->has_fp = f->has_fp;
	} else if (code->fp_rule == FP_AT_CFA ||
		   (code->fp_rule == FP_AT_FP && f->has_fp)) {
		caller->has_fp = (uint8_t)read_word(
			w, plus(base, code->fp_offset), &caller->fp);
	}
}

static enum step leave_handler(struct walker *w, struct frame *f)
{
	uint64_t at = f->sp;

	*f = (struct frame){.has_fp = 1, .is_exact = 1};
	return read_word(w, at + SIGNAL_FP, &f->fp) &&
			       read_word(w, at + SIGNAL_SP, &f->sp) &&
			       read_word(w, at + SIGNAL_PC, &f->pc)
		       ? STEP_UP
		       : STEP_CUT;
}

static enum step step(struct walker *w, struct frame *f,
		      const struct code *code)
{
	struct frame caller = {0};
	uint64_t cfa;

	if (code->is_outermost)
		return STEP_END;
	if (code->is_signal)
		return leave_handler(w, f);
	if (!find_cfa(w, f, code, &cfa) || cfa <= f->sp ||
	    !read_word(w, cfa - WORD, &caller.pc))
		return STEP_CUT;
	find_fp(w, f, code, cfa, &caller);
	caller.sp = cfa;
	*f = caller;
	return f->pc ? STEP_UP : STEP_END;
}

static void code_of(struct walker *w, const struct frame *f, struct code *out)
{
	*out = (struct code){0};
	modules_code(w->modules, f->is_exact ? f->pc : f->pc - 1, out);
}

/* ---- a frame pointer that nobody knows
 * --------------------------------------- */

/* Where a call of a function in another library goes through. */
static uint64_t behind_stub(struct walker *w, uint64_t addr)
{
	uint8_t code[16];
	uint64_t target = 0;
	int32_t offset;
	int at = 0;

	if (!read_memory(&w->memory, addr, code, sizeof(code)))
		return 0;
	if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4)) /* endbr64 */
		at = 4;
	at += code[at] == 0xf2; /* bnd */
	if (code[at] != 0xff || code[at + 1] != 0x25)
		return 0;
	memcpy(&offset, code + at + 2, sizeof(offset));
	read_word(w, plus(addr + (uint64_t)at + 6, offset), &target);
	return target;
}

/* Returns whether what stands before ra calls this very function. */
static int is_call_of(struct walker *w, uint64_t ra, uint64_t function)
{
	uint8_t code[5];
	uint64_t target;
	int32_t offset;

	if (!function || !read_memory(&w->memory, ra - 5, code, sizeof(code)) ||
	    code[0] != 0xe8)
		return 0;
	memcpy(&offset, code + 1, sizeof(offset));
	target = plus(ra, offset);
	return target == function || behind_stub(w, target) == function;
}

/* Returns whether the stack is whole from there on. */
static int is_complete(struct walker *w, struct frame f)
{
	for (int i = 0; i < MAX_FRAMES; i++) {
		struct code code;
		enum step next;

		code_of(w, &f, &code);
		if (!f.is_exact && !modules_is_return(w->modules, f.pc))
			return 0;
		next = step(w, &f, &code);
		if (next != STEP_UP)
			return next == STEP_END;
	}
	return 0;
}

/* Sets f->fp.  A direct call of the function is believed; else the first frame
 * that leads to the begin of the stack. */
static int guess_fp(struct walker *w, struct frame *f, const struct code *code)
{
	uint64_t other = 0;

	for (uint64_t at = f->sp & -(uint64_t)WORD; at < f->sp + LOOK_BYTES;
	     at += WORD) {
		struct frame caller = {.sp = at + 2 * WORD, .has_fp = 1};

		if (!read_word(w, at + WORD, &caller.pc))
			break;
		if (!modules_has(w->modules, caller.pc) ||
		    !modules_is_return(w->modules, caller.pc))
			continue;
		f->fp = at;
		f->has_fp = 1;
		if (is_call_of(w, caller.pc, code->function))
			return 1;
		if (!other && read_word(w, at, &caller.fp) &&
		    is_complete(w, caller))
			other = at;
	}
	f->fp = other;
	f->has_fp = other != 0;
	return f->has_fp;
}

/* ---- the whole
 * ---------------------------------------------------------------- */

uint32_t sleeping_stack(struct modules *modules, uint32_t pid,
			const struct sleeping_place *place, uint64_t *frames,
			uint32_t max, int *is_cut)
{
	struct walker w = {.modules = modules, .memory = {.pid = pid}};
	struct frame f = {.pc = place->pc, .sp = place->sp, .is_exact = 1};
	enum step next = STEP_UP;
	uint32_t n = 0;

	while (next == STEP_UP && n < max) {
		struct code code;

		frames[n++] = f.is_exact ? f.pc : f.pc - 1;
		code_of(&w, &f, &code);
		if (needs_fp(&code) && !f.has_fp && !guess_fp(&w, &f, &code))
			break;
		next = step(&w, &f, &code);
	}
	*is_cut = next != STEP_END;
	return n;
}
