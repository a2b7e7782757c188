/* SPDX-License-Identifier: MIT
 *
 * Writes the calls of a trace as uftrace's data files, one for each lane, with
 * its info and task files.
 */
#include "formats/uftrace.h"
#include "formats/enter_exit.h"
#include "formats/thread_ids.h"
#include "formats/uftrace_names.h"
#include "rows/row.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	BLOCK = 256 << 10,
	RECORD_BYTES = 16,
	TEXT_ROOM = 1000,
	NO_LANE = UINT32_MAX,
};

/* What a record is, in its second word's lowest bits; and what all have. */
enum { RECORD_ENTRY = 0, RECORD_EXIT = 1, RECORD_MAGIC = 5 << 3 };

/* The info file's head: what the folder holds, and which lines follow. */
enum {
	HAS_SESSIONS = 1 << 1,
	HAS_RELATIVE_SYMBOLS = 1 << 5,
	HAS_LEVELS = 1 << 6,
	TELLS_PROGRAM = 1 << 0,
	TELLS_COMMAND = 1 << 3,
	TELLS_TASKS = 1 << 7,
};

static const uint64_t time_max = 1ull << 62;

struct uftrace {
	const struct cst_trace *t;
	struct folder *folder;
	struct enter_exit *steps;
	struct track *tracks;
	uint64_t *addrs;   /* by function */
	uint8_t *has_file; /* by lane */
	uint64_t base_ns;  /* of the trace's begin */
	uint32_t lane;	   /* the one whose file is open */
	struct folder_file file;
	struct bytes out;
	int64_t n_calls;
};

/* ---- calls --------------------------------------------------------------- */

static void put_record(struct uftrace *u, const struct step *s)
{
	uint8_t *p = bytes_reserve(&u->out, RECORD_BYTES);
	uint64_t at = s->at_ns < time_max ? s->at_ns : time_max;
	uint64_t what = s->is_exit ? RECORD_EXIT : RECORD_ENTRY;

	if (!p)
		return;
	what |= RECORD_MAGIC | (uint64_t)s->depth << 6;
	put_u64(p, u->base_ns + at);
	put_u64(p + 8, what | u->addrs[s->function] << 16);
	u->out.len += RECORD_BYTES;
	u->n_calls += !s->is_exit;
}

static int end_lane(struct uftrace *u, struct cst_error *err)
{
	int status =
		u->lane == NO_LANE ? 0 : folder_write(&u->file, &u->out, err);

	u->lane = NO_LANE;
	return status < 0 ? status : folder_end(&u->file, err);
}

static int begin_lane(struct uftrace *u, uint32_t lane, struct cst_error *err)
{
	char name[32];
	int status = end_lane(u, err);

	if (status < 0)
		return status;
	snprintf(name, sizeof(name), "%u.dat", u->tracks[lane].tid);
	u->lane = lane;
	u->has_file[lane] = 1;
	return folder_begin(u->folder, name, &u->file, err);
}

static int write_calls(struct uftrace *u, struct cst_error *err)
{
	struct step step;
	int status;

	while ((status = enter_exit_next(u->steps, &step, err)) > 0) {
		if (step.lane != u->lane)
			status = begin_lane(u, step.lane, err);
		if (step.depth >= UFTRACE_LEVELS)
			u->folder->n_too_deep += !step.is_exit;
		else if (status >= 0)
			put_record(u, &step);
		if (status >= 0 && u->out.len >= BLOCK)
			status = folder_write(&u->file, &u->out, err);
		if (status < 0)
			return status;
	}
	return status < 0 ? status : end_lane(u, err);
}

/* ---- what tells of them -------------------------------------------------- */

static void put_time(const struct uftrace *u, struct bytes *out)
{
	bytes_put_format(out, " timestamp=%llu.%09u",
			 (unsigned long long)(u->base_ns / 1000000000),
			 (unsigned)(u->base_ns % 1000000000));
}

static void put_process(const struct uftrace *u, uint32_t lane,
			struct bytes *out)
{
	bytes_put(out, "SESS", 4);
	put_time(u, out);
	bytes_put_format(out, " pid=%u sid=" UFTRACE_SESSION " exename=\"",
			 u->tracks[lane].pid);
	uftrace_put_word(out, track_process_name(u->t, lane));
	bytes_put(out, "\"\n", 2);
}

