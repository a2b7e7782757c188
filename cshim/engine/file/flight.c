/* SPDX-License-Identifier: MIT
 *
 * Keeps the blocks of a trace in memory as a queue: beyond its limit the oldest
 * blocks of calls go to flight_open.c, and saving writes a complete file from
 * both.
 */
#include "file/flight.h"
#include "file/flight_open.h"
#include "file/index.h"
#include "file/spool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct kept {
	struct kept *next;
	uint32_t kind, info_size, data_size;
	uint8_t bytes[]; /* info, data */
};

struct queue {
	struct kept *first, **end;
};

struct flight {
	uint64_t limit_bytes;
	uint64_t n_bytes;    /* of calls */
	struct queue plain;  /* names, threads, ...: all */
	struct queue calls;  /* the newest */
	struct kept *ending; /* the last END, or NULL */
	struct flight_open *carry;
	char *path; /* "": it has none */
	char *dir;
};

static uint64_t kept_size(const struct kept *k)
{
	return sizeof(*k) + k->info_size + k->data_size;
}

static struct kept *kept_new(enum block_kind kind, const struct bytes *info,
			     const struct bytes *data)
{
	struct kept *k = malloc(sizeof(*k) + info->len + data->len);

	if (!k || info->failed || data->failed) {
		free(k);
		return NULL;
	}
	*k = (struct kept){
		.kind = kind,
		.info_size = (uint32_t)info->len,
		.data_size = (uint32_t)data->len,
	};
	if (info->len)
		memcpy(k->bytes, info->data, info->len);
	if (data->len)
		memcpy(k->bytes + info->len, data->data, data->len);
	return k;
}

static void queue_add(struct queue *q, struct kept *k)
{
	*q->end = k;
	q->end = &k->next;
}

static struct kept *queue_take(struct queue *q)
{
	struct kept *k = q->first;

	q->first = k->next;
	if (!q->first)
		q->end = &q->first;
	return k;
}

int flight_new(uint64_t limit_bytes, const char *path, const char *dir,
	       struct flight **out, struct cst_error *err)
{
	struct flight *f = calloc(1, sizeof(*f));

	if (!f)
		return cst_fail_memory(err);
	f->limit_bytes = limit_bytes;
	f->plain.end = &f->plain.first;
	f->calls.end = &f->calls.first;
	f->path = strdup(path ? path : "");
	f->dir = strdup(dir ? dir : "");
	f->carry = flight_open_new();
	if (!f->path || !f->dir || !f->carry) {
		flight_free(f);
		return cst_fail_memory(err);
	}
	*out = f;
	return 0;
}

void flight_free(struct flight *f)
{
	if (!f)
		return;
	while (f->plain.first)
		free(queue_take(&f->plain));
	while (f->calls.first)
		free(queue_take(&f->calls));
	free(f->ending);
	flight_open_free(f->carry);
	free(f->path);
	free(f->dir);
	free(f);
}

uint64_t flight_size(const struct flight *f)
{
	return f->n_bytes;
}

/* The newest block stays, whatever its size. */
static int drop_oldest(struct flight *f)
{
	while (f->n_bytes > f->limit_bytes && f->calls.first->next) {
		struct kept *k = queue_take(&f->calls);
		int status =
			flight_open_take(f->carry, k->bytes, k->info_size,
					 k->bytes + k->info_size, k->data_size);

		f->n_bytes -= kept_size(k);
		free(k);
		if (status < 0)
			return status;
	}
	return 0;
}

int flight_put(struct flight *f, enum block_kind kind, const struct bytes *info,
	       const struct bytes *data)
{
	struct kept *k;

	if (kind == BLOCK_INDEX || kind == BLOCK_SEAL)
		return 0; /* of where blocks lie in a file */
	k = kept_new(kind, info, data);
	if (!k)
		return CST_MEMORY;
	if (kind == BLOCK_END) {
		free(f->ending);
		f->ending = k;
		return 0;
	}
	if (kind != BLOCK_CALLS) {
		queue_add(&f->plain, k);
		return 0;
	}
	queue_add(&f->calls, k);
	f->n_bytes += kept_size(k);
	return drop_oldest(f);
}

/* ---- saving ---------------------------------------------------------------
 */

static void put_kept(struct spool *s, const struct kept *k)
{
	struct bytes info = {.data = (uint8_t *)k->bytes, .len = k->info_size};
	struct bytes data = {.data = (uint8_t *)k->bytes + k->info_size,
			     .len = k->data_size};

	spool_put(s, k->kind, &info, &data);
}

static void put_calls(const struct flight *f, struct spool *s,
		      const struct kept *k)
{
	struct bytes info = {0};
	struct bytes data = {.data = (uint8_t *)k->bytes + k->info_size,
			     .len = k->data_size};

	if (flight_open_renumber(f->carry, k->bytes, k->info_size, &info) < 0)
		info.failed = 1;
	spool_put(s, BLOCK_CALLS, &info, &data);
	bytes_release(&info);
}

/* The file is whole; it has no index. */
static void put_seal(struct spool *s)
{
	uint8_t at[INDEX_SEAL_INFO] = {0};
	struct bytes info = {.data = at, .len = sizeof(at)}, data = {0};

	spool_put(s, BLOCK_SEAL, &info, &data);
}

static int put_all(struct flight *f, struct spool *s, struct cst_error *err)
{
	for (const struct kept *k = f->plain.first; k; k = k->next)
		put_kept(s, k);
	if (flight_open_put(f->carry, s) < 0)
		return cst_fail_memory(err);
	for (const struct kept *k = f->calls.first; k; k = k->next)
		put_calls(f, s, k);
	if (f->ending)
		put_kept(s, f->ending);
	put_seal(s);
	if (spool_flush(s) < 0)
		return cst_fail(CST_FAILED, err, "cannot write '%.300s': %s",
				*f->path ? f->path : f->dir,
				strerror(s->failed_errno));
	return 0;
}

int flight_save(struct flight *f, int *fd, struct cst_error *err)
{
	int is_named = *f->path, status = 0;
	char part[4096] = "";
	struct spool s;

	if (is_named) {
		status = spool_check(f->path, err);
		snprintf(part, sizeof(part), "%.4000s.part", f->path);
	}
	if (status == 0)
		status = spool_open(&s, part, f->dir, NULL, err);
	if (status < 0)
		return status;
	status = put_all(f, &s, err);
	if (status == 0 && is_named && rename(part, f->path) < 0)
		status = cst_fail_sys(err, "cannot write '%.300s'", f->path);
	if (status < 0) {
		if (is_named)
			unlink(part);
	} else {
		*fd = s.fd;
		s.fd = -1;
	}
	spool_release(&s);
	return status;
}
