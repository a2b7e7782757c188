/* SPDX-License-Identifier: MIT
 *
 * The reader's side of layout.h, as plain as it can be.
 */
#include <dlfcn.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "mini_reader.h"

enum { RUN = 0, HOLD = 1, STOP = 2, DIE = 3 };

struct mini_reader {
	struct cst_area *area;
	int fd, can_grow;
	uint32_t order; /* RUN, ... */
	pthread_t thread;
	char path[64];
	struct stream streams[MAX_STREAMS];
};

QUIET static void *at(struct mini_reader *r, uint64_t offset)
{
	return (char *)r->area + offset;
}

QUIET static struct cst_chunk *chunk_at(struct mini_reader *r, uint32_t i)
{
	return (struct cst_chunk *)at(r, CST_AT_CHUNK_STATES) + i;
}

QUIET static struct cst_record *chunk_records(struct mini_reader *r, uint32_t i)
{
	return at(r, CST_AT_CHUNKS + (uint64_t)i * CST_CHUNK_SIZE);
}

QUIET static void futex_wake(uint32_t *word, int n)
{
	syscall(SYS_futex, word, FUTEX_WAKE, n, NULL, NULL, 0);
}

QUIET static void chunk_give(struct mini_reader *r, uint32_t i)
{
	struct cst_area *a = r->area;
	uint64_t head = __atomic_load_n(&a->free_head, __ATOMIC_ACQUIRE);
	uint64_t next;

	__atomic_store_n(&chunk_at(r, i)->state, CST_CHUNK_FREE,
			 __ATOMIC_RELAXED);
	do {
		__atomic_store_n(&chunk_at(r, i)->next, (uint32_t)head,
				 __ATOMIC_RELAXED);
		next = ((head >> 32) + 1) << 32 | (i + 1);
	} while (!__atomic_compare_exchange_n(&a->free_head, &head, next, 0,
					      __ATOMIC_RELEASE,
					      __ATOMIC_ACQUIRE));
	__atomic_fetch_add(&a->free_seq, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&a->n_waiting, __ATOMIC_SEQ_CST))
		futex_wake(&a->free_seq, 1);
}

QUIET static void pool_grow(struct mini_reader *r, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t chunk = r->area->n_chunks;

		__atomic_store_n(&r->area->n_chunks, chunk + 1,
				 __ATOMIC_RELEASE);
		chunk_give(r, chunk);
	}
}

QUIET static void alternate_add(struct stream *s,
				const struct cst_record *record)
{
	if (s->n_alternates == MAX_ALTERNATES)
		return;
	s->alternates[s->n_alternates++] = (struct alternate){
		.low = (uint32_t)record->site_and_sp |
		       record->sp_and_fp >> 48 << 32,
		.size = record->sp_and_fp << 16 >> 16,
		.n = s->n,
	};
}

QUIET static void stream_add(struct stream *s, const struct cst_record *record)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? s->cap * 2 : 4096;
		s->records = realloc(s->records, s->cap * sizeof(*record));
		if (!s->records)
			abort();
	}
	/* Not by cst_record_site(): it is traced in here. */
	switch (record->site_and_sp >> 32) {
	case CST_FORK:
		s->n_forks++;
		return;
	case CST_ALTERNATE:
		alternate_add(s, record);
		return;
	case CST_PASSED:
		s->n_passed += record->sp_and_fp << 16 >> 16;
		return;
	}
	s->records[s->n++] = *record;
}

QUIET static uint64_t record_time(const struct cst_record *record)
{
	return __atomic_load_n(&record->time, __ATOMIC_ACQUIRE);
}

/* An empty slot in a full chunk: a handler overtook the hook that owns it. */
QUIET static int chunk_is_whole(struct mini_reader *r, uint32_t i)
{
	for (uint32_t k = 0; k < CST_CHUNK_RECORDS; k++)
		if (!record_time(&chunk_records(r, i)[k]))
			return 0;
	return 1;
}

QUIET static void chunk_take(struct mini_reader *r, uint32_t i)
{
	struct cst_record *records = chunk_records(r, i);
	struct stream *s = &r->streams[chunk_at(r, i)->thread];

	for (uint32_t k = 0; k < CST_CHUNK_RECORDS; k++) {
		if (!record_time(&records[k]))
			break;
		stream_add(s, &records[k]);
	}
	s->next_seq++;
	memset(records, 0, CST_CHUNK_SIZE);
	chunk_give(r, i);
}

