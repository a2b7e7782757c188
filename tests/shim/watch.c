/* SPDX-License-Identifier: MIT
 *
 * The program watches itself by cstrace.h: callbacks, the calls that are open,
 * the tree of spans.  First without a tracer, then with one.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "traced.h"

enum { MAX_SEEN = 4096, N_THREADS = 4, DEEP = 3000, OPEN_MAX_TEST = 64 };

/* What the callbacks saw. */
struct seen {
	int is_exit;
	struct cstrace_call call;
	struct cstrace_value argument, result;
};

static struct seen seen[MAX_SEEN];
static int n_seen;

QUIET static struct seen *see(const struct cstrace_call *c)
{
	struct seen *s = &seen[n_seen < MAX_SEEN - 1 ? n_seen++ : n_seen];

	memset(s, 0, sizeof(*s));
	s->call = *c;
	if (c->n_arguments)
		s->argument = c->arguments[0];
	if (c->result)
		s->result = *c->result;
	return s;
}

TRACED void called_by_a_callback(void)
{
	__asm__ volatile("");
}

QUIET static int see_enter(const struct cstrace_call *c, void *data)
{
	(void)data;
	see(c)->is_exit = 0;
	called_by_a_callback();
	cstrace_log("from a callback");
	errno = 77;
	return CSTRACE_GO_ON;
}

QUIET static void see_exit(const struct cstrace_call *c, void *data)
{
	(void)data;
	see(c)->is_exit = 1;
	called_by_a_callback();
	errno = 78;
}

static int callbacks[2];

QUIET static void watch(void)
{
	n_seen = 0;
	callbacks[0] = cstrace_on_enter(see_enter, NULL);
	callbacks[1] = cstrace_on_exit(see_exit, NULL);
	assert_true(callbacks[0] > 0 && callbacks[1] > 0);
}

QUIET static void unwatch(void)
{
	assert_int_equal(cstrace_off(callbacks[0]), 0);
	assert_int_equal(cstrace_off(callbacks[1]), 0);
	assert_int_equal(*shim_state(), CST_STATE_OFF);
}

/* ---- what is called ---------------------------------------------------------
 */

TRACED void leaf(void)
{
	__asm__ volatile("");
}

TRACED void branch(void)
{
	leaf();
	leaf();
}

CSTRACE_FUNC(int, twice, (int n), (n), {
	leaf();
	return 2 * n;
})

static int n_bodies;

CSTRACE_FUNC_VETO(-5, int, guarded, (int n), (n), {
	n_bodies++;
	return n;
})
CSTRACE_FUNC_VOID_VETO(guarded_void, (void), (), { n_bodies++; })

static void check_seen(int i, int is_exit, const void *callee, unsigned depth)
{
	assert_true(i < n_seen);
	assert_int_equal(seen[i].is_exit, is_exit);
	assert_ptr_equal(seen[i].call.callee, callee);
	assert_int_equal(seen[i].call.depth, depth);
}

QUIET static void callbacks_see_each_call_of_a_hook(void **state)
{
	(void)state;
	watch();
	errno = 5;
	branch();
	assert_int_equal(errno, 5);
	unwatch();
	branch();
	assert_int_equal(n_seen, 6);
	check_seen(0, 0, branch, 1);
	check_seen(1, 0, leaf, 2);
	check_seen(2, 1, leaf, 2);
	check_seen(3, 0, leaf, 2);
	check_seen(4, 1, leaf, 2);
	check_seen(5, 1, branch, 1);
	assert_null(seen[0].call.function);
	assert_true(seen[1].call.caller > (void *)branch &&
		    (char *)seen[1].call.caller < (char *)branch + 256);
	assert_true(seen[5].call.elapsed_ns >= seen[4].call.elapsed_ns);
}

QUIET static void callbacks_see_what_a_macro_has(void **state)
{
	(void)state;
	watch();
	assert_int_equal(twice(21), 42);
	unwatch();
	assert_int_equal(n_seen, 4);
	check_seen(0, 0, NULL, 1);
	assert_string_equal(seen[0].call.function, "twice");
	assert_non_null(strstr(seen[0].call.file, "watch.c"));
	assert_true(seen[0].call.line > 0);
	assert_string_equal(seen[0].call.names, "n");
	assert_int_equal(seen[0].argument.bits, 21);
	assert_int_equal(seen[0].argument.tag, 'i');
	check_seen(1, 0, leaf, 2);
	check_seen(3, 1, NULL, 1);
	assert_int_equal(seen[3].result.bits, 42);
}

