/* SPDX-License-Identifier: MIT
 *
 * A program goes into the area once for each plan, which sites of one hook
 * instruction share.  The site's entry in the area's table of copies is never 0
 * once this has looked at it: a hook may wait for that.
 */
#include "sites/copies.h"
#include "args/args.h"
#include "args/decode.h"
#include "base/array.h"
#include "base/bytes.h"
#include "base/regex.h"
#include "sites/hook_slot.h"
#include "sites/sites.h"

#include <linux/futex.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void copies_release(struct sites *s)
{
	args_free(s->copies.args);
	free(s->copies.plans);
	free(s->copies.is_planned);
	regex_free(s->copies.functions);
	hashmap_release(&s->copies.ahead);
	free(s->copies.plan_folder);
	s->copies = (struct copies){0};
}

static int is_wanted_kind(const struct copies *c, int kind)
{
	return kind == CST_ENTER ? c->wants_args : c->wants_results;
}

static int is_wanted(const struct sites *s, const struct site *site)
{
	const struct copies *c = &s->copies;

	if (site->is_muted || site->is_own || !c->args ||
	    (site->kind != CST_ENTER && site->kind != CST_EXIT) ||
	    !is_wanted_kind(c, site->kind))
		return 0;
	return !c->functions ||
	       regex_matches(c->functions,
			     s->names->functions[site->function].name);
}

/* Takes where a number at rbp is, as the hook's quickest ways want it.  Returns
 * 0 if it is too far. */
static int place_at_fp(const struct cst_copy *s, uint32_t *place)
{
	enum { UNIT = 4 };

	*place = (uint8_t)(s->offset / UNIT);
	return s->op == CST_COPY_FRAME && s->reg == CST_REG_RBP &&
	       (int8_t)*place * UNIT == s->offset;
}

/* Which of the hook's quickest ways is for the plan's program, and where its
 * numbers are (enum cst_quick); 0: none. */
static uint32_t quick_way(const struct args_plan *plan)
{
	const uint32_t n = plan->n_plain, size = n == 1 ? plan->steps->size : 4;
	uint32_t at_fp = 0, saved = 0, places = 0;

	if (n > 2 || size < 4)
		return 0;
	for (uint32_t i = 0; i < n && plan->steps[i].size == size; i++) {
		const struct cst_copy *s = &plan->steps[i];
		uint32_t place;

		if (place_at_fp(s, &place))
			at_fp++;
		else if (s->op == CST_COPY_REGISTER)
			saved++;
		places |= (saved ? s->reg : place) << (16 + 8 * i);
	}
	if (at_fp != n && saved != n)
		return 0;
	if (size == 8)
		return places | (saved ? CST_LONG_SAVED : CST_LONG_AT_FP);
	return places | (saved ? CST_INTS_SAVED : CST_INTS_AT_FP);
}

/* Makes a plain program, without its end, as the hook wants it. */
static void put_plain(struct cst_copy *to, const struct site *site,
		      const struct args_plan *plan)
{
	to[0] = (struct cst_copy){.op = CST_COPY_PLAIN,
				  .reg = (uint8_t)plan->n_plain};
	if (!site->is_near) {
		to[0].size = (uint16_t)plan->bits;
		to[0].offset = (int32_t)((site->is_cfa_of_fp ? CST_REG_RBP
							     : CST_REG_SP) |
					 quick_way(plan));
	}
	for (uint32_t i = 0; i < plan->n_plain; i++) {
		const struct cst_copy *s = &plan->steps[i];

		to[1 + i] = s->op == CST_COPY_REGISTER
				    ? cst_copy_saved(s->reg, s->size)
				    : *s;
	}
	to[1 + plan->n_plain] = (struct cst_copy){.op = CST_COPY_END};
}

/* Sets what the caller owns of a plan whose program is at this step. */
static void plan_set_first(struct args_plan *plan, uint32_t at)
{
	if (plan->n_plain)
		plan->bits = CST_NUMBERS_BITS / plan->n_plain;
	plan->first = at + CST_COPY_FIRST;
}

static void put_steps(struct cst_copy *to, const struct site *site,
		      const struct args_plan *plan)
{
	if (plan->n_plain)
		put_plain(to, site, plan);
	else
		memcpy(to, plan->steps, plan->n_steps * sizeof(*to));
}