/* A pass over all chunks; is_last takes part-filled ones too. */
QUIET static int reader_pass(struct mini_reader *r, int is_last)
{
	int n = 0;

	for (uint32_t i = 0; i < r->area->n_chunks; i++) {
		struct cst_chunk *c = chunk_at(r, i);
		uint32_t state = __atomic_load_n(&c->state, __ATOMIC_ACQUIRE);
		struct cst_thread *t;

		if (state == CST_CHUNK_FREE ||
		    (state == CST_CHUNK_OPEN && !is_last))
			continue;
		if (c->thread >= MAX_STREAMS)
			abort();
		t = reader_thread(r, c->thread);
		if (c->seq != r->streams[c->thread].next_seq)
			continue;
		if (!is_last && !chunk_is_whole(r, i) &&
		    !__atomic_load_n(&t->is_ended, __ATOMIC_ACQUIRE))
			continue;
		chunk_take(r, i);
		n++;
	}
	return n;
}

QUIET static void answer_tickets(struct cst_area *a)
{
	uint32_t asked = __atomic_load_n(&a->sync_asked, __ATOMIC_SEQ_CST);

	if (a->sync_done == asked)
		return;
	__atomic_store_n(&a->sync_done, asked, __ATOMIC_SEQ_CST);
	futex_wake(&a->sync_done, INT_MAX);
}

QUIET static void reader_nap(struct mini_reader *r)
{
	struct timespec tick = {0, 2000000};
	uint32_t *sleeps = &r->area->reader_sleeps;

	__atomic_store_n(sleeps, 1, __ATOMIC_SEQ_CST);
	if (r->area->sync_asked == r->area->sync_done)
		syscall(SYS_futex, sleeps, FUTEX_WAIT, 1, &tick, NULL, 0);
	__atomic_store_n(sleeps, 0, __ATOMIC_SEQ_CST);
}

