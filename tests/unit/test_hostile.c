/* SPDX-License-Identifier: MIT
 *
 * What comes from outside and lies: an area whose every field is scribbled
 * over while a recorder reads it, and a trace file with each byte changed, read
 * to JSON lines.  Any answer will do, but there must be one.
 */
#include "trace_builder.h"
#include "formats/jsonl.h"

#include "cstrace/layout.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUNDS = 4000, TRACE_ROUNDS = 250, CHUNKS = 16, N_SITES = 40 };

static uint64_t seed = 1;

static uint64_t dice(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed >> 17;
}

/* Small, near a limit, or anything. */
static uint64_t wild(uint64_t limit)
{
	switch (dice() % 4) {
	case 0:
		return dice() % 4;
	case 1:
		return limit - 2 + dice() % 4;
	case 2:
		return dice() % (limit + 1);
	default:
		return dice() * 2654435761u;
	}
}

/* ---- the area ------------------------------------------------------------ */

static struct cst_area *area;

static void *at(uint64_t offset)
{
	return (char *)area + offset;
}

static void area_map(const struct cst_recorder *r)
{
	int fd = open(cst_recorder_area_path(r), O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	area = mmap(NULL, CST_AREA_SIZE, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_NORESERVE, fd, 0);
	close(fd);
	assert_true(area != MAP_FAILED);
}

static uint64_t some_code(void)
{
	static const uint64_t ends[] = {0, 1, UINT64_MAX, 1ull << 47};
	uint64_t own = (uint64_t)some_code;

	return dice() % 3 ? own + dice() % 4096 : ends[dice() % 4];
}

static void scribble_head(void)
{
	area->n_sites = (uint32_t)wild(CST_MAX_SITES);
	area->n_threads = (uint32_t)wild(CST_MAX_THREADS);
	area->n_processes = (uint32_t)wild(CST_MAX_PROCESSES);
	area->n_chunks = (uint32_t)wild(CST_MAX_CHUNKS);
	area->free_head = wild(CST_MAX_CHUNKS);
	area->n_waiting = (uint32_t)(dice() % 2);
	area->n_lost_full = wild(1);
	area->sync_asked = (uint32_t)wild(2);
	area->sync_done = (uint32_t)wild(2);
	area->reader_sleeps = (uint32_t)wild(1);
	area->size = wild(CST_AREA_SIZE);
	area->magic = dice();
}

static void scribble_site(uint32_t i)
{
	struct cst_site *sites = at(CST_AT_SITES);
	struct cst_site *s = &sites[CST_FIRST_SITE + i];

	s->callee = some_code();
	s->caller = some_code();
	s->hook = some_code();
	s->verdict = (uint8_t)wild(1);
	s->process = (uint16_t)wild(3);
	s->kind = (uint16_t)(dice() % 4	  ? 1 + dice() % 2
			     : dice() % 8 ? CST_SPAN + dice() % 9
					  : dice());
	if (s->kind >= CST_SPAN)
		s->hook = 1 + dice() % CST_TEXT_SIZE;
}

static void scribble_people(void)
{
	struct cst_process *processes = at(CST_AT_PROCESSES);
	struct cst_thread *threads = at(CST_AT_THREADS);
	struct cst_thread *t = &threads[dice() % (ROUNDS / 40)];
	struct cst_process *p = &processes[dice() % 4];

	t->tid = (uint32_t)(dice() % 2 ? wild(70000) : (uint64_t)getpid());
	t->process = (uint32_t)wild(CST_MAX_PROCESSES);
	t->n_claimed = (uint32_t)wild(5);
	t->is_ended = (uint32_t)wild(1);
	t->forked_from = (uint32_t)wild(CST_MAX_THREADS);
	t->n_fork = (uint32_t)wild(2);
	memset(t->name, (int)dice(), sizeof(t->name));
	p->pid = (uint32_t)(dice() % 2 ? wild(70000) : (uint64_t)getpid());
	p->parent = (uint32_t)wild(CST_MAX_PROCESSES);
	p->start = dice();
}

static void scribble_records(uint32_t chunk)
{
	struct cst_record *r =
		at(CST_AT_CHUNKS + (uint64_t)chunk * CST_CHUNK_SIZE);
	uint32_t n = (uint32_t)(dice() % 60);
	uint64_t time = __builtin_ia32_rdtsc(), sp = 0x7fff0000 + dice() % 4096;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t site = CST_FIRST_SITE + (uint32_t)(dice() % N_SITES);

		if (dice() % 30 == 0)
			site = (uint32_t)wild(CST_MAX_SITES);
		time += dice() % 10 ? dice() % 1000 : wild(UINT32_MAX);
		sp += dice() % 5 * 16 - 32;
		cst_record_set(&r[i], dice() % 50 ? time : 0, site,
			       dice() % 20 ? sp : dice(), dice());
	}
}

