/* SPDX-License-Identifier: MIT
 *
 * Areas that were left in a file.  The file is read, not mapped: its program
 * may still write, and somebody may cut it short, which must be an error to
 * us, not a SIGBUS.  The tables are copied at once, a chunk when it is its
 * turn.
 */
#include "area/area_file.h"
#include "base/io.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_file(int fd, const char *path, struct cst_error *err)
{
	struct cst_area head;
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    pread(fd, &head, sizeof(head), 0) != sizeof(head))
		return cst_fail(CST_BAD_FILE, err, "'%.300s' cannot be read",
				path);
	if (head.layout != CST_LAYOUT)
		return cst_fail(CST_BAD_FILE, err,
				"'%.300s' was made by another version (layout "
				"%u; this cstrace reads %u)",
				path, head.layout, CST_LAYOUT);
	if (head.size != CST_AREA_SIZE || (uint64_t)st.st_size < CST_AREA_SIZE)
		return area_is_short(path, err);
	return 0;
}

int area_is_short(const char *path, struct cst_error *err)
{
	return cst_fail(CST_BAD_FILE, err,
			"'%.300s' is damaged: it is cut short", path);
}

/* What the file has in [from, to) of the area. */
static void copy_part(struct area *a, uint64_t from, uint64_t to)
{
	uint8_t *base = (uint8_t *)a->head;
	uint64_t n = from < to ? to - from : 0;

	a->is_short |= io_read_at(a->file, base + from, n, from) != (int64_t)n;
}

/* Nearly all of them is holes. */
static void copy_tables(struct area *a)
{
	off_t at = 0, end;

	copy_part(a, 0, CST_AT_PROCESSES);
	while ((at = lseek(a->file, at, SEEK_DATA)) >= 0 &&
	       (uint64_t)at < CST_AT_CHUNKS) {
		end = lseek(a->file, at, SEEK_HOLE);
		if (end <= at || (uint64_t)end > CST_AT_CHUNKS)
			end = (off_t)CST_AT_CHUNKS;
		copy_part(a, (uint64_t)at, (uint64_t)end);
		at = end;
	}
}

int area_open_file(int fd, const char *path, struct area **out,
		   struct cst_error *err)
{
	struct area *a;
	void *base;

	if (check_file(fd, path, err) < 0)
		return CST_BAD_FILE;
	a = calloc(1, sizeof(*a));
	if (!a)
		return cst_fail_memory(err);
	a->fd = -1;
	a->file = fd;
	a->is_past = 1;
	a->is_copied = calloc(CST_MAX_CHUNKS, 1);
	a->max_chunks = CST_MAX_CHUNKS;
	base = mmap(NULL, CST_AREA_SIZE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!a->is_copied || base == MAP_FAILED) {
		area_free(a);
		return cst_fail_memory(err);
	}
	area_place(a, base);
	copy_tables(a);
	a->n_chunks = a->head->n_chunks < CST_MAX_CHUNKS ? a->head->n_chunks
							 : CST_MAX_CHUNKS;
	*out = a;
	return 0;
}

void area_copy(struct area *a, uint32_t chunk)
{
	uint64_t at = CST_AT_CHUNKS + (uint64_t)chunk * CST_CHUNK_SIZE;

	if (!a->is_copied || a->is_copied[chunk])
		return;
	a->is_copied[chunk] = 1;
	copy_part(a, at, at + CST_CHUNK_SIZE);
}

uint64_t area_time(struct area *a, uint32_t chunk, uint32_t i)
{
	uint64_t at = CST_AT_CHUNKS + (uint64_t)chunk * CST_CHUNK_SIZE +
		      (uint64_t)i * CST_RECORD_SIZE;
	uint64_t time = 0;

	if (pread(a->file, &time, sizeof(time), (off_t)at) != sizeof(time))
		a->is_short = 1;
	return time;
}
