/* SPDX-License-Identifier: MIT
 *
 * Walks through trampolines, instruction by instruction.
 */
#include "checker.h"

#include <string.h>

struct walk {
	struct check *c;
	const struct cst_patch *p;
	const struct cst_plan_function *function;
	uint32_t at; /* in the area */
	uint32_t end;
};

static const uint8_t *code(const struct walk *w)
{
	return w->c->plan->area + w->at;
}

static int bad(struct walk *w, const char *what)
{
	return wrong(w->c, w->p, what, w->at);
}

/* What stands for the slot in the walk's plan. */
static enum cst_plan_slot slot_of(const struct walk *w, enum cst_plan_slot slot)
{
	int is_shared = w->function->ends_others;

	if (!w->c->plan->header->is_border && !w->function->is_stub)
		return slot;
	switch (slot) {
	case CST_SLOT_ENTER:
		return CST_SLOT_BORDER_ENTER;
	case CST_SLOT_EXIT:
		return is_shared ? CST_SLOT_BORDER_RETURN
				 : CST_SLOT_BORDER_EXIT;
	case CST_SLOT_TAIL:
		return is_shared ? CST_SLOT_BORDER_PASS : CST_SLOT_BORDER_TAIL;
	default:
		return CST_PLAN_SLOTS; /* there is none */
	}
}

/* Does the call that ends at `at` of the area go through the slot's gate? */
static int is_call_of(const struct walk *w, uint32_t at,
		      enum cst_plan_slot slot)
{
	uint32_t gate = w->c->plan->header->code_at + CST_PLAN_GATE * slot;
	const uint8_t *area = w->c->plan->area;

	return area[at - 5] == 0xe8 &&
	       near_target(area + at - 5, 5, at - 5) == gate &&
	       !memcmp(area + gate, "\xff\x25", 2) &&
	       near_target(area + gate, 6, gate) == 8u * slot;
}

/* lea function(%rip), %rax, at that distance, and call gate; the hook has
 * `size` bytes in all. */
static int take_slot_call(struct walk *w, uint32_t lea, uint32_t hook,
			  enum cst_plan_slot slot, uint32_t size)
{
	if (near_target(code(w) + lea, 7, area_addr(w->c, w->at + lea)) !=
	    w->function->address)
		return bad(w, "another function");
	if (hook != w->at + lea + 12 || !is_call_of(w, hook, slot))
		return bad(w, "another slot");
	w->at += size;
	return 1;
}

/* push %rax; lea function(%rip), %rax; call gate; pop %rax */
static int take_hook(struct walk *w, enum cst_plan_slot slot, uint32_t hook)
{
	const uint8_t *b = code(w);

	if (w->end - w->at < 14 || b[0] != 0x50 ||
	    memcmp(b + 1, "\x48\x8d\x05", 3) || b[13] != 0x58)
		return bad(w, "no hook");
	return take_slot_call(w, 1, hook, slot_of(w, slot), 14);
}

/* Is the patch where a function has only set its frame pointer? */
static int is_begun(const struct walk *w)
{
	const uint8_t *bytes =
		facts_bytes(&w->c->facts, w->function->address, 8);
	uint64_t at = w->function->address;

	if (bytes && !memcmp(bytes, "\xf3\x0f\x1e\xfa", 4)) {
		bytes += 4;
		at += 4;
	}
	return bytes && !memcmp(bytes, "\x55\x48\x89\xe5", 4) &&
	       w->p->address == at + 4;
}

/* The hook behind a prologue, with all that is in use around it saved. */
static int take_framed_hook(struct walk *w)
{
	const uint8_t *b = code(w);

	if (w->end - w->at < 43 ||
	    memcmp(b, "\x48\x8d\x64\x24\x80\x50\x9f\x0f\x90\xc0\x50", 11) ||
	    memcmp(b + 11, "\x48\x8b\x44\x24\x08\x50\x48\x8d\x05", 9) ||
	    memcmp(b + 29, "\x58\x58\x04\x7f\x9e\x58", 6) ||
	    memcmp(b + 35, "\x48\x8d\xa4\x24\x80\0\0\0", 8))
		return bad(w, "no hook of a frame");
	return take_slot_call(w, 17, w->p->hook,
			      is_begun(w) ? CST_SLOT_BEGUN : CST_SLOT_FRAMED,
			      43);
}

int is_framed(const struct check *c, const struct cst_patch *p)
{
	return p->kind == CST_PATCH_ENTRY &&
	       c->plan->area[p->trampoline] == 0x48;
}

unsigned is_deep(const struct check *c, const struct cst_patch *p)
{
	const uint8_t *b = c->plan->area + p->trampoline + 11;

	if (!is_framed(c, p))
		return 0;
	return !memcmp(b, "\x48\x8d\x84\x24", 4)   ? 8
	       : !memcmp(b, "\x48\x8d\x45\x08", 4) ? 4
						   : 0;
}

