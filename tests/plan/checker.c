/* SPDX-License-Identifier: MIT
 *
 *     checker [--functions REGEX] [--for-gdb 1] [--write PLAN] FILE...
 *
 * Plans each file and holds the plan against the file's bytes: what a patch
 * covers, and what its trampoline does instead.  Prints a line of JSON for each
 * file, and what is wrong on stderr.  Status 1: something is wrong.
 */
#include "facts.h"
#include "plan/plan_make.h"

#include <dwarf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct check {
	const char *path;
	const struct plan *plan;
	struct facts facts;
	unsigned *first_copy; /* by patch: index + 1 of its first copy */
	unsigned n_wrong, n_copies;
	unsigned *n_entries, *n_ends; /* by function */
};

static int wrong(struct check *c, const struct cst_patch *p, const char *what,
		 uint64_t addr)
{
	if (c->n_wrong++ < 20)
		fprintf(stderr, "%s: patch at %lx (%s): %s, at %lx\n", c->path,
			p->address, plan_name(c->plan, p->function), what,
			addr);
	return 0;
}

static uint64_t area_addr(const struct check *c, uint64_t offset)
{
	return (uint64_t)c->plan->header->area_at + offset;
}

static uint64_t near_target(const uint8_t *bytes, unsigned n, uint64_t addr)
{
	int32_t distance;

	memcpy(&distance, bytes + n - 4, 4);
	return addr + n + (uint64_t)distance;
}

/* ---- what a patch covers ------------------------------------------------- */

static int is_clear(struct check *c, const struct cst_patch *p, uint64_t end)
{
	for (uint64_t at = p->address + 1; at < end; at++) {
		uint8_t facts = facts_at(&c->facts, at);

		if (facts & FACT_TARGET)
			return wrong(c, p, "something jumps into it", at);
		if (facts & FACT_RETURN)
			return wrong(c, p, "a call returns into it", at);
		if (facts & FACT_ROW)
			return wrong(c, p, "a line begins in it", at);
	}
	return 1;
}

static int is_filler(const struct decoded *d, const uint8_t *bytes)
{
	return d->is.meta.category == ZYDIS_CATEGORY_NOP ||
	       d->is.meta.category == ZYDIS_CATEGORY_WIDENOP ||
	       d->is.mnemonic == ZYDIS_MNEMONIC_INT3 ||
	       d->is.mnemonic == ZYDIS_MNEMONIC_HLT ||
	       (d->is.length == 2 && bytes[1] == 0x90);
}

static int is_filled(struct check *c, uint64_t at, uint64_t end)
{
	struct decoded d;

	for (; at < end; at += d.is.length) {
		uint64_t left = 16;

		while (left && !facts_bytes(&c->facts, at, left))
			left--;
		if (!decode(&d, facts_bytes(&c->facts, at, left), left) ||
		    !is_filler(&d, facts_bytes(&c->facts, at, left)) ||
		    facts_at(&c->facts, at) & (FACT_TARGET | FACT_RETURN))
			return 0;
	}
	return 1;
}

/* A patch may begin within an instruction that only fills. */
static int is_padding(struct check *c, const struct cst_patch *p,
		      uint64_t start, uint64_t end)
{
	for (uint64_t back = 0; back < 15; back++)
		if (is_filled(c, start - back, end))
			return 1;
	return wrong(c, p, "it covers more than padding", start);
}

/* ---- what a jump is written to ------------------------------------------- */

static int leads_to(struct check *c, const struct cst_patch *p)
{
	uint64_t to, wanted = area_addr(c, p->trampoline);
	const uint8_t *b = p->new_bytes;

	if (b[0] == 0xeb && p->length == 2) {
		to = p->address + 2 + (uint64_t)(int8_t)b[1];
		for (unsigned i = 0; i < c->plan->header->patches.n; i++) {
			const struct cst_patch *l = &c->plan->patches[i];

			if (l->kind == CST_PATCH_LANDING && l->address == to)
				return near_target(l->new_bytes, 5, to) ==
					       wanted ||
				       wrong(c, p, "its landing is wrong", to);
		}
		return wrong(c, p, "it has no landing", to);
	}
	if (b[0] == 0xe9 && p->length == 5)
		return near_target(b, 5, p->address) == wanted ||
		       wrong(c, p, "it goes elsewhere", 0);
	if (b[0] == 0x0f && (b[1] & 0xf0) == 0x80 && p->length == 6)
		return (near_target(b, 6, p->address) == wanted &&
			!memcmp(b, p->old_bytes, 2)) ||
		       wrong(c, p, "it goes elsewhere", 0);
	return wrong(c, p, "it is no jump", 0);
}