/* Threads come and go, for one whose chunks are out of order is over. */
static void scribble_chunk(uint32_t round)
{
	static uint32_t next_seq[ROUNDS];
	struct cst_chunk *chunks = at(CST_AT_CHUNK_STATES);
	uint32_t i = (uint32_t)(dice() % CHUNKS);
	uint32_t thread = round / 40 + (uint32_t)(dice() % 4);
	struct cst_chunk *c = &chunks[i];
	uint32_t state = CST_CHUNK_OPEN + (uint32_t)(dice() % 2);

	scribble_records(i);
	c->thread = dice() % 16 ? thread : (uint32_t)wild(CST_MAX_THREADS);
	c->seq = dice() % 16 ? next_seq[thread] : (uint32_t)dice();
	next_seq[thread] += state == CST_CHUNK_FULL;
	c->next = (uint32_t)wild(CST_CHUNK_SLOTS);
	if (dice() % 16 == 0)
		state = (uint32_t)dice();
	__atomic_store_n(&c->state, state, __ATOMIC_RELEASE);
}

static void drain(struct cst_recorder *r)
{
	struct cst_question q[64];
	int done = 0, n;

	for (int i = 0; i < 100 && !done; i++) {
		done = cst_recorder_drain(r);
		while ((n = cst_recorder_questions(r, q, 64)) > 0) {
			for (int k = 0; k < n; k++)
				cst_recorder_answer(r, q[k].id, "n", "a.c", 7);
		}
	}
}

static struct output out;

static int discard(void *arg, const char *text, uint64_t size)
{
	(void)arg;
	for (uint64_t i = 0; i < size; i++)
		assert_true((unsigned char)text[i] >= 0x20 || text[i] == '\n');
	return 0;
}

static int64_t n_lines; /* of all traces: some of the lies are believed */

static void read_and_begin_again(struct cst_recorder *r,
				 const struct cst_recorder_options *o)
{
	const struct cst_choice all = {.std = 1};
	struct cst_status_report status;
	struct cst_error err;
	struct cst_trace *t;
	int64_t n;

	cst_recorder_status(r, &status);
	if (cst_recorder_end(r, &t, &err) == 0) {
		assert_true(cst_trace_show(t, &draft_look, &all, discard, NULL,
					   &err) >= 0);
		n = jsonl_write(t, &all, discard, NULL, &err);
		assert_true(n >= 0);
		n_lines += n;
		cst_trace_free(t);
	}
	assert_int_equal(cst_recorder_begin(r, o, &err), 0);
}

static void a_hostile_area_does_no_harm(void **state)
{
	struct cst_recorder_options o = {.spool_dir = "/var/tmp",
					 .pool_chunks = CHUNKS,
					 .mode = CST_MODE_RING,
					 .command = "hostile"};
	struct cst_callbacks callbacks = {0};
	struct cst_recorder *r;
	struct cst_error err;

	(void)state;
	assert_int_equal(cst_recorder_open(&o, &callbacks, &r, &err), 0);
	cst_recorder_process(r, (uint32_t)getpid(), 0, &err);
	area_map(r);
	for (uint32_t i = 0; i < N_SITES; i++)
		scribble_site(i);
	area->n_sites = CST_FIRST_SITE + N_SITES;
	for (int round = 1; round <= ROUNDS; round++) {
		scribble_chunk((uint32_t)round);
		if (dice() % 4 == 0)
			scribble_site((uint32_t)(dice() % N_SITES));
		if (dice() % 8 == 0)
			scribble_people();
		if (dice() % 16 == 0)
			scribble_head();
		if (dice() % 2)
			drain(r);
		if (round % TRACE_ROUNDS == 0)
			read_and_begin_again(r, &o);
	}
	munmap(area, CST_AREA_SIZE);
	cst_recorder_close(r);
	assert_true(n_lines > 100);
}

