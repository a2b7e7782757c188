/* SPDX-License-Identifier: MIT
 *
 * Tables are copied as far as their entries are complete, chunks as far as
 * their records are.  A chunk lies in our area at the index that it has in the
 * process's, and is not read on before our reader has done with what it held
 * before.  Nothing that is read is believed.
 */
#include "recorder/mirror.h"
#include "area/clock.h"
#include "base/array.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
	PIECE = 170,	/* records that are read at once where nobody knows how
			   many there are: 4 KiB */
	MOST_LOOKS = 3, /* at a full chunk with a hole */
	SITES_AT_ONCE = 1024,
	MEASURED_NS = 1000000, /* the least that tells a clock's rate */
	SAME_CLOCK_NS = 10000000,
};

/* What we have of a chunk. */
struct mirrored {
	uint32_t thread, seq; /* in the process's area */
	uint32_t n;	      /* so many records from the first on */
	uint8_t is_begun, is_done, n_looks;
};

/* The chunks of a thread. */
struct lane_seqs {
	uint32_t next;	   /* the one that comes next */
	uint32_t n_missed; /* chunks that were lost */
	uint8_t is_known;
};

void mirror_release(struct mirror *m)
{
	free(m->chunks);
	free(m->seqs);
	free(m->told);
	free(m->hooks);
	*m = (struct mirror){0};
}

/* ---- the process's memory --------------------------------------------------
 */

static int get(const struct mirror *m, uint64_t offset, void *out, uint64_t n)
{
	return n ? m->memory->copy(m->memory->arg, m->at + offset, out, n, 0)
		 : 0;
}

static int put(const struct mirror *m, uint64_t offset, const void *data,
	       uint64_t n)
{
	return m->memory->copy(m->memory->arg, m->at + offset, (void *)data, n,
			       1);
}

static int fail_reach(struct cst_error *err)
{
	return cst_fail(CST_FAILED, err,
			"the program's calls cannot be read from its memory");
}

/* ---- its clock -------------------------------------------------------------
 */

static uint64_t our_ticks(const struct mirror_clock *c, uint64_t ticks)
{
	int64_t d = (int64_t)(ticks - c->from);

	if (ticks <= 1) /* no time, see CST_ALTERNATE */
		return ticks;
	if (c->rate != 1ull << 32)
		d = (int64_t)(((__int128)d * (int64_t)c->rate) >> 32);
	return c->to + (uint64_t)d;
}

/* Our ticks for one of the process's, << 32; 0: too little time has passed. */
static uint64_t rate_of(const struct cst_area *head)
{
	uint64_t ticks = head->last_ticks - head->first_ticks;
	uint64_t ns = head->last_ns - head->first_ns;
	unsigned __int128 rate;
	uint32_t mult, shift;

	if (head->last_ns < head->first_ns + MEASURED_NS || !ticks)
		return 0;
	clock_rate(&mult, &shift); /* ours: ns = ticks * mult >> shift */
	rate = ((unsigned __int128)ns << shift) / (mult ? mult : 1);
	rate = (rate << 32) / ticks;
	/* Two measures of one clock differ by a little. */
	if (rate > (1ull << 32) / 100 * 99 && rate < (1ull << 32) / 100 * 101)
		return 1ull << 32;
	return rate > 1ull << 40 ? 0 : (uint64_t)rate;
}

/* Does it tell our own time? */
static int is_our_clock(const struct cst_area *head)
{
	uint64_t now, ns = head->first_ns, ticks;
	uint32_t mult, shift;

	clock_rate(&mult, &shift); /* which may sleep */
	now = clock_monotonic_ns();
	ticks = clock_ticks() - head->first_ticks;
	if (ns > now || head->first_ticks > clock_ticks())
		return 0;
	ticks = (uint64_t)(((unsigned __int128)ticks * mult) >> shift);
	return ticks + SAME_CLOCK_NS > now - ns &&
	       now - ns + SAME_CLOCK_NS > ticks;
}

