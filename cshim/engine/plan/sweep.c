/* SPDX-License-Identifier: MIT
 *
 * A straight sweep through each function.
 *
 * Nearly all of the time goes into decoding: several threads share it.
 */
#include "plan/sweep.h"
#include "base/array.h"
#include "base/worker.h"
#include "elf/insn.h"
#include "elf/table_jump.h"
#include "plan/hooks.h"
#include "plan/references.h"
#include "plan/tables.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 4, WORTH_BYTES = 1 << 18, STRAIGHT_MAX = 16 };

/* What one thread reads: functions side by side, and the gaps about them. */
struct sweep {
	struct image im; /* but for the first, with marks of its own */
	struct functions *f;
	const struct hooks *hooks;
	uint32_t first, end;	   /* indexes of its functions */
	struct plan_function *now; /* NULL: between functions */
	uint32_t number;	   /* its index */
	/* For each function, the one other function that jumps to its begin,
	 * or FUNCTION_NONE or FUNCTION_MANY. */
	uint32_t *jumped_from;
	struct function_end *ends; /* by address */
	uint32_t n_ends, cap_ends;
	struct tables tables;
	const uint8_t *straight[STRAIGHT_MAX]; /* as of a ring: see follow() */
	uint32_t n_straight;
	int failed; /* out of memory */
	pthread_t thread;
};

static uint32_t both_jump(uint32_t one, uint32_t other)
{
	if (one == FUNCTION_NONE || one == other)
		return other;
	return other == FUNCTION_NONE ? one : FUNCTION_MANY;
}

static void see_jump(struct sweep *s, uint64_t target)
{
	struct plan_function *now = s->now;
	uint32_t other;

	image_mark(&s->im, target, MARK_LEADER);
	if (!now)
		return;
	if (target >= now->start && target < now->end) {
		image_mark(&s->im, target, MARK_LOOP);
		return;
	}
	other = functions_at(s->f, target);
	if (other == FUNCTION_NONE || s->f->all[other].start != target)
		return;
	s->jumped_from[other] = both_jump(s->jumped_from[other], s->number);
}

static void see_data(struct sweep *s, const struct insn *i)
{
	struct plan_function *now = s->now;

	if (image_is_code(&s->im, i->data)) {
		image_mark(&s->im, i->data, MARK_LEADER | MARK_NAMED);
		if (now && i->data > now->start && i->data < now->end)
			now->has_label = 1;
	} else if (i->is_address) {
		tables_add(&s->tables, i->data,
			   now ? s->number : FUNCTION_NONE);
	}
}

/* A jump by register: is it a switch's? */
static void see_table_jump(struct sweep *s, const uint8_t *end)
{
	uint32_t n =
		s->n_straight < STRAIGHT_MAX ? s->n_straight : STRAIGHT_MAX;
	const uint8_t *code[STRAIGHT_MAX];
	uint64_t base;

	for (uint32_t k = 0; k < n; k++)
		code[k] = s->straight[(s->n_straight - n + k) % STRAIGHT_MAX];
	base = table_jump_base(code, (int)n, end, s->now->end);
	if (base)
		tables_add_certain(&s->tables, base);
}

/* Keeps the last instructions that run one behind the other. */
static void follow(struct sweep *s, const struct insn *i, const uint8_t *code,
		   const uint8_t *end)
{
	s->straight[s->n_straight++ % STRAIGHT_MAX] = code;
	if (i->kind == INSN_JUMP_INDIRECT && i->is_register)
		see_table_jump(s, end);
	if (!insn_goes_on(i))
		s->n_straight = 0;
}

/* Notes an instruction that may end a call of the function. */
static void see_end(struct sweep *s, const struct insn *i, uint64_t addr)
{
	if (i->kind == INSN_BRANCH || i->kind == INSN_JUMP) {
		if (i->target >= s->now->start && i->target < s->now->end)
			return;
	} else if (i->kind != INSN_RETURN && i->kind != INSN_JUMP_INDIRECT) {
		return;
	}
	if (array_room(&s->ends, &s->cap_ends, s->n_ends + 1ull)) {
		s->failed = 1;
		return;
	}
	s->ends[s->n_ends++] = (struct function_end){addr, *i, s->number};
}

