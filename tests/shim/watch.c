/* SPDX-License-Identifier: MIT
 *
 * The program watches itself by cstrace.h: callbacks.  First without a tracer,
 * then with one.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "in_child.h"

enum { MAX_SEEN = 4096, N_THREADS = 4, DEEP = 3000 };

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

/* ---- processes, tracers -----------------------------------------------------
 */

QUIET static void fork_work(void)
{
	branch();
	dprintf(STDOUT_FILENO, "%d seen", n_seen);
}

QUIET static void a_child_goes_on(void **state)
{
	char text[256];

	(void)state;
	watch();
	in_child(fork_work, text, sizeof(text), 0);
	unwatch();
	assert_string_equal(text, "6 seen");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callbacks_see_each_call_of_a_hook),
		cmocka_unit_test(callbacks_see_what_a_macro_has),
		cmocka_unit_test(a_veto_is_for_those_that_opted_in),
		cmocka_unit_test(a_number_is_good_for_one_removal),
		cmocka_unit_test(there_is_a_limit),
		cmocka_unit_test(a_callback_may_remove_itself),
		cmocka_unit_test(a_removed_callback_runs_in_no_thread),
		cmocka_unit_test(deep_recursion_has_its_depth),
		cmocka_unit_test(a_child_goes_on),
		cmocka_unit_test(a_child_does_not_wait_for_threads_it_lacks),
		cmocka_unit_test(a_tracer_sees_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
