/* SPDX-License-Identifier: MIT
 *
 * What the program keeps for itself, without a tracer: the calls that are open,
 * also where it crashes, and the tree of spans.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "in_child.h"

enum { OPEN_MAX_TEST = 64 };

TRACED void leaf(void)
{
	__asm__ volatile("");
}

/* ---- what is open -----------------------------------------------------------
 */

static struct cstrace_open open_calls[OPEN_MAX_TEST];
static int n_open;

TRACED void look(void)
{
	n_open = cstrace_backtrace(open_calls, OPEN_MAX_TEST);
}

CSTRACE_FUNC_VOID(by_macro, (int n), (n), {
	CSTRACE_SPAN("a span");
	look();
	(void)n;
})

TRACED void by_hook(void)
{
	by_macro(1);
	__asm__ volatile("");
}

QUIET static void open_calls_are_known(void **state)
{
	(void)state;
	cstrace_keep_calls(1);
	by_hook();
	cstrace_keep_calls(0);
	assert_int_equal(n_open, 4);
	assert_ptr_equal(open_calls[0].callee, look);
	assert_string_equal(open_calls[1].function, "a span");
	assert_true(open_calls[1].is_span);
	assert_string_equal(open_calls[2].function, "by_macro");
	assert_ptr_equal(open_calls[3].callee, by_hook);
	look();
	assert_int_equal(*shim_state(), CST_STATE_OFF);
}

static jmp_buf env;

TRACED void jump(void)
{
	longjmp(env, 1);
}

TRACED void way_to_jump(void)
{
	CSTRACE_SPAN("left");
	jump();
	__asm__ volatile("");
}

TRACED void jump_and_look(void)
{
	if (!setjmp(env))
		way_to_jump();
	look();
}

QUIET static void a_jump_leaves_calls(void **state)
{
	(void)state;
	cstrace_keep_calls(1);
	jump_and_look();
	cstrace_keep_calls(0);
	assert_int_equal(n_open, 2);
	assert_ptr_equal(open_calls[0].callee, look);
	assert_ptr_equal(open_calls[1].callee, jump_and_look);
}

static sigjmp_buf signal_env;

TRACED void handle(int signo)
{
	look();
	siglongjmp(signal_env, signo);
}

TRACED void raise_in(int signo)
{
	raise(signo);
	__asm__ volatile("");
}

TRACED void with_alternate_stack(char *stack, size_t size)
{
	stack_t alternate = {.ss_sp = stack, .ss_size = size};
	struct sigaction action = {.sa_handler = handle,
				   .sa_flags = SA_ONSTACK};

	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
	if (!sigsetjmp(signal_env, 1))
		raise_in(SIGUSR1);
	assert_int_equal(n_open, 4);
	assert_ptr_equal(open_calls[0].callee, look);
	assert_ptr_equal(open_calls[1].callee, handle);
	assert_ptr_equal(open_calls[2].callee, raise_in);
	assert_ptr_equal(open_calls[3].callee, with_alternate_stack);
	look();
	assert_int_equal(n_open, 2);
	alternate.ss_flags = SS_DISABLE;
	sigaltstack(&alternate, NULL);
}

QUIET static void a_handler_has_a_stack_of_its_own(void **state)
{
	static char below[1 << 16];
	char above[1 << 16];

	(void)state;
	cstrace_keep_calls(1);
	with_alternate_stack(below, sizeof(below));
	with_alternate_stack(above, sizeof(above));
	cstrace_keep_calls(0);
}

/* ---- a crash ----------------------------------------------------------------
 */

QUIET static void on_crash(int signo)
{
	(void)signo;
	cstrace_print_calls(STDOUT_FILENO);
	_exit(9);
}

TRACED void poke(volatile int *at)
{
	*at = 1;
	__asm__ volatile("");
}

CSTRACE_FUNC_VOID(outer, (volatile int *at), (at), {
	CSTRACE_SPAN("poking", "at", at);
	poke(at);
})

QUIET static void crash(void)
{
	static char stack[1 << 16];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = on_crash,
				   .sa_flags = SA_ONSTACK};

	sigaltstack(&alternate, NULL);
	sigaction(SIGSEGV, &action, NULL);
	cstrace_keep_calls(1);
	/* Not NULL, which a sanitizer would find first. */
	outer((volatile int *)16);
}

QUIET static void expect_line(const char **text, const char *begin,
			      const char *end)
{
	const char *newline = strchr(*text, '\n');

	if (strncmp(*text, begin, strlen(begin)) || !newline ||
	    (size_t)(newline - *text) < strlen(end) ||
	    strncmp(newline - strlen(end), end, strlen(end)))
		fail_msg("not \"%s...%s\": %s", begin, end, *text);
	*text = newline + 1;
}

QUIET static void a_crash_shows_what_was_open(void **state)
{
	char text[4096];
	const char *at = text;
	char place[256];

	(void)state;
	in_child(crash, text, sizeof(text), 9);
	expect_line(&at, "#0   poke, called from ", "");
	snprintf(place, sizeof(place), "#1   span poking at %s:", __FILE__);
	expect_line(&at, place, "");
	snprintf(place, sizeof(place), "#2   outer at %s:", __FILE__);
	expect_line(&at, place, "");
	assert_string_equal(at, "");
}