/* Reading what was cut off would be the end of gdb. */
static void a_program_cannot_cut_the_area_short(void **state)
{
	struct cst_recorder_options o = {.spool_dir = "/var/tmp",
					 .pool_chunks = CHUNKS,
					 .mode = CST_MODE_RING};
	struct cst_callbacks callbacks = {0};
	struct cst_recorder *r;
	struct cst_error err;
	int fd;

	(void)state;
	assert_int_equal(cst_recorder_open(&o, &callbacks, &r, &err), 0);
	fd = open(cst_recorder_area_path(r), O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(ftruncate(fd, (off_t)CST_AREA_SIZE + 1), -1);
	close(fd);
	cst_recorder_close(r);
}

/* ---- the file ------------------------------------------------------------ */

static uint8_t *good_file(size_t *size)
{
	struct draft d;

	draft_begin(&d);
	draft_site(&d, "main", 0);
	draft_site(&d, "f(\"\\\033)", 1);
	draft_enter(&d, 0, 0);
	for (uint64_t i = 0; i < 60; i++) {
		uint64_t seq = draft_enter(&d, 1, i * 500 + 100);

		if (i == 30)
			writer_flush(d.w, NULL);
		draft_exit(&d, seq, i * 500 + 200 + i);
	}
	return draft_bytes(&d, 90000, size);
}

/* Through load, JSON lines and a save of the blocks. */
static int64_t read_to_lines(const uint8_t *bytes, size_t size)
{
	const struct cst_choice all = {.std = 1};
	struct cst_error err = {""};
	struct cst_trace *t;
	int64_t n, saved;

	out.len = 0;
	n = draft_load(bytes, size, &t, &err);
	if (n == 0) {
		n = jsonl_write(t, &all, output_write, &out, &err);
		saved = cst_trace_save(t, "/dev/null", "cst", &draft_look, &all,
				       &err);
		assert_true(saved < 0); /* not a regular file */
		cst_trace_free(t);
	}
	if (n < 0)
		assert_true(err.text[0] && !strchr(err.text, '\n'));
	return n;
}

static void each_changed_byte_gives_lines_or_an_error(void **state)
{
	static const uint8_t changes[] = {0x01, 0x40, 0x80, 0xff};
	size_t size;
	uint8_t *bytes = good_file(&size);

	(void)state;
	assert_int_equal(read_to_lines(bytes, size), 61);
	assert_null(strchr(out.text, '\033'));
	for (size_t i = 0; i < size; i++) {
		for (int k = 0; k < 4; k++) {
			bytes[i] ^= changes[k];
			read_to_lines(bytes, size);
			bytes[i] ^= changes[k];
		}
	}
	free(bytes);
}

static void each_truncation_gives_fewer_lines_or_an_error(void **state)
{
	size_t size;
	uint8_t *bytes = good_file(&size);
	int64_t n, before = -1;

	(void)state;
	for (size_t length = 0; length <= size; length++) {
		n = read_to_lines(bytes, length);
		assert_true(n <= 61);
		assert_true(n >= 0 || before < 0); /* once good, always */
		if (n >= 0)
			before = n;
	}
	assert_int_equal(before, 61);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hostile_area_does_no_harm),
		cmocka_unit_test(a_program_cannot_cut_the_area_short),
		cmocka_unit_test(each_changed_byte_gives_lines_or_an_error),
		cmocka_unit_test(each_truncation_gives_fewer_lines_or_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
