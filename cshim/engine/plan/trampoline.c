/* SPDX-License-Identifier: MIT
 *
 * Writes trampolines, as cstrace/plan_layout.h says what they are.
 */
#include "plan/trampoline.h"
#include "base/array.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

enum {
	WORD = 8, /* what a push takes of the stack */
	TRAMPOLINE_ALIGN = 32
};

/* One trampoline that is written. */
struct making {
	struct trampolines *t;
	const struct placement *now;
	const struct plan_function *function;
	struct frame_cursor cursor; /* of the code that is moved */
	struct cst_patch patch;
	uint32_t number; /* the patch's */
	int has_rules;
};

/* ---- bytes --------------------------------------------------------------- */

static uint32_t here(const struct trampolines *t)
{
	return (uint32_t)t->code.len;
}

static void put(struct trampolines *t, const char *code, size_t n)
{
	bytes_put(&t->code, code, n);
}
#define PUT(t, code) put((t), (code), sizeof(code) - 1)

static void put_32(struct trampolines *t, uint32_t value)
{
	uint8_t raw[4];

	put_u32(raw, value);
	bytes_put(&t->code, raw, sizeof(raw));
}

static void note_move(struct trampolines *t, uint32_t at)
{
	if (array_room(&t->moves, &t->cap_moves, t->n_moves + 1ull))
		t->failed = 1;
	else
		t->moves[t->n_moves++] = TRAMPOLINES_AT + at;
}

/* Puts the distance of an address of the image from behind these 32 bits. */
static void put_outside(struct trampolines *t, uint64_t addr)
{
	note_move(t, here(t));
	put_32(t, (uint32_t)(addr - (TRAMPOLINES_AT + here(t) + 4)));
}

static void put_jump(struct trampolines *t, uint64_t target)
{
	PUT(t, "\xe9");
	put_outside(t, target);
}

/* ---- rules --------------------------------------------------------------- */

static void set_rules(struct making *m, const struct frame_rules *rules,
		      int64_t pushed)
{
	if (rules)
		frame_writer_rules(&m->t->frames, here(m->t), rules, pushed);
}

/* The rules of the image's code at addr hold from here on. */
static const struct frame_rules *rules_at(struct making *m, uint64_t addr)
{
	return m->has_rules ? frame_cursor_to(&m->cursor, addr) : NULL;
}

/* ---- pieces -------------------------------------------------------------- */

static uint32_t put_slot_call(struct making *m, enum cst_plan_slot slot)
{
	struct trampolines *t = m->t;

	PUT(t, "\x48\x8d\x05"); /* lea function(%rip), %rax */
	put_outside(t, m->function->start);
	PUT(t, "\xe8"); /* call gate */
	put_32(t, (uint32_t)(CST_PLAN_GATE * slot - (here(t) + 4)));
	return TRAMPOLINES_AT + here(t);
}

static enum cst_plan_slot slot_of(const struct making *m,
				  enum cst_plan_slot slot)
{
	if (!m->t->p->border && !m->function->is_stub)
		return slot;
	if (slot == CST_SLOT_ENTER)
		return CST_SLOT_BORDER_ENTER;
	if (m->function->ends_others)
		return slot == CST_SLOT_TAIL ? CST_SLOT_BORDER_PASS
					     : CST_SLOT_BORDER_RETURN;
	return slot == CST_SLOT_TAIL ? CST_SLOT_BORDER_TAIL
				     : CST_SLOT_BORDER_EXIT;
}

/* Reports an entry in the middle of a function, where all may be in use.  Not
 * by pushfq and popfq: while a debugger steps through them, they would set the
 * processor to trap later. */
static uint32_t put_framed_hook(struct making *m)
{
	struct trampolines *t = m->t;
	uint32_t hook;

	set_rules(m, rules_at(m, m->now->addr), 0);
	PUT(t, "\x48\x8d\x64\x24\x80"); /* lea -128(%rsp), %rsp */
	PUT(t, "\x50\x9f\x0f\x90\xc0"); /* push %rax; lahf; seto %al */
	PUT(t, "\x50");			/* push %rax */
	PUT(t, "\x48\x8b\x44\x24\x08"); /* mov 8(%rsp), %rax */
	PUT(t, "\x50");			/* push %rax */
	hook = put_slot_call(m, m->now->slot);
	PUT(t, "\x58\x58\x04\x7f"); /* pop %rax twice; add $127, %al */
	PUT(t, "\x9e\x58");	    /* sahf; pop %rax */
	put(t, "\x48\x8d\xa4\x24\x80\0\0\0", 8); /* lea 128(%rsp), %rsp */
	return hook;
}

