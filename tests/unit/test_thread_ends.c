/* SPDX-License-Identifier: MIT
 *
 * Which threads left their calls, as seen from the area and from the kernel:
 * the processes here are real ones, what they wrote is written by hand.
 */
#include "recorder_builder.h"

#include "area/area_users.h"
#include "recorder/thread_ends.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static uint32_t n_threads, n_processes;

/* ---- the area ------------------------------------------------------------ */

static int open_recorder(void **state)
{
	(void)state;
	n_threads = n_processes = 0;
	recorder_new();
	r->area->sites[CST_FIRST_SITE] =
		(struct cst_site){.callee = 0x1000, .kind = CST_ENTER};
	r->area->head->n_sites = CST_FIRST_SITE + 1;
	return 0;
}

static uint32_t add_process(pid_t pid)
{
	r->area->processes[n_processes].pid = (uint32_t)pid;
	r->area->head->n_processes = n_processes + 1;
	return n_processes++;
}

/* One that has a call open; its name in the area. */
static uint32_t add_thread(uint32_t process, pid_t tid)
{
	uint32_t i = n_threads++;

	r->area->threads[i] =
		(struct cst_thread){.tid = (uint32_t)tid, .process = process};
	r->area->chunks[i] =
		(struct cst_chunk){.state = CST_CHUNK_OPEN, .thread = i};
	cst_record_set(area_chunk(r->area, i), clock_ticks(), CST_FIRST_SITE,
		       0x7fff0000, 0x7fff1000);
	assert_int_equal(recorder_round(r, 1), 1);
	return i;
}

static struct thread *thread_of(uint32_t i)
{
	return threads_of_area(&r->threads, &r->calls, r->area, i);
}

static void says_its_end(uint32_t i, uint64_t end)
{
	r->area->threads[i].end = end;
	r->area->threads[i].is_ended = 1;
}

/* How many calls it has open after all that. */
static uint32_t n_open_after_marks(uint32_t i)
{
	assert_int_equal(thread_of(i)->own->n, 1);
	thread_ends_mark(r, 1);
	thread_ends_unwind(r);
	return thread_of(i)->own->n;
}

/* ---- real processes ------------------------------------------------------ */

static void *leader_goes(void *leader)
{
	char byte = 0;

	pthread_join(*(pthread_t *)leader, NULL);
	if (write(STDOUT_FILENO, &byte, 1) == 1)
		pause();
	return NULL;
}

enum what { SLEEPS, HAS_ODD_NAME, LOSES_LEADER, BECOMES_ANOTHER };

static void be(enum what what)
{
	static pthread_t self, other;
	char byte = 0;

	if (what == HAS_ODD_NAME)
		prctl(PR_SET_NAME, "x) Z 1 (y");
	if (what == LOSES_LEADER) {
		self = pthread_self();
		pthread_create(&other, NULL, leader_goes, &self);
		pthread_exit(NULL);
	}
	if (what == BECOMES_ANOTHER)
		execl("/bin/sh", "sh", "-c", "echo && kill -STOP $$", NULL);
	while (write(STDOUT_FILENO, &byte, 1) == 1)
		pause();
	_exit(1);
}

