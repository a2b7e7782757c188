/* SPDX-License-Identifier: MIT
 *
 * What cstrace.h finds of the shim: one table.
 */
#include "core/area.h"
#include "core/control.h"
#include "core/event.h"
#include "core/reader.h"
#include "core/thread.h"
#include "core/watch.h"
#include "program/backtrace.h"
#include "program/kept_spans.h"
#include "program/own.h"
#include "program/shim.h"

enum { KEEP_CALLS = 1, KEEP_SPANS = 2 };
enum { START = 1, STOP = 2, FLUSH = 3 };
enum { FLUSH_LIMIT_MS = 1000 };

static int keep(uint32_t what, uint32_t n)
{
	switch (what) {
	case KEEP_CALLS:
		watch_set(WATCH_CALLS, n != 0);
		return 0;
	case KEEP_SPANS:
		return kept_spans_keep(n);
	default:
		return -1;
	}
}

/* A ticket, as in the handshake mode: the reader answers it when it has read
 * what came before.  What is in a file is there already. */
static int flush(void)
{
	uint64_t began = sys_monotonic_ms();
	uint32_t ticket;

	if (!state_is_on(event_state()) || self.busy_sp)
		return -1;
	if (area->is_file)
		return 0;
	ticket = __atomic_add_fetch(&area->sync_asked, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		/* Pairs with the reader's store: it has read. */
		uint32_t done =
			__atomic_load_n(&area->sync_done, __ATOMIC_SEQ_CST);

		if ((int32_t)(done - ticket) >= 0)
			return 0;
		if (reader_has_ended() ||
		    sys_monotonic_ms() - began >= FLUSH_LIMIT_MS)
			return -1;
		reader_wake();
		sys_futex_wait(&area->sync_done, FUTEX_WAIT, done,
			       READER_LOOK_MS);
	}
}

static int control_asked(uint32_t what)
{
	switch (what) {
	case START:
	case STOP:
		return control_pause(what == STOP);
	case FLUSH:
		return flush();
	default:
		return -1;
	}
}

static int set_thread_name(const char *name)
{
	char cut[16];
	uint32_t n = 0;
	int status;

	for (; name && n < sizeof(cut) - 1 && name[n]; n++)
		cut[n] = name[n];
	while (n < sizeof(cut))
		cut[n++] = 0;
	status = sys_set_thread_name(cut);
	if (area && state_is_on(state_now()) && !self.busy_sp)
		thread_renamed();
	return status < 0 ? -1 : 0;
}

EXPORT const struct cstrace_shim cstrace_shim = {
	.size = sizeof(cstrace_shim),
	.begin = own_begin,
	.end = own_end,
	.tell = own_tell,
	.elapsed = own_elapsed,
	.on_enter = watch_on_enter,
	.on_exit = watch_on_exit,
	.off = watch_off,
	.keep = keep,
	.backtrace = backtrace_get,
	.print_calls = backtrace_print,
	.name = backtrace_name,
	.span_dump = kept_spans_dump,
	.control = control_asked,
	.set_thread_name = set_thread_name,
};
