/* SPDX-License-Identifier: MIT
 *
 *     checker [--functions REGEX] [--for-gdb 1] [--write PLAN] FILE...
 *
 * Plans each file and holds the plan against the file's bytes: what a patch
 * covers, and what its trampoline does instead.  Prints a line of JSON for each
 * file, and what is wrong on stderr.  Status 1: something is wrong.
 */
#include "checker.h"
#include "plan/plan_make.h"

#include <dwarf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int wrong(struct check *c, const struct cst_patch *p, const char *what,
	  uint64_t addr)
{
	if (c->n_wrong++ < 20)
		fprintf(stderr, "%s: patch at %lx (%s): %s, at %lx\n", c->path,
			p->address, plan_name(c->plan, p->function), what,
			addr);
	return 0;
}

uint64_t area_addr(const struct check *c, uint64_t offset)
{
	return (uint64_t)c->plan->header->area_at + offset;
}

uint64_t near_target(const uint8_t *bytes, unsigned n, uint64_t addr)
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

int has_frame(const struct check *c, uint64_t addr)
{
	return is_cfa(c, addr, 6, 16);
}

/* May the instruction change a register that holds an argument? */
static int changes_argument(const struct decoded *d, int has_floats)
{
	for (int i = 0; i < d->is.operand_count; i++) {
		const ZydisDecodedOperand *o = &d->of[i];
		ZydisRegister all = ZydisRegisterGetLargestEnclosing(
			ZYDIS_MACHINE_MODE_LONG_64, o->reg.value);

		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    !(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (!has_floats && all >= ZYDIS_REGISTER_ZMM0 &&
		    all <= ZYDIS_REGISTER_ZMM31)
			continue;
		if (all != ZYDIS_REGISTER_RSP && all != ZYDIS_REGISTER_RBX &&
		    all != ZYDIS_REGISTER_RBP && all != ZYDIS_REGISTER_RAX &&
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
	int has_floats = (facts_at(&c->facts, addr) & FACT_FLOATS) != 0;
	uint32_t cfa = deep_cfa(c, p);
	struct decoded d;

	if (cfa ? !is_cfa(c, p->address, 7, cfa) : !has_frame(c, p->address))
		return wrong(c, p, "there is no frame", p->address);
	while (addr < p->address) {
		const uint8_t *bytes = facts_bytes(&c->facts, addr, 16);

		if (!decode(&d, bytes, 16) || target_of(&d, addr) ||
		    d.is.meta.category == ZYDIS_CATEGORY_RET)
			return wrong(c, p, "too late in the function", addr);
		if (is_deep(c, p) && changes_argument(&d, has_floats))
			return wrong(c, p, "an argument is lost", addr);
		addr += d.is.length;
		if (facts_at(&c->facts, addr) & (FACT_TARGET | FACT_RETURN))
			return wrong(c, p, "something jumps there", addr);
	}
	return addr == p->address ||
	       wrong(c, p, "it begins within an instruction", addr);
}

/* A stub is an indirect jump, behind an endbr64 perhaps. */
static int check_stub(struct check *c, const struct cst_patch *p)
{
	uint64_t before = p->address - c->plan->functions[p->function].address;
	const uint8_t *bytes = facts_bytes(&c->facts, p->address - before, 4);
	struct decoded d;

	if (before && (before != 4 || memcmp(bytes, "\xf3\x0f\x1e\xfa", 4)))
		return wrong(c, p, "it is not a stub's begin", p->address);
	return (decode(&d, facts_bytes(&c->facts, p->address, 7), 7) &&
		d.is.mnemonic == ZYDIS_MNEMONIC_JMP &&
		data_of(&d, p->address)) ||
	       wrong(c, p, "it is no stub", p->address);
}

/* Flags and the red zone are free where functions begin, and nothing before an
 * entry may have set the one or used the other. */
static int check_entry(struct check *c, const struct cst_patch *p)
{
	uint64_t addr = c->plan->functions[p->function].address;
	struct decoded d;

	if (c->plan->functions[p->function].is_stub)
		return check_stub(c, p);
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

/* It costs time only. */
enum { TRAMPOLINE_ALIGN = 16 };

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
	if (p->trampoline % TRAMPOLINE_ALIGN)
		return wrong(c, p, "its trampoline is not aligned", 0);
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

		int has_ends = !f->reason || f->ends_others;

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
	       "\"copies\": %u, \"wrong\": %u, \"bare\": %u, "
	       "\"ms\": %.1f}\n",
	       c->path, h->functions.n, n_traced, n_exits, n_missed,
	       h->patches.n, c->n_copies, c->n_wrong, h->is_bare, ms);
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
	struct imports imports = {0}, calls = {0};
	const char *out = NULL;
	int i = 1, is_wrong = 0;

	for (; i + 1 < argc && !strncmp(argv[i], "--", 2); i += 2) {
		if (!strcmp(argv[i], "--for-gdb"))
			choice.is_for_gdb = atoi(argv[i + 1]);
		else if (!strcmp(argv[i], "--functions"))
			choice.functions = argv[i + 1];
		else if (!strcmp(argv[i], "--write"))
			out = argv[i + 1];
		else if (!strcmp(argv[i], "--calls") &&
			 !imports_init(&calls, (const char **)&argv[i + 1], 1))
			choice.calls = choice.open = &calls;
		else if (strcmp(argv[i], "--border") || choice.border ||
			 imports_init(&imports, (const char **)&argv[i + 1], 1))
			return 2;
		else
			choice.border = &imports;
	}
	for (; i < argc; i++)
		is_wrong |= check_file(argv[i], &choice, out);
	imports_release(&imports);
	imports_release(&calls);
	return is_wrong;
}
