/* SPDX-License-Identifier: MIT
 *
 * Handlers on an alternate stack that the thread has recorded.
 */
#include "record_builder.h"

/* All handlers and what calls back have no hooks themselves. */
static void an_alternate_stack_is_a_lane_wherever_it_lies(void **state)
{
	struct fixture *f = *state;

	mark(f, CST_ALTERNATE, 0x8000, 0x800);
	ENTER(0x9000, MAIN, LIBC);
	ENTER(0x8f00, F, MAIN);
	ENTER(0x8700, G, LIBC);
	ENTER(0x8600, H, G);
	LEAVE(0x8600, H, G);
	LEAVE(0x8700, G, LIBC);
	ENTER(0x8800, G, LIBC); /* its highest frame */
	LEAVE(0x8800, G, LIBC);
	ENTER(0x8000, H, LIBC); /* just below, called back */
	LEAVE(0x8000, H, LIBC);
	LEAVE(0x8f00, F, MAIN);
	assert_string_equal(f->drawing.text, ". m\n.  f\n"
					     "1 g\n1  h\n1  /h\n1 /g\n"
					     "1 g\n1 /g\n"
					     ".   h\n.   /h\n.  /f\n");
	mark(f, CST_ALTERNATE, 0, 0);
	f->drawing.text[0] = '\0';
	ENTER(0x8700, G, LIBC);
	assert_string_equal(f->drawing.text, ".  g\n");
}

static void a_handler_that_was_left_is_over_when_one_begins(void **state)
{
	struct fixture *f = *state;

	mark(f, CST_ALTERNATE, 0x8000, 0x800);
	ENTER(0x9000, MAIN, LIBC);
	ENTER(0x8700, G, LIBC);
	ENTER(0x8f00, F, MAIN); /* no mark before */
	LEAVE(0x8f00, F, MAIN);
	ENTER(0x8600, H, LIBC);
	jump_to(f, 0x8f80);
	ENTER(0x7f00, F, LIBC);
	LEAVE(0x7f00, F, LIBC);
	ENTER(0x8500, H, LIBC);
	LEAVE(0x8500, H, LIBC);
	LEAVE(0x9000, MAIN, LIBC);
	assert_string_equal(f->drawing.text, ". m\n1 g\n.  f\n.  /f\n"
					     "1 !g\n1 h\n.  f\n.  /f\n"
					     "1 !h\n1 h\n1 /h\n. /m\n");
}

static void a_handler_may_switch_stacks_and_come_back(void **state)
{
	struct fixture *f = *state;

	mark(f, CST_ALTERNATE, 0x8000, 0x800);
	ENTER(0x9000, MAIN, LIBC);
	ENTER(0x8700, G, LIBC);
	ENTER(0x8000, CO, LIBC, .is_first = 1);
	jump_to(f, 0x8680);
	ENTER(0x8600, H, LIBC);
	LEAVE(0x8600, H, LIBC);
	LEAVE(0x8700, G, LIBC);
	ENTER(0x7000, H, LIBC);
	assert_string_equal(f->drawing.text, ". m\n1 g\n2 c\n"
					     "1  h\n1  /h\n1 /g\n.  h\n");
}

static void a_coroutine_may_have_its_memory(void **state)
{
	struct fixture *f = *state;

	mark(f, CST_ALTERNATE, 0x8000, 0x800);
	ENTER(0x9000, MAIN, LIBC);
	ENTER(0x8700, G, LIBC);
	LEAVE(0x8700, G, LIBC);
	/* Though it was not taken back. */
	ENTER(0x87f0, CO, LIBC, .is_first = 1);
	ENTER(0x8700, H, LIBC);
	assert_string_equal(f->drawing.text, ". m\n1 g\n1 /g\n2 c\n2  h\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_alternate_stack_is_a_lane_wherever_it_lies),
		T(a_handler_that_was_left_is_over_when_one_begins),
		T(a_handler_may_switch_stacks_and_come_back),
		T(a_coroutine_may_have_its_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