/* Reports an entry where the stack pointer has moved, or found by rbp; all may
 * be in use there. */
static uint32_t put_deep_hook(struct making *m)
{
	enum { RED_ZONE = 128 };
	struct trampolines *t = m->t;
	const struct frame_rules *rules = rules_at(m, m->now->addr);
	int64_t pushed = RED_ZONE;
	uint32_t hook;

	set_rules(m, rules, 0);
	PUT(t, "\x48\x8d\x64\x24\x80"); /* lea -128(%rsp), %rsp */
	set_rules(m, rules, pushed);
	PUT(t, "\x50"); /* push %rax */
	set_rules(m, rules, pushed += WORD);
	PUT(t, "\x9f\x0f\x90\xc0\x50"); /* lahf; seto %al; push %rax */
	set_rules(m, rules, pushed += WORD);
	if (rules && frame_is_framed(rules)) {
		PUT(t, "\x48\x8d\x45\x08"); /* lea 8(%rbp), %rax */
	} else {
		PUT(t, "\x48\x8d\x84\x24"); /* lea ...(%rsp), %rax */
		put_32(t, (rules ? frame_depth(rules) : 0) + (uint32_t)pushed);
	}
	PUT(t, "\x50"); /* push %rax */
	set_rules(m, rules, pushed += WORD);
	PUT(t, "\x48\x8b\x44\x24\x10\x50"); /* mov 16(%rsp), %rax; push %rax */
	set_rules(m, rules, pushed += WORD);
	hook = put_slot_call(m, CST_SLOT_DEEP);
	/* lea 16(%rsp), %rsp; pop %rax; add $127, %al; sahf; pop %rax */
	PUT(t, "\x48\x8d\x64\x24\x10");
	set_rules(m, rules, pushed -= 2 * WORD);
	PUT(t, "\x58");
	set_rules(m, rules, pushed -= WORD);
	PUT(t, "\x04\x7f\x9e\x58");
	set_rules(m, rules, pushed -= WORD);
	put(t, "\x48\x8d\xa4\x24\x80\0\0\0", 8); /* lea 128(%rsp), %rsp */
	return hook;
}

/* Reports an event to a slot.  Returns where its call returns to. */
static uint32_t put_hook(struct making *m, enum cst_plan_slot slot)
{
	struct trampolines *t = m->t;
	uint32_t hook;

	set_rules(m, &frame_rules_bare, 0);
	PUT(t, "\x50"); /* push %rax */
	set_rules(m, &frame_rules_bare, WORD);
	hook = put_slot_call(m, slot_of(m, slot));
	PUT(t, "\x58"); /* pop %rax */
	set_rules(m, &frame_rules_bare, 0);
	return hook;
}

/* Calls, with the return address that the call had at its own place. */
static void put_call(struct making *m, const struct insn *i, uint64_t addr)
{
	struct trampolines *t = m->t;
	const struct frame_rules *rules = rules_at(m, addr);

	m->patch.flags |= CST_PATCH_PUSHES;
	PUT(t, "\x48\x8d\x64\x24\xf8"); /* lea -8(%rsp), %rsp */
	set_rules(m, rules, WORD);
	PUT(t, "\x50"); /* push %rax */
	set_rules(m, rules, WORD + WORD);
	PUT(t, "\x48\x8d\x05"); /* lea return(%rip), %rax */
	put_outside(t, addr + i->length);
	PUT(t, "\x48\x89\x44\x24\x08\x58"); /* mov %rax, 8(%rsp); pop %rax */
	set_rules(m, rules, WORD);
	if (i->kind == INSN_CALL) {
		put_jump(t, i->target);
		return;
	}
	PUT(t, "\xff\x25"); /* jmp *data(%rip) */
	put_outside(t, i->data);
}

