/* SPDX-License-Identifier: MIT
 *
 * Packs the calls of a trace for the page, a piece at a time, without those
 * that are too short or too many to be drawn.
 */
#include "formats/html_calls.h"
#include "base/array.h"
#include "formats/html_data.h"
#include "names/values_text.h"

#include <stdlib.h>

enum {
	PIECE = 1 << 16, /* calls */
	TEXT_BYTES = 1 << 20,
	NO_LEVEL = UINT32_MAX,
};

enum { POPS, SITES, FROMS, STARTS, DURATIONS, NUMBERS, THREADS, ENDS, COLUMNS };

/* An open call. */
struct open {
	uint64_t place;	    /* in its lane, of those that were put */
	uint64_t n_without; /* callees left out */
	uint32_t kept;	    /* level of the nearest call put, or NO_LEVEL */
};

struct html_calls {
	struct tour *tour;
	uint64_t least_ns, n_left;
	uint64_t n_put, n_lost;
	struct open *open;
	uint32_t n_open, cap;
	/* The piece in the making, and its lane so far. */
	struct bytes columns[COLUMNS];
	struct bytes without, texts, raw;
	uint64_t n_without, n_texts;
	const struct names *names; /* borrowed */
	uint64_t place, start_ns, number;
	uint32_t lane, n, depth;
	uint8_t is_first, is_over;
	struct stop stop; /* the lane's first, put off */
};

int html_calls_new(const struct cst_trace *t, const struct cst_choice *choice,
		   uint64_t least_ns, uint64_t n_most, struct html_calls **out,
		   struct cst_error *err)
{
	struct html_calls *h = calloc(1, sizeof(*h));
	int status;

	if (!h)
		return cst_fail_memory(err);
	h->least_ns = least_ns;
	h->n_left = n_most;
	h->names = t->names;
	status = tour_new(t, choice, &h->tour, err);
	if (status == 0)
		status = tour_next(h->tour, &h->stop, err);
	h->is_over = status == 0;
	if (status < 0)
		html_calls_free(h);
	else
		*out = h;
	return status < 0 ? status : 0;
}

void html_calls_free(struct html_calls *h)
{
	if (!h)
		return;
	tour_free(h->tour);
	free(h->open);
	for (int i = 0; i < COLUMNS; i++)
		bytes_release(&h->columns[i]);
	bytes_release(&h->without);
	bytes_release(&h->texts);
	bytes_release(&h->raw);
	free(h);
}

uint64_t html_calls_n(const struct html_calls *h)
{
	return h->n_put;
}

uint64_t html_calls_n_lost(const struct html_calls *h)
{
	return h->n_lost;
}

/* The calls of this level and deeper are over. */
static void close_calls(struct html_calls *h, uint32_t level)
{
	while (h->n_open > level) {
		const struct open *o = &h->open[--h->n_open];

		if (!o->n_without)
			continue;
		html_put_number(&h->without, o->place);
		html_put_number(&h->without, o->n_without);
		h->n_without++;
	}
}

static struct open *open_call(struct html_calls *h)
{
	if (array_room(&h->open, &h->cap, h->n_open + 1ull) < 0)
		return NULL;
	return &h->open[h->n_open++];
}

/* What a row has behind the name, or in its place: values, a message. */
static void put_text(struct html_calls *h, const struct shown *call)
{
	const struct function *f =
		&h->names->functions[h->names->sites[call->site].function];
	char text[VALUES_ROOM];
	size_t n;

	if (!call->values && f->kind != KIND_MESSAGE)
		return;
	n = (size_t)(values_put_row(text, f, call->values, 0) - text);
	html_put_number(&h->texts, h->place);
	html_put_number(&h->texts, n);
	bytes_put(&h->texts, text, n);
	h->n_texts++;
}

static void put_call(struct html_calls *h, const struct shown *call,
		     uint32_t level)
{
	uint64_t step = call->number - h->number - 1;
	struct bytes *to = h->columns;

	html_put_number(&to[POPS], h->depth - level);
	html_put_number(&to[SITES], call->site);
	html_put_number(&to[FROMS],
			call->from == call->site ? 0 : call->from + 1u);
	html_put_number(&to[STARTS], call->start_ns - h->start_ns);
	html_put_number(&to[DURATIONS], call->duration_ns);
	html_put_number(&to[NUMBERS], step >> 63 ? ~(step << 1) : step << 1);
	html_put_number(&to[THREADS], call->thread);
	html_put_number(&to[ENDS], call->end | (call->is_seed ? 4u : 0) |
					   (uint64_t)call->n_stops << 3);
	put_text(h, call);
	h->depth = level + 1;
	h->start_ns = call->start_ns;
	h->number = call->number;
	h->place++;
	h->n++;
	h->n_put++;
	h->n_left--;
}

static int take_call(struct html_calls *h, const struct stop *stop)
{
	uint32_t level = stop->level, kept = NO_LEVEL;
	struct open *here;

	close_calls(h, level);
	here = open_call(h);
	if (!here)
		return CST_MEMORY;
	if (level)
		kept = h->open[level - 1].kept;
	*here = (struct open){.kept = kept};
	/* A call whose caller was left out is left out. */
	if (stop->call.duration_ns >= h->least_ns && h->n_left &&
	    (!level || kept == level - 1)) {
		here->kept = level;
		here->place = h->place;
		put_call(h, &stop->call, level);
	} else if (kept != NO_LEVEL) {
		h->open[kept].n_without++;
	} else {
		h->n_lost++;
	}
	return 0;
}

static void begin_lane(struct html_calls *h, uint32_t lane)
{
	h->lane = lane;
	h->is_first = 1;
	h->place = h->start_ns = h->number = 0;
	h->depth = 0;
}

static int put_piece(struct html_calls *h, struct bytes *out)
{
	struct bytes *raw = &h->raw;
	int status;

	raw->len = 0;
	html_put_number(raw, h->lane);
	html_put_number(raw, h->n);
	html_put_number(raw, h->is_first);
	for (int i = 0; i < COLUMNS; i++) {
		bytes_put(raw, h->columns[i].data, h->columns[i].len);
		raw->failed |= h->columns[i].failed;
		h->columns[i].len = 0;
	}
	html_put_number(raw, h->n_without);
	bytes_put(raw, h->without.data, h->without.len);
	html_put_number(raw, h->n_texts);
	bytes_put(raw, h->texts.data, h->texts.len);
	raw->failed |= h->without.failed | h->texts.failed;
	status = html_data_put(out, "calls", raw);
	h->without.len = 0;
	h->n = 0;
	h->n_without = 0;
	h->texts.len = 0;
	h->n_texts = 0;
	h->is_first = 0;
	return status;
}

int html_calls_put(struct html_calls *h, struct bytes *out,
		   struct cst_error *err)
{
	int n = 1;

	if (h->is_over)
		return 0;
	if (h->stop.is_first) {
		begin_lane(h, h->stop.call.lane);
		if (take_call(h, &h->stop) < 0)
			return cst_fail_memory(err);
		h->stop.is_first = 0;
	}
	while (h->n < PIECE && h->n_without < PIECE &&
	       h->texts.len < TEXT_BYTES) {
		n = tour_next(h->tour, &h->stop, err);
		if (n <= 0 || h->stop.is_first)
			break;
		if (take_call(h, &h->stop) < 0)
			return cst_fail_memory(err);
	}
	if (n < 0)
		return n;
	if (n == 0 || h->stop.is_first)
		close_calls(h, 0);
	h->is_over = n == 0;
	if (put_piece(h, out) < 0)
		return cst_fail_memory(err);
	return 1;
}
