/* SPDX-License-Identifier: MIT
 *
 * A frame holds what its call may be (candidates), and for each of these how
 * far its children were taken (positions, several where lines can be read in
 * more than one way).  Frames, candidates and positions are stacks that grow
 * and shrink together, so the top frame's are always the last ones.
 */
#include "golden/matcher.h"
#include "base/array.h"
#include "base/text.h"
#include "rows/row.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	MOST_POSITIONS = 4096, /* of one candidate */
	UNKNOWN = 0,
	MATCHES = 1,
	DIFFERS = 2,
};

/* ---- does a line tell of this function? ---------------------------------- */

/* A golden tree may have a function's full name, its simple one, or what rows
 * call it. */
static int name_fits(const struct matcher *m, uint32_t pattern,
		     uint32_t function)
{
	const struct golden_pattern *p = &m->golden->patterns[pattern];
	const struct names *names = m->t->names;
	char name[ROW_MAX];

	*row_put_text(name, names->functions[function].name, 4000) = '\0';
	if (golden_matches(p, name))
		return 1;
	*row_put_text(name, names->functions[function].simple, 4000) = '\0';
	if (golden_matches(p, name))
		return 1;
	for (int how = CST_NAMES_SIMPLE; how <= CST_NAMES_FULL; how++) {
		*row_put_function(name, names, function, how, 4000) = '\0';
		if (golden_matches(p, name))
			return 1;
	}
	return 0;
}

static int pattern_fits(struct matcher *m, uint32_t pattern, uint32_t function)
{
	const struct names *names = m->t->names;
	uint8_t *verdict =
		&m->verdicts[(size_t)pattern * names->n_functions + function];

	if (*verdict == UNKNOWN)
		*verdict = name_fits(m, pattern, function) ? MATCHES : DIFFERS;
	return *verdict == MATCHES;
}

/* "file.c" is any line of it. */
static int site_fits(const char *wanted, const struct call_site *site)
{
	char file[512], line[544];

	if (!site->file)
		return 0;
	snprintf(file, sizeof(file), "%s", text_last_name(site->file));
	snprintf(line, sizeof(line), "%s:%u", file, site->line);
	return golden_glob(wanted, line) || golden_glob(wanted, file);
}

static int item_fits(struct matcher *m, const struct golden_item *item,
		     const struct shown *call)
{
	const struct call_site *site = &m->t->names->sites[call->site];
	const char *wanted = m->golden->patterns[item->pattern].site;

	return pattern_fits(m, item->pattern, site->function) &&
	       (item->end < 0 || item->end == call->end) &&
	       (!wanted || site_fits(wanted, &m->t->names->sites[call->from]));
}

/* ---- positions ----------------------------------------------------------- */

static const struct golden_item *item_of(const struct matcher *m, uint32_t id)
{
	return &m->golden->items[id];
}

static int position_add(struct matcher *m, uint32_t first,
			const struct position *p)
{
	for (uint32_t i = first; i < m->n_positions; i++)
		if (!memcmp(&m->positions[i], p, sizeof(*p)))
			return 0;
	m->is_ambiguous |= m->n_positions - first > MOST_POSITIONS;
	if (m->is_ambiguous)
		return CST_BAD_INPUT;
	if (array_room(&m->positions, &m->cap_positions,
		       m->n_positions + 1ull) < 0)
		return CST_MEMORY;
	m->positions[m->n_positions++] = *p;
	return 0;
}

/* ---- candidates ---------------------------------------------------------- */

static int candidate_add(struct matcher *m, uint32_t item)
{
	struct open_frame *f = &m->frames[m->n_frames - 1];
	struct position begin = {0};
	uint32_t first = m->n_positions;

	for (uint32_t i = f->first; i < f->first + f->n; i++)
		if (m->candidates[i].item == item)
			return 0;
	if (array_room(&m->candidates, &m->cap_candidates,
		       m->n_candidates + 1ull) < 0)
		return CST_MEMORY;
	if (item != MATCHER_ANY) {
		begin.item = item_of(m, item)->first;
		if (position_add(m, first, &begin) < 0)
			return CST_MEMORY;
		if (item_of(m, item)->never != GOLDEN_NONE)
			f->nevers = m->n_frames;
	}
	m->candidates[m->n_candidates++] =
		(struct candidate){item, first, m->n_positions - first, 0};
	f->n++;
	return 0;
}