QUIET static int veto(const struct cstrace_call *c, void *data)
{
	(void)c;
	(void)data;
	return CSTRACE_VETO;
}

QUIET static void a_veto_is_for_those_that_opted_in(void **state)
{
	int callback;

	(void)state;
	n_bodies = 0;
	callback = cstrace_on_enter(veto, NULL);
	assert_int_equal(guarded(1), -5);
	guarded_void();
	assert_int_equal(twice(3), 6);
	branch();
	assert_int_equal(n_bodies, 0);
	assert_int_equal(cstrace_off(callback), 0);
	assert_int_equal(guarded(1), 1);
	guarded_void();
	assert_int_equal(n_bodies, 2);
}

QUIET static void a_number_is_good_for_one_removal(void **state)
{
	int callback = cstrace_on_enter(see_enter, NULL);

	(void)state;
	assert_int_equal(cstrace_off(callback), 0);
	assert_int_equal(cstrace_off(callback), -1);
	assert_int_equal(cstrace_off(0), -1);
	assert_int_equal(cstrace_off(1000), -1);
	assert_int_equal(cstrace_on_enter(NULL, NULL), -1);
}

QUIET static void there_is_a_limit(void **state)
{
	int numbers[17];

	(void)state;
	for (int i = 0; i < 17; i++)
		numbers[i] = cstrace_on_exit(see_exit, NULL);
	assert_int_equal(numbers[16], -1);
	for (int i = 0; i < 16; i++)
		assert_int_equal(cstrace_off(numbers[i]), 0);
}

/* ---- removal ----------------------------------------------------------------
 */

static int own_number, own_status, n_own;

QUIET static int remove_itself(const struct cstrace_call *c, void *data)
{
	(void)c;
	(void)data;
	n_own++;
	own_status = cstrace_off(own_number);
	leaf(); /* unseen, though nothing watches any more */
	return 0;
}

QUIET static void a_callback_may_remove_itself(void **state)
{
	(void)state;
	own_number = cstrace_on_enter(remove_itself, NULL);
	branch();
	assert_int_equal(n_own, 1);
	assert_int_equal(own_status, 0);
	leaf();
	assert_int_equal(*shim_state(), CST_STATE_OFF);
}

static volatile int is_over;

QUIET static void *call_on(void *arg)
{
	while (!is_over)
		branch();
	return arg;
}

/* The data is gone as soon as it is removed: a callback that runs on would
 * find no memory there. */
QUIET static void use(const struct cstrace_call *c, void *data)
{
	(void)c;
	__atomic_fetch_add((int *)data, 1, __ATOMIC_RELAXED);
}

QUIET static void a_removed_callback_runs_in_no_thread(void **state)
{
	pthread_t threads[N_THREADS];

	(void)state;
	is_over = 0;
	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, call_on, NULL);
	for (int i = 0; i < 300; i++) {
		int *data = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		int number = cstrace_on_exit(use, data);

		assert_true(number > 0);
		while (!__atomic_load_n(data, __ATOMIC_RELAXED))
			;
		assert_int_equal(cstrace_off(number), 0);
		munmap(data, 4096);
	}
	is_over = 1;
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	leaf();
	assert_int_equal(*shim_state(), CST_STATE_OFF);
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

/* -O2 would make a loop of it. */
TRACED int recurse(int depth)
{
	int n = depth ? recurse(depth - 1) + 1 : 0;

	__asm__ volatile("" : "+r"(n));
	return n;
}

QUIET static void deep_recursion_has_its_depth(void **state)
{
	(void)state;
	watch();
	recurse(DEEP);
	unwatch();
	assert_int_equal(n_seen, MAX_SEEN - 1);
	assert_int_equal(seen[DEEP].call.depth, DEEP + 1);
	watch();
	branch();
	unwatch();
	assert_int_equal(seen[1].call.depth, 2);
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

/* What the child writes. */
QUIET static void in_child(void (*work)(void), char *out, size_t size,
			   int status)
{
	int fds[2], result;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		dup2(fds[1], STDOUT_FILENO);
		work();
		_exit(0);
	}
	close(fds[1]);
	while (n < size - 1 && (got = read(fds[0], out + n, size - 1 - n)) > 0)
		n += (size_t)got;
	out[n] = 0;
	close(fds[0]);
	assert_int_equal(waitpid(pid, &result, 0), pid);
	assert_int_equal(WEXITSTATUS(result), status);
}

