/* SPDX-License-Identifier: MIT
 *
 * The chunks of a flight are used in turn.  One that a thread still writes into
 * is passed over; where all are, there are more threads than chunks, and one
 * more is made.
 */
#include <errno.h>
#include "core/flight.h"
#include "core/area.h"
#include "core/file.h"
#include "kernel/arch.h"
#include "kernel/config.h"
#include "kernel/syscall.h"

NOOP_FUNCTION(cstrace_hook_full, .Lhook_full);

/* Straight to our own, whatever the program defines under that name. */
extern __attribute__((visibility("hidden"))) void
hook_full(void) __asm__(".Lhook_full");

enum {
	FEWEST_CHUNKS = 4,
	SHOW_NS = 500000000, /* so often the user sees what is new */
	AHEAD_MS = 20000,    /* the launcher takes no longer */
	AHEAD_LOOK_MS = 100,
};

/* The number of chunks, or 0: it is no size. */
static uint32_t chunks_of(const char *text)
{
	uint64_t n = 0;

	for (; *text >= '0' && *text <= '9' && n < CST_AREA_SIZE; text++)
		n = n * 10 + (uint64_t)(*text - '0');
	switch (*text | 0x20) {
	case 'g':
		n <<= 10; /* fall through */
	case 'm':
		n <<= 10; /* fall through */
	case 'k':
		n <<= 10;
		text++;
	}
	n /= CST_CHUNK_SIZE;
	if (*text || !n)
		return 0;
	return n < FEWEST_CHUNKS    ? FEWEST_CHUNKS
	       : n < CST_MAX_CHUNKS ? (uint32_t)n
				    : CST_MAX_CHUNKS;
}

static size_t put(char *out, size_t n, const char *text, size_t most)
{
	for (; *text && n < most; text++)
		out[n++] = *text;
	return n;
}

/* The only words of ours on the program's standard error: nobody reads along
 * who could say it, and a core without calls would come too late. */
static void tell_bad_size(const char *size)
{
	static int is_reported;
	char line[256];
	size_t n = put(line, 0, "cstrace: no calls are kept: CSTRACE_FLIGHT=",
		       sizeof(line));

	if (is_reported)
		return;
	is_reported = 1;
	n = put(line, n, size, n + 60);
	n = put(line, n, " is no size of at least 64K; say 512K, 16M or 1G\n",
		sizeof(line));
	sys_write(2, line, n);
}

/* The area that the launcher offers, unless another program has it, which has
 * locked it: or -1.  The lock lasts as long as the mapping. */
