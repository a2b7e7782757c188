/* SPDX-License-Identifier: MIT
 *
 * Copy programs: what each step emits, that none of them faults, and that a
 * copied event keeps the registers of the caller.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "scenes.h"

static const char literal[] = "a literal";

/* ---- scenes ----------------------------------------------------------------
 */

static int two_ints, frame, texts, sized, head, bad, full, far_text, exits;
static struct {
	const char *text;
	uint64_t n;
} view;
static uint64_t vector[2], elements[3];
static const char *pointer_to_literal = literal;

QUIET static void play_registers(void)
{
	const struct cst_copy program[] = {
		{CST_COPY_REGISTER, CST_REG_RBX, 4, 0},
		{CST_COPY_REGISTER, CST_REG_R15, 4, 0},
	};
	const struct cst_copy of_frame[] = {
		{CST_COPY_FRAME, CST_REG_SP, 8, 8},
		{CST_COPY_REGISTER, CST_REG_SP, 8, 0},
		{CST_COPY_REGISTER, CST_REG_RBP, 8, 0},
		{CST_COPY_REGISTER, CST_REG_R12, 8, 0},
		{CST_COPY_REGISTER, CST_REG_R13, 8, 0},
		{CST_COPY_REGISTER, CST_REG_R14, 8, 0},
	};

	two_ints = play_program(program, 2);
	frame = play_program(of_frame, 6);
}

QUIET static void play_texts(void)
{
	const struct cst_copy program[] = {
		{CST_COPY_POINT, CST_REG_R12, 0, 0},
		{CST_COPY_TEXT, 0, 0, 0},
		{CST_COPY_TEXT, 0, 4, 0},
		{CST_COPY_POINT_AT, CST_REG_R13, 0, 0},
		{CST_COPY_TEXT, 0, 0, 0},
	};
	const struct cst_copy of_view[] = {
		{CST_COPY_POINT, CST_REG_R14, 0, -8},
		{CST_COPY_SIZED_TEXT, 1, 0, 8},
	};
	const struct cst_copy of_vector[] = {
		{CST_COPY_POINT, CST_REG_RBX, 0, 0},
		{CST_COPY_HEAD, 0, 8, 0},
	};

	given[CST_REG_R12] = (uint64_t)literal;
	given[CST_REG_R13] = (uint64_t)&pointer_to_literal;
	given[CST_REG_R14] = (uint64_t)&view;
	given[CST_REG_RBX] = (uint64_t)vector;
	view.text = literal;
	view.n = 5;
	elements[0] = 10;
	elements[1] = 20;
	vector[0] = (uint64_t)elements;
	vector[1] = (uint64_t)(elements + 3);
	texts = play_program(program, 5);
	sized = play_program(of_view, 2);
	head = play_program(of_vector, 2);
}

/* The page is followed by one that is not there. */
QUIET static void play_bad(void)
{
	const struct cst_copy program[] = {
		{CST_COPY_POINT, CST_REG_R12, 0, 0},
		{CST_COPY_TEXT, 0, 0, 0},
		{CST_COPY_BYTES, 0, 8, 0},
		{CST_COPY_POINT_AT, CST_REG_R12, 0, 0},
		{CST_COPY_TEXT, 0, 0, 0},
		{CST_COPY_FOLLOW, 0, 0, 0},
		{CST_COPY_BYTES, 0, 4, 0},
		{CST_COPY_POINT, CST_REG_R13, 0, 0},
		{CST_COPY_TEXT, 0, 0, 0},
		{CST_COPY_SIZED_TEXT, 1, 0, 0},
		{CST_COPY_HEAD, 0, 4, 0},
		{CST_COPY_POINT, CST_REG_R14, 0, 0},
		{CST_COPY_TEXT, 0, 0, 0},
	};
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct cst_copy at_end[] = {
		{CST_COPY_POINT, CST_REG_RBX, 0, 0},
		{CST_COPY_TEXT, 0, 0, 0},
		{CST_COPY_POINT, CST_REG_RBX, 0, 2},
		{CST_COPY_TEXT, 0, 0, 0},
	};

	munmap(pages + 4096, 4096);
	memcpy(pages + 4092, "abc", 4);
	given[CST_REG_R12] = 8;
	given[CST_REG_R13] = 0xdeadbeefdead0000;
	given[CST_REG_R14] = 0;
	bad = play_program(program, 13);
	given[CST_REG_RBX] = (uint64_t)pages + 4092;
	far_text = play_program(at_end, 4);
}