/* Puts the plan's program into the area.  Returns 0, or a negative status if
 * there is no room. */
static int put_program(struct sites *s, const struct site *site,
		       struct args_plan *plan)
{
	uint32_t at = s->area->head->n_copies;
	uint32_t n = plan->n_steps + (plan->n_plain != 0);

	if (plan->first)
		return 0;
	if (at > CST_MAX_COPIES || n > CST_MAX_COPIES - at)
		return CST_FAILED;
	plan_set_first(plan, at);
	put_steps(&s->area->steps[at], site, plan);
	s->area->head->n_copies = at + n;
	return 0;
}

/* Returns 0 if this plan's steps are what the hook has gone by, in a program
 * that ran without a reader.  Another file, or another cstrace, might have
 * given other ones. */
static int find_program(const struct sites *s, const struct site *site,
			struct args_plan *plan, uint64_t place)
{
	const struct cst_hook *slot = hook_slot(s->area, place, 0);
	uint32_t found = slot && slot->hook ? slot->copies : 0;
	uint32_t at = found - CST_COPY_FIRST;
	uint32_t n = plan->n_steps + (plan->n_plain != 0);
	struct cst_copy steps[CST_COPY_STEPS_MAX + 2];

	if (found < CST_COPY_FIRST || at > CST_MAX_COPIES ||
	    n > CST_MAX_COPIES - at || n > CST_COPY_STEPS_MAX + 2)
		return CST_FAILED;
	plan_set_first(plan, at);
	put_steps(steps, site, plan);
	return memcmp(steps, &s->area->steps[at], n * sizeof(*steps))
		       ? CST_FAILED
		       : 0;
}

static void make_plan(struct sites *s, uint32_t number)
{
	const struct cst_site raw = s->area->sites[number];
	const struct site *site = &s->all[number];
	struct modules *m = spaces_of(&s->spaces, raw.process)->modules;
	uint64_t place = cst_hook_place(raw.hook, raw.callee);
	struct copies *c = &s->copies;
	struct args_plan *plan;

	if (array_room(&c->plans, &c->n_plans, number + 1ull) < 0 ||
	    array_room(&c->is_planned, &c->n_planned, number + 1ull) < 0 ||
	    c->is_planned[number])
		return;
	c->is_planned[number] = 1;
	/* The hook is of the function that it was thought to be of then. */
	if (s->area->is_past)
		args_plan_ahead(c->args, m, place, raw.kind, &plan);
	plan = args_plan(c->args, m, raw.hook, raw.callee, raw.kind);
	if (!plan)
		return;
	if (!plan->is_static &&
	    (s->area->is_past ? find_program(s, site, plan, place)
			      : put_program(s, site, plan)) < 0)
		return;
	c->plans[number] = plan;
	if (site->kind == CST_ENTER)
		names_set_values(s->names, site->function, plan->names);
	else if (*plan->names)
		names_set_result(s->names, site->function, plan->names);
}

uint32_t copies_ahead(struct sites *s, uint32_t process, uint64_t hook,
		      int kind)
{
	struct modules *m = spaces_of(&s->spaces, process)->modules;
	struct args_plan *plan;
	struct site site = {0};
	struct code code;

	if (!is_wanted_kind(&s->copies, kind))
		return CST_COPY_NOTHING;
	if (!args_plan_ahead(s->copies.args, m, hook, kind, &plan))
		return 0;
	if (!plan || plan->is_static)
		return CST_COPY_NOTHING;
	modules_code(m, hook - 1, &code);
	site_set_frame(&site, &code);
	return put_program(s, &site, plan) < 0 ? 0 : plan->first;
}

uint32_t copies_ahead_patched(struct sites *s, uint32_t process, uint64_t hook,
			      uint64_t callee, int kind)
{
	struct modules *m = spaces_of(&s->spaces, process)->modules;
	const struct site site = {0};
	struct args_plan *plan = NULL;

	if (is_wanted_kind(&s->copies, kind))
		plan = args_plan(s->copies.args, m, hook, callee, kind);
	if (!plan || plan->is_static)
		return CST_COPY_NOTHING;
	return put_program(s, &site, plan) < 0 ? 0 : plan->first;
}

static struct args_plan *plan_of(const struct sites *s, uint32_t number)
{
	return number < s->copies.n_plans ? s->copies.plans[number] : NULL;
}