uint32_t deep_cfa(const struct check *c, const struct cst_patch *p)
{
	const uint8_t *b = c->plan->area + p->trampoline + 15;
	uint32_t above;

	if (is_deep(c, p) != 8)
		return 0;
	memcpy(&above, b, sizeof(above));
	return above + 8 - 144;
}

/* The like of a framed hook, which tells where the return address is. */
static int take_deep_hook(struct walk *w)
{
	unsigned n = is_deep(w->c, w->p); /* bytes that find the place */
	const uint8_t *b = code(w);

	if (w->end - w->at < 48 + n ||
	    memcmp(b, "\x48\x8d\x64\x24\x80\x50\x9f\x0f\x90\xc0\x50", 11))
		return bad(w, "no deep hook");
	b += 11 + n;
	if (memcmp(b, "\x50\x48\x8b\x44\x24\x10\x50\x48\x8d\x05", 10) ||
	    memcmp(b + 19, "\x48\x8d\x64\x24\x10\x58\x04\x7f\x9e\x58", 10) ||
	    memcmp(b + 29, "\x48\x8d\xa4\x24\x80\0\0\0", 8))
		return bad(w, "no deep hook");
	return take_slot_call(w, 18 + n, w->p->hook, CST_SLOT_DEEP, 48 + n);
}

static int take_jump(struct walk *w, uint64_t target)
{
	if (w->end - w->at < 5 || *code(w) != 0xe9 ||
	    near_target(code(w), 5, area_addr(w->c, w->at)) != target)
		return bad(w, "it jumps elsewhere");
	w->at += 5;
	return 1;
}

/* A call becomes: lea -8(%rsp), %rsp; push %rax; lea return(%rip), %rax; mov
 * %rax, 8(%rsp); pop %rax; and a jump. */
static int take_call(struct walk *w, const struct decoded *d, uint64_t addr)
{
	const uint8_t *b = code(w);
	uint64_t back = addr + d->is.length, data = data_of(d, addr);

	if (memcmp(b, "\x48\x8d\x64\x24\xf8\x50\x48\x8d\x05", 9) ||
	    memcmp(b + 13, "\x48\x89\x44\x24\x08\x58", 6) ||
	    near_target(b + 6, 7, area_addr(w->c, w->at + 6)) != back ||
	    !(w->p->flags & CST_PATCH_PUSHES))
		return bad(w, "a call is another");
	w->at += 19;
	if (target_of(d, addr))
		return take_jump(w, target_of(d, addr));
	if (memcmp(code(w), "\xff\x25", 2) ||
	    near_target(code(w), 6, area_addr(w->c, w->at)) != data)
		return bad(w, "an indirect call is another");
	w->at += 6;
	return 1;
}

/* Equal but for the distance of what one of them has relative to itself. */
static int take_same(struct walk *w, const struct decoded *old,
		     const uint8_t *bytes, uint64_t addr)
{
	struct decoded new;
	unsigned n = decode(&new, code(w), w->end - w->at);
	uint64_t at = area_addr(w->c, w->at);
	unsigned disp = old->is.raw.disp.offset;

	if (!n || new.is.mnemonic != old->is.mnemonic ||
	    target_of(old, addr) != target_of(&new, at) ||
	    data_of(old, addr) != data_of(&new, at))
		return bad(w, "an instruction is another");
	w->at += n;
	if (target_of(old, addr))
		return 1;
	if (n != old->is.length)
		return bad(w, "an instruction has another length");
	for (unsigned i = 0; i < n; i++)
		if (bytes[i] != code(w)[(int)i - (int)n] &&
		    !(data_of(old, addr) && i >= disp && i < disp + 4))
			return bad(w, "an instruction has other operands");
	return 1;
}

static int ends_line(const struct decoded *d)
{
	return d->is.meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
	       d->is.meta.category == ZYDIS_CATEGORY_RET ||
	       d->is.meta.category == ZYDIS_CATEGORY_CALL ||
	       d->is.mnemonic == ZYDIS_MNEMONIC_UD2 ||
	       d->is.mnemonic == ZYDIS_MNEMONIC_HLT ||
	       d->is.mnemonic == ZYDIS_MNEMONIC_INT3;
}

int has_ending(const struct cst_patch *p)
{
	return p->kind == CST_PATCH_EXIT || p->kind == CST_PATCH_TAIL ||
	       p->end_hook;
}

static int take_end_hook(struct walk *w)
{
	const struct cst_patch *p = w->p;

	if (p->kind != CST_PATCH_ENTRY)
		return take_hook(w,
				 p->kind == CST_PATCH_TAIL ? CST_SLOT_TAIL
							   : CST_SLOT_EXIT,
				 p->hook);
	return take_hook(w,
			 p->end_kind == CST_PATCH_TAIL ? CST_SLOT_TAIL
						       : CST_SLOT_EXIT,
			 p->end_hook);
}

static uint32_t end_hook(const struct cst_patch *p)
{
	return p->kind == CST_PATCH_ENTRY ? p->end_hook : p->hook;
}