QUIET static void play_full(void)
{
	struct cst_copy program[64];

	for (int i = 0; i < 64; i++)
		program[i] =
			(struct cst_copy){CST_COPY_REGISTER, CST_REG_RBX, 8, 0};
	full = play_program(program, 64);
}

QUIET static void play_exit(void)
{
	const struct cst_copy program[] = {
		{CST_COPY_REGISTER, CST_REG_RBX, 4, 0},
	};
	void *callee = &scenes[n_scenes];

	exits = n_scenes++;
	given[CST_REG_RBX] = 77;
	call_hook((void *)__cyg_profile_func_exit, callee);
	give(site_of(callee, CST_EXIT), program, 1);
	call_hook((void *)__cyg_profile_func_exit, callee);
}

/* Numbers in registers and in the stack: what is copied at once. */
static int plain, plain_wide, plain_full, plain_bad, plain_many, packed,
	packed_wide;
enum { N_MANY = 4000, N_MANY_BYTES = 11 };

QUIET static void play_plain(void)
{
	const struct cst_copy program[] = {
		{CST_COPY_PLAIN, 2, 0, 0},
		cst_copy_saved(CST_REG_RBX, 4),
		{CST_COPY_FRAME, CST_REG_R12, 4, 4},
	};
	const struct cst_copy wide[] = {
		{CST_COPY_PLAIN, 3, 0, 0},
		cst_copy_saved(CST_REG_R14, 8),
		cst_copy_saved(CST_REG_R15, 2),
		{CST_COPY_FRAME, CST_REG_R12, 2, 0},
	};
	const struct cst_copy is_full[] = {
		{CST_COPY_PLAIN, 2, 0, 0},
		{CST_COPY_FRAME, CST_REG_R12, 8, 0},
		cst_copy_saved(CST_REG_R14, 8),
	};
	const struct cst_copy is_bad[] = {
		{CST_COPY_PLAIN, 2, 0, 0},
		cst_copy_saved(CST_REG_RBX, 1),
		{CST_COPY_FRAME, CST_REG_R15, 8, 0},
	};
	const struct cst_copy many[] = {
		{CST_COPY_PLAIN, 3, 0, 0},
		cst_copy_saved(CST_REG_RBX, 8),
		cst_copy_saved(CST_REG_RBX, 2),
		cst_copy_saved(CST_REG_RBX, 1),
	};
	const struct cst_copy of_record[] = {
		{CST_COPY_PLAIN, 3, 16, CST_REG_RBP},
		cst_copy_saved(CST_REG_R13, 2),
		{CST_COPY_FRAME, CST_REG_R12, 2, 0},
		{CST_COPY_FRAME, CST_REG_R12, 1, 8},
	};
	const struct cst_copy too_wide[] = {
		{CST_COPY_PLAIN, 3, 16, CST_REG_SP},
		cst_copy_saved(CST_REG_R13, 2),
		{CST_COPY_FRAME, CST_REG_R12, 2, 0},
		{CST_COPY_FRAME, CST_REG_R12, 4, 0},
	};
	uint64_t word[] = {0x0807060504030201, 0xff};

	given[CST_REG_RBX] = 0x44434241;
	given[CST_REG_R12] = (uint64_t)word;
	given[CST_REG_R13] = 0x8000;
	given[CST_REG_R14] = 0x6867666564636261;
	given[CST_REG_R15] = 0xdeadbeefdead7a79;
	plain = play_program(program, 3);
	plain_wide = play_program(wide, 4);
	plain_full = play_program(is_full, 3);
	plain_bad = play_program(is_bad, 3);
	packed = play_program(of_record, 4);
	packed_wide = play_program(too_wide, 4);
	plain_many = play_program(many, 4);
	for (int i = 1; i < N_MANY; i++)
		call_hook((void *)__cyg_profile_func_enter,
			  &scenes[plain_many]);
}

/* A stack whose pages end a little above its frames. */
static int elsewhere, elsewhere_far;
enum { SMALL_STACK = 16 << 10 };

