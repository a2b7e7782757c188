/* SPDX-License-Identifier: MIT
 *
 * Scenes: calls of the hooks with given registers, each from a site of its own
 * that has a copy program, and what they have emitted.
 */
#ifndef TESTS_SHIM_SCENES_H
#define TESTS_SHIM_SCENES_H

#include <string.h>
#include "traced.h"

enum { MAX_RAW = 256, N_SCENES = 32 };

/* The registers that the caller has, in the order of enum cst_copy_register but
 * sp, before and after; and its stack pointer. */
uint64_t given[CST_N_REGS], kept[CST_N_REGS];
void call_hook(void *hook, void *callee);
__asm__(".text\n"
	".type call_hook, @function\n"
	"call_hook:\n"
	"push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n"
	"push %r15\n sub $8, %rsp\n"
	"mov %rdi, %rax\n"
	"mov %rsi, %rdi\n"
	"lea call_hook(%rip), %rsi\n"
	"lea given(%rip), %rdx\n"
	"mov (%rdx), %rbx\n mov 8(%rdx), %rbp\n mov 16(%rdx), %r12\n"
	"mov 24(%rdx), %r13\n mov 32(%rdx), %r14\n mov 40(%rdx), %r15\n"
	"mov %rsp, 48(%rdx)\n"
	"call *%rax\n"
	"lea kept(%rip), %rdx\n"
	"mov %rbx, (%rdx)\n mov %rbp, 8(%rdx)\n mov %r12, 16(%rdx)\n"
	"mov %r13, 24(%rdx)\n mov %r14, 32(%rdx)\n mov %r15, 40(%rdx)\n"
	"mov %rsp, 48(%rdx)\n"
	"add $8, %rsp\n"
	"pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n"
	"ret\n"
	".size call_hook, . - call_hook\n");

static struct mini_reader *reader;

QUIET static struct cst_copy *steps(void)
{
	return (struct cst_copy *)((char *)reader_area(reader) + CST_AT_STEPS);
}

QUIET static uint32_t *copies(void)
{
	return (uint32_t *)((char *)reader_area(reader) + CST_AT_COPIES);
}

/* The site of that callee, and of that kind. */
QUIET static uint32_t site_of(void *callee, int kind)
{
	for (uint32_t i = CST_FIRST_SITE; i < reader_area(reader)->n_sites; i++)
		if (reader_site(reader, i)->callee == (uint64_t)callee &&
		    reader_site(reader, i)->kind == kind)
			return i;
	abort();
}

/* Puts a program into the area, and returns what leads to it. */
QUIET static uint32_t put(const struct cst_copy *program, int n)
{
	static uint32_t used;
	uint32_t first = used + CST_COPY_FIRST;

	memcpy(steps() + used, program, (size_t)n * sizeof(*program));
	steps()[used + (uint32_t)n] = (struct cst_copy){.op = CST_COPY_END};
	used += (uint32_t)n + 1;
	return first;
}

/* Gives the site a program, as the reader does. */
QUIET static void give(uint32_t site, const struct cst_copy *program, int n)
{
	copies()[site] = put(program, n);
	reader_area(reader)->has_verdicts = 1;
	reader_site(reader, site)->verdict = CST_COPIED;
}

/* The scenes differ by their callee: an address in here. */
static char scenes[N_SCENES];
static uint64_t sp_of[N_SCENES];
static int n_scenes;
static enum cst_kind played = CST_ENTER, kind_of[N_SCENES];

QUIET static int play_program(const struct cst_copy *program, int n)
{
	void *callee = &scenes[n_scenes];
	void *hook = played == CST_ENTER ? (void *)__cyg_profile_func_enter
					 : (void *)__cyg_profile_func_exit;

	call_hook(hook, callee);
	give(site_of(callee, played), program, n);
	call_hook(hook, callee);
	sp_of[n_scenes] = given[CST_REG_SP];
	kind_of[n_scenes] = played;
	return n_scenes++;
}

/* What was emitted for a scene. */
struct emitted {
	uint8_t raw[MAX_RAW];
	uint32_t n;
	int n_records; /* of the site: with values */
	int is_one_time;
};

QUIET static void take_mark(const struct cst_record *r, uint8_t *to)
{
	uint64_t sp = (uint32_t)r->site_and_sp | r->sp_and_fp >> 48 << 32;

	for (int i = 0; i < CST_TEXT_BYTES; i++)
		to[i] = (uint8_t)((i < 6 ? sp : r->sp_and_fp) >> (i % 6 * 8));
}

QUIET static struct emitted emitted_by(int scene)
{
	struct stream *s = reader_my_stream(reader);
	struct emitted e = {.n = 0}, now = {.n = 0};
	uint32_t n_text = 0;
	uint64_t time = 0;

	for (size_t k = 0; k < s->n; k++) {
		const struct cst_record *r = &s->records[k];
		uint8_t last[CST_TEXT_BYTES];

		switch (r->site_and_sp >> 32) {
		case CST_TEXT:
			take_mark(r, now.raw + n_text);
			n_text += CST_TEXT_BYTES;
			time = time ? time : r->time;
			continue;
		case CST_VALUES:
			take_mark(r, last);
			now.n = last[0];
			memcpy(now.raw + n_text, last + 1, CST_VALUES_BYTES);
			time = time ? time : r->time;
			continue;
		}
		if (cst_record_site(r) < CST_FIRST_SITE)
			continue;
		if (record_site(reader, r)->callee ==
		    (uint64_t)&scenes[scene]) {
			if (now.n) {
				e = now;
				e.n_records = 1;
				e.is_one_time = time == r->time;
			}
		}
		now.n = n_text = 0;
		time = 0;
	}
	return e;
}

#define EMITS(scene, bytes)                                            \
	do {                                                           \
		struct emitted e_ = emitted_by(scene);                 \
		assert_int_equal(e_.n, sizeof(bytes) - 1);             \
		assert_memory_equal(e_.raw, bytes, sizeof(bytes) - 1); \
	} while (0)

QUIET static const struct cst_record *record_of(int scene, int n)
{
	struct stream *s = reader_my_stream(reader);
	uint32_t site = site_of(&scenes[scene], kind_of[scene]);

	for (size_t k = 0; k < s->n; k++)
		if (cst_record_site(&s->records[k]) == site && !n--)
			return &s->records[k];
	fail();
	return NULL;
}

#endif
