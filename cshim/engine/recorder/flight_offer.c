/* SPDX-License-Identifier: MIT
 *
 * The memory of a flight recorder that no reader will see before a core file is
 * there.  What the hooks of its program copy is found out here, before the
 * program's first call, which waits for that.
 */
#include "area/area.h"
#include "area/clock.h"
#include "cstrace/engine.h"
#include "names/names.h"
#include "sites/ahead.h"
#include "sites/copies.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FEWEST_CHUNKS = 4, LOOK_MS = 100, AHEAD_MS = 15000 };

struct cst_flight_offer {
	struct area *area;
	struct names *names;
	struct sites sites;
};

void cst_flight_offer_free(struct cst_flight_offer *f)
{
	if (!f)
		return;
	if (f->names)
		sites_release(&f->sites);
	names_free(f->names);
	area_free(f->area);
	free(f);
}

static void set_head(struct cst_area *head, uint64_t bytes)
{
	uint64_t n = bytes / CST_CHUNK_SIZE;

	head->is_file = 1;
	head->flight_chunks = n < FEWEST_CHUNKS	   ? FEWEST_CHUNKS
			      : n < CST_MAX_CHUNKS ? (uint32_t)n
						   : CST_MAX_CHUNKS;
	head->ahead_pid = (uint32_t)getpid();
	head->ahead = CST_AHEAD_OFFERED;
}

int cst_flight_offer(uint64_t bytes, struct cst_flight_offer **out,
		     struct cst_error *err)
{
	struct cst_flight_offer *f = calloc(1, sizeof(*f));
	int status;

	if (!f)
		return cst_fail_memory(err);
	status = area_new(0, &f->area, err);
	if (status == 0) {
		set_head(f->area->head, bytes);
		f->names = names_new();
		if (!f->names || sites_init(&f->sites, f->area, f->names) < 0)
			status = cst_fail_memory(err);
	}
	if (status < 0) {
		cst_flight_offer_free(f);
		return status;
	}
	*out = f;
	return 0;
}

const char *cst_flight_offer_path(const struct cst_flight_offer *f)
{
	return f->area->path;
}

static uint32_t state_of(const struct cst_flight_offer *f)
{
	return __atomic_load_n(&f->area->head->ahead, __ATOMIC_ACQUIRE);
}

int cst_flight_offer_answer(struct cst_flight_offer *f, uint32_t pid)
{
	const struct timespec pause = {0, LOOK_MS * 1000000};
	uint32_t *word = &f->area->head->ahead, asked = CST_AHEAD_ASKED;

	while (state_of(f) == CST_AHEAD_OFFERED) {
		syscall(SYS_futex, word, FUTEX_WAIT, CST_AHEAD_OFFERED, &pause,
			NULL, 0);
		if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
			return 0;
	}
	copies_want(&f->sites, &(struct cst_values){.args = 1, .results = 1},
		    NULL);
	ahead_look_all(&f->sites, AHEAD_MS);
	/* Pairs with the program's acquire: the table is complete. */
	if (!__atomic_compare_exchange_n(word, &asked, CST_AHEAD_MADE, 0,
					 __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return 0;
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	return 1;
}