/* A clock of its own: its newest moment that we know of is now.  The rate is
 * measured as soon as that can be. */
static void clock_look(struct mirror_clock *c, const struct cst_area *head)
{
	uint64_t newest = head->last_ticks > head->first_ticks
				  ? head->last_ticks
				  : head->first_ticks;
	uint64_t rate;

	if (c->is_measured)
		return;
	if (!c->rate && is_our_clock(head)) {
		*c = (struct mirror_clock){0, 0, 1ull << 32, 1};
		return;
	}
	rate = rate_of(head);
	c->to = c->rate ? our_ticks(c, newest) : clock_ticks();
	c->from = newest;
	c->rate = rate ? rate : 1ull << 32;
	c->is_measured = rate != 0;
}

/* ---- tables ----------------------------------------------------------------
 */

static uint32_t least(uint32_t n, uint32_t most)
{
	return n < most ? n : most;
}

static void copy_counts(const struct mirror *m, struct cst_area *to,
			const struct cst_area *from)
{
	to->n_lost_full = from->n_lost_full + m->n_missed;
	to->n_lost_sites = from->n_lost_sites;
	to->n_lost_threads = from->n_lost_threads;
	to->n_past_begin = from->n_past_begin;
	to->n_past_all = from->n_past_all;
	to->n_past_sealed = from->n_past_sealed;
	to->n_past_exec = from->n_past_exec;
	memcpy(to->past_exec, from->past_exec, sizeof(to->past_exec));
	to->n_ended = from->n_ended;
}

static int fetch_processes(struct mirror *m, struct area *a, uint32_t n)
{
	struct cst_process p;

	n = least(n, CST_MAX_PROCESSES);
	for (uint32_t i = 0; i < n; i++) {
		if (get(m, CST_AT_PROCESSES + i * sizeof(p), &p, sizeof(p)))
			return -1;
		p.start = our_ticks(&m->clock, p.start);
		p.end = our_ticks(&m->clock, p.end);
		a->processes[i] = p;
	}
	a->head->n_processes = n;
	return 0;
}

static int fetch_threads(struct mirror *m, struct area *a, uint32_t n)
{
	n = least(n, CST_MAX_THREADS);
	if (get(m, CST_AT_THREADS, a->threads, n * sizeof(*a->threads)))
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		a->threads[i].start = our_ticks(&m->clock, a->threads[i].start);
		a->threads[i].end = our_ticks(&m->clock, a->threads[i].end);
	}
	a->head->n_threads = n;
	return 0;
}

/* What was new the last time is read once more: who wrote it may have been
 * interrupted. */
static int fetch_text(struct mirror *m, struct area *a, uint32_t n)
{
	uint32_t from = m->text_again;

	n = least(n, CST_TEXT_SIZE);
	if (from > n)
		from = n;
	if (get(m, CST_AT_TEXT + from, (char *)a->text + from, n - from))
		return -1;
	m->text_again = least(a->head->n_text, n);
	a->head->n_text = n;
	return 0;
}

static int fetch_mappings(struct mirror *m, struct area *a, uint32_t n)
{
	uint32_t from = m->n_mappings;

	n = least(n, CST_MAX_MAPPINGS);
	if (n > from &&
	    get(m, CST_AT_MAPPINGS + from * sizeof(*a->mappings),
		&a->mappings[from], (n - from) * sizeof(*a->mappings)))
		return -1;
	while (m->n_mappings < n && a->mappings[m->n_mappings].is_complete)
		m->n_mappings++;
	a->head->n_mappings = n;
	return 0;
}

