/* SPDX-License-Identifier: MIT
 *
 * A ring of entries, which each span claims one of by its number.  An entry
 * that is written while another thread prints it may be printed with a mixture
 * of two spans' data; its number is looked at behind the rest, and it is left
 * out then.
 */
#include "program/kept_spans.h"
#include "core/open_calls.h"
#include "core/signals.h"
#include "core/watch.h"
#include "kernel/lock.h"
#include "kernel/symbols.h"
#include "kernel/syscall.h"
#include "kernel/output.h"

enum { MAX_SPANS = 1 << 20, INDENT = 2, MAX_LEVEL = 64 };

struct kept_span {
	uint64_t number; /* written last; 0: it is being written */
	const struct cstrace_place *place;
	uint64_t start, end; /* ticks; end 0: it is open */
	uint64_t id;	     /* async */
	uint32_t tid;
	uint16_t level; /* 1: within no other */
	uint16_t is_async;
};

struct ring {
	uint64_t n;    /* a power of two */
	uint64_t next; /* the number of the next span, from 1 */
	struct kept_span spans[];
};

/* Never unmapped: a thread may be about to write into it. */
static struct ring *ring;

static uint64_t ring_size(uint64_t n)
{
	return sizeof(struct ring) + n * sizeof(struct kept_span);
}

/* Under the lock. */
static int ring_make(uint32_t n)
{
	uint64_t room = 16;
	struct ring *r = ring;
	long got;

	while (room < n && room < MAX_SPANS)
		room *= 2;
	if (!r || r->n < room) {
		got = sys_mmap(0, ring_size(room), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1);
		if (got <= 0)
			return -1;
		r = (struct ring *)got;
		r->next = 1;
		r->n = room;
	} else {
		for (uint64_t i = 0; i < r->n; i++)
			__atomic_store_n(&r->spans[i].number, 0,
					 __ATOMIC_RELAXED);
	}
	__atomic_store_n(&ring, r, __ATOMIC_RELEASE);
	return 0;
}

int kept_spans_keep(uint32_t n)
{
	uint64_t mask;
	int status = 0;

	watch_set(WATCH_SPANS, 0);
	mask = signals_block();
	lock_take();
	if (n || ring)
		status = ring_make(n);
	lock_drop();
	signals_restore(mask);
	if (n && !status)
		watch_set(WATCH_SPANS, 1);
	return status;
}

static int is_kept(void)
{
	return (__atomic_load_n(&watch_wanted, __ATOMIC_RELAXED) &
		WATCH_SPANS) != 0;
}

static struct kept_span *span_of(uint64_t number)
{
	struct ring *r = __atomic_load_n(&ring, __ATOMIC_ACQUIRE);
	struct kept_span *s = &r->spans[number & (r->n - 1)];

	return __atomic_load_n(&s->number, __ATOMIC_ACQUIRE) == number ? s
								       : NULL;
}

static uint64_t begin(const struct kept_span *data)
{
	struct ring *r = __atomic_load_n(&ring, __ATOMIC_ACQUIRE);
	uint64_t number = __atomic_fetch_add(&r->next, 1, __ATOMIC_RELAXED);
	struct kept_span *s = &r->spans[number & (r->n - 1)];

	__atomic_store_n(&s->number, 0, __ATOMIC_RELEASE);
	s->place = data->place;
	s->id = data->id;
	s->level = data->level;
	s->is_async = data->is_async;
	s->tid = open_calls_tid();
	__atomic_store_n(&s->end, 0, __ATOMIC_RELAXED);
	s->start = clock_ticks();
	__atomic_store_n(&s->number, number, __ATOMIC_RELEASE);
	return number;
}

uint64_t kept_spans_begin(const struct cstrace_place *place, uint32_t level)
{
	const struct kept_span s = {.place = place,
				    .level = level < MAX_LEVEL ? (uint16_t)level
							       : MAX_LEVEL};

	return is_kept() ? begin(&s) : 0;
}

