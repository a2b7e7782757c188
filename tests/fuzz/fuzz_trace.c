/* SPDX-License-Identifier: MIT
 *
 * libFuzzer's way into everything that reads a trace file.  Most changes are
 * made below the checksums and the compression: there the reader has nothing
 * but its own checks.
 */
#include "file/block.h"
#include "fuzz_text.h"
#include "trace/trace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

enum { RAW_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned seed);

/* ---- one file ------------------------------------------------------------ */

static cst_write_fn writer_of(const char *format)
{
	return strcmp(format, "cst") && strcmp(format, "pprof") ? count_write
								: count_bytes;
}

static const struct cst_look looks[] = {
	{.timestamp = CST_TIME_ELAPSED, .duration = 1, .callsite = 1},
	{.timestamp = CST_TIME_WALL, .fold = 1},
};
static const struct cst_choice choices[] = {
	{.std = 1},
	{.around = "1.2"},
	{.last = 3, .depth = 2, .min_ns = 5},
	{.filter = "f", .exclude = "main", .thread = 1, .root = "1.1"},
};
static const struct cst_report reports[] = {
	{.sort = "total"},
	{.sort = "self", .by = CST_BY_CALLSITE, .output = CST_OUTPUT_CSV},
	{.sort = "calls", .callers = "f"},
	{.sort = "max", .callees = "main", .output = CST_OUTPUT_JSON},
};

/* In the i-th way. */
static void show_in_a_way(struct cst_trace *t, int i)
{
	char formats[256];
	struct cst_error err;
	uint64_t left = OUTPUT_MAX;

	cst_trace_golden(t, NULL, 0, &choices[i], count_write, &left, &err);
	left = OUTPUT_MAX;
	cst_trace_diff(t, t,
		       &(struct cst_diff){.by = i & 1,
					  .limit = 3,
					  .percent = 10,
					  .output = (uint32_t)i % 3},
		       &choices[i], count_write, &left, &err);
	left = OUTPUT_MAX;
	cst_trace_show(t, &looks[i & 1], &choices[i], count_write, &left, &err);
	left = OUTPUT_MAX;
	cst_trace_graph(t,
			&(struct cst_graph){.limit = i & 1 ? 5 : 0,
					    .output = (uint32_t)i % 3,
					    .function = i & 2 ? "f" : NULL},
			&choices[i], count_write, &left, &err);
	left = OUTPUT_MAX;
	cst_trace_info(t, (uint32_t)i % 3, count_write, &left, &err);
	left = OUTPUT_MAX;
	cst_trace_report(t, &reports[i], &choices[i], count_write, &left, &err);
	for (char *name, *rest = strcpy(formats, cst_formats());
	     (name = strsep(&rest, " "));) {
		left = OUTPUT_MAX;
		cst_trace_write(t, name, &looks[i & 1], &choices[i],
				writer_of(name), &left, &err);
	}
}

