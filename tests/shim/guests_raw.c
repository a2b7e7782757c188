/* SPDX-License-Identifier: MIT
 *
 * Guests that bypass the shim's clone(), as by a system call of the program's
 * own: once a chunk is full the shim sees who uses it, and reports that records
 * may be lost.
 */
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include "traced.h"

enum { N_CALLS = 50000, STACK_SIZE = 65536 };

typedef int clone_fn(int (*)(void *), void *, int, void *, ...);

static struct mini_reader *reader;
static uint32_t n_failed, turn;
static uint64_t n_lost_by_vfork;

TRACED void in_host(void)
{
	__asm__ volatile("");
}

TRACED void in_guest(void)
{
	__asm__ volatile("");
}

TRACED void in_vfork(void)
{
	__asm__ volatile("");
}

QUIET static void make_calls(void (*function)(void))
{
	for (int i = 0; i < N_CALLS; i++)
		function();
}

QUIET static void turn_to(uint32_t n)
{
	__atomic_store_n(&turn, n, __ATOMIC_SEQ_CST);
}

QUIET static void turn_await(uint32_t n)
{
	while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) < n)
		sched_yield();
}

/* Alone at first: then not one record can be lost before it is seen. */
QUIET static int guest_calls(void *unused)
{
	(void)unused;
	make_calls(in_guest);
	turn_to(1);
	make_calls(in_guest);
	return 7;
}

QUIET static void wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	n_failed += !WIFEXITED(status) || WEXITSTATUS(status) != 7;
}

/* It has its parent's thread data, too, but to itself. */
QUIET TRACED void play_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		make_calls(in_vfork);
		_exit(7);
	}
	wait_for(pid);
}

QUIET static void play_guest(void)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	clone_fn *libcs = (clone_fn *)dlsym(libc, "clone");
	char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pid = libcs(guest_calls, stack + STACK_SIZE, CLONE_VM | SIGCHLD,
			  NULL);

	turn_await(1);
	make_calls(in_host);
	wait_for(pid);
}

QUIET static int play(void **state)
{
	(void)state;
	reader = reader_start(8, 1);
	shim_mode(reader_path(reader), CST_MODE_RING);
	in_host();
	play_vfork();
	n_lost_by_vfork = reader_area(reader)->n_lost_threads;
	play_guest();
	shim_mode(NULL, CST_MODE_OFF);
	in_host();
	reader_stop(reader);
	return 0;
}

static void a_vfork_child_is_none(void **state)
{
	(void)state;
	assert_int_equal(n_lost_by_vfork, 0);
	assert_int_equal(reader_count(reader, in_vfork, CST_ENTER), N_CALLS);
}

static void it_is_said_once_and_all_is_right_from_then_on(void **state)
{
	(void)state;
	assert_int_equal(n_failed, 0);
	assert_int_equal(reader_area(reader)->n_lost_threads, 1);
	assert_int_equal(reader_count(reader, in_host, CST_ENTER), N_CALLS + 1);
	assert_int_equal(reader_count(reader, in_guest, CST_ENTER),
			 2 * N_CALLS);
	reader_check_nesting(reader);
	assert_int_equal(reader_area(reader)->n_processes, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vfork_child_is_none),
		cmocka_unit_test(it_is_said_once_and_all_is_right_from_then_on),
	};

	return cmocka_run_group_tests(tests, play, NULL);
}
