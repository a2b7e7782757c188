/* SPDX-License-Identifier: MIT
 *
 * A plan is a file, which may be anybody's: it is copied before it is looked
 * at.
 */
#include "core/plans.h"
#include "kernel/maps.h"
#include "kernel/output.h"
#include "kernel/syscall.h"

enum {
	PATH_SIZE = 4096,
	MAX_PLAN_BYTES = 1 << 30,
	FIRST_NAP_US = 100,
	LONGEST_NAP_US = 4000,
};

static char folder[PATH_SIZE / 2];

int plans_begin(const char *path)
{
	uint32_t n = 0;

	while (path[n] && n + 1 < sizeof(folder)) {
		folder[n] = path[n];
		n++;
	}
	folder[n] = 0;
	return !path[n];
}

const char *plans_path(const char *name, const char *ending)
{
	static char path[PATH_SIZE];
	const char *parts[] = {folder, "/", name, ending};
	uint32_t n = 0;

	for (int i = 0; i < 4; i++)
		for (const char *c = parts[i]; *c && n + 1 < PATH_SIZE; c++)
			path[n++] = *c;
	path[n] = 0;
	return path;
}

static int is_there(const char *build_id, const char *ending)
{
	return gate_call(SYS_faccessat, AT_FDCWD,
			 (long)plans_path(build_id, ending), 4 /* R_OK */, 0, 0,
			 0) == 0;
}

int plans_have_border(void)
{
	return is_there("border", "");
}

int plans_is_caller(const char *build_id)
{
	return is_there(build_id, ".traced");
}

static int is_answered(const char *build_id)
{
	return is_there(build_id, ".plan") || is_there(build_id, ".none");
}

/* ---- asking ----------------------------------------------------------------
 */

/* An error also if nobody reads it. */
static int pipe_open(void)
{
	return sys_open(plans_path("wanted", ""),
			O_WRONLY | O_NONBLOCK | O_CLOEXEC);
}

const char *plans_file_at(uint64_t first)
{
	static struct maps maps;
	struct maps_entry entry;
	const char *found = 0, *line;

	if (maps_open(&maps) < 0)
		return 0;
	while (!found && (line = maps_next(&maps))) {
		maps_parse(line, &entry);
		if (first - entry.start < entry.end - entry.start)
			found = entry.path;
	}
	maps_close(&maps);
	return found && *found == '/' ? found : 0;
}

/* A line is one write, so that those of several processes do not mix. */
int plans_want(const char *build_id, uint64_t first, int is_program)
{
	struct output o = {.n = 0};
	const char *path;
	int is_complete;

	if (is_answered(build_id))
		return 0;
	o.fd = pipe_open();
	if (o.fd < 0)
		return 0;
	path = plans_file_at(first);
	output_char(&o, is_program ? 'p' : 'l');
	output_text(&o, build_id);
	output_char(&o, ' ');
	for (const char *c = path; c && *c && o.n + 1 < OUTPUT_SIZE; c++)
		output_char(&o, *c);
	is_complete = path && o.n + 1 < OUTPUT_SIZE;
	output_char(&o, '\n');
	if (is_complete)
		is_complete = sys_write(o.fd, o.bytes, o.n) == o.n;
	sys_close(o.fd);
	return is_complete;
}

/* ---- the answer ------------------------------------------------------------
 */

static void nap(long us)
{
	struct timespec t = {0, us * 1000};

	if (gate_call(SYS_nanosleep, (long)&t, 0, 0, 0, 0, 0) < 0)
		cpu_relax();
}

static int is_reader_there(void)
{
	int fd = pipe_open();

	if (fd >= 0)
		sys_close(fd);
	return fd >= 0;
}

static void await(const char *build_id)
{
	static int is_vain; /* a reader that is stopped costs one wait */
	uint64_t began = sys_monotonic_ms();
	long us = FIRST_NAP_US;

	while (!is_vain && !is_answered(build_id)) {
		is_vain = sys_monotonic_ms() - began >= PLANS_WAIT_MS ||
			  (us == LONGEST_NAP_US && !is_reader_there());
		nap(us);
		us = 2 * us < LONGEST_NAP_US ? 2 * us : LONGEST_NAP_US;
	}
}

uint64_t plans_map(const char *build_id, int is_asked, uint64_t *size)
{
	uint64_t at = 0, got = 0;
	long n = 1, end;
	int fd;

	if (is_asked)
		await(build_id);
	fd = sys_open(plans_path(build_id, ".plan"), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	end = sys_lseek(fd, 0, 2 /* SEEK_END */);
	if (end > 0 && end <= MAX_PLAN_BYTES) {
		long to = sys_mmap(0, (size_t)end, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1);

		at = to > 0 ? (uint64_t)to : 0;
	}
	while (at && n > 0 && got < (uint64_t)end) {
		n = sys_pread(fd, (char *)at + got, (size_t)end - got,
			      (long)got);
		got += n > 0 ? (uint64_t)n : 0;
	}
	sys_close(fd);
	*size = at ? (uint64_t)end : 0;
	return at;
}
