/* SPDX-License-Identifier: MIT
 *
 * The quick ways of the hooks, for one or two numbers at the frame pointer or
 * in registers: they give what the long way gives.
 */
#include "scenes.h"

/* What the hook has quicker ways for: at the frame pointer, or saved.  It reads
 * only what is on the stack. */
static int at_fp_two, at_fp_one, at_fp_long, saved_two, saved_one, saved_long,
	saved_wide, at_fp_far, saved_each[2][CST_REG_SP];

QUIET static uint32_t quick_place(const struct cst_copy *step)
{
	int32_t saved = step->offset / 8 + CST_N_REGS + 1;

	return (uint8_t)(step->reg == CST_REG_SP ? saved : step->offset / 4);
}

QUIET static int play_quick(int n, int way, struct cst_copy first,
			    struct cst_copy second)
{
	uint32_t places = quick_place(&first) << 16 | quick_place(&second)
							      << 24;
	const struct cst_copy program[] = {
		{CST_COPY_PLAIN, (uint8_t)n, (uint16_t)(CST_NUMBERS_BITS / n),
		 (int32_t)((uint32_t)way | CST_REG_RBP |
			   (n == 1 ? places & 0xffffff : places))},
		first,
		second,
	};

	return play_program(program, 1 + n);
}

QUIET static void play_each_register(int *scene)
{
	for (uint8_t reg = 0; reg < CST_REG_SP; reg++) {
		if (reg != CST_REG_RBP)
			given[reg] = 100u + reg;
		scene[reg] =
			play_quick(1, CST_INTS_SAVED, cst_copy_saved(reg, 4),
				   (struct cst_copy){.op = CST_COPY_END});
	}
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
	play_each_register(saved_each[0]);
	played = CST_EXIT;
	play_each_register(saved_each[1]);
	played = CST_ENTER;
	given[CST_REG_RBP] = (uint64_t)&far;
	at_fp_far = play_quick(1, CST_INTS_AT_FP, AT_FP(4, 0), end);
	memcpy(given, before, sizeof(before));
}

QUIET static int play(void **state)
{
	/* The long way asks how far the stack is there. */
	const struct cst_copy of_stack = {CST_COPY_FRAME, CST_REG_SP, 8, 8};

	(void)state;
	reader = reader_start(8, 1);
	shim_mode(reader_path(reader), CST_MODE_RING);
	play_program(&of_stack, 1);
	play_quick_ways();
	shim_mode(NULL, CST_MODE_OFF);
	reader_stop(reader);
	return 0;
}

/* ---- tests -----------------------------------------------------------------
 */

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
	for (int i = 0; i < 2; i++)
		for (int reg = 0; reg < CST_REG_SP; reg++)
			check_quick(saved_each[i][reg], fp,
				    reg == CST_REG_RBP ? (int32_t)fp
						       : 100 + reg,
				    0);
	assert_false(cst_record_has_numbers(record_of(saved_wide, 1)));
	EMITS(saved_wide, "\0\0\0\0\0\200\0\0");
	EMITS(at_fp_far, "\11\0\0\0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quick_ways_give_the_same),
	};

	return cmocka_run_group_tests(tests, play, NULL);
}