struct entering {
	struct matcher *m;
	const struct shown *call;
	int failed;
};

static int enter_item(void *arg, uint32_t id, const struct position *after)
{
	struct entering *e = arg;
	const struct golden_item *item = item_of(e->m, id);

	(void)after;
	if (item->kind == ITEM_ANY)
		id = MATCHER_ANY;
	else if (!item_fits(e->m, item, e->call))
		return 1;
	e->failed |= candidate_add(e->m, id) < 0;
	return 1;
}

static int frame_push(struct matcher *m, const struct shown *call)
{
	struct open_frame *f;

	if (array_room(&m->frames, &m->cap_frames, m->n_frames + 1ull) < 0)
		return CST_MEMORY;
	f = &m->frames[m->n_frames++];
	*f = (struct open_frame){.call = *call,
				 .first = m->n_candidates,
				 .positions = m->n_positions,
				 .nevers = m->n_frames > 1 ? f[-1].nevers : 0};
	return 0;
}

static void frame_pop(struct matcher *m)
{
	const struct open_frame *f = &m->frames[--m->n_frames];

	m->n_candidates = f->first;
	m->n_positions = f->positions;
}

/* ---- what was expected --------------------------------------------------- */

/* No candidate of the top frame can go on. */
static int fail(struct matcher *m, const struct shown *call)
{
	const struct open_frame *f = &m->frames[m->n_frames - 1];

	m->mismatch = (struct mismatch){.below = MATCHER_ANY};
	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		const struct candidate *c = &m->candidates[i];

		if (!c->is_out)
			mismatch_explain(&m->mismatch, m->golden, c->item,
					 &m->positions[c->first], c->n, call);
	}
	return 0;
}

static void note_near_miss(struct matcher *m, const struct open_frame *f,
			   const struct candidate *c,
			   const struct position *positions,
			   const struct shown *call)
{
	if (m->near.is_set || c->item == MATCHER_ANY ||
	    item_of(m, c->item)->kind != ITEM_CALL)
		return;
	m->near = (struct near_miss){
		.call = f->call, .item = c->item, .is_set = 1};
	mismatch_explain(&m->near.why, m->golden, c->item, positions, c->n,
			 call);
}

/* ---- calls that must not be ---------------------------------------------- */

static uint32_t find_never(struct matcher *m, uint32_t item,
			   const struct shown *call)
{
	uint32_t function = m->t->names->sites[call->site].function;
	uint32_t never =
		item == MATCHER_ANY ? GOLDEN_NONE : item_of(m, item)->never;

	while (never != GOLDEN_NONE &&
	       !pattern_fits(m, m->golden->nevers[never].pattern, function))
		never = m->golden->nevers[never].next;
	return never;
}

static void note_struck(struct matcher *m, const struct open_frame *f,
			const struct candidate *c, const struct shown *call,
			uint32_t never)
{
	if (m->near.is_set || item_of(m, c->item)->kind != ITEM_CALL)
		return;
	m->near = (struct near_miss){
		.call = f->call,
		.item = c->item,
		.is_set = 1,
		.why = {.kind = MISMATCH_NEVER, .call = *call, .never = never}};
}

/* The candidates of a frame that forbid the call are out. Returns how many are
 * left, or -1 when nothing has changed. */