/* ---- trampolines --------------------------------------------------------- */

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
	if (!w->c->plan->header->is_border)
		return slot;
	if (slot == CST_SLOT_ENTER)
		return CST_SLOT_BORDER_ENTER;
	if (slot != CST_SLOT_EXIT)
		return CST_PLAN_SLOTS; /* there is none */
	return w->function->reason == CST_PLAN_ENDS_OTHERS
		       ? CST_SLOT_BORDER_RETURN
		       : CST_SLOT_BORDER_EXIT;
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

/* push %rax; lea function(%rip), %rax; call gate; pop %rax */
static int take_hook(struct walk *w, enum cst_plan_slot slot, uint32_t hook)
{
	const uint8_t *b = code(w);

	slot = slot_of(w, slot);

	if (w->end - w->at < 14 || b[0] != 0x50 ||
	    memcmp(b + 1, "\x48\x8d\x05", 3) || b[13] != 0x58)
		return bad(w, "no hook");
	if (near_target(b + 1, 7, area_addr(w->c, w->at + 1)) !=
	    w->function->address)
		return bad(w, "another function");
	if (hook != w->at + 13 || !is_call_of(w, hook, slot))
		return bad(w, "another slot");
	w->at += 14;
	return 1;
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
	if (near_target(b + 17, 7, area_addr(w->c, w->at + 17)) !=
	    w->function->address)
		return bad(w, "another function");
	if (w->p->hook != w->at + 29 ||
	    !is_call_of(w, w->p->hook,
			is_begun(w) ? CST_SLOT_BEGUN : CST_SLOT_FRAMED))
		return bad(w, "another slot");
	w->at += 43;
	return 1;
}

static int is_framed(const struct check *c, const struct cst_patch *p)
{
	return p->kind == CST_PATCH_ENTRY &&
	       c->plan->area[p->trampoline] == 0x48;
}

/* How far above the stack pointer a deep entry says that the CFA is; 0: it is
 * none. */
static uint32_t deep_cfa(const struct check *c, const struct cst_patch *p)
{
	const uint8_t *b = c->plan->area + p->trampoline + 11;
	uint32_t above;

	if (!is_framed(c, p) || memcmp(b, "\x48\x8d\x84\x24", 4))
		return 0;
	memcpy(&above, b + 4, sizeof(above));
	return above + 8 - 144;
}

/* The like of a framed hook, which tells where the return address is. */
static int take_deep_hook(struct walk *w)
{
	const uint8_t *b = code(w);

	if (w->end - w->at < 56 ||
	    memcmp(b, "\x48\x8d\x64\x24\x80\x50\x9f\x0f\x90\xc0\x50", 11) ||
	    memcmp(b + 19, "\x50\x48\x8b\x44\x24\x10\x50\x48\x8d\x05", 10) ||
	    memcmp(b + 38, "\x48\x8d\x64\x24\x10\x58\x04\x7f\x9e\x58", 10) ||
	    memcmp(b + 48, "\x48\x8d\xa4\x24\x80\0\0\0", 8))
		return bad(w, "no deep hook");
	if (near_target(b + 26, 7, area_addr(w->c, w->at + 26)) !=
	    w->function->address)
		return bad(w, "another function");
	if (w->p->hook != w->at + 38 ||
	    !is_call_of(w, w->p->hook, CST_SLOT_DEEP))
		return bad(w, "another slot");
	w->at += 56;
	return 1;
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

/* Does a call end in its trampoline? */
static int has_ending(const struct cst_patch *p)
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

/* The copies of the patch's instructions, in order and without a hole; *end is
 * set to what lies behind the last of them. */
static int take_copies(struct walk *w, unsigned patch, uint64_t *end)
{
	const struct plan *plan = w->c->plan;
	unsigned i = w->c->first_copy[patch], n = plan->header->copies.n;
	int has_end = has_ending(w->p);
	uint64_t addr = w->p->address;
	struct decoded d = {0};

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
		if (has_end &&
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

static int check_trampoline(struct check *c, unsigned patch, uint64_t *end)
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
		    !(deep_cfa(c, p) ? take_deep_hook(&w)
		      : is_framed(c, p)
			      ? take_framed_hook(&w)
			      : take_hook(&w, CST_SLOT_ENTER, p->hook)))
			return 0;
		if (!take_copies(&w, patch, end))
			return 0;
	}
	return w.at == w.end || bad(&w, "there is more in it");
}