static void see(struct sweep *s, const struct insn *i, uint64_t addr)
{
	switch (i->kind) {
	case INSN_BRANCH:
	case INSN_JUMP:
		see_jump(s, i->target);
		break;
	case INSN_IMMOVABLE:
		if (i->target)
			see_jump(s, i->target);
		break;
	case INSN_CALL:
	case INSN_CALL_INDIRECT:
		image_mark(&s->im, i->target, MARK_LEADER | MARK_NAMED);
		image_mark(&s->im, addr + i->length, MARK_RETURN);
		if (s->now && s->hooks->n)
			s->now->is_hooked |= hooks_kind(s->hooks, i->target) ||
					     hooks_kind(s->hooks, i->data);
		break;
	default:
		break;
	}
	if (i->is_relative && i->kind != INSN_CALL_INDIRECT &&
	    i->kind != INSN_JUMP_INDIRECT)
		see_data(s, i);
	if (s->im.is_fixed && i->constant && image_is_code(&s->im, i->constant))
		image_mark(&s->im, i->constant, MARK_LEADER | MARK_NAMED);
}

static int ends_line(const struct insn *i)
{
	return i->kind == INSN_JUMP || i->kind == INSN_JUMP_INDIRECT ||
	       i->kind == INSN_RETURN || i->kind == INSN_TRAP;
}

static void sweep_function(struct sweep *s, uint32_t number)
{
	struct plan_function *now = &s->f->all[number];
	uint64_t n, addr = now->start;
	const uint8_t *bytes = image_bytes(&s->im, addr, &n);
	int is_behind_end = 0;
	struct insn i;

	s->now = now;
	s->number = number;
	s->n_straight = 0;
	if (!bytes) {
		now->is_unreadable = 1;
		return;
	}
	image_mark(&s->im, addr, MARK_LEADER);
	for (; addr < now->end; addr += i.length) {
		if (!insn_decode(&i, bytes + (addr - now->start),
				 now->end - addr, addr)) {
			now->is_unreadable = 1;
			return;
		}
		image_mark(&s->im, addr, MARK_CODE);
		if (is_behind_end && insn_is_filler(&i))
			image_mark_all(&s->im, addr, i.length, MARK_PADDING);
		else
			is_behind_end = ends_line(&i);
		see(s, &i, addr);
		see_end(s, &i, addr);
		follow(s, &i, bytes + (addr - now->start),
		       bytes + (now->end - now->start));
	}
}

/* Reads what is in no function: padding, or code that nothing describes. */
static void sweep_gap(struct sweep *s, uint64_t addr, uint64_t end)
{
	uint64_t n;
	const uint8_t *bytes = image_bytes(&s->im, addr, &n);
	int is_fill = 1;
	struct insn i;

	s->now = NULL;
	if (!bytes || !image_is_code(&s->im, addr))
		return;
	if (n < end - addr)
		end = addr + n;
	for (; addr < end; addr += i.length, bytes += i.length) {
		if (!insn_decode(&i, bytes, end - addr, addr)) {
			i.length = 1;
			is_fill = 0;
			continue;
		}
		is_fill &= insn_is_filler(&i);
		if (is_fill)
			image_mark_all(&s->im, addr, i.length, MARK_PADDING);
		else
			see(s, &i, addr);
	}
}

static int is_own(const struct sweep *s, uint32_t function)
{
	return function >= s->first && (function < s->end || s->end == s->f->n);
}

/* The gaps of each section, and the functions between them. */
static void *sweep_all(void *arg)
{
	struct sweep *s = arg;
	const struct functions *f = s->f;
	uint32_t next = 0;

	for (uint32_t k = 0; k < s->im.n_sections; k++) {
		const struct image_section *section = &s->im.sections[k];
		uint64_t addr = section->start;

		if (!section->is_code)
			continue;
		for (; next < f->n && f->all[next].start < section->end;
		     next++) {
			if (is_own(s, next) && addr < f->all[next].start)
				sweep_gap(s, addr, f->all[next].start);
			if (is_own(s, next))
				sweep_function(s, next);
			addr = f->all[next].end;
		}
		if (addr < section->end && is_own(s, next ? next - 1 : 0))
			sweep_gap(s, addr, section->end);
	}
	return NULL;
}

/* ---- several threads ----------------------------------------------------- */

static uint32_t n_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set)
		       ? 1
		       : (uint32_t)CPU_COUNT(&set);
}

/* Shares out the functions, by their bytes.  Returns among how many. */
static uint32_t share_out(struct sweep all[MOST_THREADS],
			  const struct sweep *whole)
{
	const struct functions *f = whole->f;
	uint64_t bytes = 0, worth, sum = 0;
	uint32_t n = n_processors(), k = 0;

	for (uint32_t i = 0; i < f->n; i++)
		bytes += f->all[i].end - f->all[i].start;
	worth = bytes / WORTH_BYTES + 1;
	if (n > MOST_THREADS)
		n = MOST_THREADS;
	if (worth < n)
		n = (uint32_t)worth;
	for (uint32_t i = 0; i < n; i++)
		all[i] = *whole;
	for (uint32_t i = 0; i < f->n && k + 1 < n; i++) {
		sum += f->all[i].end - f->all[i].start;
		if (sum >= bytes / n * (k + 1)) {
			all[k].end = i + 1;
			all[++k].first = i + 1;
		}
	}
	return k + 1;
}