static int strike(struct matcher *m, const struct open_frame *f,
		  const struct shown *call, uint32_t *never)
{
	int n_left = 0, n_struck = 0;

	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		struct candidate *c = &m->candidates[i];
		uint32_t found =
			c->is_out ? GOLDEN_NONE : find_never(m, c->item, call);

		if (found != GOLDEN_NONE) {
			*never = found;
			c->is_out = 1;
			n_struck++;
			note_struck(m, f, c, call, found);
		}
		n_left += !c->is_out;
	}
	return n_struck ? n_left : -1;
}

static int strike_nevers(struct matcher *m, const struct shown *call)
{
	uint32_t at = m->frames[m->n_frames - 1].nevers, never = 0;

	while (at) {
		if (strike(m, &m->frames[at - 1], call, &never) == 0) {
			m->near.is_set = 0;
			m->mismatch = (struct mismatch){.kind = MISMATCH_NEVER,
							.call = *call,
							.never = never};
			return 0;
		}
		at = at > 1 ? m->frames[at - 2].nevers : 0;
	}
	return 1;
}

static int give_up(const struct matcher *m, struct cst_error *err)
{
	return m->is_ambiguous
		       ? cst_fail(CST_BAD_INPUT, err,
				  "%.200s can be read in too many ways: make "
				  "its patterns or counts narrower",
				  m->golden->path)
		       : cst_fail_memory(err);
}

/* ---- leave --------------------------------------------------------------- */

static int is_accepted(const struct matcher *m, uint32_t item)
{
	if (item_of(m, item)->kind == ITEM_ANY)
		item = MATCHER_ANY;
	for (uint32_t i = 0; i < m->n_accepted; i++)
		if (m->accepted[i] == item)
			return 1;
	return 0;
}

static int may_leave(const struct matcher *m, const struct candidate *c)
{
	if (c->item == MATCHER_ANY)
		return 1;
	for (uint32_t i = 0; i < c->n; i++)
		if (position_may_end(m->golden, &m->positions[c->first + i]))
			return 1;
	return 0;
}

/* What the call on top may have been, now that it is over. */
static int accept(struct matcher *m)
{
	const struct open_frame *f = &m->frames[m->n_frames - 1];

	m->n_accepted = 0;
	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		const struct candidate *c = &m->candidates[i];

		if (c->is_out || !may_leave(m, c))
			continue;
		if (array_room(&m->accepted, &m->cap_accepted,
			       m->n_accepted + 1ull) < 0)
			return CST_MEMORY;
		m->accepted[m->n_accepted++] = c->item;
	}
	/* With none it is no near miss but the mismatch itself. */
	for (uint32_t i = f->first; m->n_accepted && i < f->first + f->n; i++) {
		const struct candidate *c = &m->candidates[i];

		if (!c->is_out && !may_leave(m, c))
			note_near_miss(m, f, c, &m->positions[c->first], NULL);
	}
	return 0;
}

struct advancing {
	struct matcher *m;
	uint32_t first;
	int failed;
};

static int advance_item(void *arg, uint32_t id, const struct position *after)
{
	struct advancing *a = arg;

	if (is_accepted(a->m, id))
		a->failed |= position_add(a->m, a->first, after) < 0;
	return 1;
}

/* Behind the call that was just left. */
static int candidate_advance(struct matcher *m, struct candidate *c,
			     const struct shown *call)
{
	const struct open_frame *f = &m->frames[m->n_frames - 1];
	const struct position *before;
	struct advancing a = {m, m->n_positions, 0};

	if (c->item == MATCHER_ANY)
		return 0; /* it has no positions */
	before = &m->before[c->first - f->positions];
	for (uint32_t i = 0; i < c->n && !c->is_out; i++)
		position_reach(m->golden, &before[i], advance_item, &a);
	if (m->n_positions == a.first) {
		if (!c->is_out)
			note_near_miss(m, f, c, before, call);
		c->is_out = 1;
	}
	c->first = a.first;
	c->n = m->n_positions - a.first;
	return a.failed ? CST_MEMORY : 0;
}