void kept_spans_end(uint64_t number)
{
	struct kept_span *s = is_kept() ? span_of(number) : NULL;

	if (s)
		__atomic_store_n(&s->end, clock_ticks(), __ATOMIC_RELAXED);
}

void kept_spans_begin_async(const struct cstrace_place *place, uint64_t id)
{
	const struct kept_span s = {
		.place = place, .id = id, .level = 1, .is_async = 1};

	if (is_kept())
		begin(&s);
}

static int is_name(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* The first of the ring and the one behind the last. */
static void numbers(uint64_t *first, uint64_t *end)
{
	*end = __atomic_load_n(&ring->next, __ATOMIC_ACQUIRE);
	*first = *end > ring->n ? *end - ring->n : 1;
}

void kept_spans_end_async(const struct cstrace_place *place, uint64_t id)
{
	uint64_t first, i;

	if (!is_kept())
		return;
	for (numbers(&first, &i); i-- > first;) {
		struct kept_span *s = span_of(i);

		if (!s || !s->is_async || s->id != id || s->end ||
		    !is_name(s->place->name, place->name))
			continue;
		__atomic_store_n(&s->end, clock_ticks(), __ATOMIC_RELAXED);
		return;
	}
}

/* ---- printing ---------------------------------------------------------------
 */

static void put_time(struct output *o, uint64_t ns)
{
	if (ns < 10000) {
		output_number(o, ns, 10);
		output_text(o, " ns");
	} else if (ns < 10000000) {
		output_number(o, (ns + 500) / 1000, 10);
		output_text(o, " us");
	} else {
		output_number(o, (ns + 500000) / 1000000, 10);
		output_text(o, " ms");
	}
}

static void put_span(struct output *o, const struct kept_span *s)
{
	for (int i = 0; i < (s->level - 1) * INDENT; i++)
		output_char(o, ' ');
	output_text(o, "| ");
	output_text(o, s->place->name);
	if (s->is_async) {
		output_text(o, " #");
		output_number(o, s->id, 10);
	}
	output_text(o, " at ");
	output_text(o, symbols_base_name(s->place->file));
	output_char(o, ':');
	output_number(o, s->place->line, 10);
	if (s->end) {
		output_text(o, " takes ");
		put_time(o, watch_ns(s->end - s->start));
	} else {
		output_text(o, " is open");
	}
	output_char(o, '\n');
}

/* The spans of one thread, in the order of their begins. */
static void put_thread(struct output *o, uint32_t tid)
{
	uint64_t first, end;

	numbers(&first, &end);
	for (uint64_t i = first; i < end; i++) {
		const struct kept_span *at = span_of(i);
		struct kept_span s;

		if (!at || at->tid != tid)
			continue;
		s.place = at->place;
		s.start = at->start;
		s.end = __atomic_load_n(&at->end, __ATOMIC_RELAXED);
		s.id = at->id;
		s.level = at->level ? at->level : 1;
		s.is_async = at->is_async;
		if (span_of(i) == at)
			put_span(o, &s);
	}
}

enum { MAX_THREADS_SHOWN = 64 };

void kept_spans_dump(int fd)
{
	struct output o = {.fd = fd, .n = 0};
	uint32_t tids[MAX_THREADS_SHOWN], n = 0, j;
	uint64_t first, end;

	if (!__atomic_load_n(&ring, __ATOMIC_ACQUIRE))
		return;
	numbers(&first, &end);
	for (uint64_t i = first; i < end; i++) {
		const struct kept_span *s = span_of(i);

		for (j = 0; s && j < n && tids[j] != s->tid; j++)
			;
		if (s && j == n && n < MAX_THREADS_SHOWN)
			tids[n++] = s->tid;
	}
	for (j = 0; j < n; j++) {
		if (n > 1) {
			output_text(&o, "thread ");
			output_number(&o, tids[j], 10);
			output_char(&o, '\n');
		}
		put_thread(&o, tids[j]);
	}
	output_flush(&o);
}
