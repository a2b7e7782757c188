/* SPDX-License-Identifier: MIT
 *
 * A fork child's records come in the same round as its parent's: whatever was
 * known of the child before, it goes on in its parent's calls.
 */
#include "recorder_builder.h"

enum {
	PARENT = 0, /* processes, threads and chunks */
	CHILD = 1,
	OUTER = CST_FIRST_SITE, /* sites */
	INNER,
	EARLIEST = 1, /* the time of a chunk's first mark */
};

static int open_recorder(void **state)
{
	(void)state;
	recorder_new();
	r->area->sites[OUTER] =
		(struct cst_site){.callee = 0x1000, .kind = CST_ENTER};
	r->area->sites[INNER] = (struct cst_site){
		.callee = 0x2000, .caller = 0x1010, .kind = CST_ENTER};
	r->area->head->n_sites = INNER + 1;
	return 0;
}

static struct cst_record *add(uint32_t i)
{
	r->area->processes[i].pid = NO_TID + i;
	r->area->head->n_processes = i + 1;
	r->area->threads[i] =
		(struct cst_thread){.tid = NO_TID + i, .process = i};
	r->area->chunks[i] =
		(struct cst_chunk){.state = CST_CHUNK_OPEN, .thread = i};
	return area_chunk(r->area, i);
}

static void child_with_a_signal_stack(void **state)
{
	struct cst_record *records;
	const struct thread *child;
	uint64_t now = clock_ticks();

	(void)state;
	records = add(PARENT);
	cst_record_set(&records[0], now, OUTER, 0x7fff0000, 0x7fff0010);
	cst_record_set(&records[1], now + 1, CST_FORK, 1, 0);
	records = add(CHILD);
	r->area->threads[CHILD].forked_from = PARENT + 1;
	r->area->threads[CHILD].n_fork = 1;
	cst_record_set(&records[0], EARLIEST, CST_ALTERNATE, 0x10000, 0x8000);
	cst_record_set(&records[1], now + 2, INNER, 0x7ffeff00, 0x7ffeff10);
	/* It was sampled before it was read. */
	assert_non_null(threads_of_tid(&r->threads, &r->calls, CHILD,
				       NO_TID + CHILD, NO_TID + CHILD, ""));
	assert_true(recorder_round(r, 1) > 0);
	child = threads_of_area(&r->threads, &r->calls, r->area, CHILD);
	assert_int_equal(child->own->n, 2);
	assert_int_equal(child->alternate.size, 0x8000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(child_with_a_signal_stack,
						open_recorder, close_recorder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