QUIET static void *reader_loop(void *arg)
{
	struct mini_reader *r = arg;
	struct cst_area *a = r->area;
	uint32_t order;

	pthread_mutex_lock((pthread_mutex_t *)a->reader_lock);
	__atomic_store_n(&r->can_grow, r->can_grow | 2, __ATOMIC_RELEASE);
	while ((order = __atomic_load_n(&r->order, __ATOMIC_ACQUIRE)) < STOP) {
		int n = 0;

		if (order == RUN) {
			n = reader_pass(r, 0);
			answer_tickets(a);
			if (!n && r->can_grow & 1 && a->n_waiting &&
			    !(uint32_t)a->free_head && a->n_chunks < 1024)
				pool_grow(r, 8);
		}
		if (!n)
			reader_nap(r);
	}
	if (order == DIE)
		return NULL;
	while (reader_pass(r, 1) > 0)
		;
	__atomic_store_n(&a->is_ended, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock((pthread_mutex_t *)a->reader_lock);
	return NULL;
}

QUIET static void lock_make(struct cst_area *a)
{
	pthread_mutexattr_t kind;

	pthread_mutexattr_init(&kind);
	pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init((pthread_mutex_t *)a->reader_lock, &kind);
}

QUIET struct mini_reader *reader_start(uint32_t n_chunks, int can_grow)
{
	struct mini_reader *r = calloc(1, sizeof(*r));

	r->fd = memfd_create("area", MFD_CLOEXEC);
	assert_int_equal(ftruncate(r->fd, CST_AREA_SIZE), 0);
	r->area = mmap(NULL, CST_AREA_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		       r->fd, 0);
	assert_ptr_not_equal(r->area, MAP_FAILED);
	snprintf(r->path, sizeof(r->path), "/proc/%d/fd/%d", getpid(), r->fd);
	r->area->magic = CST_AREA_MAGIC;
	r->area->layout = CST_LAYOUT;
	r->area->size = CST_AREA_SIZE;
	r->area->n_sites = CST_FIRST_SITE;
	r->area->wait_limit_ms = 10000;
	r->can_grow = !!can_grow;
	lock_make(r->area);
	pool_grow(r, n_chunks);
	assert_int_equal(pthread_create(&r->thread, NULL, reader_loop, r), 0);
	while (!(__atomic_load_n(&r->can_grow, __ATOMIC_ACQUIRE) & 2))
		sched_yield();
	return r;
}

QUIET static void reader_order(struct mini_reader *r, uint32_t order)
{
	__atomic_store_n(&r->order, order, __ATOMIC_RELEASE);
}

QUIET void reader_stop(struct mini_reader *r)
{
	reader_order(r, STOP);
	pthread_join(r->thread, NULL);
}

QUIET void reader_kill(struct mini_reader *r)
{
	reader_order(r, DIE);
	pthread_join(r->thread, NULL);
}

QUIET void reader_hold(struct mini_reader *r, int is_held)
{
	reader_order(r, is_held ? HOLD : RUN);
}

QUIET struct cst_area *reader_area(struct mini_reader *r)
{
	return r->area;
}

QUIET const char *reader_path(struct mini_reader *r)
{
	return r->path;
}

QUIET struct cst_thread *reader_thread(struct mini_reader *r, uint32_t i)
{
	return (struct cst_thread *)at(r, CST_AT_THREADS) + i;
}

QUIET struct cst_process *reader_process(struct mini_reader *r, uint32_t i)
{
	return (struct cst_process *)at(r, CST_AT_PROCESSES) + i;
}

QUIET struct cst_site *reader_site(struct mini_reader *r, uint32_t i)
{
	return (struct cst_site *)at(r, CST_AT_SITES) + i;
}

QUIET struct stream *reader_stream(struct mini_reader *r, uint32_t thread)
{
	return &r->streams[thread];
}

QUIET struct stream *reader_my_stream(struct mini_reader *r)
{
	for (uint32_t i = 0; i < r->area->n_threads; i++)
		if (reader_thread(r, i)->tid == (uint32_t)gettid())
			return &r->streams[i];
	return NULL;
}

QUIET const struct cst_site *record_site(struct mini_reader *r,
					 const struct cst_record *record)
{
	uint32_t n = cst_record_site(record);

	assert_in_range(n, CST_FIRST_SITE, r->area->n_sites - 1);
	return reader_site(r, n);
}

QUIET void reader_judge(struct mini_reader *r)
{
	for (uint32_t i = CST_FIRST_SITE; i < r->area->n_sites; i++) {
		struct cst_site *s = reader_site(r, i);

		s->cfa_words = 2;
		__atomic_store_n(&s->frame, CST_CFA_OF_FP, __ATOMIC_RELEASE);
	}
	__atomic_fetch_add(&r->area->n_judged, 1, __ATOMIC_RELEASE);
}

QUIET size_t reader_count(struct mini_reader *r, void *callee, int kind)
{
	size_t count = 0;

	for (uint32_t i = 0; i < r->area->n_threads; i++)
		for (size_t k = 0; k < r->streams[i].n; k++) {
			const struct cst_site *s =
				record_site(r, &r->streams[i].records[k]);

			if (s->kind == kind &&
			    (!callee || s->callee == (uint64_t)callee))
				count++;
		}
	return count;
}

QUIET static void stream_check(struct mini_reader *r, struct stream *s)
{
	uint64_t *open = calloc(s->n + 1, sizeof(*open));
	size_t depth = 0;

	for (size_t k = 0; k < s->n; k++) {
		const struct cst_site *site = record_site(r, &s->records[k]);

		if (site->kind == CST_ENTER) {
			open[depth++] = site->callee;
			continue;
		}
		assert_int_equal(site->kind, CST_EXIT);
		assert_true(depth > 0);
		assert_int_equal(open[--depth], site->callee);
	}
	assert_int_equal(depth, 0);
	free(open);
}

QUIET void reader_check_nesting(struct mini_reader *r)
{
	assert_in_range(r->area->n_threads, 0, MAX_STREAMS);
	for (uint32_t i = 0; i < r->area->n_threads; i++)
		stream_check(r, &r->streams[i]);
}

QUIET volatile struct cst_control *shim_control(void)
{
	return dlsym(RTLD_DEFAULT, "cstrace_control");
}

QUIET volatile uint32_t *shim_state(void)
{
	return dlsym(RTLD_DEFAULT, "cstrace_state");
}

QUIET void shim_mode(const char *path, uint32_t mode)
{
	volatile struct cst_control *c = shim_control();

	if (path)
		strcpy((char *)c->area_path, path);
	c->mode = mode;
	__atomic_store_n(shim_state(), CST_STATE_ASK, __ATOMIC_SEQ_CST);
}