static void show_all(struct cst_trace *t)
{
	struct cst_status_report status;

	cst_trace_status(t, &status);
	cst_trace_command(t);
	cst_trace_rename(t, (const char *const[]){"/proc/self/exe"}, 1, NULL,
			 NULL);
	for (int i = 0; i < 4; i++)
		show_in_a_way(t, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cst_error err;
	struct cst_trace *t;
	int fd = memfd_create("trace", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (trace_open(fd, "the recorded trace", &t, &err) < 0)
		return 0;
	show_all(t);
	cst_trace_free(t);
	return 0;
}

/* ---- changes ------------------------------------------------------------- */

/* Where a block lies; head, info and data follow each other. */
struct place {
	size_t at, info, data;
};

static int place_at(const uint8_t *file, size_t size, size_t at,
		    struct place *out)
{
	if (at + BLOCK_HEAD > size)
		return 0;
	*out = (struct place){at, get_u32(file + at + 8),
			      get_u32(file + at + 12)};
	return out->info <= size && out->data <= size &&
	       at + BLOCK_HEAD + out->info + out->data <= size;
}

static size_t place_end(const struct place *p)
{
	return p->at + BLOCK_HEAD + p->info + p->data;
}

/* Make all checksums right again. */
static void mend(uint8_t *file, size_t size)
{
	struct place p;

	for (size_t at = BLOCK_FILE_HEAD; place_at(file, size, at, &p);
	     at = place_end(&p)) {
		put_u32(file + at + 16,
			block_crc(file + at + BLOCK_HEAD, p.info));
		put_u32(file + at + 20, block_crc(file + at, 20));
	}
}

static int pick(const uint8_t *file, size_t size, unsigned seed,
		struct place *out)
{
	struct place p;
	unsigned n = 0;

	for (size_t at = BLOCK_FILE_HEAD; place_at(file, size, at, &p);
	     at = place_end(&p))
		n++;
	if (!n)
		return 0;
	n = seed % n;
	for (size_t at = BLOCK_FILE_HEAD; place_at(file, size, at, out);
	     at = place_end(out))
		if (!n--)
			return 1;
	return 0;
}

/* Put new info and data into the block; 0: there is no room. */
static size_t replace(uint8_t *file, size_t size, size_t max_size,
		      const struct place *p, const struct bytes *info,
		      const struct bytes *data)
{
	size_t end = place_end(p), body = p->at + BLOCK_HEAD;
	size_t after = body + info->len + data->len;

	if (after + (size - end) > max_size)
		return 0;
	memmove(file + after, file + end, size - end);
	memcpy(file + body, info->data, info->len);
	memcpy(file + body + info->len, data->data, data->len);
	put_u32(file + p->at + 8, (uint32_t)info->len);
	put_u32(file + p->at + 12, (uint32_t)data->len);
	return after + (size - end);
}

/* Change what is under the compression, if there is any. */
static void change_data(struct bytes *info, struct bytes *data, int is_calls)
{
	static uint8_t raw[RAW_MAX];
	size_t n = ZSTD_decompress(raw, sizeof(raw), data->data, data->len);
	size_t room;

	if (ZSTD_isError(n)) { /* stored as it is */
		data->len = LLVMFuzzerMutate(data->data, data->len, data->len);
		return;
	}
	n = LLVMFuzzerMutate(raw, n, is_calls ? n : n + n / 4 + 8);
	room = ZSTD_compressBound(n);
	data->len = 0;
	if (bytes_reserve(data, room))
		data->len = ZSTD_compress(data->data, room, raw, n, 1);
	if (is_calls)
		return;
	info->len = 0;
	bytes_put_varint(info, n);
}

static size_t change_block(uint8_t *file, size_t size, size_t max_size,
			   unsigned seed)
{
	struct bytes info = {0}, data = {0};
	struct place p;
	size_t result = 0;

	if (!pick(file, size, seed / 8, &p))
		return 0;
	if (!bytes_reserve(&info, p.info + 64) ||
	    !bytes_reserve(&data, p.data + 64))
		abort();
	bytes_put(&info, file + p.at + BLOCK_HEAD, p.info);
	bytes_put(&data, file + p.at + BLOCK_HEAD + p.info, p.data);
	if (seed % 8 < 3)
		info.len = LLVMFuzzerMutate(info.data, info.len, info.cap);
	else if (data.len && data.len < RAW_MAX / 2)
		change_data(&info, &data,
			    get_u32(file + p.at + 4) == BLOCK_CALLS);
	result = replace(file, size, max_size, &p, &info, &data);
	bytes_release(&info);
	bytes_release(&data);
	return result;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned seed)
{
	size_t n = 0;

	if (seed % 8 != 7)
		n = change_block(data, size, max_size, seed);
	if (!n)
		n = LLVMFuzzerMutate(data, size, max_size);
	if (seed % 64 != 63)
		mend(data, n);
	return n;
}