QUIET static void crash(void)
{
	static char stack[1 << 16];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = on_crash,
				   .sa_flags = SA_ONSTACK};

	sigaltstack(&alternate, NULL);
	sigaction(SIGSEGV, &action, NULL);
	cstrace_keep_calls(1);
	outer(NULL);
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
	expect_line(&at, "| abc at watch.c:", " is open");
	expect_line(&at, "  | bcd at watch.c:", " ns");
	expect_line(&at, "  | bcd at watch.c:", " ns");
	expect_line(&at, "| job #3 at watch.c:", " is open");
	expect_line(&at, "thread ", "");
	expect_line(&at, "| abc at watch.c:", "s");
	expect_line(&at, "  | bcd at watch.c:", " ns");
	expect_line(&at, "  | bcd at watch.c:", " ns");
	expect_line(&at, "| job #3 at watch.c:", "s");
	expect_line(&at, "thread ", "");
	expect_line(&at, "| theirs at watch.c:", " ns");
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

/* ---- processes, tracers -----------------------------------------------------
 */

QUIET static void fork_work(void)
{
	by_hook();
	dprintf(STDOUT_FILENO, "%d seen, %d open", n_seen, n_open);
}

QUIET static void a_child_goes_on(void **state)
{
	char text[256];

	(void)state;
	watch();
	in_child(fork_work, text, sizeof(text), 0);
	unwatch();
	assert_string_equal(text, "6 seen, 4 open");
}

QUIET static void quiet_fork_work(void)
{
	assert_int_equal(cstrace_off(callbacks[0]), 0);
	assert_int_equal(cstrace_off(callbacks[1]), 0);
	dprintf(STDOUT_FILENO, "off");
}

QUIET static void a_child_does_not_wait_for_threads_it_lacks(void **state)
{
	pthread_t threads[N_THREADS];
	char text[256];

	(void)state;
	is_over = 0;
	callbacks[0] = cstrace_on_enter(see_enter, NULL);
	callbacks[1] = cstrace_on_exit(see_exit, NULL);
	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, call_on, NULL);
	for (int i = 0; i < 20; i++) {
		in_child(quiet_fork_work, text, sizeof(text), 0);
		assert_string_equal(text, "off");
	}
	is_over = 1;
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	unwatch();
}

/* The last: the area stays. */
QUIET static void a_tracer_sees_the_same(void **state)
{
	static struct mini_reader *reader;

	(void)state;
	reader = reader_start(8, 1);
	shim_mode(reader_path(reader), CST_MODE_RING);
	branch();
	watch();
	branch();
	assert_int_equal(n_seen, 6);
	assert_int_equal(cstrace_flush(), 0);
	cstrace_off(callbacks[0]);
	cstrace_off(callbacks[1]);
	assert_int_equal(*shim_state(), CST_STATE_ON);
	branch();
	watch();
	shim_mode(NULL, CST_MODE_OFF);
	*shim_state() = CST_STATE_ASK;
	branch();
	assert_int_equal(n_seen, 6);
	unwatch();
	reader_stop(reader);
	assert_int_equal(reader_count(reader, branch, CST_ENTER), 3);
	assert_int_equal(reader_count(reader, leaf, CST_ENTER), 6);
	assert_int_equal(reader_count(reader, called_by_a_callback, CST_ENTER),
			 0);
	assert_int_equal(cstrace_flush(), -1);
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
		cmocka_unit_test(callbacks_see_each_call_of_a_hook),
		cmocka_unit_test(callbacks_see_what_a_macro_has),
		cmocka_unit_test(a_veto_is_for_those_that_opted_in),
		cmocka_unit_test(a_number_is_good_for_one_removal),
		cmocka_unit_test(there_is_a_limit),
		cmocka_unit_test(a_callback_may_remove_itself),
		cmocka_unit_test(a_removed_callback_runs_in_no_thread),
		cmocka_unit_test(open_calls_are_known),
		cmocka_unit_test(a_jump_leaves_calls),
		cmocka_unit_test(a_handler_has_a_stack_of_its_own),
		cmocka_unit_test(deep_recursion_has_its_depth),
		cmocka_unit_test(a_crash_shows_what_was_open),
		cmocka_unit_test(names_come_from_the_file),
		cmocka_unit_test(spans_are_dumped_as_a_tree),
		cmocka_unit_test(the_last_spans_are_kept),
		cmocka_unit_test(a_span_says_how_long_it_has_lasted),
		cmocka_unit_test(a_child_goes_on),
		cmocka_unit_test(a_child_does_not_wait_for_threads_it_lacks),
		cmocka_unit_test(a_tracer_sees_the_same),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