static void put_same(struct trampolines *t, const struct insn *i,
		     const uint8_t *bytes)
{
	uint32_t start = here(t);
	uint32_t disp = start + i->data_at;

	bytes_put(&t->code, bytes, i->length);
	if (!i->is_relative || t->code.failed)
		return;
	note_move(t, disp);
	put_u32(t->code.data + disp,
		(uint32_t)(i->data - (TRAMPOLINES_AT + here(t))));
}

static void note_copy(struct making *m, uint64_t addr)
{
	struct trampolines *t = m->t;

	if (array_room(&t->copies, &t->cap_copies, t->n_copies + 1ull))
		t->failed = 1;
	else
		t->copies[t->n_copies++] = (struct cst_plan_copy){
			addr, TRAMPOLINES_AT + here(t), m->number};
}

static void put_insn(struct making *m, const struct insn *i, uint64_t addr)
{
	struct trampolines *t = m->t;
	uint64_t n = 0;

	note_copy(m, addr);
	switch (i->kind) {
	case INSN_BRANCH:
		PUT(t, "\x0f");
		bytes_put_byte(&t->code, 0x80 | i->condition);
		put_outside(t, i->target);
		break;
	case INSN_JUMP:
		put_jump(t, i->target);
		break;
	case INSN_CALL:
	case INSN_CALL_INDIRECT:
		put_call(m, i, addr);
		break;
	default:
		put_same(t, i, image_bytes(m->t->p->im, addr, &n));
	}
}

/* The like at an end that gives its frame up next; what is below the stack
 * pointer may be in use. */
static uint32_t put_framed_exit(struct making *m,
				const struct frame_rules *rules)
{
	struct trampolines *t = m->t;
	uint32_t hook;

	set_rules(m, rules, 0);
	PUT(t, "\x48\x8d\x64\x24\x80"); /* lea -128(%rsp), %rsp */
	PUT(t, "\x50");			/* push %rax */
	hook = put_slot_call(m, CST_SLOT_FRAMED_EXIT);
	PUT(t, "\x58");				 /* pop %rax */
	put(t, "\x48\x8d\xa4\x24\x80\0\0\0", 8); /* lea 128(%rsp), %rsp */
	return hook;
}

static void note_end(struct making *m, uint32_t hook, int is_tail)
{
	if (m->patch.kind == CST_PATCH_ENTRY) {
		m->patch.end_hook = hook;
		m->patch.end_kind = is_tail ? CST_PATCH_TAIL : CST_PATCH_EXIT;
	} else {
		m->patch.hook = hook;
	}
}

static void put_ending(struct making *m, enum ending ending)
{
	int is_tail = ending == ENDING_TAIL;

	note_end(m, put_hook(m, is_tail ? CST_SLOT_TAIL : CST_SLOT_EXIT),
		 is_tail);
}

/* Where the instructions begin that give the frame up before the return that is
 * displaced last; or that one's own address. */
static uint64_t frame_end(const struct making *m)
{
	const struct placement *now = m->now;
	uint64_t found = now->end;
	struct insn i;

	for (uint64_t addr = now->addr; addr < now->end; addr += i.length) {
		if (!placement_insn(m->t->p, addr, &i))
			break;
		if (addr + i.length == now->end)
			return found < addr ? found : addr;
		if (!i.gives_up)
			found = now->end;
		else if (found == now->end)
			found = addr;
	}
	return now->end;
}

/* Reports the end before the frame is given up, if rbp finds the return address
 * there.  Returns whether it has. */
static int put_early_ending(struct making *m, uint64_t addr)
{
	const struct frame_rules *rules = rules_at(m, addr);

	if (!rules || !frame_is_framed(rules))
		return 0;
	note_end(m, put_framed_exit(m, rules), 0);
	return 1;
}

/* The displaced instructions; the call's end, if there is one, is reported
 * before the last of them, or for gdb, and not at the border, before its frame
 * is given up. */
static void put_displaced(struct making *m, enum ending ending)
{
	const struct placement *now = m->now;
	struct insn i = {.kind = INSN_PLAIN};
	uint64_t addr = now->addr;
	uint64_t early =
		ending == ENDING_EXIT && m->t->p->is_for_gdb && !m->t->p->border
			? frame_end(m)
			: now->end;

	while (addr < now->end && placement_insn(m->t->p, addr, &i)) {
		if (addr == early && put_early_ending(m, addr))
			ending = ENDING_NONE;
		if (ending && addr + i.length == now->end)
			put_ending(m, ending);
		else
			set_rules(m, rules_at(m, addr), 0);
		put_insn(m, &i, addr);
		addr += i.length;
	}
	if (insn_goes_on(&i)) {
		set_rules(m, rules_at(m, addr), 0);
		put_jump(m->t, addr);
	}
}