static void put_task(const struct uftrace *u, uint32_t lane, struct bytes *out)
{
	bytes_put(out, "TASK", 4);
	put_time(u, out);
	bytes_put_format(out, " tid=%u pid=%u\n", u->tracks[lane].tid,
			 u->tracks[lane].pid);
}

/* Processes first: their tasks look for them. */
static int write_tasks(struct uftrace *u, struct cst_error *err)
{
	uint32_t n;
	auto_free uint32_t *processes = tracks_processes(u->t, &n);

	if (!processes)
		return cst_fail_memory(err);
	for (uint32_t i = 0; i < n; i++)
		put_process(u, processes[i], &u->out);
	for (uint32_t i = 0; i < u->t->n_lanes; i++)
		if (u->has_file[i])
			put_task(u, i, &u->out);
	return folder_put(u->folder, "task.txt", &u->out, err);
}

static void put_info_head(struct bytes *out)
{
	uint8_t *p = bytes_reserve(out, 40);

	if (!p)
		return;
	memset(p, 0, 40);
	memcpy(p, "Ftrace!", 8);
	put_u32(p + 8, 4); /* version */
	p[12] = 40;	   /* size of this head */
	p[14] = 1;	   /* little endian */
	p[15] = 2;	   /* 64 bits */
	put_u64(p + 16, HAS_SESSIONS | HAS_RELATIVE_SYMBOLS | HAS_LEVELS);
	put_u64(p + 24, TELLS_PROGRAM | TELLS_COMMAND | TELLS_TASKS);
	put_u32(p + 32, UFTRACE_LEVELS);
	out->len += 40;
}

static void put_command(const char *command, struct bytes *out)
{
	char *begin = (char *)bytes_reserve(out, TEXT_ROOM), *end;

	if (!begin)
		return;
	end = row_put_text(begin, command, TEXT_ROOM);
	out->len += (size_t)(end - begin);
}

static int write_info(struct uftrace *u, struct cst_error *err)
{
	struct bytes *out = &u->out;
	uint32_t n = 0, n_put = 0;

	for (uint32_t i = 0; i < u->t->n_lanes; i++)
		n += u->has_file[i];
	put_info_head(out);
	bytes_put_format(out, "exename:");
	uftrace_put_word(out, tracks_program(u->t));
	bytes_put_format(out, "\ncmdline:");
	put_command(u->t->command, out);
	bytes_put_format(
		out,
		"\ntaskinfo:lines=2\ntaskinfo:nr_tid=%u\ntaskinfo:tids=", n);
	for (uint32_t i = 0; i < u->t->n_lanes; i++)
		if (u->has_file[i])
			bytes_put_format(out, "%s%u", n_put++ ? "," : "",
					 u->tracks[i].tid);
	bytes_put_byte(out, '\n');
	return folder_put(u->folder, "info", out, err);
}

static int prepare(struct uftrace *u, const struct cst_choice *choice,
		   struct cst_error *err)
{
	u->lane = NO_LANE;
	u->file.fd = -1;
	u->base_ns = u->t->start_wall_ns < time_max ? u->t->start_wall_ns : 0;
	u->tracks = tracks_new_flat(u->t);
	u->has_file = calloc(u->t->n_lanes + (size_t)1, 1);
	return u->tracks && u->has_file
		       ? enter_exit_new(u->t, choice, 0, &u->steps, err)
		       : cst_fail_memory(err);
}

int64_t uftrace_write(const struct cst_trace *t,
		      const struct cst_choice *choice, struct folder *folder,
		      struct cst_error *err)
{
	struct uftrace u = {.t = t, .folder = folder};
	struct cst_error ignored;
	int status = prepare(&u, choice, err);

	if (status == 0)
		status = uftrace_names_write(t, folder, &u.addrs, err);
	if (status == 0)
		status = write_calls(&u, err);
	if (status == 0)
		status = write_tasks(&u, err);
	if (status == 0)
		status = write_info(&u, err);
	if (status < 0)
		folder_end(&u.file, &ignored);
	enter_exit_free(u.steps);
	free(u.tracks);
	free(u.addrs);
	free(u.has_file);
	bytes_release(&u.out);
	return status < 0 ? status : u.n_calls;
}