static int advance(struct matcher *m, const struct shown *call)
{
	const struct open_frame *f = &m->frames[m->n_frames - 1];
	uint32_t n = m->n_positions - f->positions, n_left = 0;

	if (array_room(&m->before, &m->cap_before, n) < 0)
		return CST_MEMORY;
	if (n)
		memcpy(m->before, &m->positions[f->positions],
		       n * sizeof(*m->before));
	m->n_positions = f->positions;
	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		if (candidate_advance(m, &m->candidates[i], call) < 0)
			return CST_MEMORY;
		n_left += !m->candidates[i].is_out;
	}
	if (n_left)
		return 1;
	m->mismatch = (struct mismatch){
		.kind = MISMATCH_CALL, .call = *call, .below = MATCHER_ANY};
	return 0;
}

static int leave(struct matcher *m, struct cst_error *err)
{
	struct shown call = m->frames[m->n_frames - 1].call;
	int status = 1;

	if (accept(m) < 0)
		return give_up(m, err);
	if (!m->n_accepted)
		return fail(m, NULL);
	if (m->n_frames > 1) {
		frame_pop(m);
		status = advance(m, &call);
	}
	return status < 0 ? give_up(m, err) : status;
}

/* ---- the whole ----------------------------------------------------------- */

int matcher_init(struct matcher *m, const struct cst_trace *t,
		 const struct golden *golden, struct cst_error *err)
{
	size_t n = (size_t)golden->n_patterns * t->names->n_functions;

	*m = (struct matcher){.t = t, .golden = golden};
	m->verdicts = calloc(n + 1, 1);
	return m->verdicts ? 0 : cst_fail_memory(err);
}

void matcher_release(struct matcher *m)
{
	free(m->frames);
	free(m->candidates);
	free(m->positions);
	free(m->before);
	free(m->accepted);
	free(m->verdicts);
	*m = (struct matcher){0};
}

int matcher_begin(struct matcher *m, uint32_t root, struct cst_error *err)
{
	const struct shown none = {0};

	m->n_frames = m->n_candidates = m->n_positions = 0;
	m->near.is_set = 0;
	if (frame_push(m, &none) < 0 || candidate_add(m, root) < 0)
		return give_up(m, err);
	return 1;
}

/* Is whatever it calls right? */
static int is_free(const struct matcher *m)
{
	const struct open_frame *f = &m->frames[m->n_frames - 1];

	return f->n == 1 && !f->nevers &&
	       m->candidates[f->first].item == MATCHER_ANY;
}

static int enter(struct matcher *m, const struct shown *call)
{
	struct entering e = {m, call, 0};
	uint32_t above = m->n_frames - 1, first = m->frames[above].first;

	if (frame_push(m, call) < 0)
		return CST_MEMORY;
	for (uint32_t i = first; i < first + m->frames[above].n; i++) {
		struct candidate c = m->candidates[i];

		if (c.item == MATCHER_ANY)
			e.failed |= candidate_add(m, MATCHER_ANY) < 0;
		for (uint32_t k = 0; k < c.n && !c.is_out; k++) {
			struct position from = m->positions[c.first + k];

			position_reach(m->golden, &from, enter_item, &e);
		}
	}
	return e.failed ? CST_MEMORY : 0;
}

int matcher_take(struct matcher *m, const struct shown *call,
		 struct cst_error *err)
{
	int status = 1;

	while (m->n_frames > 1 &&
	       m->frames[m->n_frames - 1].call.depth >= call->depth) {
		status = leave(m, err);
		if (status <= 0)
			return status;
	}
	if (m->n_frames > 1 && is_free(m))
		return 1;
	if (!strike_nevers(m, call))
		return 0;
	if (enter(m, call) < 0)
		return cst_fail_memory(err);
	if (m->frames[m->n_frames - 1].n)
		return 1;
	frame_pop(m);
	return fail(m, call);
}

int matcher_end(struct matcher *m, struct cst_error *err)
{
	int status = 1;

	while (status > 0 && m->n_frames > 1)
		status = leave(m, err);
	return status > 0 ? leave(m, err) : status;
}