/* Calls what the stub jumps to, and reports the end. */
static void put_stub_call(struct making *m)
{
	struct trampolines *t = m->t;
	struct insn i;

	if (!placement_insn(t->p, m->now->addr, &i))
		return;
	PUT(t, "\x48\x83\xec\x08"); /* sub $8, %rsp */
	set_rules(m, &frame_rules_bare, WORD);
	PUT(t, "\xff\x15"); /* call *slot(%rip) */
	put_outside(t, i.data);
	PUT(t, "\x48\x83\xc4\x08"); /* add $8, %rsp */
	set_rules(m, &frame_rules_bare, 0);
	put_ending(m, ENDING_EXIT);
	PUT(t, "\xc3"); /* ret */
}

/* ---- patches ------------------------------------------------------------- */

static void add_patch(struct trampolines *t, const struct cst_patch *patch)
{
	struct cst_patch *p;
	uint64_t n = 0;
	const uint8_t *old = image_bytes(t->p->im, patch->address, &n);

	if (array_room(&t->patches, &t->cap_patches, t->n_patches + 1ull)) {
		t->failed = 1;
		return;
	}
	p = &t->patches[t->n_patches++];
	*p = *patch;
	memcpy(p->old_bytes, old, p->length);
}

/* Writes a jump with 32 bits, behind the opcode's bytes, to the trampoline. */
static void set_jump(struct cst_patch *patch, uint32_t n_opcode,
		     uint32_t trampoline)
{
	patch->moved = (uint8_t)n_opcode;
	patch->length = (uint8_t)(n_opcode + 4);
	put_u32(patch->new_bytes + n_opcode,
		(uint32_t)(trampoline - (patch->address + patch->length)));
}

static void add_landing(struct making *m)
{
	const struct placement *now = m->now;
	struct cst_patch landing = {
		.address = now->landing,
		.function = m->function->number,
		.kind = CST_PATCH_LANDING,
		.trampoline = now->host == FUNCTION_NONE
				      ? 0
				      : 1 + m->t->p->f->all[now->host].number,
		.new_bytes = {0xe9},
	};

	set_jump(&landing, 1, m->patch.trampoline);
	add_patch(m->t, &landing);
}

static void add_patches(struct making *m)
{
	const struct placement *now = m->now;
	struct cst_patch *patch = &m->patch;
	struct insn i;

	if (now->length == NEAR_BRANCH) {
		if (!placement_insn(m->t->p, now->addr, &i))
			return;
		patch->new_bytes[0] = 0x0f;
		patch->new_bytes[1] = 0x80 | i.condition;
		set_jump(patch, 2, patch->trampoline);
	} else if (now->length == NEAR_JUMP) {
		patch->new_bytes[0] = 0xe9;
		set_jump(patch, 1, patch->trampoline);
	} else {
		patch->length = SHORT_JUMP;
		patch->new_bytes[0] = 0xeb;
		patch->new_bytes[1] =
			(uint8_t)(now->landing - (now->addr + SHORT_JUMP));
	}
	add_patch(m->t, patch);
	if (now->landing)
		add_landing(m);
}

static void put_trampoline(struct making *m)
{
	const struct placement *now = m->now;
	struct trampolines *t = m->t;
	struct insn i;

	frame_writer_begin(&t->frames, here(t));
	if (now->length == NEAR_BRANCH) {
		put_ending(m, ENDING_TAIL);
		if (placement_insn(t->p, now->addr, &i))
			put_jump(t, i.target);
	} else if (now->kind == CST_PATCH_HOST) {
		put_displaced(m, ENDING_NONE);
	} else if (now->kind == CST_PATCH_ENTRY) {
		m->patch.hook = now->slot == CST_SLOT_ENTER
					? put_hook(m, CST_SLOT_ENTER)
				: now->slot == CST_SLOT_DEEP
					? put_deep_hook(m)
					: put_framed_hook(m);
		if (m->function->is_called)
			put_stub_call(m);
		else
			put_displaced(m, now->ending);
	} else {
		put_displaced(m, now->kind == CST_PATCH_TAIL ? ENDING_TAIL
							     : ENDING_EXIT);
	}
	frame_writer_end(&t->frames, here(t));
}

