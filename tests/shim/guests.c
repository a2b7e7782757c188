/* SPDX-License-Identifier: MIT
 *
 * Children made by clone(CLONE_VM) without thread data of their own: they use
 * their maker's at the same time as it does.
 */
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "traced.h"

enum { N_CALLS = 50000, N_AT_ONCE = 4, N_ROUNDS = 80, STACK_SIZE = 65536 };

static struct mini_reader *reader;
static uint32_t n_failed;
static uint32_t n_there; /* children that are at work */

TRACED void in_host(void)
{
	__asm__ volatile("");
}

TRACED void in_guest(void)
{
	__asm__ volatile("");
}

TRACED void in_short(void)
{
	__asm__ volatile("");
}

TRACED void in_grandchild(void)
{
	__asm__ volatile("");
}

QUIET static void make_calls(void (*function)(void), int n)
{
	for (int i = 0; i < n; i++)
		function();
}

QUIET static int guest_calls(void *unused)
{
	(void)unused;
	__atomic_add_fetch(&n_there, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&n_there, __ATOMIC_SEQ_CST) < N_AT_ONCE)
		sched_yield();
	make_calls(in_guest, N_CALLS);
	return 7;
}

QUIET static int short_calls(void *unused)
{
	(void)unused;
	in_short();
	return 7;
}

QUIET static int fork_calls(void *unused)
{
	pid_t pid;

	(void)unused;
	make_calls(in_short, 10);
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!pid) {
		make_calls(in_grandchild, N_CALLS);
		syscall(SYS_exit_group, 7);
	}
	return waitpid(pid, NULL, 0) == pid ? 7 : 1;
}

QUIET static void wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	n_failed += !WIFEXITED(status) || WEXITSTATUS(status) != 7;
}

QUIET static pid_t make_guest(int (*body)(void *))
{
	char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return clone(body, stack + STACK_SIZE, CLONE_VM | SIGCHLD, NULL);
}

/* Several at once, while their maker makes calls. */
QUIET static void play_crowd(void)
{
	pid_t pids[N_AT_ONCE];

	n_there = 0;
	for (int i = 0; i < N_AT_ONCE; i++)
		pids[i] = make_guest(guest_calls);
	make_calls(in_host, N_CALLS);
	for (int i = 0; i < N_AT_ONCE; i++)
		wait_for(pids[i]);
}

/* More than there is room for at one time, one after the other. */
QUIET static void play_one_by_one(void)
{
	for (int i = 0; i < N_ROUNDS; i++)
		wait_for(make_guest(short_calls));
}

QUIET static int play(void **state)
{
	(void)state;
	reader = reader_start(8, 1);
	shim_mode(reader_path(reader), CST_MODE_RING);
	in_host();
	play_crowd();
	play_one_by_one();
	wait_for(make_guest(fork_calls));
	make_calls(in_host, N_CALLS);
	shim_mode(NULL, CST_MODE_OFF);
	in_host();
	reader_stop(reader);
	return 0;
}

static void not_a_record_is_lost(void **state)
{
	(void)state;
	assert_int_equal(n_failed, 0);
	assert_int_equal(reader_count(reader, in_host, CST_ENTER),
			 2 * N_CALLS + 1);
	assert_int_equal(reader_count(reader, in_guest, CST_ENTER),
			 N_AT_ONCE * N_CALLS);
	assert_int_equal(reader_count(reader, in_short, CST_ENTER),
			 N_ROUNDS + 10);
	assert_int_equal(reader_count(reader, in_grandchild, CST_ENTER),
			 N_CALLS);
	reader_check_nesting(reader);
	assert_int_equal(reader_area(reader)->n_lost_threads, 0);
}

static int is_of(const struct cst_record *record, void *function)
{
	return record_site(reader, record)->callee == (uint64_t)function;
}

/* What its maker had open is on another stack: nothing is inherited. */
static void each_is_a_process_that_begins_anew(void **state)
{
	const struct cst_area *a = reader_area(reader);

	(void)state;
	assert_int_equal(a->n_processes, 1 + N_AT_ONCE + N_ROUNDS + 2);
	assert_int_equal(a->n_threads, a->n_processes);
	for (uint32_t i = 1; i < a->n_threads; i++) {
		const struct cst_thread *t = reader_thread(reader, i);
		const struct stream *s = reader_stream(reader, i);
		int is_forked = s->n && is_of(&s->records[0], in_grandchild);

		assert_int_not_equal(t->process, 0);
		assert_int_equal(reader_process(reader, t->process)->pid,
				 t->tid);
		/* A guest forked it, which is the last thread but it. */
		assert_int_equal(t->forked_from,
				 is_forked ? a->n_threads - 1 : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(not_a_record_is_lost),
		cmocka_unit_test(each_is_a_process_that_begins_anew),
	};

	return cmocka_run_group_tests(tests, play, NULL);
}
