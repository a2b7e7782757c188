/* SPDX-License-Identifier: MIT
 *
 * Walks a stack from the place where a signal interrupted it.  Nothing is read
 * that cannot be: what the kernel says of a page counts for one sample.
 */
#include "sampler.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/syscall.h>

enum { PAGE = 4096, WORD = 8 };

/* errno stays as it was: the handler saves it. */
static int page_is_readable(uint64_t page)
{
	long result;
	register long size __asm__("r10") = WORD;

	/* rt_sigprocmask() reads a mask, and only then finds that nobody can do
	 * number -1 with it: EFAULT or EINVAL. */
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_rt_sigprocmask), "D"(-1l), "S"(page),
			   "d"(0l), "r"(size)
			 : "rcx", "r11", "memory");
	return result == -22;
}

int is_readable(struct walk *w, uint64_t addr)
{
	uint64_t from = addr & -(uint64_t)PAGE;
	uint64_t to = (addr + WORD - 1) & -(uint64_t)PAGE;

	/* Nothing is added to an address that may be -8, say. */
	if (addr >= w->readable_from && addr < w->readable_to &&
	    w->readable_to - addr >= WORD)
		return 1;
	if (addr < PAGE || addr >> 47 || !page_is_readable(from) ||
	    (to != from && !page_is_readable(to)))
		return 0;
	to += PAGE;
	if (from == w->readable_to) {
		w->readable_to = to;
	} else {
		w->readable_from = from;
		w->readable_to = to;
	}
	return 1;
}

static int read_word(struct walk *w, uint64_t addr, uint64_t *out)
{
	if (!is_readable(w, addr))
		return 0;
	memcpy(out, (const void *)addr, sizeof(*out));
	return 1;
}

static int has_code(uint64_t pc)
{
	struct dl_find_object object;

	return _dl_find_object((void *)pc, &object) == 0;
}

/* 0: the CFA is not known. */
static int rule_cfa(struct walk *w, const struct rule *r, uint64_t *cfa)
{
	uint64_t offset = (uint64_t)(int64_t)r->cfa_offset;

	switch (r->cfa) {
	case CFA_IS_SP:
		*cfa = w->sp + offset;
		return 1;
	case CFA_IS_FP:
		*cfa = w->fp + offset;
		return 1;
	case CFA_AT_SP:
		return read_word(w, w->sp + offset, cfa);
	case CFA_AT_FP:
		return read_word(w, w->fp + offset, cfa);
	default:
		return 0;
	}
}

/* 0: there is no caller that is known. */
static int walk_up(struct walk *w, const struct rule *r)
{
	uint64_t cfa, ra, fp = w->fp, base;

	/* Stacks grow down: only an interrupted frame may be on another. */
	if (!rule_cfa(w, r, &cfa) || (cfa <= w->sp && !r->is_signal))
		return 0;
	base = r->ra_base == BASE_SP ? w->sp : cfa;
	if (!read_word(w, base + (uint64_t)(int64_t)r->ra_offset, &ra))
		return 0;
	base = r->fp_base == BASE_SP ? w->sp : cfa;
	if (r->fp_base == BASE_LOST)
		fp = 0;
	else if (r->fp_base != BASE_SAME &&
		 !read_word(w, base + (uint64_t)(int64_t)r->fp_offset, &fp))
		return 0;
	if (r->is_guess && !has_code(ra - 1))
		return 0;
	*w = (struct walk){.pc = ra,
			   .sp = cfa,
			   .fp = fp,
			   .readable_from = w->readable_from,
			   .readable_to = w->readable_to,
			   .is_exact = r->is_signal};
	return 1; /* an address of 0 ends the stack */
}

void walk_begin(struct walk *w, const ucontext_t *context)
{
	const greg_t *r = context->uc_mcontext.gregs;

	*w = (struct walk){.pc = (uint64_t)r[REG_RIP],
			   .sp = (uint64_t)r[REG_RSP],
			   .fp = (uint64_t)r[REG_RBP],
			   .is_exact = 1};
}

int walk_next(struct walk *w, uint64_t *out)
{
	struct rule r;

	if (!w->pc)
		return 0;
	*out = w->is_exact ? w->pc : w->pc - 1;
	rules_find(*out, &r);
	if (r.cfa == CFA_END) {
		w->pc = 0;
	} else if (!walk_up(w, &r)) {
		w->pc = 0;
		w->is_cut = 1;
	}
	return 1;
}
