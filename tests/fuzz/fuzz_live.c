/* SPDX-License-Identifier: MIT
 *
 * libFuzzer's way into an area that is read while it is written to.  The first
 * byte of the input says how it is recorded; then come steps: bytes go to a
 * place, records to a chunk, the reader drains, with bytes that change under it
 * all the while or without, the trace ends and another begins.  The recorder
 * has no thread of its own here: what it does comes from the input alone, but
 * for those changes.
 */
#include "area_builder.h"
#include "fuzz_text.h"
#include "recorder/drain.h"
#include "recorder/recorder.h"
#include "recorder/thread_ends.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_STEPS = 100, N_CHUNKS = 8 };

/* Bits of the first byte. */
enum { IS_LIVE = 1, IS_FLIGHT = 2, IS_MUTED = 4, IS_ALONE = 8, IS_SLOW = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *data;
	size_t size;
};

static uint8_t take_byte(struct input *in)
{
	if (!in->size)
		return 0;
	in->size--;
	return *in->data++;
}

/* What is left is no number of many bytes: wrap around what matters. */
static uint64_t take_number(struct input *in)
{
	static const uint64_t bases[] = {
		0, 0x1000, 0x1100, 0x1a00, 0x7fff0000, 1ull << 47, UINT64_MAX};
	uint8_t base = take_byte(in);

	return bases[base % 7] + take_byte(in);
}

static void take_text(void *arg, const char *text, uint64_t size)
{
	(void)arg;
	check_text(text, size);
}

static void take_message(void *arg, const char *text)
{
	(void)arg;
	check_text(text, strlen(text));
}

/* ---- the recorder -------------------------------------------------------- */

static const struct cst_look look = {
	.timestamp = CST_TIME_ELAPSED, .duration = 1, .callsite = 1};

static struct cst_recorder_options options = {
	.spool_dir = "/dev/shm",
	.mode = CST_MODE_RING,
	.command = "./app",
};

static void begin(struct cst_recorder *r, uint8_t how)
{
	struct cst_error err;

	static char path[64]; /* of a flight, which is unlinked */

	snprintf(path, sizeof(path), "/dev/shm/cstrace-fuzz.%d", (int)getpid());
	unlink(path);
	options.flight_bytes = how & IS_FLIGHT ? 65536 : 0;
	options.spool = how & IS_FLIGHT ? path : NULL;
	if (cst_recorder_begin(r, &options, &err) < 0)
		abort();
}

/* Makes a recorder as cst_recorder_open() does, but without the thread. */
static struct cst_recorder *recorder_new(uint8_t how)
{
	struct cst_recorder *r = calloc(1, sizeof(*r));
	struct cst_choice choice = {.std = 1};
	struct cst_error err;

	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->named, NULL);
	r->callbacks = (struct cst_callbacks){.text = take_text,
					      .message = take_message};
	r->pool_chunks = N_CHUNKS;
	r->names = names_new();
	if (!r->names || area_new(N_CHUNKS, &r->area, &err) < 0 ||
	    reader_init(&r->reader, r->area, &err) < 0 ||
	    live_init(&r->live, r->names, &err) < 0 ||
	    sites_init(&r->sites, r->area, r->names) < 0)
		abort();
	r->live.rows.screen.outlet.text = take_text;
	callstack_init(&r->calls, &r->sites, &r->pauses);
	begin(r, how);
	choice.exclude = how & IS_MUTED ? "app.0x1200" : NULL;
	choice.min_ns = how & IS_SLOW ? 1000 : 0;
	if (cst_recorder_live(r, how & IS_LIVE, CST_SINK_CALLBACK, -1, &look,
			      &choice, &err) < 0)
		abort();
	if (how & IS_ALONE)
		cst_recorder_alone(r);
	return r;
}

static void show(struct cst_trace *t)
{
	static const struct cst_choice all = {.std = 1};
	static const struct cst_report report = {.sort = "self"};
	uint64_t left = OUTPUT_MAX;
	struct cst_error err;

	cst_trace_show(t, &look, &all, count_write, &left, &err);
	left = OUTPUT_MAX;
	cst_trace_report(t, &report, &all, count_write, &left, &err);
	left = OUTPUT_MAX;
	cst_trace_write(t, "jsonl", &look, &all, count_write, &left, &err);
}

static void drain(struct cst_recorder *r)
{
	struct cst_question q[16];
	int done = 0, n;

	for (int i = 0; i < 20 && !done; i++) {
		done = cst_recorder_drain(r);
		while ((n = cst_recorder_questions(r, q, 16)) > 0)
			for (int k = 0; k < n; k++)
				cst_recorder_answer(r, q[k].id, "n\033[31m",
						    "a\n.c", 7);
	}
}

/* ---- bytes that change all the while --------------------------------------
 */

struct race {
	uint8_t *at;
	const uint8_t *bytes;
	size_t n;
	int is_over;
};

static void *race_main(void *arg)
{
	struct race *race = arg;
	uint8_t old[256];

	memcpy(old, race->at, race->n);
	while (!__atomic_load_n(&race->is_over, __ATOMIC_ACQUIRE)) {
		for (size_t i = 0; i < race->n; i++)
			((volatile uint8_t *)race->at)[i] = race->bytes[i];
		for (size_t i = 0; i < race->n; i++)
			((volatile uint8_t *)race->at)[i] = old[i];
	}
	return NULL;
}

