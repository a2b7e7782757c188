/* SPDX-License-Identifier: MIT
 *
 * The ring mode with a pool far too small: every call comes out once, in
 * order.  The scene is played before the tests, which look at what it left.
 */
#include <sys/prctl.h>
#include <string.h>
#include "traced.h"

enum { N_THREADS = 4, N_ROUNDS = 40, N_FAKES = 5000, N_NOISE = 1000 };
enum { LEAVES = 1 << 10, FORKS_OF_TREE = LEAVES - 1 };

static struct mini_reader *reader;
static int errno_after;
static uint32_t main_tid;

TRACED void leaf(void)
{
	__asm__ volatile("");
}

TRACED void tree(int depth)
{
	if (!depth) {
		leaf();
		return;
	}
	tree(depth - 1);
	tree(depth - 1);
}

TRACED void while_off(void)
{
	__asm__ volatile("");
}

TRACED void on_again(void)
{
	__asm__ volatile("");
}

TRACED void noise(void)
{
	__asm__ volatile("");
}

/* Calls the enter hook with known registers; leaves what they were. */
uint64_t probe_sp, probe_fp_after;
enum { PROBE_FP = 0x1b2c3d4e5f60 };
void probe(void *callee, void *caller);
__asm__(".text\n"
	".type probe, @function\n"
	"probe:\n"
	"push %rbp\n"
	"movabs $0x1b2c3d4e5f60, %rbp\n"
	"mov %rsp, probe_sp(%rip)\n"
	"call __cyg_profile_func_enter@PLT\n"
	"mov %rbp, probe_fp_after(%rip)\n"
	"pop %rbp\n"
	"ret\n"
	".size probe, . - probe\n");

QUIET static void *play_thread(void *arg)
{
	prctl(PR_SET_NAME, "player");
	for (int i = 0; i < N_ROUNDS; i++)
		tree(10);
	return arg;
}

QUIET static void play_threads(void)
{
	pthread_t threads[N_THREADS];

	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, play_thread, NULL);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* From one place each, whatever the compiler makes of the loops around. */
QUIET TRACED void call_fake(uint64_t callee)
{
	__cyg_profile_func_enter((void *)callee, &errno);
	__cyg_profile_func_exit((void *)callee, &errno);
	__asm__ volatile(""); /* no tail call */
}

QUIET TRACED void call_noise(void)
{
	noise();
	__asm__ volatile("");
}

/* So many sites that the index must grow. */
QUIET static void play_fakes(void)
{
	for (int round = 0; round < 2; round++)
		for (uint64_t i = 1; i <= N_FAKES; i++)
			call_fake(i << 4);
}

QUIET static void play_noise(void)
{
	struct cst_area *a = reader_area(reader);

	call_noise();
	a->has_verdicts = 1;
	for (uint32_t k = CST_FIRST_SITE; k < a->n_sites; k++)
		if (reader_site(reader, k)->callee == (uint64_t)noise)
			reader_site(reader, k)->verdict = CST_MUTED;
	for (int i = 0; i < N_NOISE; i++)
		call_noise();
}

QUIET static int play(void **state)
{
	(void)state;
	reader = reader_start(8, 0);
	main_tid = (uint32_t)gettid();
	errno = 1234;
	shim_mode(reader_path(reader), CST_MODE_RING);
	play_threads();
	play_fakes();
	play_noise();
	shim_mode(NULL, CST_MODE_OFF);
	while_off();
	shim_mode(NULL, CST_MODE_RING);
	on_again();
	probe((void *)probe, (void *)play);
	__cyg_profile_func_exit((void *)probe, (void *)play);
	errno_after = errno;
	shim_mode(NULL, CST_MODE_OFF);
	leaf();
	reader_stop(reader);
	return 0;
}

static void every_call_is_recorded_once(void **state)
{
	(void)state;
	assert_int_equal(reader_count(reader, leaf, CST_ENTER),
			 N_THREADS * N_ROUNDS * LEAVES);
	assert_int_equal(reader_count(reader, leaf, CST_EXIT),
			 N_THREADS * N_ROUNDS * LEAVES);
	assert_int_equal(reader_count(reader, tree, CST_ENTER),
			 N_THREADS * N_ROUNDS * (LEAVES + FORKS_OF_TREE));
	assert_int_equal(reader_area(reader)->n_lost_full, 0);
	assert_true(reader_area(reader)->n_waits > 0);
	assert_int_equal(reader_area(reader)->n_waiting, 0);
}

