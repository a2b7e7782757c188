/* SPDX-License-Identifier: MIT
 *
 * Gives each lane a process and thread number that no other lane has, and the
 * names that other tools show.
 */
#include "formats/thread_ids.h"
#include "base/text.h"
#include "names/json.h"
#include "names/put.h"

#include <stdlib.h>

/* Linux gives no thread a higher number than 2^22. */
enum { NOBODYS_TID = 10000000 };

struct claim {
	struct track track;
	uint32_t lane;
};

static int claim_compare(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	if (x->track.pid != y->track.pid)
		return x->track.pid < y->track.pid ? -1 : 1;
	if (x->track.tid != y->track.tid)
		return x->track.tid < y->track.tid ? -1 : 1;
	return (x->lane > y->lane) - (x->lane < y->lane);
}

/* The kernel uses a number again once its thread has ended: the first lane that
 * claims it has it. */
static void settle(struct claim *claims, uint32_t n, struct track *out)
{
	qsort(claims, n, sizeof(*claims), claim_compare);
	for (uint32_t i = 0; i < n; i++) {
		const struct claim *c = &claims[i];
		int is_taken = i && c[-1].track.pid == c->track.pid &&
			       c[-1].track.tid == c->track.tid;

		out[c->lane] = c->track;
		if (is_taken)
			out[c->lane].tid = NOBODYS_TID + c->lane;
	}
}

static struct track *new_tracks(const struct cst_trace *t, int is_flat)
{
	auto_free struct claim *claims =
		calloc(t->n_lanes + (size_t)1, sizeof(*claims));
	struct track *out = calloc(t->n_lanes + (size_t)1, sizeof(*out));

	if (!claims || !out) {
		free(out);
		return NULL;
	}
	for (uint32_t i = 0; i < t->n_lanes; i++) {
		const struct trace_lane *lane = &t->lanes[i];
		const struct trace_thread *thread = &t->threads[lane->thread];

		claims[i].lane = i;
		claims[i].track.pid = is_flat ? 0 : thread->pid;
		claims[i].track.tid =
			lane->ordinal ? NOBODYS_TID + i : thread->tid;
	}
	settle(claims, t->n_lanes, out);
	for (uint32_t i = 0; i < t->n_lanes; i++)
		out[i].pid = t->threads[t->lanes[i].thread].pid;
	return out;
}

struct track *tracks_new(const struct cst_trace *t)
{
	return new_tracks(t, 0);
}

struct track *tracks_new_flat(const struct cst_trace *t)
{
	return new_tracks(t, 1);
}

/* ---- processes ---------------------------------------------------------- */

struct member {
	uint32_t process, lane;
};

static int member_compare(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->lane > y->lane) - (x->lane < y->lane);
}

uint32_t *tracks_processes(const struct cst_trace *t, uint32_t *n)
{
	auto_free struct member *members =
		calloc(t->n_lanes + (size_t)1, sizeof(*members));
	uint32_t *out = calloc(t->n_lanes + (size_t)1, sizeof(*out));
	uint32_t n_members = 0;

	if (!members || !out) {
		free(out);
		return NULL;
	}
	for (uint32_t i = 0; i < t->n_lanes; i++)
		if (t->lanes[i].first_block != NO_BLOCK)
			members[n_members++] =
				(struct member){track_process(t, i), i};
	qsort(members, n_members, sizeof(*members), member_compare);
	*n = 0;
	for (uint32_t i = 0; i < n_members; i++)
		if (!i || members[i].process != members[i - 1].process)
			out[(*n)++] = members[i].lane;
	return out;
}

/* ---- names -------------------------------------------------------------- */

static void put_track(const struct cst_trace *t, uint32_t lane, int has_tid,
		      struct bytes *out)
{
	const struct trace_lane *l = &t->lanes[lane];
	const struct trace_thread *thread = &t->threads[l->thread];

	json_put_text(out, *thread->name ? thread->name : "thread");
	if (has_tid) {
		bytes_put_byte(out, ' ');
		put_number(out, thread->tid);
	}
	if (l->ordinal) {
		bytes_put(out, ", stack ", 8);
		put_number(out, l->ordinal);
	}
}

void track_put_name(const struct cst_trace *t, uint32_t lane, struct bytes *out)
{
	put_track(t, lane, 0, out);
}

void track_put_numbered(const struct cst_trace *t, uint32_t lane,
			struct bytes *out)
{
	put_track(t, lane, 1, out);
}

const char *tracks_program(const struct cst_trace *t)
{
	const char *name = text_last_name(t->module);

	if (*name)
		return name;
	return t->n_threads && *t->threads[0].name ? t->threads[0].name
						   : "program";
}

const char *track_process_name(const struct cst_trace *t, uint32_t lane)
{
	return track_process(t, lane) == 1 ? tracks_program(t)
					   : track_thread_name(t, lane);
}

const char *track_thread_name(const struct cst_trace *t, uint32_t lane)
{
	const char *name = t->threads[t->lanes[lane].thread].name;

	return *name ? name : tracks_program(t);
}