static int open_offered(void)
{
	const char *path = config_value(config_environment(), "CSTRACE_AHEAD");
	int fd = path ? sys_open(path, O_RDWR | O_CLOEXEC) : -1;
	struct cst_area head;

	if (fd >= 0 && sys_pread(fd, &head, sizeof(head), 0) == sizeof(head) &&
	    head.magic == CST_AREA_MAGIC && head.layout == CST_LAYOUT &&
	    head.flight_chunks && head.ahead == CST_AHEAD_OFFERED &&
	    sys_flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	if (fd >= 0)
		sys_close(fd);
	return -1;
}

void flight_wait_ahead(void)
{
	uint64_t since = sys_monotonic_ms();
	uint32_t asked = CST_AHEAD_ASKED;

	if (!area->is_file || __atomic_load_n(&area->ahead, __ATOMIC_RELAXED) !=
				      CST_AHEAD_OFFERED)
		return;
	/* Pairs with the launcher's acquire: the mappings are there. */
	__atomic_store_n(&area->ahead, asked, __ATOMIC_RELEASE);
	sys_futex_wake(&area->ahead, FUTEX_WAKE, 1);
	while (__atomic_load_n(&area->ahead, __ATOMIC_ACQUIRE) == asked &&
	       sys_monotonic_ms() - since < AHEAD_MS &&
	       sys_kill(area->ahead_pid, 0) != -ESRCH)
		sys_futex_wait(&area->ahead, FUTEX_WAIT, asked, AHEAD_LOOK_MS);
	__atomic_compare_exchange_n(&area->ahead, &asked, CST_AHEAD_NONE, 0,
				    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	area_moment(&area->first_ticks, &area->first_ns);
	area->first_wall_ns = sys_clock_ns(CLOCK_REALTIME);
}

int flight_open(const char *size, int is_read)
{
	int offered = is_read ? -1 : open_offered();
	uint32_t n = offered < 0 ? chunks_of(size) : 0;
	int fd = n ? sys_memfd("cstrace-flight") : -EINVAL;
	int error = fd < 0 ? fd : file_write_head(fd, n, is_read);

	if (offered >= 0)
		return offered;
	if (!n)
		tell_bad_size(size);
	if (fd >= 0 && error) {
		sys_close(fd);
		return error;
	}
	return fd;
}

/* Whether a hook that was interrupted has yet to fill its slot. */
static int has_hole(uint32_t index, const struct cst_record *records)
{
	uint32_t n =
		__atomic_load_n(&area_chunk(index)->next, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < n && i < CST_CHUNK_RECORDS; i++)
		if (!__atomic_load_n(&records[i].time, __ATOMIC_ACQUIRE))
			return 1;
	return 0;
}

/* Makes a chunk ours: 0 if it is not in that state, or not complete. */
static int chunk_win(uint32_t index, uint32_t from)
{
	uint32_t *state = &area_chunk(index)->state, was = from;
	char *data = (char *)area_at(CST_AT_CHUNKS) +
		     (uint64_t)index * CST_CHUNK_SIZE;
	uint64_t *words = (uint64_t *)data;

	/* Pairs with the release of chunk_hand_over(). */
	if (!area_has_chunk(index) ||
	    !__atomic_compare_exchange_n(state, &was, CST_CHUNK_FREE, 0,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return 0;
	if (has_hole(index, (const struct cst_record *)data)) {
		__atomic_store_n(state, from, __ATOMIC_RELEASE);
		return 0;
	}
	for (uint32_t i = 0; i < CST_CHUNK_SIZE / sizeof(*words); i++)
		words[i] = 0;
	area_moment(&area->last_ticks, &area->last_ns);
	return 1;
}

/* The index + 1 of the next chunk in that state, zeroed, or 0. */
static uint32_t next_in(uint32_t state)
{
	uint32_t n = __atomic_load_n(&area->n_chunks, __ATOMIC_RELAXED);

	for (uint32_t i = 0; n >= area->flight_chunks && i < n; i++) {
		uint32_t index = __atomic_fetch_add(&area->flight_hand, 1,
						    __ATOMIC_RELAXED) %
				 n;

		if (chunk_win(index, state))
			return index + 1;
	}
	return 0;
}

/* Reads a debugger along, of this process?  In a fork child there is no
 * breakpoint. */
static int is_read(void)
{
	uint32_t pid = __atomic_load_n(&area->flight_pid, __ATOMIC_RELAXED);

	return pid && pid == (uint32_t)sys_getpid();
}

/* The debugger was asked, and nothing that is full could be read. */
static uint32_t grows;

uint32_t flight_chunk(void)
{
	int is_reading = is_read();
	uint32_t n = __atomic_load_n(&area->n_chunks, __ATOMIC_RELAXED);
	uint32_t found = next_in(CST_CHUNK_READ);

	if (!found && !is_reading)
		found = next_in(CST_CHUNK_FULL);
	if (found) {
		__atomic_store_n(&grows, 0, __ATOMIC_RELAXED);
		return found;
	}
	if (is_reading && n >= area->flight_chunks &&
	    !__atomic_exchange_n(&grows, 0, __ATOMIC_RELAXED))
		return 0;
	return file_chunk();
}

static uint64_t asked_ns; /* when the debugger was last asked */

/* Whether a chunk is full and the debugger has not looked for a while. */
static int is_due(void)
{
	uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);

	if (!asked_ns)
		asked_ns = area->first_ns;
	return now - asked_ns >= SHOW_NS;
}

COLD void flight_begin(void)
{
	if (!__atomic_load_n(&area->n_flight_reads, __ATOMIC_RELAXED))
		flight_ask(1);
}

COLD int flight_ask(int must)
{
	uint32_t before;

	if (!area->flight_chunks || !is_read() || (!must && !is_due()))
		return 0;
	__atomic_store_n(&asked_ns, sys_clock_ns(CLOCK_MONOTONIC),
			 __ATOMIC_RELAXED);
	before = __atomic_load_n(&area->n_flight_reads, __ATOMIC_RELAXED);
	hook_full();
	if (before == __atomic_load_n(&area->n_flight_reads, __ATOMIC_RELAXED))
		/* It is gone, or does not know of us. */
		__atomic_store_n(&area->flight_pid, 0, __ATOMIC_RELAXED);
	else
		__atomic_store_n(&grows, 1, __ATOMIC_RELAXED);
	return 1;
}