/* lea -128(%rsp), %rsp; push %rax; lea function(%rip), %rax */
static int is_early_hook(const struct walk *w)
{
	return w->end - w->at >= 27 &&
	       !memcmp(code(w), "\x48\x8d\x64\x24\x80\x50\x48\x8d\x05", 9);
}

/* The end's hook, where rbp still finds the return address. */
static int take_early_hook(struct walk *w, uint64_t addr)
{
	if (memcmp(code(w) + 18, "\x58\x48\x8d\xa4\x24\x80\0\0\0", 9))
		return bad(w, "no hook of a frame's end");
	if (!has_frame(w->c, addr))
		return bad(w, "there is no frame");
	return take_slot_call(w, 6, end_hook(w->p),
			      slot_of(w, CST_SLOT_FRAMED_EXIT), 27);
}

/* Has the result been made before it? */
static int gives_up(const struct decoded *d)
{
	return d->is.mnemonic == ZYDIS_MNEMONIC_POP ||
	       d->is.mnemonic == ZYDIS_MNEMONIC_LEAVE ||
	       d->is.mnemonic == ZYDIS_MNEMONIC_RET ||
	       (d->is.mnemonic == ZYDIS_MNEMONIC_ADD &&
		d->of[0].reg.value == ZYDIS_REGISTER_RSP);
}

/* The copies of the patch's instructions, in order and without a hole; *end is
 * set to what lies behind the last of them. */
static int take_copies(struct walk *w, unsigned patch, uint64_t *end)
{
	const struct plan *plan = w->c->plan;
	unsigned i = w->c->first_copy[patch], n = plan->header->copies.n;
	int has_end = has_ending(w->p);
	uint64_t addr = w->p->address;
	struct decoded d = {0};
	int is_early = 0;

	if (!i--)
		return bad(w, "nothing is displaced");
	for (; i < n && plan->copies[i].patch == patch; i++) {
		const uint8_t *bytes;
		uint64_t left = 16;

		while (left && !facts_bytes(&w->c->facts, addr, left))
			left--;
		bytes = facts_bytes(&w->c->facts, addr, left);
		if (plan->copies[i].address != addr || !decode(&d, bytes, left))
			return bad(w, "an instruction is left out");
		if (has_end && !is_early && is_early_hook(w)) {
			is_early = 1;
			if (!take_early_hook(w, addr))
				return 0;
		}
		if (is_early && !gives_up(&d))
			return bad(w, "the end is reported too early");
		if (has_end && !is_early &&
		    (i + 1 == n || plan->copies[i + 1].patch != patch) &&
		    !take_end_hook(w))
			return 0;
		if (plan->copies[i].copy != w->at)
			return bad(w, "a copy is elsewhere");
		w->c->n_copies++;
		if (d.is.meta.category == ZYDIS_CATEGORY_CALL
			    ? !take_call(w, &d, addr)
			    : !take_same(w, &d, bytes, addr))
			return 0;
		addr += d.is.length;
	}
	*end = addr;
	return ends_line(&d) || take_jump(w, addr);
}

/* sub $8, %rsp; call *data(%rip); add $8, %rsp; the end's hook; ret */
static int take_stub_call(struct walk *w, uint64_t *end)
{
	const uint8_t *b = facts_bytes(&w->c->facts, w->p->address, 7);
	struct decoded d;

	if (!decode(&d, b, 7) || memcmp(code(w), "\x48\x83\xec\x08", 4) ||
	    memcmp(code(w) + 4, "\xff\x15", 2) ||
	    memcmp(code(w) + 10, "\x48\x83\xc4\x08", 4) ||
	    near_target(code(w) + 4, 6, area_addr(w->c, w->at + 4)) !=
		    data_of(&d, w->p->address))
		return bad(w, "it calls another function");
	w->at += 14;
	if (!take_hook(w, CST_SLOT_EXIT, w->p->end_hook) || *code(w) != 0xc3)
		return bad(w, "it does not return");
	w->at++;
	*end = w->p->address + d.is.length;
	return 1;
}

int check_trampoline(struct check *c, unsigned patch, uint64_t *end)
{
	const struct cst_patch *p = &c->plan->patches[patch];
	struct walk w = {.c = c,
			 .p = p,
			 .function = &c->plan->functions[p->function],
			 .at = p->trampoline,
			 .end = p->trampoline + p->trampoline_size};
	uint64_t target;

	*end = p->address;
	if (p->length == 6) {
		target = near_target(p->old_bytes, 6, p->address);
		if (!take_hook(&w, CST_SLOT_TAIL, p->hook) ||
		    !take_jump(&w, target))
			return 0;
	} else {
		if (p->kind == CST_PATCH_ENTRY &&
		    !(is_deep(c, p) ? take_deep_hook(&w)
		      : is_framed(c, p)
			      ? take_framed_hook(&w)
			      : take_hook(&w, CST_SLOT_ENTER, p->hook)))
			return 0;
		if (w.function->is_stub && p->end_hook
			    ? !take_stub_call(&w, end)
			    : !take_copies(&w, patch, end))
			return 0;
	}
	return w.at == w.end || bad(&w, "there is more in it");
}