/* ---- where the return address is ----------------------------------------- */

/* Does the CFA lie that far above the register? */
static int is_cfa(const struct check *c, uint64_t addr, unsigned reg,
		  unsigned offset)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops = NULL;
	size_t n = 0;
	int is_it;

	if (dwarf_cfi_addrframe(c->facts.frames, addr, &frame))
		return 0;
	is_it = !dwarf_frame_cfa(frame, &ops, &n) && n == 1 &&
		((ops[0].atom == DW_OP_breg0 + reg &&
		  ops[0].number == offset) ||
		 (ops[0].atom == DW_OP_bregx && ops[0].number == reg &&
		  ops[0].number2 == offset));
	free(frame);
	return is_it;
}

static int is_bare(const struct check *c, uint64_t addr)
{
	return is_cfa(c, addr, 7, 8);
}

/* May the instruction change a register that holds an argument, or how many of
 * them are vectors? */
static int changes_argument(const struct decoded *d)
{
	for (int i = 0; i < d->is.operand_count; i++) {
		const ZydisDecodedOperand *o = &d->of[i];
		ZydisRegister all = ZydisRegisterGetLargestEnclosing(
			ZYDIS_MACHINE_MODE_LONG_64, o->reg.value);

		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    !(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (all != ZYDIS_REGISTER_RSP && all != ZYDIS_REGISTER_RBX &&
		    all != ZYDIS_REGISTER_RBP &&
		    (all < ZYDIS_REGISTER_R10 || all > ZYDIS_REGISTER_R15) &&
		    o->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN)
			return 1;
	}
	return 0;
}

/* Nothing but a straight line leads from the function's begin to an entry that
 * is behind the prologue; to a deep one with all arguments in their registers.
 */
static int check_framed(struct check *c, const struct cst_patch *p)
{
	uint64_t addr = c->plan->functions[p->function].address;
	uint32_t cfa = deep_cfa(c, p);
	struct decoded d;

	if (cfa ? !is_cfa(c, p->address, 7, cfa)
		: !is_cfa(c, p->address, 6, 16))
		return wrong(c, p, "there is no frame", p->address);
	while (addr < p->address) {
		const uint8_t *bytes = facts_bytes(&c->facts, addr, 16);

		if (!decode(&d, bytes, 16) || target_of(&d, addr) ||
		    d.is.meta.category == ZYDIS_CATEGORY_RET)
			return wrong(c, p, "too late in the function", addr);
		if (cfa && changes_argument(&d))
			return wrong(c, p, "an argument is lost", addr);
		addr += d.is.length;
		if (facts_at(&c->facts, addr) & (FACT_TARGET | FACT_RETURN))
			return wrong(c, p, "something jumps there", addr);
	}
	return addr == p->address ||
	       wrong(c, p, "it begins within an instruction", addr);
}

/* Flags and the red zone are free where functions begin, and nothing before an
 * entry may have set the one or used the other. */
static int check_entry(struct check *c, const struct cst_patch *p)
{
	uint64_t addr = c->plan->functions[p->function].address;
	struct decoded d;

	if (is_framed(c, p))
		return check_framed(c, p);
	if (!is_bare(c, p->address))
		return wrong(c, p, "the stack is not as at a call", p->address);
	while (addr < p->address) {
		const uint8_t *bytes = facts_bytes(&c->facts, addr, 16);

		if (!decode(&d, bytes, 16))
			return wrong(c, p, "cannot be decoded", addr);
		if (d.is.mnemonic != ZYDIS_MNEMONIC_ENDBR64 &&
		    (d.is.cpu_flags->modified | d.is.cpu_flags->set_0 |
			     d.is.cpu_flags->set_1 |
			     d.is.cpu_flags->undefined ||
		     d.of[0].type != ZYDIS_OPERAND_TYPE_REGISTER))
			return wrong(c, p, "too late in the function", addr);
		addr += d.is.length;
	}
	return addr == p->address ||
	       wrong(c, p, "it begins within an instruction", addr);
}

static int is_end_bare(struct check *c, const struct cst_patch *p, uint64_t end)
{
	uint64_t last = p->address;
	struct decoded d;

	for (uint64_t addr = p->address; addr < end; addr += d.is.length) {
		uint64_t left = end - addr;

		last = addr;
		if (!decode(&d, facts_bytes(&c->facts, addr, left), left))
			return 0;
	}
	return is_bare(c, last);
}

/* A landing in an entry or a host lies behind its jump, in what it displaces.
 */
static int is_hosted(struct check *c, const struct cst_patch *l)
{
	const struct plan *plan = c->plan;
	uint64_t end = 0;

	for (unsigned i = 0; i < plan->header->patches.n; i++) {
		const struct cst_patch *p = &plan->patches[i];

		if ((p->kind != CST_PATCH_ENTRY && p->kind != CST_PATCH_HOST) ||
		    p->function != l->trampoline - 1 ||
		    p->address + p->length != l->address)
			continue;
		for (unsigned k = c->first_copy[i] - 1;
		     k < plan->header->copies.n && plan->copies[k].patch == i;
		     k++) {
			uint64_t at = plan->copies[k].address;
			struct decoded d;

			end = at +
			      decode(&d, facts_bytes(&c->facts, at, 15), 15);
		}
		return l->address + l->length <= end ||
		       wrong(c, l, "it lies outside of its host", p->address);
	}
	return wrong(c, l, "it has no host", l->address);
}

static int check_patch(struct check *c, unsigned i)
{
	const struct cst_patch *p = &c->plan->patches[i];
	const uint8_t *old = facts_bytes(&c->facts, p->address, p->length);
	uint64_t end, patched = p->address + p->length;

	if (!old || memcmp(old, p->old_bytes, p->length))
		return wrong(c, p, "the file has other bytes", p->address);
	if (p->kind == CST_PATCH_LANDING)
		return p->trampoline ? is_hosted(c, p)
				     : is_padding(c, p, p->address, patched);
	if (p->kind == CST_PATCH_ENTRY)
		c->n_entries[p->function]++;
	if (has_ending(p))
		c->n_ends[p->function]++;
	if (!leads_to(c, p) || !check_trampoline(c, i, &end))
		return 0;
	if (p->length != 6 && end < patched && !is_padding(c, p, end, patched))
		return 0;
	if (p->kind == CST_PATCH_ENTRY && !check_entry(c, p))
		return 0;
	if (p->kind == CST_PATCH_TAIL && !is_end_bare(c, p, end))
		return wrong(c, p, "the stack is not as at a call", end);
	return is_clear(c, p, end > patched ? end : patched);
}

/* ---- call frame information ---------------------------------------------- */

static int32_t number_at(const struct plan *p, uint32_t at)
{
	int32_t number;

	memcpy(&number, p->area + at, 4);
	return number;
}

/* The search table is sorted, and leads to an FDE of the gates and of each
 * trampoline. */
static void check_frames(struct check *c)
{
	const struct plan *p = c->plan;
	uint32_t at = p->header->header_at;
	uint32_t n = (uint32_t)number_at(p, at + 8), last = 0, n_found = 1;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t start = at + (uint32_t)number_at(p, at + 12 + 8 * i);
		uint32_t fde = at + (uint32_t)number_at(p, at + 16 + 8 * i);

		if (start <= last || fde < p->header->frames_at ||
		    start != fde + 8 + (uint32_t)number_at(p, fde + 8)) {
			fprintf(stderr, "%s: frame %u is wrong\n", c->path, i);
			c->n_wrong++;
		}
		last = start;
	}
	for (uint32_t i = 0; i < p->header->patches.n; i++)
		n_found += p->patches[i].kind != CST_PATCH_LANDING;
	if (n_found != n) {
		fprintf(stderr, "%s: %u frames for %u\n", c->path, n, n_found);
		c->n_wrong++;
	}
}