/* No line of the cache has a part of an entry's trampoline only: a program with
 * more code than the first cache holds is 2 to 5 ns a call faster so. */
static void align(struct trampolines *t)
{
	while (here(t) % TRAMPOLINE_ALIGN && !t->code.failed)
		PUT(t, "\xcc");
}

static void make(struct making *m, const struct placement *now)
{
	struct trampolines *t = m->t;
	const struct frame *frame = frames_at(t->p->frames, now->addr);
	uint32_t start;

	align(t);
	start = here(t);

	m->now = now;
	m->function = &t->p->f->all[now->function];
	m->number = t->n_patches;
	m->patch = (struct cst_patch){.address = now->addr,
				      .function = m->function->number,
				      .trampoline = TRAMPOLINES_AT + start,
				      .kind = now->kind};
	/* A stub's own may tell its place in the file's stubs. */
	m->has_rules = frame && !m->function->is_stub;
	if (m->has_rules)
		frame_cursor_init(&m->cursor, t->p->frames, frame);
	put_trampoline(m);
	m->patch.trampoline_size = (uint16_t)(here(t) - start);
	if (t->frames.failed) /* it runs, but cannot be unwound */
		frame_writer_drop(&t->frames);
	add_patches(m);
}

/* See CST_PLAN_BACK.  Who looks up a return address looks at the byte before.
 */
static void put_backs(struct trampolines *t)
{
	static const struct frame_rules framed = {
		.cfa = {.kind = RULE_REGISTER, .value = FRAME_FP, .add = 16},
		.registers[FRAME_FP] = {.kind = RULE_OFFSET, .value = -16},
		.registers[FRAME_RETURN] = {.kind = RULE_OFFSET, .value = -8},
	};

	frame_writer_rules(&t->frames, here(t), &frame_rules_bare, WORD);
	PUT(t, "\xcc\x58"); /* pop %rax */
	frame_writer_rules(&t->frames, here(t), &frame_rules_bare, 0);
	PUT(t, "\xc3"); /* ret */
	frame_writer_rules(&t->frames, here(t), &framed, 0);
	PUT(t, "\xcc\x58");			 /* pop %rax */
	put(t, "\x48\x8d\xa4\x24\x80\0\0\0", 8); /* lea 128(%rsp), %rsp */
	PUT(t, "\xc9");				 /* leave */
	frame_writer_rules(&t->frames, here(t), &frame_rules_bare, 0);
	PUT(t, "\xc3"); /* ret */
}

static void put_gate(struct trampolines *t, uint32_t slot)
{
	PUT(t, "\xff\x25"); /* jmp *slot(%rip) */
	put_32(t, 8 * slot - (TRAMPOLINES_AT + here(t) + 4));
	PUT(t, "\xcc\xcc");
}

/* Only these jumps are indirect: a processor that has forgotten where a call
 * leads to, as it has in a large program, sees that of a direct call at once.
 */
static void put_gates(struct trampolines *t)
{
	frame_writer_begin(&t->frames, here(t));
	for (uint32_t slot = 0; slot < CST_PLAN_SLOTS; slot++)
		put_gate(t, slot);
	for (int i = 0; i < CST_PLAN_STEP_ROOM; i++)
		PUT(t, "\xcc");
	put_gate(t, CST_PLAN_STEP_SLOT);
	put_backs(t);
	frame_writer_end(&t->frames, here(t));
}

int trampolines_init(struct trampolines *t, const struct placements *p)
{
	struct making m = {.t = t};

	*t = (struct trampolines){.p = p};
	frame_writer_init(&t->frames);
	put_gates(t);
	for (uint32_t i = 0; i < p->n; i++)
		make(&m, &p->all[i]);
	return t->failed || t->code.failed || t->frames.table.failed
		       ? CST_MEMORY
		       : 0;
}

void trampolines_release(struct trampolines *t)
{
	bytes_release(&t->code);
	frame_writer_release(&t->frames);
	free(t->moves);
	free(t->patches);
	free(t->copies);
	*t = (struct trampolines){0};
}