/* Leaves the sites that we have alone: the recorder has judged them. */
static int fetch_sites(struct mirror *m, struct area *a, uint32_t n)
{
	struct cst_site got[SITES_AT_ONCE];
	int has_gap = 0;

	n = least(n, CST_MAX_SITES);
	for (uint32_t i = m->n_sites, k; i < n; i += k) {
		k = least(n - i, SITES_AT_ONCE);
		if (get(m, CST_AT_SITES + i * sizeof(*got), got,
			k * sizeof(*got)))
			return -1;
		for (uint32_t j = 0; j < k; j++) {
			if (!a->sites[i + j].kind && got[j].kind) {
				got[j].verdict = CST_RECORDED;
				got[j].frame = 0;
				a->sites[i + j] = got[j];
			}
			has_gap |= !got[j].kind;
			if (!has_gap)
				m->n_sites = i + j + 1;
		}
	}
	a->head->n_sites = n;
	return 0;
}

static int fetch_tables(struct mirror *m, struct area *a,
			const struct cst_area *head)
{
	return fetch_processes(m, a, head->n_processes) ||
			       fetch_threads(m, a, head->n_threads) ||
			       fetch_text(m, a, head->n_text) ||
			       fetch_mappings(m, a, head->n_mappings) ||
			       fetch_sites(m, a, head->n_sites)
		       ? -1
		       : 0;
}

/* ---- chunks ----------------------------------------------------------------
 */

struct held {
	struct cst_chunk chunk; /* as the process has it */
	uint32_t index;
};