/* ---- files --------------------------------------------------------------- */

static void check_functions(struct check *c)
{
	for (uint32_t i = 0; i < c->plan->header->functions.n; i++) {
		const struct cst_plan_function *f = &c->plan->functions[i];

		int has_ends = !f->reason || f->reason == CST_PLAN_ENDS_OTHERS;

		if (c->n_entries[i] == !f->reason &&
		    c->n_ends[i] == (has_ends ? f->n_exits : 0))
			continue;
		fprintf(stderr, "%s: %s (%lx) has %u entries, %u ends of %u\n",
			c->path, plan_name(c->plan, i), f->address,
			c->n_entries[i], c->n_ends[i], f->n_exits);
		c->n_wrong++;
	}
}

static void check_plan(struct check *c)
{
	const struct cst_plan *h = c->plan->header;

	c->first_copy = calloc(h->patches.n + 1, sizeof(unsigned));
	c->n_entries = calloc(h->functions.n + 1, sizeof(unsigned));
	c->n_ends = calloc(h->functions.n + 1, sizeof(unsigned));
	for (uint32_t i = h->copies.n; i-- > 0;)
		c->first_copy[c->plan->copies[i].patch] = i + 1;
	for (uint32_t i = 0; i < h->patches.n; i++)
		check_patch(c, i);
	check_functions(c);
	check_frames(c);
	free(c->first_copy);
	free(c->n_entries);
	free(c->n_ends);
}

