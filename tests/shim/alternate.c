/* SPDX-License-Identifier: MIT
 *
 * Alternate signal stacks are recorded: those from before the first record, by
 * libc's function and by the bare system call, and that there is none.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include "traced.h"

enum {
	SIZE = 1 << 16,
	N_STACKS = 4,
	N_CALLS = CST_CHUNK_RECORDS, /* two records each: more than a chunk */
};

static struct mini_reader *reader;
static char stacks[N_STACKS][SIZE];
static int error_kept, error_failed, result_failed;
static stack_t told_before;
/* How many of the main thread's records there were when each stack was set. */
static size_t n_at[8], n_calls;

TRACED void call(void)
{
	__asm__ volatile("");
}

QUIET static void call_often(int n)
{
	for (int i = 0; i < n; i++)
		call();
	n_calls += (size_t)n;
}

QUIET static stack_t stack_of(int i)
{
	return (stack_t){.ss_sp = i < 0 ? NULL : stacks[i],
			 .ss_size = i < 0 ? 0 : SIZE,
			 .ss_flags = i < 0 ? SS_DISABLE : 0};
}

QUIET static void use(int i, int n)
{
	stack_t wanted = stack_of(i);

	n_at[n] = 2 * n_calls;
	sigaltstack(&wanted, NULL);
}

QUIET static void use_bare(int i)
{
	stack_t wanted = stack_of(i);

	syscall(SYS_sigaltstack, &wanted, NULL);
}

QUIET static void *play_thread(void *arg)
{
	use_bare(-1); /* a sanitizer gives one to each */
	call();
	return arg;
}

/* A thread that fills many chunks in a moment is not asked at each. */
QUIET static void *play_long(void *arg)
{
	enum { N_CHUNKS = 40, WAIT_MS = 20 };
	struct timespec now, end;

	use_bare(-1);
	call_often(N_CHUNKS * N_CALLS / 2);
	use_bare(1);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += WAIT_MS * 1000000L;
	do {
		call_often(N_CALLS);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - end.tv_sec) * 1000000000L + now.tv_nsec <
		 end.tv_nsec);
	use_bare(-1); /* a sanitizer would unmap it */
	return arg;
}

QUIET static void set_wrongly(void)
{
	stack_t too_small = {.ss_sp = stacks[0], .ss_size = 1};

	result_failed = sigaltstack(&too_small, NULL);
	error_failed = errno;
}

QUIET static void handler(int number)
{
	(void)number;
	call_often(N_CALLS);
}

/* The kernel knows of none while the handler runs. */
QUIET static void use_disarmed(void)
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	stack_t wanted = stack_of(0);

	wanted.ss_flags = (int)(1u << 31); /* SS_AUTODISARM */
	sigaltstack(&wanted, NULL);
	sigaction(SIGUSR1, &act, NULL);
	raise(SIGUSR1);
}

QUIET static int play(void **state)
{
	pthread_t thread;

	(void)state;
	reader = reader_start(64, 1);
	use_bare(0);
	shim_mode(reader_path(reader), CST_MODE_RING);
	call_often(10);
	errno = 77;
	use(1, 1);
	error_kept = errno == 77;
	call_often(10);
	sigaltstack(NULL, &told_before);
	set_wrongly();
	use(-1, 2);
	call_often(10);
	use_bare(2);
	call_often(N_CALLS);
	use(3, 4);
	use_disarmed();
	pthread_create(&thread, NULL, play_thread, NULL);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, play_long, NULL);
	pthread_join(thread, NULL);
	shim_mode(NULL, CST_MODE_OFF);
	reader_stop(reader);
	return 0;
}

static const struct alternate *nth(uint32_t i)
{
	const struct stream *s = reader_my_stream(reader);

	assert_true(i < s->n_alternates);
	return &s->alternates[i];
}

static void is_told(uint32_t i, int stack, size_t n)
{
	assert_int_equal(nth(i)->low, stack < 0 ? 0 : (uint64_t)stacks[stack]);
	assert_int_equal(nth(i)->size, stack < 0 ? 0 : SIZE);
	assert_int_equal(nth(i)->n, n);
}

static void one_from_before_comes_first(void **state)
{
	(void)state;
	is_told(0, 0, 0);
}

static void a_change_is_told_in_its_place(void **state)
{
	(void)state;
	is_told(1, 1, n_at[1]);
	is_told(2, -1, n_at[2]);
}

static void the_bare_call_is_told_with_the_next_chunk(void **state)
{
	(void)state;
	assert_true(nth(3)->n > n_at[2] + 20);
	assert_true(nth(3)->n < n_at[4]);
	is_told(3, 2, nth(3)->n);
}

static void each_chunk_begins_with_it(void **state)
{
	(void)state;
	is_told(4, 2, nth(3)->n + CST_CHUNK_RECORDS - 1);
	is_told(5, 3, n_at[4]);
}

static void one_that_is_disarmed_is_told_all_the_same(void **state)
{
	const struct stream *s = reader_my_stream(reader);

	(void)state;
	assert_int_equal(s->n_alternates, 9);
	is_told(6, 0, n_at[4]);
	is_told(7, 0, nth(7)->n);
	is_told(8, 0, nth(7)->n + CST_CHUNK_RECORDS - 1);
}

/* A sanitizer takes its own back as the thread ends. */
static int has_one(const struct stream *s)
{
	for (uint32_t i = 0; i < s->n_alternates; i++)
		if (s->alternates[i].size)
			return 1;
	return 0;
}

static void threads_have_their_own(void **state)
{
	(void)state;
	assert_int_equal(reader_area(reader)->n_threads, 3);
	assert_int_equal(has_one(reader_stream(reader, 0)) +
				 has_one(reader_stream(reader, 1)),
			 1);
}

static void a_bare_call_is_told_in_a_long_run_too(void **state)
{
	(void)state;
	assert_true(has_one(reader_stream(reader, 2)));
}

static void the_program_sees_libcs_function(void **state)
{
	(void)state;
	assert_true(error_kept);
	assert_int_equal(result_failed, -1);
	assert_int_equal(error_failed, ENOMEM);
	assert_ptr_equal(told_before.ss_sp, stacks[1]);
	assert_int_equal(told_before.ss_size, SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_from_before_comes_first),
		cmocka_unit_test(a_change_is_told_in_its_place),
		cmocka_unit_test(the_bare_call_is_told_with_the_next_chunk),
		cmocka_unit_test(each_chunk_begins_with_it),
		cmocka_unit_test(one_that_is_disarmed_is_told_all_the_same),
		cmocka_unit_test(threads_have_their_own),
		cmocka_unit_test(a_bare_call_is_told_in_a_long_run_too),
		cmocka_unit_test(the_program_sees_libcs_function),
	};

	return cmocka_run_group_tests(tests, play, NULL);
}
