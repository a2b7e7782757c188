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
static const char literal[] = "a literal";

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
	reader_site(reader, site)->verdict = CST_COPIED;
}

/* The scenes differ by their callee: an address in here. */
static char scenes[N_SCENES];
static uint64_t sp_of[N_SCENES];
static int n_scenes;

QUIET static int play_program(const struct cst_copy *program, int n)
{
	void *callee = &scenes[n_scenes];

	call_hook((void *)__cyg_profile_func_enter, callee);
	give(site_of(callee, CST_ENTER), program, n);
	call_hook((void *)__cyg_profile_func_enter, callee);
	sp_of[n_scenes] = given[CST_REG_SP];
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

/* What the hook has quicker ways for: at the frame pointer, or saved.  It reads
 * only what is on the stack. */
static int at_fp_two, at_fp_one, at_fp_long, saved_two, saved_one, saved_long,
	saved_wide, at_fp_far;

QUIET static int play_quick(int n, int way, struct cst_copy first,
			    struct cst_copy second)
{
	const struct cst_copy program[] = {
		{CST_COPY_PLAIN, (uint8_t)n, (uint16_t)(CST_NUMBERS_BITS / n),
		 way | CST_REG_RBP},
		first,
		second,
	};

	return play_program(program, 1 + n);
}

QUIET static void play_quick_ways(void)
{
	const struct cst_copy end = {.op = CST_COPY_END};
	struct {
		int32_t a, b;
		int64_t c;
	} frame = {-5, 0x7fffff, -0x7fffffffffff};
	static int32_t far = 9;
	uint64_t before[CST_N_REGS];
#define AT(field) (int32_t)((char *)&frame.field - (char *)&frame.c)
#define AT_FP(size, offset) \
	((struct cst_copy){CST_COPY_FRAME, CST_REG_RBP, size, offset})

	memcpy(before, given, sizeof(before));
	given[CST_REG_RBP] = (uint64_t)&frame.c;
	given[CST_REG_RBX] = 0xffffffffffff8000;
	given[CST_REG_R12] = 0xdeadbeef00000007;
	given[CST_REG_R13] = 0x800000000000;
	at_fp_two =
		play_quick(2, CST_INTS_AT_FP, AT_FP(4, AT(a)), AT_FP(4, AT(b)));
	at_fp_one = play_quick(1, CST_INTS_AT_FP, AT_FP(4, AT(a)), end);
	at_fp_long = play_quick(1, CST_LONG_AT_FP, AT_FP(8, 0), end);
	saved_two =
		play_quick(2, CST_INTS_SAVED, cst_copy_saved(CST_REG_RBX, 4),
			   cst_copy_saved(CST_REG_R12, 4));
	saved_one = play_quick(1, CST_INTS_SAVED,
			       cst_copy_saved(CST_REG_R12, 4), end);
	saved_long = play_quick(1, CST_LONG_SAVED,
				cst_copy_saved(CST_REG_RBX, 8), end);
	saved_wide = play_quick(1, CST_LONG_SAVED,
				cst_copy_saved(CST_REG_R13, 8), end);
	given[CST_REG_RBP] = (uint64_t)&far;
	at_fp_far = play_quick(1, CST_INTS_AT_FP, AT_FP(4, 0), end);
	memcpy(given, before, sizeof(before));
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
	play_quick_ways();
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

#define EMITS(scene, bytes)                                            \
	do {                                                           \
		struct emitted e_ = emitted_by(scene);                 \
		assert_int_equal(e_.n, sizeof(bytes) - 1);             \
		assert_memory_equal(e_.raw, bytes, sizeof(bytes) - 1); \
	} while (0)

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
QUIET static const struct cst_record *record_of(int scene, int n)
{
	struct stream *s = reader_my_stream(reader);
	uint32_t site = site_of(&scenes[scene], CST_ENTER);

	for (size_t k = 0; k < s->n; k++)
		if (cst_record_site(&s->records[k]) == site && !n--)
			return &s->records[k];
	fail();
	return NULL;
}

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

/* The packed numbers of the scene's second call, each without its half. */
static void check_quick(int scene, uint64_t frame, int64_t first,
			int64_t second)
{
	const struct cst_record *r = record_of(scene, 1);
	int bits = second ? CST_NUMBERS_BITS / 2 : CST_NUMBERS_BITS;
	uint64_t mask = (1ull << bits) - 1, half = 1ull << (bits - 1);

	assert_true(cst_record_has_numbers(r));
	assert_int_equal(cst_record_frame(r), frame);
	assert_int_equal((cst_record_fp(r) & mask) - half, first);
	if (second)
		assert_int_equal((cst_record_fp(r) >> bits) - half, second);
}

static void quick_ways_give_the_same(void **state)
{
	uint64_t fp = cst_record_fp(record_of(at_fp_two, 0));

	(void)state;
	check_quick(at_fp_two, fp, -5, 0x7fffff);
	check_quick(at_fp_one, fp, -5, 0);
	check_quick(at_fp_long, fp, -0x7fffffffffff, 0);
	check_quick(saved_two, fp, -0x8000, 7);
	check_quick(saved_one, fp, 7, 0);
	check_quick(saved_long, fp, -0x8000, 0);
	assert_false(cst_record_has_numbers(record_of(saved_wide, 1)));
	EMITS(saved_wide, "\0\0\0\0\0\200\0\0");
	EMITS(at_fp_far, "\11\0\0\0");
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
		cmocka_unit_test(quick_ways_give_the_same),
		cmocka_unit_test(values_stand_before_each_record),
		cmocka_unit_test(other_stacks_are_read_as_far_as_they_go),
		cmocka_unit_test(what_is_known_ahead_is_not_waited_for),
		cmocka_unit_test(
			a_reader_that_does_not_look_is_waited_for_once),
	};

	return cmocka_run_group_tests(tests, play, NULL);
}