QUIET static void play_on_it(void)
{
	const struct cst_copy near[] = {
		{CST_COPY_PLAIN, 2, 0, 0},
		{CST_COPY_FRAME, CST_REG_SP, 8, 0},
		cst_copy_saved(CST_REG_RBX, 2),
	};
	const struct cst_copy far[] = {
		{CST_COPY_PLAIN, 2, 0, 0},
		cst_copy_saved(CST_REG_RBX, 2),
		{CST_COPY_FRAME, CST_REG_SP, 8, SMALL_STACK},
	};

	elsewhere = play_program(near, 3);
	elsewhere_far = play_program(far, 3);
}

QUIET static void play_elsewhere(void)
{
	static ucontext_t there, back;
	char *stack = mmap(NULL, 2 * SMALL_STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(stack + SMALL_STACK, SMALL_STACK);
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = SMALL_STACK;
	there.uc_link = &back;
	makecontext(&there, play_on_it, 0);
	swapcontext(&back, &there);
	munmap(stack, SMALL_STACK);
}

static int ahead;

/* The reader knew the hook before the site: its first call is copied. */
QUIET static void play_ahead(void)
{
	const struct cst_copy rbx = {CST_COPY_REGISTER, CST_REG_RBX, 4, 0};
	const struct cst_site *site =
		reader_site(reader, site_of(&scenes[0], CST_ENTER));
	struct cst_hook *slot =
		(struct cst_hook *)((char *)reader_area(reader) +
				    CST_AT_HOOKS) +
		cst_hook_first(site->hook, site->process);

	slot[0] = (struct cst_hook){site->hook + 1, 0, CST_COPY_NOTHING};
	slot[1] = (struct cst_hook){site->hook, 0, put(&rbx, 1)};
	reader_area(reader)->n_hooks = 2;
	reader_area(reader)->wants_values = 1;
	ahead = n_scenes++;
	call_hook((void *)__cyg_profile_func_enter, &scenes[ahead]);
}

static uint64_t took_ms;

/* Nobody looks, and what was known may be of another library: the hook waits
 * once, and not for ever. */
QUIET static void play_wait(void)
{
	struct timespec before, after;

	dlclose(dlopen("libm.so.6", RTLD_NOW));
	clock_gettime(CLOCK_MONOTONIC, &before);
	for (int i = 0; i < 4; i++)
		call_hook((void *)__cyg_profile_func_enter,
			  &scenes[n_scenes++]);
	clock_gettime(CLOCK_MONOTONIC, &after);
	took_ms = (uint64_t)(after.tv_sec - before.tv_sec) * 1000 +
		  (uint64_t)(after.tv_nsec / 1000000) -
		  (uint64_t)(before.tv_nsec / 1000000);
}

QUIET static int play(void **state)
{
	(void)state;
	reader = reader_start(8, 1);
	shim_mode(reader_path(reader), CST_MODE_RING);
	for (uint32_t i = 0; i < CST_REG_SP; i++)
		given[i] = 0x1111111111 * (i + 1);
	play_registers();
	play_texts();
	play_bad();
	play_full();
	play_exit();
	play_plain();
	play_elsewhere();
	play_ahead();
	play_wait();
	shim_mode(NULL, CST_MODE_OFF);
	reader_stop(reader);
	return 0;
}

/* ---- tests -----------------------------------------------------------------
 */

static void registers_are_emitted_and_kept(void **state)
{
	struct emitted e = emitted_by(two_ints);
	uint32_t words[2];
	uint64_t wide[6];

	(void)state;
	assert_int_equal(e.n, 8);
	assert_true(e.is_one_time);
	memcpy(words, e.raw, 8);
	assert_int_equal(words[0], 0x11111111);
	assert_int_equal(words[1], (uint32_t)(0x1111111111 * 6));
	assert_memory_equal(given, kept, sizeof(given));
	e = emitted_by(frame);
	assert_int_equal(e.n, 48);
	assert_true(e.is_one_time);
	memcpy(wide, e.raw, 48);
	assert_int_equal(wide[1], sp_of[frame]);
	for (uint64_t i = 2; i < 6; i++)
		assert_int_equal(wide[i], 0x1111111111 * i);
}

static void texts_are_emitted(void **state)
{
	(void)state;
	EMITS(texts, "\1\11a literal"
		     "\2\4a li"
		     "\1\11a literal");
	EMITS(sized, "\1\5a lit");
	EMITS(head, "\2\30\0\0\0\0\0\0\0"
		    "\12\0\0\0\0\0\0\0"
		    "\24\0\0\0\0\0\0\0");
}

static void what_cannot_be_read_is_bad(void **state)
{
	(void)state;
	EMITS(bad, "\0\0\0\0\0\0\0\3");
	EMITS(far_text, "\1\3abc"
			"\1\1c");
}

static void what_has_no_room_ends_it(void **state)
{
	(void)state;
	assert_int_equal(emitted_by(full).n, CST_RAW_MAX);
}

static void exits_are_copied(void **state)
{
	(void)state;
	EMITS(exits, "\115\0\0\0");
}

static void plain_values_are_emitted(void **state)
{
	(void)state;
	EMITS(plain, "ABCD\5\6\7\10");
	assert_true(emitted_by(plain).is_one_time);
	EMITS(plain_wide, "abcdefghyz\1\2");
	EMITS(plain_full, "\1\2\3\4\5\6\7\10abcdefgh");
	assert_true(emitted_by(plain_full).is_one_time);
	EMITS(plain_bad, "A");
}

/* The record of that site that is the n-th, from 0. */
static void small_numbers_stand_in_the_record(void **state)
{
	const struct cst_record *r = record_of(packed, 1);

	(void)state;
	assert_true(cst_record_has_numbers(r));
	assert_int_equal(cst_record_frame(r), given[CST_REG_RBP]);
	assert_int_equal(cst_record_fp(r), 0x7fff82010000);
	assert_int_equal(emitted_by(packed).n_records, 0);
	r = record_of(packed_wide, 1);
	assert_false(cst_record_has_numbers(r));
	assert_int_equal(cst_record_sp(r), sp_of[packed_wide]);
	EMITS(packed_wide, "\0\200\1\2\1\2\3\4");
}

/* Over the ends of chunks; the first call had no program. */
static void values_stand_before_each_record(void **state)
{
	struct stream *s = reader_my_stream(reader);
	uint32_t site = site_of(&scenes[plain_many], CST_ENTER);
	int n = 0;

	(void)state;
	for (size_t k = 1; k < s->n; k++) {
		const struct cst_record *before = &s->records[k - 1];

		if (cst_record_site(&s->records[k]) != site || !n++)
			continue;
		assert_int_equal(cst_record_site(before), CST_VALUES);
		assert_int_equal((uint8_t)before->site_and_sp, N_MANY_BYTES);
		assert_int_equal(before->time, s->records[k].time);
	}
	assert_int_equal(n, N_MANY + 1);
}

static void other_stacks_are_read_as_far_as_they_go(void **state)
{
	struct emitted e = emitted_by(elsewhere);

	(void)state;
	assert_int_equal(e.n, 10);
	EMITS(elsewhere_far, "AB");
}

static void what_is_known_ahead_is_not_waited_for(void **state)
{
	struct emitted e = emitted_by(ahead);

	(void)state;
	assert_int_equal(e.n, 4);
	assert_int_equal(e.n_records, 1);
	assert_memory_equal(e.raw, &given[CST_REG_RBX], 4);
}

static void a_reader_that_does_not_look_is_waited_for_once(void **state)
{
	(void)state;
	assert_in_range(took_ms, 1900, 3900);
	assert_int_equal(reader_area(reader)->n_copy_waiting, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_are_emitted_and_kept),
		cmocka_unit_test(texts_are_emitted),
		cmocka_unit_test(what_cannot_be_read_is_bad),
		cmocka_unit_test(what_has_no_room_ends_it),
		cmocka_unit_test(exits_are_copied),
		cmocka_unit_test(plain_values_are_emitted),
		cmocka_unit_test(small_numbers_stand_in_the_record),
		cmocka_unit_test(values_stand_before_each_record),
		cmocka_unit_test(other_stacks_are_read_as_far_as_they_go),
		cmocka_unit_test(what_is_known_ahead_is_not_waited_for),
		cmocka_unit_test(
			a_reader_that_does_not_look_is_waited_for_once),
	};

	return cmocka_run_group_tests(tests, play, NULL);
}