static int held_order(const void *a, const void *b)
{
	const struct cst_chunk *x = &((const struct held *)a)->chunk;
	const struct cst_chunk *y = &((const struct held *)b)->chunk;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* How many records the chunk can have. */
static uint32_t used_of(const struct cst_chunk *c)
{
	return c->state == CST_CHUNK_FULL && c->next < CST_CHUNK_RECORDS
		       ? c->next
		       : CST_CHUNK_RECORDS;
}

/* Reads on where the last complete record was; stops where there are no more.
 */
static int fetch_records(struct mirror *m, struct area *a, struct mirrored *k,
			 uint32_t index, uint32_t used, int is_full)
{
	struct cst_record *records = area_chunk(a, index);
	uint64_t at = CST_AT_CHUNKS + (uint64_t)index * CST_CHUNK_SIZE;

	for (uint32_t i = k->n, n; i < used; i += n) {
		n = is_full ? used - i : least(used - i, PIECE);
		if (get(m, at + i * sizeof(*records), &records[i],
			n * sizeof(*records)))
			return -1;
		for (uint32_t j = i; j < i + n; j++)
			records[j].time = our_ticks(&m->clock, records[j].time);
		if (!records[i + n - 1].time)
			break;
	}
	while (k->n < used && records[k->n].time)
		k->n++;
	return 0;
}

static struct lane_seqs *seqs_of(struct mirror *m, uint32_t thread)
{
	if (array_room(&m->seqs, &m->cap_seqs, thread + 1ull) < 0)
		return NULL;
	if (thread >= m->n_seqs)
		m->n_seqs = thread + 1;
	return &m->seqs[thread];
}

/* A chunk that was not there before; returns whether ours is free for it. */
static int begin_chunk(struct mirror *m, struct area *a, const struct held *h,
		       struct lane_seqs *s)
{
	struct mirrored *k = &m->chunks[h->index];
	struct cst_chunk *ours = &a->chunks[h->index];

	if (ours->state != CST_CHUNK_FREE)
		return 0;
	if (s->is_known && h->chunk.seq > s->next) {
		s->n_missed += h->chunk.seq - s->next;
		m->n_missed +=
			(uint64_t)(h->chunk.seq - s->next) * CST_CHUNK_RECORDS;
	} else if (!s->is_known) {
		s->n_missed = h->chunk.seq; /* from before we came */
	}
	s->is_known = 1;
	s->next = h->chunk.seq + 1;
	*k = (struct mirrored){
		.thread = h->chunk.thread,
		.seq = h->chunk.seq,
		.is_begun = 1,
	};
	ours->thread = h->chunk.thread;
	ours->seq = h->chunk.seq - s->n_missed;
	ours->next = 0;
	ours->state = CST_CHUNK_OPEN;
	return 1;
}

static int is_begun(const struct mirror *m, const struct held *h)
{
	const struct mirrored *k = &m->chunks[h->index];

	return k->is_begun && k->thread == h->chunk.thread &&
	       k->seq == h->chunk.seq;
}

/* Returns 1 if all of it is read, 0 if not, -1 if that failed. */
static int fetch_chunk(struct mirror *m, struct area *a, const struct held *h)
{
	struct mirrored *k = &m->chunks[h->index];
	struct cst_chunk *ours = &a->chunks[h->index];
	uint32_t used = used_of(&h->chunk);

	if (k->is_done)
		return 1;
	if (fetch_records(m, a, k, h->index, used,
			  h->chunk.state == CST_CHUNK_FULL) < 0)
		return -1;
	if (h->chunk.state != CST_CHUNK_FULL ||
	    (k->n < used && ++k->n_looks < MOST_LOOKS))
		return 0;
	ours->next = used;
	ours->state = CST_CHUNK_FULL;
	k->is_done = 1;
	return 1;
}

static int mark_read(const struct mirror *m, uint32_t index)
{
	uint32_t state = CST_CHUNK_READ;

	return put(m,
		   CST_AT_CHUNK_STATES +
			   (uint64_t)index * sizeof(struct cst_chunk) +
			   offsetof(struct cst_chunk, state),
		   &state, sizeof(state));
}

/* Fetches each thread's chunks in their order: what comes behind one that is
 * not ours yet waits, too. */
static int fetch_held(struct mirror *m, struct area *a, const struct held *all,
		      uint32_t n)
{
	uint32_t waiting = UINT32_MAX;

	for (uint32_t i = 0; i < n; i++) {
		const struct held *h = &all[i];
		struct lane_seqs *s = seqs_of(m, h->chunk.thread);
		int got;

		if (!s || h->chunk.thread == waiting)
			continue;
		if (!is_begun(m, h) && !begin_chunk(m, a, h, s)) {
			waiting = h->chunk.thread;
			continue;
		}
		got = fetch_chunk(m, a, h);
		if (got < 0 || (got && mark_read(m, h->index)))
			return -1;
	}
	return 0;
}

static int fetch_chunks(struct mirror *m, struct area *a, uint32_t n)
{
	struct cst_chunk *states;
	struct held *all;
	uint32_t n_held = 0;
	int status = -1;

	n = least(n, a->max_chunks);
	while (a->n_chunks < n)
		area_grow(a);
	states = calloc(n + 1, sizeof(*states));
	all = calloc(n + 1, sizeof(*all));
	if (states && all &&
	    !get(m, CST_AT_CHUNK_STATES, states, n * sizeof(*states))) {
		for (uint32_t i = 0; i < n; i++)
			if ((states[i].state == CST_CHUNK_OPEN ||
			     states[i].state == CST_CHUNK_FULL) &&
			    states[i].thread < CST_MAX_THREADS)
				all[n_held++] = (struct held){states[i], i};
		qsort(all, n_held, sizeof(*all), held_order);
		status = fetch_held(m, a, all, n_held);
	}
	free(states);
	free(all);
	return status;
}

/* ---- back to the process ---------------------------------------------------
 */

/* Sites [from, to) of which something else is known now. */
static int tell_sites(const struct mirror *m, const struct area *a,
		      uint32_t from, uint32_t to)
{
	const uint32_t *has_verdicts = &a->head->has_verdicts;
	uint64_t n = to - from;

	/* The entries first: with the verdict a hook uses them. */
	return put(m, offsetof(struct cst_area, has_verdicts), has_verdicts,
		   sizeof(*has_verdicts)) ||
	       put(m, CST_AT_COPIES + from * sizeof(*a->copies),
		   &a->copies[from], n * sizeof(*a->copies)) ||
	       put(m, CST_AT_SITES + from * sizeof(*a->sites), &a->sites[from],
		   n * sizeof(*a->sites));
}

static int is_news(const struct mirror *m, const struct area *a, uint32_t site)
{
	return a->sites[site].verdict != m->told[site];
}

/* What hooks that have no site yet are to copy. */
static int tell_hooks(struct mirror *m, const struct area *a)
{
	enum { AT_ONCE = 256 };
	const uint32_t *wants_values = &a->head->wants_values;

	for (uint32_t i = 0; i < CST_MAX_HOOKS; i += AT_ONCE) {
		uint64_t n = AT_ONCE * sizeof(*m->hooks);

		if (!memcmp(&m->hooks[i], &a->hooks[i], n))
			continue;
		memcpy(&m->hooks[i], &a->hooks[i], n);
		if (put(m, CST_AT_HOOKS + i * sizeof(*m->hooks), &m->hooks[i],
			n))
			return -1;
	}
	return put(m, offsetof(struct cst_area, n_hooks), &a->head->n_hooks,
		   sizeof(a->head->n_hooks)) ||
	       put(m, offsetof(struct cst_area, wants_values), wants_values,
		   sizeof(*wants_values));
}

int mirror_tell(struct mirror *m, const struct area *a, struct cst_error *err)
{
	uint32_t n_steps = a->head->n_copies, from = CST_FIRST_SITE, to;
	int failed = 0;

	if (!m->at)
		return 0;
	if (array_room(&m->told, &m->cap_told, m->n_sites) < 0)
		return cst_fail_memory(err);
	if (n_steps > m->n_steps)
		failed = put(m, CST_AT_STEPS + m->n_steps * sizeof(*a->steps),
			     &a->steps[m->n_steps],
			     (n_steps - m->n_steps) * sizeof(*a->steps));
	failed = failed || tell_hooks(m, a);
	for (; !failed && from < m->n_sites; from = to) {
		for (to = from; to < m->n_sites && is_news(m, a, to); to++)
			m->told[to] = a->sites[to].verdict;
		if (to > from)
			failed = tell_sites(m, a, from, to);
		else
			to++;
	}
	if (failed)
		return fail_reach(err);
	m->n_steps = n_steps;
	return 0;
}

/* ---- all of it -------------------------------------------------------------
 */

static int prepare(struct mirror *m, uint64_t at)
{
	const struct cst_memory *memory = m->memory;

	if (m->at == at)
		return 0;
	mirror_release(m);
	m->memory = memory;
	m->at = at;
	m->n_sites = CST_FIRST_SITE;
	m->chunks = calloc(CST_MAX_CHUNKS, sizeof(*m->chunks));
	m->hooks = calloc(CST_MAX_HOOKS, sizeof(*m->hooks));
	return m->chunks && m->hooks ? 0 : -1;
}

static int is_area(const struct cst_area *head)
{
	return head->magic == CST_AREA_MAGIC && head->layout == CST_LAYOUT &&
	       head->size == CST_AREA_SIZE;
}

/* Shows the process that somebody was there. */
static int answer(struct mirror *m, const struct cst_area *head)
{
	uint32_t n = head->n_flight_reads + 1;

	return put(m, offsetof(struct cst_area, n_flight_reads), &n, sizeof(n));
}

int mirror_fetch(struct mirror *m, struct area *a, uint64_t at,
		 struct cst_error *err)
{
	struct cst_area head;

	if (prepare(m, at) < 0)
		return cst_fail_memory(err);
	if (get(m, 0, &head, sizeof(head)))
		return fail_reach(err);
	if (!is_area(&head))
		return cst_fail(CST_FAILED, err,
				"the program has no area of this version");
	clock_look(&m->clock, &head);
	if (fetch_tables(m, a, &head) || fetch_chunks(m, a, head.n_chunks) ||
	    answer(m, &head))
		return fail_reach(err);
	copy_counts(m, a->head, &head);
	return 0;
}