static int sweep_init(struct sweep *s, int has_own_marks)
{
	size_t size = s->f->n * sizeof(*s->jumped_from);

	s->jumped_from = malloc(size + 1);
	if (has_own_marks)
		s->im.marks = calloc(s->im.code_end - s->im.code_start, 1);
	if (!s->jumped_from || !s->im.marks)
		return 0;
	memset(s->jumped_from, 0xff, size); /* FUNCTION_NONE */
	return 1;
}

/* Adds what s has found to what the first one has. */
static void sweep_join(struct sweep *to, const struct sweep *s)
{
	uint64_t n = s->im.code_end - s->im.code_start;

	for (uint64_t i = 0; i < n; i++)
		to->im.marks[i] |= s->im.marks[i];
	for (uint32_t i = 0; i < s->f->n; i++)
		to->jumped_from[i] =
			both_jump(to->jumped_from[i], s->jumped_from[i]);
	if (array_room(&to->ends, &to->cap_ends,
		       (uint64_t)to->n_ends + s->n_ends)) {
		to->failed = 1;
		return;
	}
	if (s->n_ends)
		memcpy(to->ends + to->n_ends, s->ends,
		       s->n_ends * sizeof(*s->ends));
	to->n_ends += s->n_ends;
	tables_join(&to->tables, &s->tables);
}

/* Reads all that *whole is to read. */
static void sweep_shared(struct sweep *whole)
{
	struct sweep all[MOST_THREADS];
	uint32_t n = share_out(all, whole);
	int are_running[MOST_THREADS] = {0};

	for (uint32_t i = 0; i < n; i++) {
		if (!sweep_init(&all[i], i > 0))
			all[i].failed = 1;
		else if (i > 0)
			are_running[i] = !worker_start(&all[i].thread,
						       sweep_all, &all[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (are_running[i])
			pthread_join(all[i].thread, NULL);
		else if (!all[i].failed)
			sweep_all(&all[i]);
	}
	for (uint32_t i = 1; i < n; i++) {
		if (!all[0].failed && !all[i].failed)
			sweep_join(&all[0], &all[i]);
		all[0].failed |= all[i].failed;
		free(all[i].im.marks);
		free(all[i].jumped_from);
		free(all[i].ends);
		tables_free(&all[i].tables);
	}
	*whole = all[0];
}

/* Bytes that something jumps to are not padding, nor are those behind them. */
static void drop_reached_padding(struct image *im)
{
	uint64_t n = im->code_end - im->code_start;
	int is_reached = 0;

	for (uint64_t i = 0; i < n; i++) {
		if (!(im->marks[i] & MARK_PADDING)) {
			is_reached = 0;
			continue;
		}
		is_reached |= im->marks[i] & (MARK_LEADER | MARK_RETURN);
		if (is_reached)
			im->marks[i] &= (uint8_t)~MARK_PADDING;
	}
}

static void mark_landing_pad(void *context, uint64_t addr)
{
	image_mark(context, addr, MARK_LEADER);
}

/* Finds the functions that moved parts are of: the only ones that jump to them.
 * Without symbols, a function that only one other one jumps to, and that
 * nothing calls, is taken for such a part. */
static void find_wholes(struct image *im, struct functions *f,
			const uint32_t *jumped_from)
{
	for (uint32_t i = 0; i < f->n; i++) {
		struct plan_function *now = &f->all[i];

		if (!now->is_cold && !*now->name &&
		    jumped_from[i] < FUNCTION_MANY &&
		    !(image_marks(im, now->start) & MARK_NAMED))
			now->is_cold = 1;
		if (now->is_cold)
			now->whole = jumped_from[i] < FUNCTION_MANY
					     ? jumped_from[i]
					     : FUNCTION_NONE;
	}
}

int sweep(struct image *im, struct functions *f, const struct frames *frames)
{
	struct hooks hooks = {0};
	struct sweep s = {.im = *im, .f = f, .hooks = &hooks, .end = f->n};

	hooks_find(&hooks, im, f);
	sweep_shared(&s);
	s.failed |= s.tables.failed;
	f->ends = s.ends;
	f->n_ends = s.n_ends;
	f->cap_ends = s.cap_ends;
	if (!s.failed) {
		for (uint32_t i = 0; i < frames->n; i++)
			frames_landing_pads(im, &frames->all[i],
					    mark_landing_pad, im);
		references_mark(im, f);
		tables_mark(&s.tables, im, f);
		drop_reached_padding(im);
		find_wholes(im, f, s.jumped_from);
	}
	tables_free(&s.tables);
	free(s.jumped_from);
	return s.failed ? CST_MEMORY : 0;
}
