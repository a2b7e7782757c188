/* SPDX-License-Identifier: MIT
 *
 * Mapping the area that gdb named.  The header is read and checked before
 * anything is mapped, and the mapping is placed so that chunks are aligned.
 */
#include <errno.h>
#include "core/area.h"
#include "core/file.h"
#include "core/flight.h"
#include "core/site.h"
#include "kernel/arch.h"
#include "kernel/handed.h"
#include "kernel/lock.h"
#include "kernel/syscall.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum {
	FIRST_SITES = 1 << 18, /* 8 MiB, and the step in which more come */
	FEWEST_CHUNKS = 64,
	FILE_STEP = 1024,
};

struct cst_area *area;
extern EXPORT struct cst_area *cstrace_area __attribute__((alias("area")));
static uint32_t n_chunks_mapped, n_sites_mapped;
static int is_touched;
enum { PAGE = 4096 };
/* The pages of the table of hooks whose memory is there. */
static uint8_t has_hooks[CST_MAX_HOOKS * sizeof(struct cst_hook) / PAGE + 2];

static uint64_t sites_end(uint32_t n)
{
	return CST_AT_SITES + (uint64_t)n * sizeof(struct cst_site);
}

static uint64_t pieces_size(uint32_t n_chunks)
{
	return sites_end(FIRST_SITES) + (uint64_t)n_chunks * CST_CHUNK_SIZE;
}

static int area_check(int fd, struct cst_area *head)
{
	if (sys_pread(fd, head, sizeof(*head), 0) != sizeof(*head))
		return EPROTO;
	if (head->magic != CST_AREA_MAGIC || head->layout != CST_LAYOUT)
		return EPROTO;
	if (head->size != CST_AREA_SIZE ||
	    sys_lseek(fd, 0, SEEK_END) < (long)CST_AT_CHUNKS)
		return EPROTO;
	return 0;
}

/* ---- placing -------------------------------------------------------------
 *
 * Address space that the program's own limit (RLIMIT_AS) counts is taken
 * sparingly: the chunks that exist and the first sites.  More is mapped behind
 * them when it is needed, in place and without a descriptor, for the program
 * may have closed the way to the file since.  Hence a place where the kernel
 * puts nothing of its own accord. */

/* How much of the address space may be ours. */
static uint64_t area_room(void)
{
	uint64_t limit = sys_limit(RLIMIT_AS);

	return limit == RLIM_INFINITY ? UINT64_MAX : limit / 4;
}

static int map_piece(int fd, uint64_t place, uint64_t from, uint64_t size)
{
	long got = sys_mmap_at(place + from, size, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_FIXED_NOREPLACE, fd, from);

	if (got >= 0 && (uint64_t)got != place + from) {
		sys_munmap((uint64_t)got, size);
		return EEXIST; /* a kernel that does not know the flag */
	}
	return got < 0 ? (int)-got : 0;
}

static int map_pieces(int fd, uint64_t place, uint32_t n_chunks)
{
	uint64_t chunks = (uint64_t)n_chunks * CST_CHUNK_SIZE;
	int error = map_piece(fd, place, 0, sites_end(FIRST_SITES));

	if (error)
		return error;
	error = map_piece(fd, place, CST_AT_CHUNKS, chunks);
	if (error) {
		sys_munmap(place, sites_end(FIRST_SITES));
		return error;
	}
	area = (struct cst_area *)place;
	n_sites_mapped = FIRST_SITES;
	n_chunks_mapped = n_chunks;
	return 0;
}

