/* SPDX-License-Identifier: MIT
 *
 * A recorder without a reader thread, over an area that the test writes by
 * hand: its rounds come when the test calls for them.
 */
#ifndef UNIT_RECORDER_BUILDER_H
#define UNIT_RECORDER_BUILDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdlib.h>
#include <cmocka.h>

#include "recorder/drain.h"
#include "recorder/recorder.h"

enum {
	N_CHUNKS = 8,
	NO_TID = 1 << 30, /* beyond the largest that the kernel gives */
};

static struct cst_recorder *r;

/* The recorder r, in a trace that has begun. */
static void recorder_new(void)
{
	struct cst_recorder_options o = {.spool_dir = "/var/tmp",
					 .mode = CST_MODE_RING};
	struct cst_error err;

	r = calloc(1, sizeof(*r));
	assert_non_null(r);
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->named, NULL);
	assert_int_equal(area_new(N_CHUNKS, &r->area, &err), 0);
	assert_int_equal(recorder_init_stages(r, &err), 0);
	assert_int_equal(cst_recorder_begin(r, &o, &err), 0);
}

static int close_recorder(void **state)
{
	(void)state;
	cst_recorder_close(r);
	return 0;
}

#endif