static void entries_and_exits_pair_off(void **state)
{
	(void)state;
	reader_check_nesting(reader);
}

static void times_do_not_go_back(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < reader_area(reader)->n_threads; i++) {
		struct stream *s = reader_stream(reader, i);

		for (size_t k = 1; k < s->n; k++)
			assert_true(s->records[k].time >=
				    s->records[k - 1].time);
	}
}

static void errno_is_kept(void **state)
{
	(void)state;
	assert_int_equal(errno_after, 1234);
}

static void off_is_off_and_on_goes_on(void **state)
{
	(void)state;
	assert_int_equal(reader_count(reader, while_off, CST_ENTER), 0);
	assert_int_equal(reader_count(reader, on_again, CST_ENTER), 1);
	assert_int_equal(reader_count(reader, on_again, CST_EXIT), 1);
}

static void muted_sites_leave_no_record(void **state)
{
	(void)state;
	assert_int_equal(reader_count(reader, noise, CST_ENTER), 1);
	assert_int_equal(reader_count(reader, noise, CST_EXIT), 1);
}

static void a_site_is_made_once(void **state)
{
	uint32_t n = 0;

	(void)state;
	for (uint32_t i = CST_FIRST_SITE; i < reader_area(reader)->n_sites;
	     i++) {
		struct cst_site *s = reader_site(reader, i);

		assert_in_range(s->kind, CST_ENTER, CST_EXIT);
		assert_int_equal(s->process, 0);
		n += s->caller == (uint64_t)&errno;
	}
	assert_int_equal(n, 2 * N_FAKES);
	assert_int_equal(reader_area(reader)->n_lost_sites, 0);
}

static void both_pointers_are_the_callers(void **state)
{
	struct stream *s = reader_my_stream(reader);
	const struct cst_record *r = NULL;

	(void)state;
	for (size_t k = 0; k < s->n && !r; k++)
		if (record_site(reader, &s->records[k])->callee ==
		    (uint64_t)probe)
			r = &s->records[k];
	assert_non_null(r);
	assert_int_equal(cst_record_sp(r), probe_sp);
	assert_int_equal(cst_record_fp(r), PROBE_FP);
	assert_int_equal(probe_fp_after, PROBE_FP);
	assert_in_range(record_site(reader, r)->hook, (uint64_t)probe,
			(uint64_t)probe + 64);
}

static void threads_are_registered(void **state)
{
	uint32_t n_players = 0;

	(void)state;
	assert_int_equal(reader_area(reader)->n_threads, N_THREADS + 1);
	for (uint32_t i = 0; i <= N_THREADS; i++) {
		struct cst_thread *t = reader_thread(reader, i);

		n_players += !strcmp(t->name, "player");
		assert_int_equal(t->process, 0);
		assert_int_equal(t->is_ended, t->tid != main_tid);
	}
	assert_int_equal(n_players, N_THREADS);
	assert_int_equal(reader_process(reader, 0)->pid, getpid());
	assert_int_equal(reader_area(reader)->n_processes, 1);
}

static void answers_are_for_gdb_to_read(void **state)
{
	(void)state;
	assert_int_equal(shim_control()->answer_state, CST_STATE_OFF);
	assert_int_equal(shim_control()->answer_errno, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_is_recorded_once),
		cmocka_unit_test(entries_and_exits_pair_off),
		cmocka_unit_test(times_do_not_go_back),
		cmocka_unit_test(errno_is_kept),
		cmocka_unit_test(off_is_off_and_on_goes_on),
		cmocka_unit_test(muted_sites_leave_no_record),
		cmocka_unit_test(a_site_is_made_once),
		cmocka_unit_test(both_pointers_are_the_callers),
		cmocka_unit_test(threads_are_registered),
		cmocka_unit_test(answers_are_for_gdb_to_read),
	};

	return cmocka_run_group_tests(tests, play, NULL);
}