/* All of it, wherever there is room. */
static int map_whole(int fd)
{
	uint64_t size = CST_AREA_SIZE + CST_CHUNK_SIZE;
	long got = sys_mmap(0, size, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	uint64_t place;

	if (got < 0)
		return (int)-got;
	place = ((uint64_t)got + CST_CHUNK_SIZE - 1) &
		-(uint64_t)CST_CHUNK_SIZE;
	sys_munmap((uint64_t)got, place - (uint64_t)got);
	sys_munmap(place + CST_AREA_SIZE,
		   (uint64_t)got + size - (place + CST_AREA_SIZE));
	got = sys_mmap(place, CST_AREA_SIZE, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_FIXED, fd);
	if (got < 0) {
		sys_munmap(place, CST_AREA_SIZE);
		return (int)-got;
	}
	area = (struct cst_area *)place;
	n_sites_mapped = CST_MAX_SITES;
	n_chunks_mapped = CST_MAX_CHUNKS;
	return 0;
}

static int area_map_fd(int fd)
{
	struct cst_area head;
	uint64_t room = area_room();
	uint32_t n_chunks;
	int error = area_check(fd, &head);

	if (error)
		return error;
	n_chunks =
		head.n_chunks < CST_MAX_CHUNKS ? head.n_chunks : CST_MAX_CHUNKS;
	if (n_chunks < FEWEST_CHUNKS)
		n_chunks = FEWEST_CHUNKS;
	while (pieces_size(n_chunks) > room && n_chunks > FEWEST_CHUNKS)
		n_chunks /= 2;
	if (pieces_size(n_chunks) > room)
		return ENOMEM;
	error = EEXIST;
	for (int i = 0; i < N_PLACES && error == EEXIST; i++)
		error = map_pieces(fd, PLACE_FIRST + i * PLACE_STEP, n_chunks);
	if (error && room == UINT64_MAX)
		error = map_whole(fd);
	if (error)
		return error;
	site_table_attach((struct cst_site *)area_at(CST_AT_SITES),
			  &area->has_verdicts);
	return 0;
}

/* Under the lock. */
static int grow_chunks(uint32_t n)
{
	uint64_t old = (uint64_t)n_chunks_mapped * CST_CHUNK_SIZE;
	uint64_t more = (uint64_t)n * CST_CHUNK_SIZE;

	if (n <= n_chunks_mapped)
		return 1;
	if (pieces_size(n) > area_room() ||
	    sys_mremap((uint64_t)area_at(CST_AT_CHUNKS), old, more) < 0)
		return 0;
	__atomic_store_n(&n_chunks_mapped, n, __ATOMIC_RELEASE);
	return 1;
}

int area_has_chunk(uint32_t index)
{
	uint32_t n;
	int has;

	if (index < __atomic_load_n(&n_chunks_mapped, __ATOMIC_ACQUIRE))
		return 1;
	n = __atomic_load_n(&area->n_chunks, __ATOMIC_RELAXED);
	if (index >= n || n > CST_MAX_CHUNKS)
		return 0;
	/* A file grows by one each time. */
	if (area->flight_chunks) /* a core would have all that is mapped */
		n = index < area->flight_chunks ? area->flight_chunks
						: index + 1;
	else if (area->is_file)
		n = index + FILE_STEP < CST_MAX_CHUNKS ? index + FILE_STEP
						       : CST_MAX_CHUNKS;
	lock_take();
	has = grow_chunks(n) || grow_chunks(index + 1);
	lock_drop();
	return has;
}

int area_has_site(uint32_t number)
{
	uint32_t n = (number / FIRST_SITES + 1) * FIRST_SITES;

	if (number < n_sites_mapped)
		return 1;
	if (n > CST_MAX_SITES ||
	    sys_mremap((uint64_t)area, sites_end(n_sites_mapped),
		       sites_end(n)) < 0)
		return 0;
	n_sites_mapped = n;
	return 1;
}

int area_map(const char *path, int is_file)
{
	int fd, error;

	if (area)
		return 0;
	fd = is_file >= 2   ? flight_open(path, is_file == 3)
	     : is_file	    ? file_open(path)
	     : *path == '@' ? handed_open(path + 1)
			    : sys_open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -fd;
	error = area_map_fd(fd);
	sys_close(fd);
	return error;
}

void area_touch(void)
{
	uint32_t n = __atomic_load_n(&area->n_chunks, __ATOMIC_RELAXED);
	/* A file grows as it is written; of other areas the reader has made the
	 * memory. */
	if (!is_touched && !area->is_file)
		sys_madvise(
			area_at(CST_AT_CHUNKS),
			(uint64_t)(n < n_chunks_mapped ? n : n_chunks_mapped) *
				CST_CHUNK_SIZE,
			MADV_POPULATE_WRITE);
	is_touched = 1;
}

void area_forget(void)
{
	sys_munmap((uint64_t)area, sites_end(n_sites_mapped));
	sys_munmap((uint64_t)area_at(CST_AT_CHUNKS),
		   (uint64_t)n_chunks_mapped * CST_CHUNK_SIZE);
	area = 0;
	is_touched = 0;
	for (uint32_t i = 0; i < sizeof(has_hooks); i++)
		__atomic_store_n(&has_hooks[i], 0, __ATOMIC_RELAXED);
	n_chunks_mapped = n_sites_mapped = 0;
}

int area_reserve(void *start, uint64_t size)
{
	uint64_t page = (uint64_t)start & -4096ull;
	int status = sys_madvise((void *)page, (uint64_t)start + size - page,
				 MADV_POPULATE_WRITE);

	/* All else is no answer: kernels before 5.14 cannot tell beforehand, a
	 * sandbox may not let us ask. */
	return status == -EFAULT || status == -ENOMEM || status == -EHWPOISON
		       ? -status
		       : 0;
}

int area_reserve_hook(struct cst_hook *slots)
{
	uint64_t first = (uint64_t)area_hook(0) / PAGE;
	uint64_t page = (uint64_t)slots / PAGE - first;
	uint64_t last = (uint64_t)(slots + CST_HOOK_PROBES - 1) / PAGE - first;
	int error;

	if (__atomic_load_n(&has_hooks[page], __ATOMIC_RELAXED) &&
	    __atomic_load_n(&has_hooks[last], __ATOMIC_RELAXED))
		return 0;
	error = area_reserve(slots, CST_HOOK_PROBES * sizeof(*slots));
	if (!error) {
		__atomic_store_n(&has_hooks[page], 1, __ATOMIC_RELAXED);
		__atomic_store_n(&has_hooks[last], 1, __ATOMIC_RELAXED);
	}
	return error;
}

int64_t area_draw(uint32_t *counter, uint32_t first, uint32_t end)
{
	uint32_t old = __atomic_load_n(counter, __ATOMIC_RELAXED);
	uint32_t number;

	do {
		number = old < first ? first : old;
		if (number >= end)
			return -1;
	} while (!__atomic_compare_exchange_n(counter, &old, number + 1, 0,
					      __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return number;
}

int64_t area_text(const char *bytes, uint32_t size, uint32_t end)
{
	uint32_t at = __atomic_load_n(&area->n_text, __ATOMIC_RELAXED);
	char *to;

	do {
		if (at > end || end - at < size)
			return -1;
	} while (!__atomic_compare_exchange_n(&area->n_text, &at, at + size, 0,
					      __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	to = (char *)area_at(CST_AT_TEXT) + at;
	if (area_reserve(to, size))
		return -1;
	for (uint32_t i = 0; i < size; i++)
		to[i] = bytes[i];
	return at;
}