/* A child that is what it is to be. */
static pid_t start(enum what what)
{
	int ends[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(ends[1], STDOUT_FILENO);
		be(what);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* ---- tests --------------------------------------------------------------- */

static void a_living_thread_keeps_its_calls(void **state)
{
	uint32_t i = add_thread(add_process(getpid()), gettid());

	(void)state;
	assert_int_equal(n_open_after_marks(i), 1);
	assert_int_equal(thread_of(i)->ended_at, 0);
	assert_int_equal(r->calls.n_unwound, 0);
}

static void a_thread_that_is_gone_left_its_calls(void **state)
{
	uint64_t before = clock_ticks();
	uint32_t i = add_thread(add_process(getpid()), NO_TID);

	(void)state;
	assert_int_equal(n_open_after_marks(i), 0);
	assert_int_equal(r->calls.n_unwound, 1);
	assert_in_range(thread_of(i)->ended_at, before, clock_ticks());
}

static void what_was_marked_before_is_not_marked_again(void **state)
{
	uint32_t i = add_thread(add_process(getpid()), NO_TID);
	uint64_t at;

	(void)state;
	thread_ends_mark(r, 1);
	at = thread_of(i)->ended_at;
	assert_true(at);
	thread_ends_mark(r, 1);
	assert_int_equal(thread_of(i)->ended_at, at);
}

static void the_kernel_is_not_asked_at_each_turn(void **state)
{
	uint32_t i = add_thread(add_process(getpid()), NO_TID);
	uint64_t asked;

	(void)state;
	r->last_mark_ns = asked = clock_monotonic_ns();
	thread_ends_mark(r, 0);
	if (clock_monotonic_ns() - asked < 100000000)
		assert_int_equal(thread_of(i)->ended_at, 0);
	thread_ends_mark(r, 1);
	assert_int_not_equal(thread_of(i)->ended_at, 0);
}

static void its_own_word_tells_when(void **state)
{
	uint32_t process = add_process(getpid());
	uint32_t early = add_thread(process, NO_TID);
	uint32_t right = add_thread(process, NO_TID + 1);
	uint32_t late = add_thread(process, NO_TID + 2);
	uint64_t now = clock_ticks();

	(void)state;
	says_its_end(early, thread_of(early)->last_time - 5);
	says_its_end(right, now);
	says_its_end(late, now + (1ull << 60));
	thread_ends_mark(r, 1);
	assert_int_equal(thread_of(early)->ended_at,
			 thread_of(early)->last_time);
	assert_int_equal(thread_of(right)->ended_at, now);
	assert_in_range(thread_of(late)->ended_at, now, clock_ticks());
}

static void a_process_that_ends_leaves_calls_open(void **state)
{
	pid_t pid = start(SLEEPS);
	uint32_t process = add_process(pid);
	uint32_t open = add_thread(process, pid);
	uint32_t over = add_thread(process, NO_TID);

	(void)state;
	end(pid);
	says_its_end(over, clock_ticks());
	assert_int_equal(n_open_after_marks(open), 1);
	assert_int_equal(thread_of(over)->own->n, 0);
}

static void a_zombie_has_ended(void **state)
{
	pid_t pid = start(SLEEPS);
	uint32_t i = add_thread(add_process(pid), NO_TID);
	siginfo_t info;

	(void)state;
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(n_open_after_marks(i), 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_name_tells_nothing_of_a_process(void **state)
{
	pid_t pid = start(HAS_ODD_NAME);
	uint32_t i = add_thread(add_process(pid), NO_TID);

	(void)state;
	assert_int_equal(n_open_after_marks(i), 0);
	end(pid);
}

/* The kernel keeps it as a zombie, and the process goes on. */
static void a_first_thread_ends_by_its_own_word(void **state)
{
	pid_t pid;
	uint32_t i;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* it lets no forked child of a program have threads */
#endif
	pid = start(LOSES_LEADER);
	i = add_thread(add_process(pid), pid);
	assert_int_equal(n_open_after_marks(i), 1);
	says_its_end(i, clock_ticks());
	assert_int_equal(n_open_after_marks(i), 0);
	end(pid);
}

static void an_exec_leaves_calls_open(void **state)
{
	uint32_t process = add_process(getpid());
	uint32_t open = add_thread(process, NO_TID);
	uint32_t over = add_thread(process, NO_TID + 1);

	(void)state;
	says_its_end(over, clock_ticks());
	add_process(getpid());
	assert_int_equal(n_open_after_marks(open), 1);
	assert_int_equal(thread_of(over)->own->n, 0);
}

/* The new program may make its first call long after. */
static void an_exec_is_known_before_its_first_call(void **state)
{
	pid_t pid = start(BECOMES_ANOTHER);
	uint32_t i = add_thread(add_process(pid), NO_TID);

	(void)state;
	assert_int_equal(n_open_after_marks(i), 1);
	end(pid);
}

/* Nobody is there whom the kernel could know. */
static void of_a_past_area_only_what_was_said_counts(void **state)
{
	uint32_t process = add_process(NO_TID);
	uint32_t open = add_thread(process, NO_TID);
	uint32_t over = add_thread(process, NO_TID + 1);

	(void)state;
	says_its_end(over, clock_ticks());
	thread_ends_mark_ended(r);
	thread_ends_unwind(r);
	assert_int_equal(thread_of(open)->own->n, 1);
	assert_int_equal(thread_of(over)->own->n, 0);
}

static void made_up_people_do_no_harm(void **state)
{
	uint32_t i = add_thread(add_process(getpid()), NO_TID);

	(void)state;
	r->area->threads[i].process = UINT32_MAX;
	assert_int_equal(n_open_after_marks(i), 1);
	r->area->threads[i].process = 0;
	r->area->processes[0].pid = 0;
	assert_int_equal(n_open_after_marks(i), 1);
	r->area->processes[0].pid = UINT32_MAX;
	r->area->threads[i].tid = UINT32_MAX;
	assert_int_equal(n_open_after_marks(i), 1);
}

#define GONE_TEST(f) \
	cmocka_unit_test_setup_teardown(f, open_recorder, close_recorder)

/* It forks at once and ends.  Its child waits for the pipe's end. */
static pid_t start_daemon(const int *go)
{
	pid_t pid = fork();
	char c;

	if (pid)
		return pid;
	if (!fork()) {
		close(go[1]);
		if (read(go[0], &c, 1))
			_exit(1);
	}
	_exit(0);
}

/* One of the two always is there, however that falls in with a look around. */
static void who_forks_and_ends_is_followed(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		int go[2], end[2];
		uint32_t n;
		pid_t pid;
		char c;

		assert_int_equal(pipe(go) | pipe(end), 0);
		pid = start_daemon(go);
		n = area_n_running(r->area);
		close(go[0]);
		close(go[1]);
		close(end[1]);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		/* Its child may take its time. */
		assert_int_equal(read(end[0], &c, 1), 0);
		close(end[0]);
		assert_in_range(n, 1, 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		GONE_TEST(a_living_thread_keeps_its_calls),
		GONE_TEST(a_thread_that_is_gone_left_its_calls),
		GONE_TEST(what_was_marked_before_is_not_marked_again),
		GONE_TEST(the_kernel_is_not_asked_at_each_turn),
		GONE_TEST(its_own_word_tells_when),
		GONE_TEST(a_process_that_ends_leaves_calls_open),
		GONE_TEST(a_zombie_has_ended),
		GONE_TEST(a_name_tells_nothing_of_a_process),
		GONE_TEST(a_first_thread_ends_by_its_own_word),
		GONE_TEST(an_exec_leaves_calls_open),
		GONE_TEST(an_exec_is_known_before_its_first_call),
		GONE_TEST(of_a_past_area_only_what_was_said_counts),
		GONE_TEST(made_up_people_do_no_harm),
		GONE_TEST(who_forks_and_ends_is_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
