/* SPDX-License-Identifier: MIT
 *
 * A program that uses cstrace.h, written by hand into the area of a recorder:
 * one thread, its places, and the records of what it says.
 */
#ifndef UNIT_WORDS_BUILDER_H
#define UNIT_WORDS_BUILDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "cstrace/engine.h"
#include "cstrace/layout.h"

/* The stack pointers of frames, outermost first; codes lie in functions that no
 * symbol table knows. */
enum { SP_OUTER = 0x7fff0000, SP_INNER = SP_OUTER - 0x100 };

struct said {
	struct cst_recorder *r;
	struct cst_area *area;
	char *base;
	uint64_t time;
	uint32_t n_records;
	char live[1 << 16];
	size_t n_live;
};

static inline void said_hear(void *arg, const char *text, uint64_t size)
{
	struct said *p = arg;

	if (p->n_live + size < sizeof(p->live)) {
		memcpy(p->live + p->n_live, text, size);
		p->n_live += size;
		p->live[p->n_live] = 0;
	}
}

static inline void said_people(struct said *p)
{
	struct cst_process *process = (void *)(p->base + CST_AT_PROCESSES);
	struct cst_thread *thread = (void *)(p->base + CST_AT_THREADS);
	struct cst_chunk *chunk = (void *)(p->base + CST_AT_CHUNK_STATES);

	*process = (struct cst_process){.pid = (uint32_t)getpid(),
					.start = p->time};
	*thread = (struct cst_thread){.tid = (uint32_t)getpid(),
				      .n_claimed = 1,
				      .start = p->time,
				      .name = "app"};
	*chunk = (struct cst_chunk){.state = CST_CHUNK_OPEN};
	p->area->n_processes = p->area->n_threads = 1;
	p->area->n_sites = CST_FIRST_SITE;
	p->area->free_head = 0;
}

static inline void said_begin_keeping(struct said *p, uint64_t keep_ns)
{
	struct cst_recorder_options o = {.spool_dir = "/var/tmp",
					 .pool_chunks = 4,
					 .mode = CST_MODE_RING,
					 .command = "words",
					 .keep_ns = keep_ns};
	struct cst_callbacks callbacks = {.text = said_hear, .arg = p};
	struct cst_error err;
	int fd;

	*p = (struct said){0};
	assert_int_equal(cst_recorder_open(&o, &callbacks, &p->r, &err), 0);
	fd = open(cst_recorder_area_path(p->r), O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	p->base = mmap(NULL, CST_AREA_SIZE, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_NORESERVE, fd, 0);
	close(fd);
	assert_true(p->base != MAP_FAILED);
	p->area = (void *)p->base;
	p->time = __builtin_ia32_rdtsc();
	said_people(p);
}

static inline void said_begin(struct said *p)
{
	said_begin_keeping(p, 0);
}

/* Where the text of the place is that an earlier site has; 0: it has none. */
static inline uint64_t
said_text(const struct said *p, const struct cst_site *end, uint64_t descriptor)
{
	const struct cst_site *first = (void *)(p->base + CST_AT_SITES);
	uint64_t hook = 0;

	for (const struct cst_site *s = first + CST_FIRST_SITE; s < end; s++)
		if (s->callee == descriptor)
			hook = s->hook;
	return hook;
}

/* A place, with the text of its fields ("name|file|line|function|values|code").
 */
static inline uint32_t said_place(struct said *p, enum cst_kind kind,
				  uint64_t descriptor, const char *text)
{
	struct cst_site *site = (void *)(p->base + CST_AT_SITES +
					 p->area->n_sites * sizeof(*site));
	char *out = p->base + CST_AT_TEXT + p->area->n_text;
	int is_end = kind == CST_SPAN_END || kind == CST_CALL_END ||
		     kind == CST_ASYNC_END || kind == CST_VETO;

	*site = (struct cst_site){
		.callee = descriptor + (is_end ? 1 : 0),
		.caller = 0x401000,
		.hook = text ? 1 + p->area->n_text
			     : said_text(p, site, descriptor),
		.kind = (uint16_t)kind,
	};
	for (size_t i = 0; text && i <= strlen(text); i++)
		out[i] = text[i] == '|' ? 0 : text[i];
	p->area->n_text += text ? (uint32_t)strlen(text) + 1 : 0;
	return p->area->n_sites++;
}

static inline void said_record(struct said *p, uint32_t site, uint64_t sp,
			       uint64_t fp)
{
	struct cst_record *r = (void *)(p->base + CST_AT_CHUNKS);

	p->time += 1000;
	cst_record_set(&r[p->n_records++], p->time, site, sp, fp);
}

/* A record with n bytes of values, as the shim writes it. */
static inline void said(struct said *p, uint32_t site, uint64_t sp,
			const void *values, uint32_t n)
{
	uint8_t text[CST_VALUES_MAX + 2 * CST_TEXT_BYTES] = {0};
	uint32_t begin = (CST_TEXT_BYTES - n % CST_TEXT_BYTES) % CST_TEXT_BYTES;

	memcpy(text + begin, values, n);
	for (uint32_t i = 0; i < begin + n; i += CST_TEXT_BYTES) {
		uint64_t halves[2] = {0};

		memcpy(&halves[0], text + i, 6);
		memcpy(&halves[1], text + i + 6, 6);
		said_record(p, CST_TEXT, halves[0], halves[1]);
	}
	said_record(p, site, sp, n);
}

#define SAID(p, site, sp, values) said(p, site, sp, values, sizeof(values) - 1)

static inline void said_drain(struct said *p)
{
	struct cst_question q[64];
	int done, n;

	do {
		done = cst_recorder_drain(p->r);
		while ((n = cst_recorder_questions(p->r, q, 64)) > 0)
			for (int i = 0; i < n; i++)
				cst_recorder_answer(
					p->r, q[i].id, NULL, "app.c",
					q[i].kind == CST_ASK_LINE ? 7 : 0);
	} while (done == 0);
}

/* Ends the recording; the caller frees the trace. */
static inline struct cst_trace *said_end(struct said *p)
{
	struct cst_trace *t = NULL;
	struct cst_error err;

	said_drain(p);
	assert_int_equal(cst_recorder_end(p->r, &t, &err), 0);
	munmap(p->base, CST_AREA_SIZE);
	cst_recorder_close(p->r);
	return t;
}

#endif