QUIET static void names_come_from_the_file(void **state)
{
	char name[64], cut[4];

	(void)state;
	assert_int_equal(
		cstrace_name((void *)a_jump_leaves_calls, name, sizeof(name)),
		strlen("a_jump_leaves_calls"));
	assert_string_equal(name, "a_jump_leaves_calls");
	for (int i = 0; i < 2; i++) { /* found, then known */
		cstrace_name((char *)leaf + 1, cut, sizeof(cut));
		assert_string_equal(cut, "lea");
	}
	assert_int_equal(cstrace_name(NULL, name, sizeof(name)), 0);
	assert_string_equal(name, "");
}

/* ---- spans ------------------------------------------------------------------
 */

QUIET static void *other_thread(void *arg)
{
	{
		CSTRACE_SPAN("theirs");
	}
	CSTRACE_ASYNC_END("job", 3);
	return arg;
}

QUIET static void dump_spans(void)
{
	pthread_t thread;

	assert_int_equal(cstrace_keep_spans(64), 0);
	{
		CSTRACE_SPAN("abc");
		for (int i = 0; i < 2; i++) {
			CSTRACE_SPAN("bcd");
		}
		CSTRACE_ASYNC_BEGIN("job", 3);
		cstrace_span_dump_to(STDOUT_FILENO);
	}
	pthread_create(&thread, NULL, other_thread, NULL);
	pthread_join(thread, NULL);
	cstrace_span_dump_to(STDOUT_FILENO);
	cstrace_keep_spans(0);
	cstrace_span_dump_to(STDOUT_FILENO);
}

QUIET static void spans_are_dumped_as_a_tree(void **state)
{
	char text[4096];
	const char *at = text;

	(void)state;
	in_child(dump_spans, text, sizeof(text), 0);
	expect_line(&at, "| abc at kept.c:", " is open");
	expect_line(&at, "  | bcd at kept.c:", " ns");
	expect_line(&at, "  | bcd at kept.c:", " ns");
	expect_line(&at, "| job #3 at kept.c:", " is open");
	expect_line(&at, "thread ", "");
	expect_line(&at, "| abc at kept.c:", "s");
	expect_line(&at, "  | bcd at kept.c:", " ns");
	expect_line(&at, "  | bcd at kept.c:", " ns");
	expect_line(&at, "| job #3 at kept.c:", "s");
	expect_line(&at, "thread ", "");
	expect_line(&at, "| theirs at kept.c:", " ns");
	assert_string_equal(at, "");
}

QUIET static void the_last_spans_are_kept(void **state)
{
	(void)state;
	cstrace_keep_spans(16);
	for (int i = 0; i < 1000; i++) {
		CSTRACE_SPAN("one of many");
	}
	cstrace_keep_spans(0);
	leaf();
	assert_int_equal(*shim_state(), CST_STATE_OFF);
}

QUIET static void a_span_says_how_long_it_has_lasted(void **state)
{
	struct timespec begin, now;

	(void)state;
	cstrace_keep_spans(16);
	{
		CSTRACE_BEGIN(span, "timed");
		clock_gettime(CLOCK_MONOTONIC, &begin);
		do
			clock_gettime(CLOCK_MONOTONIC, &now);
		while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec -
			       begin.tv_nsec <
		       1000000);
		assert_in_range(cstrace_elapsed_ns(&span), 900000, 60000000000);
		CSTRACE_END(span);
	}
	cstrace_keep_spans(0);
	{
		CSTRACE_BEGIN(span, "nobody watches");
		assert_int_equal(cstrace_elapsed_ns(&span), 0);
		CSTRACE_END(span);
	}
}

/* ---- processes --------------------------------------------------------------
 */

QUIET static void fork_work(void)
{
	by_hook();
	dprintf(STDOUT_FILENO, "%d open", n_open);
}

QUIET static void a_child_goes_on(void **state)
{
	char text[256];

	(void)state;
	cstrace_keep_calls(1);
	in_child(fork_work, text, sizeof(text), 0);
	cstrace_keep_calls(0);
	assert_string_equal(text, "4 open");
}

static int n_first;

/* It asks for its open calls and spans somewhere, so both are kept from its
 * begin on. */
QUIET static int begin(void **state)
{
	(void)state;
	n_first = cstrace_backtrace(open_calls, OPEN_MAX_TEST);
	cstrace_keep_calls(0);
	cstrace_keep_spans(0);
	return 0;
}

QUIET static void a_program_that_asks_is_watched_from_its_begin(void **state)
{
	(void)state;
	assert_int_equal(n_first, 1);
	leaf();
	assert_int_equal(*shim_state(), CST_STATE_OFF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_that_asks_is_watched_from_its_begin),
		cmocka_unit_test(open_calls_are_known),
		cmocka_unit_test(a_jump_leaves_calls),
		cmocka_unit_test(a_handler_has_a_stack_of_its_own),
		cmocka_unit_test(a_crash_shows_what_was_open),
		cmocka_unit_test(names_come_from_the_file),
		cmocka_unit_test(spans_are_dumped_as_a_tree),
		cmocka_unit_test(the_last_spans_are_kept),
		cmocka_unit_test(a_span_says_how_long_it_has_lasted),
		cmocka_unit_test(a_child_goes_on),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
