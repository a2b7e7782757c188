/* SPDX-License-Identifier: MIT
 *
 * Found by the code around a hook, or by the function that was patched.
 */
#include "args/instance.h"
#include "args/code.h"
#include "elf/inlines.h"

/* What is known of the function at its own address. */
static void describe(struct modules *m, uint64_t callee,
		     struct inline_function *out)
{
	struct symbol symbol;
	struct inlines *in;
	uint64_t inside;

	*out = (struct inline_function){0};
	if (modules_symbol(m, callee, &symbol))
		out->symbol = symbol.symbol;
	in = modules_inlines(m, callee, &inside);
	if (in)
		inlines_function(in, inside, out);
}

/* The function that was compiled at pc. */
static int find_function(struct modules *m, uint64_t pc, struct instance *out)
{
	*out = (struct instance){
		.modules = m,
		.hook = pc,
		.file = modules_number(modules_place(m, pc)),
	};
	out->frame.in = modules_inlines(m, pc, &out->frame.pc);
	if (!out->frame.in ||
	    !inlines_frame(out->frame.in, out->frame.pc, &out->frame.function))
		return 0;
	out->frame.bias = pc - out->frame.pc;
	modules_code(m, pc, &out->frame.code);
	out->die = out->frame.function;
	return 1;
}

/* The like for the code around a hook at pc. */
static int find_frame(struct modules *m, uint64_t pc, struct instance *out)
{
	Dwarf_Addr start;

	if (!find_function(m, pc, out))
		return 0;
	out->hook = pc + 1;
	if (!dwarf_entrypc(&out->frame.function, &start))
		out->start = start + out->frame.bias;
	return 1;
}

int instance_of_call(struct modules *m, uint64_t pc, uint64_t callee,
		     struct instance *out)
{
	Dwarf_Die calls[INLINES_MAX];
	struct inline_function f;
	int n;

	if (!find_frame(m, pc, out))
		return 0;
	describe(m, callee, &f);
	n = inlines_at(out->frame.in, out->frame.pc, calls, INLINES_MAX);
	while (n--) {
		if (!inlines_is_of(&calls[n], &f))
			continue;
		out->die = calls[n];
		out->is_inlined = 1;
		return 1;
	}
	return inlines_is_of(&out->die, &f);
}

int instance_innermost(struct modules *m, uint64_t pc, struct instance *out)
{
	Dwarf_Die calls[INLINES_MAX];
	int n;

	if (!find_frame(m, pc, out))
		return 0;
	n = inlines_at(out->frame.in, out->frame.pc, calls, INLINES_MAX);
	out->is_inlined = n > 0;
	if (n > 0)
		out->die = calls[n - 1];
	return 1;
}

/* The function that was patched at its first instruction. */
static int find_patched(struct modules *m, uint64_t callee,
			struct instance *out)
{
	if (!find_function(m, callee, out))
		return 0;
	out->frame.is_patched = 1;
	return 1;
}

/* Returns the address behind what sets the frame pointer, where it is known how
 * the frame is found by it; 0: that is not how the function begins. */
static uint64_t behind_prologue(struct modules *m, uint64_t callee)
{
	struct code_line line;
	struct code code;
	uint64_t pc = callee;

	for (int i = 0; i < 3 && code_decode(m, pc, &line); i++) {
		pc += line.is.length;
		modules_code(m, pc, &code);
		if (code.cfa_base == CFA_FP)
			return pc;
	}
	return 0;
}

/* The function that was patched behind its prologue: what is in the frame is
 * there. */
static int find_framed(struct modules *m, uint64_t callee, struct instance *out)
{
	uint64_t pc = behind_prologue(m, callee);

	if (!pc || !find_patched(m, callee, out))
		return 0;
	modules_code(m, pc, &out->frame.code);
	out->frame.pc += pc - callee;
	out->frame.is_patched = 0;
	out->is_framed = 1;
	return 1;
}

int instance_at(struct modules *m, uint64_t hook, uint64_t callee,
		struct instance *out)
{
	if (hook > CST_PATCHED_LAST)
		return instance_of_call(m, hook - 1, callee, out);
	if (hook == CST_PATCHED_FRAMED)
		return find_framed(m, callee, out);
	if (!find_patched(m, callee, out))
		return 0;
	out->below = hook == CST_PATCHED_BEGUN ? CST_PATCHED_BELOW : 0;
	out->is_deep =
		hook == CST_PATCHED_DEEP || hook == CST_PATCHED_FRAMED_EXIT;
	return 1;
}
