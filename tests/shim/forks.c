/* SPDX-License-Identifier: MIT
 *
 * Children of every kind: each writes as a process of its own, none through
 * its parent's cursor; a vfork child is its parent's thread for a while.
 */
#include <sched.h>
#include <sys/syscall.h>
#include <signal.h>
#include "traced.h"

enum { N_CALLS = 10000, N_CHILDREN = 4 };

static struct mini_reader *reader;
static uint32_t n_failed;

TRACED void in_parent(void)
{
	__asm__ volatile("");
}

TRACED void in_child(void)
{
	__asm__ volatile("");
}

TRACED void in_childs_thread(void)
{
	__asm__ volatile("");
}

TRACED void in_vfork(void)
{
	__asm__ volatile("");
}

/* ThreadSanitizer itself does not bear threads in fork children. */
#if defined(__SANITIZE_THREAD__)
enum { IS_BEARABLE = 0 };
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
enum { IS_BEARABLE = 0 };
#else
enum { IS_BEARABLE = 1 };
#endif
#else
enum { IS_BEARABLE = 1 };
#endif

QUIET static void make_calls(void (*function)(void))
{
	for (int i = 0; i < N_CALLS; i++)
		function();
}

QUIET static void wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	n_failed += !WIFEXITED(status) || WEXITSTATUS(status) != 7;
}

/* Past libc's fork handlers, but not past its syscall(). */
QUIET static pid_t raw_fork(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

QUIET static void play_fork(pid_t (*fork_it)(void))
{
	pid_t pid = fork_it();

	if (!pid) {
		make_calls(in_child);
		_exit(7);
	}
	make_calls(in_parent);
	wait_for(pid);
}

QUIET static void *thread_calls(void *arg)
{
	make_calls(in_childs_thread);
	return arg;
}

/* The first event comes on another thread than the one that forked. */
QUIET static void play_fork_with_thread(void)
{
	pid_t pid = fork();

	if (!pid) {
		pthread_t thread;

		pthread_create(&thread, NULL, thread_calls, NULL);
		pthread_join(thread, NULL);
		make_calls(in_child);
		_exit(7);
	}
	make_calls(in_parent);
	wait_for(pid);
}

QUIET TRACED void play_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		make_calls(in_vfork);
		_exit(7);
	}
	wait_for(pid);
}

QUIET static int play(void **state)
{
	(void)state;
	if (!IS_BEARABLE)
		return 0;
	reader = reader_start(8, 1);
	shim_mode(reader_path(reader), CST_MODE_RING);
	in_parent();
	play_fork(fork);
	play_fork(raw_fork);
	play_fork_with_thread();
	play_vfork();
	shim_mode(NULL, CST_MODE_OFF);
	in_parent();
	reader_stop(reader);
	return 0;
}

static void children_are_recorded_whole(void **state)
{
	(void)state;
	if (!IS_BEARABLE)
		skip();
	assert_int_equal(n_failed, 0);
	assert_int_equal(reader_count(reader, in_parent, CST_ENTER),
			 3 * N_CALLS + 1);
	assert_int_equal(reader_count(reader, in_child, CST_ENTER),
			 3 * N_CALLS);
	assert_int_equal(reader_count(reader, in_childs_thread, CST_ENTER),
			 N_CALLS);
	assert_int_equal(reader_count(reader, in_vfork, CST_ENTER), N_CALLS);
	reader_check_nesting(reader);
}

/* All forks that go through libc, its system call's as well, are marked in the
 * parent's records; the child's thread says which mark was of its fork. */
static void forks_are_marked(void **state)
{
	uint32_t n_marked = 0;

	(void)state;
	if (!IS_BEARABLE)
		skip();
	for (uint32_t i = 0; i < reader_area(reader)->n_threads; i++) {
		const struct cst_thread *t = reader_thread(reader, i);

		if (!t->n_fork)
			continue;
		n_marked++;
		assert_int_equal(t->forked_from, 1);
	}
	assert_int_equal(n_marked, reader_my_stream(reader)->n_forks);
	assert_int_equal(n_marked, N_CHILDREN - 1);
}

static void each_child_is_a_process(void **state)
{
	uint32_t parent = (uint32_t)getpid();

	(void)state;
	if (!IS_BEARABLE)
		skip();
	assert_int_equal(reader_area(reader)->n_processes, N_CHILDREN);
	assert_int_equal(reader_process(reader, 0)->pid, parent);
	assert_int_equal(reader_process(reader, 0)->parent, 0);
	for (uint32_t i = 1; i < N_CHILDREN; i++) {
		assert_int_not_equal(reader_process(reader, i)->pid, parent);
		assert_int_equal(reader_process(reader, i)->parent, 1);
	}
}

static void threads_belong_to_their_process(void **state)
{
	uint32_t n[N_CHILDREN] = {0};
	struct cst_area *a;

	(void)state;
	if (!IS_BEARABLE)
		skip();
	a = reader_area(reader);
	assert_int_equal(a->n_threads, 5);
	for (uint32_t i = 0; i < a->n_threads; i++) {
		assert_in_range(reader_thread(reader, i)->process, 0,
				N_CHILDREN - 1);
		n[reader_thread(reader, i)->process]++;
	}
	assert_int_equal(n[0], 1);
	assert_int_equal(n[1], 1);
	assert_int_equal(n[2], 1);
	assert_int_equal(n[3], 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_are_recorded_whole),
		cmocka_unit_test(forks_are_marked),
		cmocka_unit_test(each_child_is_a_process),
		cmocka_unit_test(threads_belong_to_their_process),
	};

	return cmocka_run_group_tests(tests, play, NULL);
}