static void tell(const struct check *c, double ms)
{
	const struct cst_plan *h = c->plan->header;
	unsigned n_traced = 0, n_exits = 0, n_missed = 0;

	for (uint32_t i = 0; i < h->functions.n; i++) {
		if (c->plan->functions[i].reason)
			continue;
		n_traced++;
		n_exits += c->plan->functions[i].n_exits;
		n_missed += c->plan->functions[i].n_missed;
	}
	printf("{\"file\": \"%s\", \"functions\": %u, \"traced\": %u, "
	       "\"exits\": %u, \"missed\": %u, \"patches\": %u, "
	       "\"copies\": %u, \"wrong\": %u, \"ms\": %.1f}\n",
	       c->path, h->functions.n, n_traced, n_exits, n_missed,
	       h->patches.n, c->n_copies, c->n_wrong, ms);
	fflush(stdout);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int check_file(const char *path, const struct plan_choice *choice,
		      const char *out)
{
	struct check c = {.path = path};
	struct cst_error err = {0};
	struct plan *plan = NULL;
	double start = now_ms();
	int fd;

	if (plan_make(path, choice, &plan, &err)) {
		fprintf(stderr, "%s: no plan: %s\n", path, err.text);
		return 1;
	}
	start = now_ms() - start;
	c.plan = plan;
	if (facts_init(&c.facts, path)) {
		check_plan(&c);
	} else if (plan->header->patches.n) {
		fprintf(stderr, "%s: cannot be checked\n", path);
		c.n_wrong++;
	}
	facts_release(&c.facts);
	tell(&c, start);
	fd = out ? open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
	if (out && (fd < 0 || plan_write(plan, fd, &err) || close(fd)))
		c.n_wrong++;
	plan_free(plan);
	return c.n_wrong != 0;
}

int main(int argc, char **argv)
{
	struct plan_choice choice = {0};
	struct imports imports = {0};
	const char *out = NULL;
	int i = 1, is_wrong = 0;

	for (; i + 1 < argc && !strncmp(argv[i], "--", 2); i += 2) {
		if (!strcmp(argv[i], "--for-gdb"))
			choice.is_for_gdb = atoi(argv[i + 1]);
		else if (!strcmp(argv[i], "--functions"))
			choice.functions = argv[i + 1];
		else if (!strcmp(argv[i], "--write"))
			out = argv[i + 1];
		else if (strcmp(argv[i], "--border") || choice.border ||
			 imports_init(&imports, (const char **)&argv[i + 1], 1))
			return 2;
		else
			choice.border = &imports;
	}
	for (; i < argc; i++)
		is_wrong |= check_file(argv[i], &choice, out);
	imports_release(&imports);
	return is_wrong;
}
