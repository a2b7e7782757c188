/* SPDX-License-Identifier: MIT
 *
 * Mapping the area that gdb named.  The header is read and checked before
 * anything is mapped, and the mapping is placed so that chunks are aligned.
 */
#include <errno.h>
#include "area.h"
#include "site.h"
#include "syscall.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct cst_area *area;

/* The fixed part of struct cst_area that says what it is. */
struct area_label {
	uint64_t magic;
	uint32_t layout, is_ended;
	uint64_t size;
};

static int area_check(int fd)
{
	struct area_label label;

	if (sys_pread(fd, &label, sizeof(label), 0) != sizeof(label))
		return EPROTO;
	if (label.magic != CST_AREA_MAGIC || label.layout != CST_LAYOUT)
		return EPROTO;
	if (label.size != CST_AREA_SIZE ||
	    sys_lseek(fd, 0, SEEK_END) < (long)CST_AT_CHUNKS)
		return EPROTO;
	return 0;
}

/* An address range aligned to CST_CHUNK_SIZE, or negative errno. */
static long area_place(void)
{
	uint64_t size = CST_AREA_SIZE + CST_CHUNK_SIZE;
	long got = sys_mmap(0, size, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	uint64_t start, place;

	if (got < 0)
		return got;
	start = (uint64_t)got;
	place = (start + CST_CHUNK_SIZE - 1) & -(uint64_t)CST_CHUNK_SIZE;
	sys_munmap(start, place - start);
	sys_munmap(place + CST_AREA_SIZE,
		   start + size - (place + CST_AREA_SIZE));
	return (long)place;
}

static int area_map_fd(int fd)
{
	int error = area_check(fd);
	long place, got;

	if (error)
		return error;
	place = area_place();
	if (place < 0)
		return (int)-place;
	got = sys_mmap((uint64_t)place, CST_AREA_SIZE, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_FIXED, fd);
	if (got < 0) {
		sys_munmap((uint64_t)place, CST_AREA_SIZE);
		return (int)-got;
	}
	area = (struct cst_area *)got;
	site_table_attach((struct cst_site *)area_at(CST_AT_SITES));
	return 0;
}

int area_map(const char *path)
{
	int fd, error;

	if (area)
		return 0;
	fd = sys_open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -fd;
	error = area_map_fd(fd);
	sys_close(fd);
	return error;
}

int area_reserve(void *start, uint64_t size)
{
	uint64_t page = (uint64_t)start & -4096ull;
	int status = sys_madvise((void *)page, (uint64_t)start + size - page,
				 MADV_POPULATE_WRITE);

	/* Kernels before 5.14 cannot tell beforehand. */
	return status < 0 && status != -EINVAL ? -status : 0;
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