void copies_judge(struct sites *s, uint32_t number)
{
	struct site *site = &s->all[number];
	int is_copied = is_wanted(s, site);
	const struct args_plan *plan;

	if (is_copied)
		make_plan(s, number);
	plan = plan_of(s, number);
	site->has_plan = plan != NULL;
	site->is_copied = is_copied && plan && !plan->is_static;
	site->is_static = is_copied && plan && plan->is_static;
	site->codes = is_copied && plan ? plan->codes : 0;
	site->bits = plan ? (uint8_t)plan->bits : 0;
	if (site->is_copied) {
		/* Pairs with the hook's acquire: the program is complete. */
		__atomic_store_n(&s->area->copies[number], plan->first,
				 __ATOMIC_RELEASE);
		__atomic_store_n(&s->area->head->has_verdicts, 1,
				 __ATOMIC_RELAXED);
	}
	if (!site->is_muted)
		__atomic_store_n(
			&s->area->sites[number].verdict,
			(uint8_t)(site->is_copied ? CST_COPIED : CST_RECORDED),
			__ATOMIC_RELEASE);
}

void copies_answer(struct sites *s, uint32_t from)
{
	uint32_t *entries = s->area->copies;

	if (!__atomic_load_n(&s->area->head->wants_values, __ATOMIC_RELAXED))
		return;
	for (uint32_t i = from; i < s->n; i++)
		if (!__atomic_load_n(&entries[i], __ATOMIC_RELAXED))
			__atomic_store_n(&entries[i], CST_COPY_NOTHING,
					 __ATOMIC_RELEASE);
	/* Behind the former: pairs with the hook's fetch-add. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&s->area->head->n_copy_waiting, __ATOMIC_RELAXED))
		return;
	for (uint32_t i = from; i < s->n; i++)
		syscall(SYS_futex, &entries[i], FUTEX_WAKE, INT_MAX, NULL, NULL,
			0);
}

int copies_want(struct sites *s, const struct cst_values *v,
		struct regex *functions)
{
	struct copies *c = &s->copies;

	regex_free(c->functions);
	c->functions = functions;
	free(c->plan_folder);
	c->plan_folder = v->plans ? strdup(v->plans) : NULL;
	c->wants_args = v->args != 0;
	c->wants_results = v->results != 0;
	if (!c->args && (v->args || v->results))
		c->args = args_new();
	if (c->args)
		args_want(c->args, v->members != 0, v->text_bytes);
	__atomic_store_n(&s->area->head->wants_values,
			 (uint32_t)(c->args && (v->args || v->results)),
			 __ATOMIC_RELAXED);
	for (uint32_t i = CST_FIRST_SITE; i < s->n; i++)
		if (!s->all[i].is_own &&
		    (s->all[i].kind == CST_ENTER || s->all[i].kind == CST_EXIT))
			copies_judge(s, i);
	return v->plans && !c->plan_folder ? CST_MEMORY : 0;
}

void copies_decode(struct sites *s, uint32_t number, const void *raw,
		   uint32_t n, struct bytes *out)
{
	const struct args_plan *plan = plan_of(s, number);
	const struct cst_site *site = &s->area->sites[number];
	struct modules *m = NULL;

	if (!plan)
		return;
	if (plan->has_pointers)
		m = spaces_of(&s->spaces, site->process)->modules;
	args_decode(plan, m, cst_hook_place(site->hook, site->callee), raw, n,
		    out);
}

uint32_t copies_unpack(const struct sites *s, uint32_t number, uint64_t packed,
		       uint8_t *raw)
{
	const struct args_plan *plan = plan_of(s, number);
	uint32_t bits = plan ? plan->bits : 0, n = 0;
	uint64_t half = bits ? 1ull << (bits - 1) : 0;

	for (uint32_t i = 0; bits && i < plan->n_plain; i++) {
		uint64_t number = packed & (2 * half - 1);

		put_u64(raw + n, number - half);
		packed >>= bits;
		n += plan->steps[i].size;
	}
	return n;
}

int copies_compute(const struct sites *s, uint32_t number, const uint8_t *raw,
		   uint32_t n, uint64_t *result)
{
	return args_compute(plan_of(s, number), raw, n, result);
}

uint64_t copies_compute_packed(const struct sites *s, uint32_t number,
			       uint64_t packed)
{
	return args_compute_packed(plan_of(s, number), packed);
}
