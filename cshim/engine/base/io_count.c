/* SPDX-License-Identifier: MIT
 *
 * Reads /proc/PID/io, and keeps the engine's own part of what gdb writes.
 */
#include "base/io_count.h"
#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static uint64_t own;

int io_count(uint32_t pid, uint64_t *sum)
{
	char path[32];
	uint64_t n = 0;
	int n_read;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/io", pid);
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? 0 : CST_FAILED;
	n_read = fscanf(f, "rchar: %*u wchar: %" SCNu64, &n);
	fclose(f);
	*sum += n;
	return n_read == 1 ? 0 : CST_FAILED;
}

void io_note_own(size_t n)
{
	__atomic_fetch_add(&own, n, __ATOMIC_RELAXED);
}

uint64_t io_own(void)
{
	return __atomic_load_n(&own, __ATOMIC_RELAXED);
}