static void drain_under_race(struct cst_recorder *r, uint64_t at,
			     const uint8_t *bytes, size_t n)
{
	struct race race = {(uint8_t *)r->area->head + at, bytes, n, 0};
	pthread_t thread;

	if (pthread_create(&thread, NULL, race_main, &race))
		return;
	drain(r);
	__atomic_store_n(&race.is_over, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

/* ---- steps --------------------------------------------------------------- */

static void step_piece(struct cst_recorder *r, struct input *in, int is_race)
{
	uint64_t at;
	size_t n;

	if (in->size <= LEFTOVER_PIECE)
		return;
	n = leftover_piece(in->data, in->size, &at);
	in->data += LEFTOVER_PIECE;
	in->size -= LEFTOVER_PIECE;
	if (at + n > CST_AREA_SIZE)
		return;
	if (is_race)
		drain_under_race(r, at, in->data, n);
	else
		memcpy((uint8_t *)r->area->head + at, in->data, n);
	in->data += n;
	in->size -= n;
}

/* Chunk, thread, state; how many records; each a site, a place, a time. */
static void step_records(struct cst_recorder *r, struct input *in)
{
	uint32_t i = take_byte(in) % N_CHUNKS, thread = take_byte(in) % 4;
	uint32_t state = take_byte(in), n = take_byte(in);
	struct cst_chunk *c = &r->area->chunks[i];
	struct cst_record *records = area_chunk(r->area, i);
	uint64_t time = clock_ticks();
	uint32_t from = 0;

	while (from < CST_CHUNK_RECORDS && records[from].time)
		from++;
	if (from == CST_CHUNK_RECORDS)
		return;
	for (uint32_t k = from; k < from + n && k < CST_CHUNK_RECORDS; k++) {
		uint8_t site = take_byte(in), place = take_byte(in);

		time += take_byte(in);
		cst_record_set(
			&records[k], time,
			site < 200 ? CST_FIRST_SITE + site % 12 : site - 200u,
			0x7fff0000 - place * 16u, 0x7fff1000 - place * 32u);
	}
	c->thread = thread;
	c->seq = state / 4u;
	c->next = 0;
	__atomic_store_n(&c->state, state % 4, __ATOMIC_RELEASE);
}

static void step_end(struct cst_recorder *r, uint8_t how)
{
	struct cst_error err;
	struct cst_trace *t;

	if (cst_recorder_end(r, &t, &err) == 0) {
		show(t);
		cst_trace_free(t);
	}
	begin(r, how);
}

static void step_look(struct cst_recorder *r)
{
	struct cst_error err;
	struct cst_trace *t;

	if (cst_recorder_trace(r, &t, &err) == 0)
		show(t);
}

static void step_gdb(struct cst_recorder *r, struct input *in)
{
	struct cst_seed seed;
	uint64_t from;

	switch (take_byte(in) % 7) {
	case 0:
		cst_recorder_pause(r);
		break;
	case 1:
		cst_recorder_resume(r);
		break;
	case 2:
		from = take_number(in);
		cst_recorder_unmapped(r, from, from + take_number(in));
		break;
	case 3:
		cst_recorder_exec(r, NULL);
		break;
	case 4:
		seed.callee = take_number(in);
		seed.caller = take_number(in);
		seed.pc = seed.callee + 1;
		seed.cfa = take_number(in);
		cst_recorder_seed(r, 1 + take_byte(in), "seeded", &seed, 1,
				  NULL);
		break;
	case 5:
		cst_recorder_inject(r, 1 + take_byte(in) % 4,
				    1 + take_byte(in) % 2, take_number(in),
				    take_number(in), take_number(in),
				    take_number(in), take_number(in), NULL);
		break;
	default:
		cst_recorder_hit(r, 0, 0, take_byte(in));
	}
}

/* What the reader's thread does, with no answers. */
static void step_turn(struct cst_recorder *r, struct input *in)
{
	uint8_t what = take_byte(in);

	if (what & 1)
		thread_ends_mark(r, 1);
	recorder_round(r, what & 2);
	if (what & 4)
		thread_ends_unwind(r);
	if (what & 8)
		reader_reclaim(&r->reader);
}

static void step(struct cst_recorder *r, struct input *in, uint8_t how)
{
	switch (take_byte(in) % 16) {
	case 0:
	case 1:
	case 2:
		step_piece(r, in, 0);
		break;
	case 3:
	case 4:
		step_piece(r, in, 1);
		break;
	case 5:
	case 6:
	case 7:
	case 8:
		step_records(r, in);
		break;
	case 9:
	case 10:
		drain(r);
		break;
	case 11:
		step_end(r, how);
		break;
	case 12:
		step_look(r);
		break;
	case 13:
		step_gdb(r, in);
		break;
	default:
		step_turn(r, in);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	uint8_t how = take_byte(&in);
	struct cst_recorder *r = recorder_new(how);

	leftover_tables(r->area->fd, 1u << 30, "/bin/true");
	r->area->head->n_processes = r->area->head->n_threads = 1;
	r->area->head->n_mappings = 1;
	r->area->head->n_sites = CST_FIRST_SITE + LEFTOVER_SITES;
	for (int i = 0; in.size && i < MAX_STEPS; i++)
		step(r, &in, how);
	step_end(r, how);
	cst_recorder_close(r);
	if (options.spool)
		unlink(options.spool);
	return 0;
}
